/** Queries made of queries: `WHEN … THEN … ELSE …`, `… NEXT …` and `{ … } UNION { … }`. Extended by `show.ts`. */
import type { DbError } from "../../protocol/errors.js";
import type { Query, SingleQuery, Variable } from "./ast.js";
import { type Branch, columnsOf, conditionalQuery, sequentialQuery, singleOf } from "./composed-queries.js";
import { QueryParser } from "./queries.js";

/** In one another. All of a statement is planned in one turn: each takes some milliseconds. */
const CONDITIONALS_MAX = 17;
/** Of all WHENs of a statement, for the same reason. */
const BRANCHES_MAX = 64;

export abstract class ComposedParser extends QueryParser {
  private conditionals = 0;
  private branches = 0;

  /** Queries with NEXT between. */
  protected query(open: boolean): Query {
    return this.sequence(this.oneQuery(open), open);
  }

  /** NEXT and what follows, behind the query. */
  protected sequence(first: Query, open: boolean): Query {
    let query = first;
    for (let at = this.position(); this.acceptWord("NEXT"); at = this.position()) {
      const mistake = (what: string): DbError => this.error(at, "InvalidClauseComposition", what);
      const columns = columnsOf(query);
      if (columns?.length === 0) throw mistake("the query before NEXT has to end in RETURN");
      if (columns === null && query.parts.length > 1) {
        throw mistake("a UNION before NEXT has to name its columns: RETURN * is not supported there");
      }
      const next = this.oneQuery(open);
      const last = next.parts.length > 1 ? columnsOf(next) : [];
      if (next.parts.length > 1 && (columns === null || last === null)) {
        throw mistake("around a UNION behind NEXT columns have names: RETURN * is not supported there");
      }
      query = sequentialQuery(query, columns ?? [], next, last ?? []);
    }
    return query;
  }

  /** A part of a UNION: a query in braces may be a WHEN, or have NEXT or a UNION in it. */
  protected override part(open: boolean): SingleQuery {
    const position = this.position();
    if (this.keyword === "WHEN") throw this.bareInUnion();
    if (!this.isQueryInBraces() || !this.accept("{")) return this.singleQuery(open);
    const query = this.braced(open);
    const columns = columnsOf(query);
    if (columns === null && query.parts.length > 1) {
      const what = "a UNION in braces has to name its columns: RETURN * is not supported there";
      throw this.error(position, "InvalidClauseComposition", what);
    }
    return singleOf(query, columns ?? []);
  }

  /** Not an object of JSON, say, which was sent in the place of a query. */
  private isQueryInBraces(): boolean {
    const next = this.at + 1;
    return this.kind === "{" && (this.kinds[next] === "{" || this.keywords[next] !== "");
  }

  private bareInUnion(): DbError {
    const what = "in a UNION a WHEN stands in braces: { WHEN … } UNION { … }";
    return this.error(this.position(), "InvalidClauseComposition", what);
  }

  /** The rest of a query in braces. */
  private braced(open: boolean): Query {
    this.enter();
    const outer = this.barEnds;
    this.barEnds = false;
    const query = this.query(open);
    this.barEnds = outer;
    this.leave();
    this.expect("}");
    return query;
  }

  private oneQuery(open: boolean): Query {
    return this.keyword === "WHEN" ? this.conditional(open) : this.unitedQuery(open);
  }

  /** `WHEN p THEN query … ELSE query`: the first branch whose condition is true. */
  private conditional(open: boolean): Query {
    const position = this.position();
    if (this.conditionals >= CONDITIONALS_MAX) {
      const what = `WHEN stands in at most ${CONDITIONALS_MAX - 1} other WHENs: use CASE, or further conditions`;
      throw this.error(position, "InvalidClauseComposition", what);
    }
    this.conditionals++;
    const branches: Branch[] = [];
    while (this.acceptKeyword("WHEN")) {
      const when = this.condition(false);
      this.expectKeyword("THEN");
      branches.push({ when, query: this.branch(open) });
    }
    if (this.acceptKeyword("ELSE")) branches.push({ when: null, query: this.branch(open) });
    if (this.keyword === "UNION") throw this.bareInUnion();
    this.conditionals--;
    const columns = this.columnsOfAll(branches);
    if (columns.length === 0 && this.isCounted) {
      const what = "within EXISTS and COUNT each branch of WHEN ends with RETURN";
      throw this.error(position, "InvalidClauseComposition", what);
    }
    return conditionalQuery(branches, columns, position);
  }

  /** What each branch gives. */
  private columnsOfAll(branches: readonly Branch[]): readonly Variable[] {
    const [first = [], ...others] = branches.map(({ query }) => {
      const columns = columnsOf(query);
      if (columns !== null) return columns;
      const what = "a branch of WHEN has to name its columns: RETURN * is not supported there";
      throw this.error(query.position, "InvalidClauseComposition", what);
    });
    for (const [i, columns] of others.entries()) {
      if (columns.length === first.length && columns.every(({ name }, at) => name === first[at]!.name)) continue;
      const what = `the branches of WHEN give different columns: ${namesOf(first)} and ${namesOf(columns)}`;
      throw this.error(branches[i + 1]!.query.position, "InvalidClauseComposition", what);
    }
    return first;
  }

  private branch(open: boolean): Query {
    const position = this.position();
    if (++this.branches > BRANCHES_MAX) {
      const what = `the WHENs of a statement have at most ${BRANCHES_MAX} branches: use CASE, or several statements`;
      throw this.error(position, "InvalidClauseComposition", what);
    }
    if (this.accept("{")) return this.braced(open);
    return { kind: "query", parts: [this.singleQuery(open)], all: false, position };
  }
}

const namesOf = (columns: readonly Variable[]): string =>
  columns.length === 0 ? "none" : columns.map(({ name }) => `\`${name}\``).join(", ");
