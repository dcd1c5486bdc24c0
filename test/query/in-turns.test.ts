/**
 * Statements that are run again because they took long without giving way (src/session/overrun.ts) give the same rows.
 */
import t from "tap";
import { open as openSql } from "../conformance/sql-adapter.js";
import { open as openCypher } from "../conformance/tck-adapter.js";

const SQL: Readonly<Record<string, unknown>> = {
  "select coalesce(a, b::int) from vals order by 1": [["1"], ["2"]],
  "select length(to_tsvector('english', (select string_agg(b, ' ') from vals)))": [["2"]],
  "select upper((select max(b) from vals v where v.b = vals.b) || coalesce(a::text, 'none')) from vals order by 1": [
    ["2NONE"],
    ["HELLO1"],
  ],
  "select case when a is null then upper(repeat(b, (select 2))) else lower(b) end from vals order by 1": [
    ["22"],
    ["hello"],
  ],
  // Where nothing can be waited for.
  "update vals set (a, b) = (select a + 1, upper(b) from vals v where v.b = vals.b) where a = 1 returning a, b": [
    ["2", "HELLO"],
  ],
};

t.test("SQL", async (t) => {
  const database = await openSql(undefined, true);
  t.teardown(() => database.close());
  await database.exec("create table vals as select * from (values (1, 'hello'), (null, '2')) v (a, b)");
  for (const [sql, rows] of Object.entries(SQL)) t.same((await database.exec(sql)).rows, rows, sql);
});

/** One after the other, on what the earlier ones left. */
const CYPHER: Readonly<Record<string, unknown>> = {
  "CREATE (a:A {v: 'a'}), (:B {v: toUpper(a.v)}) RETURN a.v": [["a"]],
  "MATCH (b:B) RETURN b.v": [["A"]],
  // Each row sees what the one before changed, and each step what the step before did.
  "UNWIND [1, 2] AS i MATCH (a:A) SET a.v = toUpper(a.v + 'x') RETURN DISTINCT a.v": [["AXX"]],
  "MATCH (a:A) SET a.v = 'y', a.w = toUpper(a.v + 'z') RETURN a.w": [["YZ"]],
  "MATCH (a:A), (b:B) MERGE (a)-[r:R]->(b) ON CREATE SET r.v = toUpper(a.w + b.v) RETURN r.v": [["YZA"]],
};

t.test("Cypher", async (t) => {
  const graph = await openCypher(true);
  t.teardown(() => graph.close());
  for (const [cypher, rows] of Object.entries(CYPHER)) t.same((await graph.run(cypher, {})).rows, rows, cypher);
});
