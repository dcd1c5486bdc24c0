/** LDBC SNB: its 21 read queries give the same, right answers in Cypher over the graph and in SQL over the tables. */
import t, { type Test } from "tap";
import { sized } from "../lengths.js";
import { LDBC, type LdbcDatabase, openLdbc } from "./ldbc-database.js";
import { compared, cypherParams, cypherRows, ldbcPresent, ldbcQueries, sqlText } from "./ldbc-queries.js";

t.setTimeout(600_000);

/** Of each query's published cases; and persons, by their place among all, whom those cases do not name. */
const CASES_MAX = sized(1, Number.POSITIVE_INFINITY);
const OTHERS = sized([40], [3, 40, 77]);
/** Each so many-th query is asked of them. */
const OTHERS_EACH = sized(4, 1);

const skip = ldbcPresent() ? false : `no data in ${LDBC}`;

t.test("LDBC SNB's read queries", { skip, timeout: 600_000 }, async (t) => {
  const database = await openLdbc();
  t.teardown(() => database.close());
  for (const query of ldbcQueries()) {
    const { name, facts, cypherFacts, anyOrder } = query;
    for (const [i, each] of query.cases.slice(0, CASES_MAX).entries()) {
      const sql = (await database.sql(sqlText(query, each))) as (string | null)[][];
      t.same(compared(sql, facts, anyOrder), compared(each.rows, facts, anyOrder), `${name} ${i + 1} in SQL`);
      const cypher = await database.cypher(query.cypher, cypherParams(each));
      const answer = compared(cypherRows(query, each), facts, anyOrder);
      t.same(compared(cypher, cypherFacts, anyOrder), answer, `${name} ${i + 1} in Cypher`);
    }
  }
  await otherParameters(t, database);
});

/** Persons and messages that the published parameters do not name: the languages have to agree. */
async function otherParameters(t: Test, database: LdbcDatabase): Promise<void> {
  const some = async (pattern: string) => {
    const rows = await database.cypher(`MATCH ${pattern} RETURN DISTINCT n.id ORDER BY n.id`);
    return OTHERS.map((i) => String(rows[i]![0]));
  };
  const persons = await some("(n:Person)-[:KNOWS]-()");
  const messages = await some("(n:Message)<-[:REPLY_OF]-()");
  for (const [place, query] of ldbcQueries().entries()) {
    if (place % OTHERS_EACH !== 0) continue;
    const { params } = query.cases[0]!;
    if (params.personId === undefined && params.messageId === undefined) continue;
    for (const [i, personId] of persons.entries()) {
      const ids: Record<string, string> = params.personId === undefined ? { messageId: messages[i]! } : { personId };
      const each = { params: { ...params, ...ids }, rows: [] };
      const sql = (await database.sql(sqlText(query, each))) as (string | null)[][];
      const cypher = await database.cypher(query.cypher, cypherParams(each));
      const what = `${query.name} of ${Object.values(ids)[0]}`;
      t.same(compared(cypher, query.cypherFacts, false), compared(sql, query.facts, false), what);
    }
  }
}
