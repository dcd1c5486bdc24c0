/** How many nodes a path is expected to reach: what is then read of them is read by key, or from the whole table. */
import t from "tap";
import { TestServer } from "./server.js";

const CLASSES = 20;
const TAGS = 3000;

const server = await TestServer.shared();
t.teardown(() => server.stop());

const rows = async (sql: string) =>
  (await server.expect(200, "POST", "/v1/query/execute", { sql })).body.data.rows as unknown[][];

t.test("a path to nodes of another label goes on from few of them", async (t) => {
  await rows(`UNWIND range(1, ${CLASSES}) AS i CREATE (:TagClass {i: i})`);
  await rows(`UNWIND range(1, ${TAGS}) AS i CREATE (:Tag {i: i, name: 'n' + toString(i)})`);
  await rows(`UNWIND range(1, ${2 * TAGS}) AS i CREATE (:Other {i: i})`);
  await rows(`MATCH (t:Tag), (c:TagClass) WHERE c.i = 1 + t.i % ${CLASSES} CREATE (t)-[:HAS_TYPE]->(c)`);
  await rows("MATCH (a:TagClass {i: 2}), (b:TagClass {i: 1}) CREATE (a)-[:IS_SUBCLASS_OF]->(b)");
  await rows("ANALYZE");
  const query = "MATCH (c:TagClass {i: 1})<-[:HAS_TYPE|IS_SUBCLASS_OF*0..]-(t:Tag) RETURN count(t.name)";
  t.same(await rows(query), [[(2 * TAGS) / CLASSES]]);
  const plan = (await rows(`EXPLAIN ${query}`)).flat().join("\n");
  t.match(plan, /Point Get using nodes_pkey on nodes t/, "no table of all tags is made for some of them");
  t.notMatch(plan, /Hash Join/);
});
