/**
 * Policies on a graph's tables, in Cypher. Whoever sees a part of a graph gets from every query what a graph gives that
 * has nothing but that part.
 */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";
import { randomFrom } from "../fuzz/random.js";
import { tries } from "../lengths.js";
import { QueryGenerator, SETUP } from "./random-queries.js";

const QUERIES = tries(25);

const NODES = `"graph:default".nodes`;
const EDGES = `"graph:default".edges`;

/** Made after all others, so that both graphs know what is seen by the same ids. */
const HIDDEN = [
  "UNWIND range(0, 9) AS i CREATE (:N:A {i: i, x: 1, s: 's1', hidden: true})",
  "MATCH (a:N {hidden: true}), (b:N) WHERE (a.i + b.i) % 3 = 0 CREATE (a)-[:T {w: 1}]->(b), (b)-[:U {w: 2}]->(a)",
  "MATCH (a:N), (b:N) WHERE a.hidden IS NULL AND b.hidden IS NULL AND (a.i + b.i) % 4 = 0 CREATE (a)-[:T {w: 1, hidden: true}]->(b)",
];

const POLICIES = [
  "create role ann",
  `alter table ${NODES} enable row level security`,
  `alter table ${EDGES} enable row level security`,
  `create policy seen on ${NODES} using (properties->>'hidden' is null)`,
  `create policy seen on ${EDGES} using (properties->>'hidden' is null)`,
];

async function graph(statements: readonly string[]) {
  const database = await open();
  for (const sql of statements) await database.exec(sql);
  return {
    ...database,
    rows: async (text: string): Promise<readonly string[]> => {
      try {
        const { rows } = await database.exec(text);
        return rows.map((row) => row.map((value) => value ?? "∅").join(" | ")).sort();
      } catch (error) {
        const { code, message } = error as Error & { code: string };
        return [`${code} ${message}`];
      }
    },
  };
}

t.test("random queries see what is not hidden", async (t) => {
  const part = await graph(SETUP);
  const whole = await graph([...SETUP, ...HIDDEN, ...POLICIES, "set role ann"]);
  const first = Number(process.env.RANDOM_SEED ?? 1);
  let found = 0;
  for (let seed = first; seed < first + QUERIES; seed++) {
    const text = new QueryGenerator(randomFrom(seed)).query();
    const expected = await part.rows(text);
    t.same(await whole.rows(text), expected, `${seed}: ${text}`);
    if (expected.length > 0 && !/^[0-9A-Z]{5} /.test(expected[0]!)) found++;
  }
  t.ok(found > QUERIES / 3, `${found} found something`);
  await Promise.all([part.close(), whole.close()]);
});

const INDEXES = [
  "CREATE INDEX ni FOR (n:N) ON (n.i)",
  "CREATE INDEX tw FOR ()-[r:T]-() ON (r.w)",
  "CREATE VECTOR INDEX near FOR (n:N) ON (n.v) OPTIONS {indexConfig: {`vector.dimensions`: 2, `vector.similarity_function`: 'euclidean'}}",
  "CREATE FULLTEXT INDEX words FOR (n:N) ON EACH [n.words]",
  "CREATE FULLTEXT INDEX said FOR ()-[r:T]-() ON EACH [r.said]",
];

const CONTENT = [
  "MATCH (n:N) WHERE n.hidden IS NULL SET n.v = [n.i, 1.0], n.words = 'common word ' + toString(n.i)",
  "MATCH ()-[r:T]->() SET r.said = 'common remark'",
];

const HIDDEN_CONTENT = [
  "MATCH (n:N {hidden: true}) SET n.v = [0.1, 1.0], n.words = 'common secret word', n.onlyHidden = 1",
  "MATCH (n:N {hidden: true}) SET n:OnlyHidden",
  "MATCH (n:N {hidden: true, i: 1}), (m:N {i: 2}) WHERE m.hidden IS NULL CREATE (n)-[:ONLY_HIDDEN]->(m), (m)-[:ONLY_HIDDEN]->(n)",
];

t.test("every way to look at a graph", async (t) => {
  const part = await graph([...SETUP, ...INDEXES, ...CONTENT]);
  const hidden = [...HIDDEN, ...HIDDEN_CONTENT];
  const whole = await graph([...SETUP, ...INDEXES, ...CONTENT, ...hidden, ...POLICIES, "set role ann"]);
  const wrong: string[] = [];
  for (const text of [
    "MATCH (n) RETURN count(n)",
    "MATCH (n:N) RETURN count(*)",
    "MATCH (n:N {i: 1}) RETURN id(n), n.words",
    "MATCH (n:N) WHERE n.i = 1 RETURN n",
    "MATCH ()-[r]->() RETURN count(r)",
    "MATCH ()-[r:T {w: 1}]->() RETURN id(r)",
    "MATCH (a:N)-[:T]->(b)-[:T]->(c) RETURN count(*)",
    "MATCH (a)-[:T]->(b)-[:T]->(c), (a)-[:T]->(c) RETURN count(*)",
    "MATCH (a:N {i: 1})-[:T*1..3]->(b) RETURN count(*)",
    "MATCH (a:N {i: 1})-[:T*0..2]-(b) RETURN DISTINCT id(b)",
    "MATCH p = (a:N {i: 1})-[*1..2]-(b) RETURN length(p), [n IN nodes(p) | n.i], [r IN relationships(p) | type(r)]",
    "MATCH p = shortestPath((a:N {i: 1})-[*]-(b:N {i: 7})) RETURN length(p)",
    "MATCH p = allShortestPaths((a:N {i: 1})-[*]-(b:N {i: 7})) RETURN [n IN nodes(p) | id(n)]",
    "MATCH p = shortestPath((a:N {i: 1})-[:ONLY_HIDDEN*]-(b)) RETURN p",
    "MATCH (a:N {i: 2}) OPTIONAL MATCH (a)-[:ONLY_HIDDEN]->(b) RETURN b",
    "MATCH (n:N) WHERE (n)-[:ONLY_HIDDEN]-() RETURN n.i",
    "MATCH (n:N) RETURN n.i, COUNT { (n)-[:T]->() }, [(n)-[:U]->(m) | m.i]",
    "MATCH (n:N) WHERE EXISTS { MATCH (n)-[:T]->(:OnlyHidden) } RETURN n.i",
    "MATCH (n) WHERE n.onlyHidden = 1 RETURN n",
    "MATCH (n) WHERE 1 / (coalesce(n.onlyHidden, 0) - 1) > 5 RETURN n.i",
    "MATCH (n:N) WHERE n.words CONTAINS 'secret' RETURN n",
    "MATCH (a:N {i: 1})-[r:T*1..2 {w: 1}]->(b) RETURN count(*)",
    "MATCH (n) RETURN labels(n), count(*)",
    "MATCH (n) UNWIND keys(n) AS k RETURN DISTINCT k",
    "MATCH ()-[r]->() RETURN startNode(r).i, endNode(r).i, type(r)",
    "CALL db.labels()",
    "CALL db.relationshipTypes()",
    "CALL db.propertyKeys()",
    "CALL db.schema.nodeTypeProperties()",
    "CALL db.schema.relTypeProperties()",
    "CALL db.schema.visualization()",
    "CALL db.index.vector.queryNodes('near', 3, [0.0, 1.0]) YIELD node, score RETURN node.i, score",
    "CALL db.index.fulltext.queryNodes('words', 'common') YIELD node, score RETURN node.i, score",
    "CALL db.index.fulltext.queryNodes('words', 'secret') YIELD node RETURN node.i",
    "CALL algo.pageRank() YIELD node, score RETURN node.i, score",
    "CALL algo.degree({nodeLabels: ['N']}) YIELD nodeId, score RETURN nodeId, score",
    "CALL algo.wcc() YIELD component RETURN component, count(*)",
    "CALL algo.triangleCount() YIELD nodeId, triangles RETURN nodeId, triangles",
    "MATCH (n:N {i: 3}) CALL (n) { MATCH (n)-[:T]-(m) RETURN count(m) AS c } RETURN c",
    "SELECT * FROM cypher('MATCH (n) RETURN count(n)') AS c(n text)",
    `SELECT count(*) FROM ${NODES}`,
  ]) {
    const expected = await part.rows(text);
    t.same(await whole.rows(text), expected, text);
    if (/^[0-9A-Z]{5} /.test(expected[0] ?? "")) wrong.push(`${text}: ${expected[0]}`);
  }
  t.same(wrong, [], "none is an error");
  const [said] = await whole.rows(
    "CALL db.index.fulltext.queryRelationships('said', 'common') YIELD relationship RETURN count(*), sum(CASE WHEN startNode(relationship).hidden OR endNode(relationship).hidden THEN 1 ELSE 0 END)",
  );
  t.match(said, /^\d+ \| 0$/, "a relationship is seen with both of its ends only");
  await Promise.all([part.close(), whole.close()]);
});

t.test("what a role may make, change and delete", async (t) => {
  const { rows, exec, close } = await graph([
    "CREATE (:P {team: 'x', name: 'a'})-[:K {open: true}]->(:P {team: 'x', name: 'b'})-[:K]->(:P {team: 'y', name: 'c'})",
    "CREATE (:P {team: 'x', name: 'lonely'})",
    "create role ann",
    `alter table ${NODES} enable row level security`,
    `create policy own on ${NODES} using (properties->>'team' = 'x')`,
    `create policy kept on ${NODES} as restrictive for delete using (properties->>'name' <> 'a')`,
    "set role ann",
  ]);
  const names = async () => (await rows("MATCH (p:P) RETURN p.name")).join(" ");
  const refused = /^42501 .*row-level security policy/;
  t.equal(await names(), "a b lonely");
  t.match((await rows("CREATE (:P {team: 'y'})"))[0], refused);
  t.match((await rows("MERGE (:P {team: 'y', name: 'c'})"))[0], refused, "it does not see the one that is there");
  t.match((await rows("MATCH (p:P {name: 'b'}) SET p.team = 'y'"))[0], refused);
  t.match((await rows("MATCH (p:P {name: 'b'}) SET p += {team: 'y'}"))[0], refused);
  t.match((await rows("MATCH (p:P {name: 'a'}) DETACH DELETE p"))[0], refused);
  t.same(await rows("MATCH (p:P {name: 'c'}) SET p.seen = 1 RETURN p"), []);
  t.same(await rows("MATCH (p:P {name: 'c'}) DETACH DELETE p RETURN count(*)"), ["0"]);
  t.match(
    (await rows("UNWIND range(1, 2000) AS i CREATE (:P {team: CASE i WHEN 1999 THEN 'y' ELSE 'x' END})"))[0],
    refused,
  );
  t.same(await rows("CREATE (p:P {team: 'x', name: 'new'}) RETURN p.name"), ["new"]);
  t.same(await rows("MERGE (p:P {name: 'new'}) ON MATCH SET p.met = 1 RETURN p.met"), ["1"]);
  t.same(await rows("MATCH (p:P {name: 'new'}) SET p.name = 'newer' RETURN p.name"), ["newer"]);
  t.same(await rows("MATCH (p:P {name: 'newer'}) DELETE p"), []);
  t.same(await rows("MATCH (p:P {name: 'b'})-[r]-() RETURN count(r)"), ["1"], "one end of the other is hidden");
  t.match((await rows("MATCH (p:P {name: 'b'}) DETACH DELETE p"))[0], refused, "its hidden relationship counts");
  await exec("reset role");
  await exec(`create policy open on ${EDGES} for select using (true)`);
  await exec(`create policy made on ${EDGES} for insert with check (properties->>'open' = 'true')`);
  await exec(`alter table ${EDGES} enable row level security`);
  await exec("set role ann");
  const two = "MATCH (a:P {name: 'a'}), (l:P {name: 'lonely'})";
  t.match((await rows(`${two} CREATE (a)-[:K]->(l)`))[0], refused);
  t.same(await rows(`${two} CREATE (a)-[:K {open: true}]->(l)`), []);
  t.match((await rows("MATCH (:P {name: 'a'})-[r]->(:P {name: 'lonely'}) SET r.open = false"))[0], refused);
  t.match((await rows("MATCH (:P {name: 'a'})-[r]->(:P {name: 'lonely'}) DELETE r"))[0], refused);
  await exec("reset role");
  t.equal(await names(), "a b c lonely");
  await exec(`revoke all on ${NODES} from member`);
  await exec(`grant select on ${NODES} to ann`);
  await exec("set role ann");
  t.equal(await names(), "a b lonely", "who may only read reads");
  t.match((await rows("CREATE (:P {team: 'x'})"))[0], /^42501 permission denied for graph default/);
  t.match((await rows("MATCH (p:P) SET p.x = 1"))[0], /^42501 permission denied for graph default/);
  await close();
});

t.test("a hidden value that is there tells nothing but that", async (t) => {
  const { rows, close } = await graph([
    "CREATE CONSTRAINT one FOR (p:P) REQUIRE p.k IS UNIQUE",
    "CREATE (:P {k: 7, hidden: true})",
    ...POLICIES,
    "set role ann",
  ]);
  t.match((await rows("CREATE (:P {k: 7})"))[0], /constraint "one" allows each value once$/);
  await close();
});

t.test("policies may read other tables and the node's labels", async (t) => {
  const { rows, exec, close } = await graph([
    "create table clearance (who text, label text)",
    "insert into clearance values ('ann', 'Open'), ('bob', 'Open'), ('bob', 'Closed')",
    "CREATE (:Open {n: 1})-[:TO]->(:Closed {n: 2})-[:TO]->(:Open {n: 3})",
    "create role ann; create role bob",
    `alter table ${NODES} enable row level security`,
    `create policy cleared on ${NODES} using (exists (select 1 from clearance c where c.who = current_user and has_label(labels, c.label)))`,
    "set role ann",
  ]);
  t.same(await rows("MATCH (n) RETURN n.n"), ["1", "3"]);
  t.same(await rows("MATCH p = (:Open {n: 1})-[:TO*]->(b) RETURN b.n"), []);
  t.same(await rows("CALL algo.wcc() YIELD component RETURN count(DISTINCT component)"), ["2"]);
  await exec("set role bob");
  t.same(await rows("MATCH p = (:Open {n: 1})-[:TO*]->(b) RETURN b.n"), ["2", "3"]);
  await close();
});
