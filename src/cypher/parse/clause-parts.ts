/** LOAD CSV, modes and hints of MATCH, and IN TRANSACTIONS of CALL. Extended by `queries.ts`. */
import type { CallClause, CallTransactions, Expr, MatchClause, PathPattern, Variable, YieldItem } from "./ast.js";
import { hidden } from "./composed-queries.js";
import { POSTFIX } from "./expressions.js";
import { WritingParser } from "./writing-clauses.js";

/** Of ON ERROR RETRY that names none. */
const RETRY_SECONDS = 30;

interface Retry {
  readonly seconds: Expr;
  /** What comes of a part that still fails follows. */
  readonly thenAsked: boolean;
}

/** What the variable of a pattern is; null: it is none of theirs, or there are several patterns. */
function kindIn([path, ...others]: readonly PathPattern[], name: string): "node" | "relationship" | null {
  if (path === undefined || others.length > 0) return null;
  const nodes = [path.start, ...path.steps.map(({ node }) => node)];
  if (nodes.some(({ variable }) => variable?.name === name)) return "node";
  const single = path.steps.map(({ relationship }) => relationship).filter(({ length }) => length === null);
  return single.some(({ variable }) => variable?.name === name) ? "relationship" : null;
}

export abstract class ClausePartsParser extends WritingParser {
  /** `LOAD CSV [WITH HEADERS] FROM address AS row [FIELDTERMINATOR ';']`, a call of the procedure that reads files. */
  protected loadCsv(position: number): CallClause {
    this.at += 2;
    const hasHeaders = this.acceptKeyword("WITH");
    if (hasHeaders) this.expectWord("HEADERS");
    this.expectKeyword("FROM");
    const address = this.expression();
    this.expectKeyword("AS");
    const variable = this.variable();
    let terminator: Expr = { kind: "string", value: ",", position };
    if (this.acceptWord("FIELDTERMINATOR")) terminator = this.expression();
    const yields = [{ field: "row", variable, position: variable.position }, ...this.loadedBeside(position)];
    return {
      kind: "call",
      procedure: "load.csv",
      args: [address, { kind: "boolean", value: hasHeaders, position }, terminator],
      yields,
      where: null,
      optional: false,
      standalone: false,
      position,
    };
  }

  /** What linenumber() and file() mean from here on, if the statement has them. */
  private loadedBeside(position: number): YieldItem[] {
    const isCalled = (at: number) => this.kinds[at + 1] === "(" && /^(?:linenumber|file)$/i.test(this.word(at));
    if (!this.kinds.some((kind, at) => at >= this.at && kind === "word" && isCalled(at))) return [];
    const loaded = { linenumber: hidden("linenumber()", position), file: hidden("file()", position) };
    this.loaded = loaded;
    return [
      { field: "linenumber", variable: loaded.linenumber, position },
      { field: "file", variable: loaded.file, position },
    ];
  }

  /** `REPEATABLE ELEMENTS`; `DIFFERENT RELATIONSHIPS` is what holds anyway. */
  protected matchMode(): Pick<MatchClause, "repeatable"> {
    const { at } = this;
    const isRepeatable = this.acceptWord("REPEATABLE");
    if (!isRepeatable && !this.acceptWord("DIFFERENT")) return {};
    const isOne = isRepeatable ? this.acceptWord("ELEMENT") : this.acceptWord("RELATIONSHIP");
    if (isOne || (isRepeatable ? this.acceptWord("ELEMENTS") : this.acceptWord("RELATIONSHIPS"))) {
      if (isOne) this.acceptWord("BINDINGS");
      return isRepeatable ? { repeatable: true } : {};
    }
    // A path of that name.
    this.at = at;
    return {};
  }

  /** What restricts a variable of the patterns to what an index finds; nothing: it is not there. */
  protected indexSearch(patterns: readonly PathPattern[]): Pick<MatchClause, "search"> {
    const position = this.position();
    if (!this.acceptWord("SEARCH")) return {};
    const variable = this.variable();
    const of = kindIn(patterns, variable.name);
    if (of === null) {
      const message = "SEARCH names a node or a relationship of its MATCH, which has one pattern";
      throw this.error(variable.position, "UnexpectedSyntax", message);
    }
    this.expectKeyword("IN");
    this.expect("(");
    this.expectKeyword("VECTOR");
    this.expectKeyword("INDEX");
    const named = this.position();
    const index: Expr =
      this.kind === "parameter"
        ? this.parameter()
        : { kind: "string", value: this.name("the name of an index"), position: named };
    this.expectKeyword("FOR");
    const query = this.expression();
    const within = this.optionalWhere();
    this.expectKeyword("LIMIT");
    const limit = this.expression();
    this.expect(")");
    let score: Variable | null = null;
    if (this.acceptWord("SCORE")) {
      this.expectKeyword("AS");
      score = this.variable();
    }
    const yields: YieldItem[] = [{ field: of, variable, position }];
    if (score !== null) yields.push({ field: "score", variable: score, position });
    const procedure = `db.index.vector.query${of === "node" ? "Nodes" : "Relationships"}`;
    const args = [index, limit, query];
    const common = { where: null, optional: false, standalone: false, position } as const;
    return { search: { call: { kind: "call", procedure, args, yields, ...common }, within } };
  }

  /** `USING INDEX n:Label(p)`, `USING SCAN n:Label`, `USING JOIN ON n`: the planner chooses by itself. */
  protected skipHints(): void {
    while (this.acceptKeyword("USING")) {
      if (this.acceptKeyword("JOIN")) {
        this.expectKeyword("ON");
        this.commaList(() => this.variable());
        continue;
      }
      const isScan = this.acceptKeyword("SCAN");
      if (!isScan) {
        for (const word of ["RANGE", "TEXT", "POINT"]) if (this.acceptKeyword(word)) break;
        this.expectKeyword("INDEX");
        this.acceptKeyword("SEEK");
      }
      this.variable();
      this.expect(":");
      this.name("a label or type");
      if (isScan) continue;
      this.expect("(");
      this.commaList(() => this.name("a property's name"));
      this.expect(")");
    }
  }

  /** `IN [n CONCURRENT] TRANSACTIONS …`: how many at once makes no difference here, where they run one by one. */
  protected transactions(): CallTransactions | null {
    const position = this.position();
    if (!this.acceptKeyword("IN")) return null;
    if (!this.isNextWord("TRANSACTIONS")) {
      if (!this.isNextWord("CONCURRENT")) this.expression(POSTFIX);
      this.expectWord("CONCURRENT");
    }
    this.expectWord("TRANSACTIONS");
    let rows: Expr | null = null;
    let onError: CallTransactions["onError"] = "fail";
    let retry: Retry | null = null;
    let status: Variable | null = null;
    for (;;) {
      if (this.acceptWord("OF")) {
        rows = this.expression();
        if (!this.acceptWord("ROWS")) this.expectWord("ROW");
      } else if (this.keyword === "ON") {
        this.at++;
        this.expectWord("ERROR");
        retry = this.retry();
        if (this.acceptWord("CONTINUE")) onError = "continue";
        else if (this.acceptWord("BREAK")) onError = "break";
        else if (retry === null || retry.thenAsked) this.expectWord("FAIL");
      } else if (this.acceptWord("REPORT")) {
        this.expectWord("STATUS");
        this.expectKeyword("AS");
        status = this.variable();
      } else break;
    }
    if (status !== null && onError === "fail") {
      throw this.error(
        status.position,
        "InvalidClauseComposition",
        "REPORT STATUS needs ON ERROR CONTINUE or ON ERROR BREAK",
      );
    }
    return { rows, onError, retrySeconds: retry?.seconds ?? null, status, position };
  }

  /** `RETRY [FOR n SECONDS] [THEN …]`. */
  private retry(): Retry | null {
    const position = this.position();
    if (!this.acceptWord("RETRY")) return null;
    let seconds: Expr = { kind: "integer", value: RETRY_SECONDS, position };
    if (this.acceptKeyword("FOR")) {
      seconds = this.expression();
      if (!this.acceptWord("SECONDS")) this.expectWord("SECOND");
    }
    return { seconds, thenAsked: this.acceptKeyword("THEN") };
  }
}
