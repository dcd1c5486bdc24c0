/** The beginnings of expressions: literals, names, calls, brackets and braces. Extended by `patterns.ts`. */
import { type CoordinateType, coordinateTypeNamed, VECTOR_MEASURES } from "../../values/cypher-vector.js";
import { holdsAlways } from "./all-reduce.js";
import type {
  CaseExpr,
  Expr,
  ListComprehension,
  MapEntry,
  MapLiteral,
  MapProjectionItem,
  Parameter,
  PathPattern,
  SubqueryExpr,
  Variable,
} from "./ast.js";
import { ExpressionParser } from "./expressions.js";
import { escapedName, stringValue } from "./literals.js";

/** Functions whose last argument is a word. */
const VECTOR_CALLS: ReadonlySet<string> = new Set(["vector", "vector_distance", "vector_norm"]);

const NAMED_NUMBERS: Readonly<Record<string, number>> = {
  INF: Number.POSITIVE_INFINITY,
  INFINITY: Number.POSITIVE_INFINITY,
  NAN: Number.NaN,
};
/** What `trim(LEADING …)` calls. */
const TRIMS: Readonly<Record<string, string>> = { BOTH: "btrim", LEADING: "ltrim", TRAILING: "rtrim" };

export abstract class AtomParser extends ExpressionParser {
  /** Names of the parameters met so far. */
  protected readonly parameters = new Set<string>();

  protected abstract path(): PathPattern;
  protected abstract pathSteps(): PathPattern;
  protected abstract nodePatternBegins(at: number): boolean;
  /** What the last LOAD CSV says of its row beside it; null: there was none. */
  protected loaded: { readonly linenumber: Variable; readonly file: Variable } | null = null;
  protected abstract subquery(result: SubqueryExpr["result"]): SubqueryExpr;

  protected atom(): Expr {
    const position = this.position();
    const at = this.at;
    switch (this.kind) {
      case "word":
        return this.wordAtom(position);
      case "name":
        return this.nameAtom(position);
      case "integer":
      case "float":
        return this.number(false, position);
      case "string":
        this.at++;
        return { kind: "string", value: stringValue(this.text, position, this.end(at)), position };
      case "parameter":
        return this.parameter();
      case "(":
        return this.parenthesized(position);
      case "[":
        return this.bracketed(position);
      case "{":
        return this.map();
      default:
        throw this.expected("expression");
    }
  }

  protected parameter(): Parameter {
    const at = this.at++;
    const position = this.position(at);
    const source = this.text.slice(position + 1, this.end(at));
    const name = source.startsWith("`") ? escapedName(source) : source;
    this.parameters.add(name);
    return { kind: "parameter", name, position };
  }

  protected map(): MapLiteral {
    const position = this.position();
    this.expect("{");
    const entries: MapEntry[] = [];
    if (!this.accept("}")) {
      do {
        const start = this.position();
        const key = this.name("a key");
        this.expect(":");
        entries.push({ key, value: this.inner(), position: start });
      } while (this.accept(","));
      this.expect("}");
    }
    return { kind: "map", entries, position };
  }

  private wordAtom(position: number): Expr {
    const next = this.kinds[this.at + 1];
    const { keyword } = this;
    switch (keyword) {
      case "":
        return this.nameAtom(position);
      case "NULL":
        this.at++;
        return { kind: "null", position };
      case "TRUE":
      case "FALSE":
        this.at++;
        return { kind: "boolean", value: keyword === "TRUE", position };
      case "CASE":
        return this.caseExpr(position);
      case "SHORTESTPATH":
      case "ALLSHORTESTPATHS":
        if (next !== "(") break;
        return this.unplacedPattern({ kind: "pattern", pattern: this.pathSteps(), position });
      case "EXISTS":
      case "COUNT":
      case "COLLECT":
        if (next === "{") return this.subquery(keyword.toLowerCase() as SubqueryExpr["result"]);
        break;
      case "ALL":
      case "ANY":
      case "NONE":
      case "SINGLE":
      case "FILTER":
      case "EXTRACT":
        if (next === "(" && this.elementBegins(this.at + 2)) return this.overList(keyword, position);
        break;
      case "REDUCE":
        if (next === "(" && this.isVariable(this.at + 2) && this.kinds[this.at + 3] === "=")
          return this.reduce(position);
        break;
      default:
        if (!this.isVariable()) throw this.expected("expression");
    }
    return this.nameAtom(position);
  }

  /** `x IN`. */
  protected elementBegins(at: number): boolean {
    return this.isVariable(at) && this.keywords[at + 1] === "IN";
  }

  private nameAtom(position: number): Expr {
    const isAllReduce =
      this.kinds[this.at + 1] === "(" && this.isVariable(this.at + 2) && this.kinds[this.at + 3] === "=";
    if (isAllReduce && /^allReduce$/i.test(this.word())) return this.allReduce(position);
    if (this.callBegins()) return this.call(position);
    const number = this.kind === "word" ? NAMED_NUMBERS[this.word().toUpperCase()] : undefined;
    if (number !== undefined) {
      this.at++;
      return { kind: "float", value: number, position };
    }
    const variable = this.variable();
    return this.kind === "{" ? this.mapProjection(variable.name, position) : variable;
  }

  /** `name(` or `space.name(`. */
  private callBegins(): boolean {
    let at = this.at + 1;
    while (this.kinds[at] === "." && this.isName(at + 1)) at += 2;
    return this.kinds[at] === "(";
  }

  private call(position: number): Expr {
    const name = this.dottedName("a function's name");
    this.expect("(");
    if (this.kind === "*" && name.toLowerCase() === "count") {
      this.at++;
      this.expect(")");
      return { kind: "count-all", position };
    }
    if (name.toLowerCase() === "trim") {
      const trimmed = this.trimSpecification(position);
      if (trimmed !== null) return trimmed;
    }
    const distinct = this.acceptKeyword("DISTINCT");
    if (!distinct && this.keyword === "ALL" && this.kinds[this.at + 1] !== "(") this.at++;
    const isVector = VECTOR_CALLS.has(name.toLowerCase());
    const argument = () => (isVector ? this.lastWord(name) : this.normalForm(name)) ?? this.inner();
    const args = this.kind === ")" && !distinct ? [] : this.commaList(argument);
    this.expect(")");
    if (args.length === 1 && name.toLowerCase() === "exists") this.place(args[0]!);
    if (args.length === 0 && /^(?:linenumber|file)$/i.test(name)) return this.ofLoaded(name.toLowerCase(), position);
    return { kind: "call", name, distinct, args, position };
  }

  /** Where no file was loaded they are null. */
  private ofLoaded(name: string, position: number): Expr {
    if (this.loaded === null) return { kind: "null", position };
    return { ...(name === "file" ? this.loaded.file : this.loaded.linenumber), position };
  }

  /** The form in `normalize(text, NFKC)`, as a string; null: something else. */
  private normalForm(called: string): Expr | null {
    if (called.toLowerCase() !== "normalize" || this.kind !== "word" || this.kinds[this.at + 1] !== ")") return null;
    const [position, value] = [this.position(), this.word().toUpperCase()];
    if (!/^NFK?[CD]$/.test(value)) return null;
    this.at++;
    return { kind: "string", value, position };
  }

  /** The last argument of `vector([1, 2], 2, FLOAT32)` and `vector_norm(v, EUCLIDEAN)`, as a string; null: others. */
  private lastWord(called: string): Expr | null {
    const { at } = this;
    const position = this.position();
    if (this.kind !== "word" || this.kinds[at - 1] !== ",") return null;
    if (called.toLowerCase() === "vector") {
      const value = this.acceptCoordinateType();
      if (value !== null && this.kinds[this.at] === ")") return { kind: "string", value, position };
      // A name in the middle is a variable.
      this.at = at;
      return null;
    }
    const value = this.word().toUpperCase();
    if (this.kinds[at + 1] !== ")" || !VECTOR_MEASURES.has(value)) return null;
    this.at++;
    return { kind: "string", value, position };
  }

  protected coordinateType(): CoordinateType {
    const type = this.acceptCoordinateType();
    if (type !== null) return type;
    throw this.expected("INTEGER, INTEGER8, INTEGER16, INTEGER32, FLOAT or FLOAT32");
  }

  /** `FLOAT32`, `SIGNED INTEGER NOT NULL`: numbers of vectors are never null. */
  private acceptCoordinateType(): CoordinateType | null {
    const { at } = this;
    let words = "";
    for (let end = at; this.isName(end) && end < at + 2; end++) {
      words = `${words} ${this.word(end).toUpperCase()}`.trimStart();
      const found = coordinateTypeNamed(words);
      if (found === null) continue;
      this.at = end + 1;
      this.acceptKeywords("NOT", "NULL");
      return found;
    }
    return null;
  }

  /** `BOTH 'x' FROM text)`, `LEADING FROM text)`; null: the arguments are plain ones. */
  private trimSpecification(position: number): Expr | null {
    const trim = TRIMS[this.keyword];
    if (trim === undefined || this.kinds[this.at + 1] === "," || this.kinds[this.at + 1] === ")") return null;
    this.at++;
    const characters = this.keyword === "FROM" ? [] : [this.inner()];
    this.expectKeyword("FROM");
    const args = [this.inner(), ...characters];
    this.expect(")");
    return { kind: "call", name: trim, distinct: false, args, position };
  }

  private mapProjection(name: string, position: number): Expr {
    this.expect("{");
    const items = this.kind === "}" ? [] : this.commaList(() => this.mapProjectionItem());
    this.expect("}");
    return { kind: "map-projection", variable: { kind: "variable", name, position }, items, position };
  }

  private mapProjectionItem(): MapProjectionItem {
    const position = this.position();
    if (this.accept(".")) {
      if (this.accept("*")) return { kind: "all", position };
      return { kind: "property", name: this.name("a property's name"), position };
    }
    if (this.kinds[this.at + 1] !== ":") return this.variable();
    const key = this.name("a key");
    this.expect(":");
    return { kind: "entry", key, value: this.inner(), position };
  }

  private caseExpr(position: number): CaseExpr {
    this.expectKeyword("CASE");
    const subject = this.keyword === "WHEN" ? null : this.inner(this.barEnds);
    const branches: { when: Expr; result: Expr; isTest: boolean }[] = [];
    let hasTests = false;
    while (this.acceptKeyword("WHEN")) {
      const whens: { when: Expr; isTest: boolean }[] = [];
      do {
        const test = subject === null ? null : this.rest(subject);
        hasTests ||= test !== null;
        const when = test ?? (subject === null ? this.condition() : this.inner(this.barEnds));
        whens.push({ when, isTest: test !== null });
      } while (subject !== null && this.accept(","));
      this.expectKeyword("THEN");
      const result = this.inner(this.barEnds);
      for (const { when, isTest } of whens) branches.push({ when, result, isTest });
    }
    if (branches.length === 0) throw this.expected("WHEN");
    const otherwise = this.acceptKeyword("ELSE") ? this.inner(this.barEnds) : null;
    this.expectKeyword("END");
    const plain = branches.map(({ when, result, isTest }) => {
      return { when: hasTests && subject !== null && !isTest ? equalTo(subject, when) : when, result };
    });
    return { kind: "case", subject: hasTests ? null : subject, branches: plain, otherwise, position };
  }

  /** Quantifiers, and the older functions that are written like them. */
  private overList(keyword: string, position: number): Expr {
    this.at += 2;
    const variable = this.variable();
    this.expectKeyword("IN");
    const list = this.inner(true);
    const where = this.optionalWhere(true);
    if (keyword === "FILTER" || keyword === "EXTRACT") {
      const result = keyword === "EXTRACT" && this.accept("|") ? this.inner() : null;
      this.expect(")");
      return { kind: "list-comprehension", variable, list, where, result, position };
    }
    this.expect(")");
    const quantifier = keyword.toLowerCase() as "all" | "any" | "none" | "single";
    return { kind: "quantifier", quantifier, variable, list, where, position };
  }

  private reduce(position: number): Expr {
    const { step: result, ...fold } = this.fold();
    this.expect(")");
    return { kind: "reduce", ...fold, result, position };
  }

  /** `allReduce(acc = initial, x IN list | step, condition)`. */
  private allReduce(position: number): Expr {
    const fold = this.fold();
    this.expect(",");
    const condition = this.inner();
    this.expect(")");
    return holdsAlways({ ...fold, condition, position });
  }

  /** `…(acc = initial, x IN list | step`. */
  private fold() {
    this.at += 2;
    const accumulator = this.variable();
    this.expect("=");
    const initial = this.inner();
    this.expect(",");
    const variable = this.variable();
    this.expectKeyword("IN");
    const list = this.inner(true);
    this.expect("|");
    return { accumulator, initial, variable, list, step: this.inner() };
  }

  private parenthesized(position: number): Expr {
    if (this.nodePatternBegins(this.at)) {
      return this.unplacedPattern({ kind: "pattern", pattern: this.pathSteps(), position });
    }
    this.at++;
    const expr = this.inner();
    this.expect(")");
    return expr;
  }

  private bracketed(position: number): Expr {
    const named = this.isVariable(this.at + 1) && this.kinds[this.at + 2] === "=";
    const first = this.at + (named ? 3 : 1);
    if (this.kinds[first] === "(" && this.nodePatternBegins(first)) return this.patternComprehension(position);
    this.at++;
    if (this.elementBegins(this.at)) return this.listComprehension(position);
    const items = this.kind === "]" ? [] : this.commaList(() => this.inner());
    this.expect("]");
    return { kind: "list", items, position };
  }

  private listComprehension(position: number): ListComprehension {
    const variable = this.variable();
    this.expectKeyword("IN");
    const list = this.inner(true);
    const where = this.optionalWhere(true);
    const result = this.accept("|") ? this.inner() : null;
    this.expect("]");
    return { kind: "list-comprehension", variable, list, where, result, position };
  }

  private patternComprehension(position: number): Expr {
    this.at++;
    const pattern = this.path();
    const where = this.optionalWhere(true);
    this.expect("|");
    const result = this.inner();
    this.expect("]");
    return { kind: "pattern-comprehension", pattern, where, result, position };
  }
}

/** What `CASE subject WHEN value` asks. */
function equalTo(subject: Expr, value: Expr): Expr {
  const { position } = value;
  return { kind: "comparison", first: subject, rest: [{ operator: "=", operand: value, position }], position };
}
