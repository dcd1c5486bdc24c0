/**
 * Parses the body of a PL/pgSQL function. The parser library's grammar for it gives no positions and does not know
 * composite types; the language around SQL is small, so it is read here. Throws 42601.
 */
import { sqlError } from "../../protocol/errors.js";
import type {
  PlAccess,
  PlBlock,
  PlBody,
  PlCursorArgument,
  PlDeclaration,
  PlDynamic,
  PlHandler,
  PlInto,
  PlSql,
  PlStatement,
  PlTarget,
} from "./plpgsql-ast.js";
import { PlReader } from "./plpgsql-reader.js";

const LEVELS = ["debug", "log", "info", "notice", "warning", "exception"];
const DIRECTIONS = ["next", "prior", "first", "last", "absolute", "relative", "forward", "backward", "all"];

type Statements = readonly PlStatement[];

/** The body's tree; pieces of SQL in it are not parsed yet. */
export function parsePlpgsql(text: string): PlBody {
  return new PlParser(text).body();
}

class PlParser extends PlReader {
  body(): PlBody {
    let conflict: PlBody["conflict"] = "error";
    while (this.acceptSymbol("#")) {
      const option = this.name();
      const value = this.name();
      if (option === "variable_conflict") {
        conflict = value === "use_column" ? "column" : value === "use_variable" ? "variable" : "error";
      }
    }
    const label = this.label();
    const block = this.block(label);
    this.acceptSymbol(";");
    if (this.token !== undefined) throw this.unexpected();
    return { block, conflict, expressions: this.expressions, statements: this.statements };
  }

  private label(): string | null {
    if (!this.isSymbol("<") || !this.isSymbol("<", this.peek())) return null;
    this.at += 2;
    const name = this.name();
    this.expectSymbol(">");
    this.expectSymbol(">");
    return name;
  }

  private block(label: string | null): PlBlock {
    const line = this.line();
    const declarations: PlDeclaration[] = [];
    while (this.acceptWord("declare")) {
      while (!this.isWord("begin") && !this.isWord("declare")) {
        if (this.isSymbol("<")) throw sqlError("42601", "block label must be placed before DECLARE, not after");
        declarations.push(this.declaration());
      }
    }
    this.expectWord("begin");
    const body = this.statementsUntil(["end", "exception"]);
    const handlers = this.acceptWord("exception") ? this.handlers() : null;
    this.expectWord("end");
    this.endLabel(label);
    return { kind: "block", label, declarations, body, handlers, line };
  }

  private endLabel(label: string | null): void {
    if (this.isSymbol(";") || this.token === undefined) return;
    const name = this.name();
    if (label === null) throw sqlError("42601", `end label "${name}" specified for unlabeled block`);
    if (name !== label) throw sqlError("42601", `end label "${name}" differs from block's label "${label}"`);
  }

  private handlers(): PlHandler[] {
    const handlers: PlHandler[] = [];
    while (this.acceptWord("when")) {
      const conditions: string[] = [];
      do {
        conditions.push(this.acceptWord("sqlstate") ? `sqlstate:${this.stringLiteral()}` : this.name());
      } while (this.acceptWord("or"));
      this.expectWord("then");
      handlers.push({ conditions, body: this.statementsUntil(["when", "end"]) });
    }
    if (handlers.length === 0) throw this.unexpected();
    return handlers;
  }

  private declaration(): PlDeclaration {
    const line = this.line();
    const name = this.name();
    if (this.acceptWord("alias")) {
      this.expectWord("for");
      const parameter = this.token?.kind === "parameter";
      const of = parameter ? [this.tokens[this.at++]!.text] : this.dotted();
      this.expectSymbol(";");
      return { kind: "alias", name, of, line };
    }
    const scroll = this.acceptWord("no", "scroll") ? false : this.acceptWord("scroll") ? true : null;
    if (this.acceptWord("cursor")) return this.cursorDeclaration(name, scroll, line);
    if (scroll !== null) throw this.unexpected();
    const constant = this.acceptWord("constant");
    const type = this.typeText(["not", "default", "collate"]);
    if (this.acceptWord("collate")) this.dotted();
    const notNull = this.acceptWord("not");
    if (notNull) this.expectWord("null");
    let initial: PlSql | null = null;
    if (this.acceptWord("default") || this.acceptSymbol(":=") || this.acceptSymbol("=")) {
      initial = this.until(this.endOf([]));
    }
    this.expectSymbol(";");
    if (notNull && initial === null) {
      throw sqlError("22004", `variable "${name}" must have a default value, since it's declared NOT NULL`);
    }
    return { kind: "variable", name, type, constant, notNull, initial, line };
  }

  private typeText(words: readonly string[]): string {
    const end = this.endOf(words, [";", ":=", "=", ",", ")"]);
    if (end === this.at) throw sqlError("42601", "missing data type declaration");
    const text = this.text.slice(this.token!.start, this.tokens[end - 1]!.end);
    this.at = end;
    return text;
  }

  private cursorDeclaration(name: string, scroll: boolean | null, line: number): PlDeclaration {
    const parameters: { name: string; type: string }[] = [];
    if (this.acceptSymbol("(")) {
      do {
        const parameter = this.name();
        parameters.push({ name: parameter, type: this.typeText([]) });
      } while (this.acceptSymbol(","));
      this.expectSymbol(")");
    }
    if (!this.acceptWord("for")) this.expectWord("is");
    const query = this.until(this.endOf([]), "statement");
    this.expectSymbol(";");
    return { kind: "cursor", name, scroll, parameters, query, line };
  }

  private dotted(): string[] {
    const path = [this.name()];
    while (this.acceptSymbol(".")) path.push(this.name());
    return path;
  }

  private statementsUntil(words: readonly string[]): PlStatement[] {
    const statements: PlStatement[] = [];
    while (!words.some((word) => this.isWord(word))) {
      if (this.token === undefined) throw this.unexpected();
      statements.push(this.statement());
    }
    return statements;
  }

  private statement(): PlStatement {
    const line = this.line();
    const label = this.label();
    const { token } = this;
    if (token === undefined) throw this.unexpected();
    if (this.isAssignment()) return this.assignment(line);
    if (token.kind === "word") {
      const compound = this.compound(token.text, label, line);
      if (compound !== null) {
        this.expectSymbol(";");
        return compound;
      }
      if (label !== null) throw this.unexpected();
      const simple = this.simple(token.text, line) ?? this.cursorStatement(token.text, line);
      if (simple !== null) {
        this.expectSymbol(";");
        return simple;
      }
    }
    return this.sqlStatement(line);
  }

  /** `x := `, `x.f = `, `a[…] := `: no statement of SQL begins so. */
  private isAssignment(): boolean {
    const { token } = this;
    if (token?.kind !== "word" && token?.kind !== "quoted" && token?.kind !== "parameter") return false;
    const next = this.peek();
    return next?.kind === "symbol" && [":=", "=", ".", "["].includes(next.text);
  }

  private assignment(line: number): PlStatement {
    const target = this.target();
    if (!this.acceptSymbol(":=")) this.expectSymbol("=");
    const value = this.until(this.endOf([]));
    this.expectSymbol(";");
    return { kind: "assign", target, value, line };
  }

  private target(): PlTarget {
    const line = this.line();
    const path = this.token?.kind === "parameter" ? [this.tokens[this.at++]!.text] : [this.name()];
    const rest: PlAccess[] = [];
    for (;;) {
      if (this.acceptSymbol(".")) {
        const name = this.name();
        if (rest.length === 0) path.push(name);
        else rest.push({ kind: "field", name });
      } else if (this.acceptSymbol("[")) {
        rest.push(this.subscript());
      } else return { path, rest, line };
    }
  }

  private subscript(): PlAccess {
    const colon = this.endOf([], [":", "]"]);
    const first = colon > this.at ? this.until(colon) : null;
    if (this.acceptSymbol("]")) {
      if (first === null) throw this.unexpected();
      return { kind: "index", index: first };
    }
    this.expectSymbol(":");
    const close = this.endOf([], ["]"]);
    const upper = close > this.at ? this.until(close) : null;
    this.expectSymbol("]");
    return { kind: "slice", lower: first, upper };
  }

  private targets(): PlTarget[] {
    const targets = [this.target()];
    while (this.acceptSymbol(",")) targets.push(this.target());
    return targets;
  }

  /** Statements that hold others; null: another one. */
  private compound(word: string, label: string | null, line: number): PlStatement | null {
    switch (word) {
      case "declare":
      case "begin":
        return this.block(label);
      case "if":
        return label === null ? this.ifStatement(line) : null;
      case "case":
        return label === null ? this.caseStatement(line) : null;
      case "loop":
        return { kind: "loop", label, body: this.loopBody(label), line };
      case "while": {
        this.at++;
        const condition = this.until(this.endOf(["loop"]));
        return { kind: "while", label, condition, body: this.loopBody(label), line };
      }
      case "for":
        return this.forStatement(label, line);
      case "foreach": {
        this.at++;
        const targets = this.targets();
        const slice = this.acceptWord("slice") ? Number(this.tokens[this.at++]?.text) : 0;
        this.expectWord("in");
        this.expectWord("array");
        const array = this.until(this.endOf(["loop"]));
        return { kind: "foreach", label, targets, slice, array, body: this.loopBody(label), line };
      }
      default:
        return null;
    }
  }

  private loopBody(label: string | null): Statements {
    this.expectWord("loop");
    const body = this.statementsUntil(["end"]);
    this.expectWord("end");
    this.expectWord("loop");
    this.endLabel(label);
    return body;
  }

  private ifStatement(line: number): PlStatement {
    const branches: { condition: PlSql; body: Statements }[] = [];
    do {
      this.at++;
      const condition = this.until(this.endOf(["then"]));
      this.expectWord("then");
      branches.push({ condition, body: this.statementsUntil(["elsif", "elseif", "else", "end"]) });
    } while (this.isWord("elsif") || this.isWord("elseif"));
    const otherwise = this.acceptWord("else") ? this.statementsUntil(["end"]) : null;
    this.expectWord("end");
    this.expectWord("if");
    return { kind: "if", branches, otherwise, line };
  }

  private caseStatement(line: number): PlStatement {
    this.at++;
    const input = this.isWord("when") ? null : this.until(this.endOf(["when"]));
    const branches: { values: readonly PlSql[]; body: Statements }[] = [];
    while (this.acceptWord("when")) {
      const end = this.endOf(["then"]);
      const values = input === null ? [this.until(end)] : this.list(end);
      this.expectWord("then");
      branches.push({ values, body: this.statementsUntil(["when", "else", "end"]) });
    }
    const otherwise = this.acceptWord("else") ? this.statementsUntil(["end"]) : null;
    this.expectWord("end");
    this.expectWord("case");
    return { kind: "case", input, branches, otherwise, line };
  }

  private forStatement(label: string | null, line: number): PlStatement {
    this.at++;
    const targets = this.targets();
    this.expectWord("in");
    if (this.isWord("execute")) {
      this.at++;
      const query = this.dynamic(["loop"]);
      return { kind: "for query", label, targets, query, body: this.loopBody(label), line };
    }
    const reverse = this.acceptWord("reverse");
    const end = this.endOf(["loop"]);
    const dots = this.range(end);
    if (dots !== null) return this.forInteger(targets, reverse, dots, end, label, line);
    const next = this.peek();
    const isCursor =
      (this.token?.kind === "word" || this.token?.kind === "quoted") &&
      (this.at + 1 === end || (this.isSymbol("(", next) && this.endOf(["loop"], [";"], this.at + 1) === end));
    const startsQuery = ["select", "values", "with", "table", "insert", "update", "delete", "show", "explain"];
    if (isCursor && !startsQuery.includes(this.token!.text)) {
      const cursor = this.name();
      const args = this.cursorArguments();
      const variable = targets[0]!.path[0]!;
      return { kind: "for cursor", label, variable, cursor, args, body: this.loopBody(label), line };
    }
    const query = this.until(end, "statement");
    return { kind: "for query", label, targets, query, body: this.loopBody(label), line };
  }

  /** Where `..` stands between here and a token; numbers may have swallowed one of its dots. */
  private range(end: number): number | null {
    for (let i = this.at; i < end; i++) {
      const { kind, start, depth } = this.tokens[i]!;
      if ((kind !== "symbol" && kind !== "number") || depth > 0) continue;
      const found = this.text.indexOf("..", start);
      if (found >= 0 && found <= this.tokens[i]!.end) return found;
    }
    return null;
  }

  private forInteger(
    targets: readonly PlTarget[],
    reverse: boolean,
    dots: number,
    end: number,
    label: string | null,
    line: number,
  ): PlStatement {
    const lower = this.piece(this.token!.start, dots);
    const by = this.tokens.findIndex(
      (token, i) => i > this.at && i < end && token.start > dots && this.isWord("by", token) && token.depth === 0,
    );
    const stop = by < 0 ? end : by;
    const upper = this.piece(dots + 2, this.tokens[stop - 1]!.end);
    this.at = stop;
    const step = this.acceptWord("by") ? this.until(end) : null;
    const body = this.loopBody(label);
    return { kind: "for integer", label, variable: targets[0]!.path[0]!, reverse, lower, upper, step, body, line };
  }

  private piece(start: number, end: number): PlSql {
    const sql: PlSql = { text: this.text.slice(start, end).trim(), line: this.line() };
    if (sql.text === "") throw sqlError("42601", "missing expression");
    this.expressions.push(sql);
    return sql;
  }

  private cursorArguments(): PlCursorArgument[] {
    const args: PlCursorArgument[] = [];
    if (!this.acceptSymbol("(")) return args;
    while (!this.isSymbol(")")) {
      const named =
        this.isSymbol(":=", this.peek()) || (this.isSymbol("=", this.peek()) && this.isSymbol(">", this.peek(2)));
      const name = named ? this.name() : null;
      if (named && !this.acceptSymbol(":=")) this.at += 2;
      args.push({ name, value: this.until(this.endOf([], [",", ")"])) });
      this.acceptSymbol(",");
    }
    this.expectSymbol(")");
    return args;
  }

  /** EXECUTE's text and the values for its parameters, after the word. */
  private dynamic(words: readonly string[]): PlDynamic {
    const query = this.until(this.endOf(["using", "into", ...words]));
    const using = this.acceptWord("using") ? this.list(this.endOf(["into", ...words])) : [];
    return { query, using };
  }

  private into(): PlInto {
    const strict = this.acceptWord("strict");
    return { strict, targets: this.targets() };
  }

  private simple(word: string, line: number): PlStatement | null {
    switch (word) {
      case "null":
        this.at++;
        return { kind: "null", line };
      case "exit":
      case "continue": {
        this.at++;
        const label = this.isWord("when") || this.isSymbol(";") ? null : this.name();
        const when = this.acceptWord("when") ? this.until(this.endOf([])) : null;
        return { kind: word, label, when, line };
      }
      case "return":
        return this.returnStatement(line);
      case "perform":
        this.at++;
        return { kind: "perform", query: this.until(this.endOf([])), line };
      case "execute": {
        this.at++;
        const query = this.until(this.endOf(["using", "into"]));
        let into = this.acceptWord("into") ? this.into() : null;
        const using = this.acceptWord("using") ? this.list(this.endOf(["into"])) : [];
        if (this.acceptWord("into")) into = this.into();
        return { kind: "execute", dynamic: { query, using }, into, line };
      }
      case "get":
        return this.diagnostics(line);
      case "raise":
        return this.raise(line);
      case "assert": {
        this.at++;
        const [condition, message] = this.list(this.endOf([]));
        return { kind: "assert", condition: condition!, message: message ?? null, line };
      }
      case "commit":
      case "rollback":
        return this.endTransaction(word, line);
      default:
        return null;
    }
  }

  private endTransaction(action: "commit" | "rollback", line: number): PlStatement {
    this.at++;
    let chain = false;
    if (this.acceptWord("and")) {
      chain = !this.acceptWord("no");
      this.expectWord("chain");
    }
    if (this.endOf([]) !== this.at) throw this.unexpected();
    return { kind: "end transaction", action, chain, line };
  }

  private returnStatement(line: number): PlStatement {
    this.at++;
    if (this.acceptWord("next")) {
      return { kind: "return next", value: this.isSymbol(";") ? null : this.until(this.endOf([])), line };
    }
    if (this.acceptWord("query")) {
      const query = this.acceptWord("execute") ? this.dynamic([]) : this.until(this.endOf([]), "statement");
      return { kind: "return query", query, line };
    }
    return { kind: "return", value: this.isSymbol(";") ? null : this.until(this.endOf([])), line };
  }

  private diagnostics(line: number): PlStatement {
    this.at++;
    const stacked = this.acceptWord("stacked");
    if (!stacked) this.acceptWord("current");
    this.expectWord("diagnostics");
    const items: { target: PlTarget; item: string }[] = [];
    do {
      const target = this.target();
      if (!this.acceptSymbol(":=")) this.expectSymbol("=");
      items.push({ target, item: this.name() });
    } while (this.acceptSymbol(","));
    return { kind: "diagnostics", stacked, items, line };
  }

  private raise(line: number): PlStatement {
    this.at++;
    const level = this.token?.kind === "word" && LEVELS.includes(this.token.text) ? this.name() : "exception";
    let format: string | null = null;
    let condition: string | null = null;
    let args: PlSql[] = [];
    if (this.token?.kind === "string") {
      format = this.stringLiteral();
      if (this.acceptSymbol(",")) args = this.list(this.endOf(["using"]));
      const wanted = format.replaceAll("%%", "").split("%").length - 1;
      if (args.length < wanted) throw sqlError("42601", "too few parameters specified for RAISE");
      if (args.length > wanted) throw sqlError("42601", "too many parameters specified for RAISE");
    } else if (this.acceptWord("sqlstate")) {
      condition = `sqlstate:${this.stringLiteral()}`;
    } else if (!this.isSymbol(";") && !this.isWord("using")) condition = this.name();
    const options: { name: string; value: PlSql }[] = [];
    if (this.acceptWord("using")) {
      do {
        const name = this.name();
        if (!this.acceptSymbol(":=")) this.expectSymbol("=");
        options.push({ name, value: this.until(this.endOf([], [",", ";"])) });
      } while (this.acceptSymbol(","));
    }
    return { kind: "raise", level, format, condition, args, options, line };
  }

  private cursorStatement(word: string, line: number): PlStatement | null {
    if (word !== "open" && word !== "fetch" && word !== "move" && word !== "close") return null;
    this.at++;
    if (word === "close") return { kind: "close", cursor: this.name(), line };
    if (word === "open") {
      const cursor = this.name();
      const scroll = this.acceptWord("no", "scroll") ? false : this.acceptWord("scroll") ? true : null;
      if (!this.acceptWord("for")) {
        return { kind: "open", cursor, scroll, args: this.cursorArguments(), query: null, line };
      }
      const query = this.acceptWord("execute") ? this.dynamic([]) : this.until(this.endOf([]), "statement");
      return { kind: "open", cursor, scroll, args: [], query, line };
    }
    let direction = "next";
    let count: PlSql | null = null;
    const isDirection = this.token?.kind === "word" && DIRECTIONS.includes(this.token.text);
    if (isDirection && !this.isWord("into", this.peek()) && !this.isSymbol(";", this.peek())) {
      direction = this.name();
      if (direction !== "all" && !this.isWord("from") && !this.isWord("in") && this.peek() !== undefined) {
        const end = this.endOf(["from", "in", "into"]);
        if (this.acceptWord("all")) direction = `${direction} all`;
        else if (
          ["absolute", "relative", "forward", "backward"].includes(direction) &&
          !this.isWord("into", this.tokens[end])
        ) {
          count = this.until(end);
        }
      }
    }
    if (!this.acceptWord("from")) this.acceptWord("in");
    const cursor = this.name();
    const move = word === "move";
    if (!move) this.expectWord("into");
    return { kind: "fetch", cursor, move, direction, count, targets: move ? [] : this.targets(), line };
  }

  /** Any other statement is SQL's; INTO says where its row goes. */
  private sqlStatement(line: number): PlStatement {
    const end = this.endOf([]);
    if (end === this.at) throw this.unexpected();
    const first = this.token!;
    const depth = first.depth;
    let into: PlInto | null = null;
    let text = this.text.slice(first.start, this.tokens[end - 1]!.end);
    for (let i = this.at; i < end; i++) {
      const token = this.tokens[i]!;
      if (!this.isWord("into", token) || token.depth > depth) continue;
      const before = this.tokens[i - 1];
      if (i > this.at && (this.isWord("insert", before) || this.isWord("merge", before))) continue;
      if (into !== null) throw sqlError("42601", "INTO specified more than once");
      this.at = i + 1;
      into = this.into();
      text = `${this.text.slice(first.start, token.start)}${this.text.slice(this.tokens[this.at - 1]!.end, this.tokens[end - 1]!.end)}`;
    }
    this.at = end;
    const statement: PlSql = { text, line };
    this.statements.push(statement);
    this.expectSymbol(";");
    return { kind: "sql", statement, into, line };
  }
}
