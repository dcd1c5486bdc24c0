/** LDBC SNB: its 21 read queries give the same, right answers in Cypher over the graph and in SQL over the tables. */
import t from "tap";
import { LDBC, openLdbc } from "./ldbc-database.js";
import { compared, cypherParams, cypherRows, ldbcPresent, ldbcQueries, sqlText } from "./ldbc-queries.js";

t.setTimeout(600_000);

const skip = ldbcPresent() ? false : `no data in ${LDBC}`;

t.test("LDBC SNB's read queries", { skip, timeout: 600_000 }, async (t) => {
  const database = await openLdbc();
  t.teardown(() => database.close());
  for (const query of ldbcQueries()) {
    const { name, facts, cypherFacts, anyOrder } = query;
    for (const [i, each] of query.cases.entries()) {
      const sql = (await database.sql(sqlText(query, each))) as (string | null)[][];
      t.same(compared(sql, facts, anyOrder), compared(each.rows, facts, anyOrder), `${name} ${i + 1} in SQL`);
      const cypher = await database.cypher(query.cypher, cypherParams(each));
      const answer = compared(cypherRows(query, each), facts, anyOrder);
      t.same(compared(cypher, cypherFacts, anyOrder), answer, `${name} ${i + 1} in Cypher`);
    }
  }
});
