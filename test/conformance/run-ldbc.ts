/** The 21 read queries of LDBC SNB in Cypher and in SQL over the two forms of the same graph: answers and times. */
import { LDBC, openLdbc } from "./ldbc-database.js";
import {
  compared,
  cypherParams,
  cypherRows,
  type LdbcCase,
  ldbcPresent,
  ldbcQueries,
  sqlText,
} from "./ldbc-queries.js";

const RUNS = Number(process.env.RUNS ?? 5);

if (!ldbcPresent()) {
  console.log(`skipped: there is no LDBC data in ${LDBC}`);
  process.exit(0);
}

async function timed<T>(run: () => Promise<T>): Promise<{ rows: T; ms: number }> {
  const times: number[] = [];
  let rows = await run();
  for (let i = 0; i < RUNS; i++) {
    const start = performance.now();
    rows = await run();
    times.push(performance.now() - start);
  }
  return { rows, ms: times.sort((a, b) => a - b)[RUNS >> 1]! };
}

const started = performance.now();
const database = await openLdbc();
console.log(`loaded in ${((performance.now() - started) / 1000).toFixed(1)} s`);
console.log("query       case   rows   Cypher ms   SQL ms");
let wrong = 0;
for (const query of ldbcQueries()) {
  for (const [i, each] of query.cases.entries()) {
    const outcome = async <T>(
      run: () => Promise<readonly T[]>,
      facts: (row: T) => unknown[],
      answer: LdbcCase["rows"],
    ) => {
      const expected = compared(answer, query.facts, query.anyOrder).join("\n");
      try {
        const { rows, ms } = await timed(run);
        const same = compared(rows, facts, query.anyOrder).join("\n") === expected;
        if (!same) wrong++;
        return `${ms.toFixed(2)}${same ? "" : " WRONG"}`;
      } catch (error) {
        wrong++;
        return `failed: ${(error as Error).message.slice(0, 120)}`;
      }
    };
    const inCypher = () => database.cypher(query.cypher, cypherParams(each));
    const cypher = await outcome(inCypher, query.cypherFacts, cypherRows(query, each));
    const inSql = async () => (await database.sql(sqlText(query, each))) as (string | null)[][];
    const sql = await outcome(inSql, query.facts, each.rows);
    const counts = `${String(i + 1).padStart(4)} ${String(each.rows.length).padStart(6)}`;
    console.log(`${query.name.padEnd(11)} ${counts} ${cypher.padStart(11)} ${sql.padStart(8)}`);
  }
}
console.log(wrong === 0 ? "all answers are right" : `${wrong} answers are wrong`);
database.close();
process.exitCode = wrong === 0 ? 0 : 1;
