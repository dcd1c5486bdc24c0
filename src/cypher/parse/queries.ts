/** Queries and their clauses. Extended by `parser.ts`, which reads whole statements. */

import { nearestName } from "../../protocol/nearest-name.js";
import type {
  CallClause,
  Clause,
  Expr,
  MatchClause,
  ProjectionClause,
  ProjectionItem,
  Query,
  SingleQuery,
  SortItem,
  SubqueryCallClause,
  SubqueryExpr,
  UnwindClause,
  Variable,
  YieldItem,
} from "./ast.js";
import { ClausePartsParser } from "./clause-parts.js";
import { EVERYTHING } from "./composed-queries.js";
import { importedByWith } from "./imported-by-with.js";
import { hintOfShow } from "./show-hints.js";
import type { UsedGraph } from "./statement-ast.js";
import { writingClauses } from "./writing-procedures.js";
import { endless, wrongInMatch } from "./written-patterns.js";

const CLAUSE_WORDS =
  "MATCH OPTIONAL UNWIND LET FILTER CALL CREATE MERGE SET REMOVE DELETE DETACH FOREACH WITH RETURN UNION".split(" ");
/** What a statement of SQL begins with, and no query. */
const SQL_WORDS: ReadonlySet<string> = new Set(
  "SELECT INSERT UPDATE ALTER DROP VALUES EXPLAIN TRUNCATE DESCRIBE GRANT".split(" "),
);

/** What may come behind a query, beside the end. */
const FOLLOWING: ReadonlySet<string> = new Set(["UNION", "WHEN", "ELSE"]);

/** What a pattern alone may begin with, beside a parenthesis and a name. */
const PATTERN_WORDS: ReadonlySet<string> = new Set(
  "SHORTESTPATH ALLSHORTESTPATHS SHORTEST ANY ALL REPEATABLE DIFFERENT WALK TRAIL ACYCLIC".split(" "),
);

/** Clauses that read; after one that writes they need a WITH between. */
const READING: ReadonlySet<Clause["kind"]> = new Set(["match", "unwind", "call", "subquery-call"]);
const WRITING: ReadonlySet<Clause["kind"]> = new Set(["create", "merge", "set", "remove", "delete", "foreach"]);

/** As it is written behind USE. */
export const textOfGraph = (graph: UsedGraph): string =>
  typeof graph === "string" ? graph : `graph.byName($${graph.parameter})`;

export abstract class QueryParser extends ClausePartsParser {
  /** The token with which the statement begins, behind a prefix. */
  protected begin = 0;

  /** A whole query; `open`: of a subquery, which need not end in RETURN. */
  protected abstract query(open: boolean): Query;

  /** What USE at the beginning of the statement names. */
  private graph: UsedGraph | null = null;

  /** `USE graph`, `USE graph.byName('graph')`; null: it is not there. A statement is about one graph. */
  protected used(isFirst: boolean): UsedGraph | null {
    const position = this.position();
    if (!this.acceptKeyword("USE")) return null;
    const name = this.graphName();
    if (isFirst) this.graph = name;
    if (this.graph !== null && textOfGraph(name) === textOfGraph(this.graph)) return name;
    throw this.error(
      position,
      "InvalidClauseComposition",
      "a statement is about one graph: USE stands at its beginning, and names the same graph where it comes again",
    );
  }

  private graphName(): UsedGraph {
    const isFunction = this.isNextWord("GRAPH") && this.kinds[this.at + 1] === "." && this.kinds[this.at + 3] === "(";
    if (!isFunction) return this.dottedName("the name of a graph");
    this.at += 2;
    this.expectWord("BYNAME");
    this.expect("(");
    const position = this.position();
    const name = this.expression();
    if (name.kind !== "string" && name.kind !== "parameter") {
      throw this.error(
        position,
        "UnexpectedSyntax",
        "graph.byName() takes a string or a parameter, because the graph has to be known before the statement runs",
      );
    }
    this.expect(")");
    return name.kind === "string" ? name.value : { parameter: name.name };
  }

  /** A part of a UNION. */
  protected abstract part(open: boolean): SingleQuery;

  /** Single queries with UNION between. */
  protected unitedQuery(open: boolean): Query {
    const position = this.position();
    const parts = [this.part(open)];
    let all: boolean | null = null;
    for (let start = this.position(); this.acceptKeyword("UNION"); start = this.position()) {
      const everyRow = this.acceptKeyword("ALL");
      if (!everyRow) this.acceptKeyword("DISTINCT");
      if (all !== null && all !== everyRow) {
        throw this.error(start, "InvalidClauseComposition", "UNION and UNION ALL cannot be mixed");
      }
      all = everyRow;
      parts.push(this.part(open));
    }
    return { kind: "query", parts, all: all ?? false, position };
  }

  protected subquery(result: SubqueryExpr["result"]): SubqueryExpr {
    const position = this.position();
    this.at++;
    this.expect("{");
    const [outer, wasCounted] = [this.barEnds, this.isCounted];
    this.barEnds = false;
    this.isCounted = true;
    const bare = this.kind === "(" || (this.isVariable() && this.kinds[this.at + 1] === "=");
    const query =
      bare || (this.kind === "word" && PATTERN_WORDS.has(this.word().toUpperCase()))
        ? this.bareMatch()
        : this.query(result !== "collect");
    this.barEnds = outer;
    this.isCounted = wasCounted;
    this.expect("}");
    return { kind: "subquery", result, query, position };
  }

  /** A pattern alone in the braces of a subquery. */
  private bareMatch(): Query {
    const position = this.position();
    const clause: MatchClause = { kind: "match", optional: false, ...this.matchBody(), position };
    return { kind: "query", parts: [{ clauses: [clause], position }], all: false, position };
  }

  protected singleQuery(open: boolean): SingleQuery {
    const position = this.position();
    this.used(false);
    const clauses: Clause[] = [];
    let wasCall = false;
    for (;;) {
      const clause = this.clause();
      if (clause === null) break;
      this.checkPatternsPlaced();
      const last = clauses.at(-1);
      if (last !== undefined && WRITING.has(last.kind) && READING.has(clause.kind)) {
        if (!wasCall) throw this.withoutWith(last, clause);
        clauses.push({ ...EVERYTHING, kind: "with", position: clause.position });
      }
      wasCall = clause.kind === "call";
      clauses.push(...(clause.kind === "call" ? writingClauses(clause, this.refuseCall) : [clause]));
      if (clauses.at(-1)!.kind === "return") break;
    }
    const last = clauses.at(-1);
    if (last?.kind !== "return" && this.acceptKeyword("FINISH")) return { clauses, finish: true, position };
    if (last === undefined) throw this.expected("a clause", this.clauseHint());
    if (!open && (last.kind === "match" || last.kind === "unwind" || last.kind === "with")) {
      const follow = this.kind === "end" || this.kind === ";" || this.kind === "}" || FOLLOWING.has(this.keyword);
      if (!follow) throw this.expected("a clause", this.clauseHint());
      const message = `a query cannot end with ${last.kind.toUpperCase()}: expected RETURN or a clause that writes`;
      throw this.error(this.position(), "InvalidClauseComposition", message);
    }
    return { clauses, position };
  }

  private clauseHint(): string | null {
    const word = this.word();
    if (this.at === 0 && word.toUpperCase() === "SHOW") {
      return hintOfShow(this.kinds[1] === "word" ? this.word(1).toUpperCase() : "");
    }
    if (this.at === 0 && SQL_WORDS.has(word.toUpperCase())) {
      return "This is SQL; send it to POST /v1/query/execute.";
    }
    const near = nearestName(word, CLAUSE_WORDS);
    return near === null || near === word.toUpperCase() ? null : `Did you mean ${near}?`;
  }

  private withoutWith(last: Clause, { kind, position }: Clause): Error {
    const names = `${last.kind.toUpperCase()} and ${kind.toUpperCase()}`;
    return this.error(position, "InvalidClauseComposition", `WITH is required between ${names}`);
  }

  private readonly refuseCall = (position: number, message: string): never => {
    throw this.error(position, "UnexpectedSyntax", message);
  };

  /** null: none begins here. */
  private clause(): Clause | null {
    const position = this.position();
    if (this.isNextWord("LOAD") && /^CSV$/i.test(this.word(this.at + 1))) return this.loadCsv(position);
    switch (this.keyword) {
      case "OPTIONAL":
        if (this.keywords[this.at + 1] === "CALL") {
          this.at++;
          return this.callClause(true, position);
        }
        return this.match(position);
      case "MATCH":
        return this.match(position);
      case "UNWIND":
        return this.unwind(position);
      case "FOR":
        return this.elementBegins(this.at + 1) ? this.forEach(position) : null;
      case "CALL":
        return this.callClause(false, position);
      case "LET":
        return this.isVariable(this.at + 1) ? this.let(position) : null;
      case "FILTER":
        return this.filter(position);
      case "ORDER":
      case "SKIP":
      case "OFFSET":
      case "LIMIT":
        // `ORDER BY x LIMIT 2` alone is `WITH * ORDER BY x LIMIT 2`.
        return { ...EVERYTHING, kind: "with", ...this.order(), position };
      case "WITH":
      case "RETURN":
        return this.projection(this.keyword === "WITH" ? "with" : "return", position);
      default:
        return this.writingClause(position);
    }
  }

  private match(position: number): MatchClause {
    const optional = this.acceptKeyword("OPTIONAL");
    this.expectKeyword("MATCH");
    const body = this.matchBody();
    if (optional && body.search !== undefined) {
      const message = "OPTIONAL MATCH has no SEARCH: put the MATCH into OPTIONAL CALL { … }";
      throw this.error(body.search.call.position, "UnexpectedSyntax", message);
    }
    return { kind: "match", optional, ...body, position };
  }

  private matchBody(): Omit<MatchClause, "kind" | "optional" | "position"> {
    const mode = this.matchMode();
    const patterns = this.commaList(() => this.path());
    this.refuse(wrongInMatch(patterns) ?? (mode.repeatable === true ? endless(patterns) : null));
    this.skipHints();
    const search = this.indexSearch(patterns);
    const where = this.optionalWhere();
    this.skipHints();
    return { ...mode, patterns, ...search, where };
  }

  private unwind(position: number): UnwindClause {
    this.at++;
    const list = this.expression();
    this.expectKeyword("AS");
    return { kind: "unwind", list, variable: this.variable(), position };
  }

  /** `FOR x IN list` is `UNWIND list AS x`. */
  private forEach(position: number): UnwindClause {
    this.at++;
    const variable = this.variable();
    this.expectKeyword("IN");
    return { kind: "unwind", list: this.expression(), variable, position };
  }

  private callClause(optional: boolean, position: number): SubqueryCallClause | CallClause {
    const next = this.kinds[this.at + 1];
    return next === "{" || next === "("
      ? this.subqueryCall(optional, position)
      : this.procedureCall(optional, position);
  }

  private subqueryCall(optional: boolean, position: number): SubqueryCallClause {
    this.at++;
    const scope = this.kind === "(" ? this.importedNames() : null;
    this.expect("{");
    const [outer, wasCounted] = [this.barEnds, this.isCounted];
    this.barEnds = false;
    this.isCounted = false;
    const query = this.query(true);
    this.barEnds = outer;
    this.isCounted = wasCounted;
    this.expect("}");
    const transactions = this.transactions();
    const imports = scope ?? importedByWith(query);
    return { kind: "subquery-call", imports, keeps: scope !== null, query, optional, transactions, position };
  }

  /** `(*)`, `()` or `(a, b)`. */
  private importedNames(): readonly Variable[] | "*" {
    this.expect("(");
    if (this.accept("*")) {
      this.expect(")");
      return "*";
    }
    const names = this.kind === ")" ? [] : this.commaList(() => this.variable());
    this.expect(")");
    return names;
  }

  private procedureCall(optional: boolean, position: number): CallClause {
    const first = this.at;
    this.at++;
    const procedure = this.dottedName("a procedure's name");
    let args: Expr[] | null = null;
    if (this.accept("(")) {
      args = this.kind === ")" ? [] : this.commaList(() => this.inner());
      this.expect(")");
    }
    let yields: YieldItem[] | "*" | null = null;
    const yieldAt = this.at;
    if (this.acceptKeyword("YIELD")) yields = this.yields();
    const where = yields === null ? null : this.optionalWhere();
    const begins =
      first === this.begin || this.keywords[first - 1] === "EXPLAIN" || this.keywords[first - 1] === "PROFILE";
    const standalone = begins && (this.kind === "end" || this.kind === ";");
    if (!standalone && yields === "*") {
      throw this.error(
        this.position(yieldAt + 1),
        "UnexpectedSyntax",
        "expected the names of fields: YIELD * is for calls alone",
      );
    }
    if (!standalone && args === null) {
      const message = "a call inside of a query names its arguments: expected (";
      throw this.error(this.position(yieldAt), "InvalidArgumentPassingMode", message);
    }
    return { kind: "call", procedure, args, yields, where, optional, standalone, position };
  }

  protected yields(): YieldItem[] | "*" {
    if (this.accept("*")) return "*";
    // `YIELD -`: nothing of the procedure's fields.
    if (this.accept("-")) return [];
    return this.commaList(() => {
      const position = this.position();
      const field = this.name("a field's name");
      const variable = this.acceptKeyword("AS")
        ? this.variable()
        : { kind: "variable" as const, name: field, position };
      return { field, variable, position };
    });
  }

  protected projection(kind: "with" | "return", position: number): ProjectionClause {
    this.at++;
    const distinct = this.acceptKeyword("DISTINCT");
    const star = this.accept("*");
    const items = star && !this.accept(",") ? [] : this.commaList(() => this.projectionItem());
    const order = this.order();
    const where = kind === "with" ? this.optionalWhere() : null;
    return { kind, distinct, star, items, ...order, where, position };
  }

  protected order(): Pick<ProjectionClause, "orderBy" | "skip" | "limit"> {
    const orderBy = this.acceptKeyword("ORDER") ? this.sortItems() : [];
    const skip = this.acceptKeyword("SKIP") || this.acceptKeyword("OFFSET") ? this.expression() : null;
    const limit = this.acceptKeyword("LIMIT") ? this.expression() : null;
    return { orderBy, skip, limit };
  }

  /** `LET x = 1, y = 2` is `WITH *, 1 AS x, 2 AS y`. */
  private let(position: number): ProjectionClause {
    this.at++;
    const items = this.commaList((): ProjectionItem => {
      const alias = this.variable();
      this.expect("=");
      return { expr: this.expression(), alias, name: alias.name, position: alias.position };
    });
    return { ...EVERYTHING, kind: "with", items, position };
  }

  /** `FILTER [WHERE] p` is `WITH * WHERE p`. */
  private filter(position: number): ProjectionClause {
    this.at++;
    this.acceptKeyword("WHERE");
    return { ...EVERYTHING, kind: "with", where: this.condition(), position };
  }

  private projectionItem(): ProjectionItem {
    const position = this.position();
    const expr = this.expression();
    const end = this.end(this.at - 1);
    if (this.acceptKeyword("AS")) {
      const alias = this.alias();
      return { expr, alias, name: alias.name, position };
    }
    if (expr.kind === "variable") return { expr, alias: null, name: expr.name, position };
    return { expr, alias: null, name: this.text.slice(position, end), position };
  }

  /** A word that is reserved elsewhere may be a column's name. */
  private alias(): Variable {
    const position = this.position();
    return { kind: "variable", name: this.name("a variable"), position };
  }

  private sortItems(): SortItem[] {
    this.expectKeyword("BY");
    return this.commaList(() => this.sortItem());
  }

  protected sortItem(): SortItem {
    const position = this.position();
    const expr = this.expression();
    const descending = this.acceptKeyword("DESC") || this.acceptKeyword("DESCENDING");
    if (!descending && !this.acceptKeyword("ASC")) this.acceptKeyword("ASCENDING");
    return { expr, descending, position };
  }
}
