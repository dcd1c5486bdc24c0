/** The audit of data, asked as an auditor does: whichever way somebody reads or changes a table, there is an entry. */
import t from "tap";
import { BoltClient, run as boltRun, pull, WITH_BOLT } from "../e2e/bolt-client.js";
import { TestServer } from "../e2e/server.js";
import { bind, describe, execute, parse, query, sync, WITH_POSTGRES, WireClient } from "../e2e/wire-client.js";

const server = await TestServer.start({ TESSERA_ACTORS: "1", ...WITH_POSTGRES, ...WITH_BOLT });
t.teardown(() => server.stop());
t.setTimeout(200_000);

interface Entry {
  readonly action: string;
  readonly target: readonly string[];
  readonly door: string;
}

/** So long that no digest and no identifier of an entry has it by chance. */
const SALARY = "48151623421085";
const VALUE = `a salary of ${SALARY}`;
const call = (method: string, path: string, body?: unknown, type?: string) =>
  server.call(method, path, body, type === undefined ? {} : { headers: { "content-type": type } });
const post = (path: string, body: unknown) => () => call("POST", path, body);
const get = (path: string) => () => call("GET", path);
const sql = (text: string) => post("/v1/query/execute", { sql: text });
const tool = (name: string, args: object) =>
  post("/v1/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });

async function wire(...messages: readonly Buffer[]): Promise<void> {
  const client = await WireClient.open(server, { database: "system" });
  client.send(...messages);
  await client.until("Z");
  client.close();
}

async function copyIn(): Promise<void> {
  const client = await WireClient.open(server, { database: "system" });
  client.send(query("COPY pay FROM STDIN"));
  await client.until("G");
  const row = Buffer.from("70\tx\t1\n");
  const head = Buffer.alloc(5);
  head.write("d");
  head.writeInt32BE(row.length + 4, 1);
  client.send(head, row, Buffer.from([0x63, 0, 0, 0, 4]));
  await client.until("Z");
  client.close();
}

async function bolt(cypher: string): Promise<void> {
  const client = await BoltClient.open(server);
  client.send(boltRun(cypher), pull());
  await client.until(2);
  client.close();
}

/** A subscription: one entry when it begins. */
async function follow(path: string): Promise<void> {
  const stop = new AbortController();
  const headers = { authorization: `Bearer ${server.token}`, accept: "text/event-stream" };
  const { body } = await fetch(`${server.url}${path}`, { headers, signal: stop.signal });
  await body!.getReader().read();
  stop.abort();
}

const READ = ["read"] as const;
const WRITTEN = ["write"] as const;
type Door = readonly [what: string, ask: () => Promise<unknown>, actions: readonly ("read" | "write")[], table: string];

const GRAPH = "graph:default.nodes";
const DOORS: readonly Door[] = [
  ["SELECT", sql("SELECT amount FROM pay WHERE id = 1"), READ, "pay"],
  ["SELECT again, from the cache of plans", sql("SELECT amount FROM pay WHERE id = 1"), READ, "pay"],
  ["count(*)", sql("SELECT count(*) FROM pay"), READ, "pay"],
  ["a subquery", sql("SELECT 1 WHERE EXISTS (SELECT FROM pay)"), READ, "pay"],
  ["a view", sql("SELECT * FROM shown"), READ, "pay"],
  ["a function", sql("SELECT told()"), READ, "pay"],
  ["a block of plpgsql", sql("DO $$ BEGIN PERFORM amount FROM pay; END $$"), READ, "pay"],
  ["EXPLAIN ANALYZE", sql("EXPLAIN ANALYZE SELECT * FROM pay"), READ, "pay"],
  ["INSERT", sql("INSERT INTO pay VALUES (50, 'x', 1)"), WRITTEN, "pay"],
  ["UPDATE", sql("UPDATE pay SET amount = 2 WHERE id = 50"), WRITTEN, "pay"],
  ["DELETE", sql("DELETE FROM pay WHERE id = 50"), WRITTEN, "pay"],
  ["TRUNCATE of another by CASCADE", sql("TRUNCATE parent CASCADE"), WRITTEN, "child"],
  ["INSERT … SELECT", sql("INSERT INTO copies SELECT id, what FROM pay"), READ, "pay"],
  ["CREATE TABLE AS", sql("CREATE TABLE copied AS SELECT * FROM pay"), READ, "pay"],
  ["REFRESH", sql("REFRESH MATERIALIZED VIEW kept"), READ, "pay"],
  [
    "MERGE",
    sql("MERGE INTO pay p USING copies c ON p.id = c.id WHEN MATCHED THEN UPDATE SET amount = 3"),
    WRITTEN,
    "pay",
  ],
  ["a trigger of another table", sql("INSERT INTO noted VALUES (1)"), WRITTEN, "pay"],
  ["a script", () => call("POST", "/v1/query/script", "TABLE pay;", "application/sql"), READ, "pay"],
  ["a batch", post("/v1/query/execute/batch", { statements: [{ sql: "TABLE pay" }] }), READ, "pay"],
  ["an export", get("/v1/data/export?table=pay&format=csv"), READ, "pay"],
  ["an export as Parquet", get("/v1/data/export?table=pay&format=parquet"), READ, "pay"],
  [
    "an import",
    () => call("POST", "/v1/data/import/csv?table=pay", "id,what,amount\n60,x,1\n", "text/csv"),
    WRITTEN,
    "pay",
  ],
  [
    "a prepared statement",
    async () => {
      await call("POST", "/v1/query/prepare", { name: "p", sql: "TABLE pay" });
      await call("POST", "/v1/query/exec", { statement_id: "p" });
    },
    READ,
    "pay",
  ],
  ["PostgreSQL: simple", () => wire(query("TABLE pay")), READ, "pay"],
  [
    "PostgreSQL: extended",
    () => wire(parse("", "TABLE pay"), bind("", "", []), describe("P", ""), execute(""), sync),
    READ,
    "pay",
  ],
  [
    "PostgreSQL: a cursor",
    () => wire(query("BEGIN; DECLARE c CURSOR FOR TABLE pay; FETCH 1 FROM c; COMMIT")),
    READ,
    "pay",
  ],
  ["PostgreSQL: COPY TO", () => wire(query("COPY pay TO STDOUT")), READ, "pay"],
  [
    "PostgreSQL: COPY of a query",
    () => wire(query("COPY (SELECT amount FROM pay) TO STDOUT (FORMAT binary)")),
    READ,
    "pay",
  ],
  ["PostgreSQL: COPY FROM", copyIn, WRITTEN, "pay"],
  ["Cypher by HTTP", post("/v1/graph/match", { cypher: "MATCH (n:Person) RETURN n" }), READ, GRAPH],
  ["Cypher in SQL", sql("SELECT * FROM cypher('MATCH (n:Person) RETURN n.told') AS x(told text)"), READ, GRAPH],
  ["Bolt", () => bolt("MATCH (n:Person) RETURN n"), READ, GRAPH],
  ["Bolt: CREATE", () => bolt("CREATE (:Person {told: 'y'})"), WRITTEN, GRAPH],
  ["nodes by route", get("/v1/graph/nodes"), READ, GRAPH],
  ["a node by route", get("/v1/graph/nodes/1"), READ, GRAPH],
  ["neighbours by route", get("/v1/graph/nodes/1/neighbors"), READ, GRAPH],
  ["an algorithm", post("/v1/graph/algorithms", { algorithm: "page_rank" }), READ, GRAPH],
  ["a new node by route", post("/v1/graph/nodes", { labels: ["Person"] }), WRITTEN, GRAPH],
  ["a list of documents", get("/v1/collections/letter/documents"), READ, "letter"],
  ["a document", get("/v1/collections/letter/documents/one"), READ, "letter"],
  ["a search of documents", post("/v1/collections/letter/search", { query: "salary", mode: "text" }), READ, "letter"],
  ["a new document", post("/v1/collections/letter/documents", { id: "two", text: "x" }), WRITTEN, "letter"],
  ["a vector", get("/v1/vectors/collections/points/vectors/a"), READ, "points"],
  ["a search of vectors", post("/v1/vectors/collections/points/search", { vector: [1, 0], k: 1 }), READ, "points"],
  ["a new vector", post("/v1/vectors/collections/points/vectors", { id: "b", vector: [1, 1] }), WRITTEN, "points"],
  ["MCP: query", tool("query", { sql: "TABLE pay" }), READ, "pay"],
  ["MCP: execute", tool("execute", { sql: "UPDATE pay SET amount = 1 WHERE id = 1" }), WRITTEN, "pay"],
  ["MCP: rag_search", tool("rag_search", { collection: "letter", query: "salary" }), READ, "letter"],
  ["MCP: cypher", tool("cypher", { cypher: "MATCH (n:Person) RETURN n" }), READ, GRAPH],
  ["a subscription", () => follow("/v1/subscribe?table=pay"), READ, "pay"],
  ["a live query", () => follow(`/v1/subscribe?sql=${encodeURIComponent("SELECT id FROM pay")}`), READ, "pay"],
  [
    "a question in plain language",
    post("/v1/nl2sql/query", { question: "how many pays are there?", method: "rules" }),
    READ,
    "pay",
  ],
  [
    "a chat with passages",
    async () => {
      const { body } = await call("POST", "/v1/ai/sessions", { title: "x", collections: ["letter"] });
      await call("POST", "/v1/ai/chat", { session_id: body.data.id, content: "What is the salary?" });
    },
    READ,
    "letter",
  ],
  [
    "a completion",
    post("/v1/chat/completions", { model: "collection:letter", messages: [{ role: "user", content: "salary" }] }),
    READ,
    "letter",
  ],
  [
    "a training",
    post("/v1/automl/train", { table: "pay", target: "amount", max_trials: 1, async_mode: false }),
    READ,
    "pay",
  ],
  [
    "an evaluation",
    post("/v1/evaluations/retrieval", {
      collection: "letter",
      pairs: [{ query: "salary", relevant: ["one"] }],
      settings: [{ name: "text", mode: "text" }],
    }),
    READ,
    "letter",
  ],
  ["a recipe's export", post("/v1/recipes/export", { tables: ["pay"], graph: null }), READ, "pay"],
  ["a map of vectors", post("/v1/vectors/map", { sql: "SELECT id, metadata, vector FROM points" }), READ, "points"],
  [
    "an undo that is tried",
    () => call("POST", "/v1/history/undo", { table: "pay", as_of: past, dry_run: true }),
    READ,
    "pay",
  ],
  ["a memory", post("/v1/ai/memory/team/recall", { query: "salary" }), READ, "_memory_team"],
];

let past = "";
let seen = 0;
/** What is new in the trail. */
async function fresh(): Promise<readonly Entry[]> {
  const { body } = await server.expect(200, "GET", "/admin/audit/data?limit=1000");
  const all = body.data.entries as (Entry & { readonly number: number })[];
  const next = all.filter(({ number }) => number > seen);
  seen = Math.max(seen, ...all.map(({ number }) => number));
  return next;
}

t.before(async () => {
  await server.expect(200, "PUT", "/v1/history", { window_seconds: 3600 });
  for (const text of [
    "CREATE TABLE pay (id int PRIMARY KEY, what text, amount int)",
    `INSERT INTO pay SELECT i, '${VALUE}', i % 7 FROM generate_series(1, 40) i`,
    "CREATE TABLE parent (id int PRIMARY KEY)",
    "CREATE TABLE child (id int REFERENCES parent)",
    "INSERT INTO parent VALUES (1)",
    "INSERT INTO child VALUES (1)",
    "CREATE TABLE copies (id int, what text)",
    "CREATE TABLE noted (id int)",
    "CREATE VIEW shown AS SELECT amount FROM pay",
    "CREATE MATERIALIZED VIEW kept AS SELECT amount FROM pay",
    "CREATE FUNCTION told() RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM pay'",
    "CREATE FUNCTION changes() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN UPDATE pay SET amount = 5 WHERE id = 3; RETURN NEW; END'",
    "CREATE TRIGGER changing AFTER INSERT ON noted FOR EACH ROW EXECUTE FUNCTION changes()",
  ]) {
    await server.rows(text);
  }
  await server.expect(201, "POST", "/v1/collections", {
    name: "letter",
    schema: { fields: [{ name: "text", type: "string" }] },
  });
  await server.expect(201, "POST", "/v1/collections/letter/documents", { id: "one", text: VALUE });
  await server.expect(201, "POST", "/v1/vectors/collections", { name: "points", dimensions: 2 });
  await server.expect(201, "POST", "/v1/vectors/collections/points/vectors", { id: "a", vector: [1, 0] });
  await server.expect(201, "POST", "/v1/ai/memory/team", { content: VALUE });
  await server.expect(200, "POST", "/v1/graph/match", {
    cypher: `CREATE (:Person {told: '${VALUE}'})-[:KNOWS]->(:Person {told: 'z'})`,
  });
  [[past]] = (await server.rows("SELECT clock_timestamp()::text")) as [[string]];
  for (const table of ["pay", "child", "letter", "points", "_memory_team", `"graph:default".nodes`]) {
    await server.rows(`ALTER TABLE ${table} SET (audit = 'read, write')`);
  }
  await fresh();
});

t.test("each way to a table has an entry", async (t) => {
  for (const [what, ask, actions, table] of DOORS) {
    const reply = (await ask()) as { status?: number; body?: unknown } | undefined;
    if (actions.length > 0 && reply?.status !== undefined) {
      t.ok(reply.status < 300, `${what}: ${reply.status} ${JSON.stringify(reply.body).slice(0, 200)}`);
    }
    const entries = await fresh();
    for (const action of actions) {
      const entry = entries.find((one) => one.action === `data.${action}` && one.target.includes(table));
      t.ok(entry, `${what}: ${action} of ${table}, not in ${JSON.stringify(entries).slice(0, 300)}`);
    }
    t.notMatch(JSON.stringify(entries), SALARY, `${what}: no value`);
  }
});

t.test("what is taken back leaves no entry of a change, and keeps that of a read", async (t) => {
  await wire(query("BEGIN; UPDATE pay SET amount = 9; ROLLBACK"));
  t.same(
    (await fresh()).filter(({ action }) => action === "data.write"),
    [],
  );
  await wire(query("BEGIN; SELECT * FROM pay; ROLLBACK"));
  t.equal((await fresh()).filter(({ action }) => action === "data.read").length, 1);
});
