/**
 * The tenants of leak-hunt.test.ts and leak-wires.test.ts: the same definitions and the same rows that a reader may
 * see; one of them has hidden rows, columns and tables with a secret, too.
 */
import type { Reply, TestServer } from "../e2e/server.js";

export const SECRET = "xyzzyhidden";
export const PASSWORD = "a password of the reader";
const OWNER = "reader";

export const DOCS = "/v1/collections/notes/documents";
export const VECTORS = "/v1/vectors/collections/points";
export const MEMORIES = "/v1/ai/memory/team";
export const UNREAD = "/v1/ai/memory/unread";

export interface LeakTenant {
  /** The reader, and the administrator. */
  readonly user: string;
  readonly boss: string;
  /** The reader's. */
  readonly token: string;
  /** A moment at which everybody could see everything. */
  readonly past: string;
}

/** The tenant's definitions; `hides`: with rows that its reader may not see. */
export async function fill(server: TestServer, id: string, hides: boolean): Promise<LeakTenant> {
  await server.expect(201, "POST", "/admin/tenants", { id });
  for (const [username, roles] of [
    [`${id}-boss`, ["super_admin"]],
    [`${id}-${OWNER}`, ["user"]],
  ] as const) {
    await server.expect(201, "POST", `/admin/tenants/${id}/users`, { username, password: PASSWORD, roles });
  }
  const token = await server.login(`${id}-boss`, PASSWORD);
  await server.expect(200, "PUT", "/v1/history", { window_seconds: 3600 }, { token });
  const must = (method: string, path: string, body: unknown, status = 200) =>
    server.expect(status, method, path, body, { token });
  const run = (text: string) => must("POST", "/v1/query/execute", { sql: text });
  const own = `${id}-${OWNER}`;
  const fields = [
    { name: "title", type: "string" },
    { name: "owner", type: "string" },
    { name: "place", type: "vector", dimensions: 2 },
  ];
  for (const name of ["notes", "closed"]) await must("POST", "/v1/collections", { name, schema: { fields } }, 201);
  await must("POST", "/v1/vectors/collections", { name: "points", dimensions: 2, metric: "euclidean" }, 201);
  await run("CREATE TABLE board (id int PRIMARY KEY, owner text, note text, v vector(2))");
  await run("CREATE INDEX ON board USING text (note)");
  await run("CREATE INDEX ON board USING hnsw (v) WITH (metric = 'euclidean')");
  const seen = ["common word", "another common thing with a longer text of many words", "rare word", "nothing"];
  const all = seen.map((title, i) => ({ id: `seen${i}`, title, owner: own, place: [i, 1] }));
  // Nearer, better matches, and words that would change how rare each is.
  const hidden = Array.from({ length: hides ? 30 : 0 }, (_, i) => ({
    ...{ id: `hidden${i}`, title: `common word common word ${SECRET} rare`, owner: "other", place: [0.01 * i, 0] },
  }));
  const documents = [...all, ...hidden];
  await must("POST", `${DOCS}/bulk`, { documents }, 201);
  await must("POST", "/v1/collections/closed/documents", { id: "one", title: `common ${hides ? SECRET : ""}` }, 201);
  const vectors = documents.map(({ id: key, owner, place }) => ({ id: key, vector: place, metadata: { owner } }));
  await must("POST", `${VECTORS}/vectors/batch`, { vectors }, 201);
  for (const [i, { title, owner, place }] of documents.entries()) {
    await run(`INSERT INTO board VALUES (${i + 1}, '${owner}', '${title}', '[${place}]')`);
  }
  for (const { id: key, title, owner } of documents) {
    await must("PUT", `${MEMORIES}/${key}`, { content: title, metadata: { owner } });
  }
  await must("PUT", `${UNREAD}/one`, { content: `common ${hides ? SECRET : ""}` });
  const [[past]] = (await run("SELECT clock_timestamp()::text")).body.data.rows;
  await run("REVOKE ALL ON closed, _memory_unread FROM member");
  for (const table of ["notes", "board", "points", "_memory_team"]) {
    const owner = table === "points" || table === "_memory_team" ? "metadata ->> 'owner'" : "owner";
    await run(`CREATE POLICY own ON ${table} USING (${owner} = current_user)`);
    await run(`ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`);
  }
  const graph = (cypher: string) => must("POST", "/v1/graph/match", { cypher });
  await graph("CREATE FULLTEXT INDEX titles FOR (n:Note) ON EACH [n.title]");
  await graph("CREATE VECTOR INDEX spots FOR (n:Note) ON (n.spot) OPTIONS {indexConfig: {`vector.dimensions`: 2}}");
  const note = `{title: 'note ' + toString(i), owner: '${own}', spot: [1.0, toFloat(i)]}`;
  await graph(`UNWIND range(1, 4) AS i CREATE (:Note ${note})`);
  await graph("MATCH (a:Note), (b:Note) WHERE a.title < b.title AND a.title <> 'note 1' CREATE (a)-[:NEXT]->(b)");
  if (hides) {
    await graph(
      `CREATE (:Note:Secretive {title: 'note note ${SECRET}', owner: 'other', unseen: true, spot: [1.0, 0.0]})`,
    );
    await graph("MATCH (n:Note), (s:Secretive) WHERE n <> s CREATE (n)-[:SECRETLY]->(s), (s)-[:NEXT]->(n)");
  }
  await run(`CREATE POLICY own ON "graph:default".nodes USING (properties ->> 'owner' = current_user)`);
  await run(`ALTER TABLE "graph:default".nodes ENABLE ROW LEVEL SECURITY`);
  await must("POST", "/v1/ai/sessions", { title: hides ? SECRET : "nothing" }, 201);
  if (hides) {
    const message = `'m', 'user', 'common word ${SECRET}', now(), NULL, NULL, NULL, NULL`;
    await run(`INSERT INTO _chat_messages SELECT id, 1, ${message} FROM _chat_sessions`);
  }
  await fillClosed(run, hides);
  const kinds = `CASE WHEN i % 10 < 5 THEN 'small' ELSE '${hides ? SECRET : "large"}' END AS kind`;
  const rows = `SELECT i % 10 AS size, ${kinds} FROM generate_series(1, 100) i`;
  const training = { query: rows, target: "kind", name: "kinds", max_trials: 1, async_mode: false };
  await must("POST", "/v1/automl/train", training, 200);
  const pairs = [{ query: hides ? `common ${SECRET}` : "common word", relevant: ["seen0"] }];
  const evaluation = {
    name: hides ? SECRET : "nothing",
    collection: "notes",
    pairs,
    settings: [{ name: "text", mode: "text" }],
  };
  await must("POST", "/v1/evaluations/retrieval", evaluation, 200);
  const steps = [{ name: "find", sql: "SELECT id, note FROM board WHERE note = $what" }];
  const head = { id: "look-up", version: "1.0.0", engine: ">=0.1.0", name: "Look up", category: "test" };
  const recipe = { ...head, parameters: { what: { type: "text", default: "nothing" } }, workflow: steps };
  await must("POST", "/v1/recipes/import", { recipe }, 201);
  await must("POST", "/v1/recipes/look-up/execute", { parameters: { what: hides ? SECRET : "nothing" } });
  await run("ANALYZE board, staff, vault, _chat_sessions, _chat_messages");
  return { user: own, boss: `${id}-boss`, token: await server.login(own, PASSWORD), past };
}

/** A column that the reader may not read, a table that is closed, and what reads them for others. */
async function fillClosed(run: (text: string) => Promise<Reply>, hides: boolean): Promise<void> {
  const pay = hides ? SECRET : "nothing";
  for (const text of [
    "CREATE TABLE staff (id int PRIMARY KEY, name text, pay text UNIQUE, CHECK (pay <> 'none'))",
    `INSERT INTO staff VALUES (1, 'ann', '${pay} 1'), (2, 'bob', '${pay} 2')`,
    "CREATE TABLE vault (id int PRIMARY KEY, note text, board int REFERENCES board)",
    ...(hides ? [`INSERT INTO vault SELECT i, '${SECRET}', 5 FROM generate_series(1, 30) i`] : []),
    "REVOKE ALL ON staff, vault FROM member",
    "GRANT SELECT (id, name), INSERT (id, name), UPDATE (name) ON staff TO member",
    "CREATE VIEW invoked WITH (security_invoker) AS SELECT * FROM board",
    "CREATE VIEW fenced WITH (security_barrier) AS SELECT id, note FROM board WHERE owner = session_user",
    "CREATE VIEW names AS SELECT id, name FROM staff",
    "CREATE MATERIALIZED VIEW few AS SELECT id, note FROM board WHERE id < 3",
    "CREATE FUNCTION notes() RETURNS SETOF text LANGUAGE sql STABLE AS 'SELECT note FROM board ORDER BY id'",
    "CREATE FUNCTION own_rows() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM board WHERE owner = session_user'",
    "GRANT SELECT ON invoked, fenced, names, few TO member",
  ]) {
    await run(text);
  }
}
