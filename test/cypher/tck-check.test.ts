/** Every query of the TCK passes the checker, or fails in it or in the parser as its scenario says. */
import t from "tap";
import { checkStatement } from "../../src/cypher/bind/check.js";
import { parseCypher } from "../../src/cypher/parse/parse.js";
import { DbError } from "../../src/protocol/errors.js";
import { proceduresOf } from "./procedure-signatures.js";
import { TCK, type TckQuery, tckPresent, tckQueries } from "./tck-features.js";

const skip = tckPresent() ? false : `no suite in ${TCK}`;

/** What the query is refused with before it runs; null: it would run. */
function refusal({ text, procedures, parameters }: TckQuery): string | null {
  try {
    checkStatement(parseCypher(text), text, proceduresOf(procedures), new Set(parameters));
    return null;
  } catch (error) {
    if (!(error instanceof DbError)) throw error;
    const { type, phase, detail } = error.details ?? {};
    return `${type} at ${phase}: ${detail}`;
  }
}

t.test("queries of the TCK are checked", { skip }, async (t) => {
  const wrong: string[] = [];
  let refused = 0;
  const queries = tckQueries();
  for (const query of queries) {
    const { scenario, text, error } = query;
    const got = refusal(query);
    const early = error?.phase === "compile time";
    const wanted = early ? `${error.type} at ${error.phase}: ${error.detail}` : null;
    if (early) refused++;
    // "At any time" leaves it open where the mistake shows.
    if (got !== wanted && error?.phase !== "any time") wrong.push(`${scenario}: ${text}: ${got}, wanted ${wanted}`);
  }
  t.same(wrong, []);
  t.ok(refused > 300, `${refused} of ${queries.length} queries are refused`);
});
