/** Queries made of queries: `WHEN … THEN … ELSE …` and `… NEXT …`. Extended by `show.ts`. */
import type { DbError } from "../../protocol/errors.js";
import type { Query, Variable } from "./ast.js";
import { type Branch, columnsOf, conditionalQuery, sequentialQuery } from "./composed-queries.js";
import { QueryParser } from "./queries.js";

/** In one another. To plan them takes more than the square of that. */
const CONDITIONALS_MAX = 9;

export abstract class ComposedParser extends QueryParser {
  private conditionals = 0;

  /** Queries with NEXT between. */
  protected query(open: boolean): Query {
    let query = this.oneQuery(open);
    for (let at = this.position(); this.acceptWord("NEXT"); at = this.position()) {
      const mistake = (what: string): DbError => this.error(at, "InvalidClauseComposition", what);
      const columns = columnsOf(query);
      if (columns?.length === 0) throw mistake("the query before NEXT has to end in RETURN");
      if (columns === null && query.parts.length > 1) {
        throw mistake("a UNION before NEXT has to name its columns: RETURN * is not supported there");
      }
      const next = this.oneQuery(open);
      if (next.parts.length > 1) {
        throw mistake("a UNION after NEXT is not supported: put it into CALL (*) { … } and RETURN its columns");
      }
      query = sequentialQuery(query, columns ?? [], next.parts[0]!);
    }
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
    if (this.keyword === "UNION") {
      throw this.error(
        this.position(),
        "InvalidClauseComposition",
        "WHEN cannot stand in a UNION: put it into CALL { … }",
      );
    }
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
    if (!this.accept("{")) {
      const position = this.position();
      return { kind: "query", parts: [this.singleQuery(open)], all: false, position };
    }
    this.enter();
    const outer = this.barEnds;
    this.barEnds = false;
    const query = this.query(open);
    this.barEnds = outer;
    this.leave();
    this.expect("}");
    return query;
  }
}

const namesOf = (columns: readonly Variable[]): string =>
  columns.length === 0 ? "none" : columns.map(({ name }) => `\`${name}\``).join(", ");
