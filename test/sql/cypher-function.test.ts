/** cypher() in FROM: rows of a graph beside rows of tables, in one plan. */
import t from "tap";
import { Session } from "../../src/session/session.js";
import { plainRows } from "../../src/session/sql-result.js";
import { open } from "../conformance/sql-adapter.js";

const db = await open();
t.teardown(() => db.close());

const rows = async (sql: string, params: readonly unknown[] = []) => (await db.exec(sql, params)).rows;

const AT_ONCE = { checkpoint: () => undefined, shouldYield: () => false, yieldTurn: () => Promise.resolve() };

async function graph(cypher: string, request = AT_ONCE): Promise<void> {
  const session = new Session(db.tenant, {
    isolation: "serializable",
    readOnly: false,
    user: "tester",
    tenantName: "tester",
    control: "statements",
  });
  const run = { sql: cypher, language: "cypher", params: {}, maxRows: 10, collector: plainRows, request } as const;
  await session.execute(run, (tx) => db.tenant.commit(tx));
  db.shard.flush();
}

t.test("a graph that nobody has written to is empty", async (t) => {
  t.same(await rows("SELECT * FROM cypher('MATCH (n) RETURN n')"), []);
});

t.test("nodes are changed and deleted in turns, however many they are", async (t) => {
  const NODES = 300;
  for (const [what, cypher] of [
    ["made", `UNWIND range(1, ${NODES}) AS i CREATE (:Many {i: i})`],
    ["changed", "MATCH (n:Many) SET n.i = n.i + 1 RETURN n"],
    ["deleted", "MATCH (n:Many) DELETE n RETURN n"],
  ] as const) {
    let turns = 0;
    const yieldTurn = async () => void turns++;
    await graph(cypher, { ...AT_ONCE, shouldYield: () => true, yieldTurn });
    // What is stored is taken out and put back, or removed and looked for among the ends of relationships.
    if (what !== "made") t.ok(turns >= 2 * NODES, `${what} in ${turns} turns`);
  }
  t.same(await rows("SELECT * FROM cypher('MATCH (n) RETURN n')"), []);
});

t.test("rows of both", async (t) => {
  await graph(
    "CREATE (:Person {id: 1, name: 'Ada'})-[:KNOWS]->(:Person {id: 2, name: 'Bob'})-[:KNOWS]->(:Robot {id: 9})",
  );
  await rows("CREATE TABLE home (id int PRIMARY KEY, city text)");
  await rows("INSERT INTO home VALUES (1, 'Oslo'), (2, 'Rome'), (3, 'Bonn')");
  const people = "cypher('MATCH (n:Person) RETURN n.id, n.name') AS p(id int, name text)";
  t.same(await rows(`SELECT name, city FROM ${people} JOIN home USING (id) ORDER BY 1`), [
    ["Ada", "Oslo"],
    ["Bob", "Rome"],
  ]);
  t.same(await rows("SELECT n ->> 'labels', name FROM cypher('MATCH (n:Robot) RETURN n, n.name AS name')"), [
    ['["Robot"]', null],
  ]);
  t.same(await rows("SELECT l FROM cypher('MATCH p = ({id: 1})-[*]->() RETURN length(p)') AS c(l int) ORDER BY 1"), [
    ["1"],
    ["2"],
  ]);
});

t.test("parameters are bound, from the statement and from what stands left", async (t) => {
  const one = "cypher('MATCH (n {id: $id}) RETURN n.name', $1) AS c(name text)";
  t.same(await rows(`SELECT name FROM ${one}`, ['{"id": 2}']), [["Bob"]]);
  const each = "cypher('MATCH (n {id: $id}) RETURN n.name', jsonb_build_object('id', home.id)) AS c(name text)";
  t.same(await rows(`SELECT city, name FROM home LEFT JOIN LATERAL ${each} ON true ORDER BY home.id`), [
    ["Oslo", "Ada"],
    ["Rome", "Bob"],
    ["Bonn", null],
  ]);
});

t.test("views and prepared statements", async (t) => {
  await rows("CREATE VIEW person AS SELECT * FROM cypher('MATCH (n:Person) RETURN n.name') AS c(name text)");
  t.same(await rows("SELECT count(*) FROM person"), [["2"]]);
  await rows("PREPARE robots AS SELECT id FROM cypher('MATCH (n:Robot) RETURN n.id') AS c(id int)");
  t.same(await rows("EXECUTE robots"), [["9"]]);
});

t.test("what is refused", async (t) => {
  const refused = (sql: string, code: string, message: RegExp) => t.rejects(db.exec(sql), { code, message });
  await refused("SELECT * FROM cypher('CREATE (n)')", "0A000", /can only read/);
  await refused("SELECT * FROM cypher('MATCH (n RETURN n')", "42601", /offset 9/);
  await refused("SELECT * FROM cypher('RETURN $a')", "42P02", /no parameters/);
  await refused("SELECT * FROM cypher('RETURN 1') AS c(a int, b int)", "42P10", /returns 1 columns/);
  await refused("SELECT * FROM cypher('RETURN 1', NULL, 'roads')", "42P01", /does not exist/);
  await refused("SELECT * FROM cypher()", "42883", /takes a statement/);
  await refused("SELECT * FROM cypher('MATCH (n) ' || 'RETURN n')", "0A000", /constant/);
});

t.test("a simple CASE tells null from values by WHEN null", async (t) => {
  const query = "UNWIND [null, 1] AS x RETURN CASE x WHEN null THEN ''none'' WHEN 1 THEN ''one'' END";
  t.same(await rows(`SELECT r FROM cypher('${query}') AS t(r text)`), [["none"], ["one"]]);
});
