/**
 * Two tenants with the same visible rows; in one of them there are hidden ones, too, with a secret. A user who may not
 * see them asks every door that filters, in both: the answers are the same, to the last score and count, and have no
 * secret.
 */
import t from "tap";
import { TOOLS } from "../../src/features/tools/toolbox.js";
import type { Endpoint } from "../../src/protocol/endpoint.js";
import { ENDPOINTS, MESSAGES, WIRE } from "../../src/protocol/endpoints.js";
import { TestServer } from "../e2e/server.js";
import { derivedRequest, type Objects } from "./derived-request.js";
import { type Ask, get, post, rpc, sql, tool } from "./leak-ask.js";
import { FEATURE_CASES } from "./leak-features.js";
import { FOLDER_SEARCHES, LeakFolders } from "./leak-folders.js";
import { GRAPH_CASES } from "./leak-graph.js";
import { QUESTION_CASES } from "./leak-questions.js";
import { DOCS, fill, MEMORIES, PASSWORD, SECRET, UNREAD, VECTORS } from "./leak-tenants.js";

const KEPT = [
  "_recipe_executions",
  "_chat_sessions",
  "_chat_messages",
  "_evaluations",
  "_evaluation_scores",
  "_automl_jobs",
];

const search = (body: object): Ask => post("/v1/collections/notes/search", body);

/** Doors that other tests of this folder ask, or that only end what another has begun. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  "query.prepare": "query.exec",
  "query.close": "query.exec",
  "transactions.begin": "transactions.execute",
  "transactions.get": "transactions.execute",
  "transactions.commit": "transactions.execute",
  "transactions.rollback": "transactions.execute",
  "transactions.savepoint": "transactions.execute",
  "transactions.savepoint.rollback": "transactions.execute",
  "data.importParquet": "data.importNdjson",
  "data.importArrow": "data.importNdjson",
  "graph.match.profile": "graph.match",
  "graph.algorithms.message": "graph.algorithms",
  "mcp.message": "mcp.call",
  // folder-rights.test.ts follows.
  "files.progress": "files.get",
  "socket.query": "query.execute",
  "socket.transaction.begin": "transactions.execute",
  "socket.transaction.commit": "transactions.execute",
  "socket.transaction.rollback": "transactions.execute",
  "socket.subscribe": "changes.subscribe",
  "socket.chat": "chat.send",
  "socket.automl.follow": "automl.job",
  "chat.stream": "chat.send",
};

/** leak-wires.test.ts goes through them. */
const WIRES = ["postgres.messages", "bolt.messages"];

const CASES: Readonly<Record<string, readonly Ask[]>> = {
  "query.execute": [
    sql("SELECT * FROM board ORDER BY id"),
    sql("SELECT count(*), max(id), string_agg(note, ',') FROM board"),
    sql(
      "SELECT id, text_score(note, 'word common', 'any') FROM board WHERE text_score(note, 'word common', 'any') > 0",
    ),
    sql("SELECT id, MATCH (note) AGAINST ('word') AS s FROM board ORDER BY id"),
    sql("SELECT id FROM board WHERE MATCH (note) AGAINST ('word') OR id = 1 ORDER BY id"),
    sql(`SELECT id, MATCH (note) AGAINST ('${SECRET} rare') FROM board WHERE MATCH (note) AGAINST ('rare')`),
    sql("SELECT id, score FROM search('board', 'word common') ORDER BY score DESC"),
    sql("SELECT id, title, score FROM search('notes', 'common word', mode => 'hybrid') ORDER BY score DESC, id"),
    sql("SELECT id, title, score FROM search('notes', 'rare', mode => 'hybrid') ORDER BY score DESC, id"),
    sql(`SELECT id FROM board WHERE 1 / (CASE WHEN note LIKE '%${SECRET}%' THEN 0 ELSE 1 END) = 1 ORDER BY id`),
    sql("SELECT id, v <-> '[0,0]' FROM board ORDER BY v <-> '[0,0]' LIMIT 3"),
    sql("EXPLAIN SELECT * FROM board WHERE id > 0"),
    sql("UPDATE board SET note = note || '!' WHERE false RETURNING *"),
    sql("DELETE FROM board WHERE id = 99 RETURNING *"),
    sql("SELECT reltuples FROM pg_class WHERE relname = 'board'"),
    sql("SELECT * FROM pg_stats WHERE tablename = 'board'"),
    // Of another user's chat, which the feature keeps for itself.
    ...KEPT.flatMap((table) => [
      sql(`SELECT * FROM ${table}`),
      sql(`SELECT count(*) FROM ${table}`),
      sql(`EXPLAIN ANALYZE SELECT * FROM ${table}`),
      sql(`DELETE FROM ${table} RETURNING *`),
      sql(`CREATE TABLE copy AS SELECT * FROM ${table}`),
      sql(`SELECT * FROM pg_stats WHERE tablename = '${table}'`),
    ]),
    sql("SELECT * FROM search('_chat_messages', 'word')"),
  ],
  "query.batch": [
    post("/v1/query/execute/batch", { statements: [{ sql: "TABLE board" }, { sql: "SELECT count(*) FROM board" }] }),
    post("/v1/query/execute/batch", { statements: [{ sql: "TABLE _chat_messages" }] }),
  ],
  "query.script": [
    { path: "/v1/query/script", body: "TABLE board; SELECT count(*) FROM board;", type: "application/sql" },
    { path: "/v1/query/script", body: "BEGIN; TABLE _chat_messages; COMMIT;", type: "application/sql" },
  ],
  "query.exec": [
    post("/v1/query/prepare", { name: "p", sql: "SELECT * FROM board ORDER BY id" }),
    post("/v1/query/exec", { statement_id: "p" }),
    post("/v1/query/prepare", { name: "kept", sql: "SELECT * FROM _chat_messages" }),
  ],
  "transactions.execute": [post("/v1/transactions/none/execute", { sql: "TABLE board" })],
  "data.importCsv": [
    { path: "/v1/data/import/csv?table=board", body: `id,owner,note\n50,other,x\n`, type: "text/csv" },
  ],
  "data.importNdjson": [
    { path: "/v1/data/import/ndjson?table=board", body: `{"id":50,"owner":"other"}\n`, type: "application/x-ndjson" },
  ],
  "data.export": ["board", ...KEPT].flatMap((table) =>
    ["csv", "ndjson", "parquet"].map((format) => get(`/v1/data/export?table=${table}&format=${format}`)),
  ),
  ...GRAPH_CASES,
  ...QUESTION_CASES,
  ...FEATURE_CASES,
  "schema.tables": [
    get("/v1/schema/tables"),
    get("/v1/schema/tables?include_system=true"),
    get("/v1/schema/tables?limit=1"),
  ],
  ...Object.fromEntries(
    ["", "/columns", "/indexes"].map((part) => [
      `schema.${part.slice(1) || "table"}`,
      [
        "board",
        "staff",
        "vault",
        "notes",
        "closed",
        "_chat_messages",
        "_memory_unread",
        "boards",
        "valt",
        "graph:default.nodes",
      ].map((table) => get(`/v1/schema/tables/${table}${part}`)),
    ]),
  ),
  "automl.models": [get("/v1/automl/models"), get("/v1/automl/models?task=classification")],
  "automl.model": [get("/v1/automl/models/kinds"), get("/v1/automl/models/none")],
  "automl.predict": ["kinds", "none"].flatMap((name) => [
    post(`/v1/automl/models/${name}/predict`, { rows: [{ size: 9 }], probabilities: true, explain: true }),
    sql(`SELECT AUTOML.PREDICT('${name}', size => 9)`),
    sql(`PREDICT kind USING ${name} WITH PROBABILITY AS SELECT 9 AS size`),
    sql(`SELECT describe_model('${name}')`),
    sql(`DROP MODEL ${name}`),
  ]),
  "collections.create": [post("/v1/collections", { name: "notes" })],
  "collections.list": [get("/v1/collections")],
  "collections.get": [get("/v1/collections/notes"), get("/v1/collections/closed")],
  "collections.delete": [{ method: "DELETE", path: "/v1/collections/notes" }],
  "documents.insert": [post(DOCS, { id: "forged", title: "x", owner: "other" })],
  "documents.bulk": [
    post(`${DOCS}/bulk`, { documents: [{ id: "forged", title: "x", owner: "other" }], ordered: false }),
    post(`${DOCS}/bulk`, { documents: [{ id: "forged", title: "x", owner: "other" }] }),
  ],
  "documents.list": [get(DOCS), get(`${DOCS}?limit=1`), get("/v1/collections/closed/documents")],
  "documents.get": [get(`${DOCS}/seen1`), get(`${DOCS}/hidden1`)],
  "documents.replace": [
    { method: "PUT", path: `${DOCS}/hidden1`, body: { title: "mine" } },
    { method: "PUT", path: `${DOCS}/seen1`, body: { title: "given away", owner: "other" } },
  ],
  "documents.patch": [{ method: "PATCH", path: `${DOCS}/hidden1`, body: { title: "mine" } }],
  "documents.delete": [{ method: "DELETE", path: `${DOCS}/hidden1` }],
  "documents.search": [
    search({ query: "common word" }),
    search({ query: "common word", mode: "text", limit: 2 }),
    search({ query: "common word", mode: "text", min_score: 0.01 }),
    search({ query: SECRET, mode: "text" }),
    search({ query: "wor*", mode: "text" }),
    search({ query: '"common word"', mode: "text" }),
    search({ vector: [1, 0], vector_field: "place", limit: 3 }),
    search({ query: "common word", vector: [1, 0], vector_field: "place", mode: "hybrid" }),
    search({ filter: { title: { $contains: SECRET } } }),
    search({ filter: { owner: "other" } }),
    post("/v1/collections/closed/search", { query: "common" }),
    // Likeness weighs more where no text has the words: the hidden ones do not count.
    search({ query: "rare" }),
    search({ query: `common ${SECRET}` }),
    ...FOLDER_SEARCHES,
  ],
  "vectors.collections.create": [post("/v1/vectors/collections", { name: "points", dimensions: 2 })],
  "vectors.collections.list": [get("/v1/vectors/collections")],
  "vectors.collections.get": [get(VECTORS)],
  "vectors.collections.delete": [{ method: "DELETE", path: VECTORS }],
  "vectors.collections.count": [get(`${VECTORS}/count`)],
  "vectors.upsert": [post(`${VECTORS}/vectors`, { id: "forged", vector: [1, 1], metadata: { owner: "other" } })],
  "vectors.batch": [
    post(`${VECTORS}/vectors/batch`, { vectors: [{ id: "forged", vector: [1, 1], metadata: { owner: "other" } }] }),
  ],
  "vectors.deleteMany": [{ method: "DELETE", path: `${VECTORS}/vectors`, body: { ids: ["hidden1", "hidden2"] } }],
  "vectors.get": [get(`${VECTORS}/vectors/seen1`), get(`${VECTORS}/vectors/hidden1`)],
  "vectors.delete": [{ method: "DELETE", path: `${VECTORS}/vectors/hidden1` }],
  "vectors.search": [
    post(`${VECTORS}/search`, { vector: [1, 0], k: 2 }),
    post(`${VECTORS}/search`, { vector: [1, 0], k: 100, include_vectors: true }),
    post(`${VECTORS}/search`, { vector: [1, 0], k: 2, filter: { owner: "other" } }),
    post(`${VECTORS}/search`, { vector: [1, 0], k: 2, filter_mode: "pre", max_distance: 5 }),
  ],
  "vectors.map": [
    post("/v1/vectors/map", { sql: "SELECT id, metadata, vector FROM points" }),
    post("/v1/vectors/map", { sql: "SELECT * FROM points", method: "principal", max_points: 1 }),
  ],
  "memory.list": [get("/v1/ai/memory")],
  "memory.store": [
    post(MEMORIES, { content: "common word" }),
    post(MEMORIES, { content: `common word ${SECRET}`, supersede: true }),
    post(UNREAD, { content: "x" }),
  ],
  "memory.get": [get(MEMORIES), get(`${MEMORIES}?limit=1`), get(`${MEMORIES}?include_superseded=true`), get(UNREAD)],
  "memory.drop": [MEMORIES, UNREAD].map((path) => ({ method: "DELETE", path })),
  "memory.recall": [
    post(`${MEMORIES}/recall`, { query: "common word" }),
    post(`${MEMORIES}/recall`, { query: `${SECRET} rare`, k: 2, words: 1 }),
    post(`${MEMORIES}/recall`, { query: "word", include_superseded: true, min_similarity: 0.1, recency: 0 }),
    post(`${UNREAD}/recall`, { query: "common" }),
  ],
  "memory.put": [
    { method: "PUT", path: `${MEMORIES}/hidden1`, body: { content: "mine" } },
    { method: "PUT", path: `${MEMORIES}/seen1`, body: { content: "given away", metadata: { owner: "other" } } },
    { method: "PUT", path: `${UNREAD}/one`, body: { content: "mine" } },
  ],
  "memory.history": ["seen1", "hidden1"].map((id) => get(`${MEMORIES}/${id}/history`)),
  "memory.extract": [MEMORIES, UNREAD].map((path) =>
    post(`${path}/extract`, { messages: [{ role: "user", content: "I live in Rome." }], method: "rules" }),
  ),
  "memory.forget": [
    { method: "DELETE", path: `${MEMORIES}/hidden1` },
    { method: "DELETE", path: `${UNREAD}/one` },
  ],
  "mcp.call": [
    tool("memory_recall", { namespace: "team", query: `common ${SECRET}` }),
    tool("memory_recall", { namespace: "unread", query: "common" }),
    tool("memory_store", { namespace: "team", content: "x", dry_run: true }),
    tool("memory_forget", { namespace: "team", id: "hidden1" }),
    tool("predict", { model_name: "kinds", inputs: [{ size: 9 }] }),
    tool("describe_model", { model_name: "kinds" }),
    tool("list_models", {}),
    tool("query", { sql: "SELECT * FROM board ORDER BY id" }),
    tool("query", { sql: "SELECT * FROM _chat_messages" }),
    tool("describe_table", { table: "_chat_messages" }),
    tool("execute", { sql: "SELECT count(*) FROM board" }),
    tool("validate_query", { sql: `SELECT * FROM board WHERE note = '${SECRET}'` }),
    tool("cypher", { cypher: "MATCH (n) RETURN count(n)" }),
    tool("graph_query", { cypher: "MATCH (n) RETURN count(n)" }),
    tool("rag_search", { collection: "notes", query: "common word" }),
    tool("semantic_search", { collection: "notes", query_text: "common word" }),
    tool("train_model", { query: "SELECT id, note FROM board", target: "note", model_name: "mine" }),
    tool("search_media", { query: { text: "common word" } }),
    tool("list_recipes", { category: "test" }),
    tool("run_recipe", { id: "none" }),
    tool("list_evaluations", {}),
    tool("evaluate_retrieval", { collection: "closed", pairs: [{ query: "common", relevant: ["one"] }], keep: false }),
    tool("list_tables", {}),
    ...["board", "staff", "vault", "closed", "valt"].map((table) => tool("describe_table", { table })),
    rpc("resources/list", {}),
    ...[
      "schema",
      "graph",
      "tables",
      "tables/board",
      "tables/staff",
      "tables/vault",
      "tables/none",
      "collections/notes",
      "collections/closed",
    ].map((path) => rpc("resources/read", { uri: `tessera://${path}` })),
    ...["", "v", "bo", "clo"].map((value) =>
      rpc("completion/complete", {
        ref: { type: "ref/resource", uri: "tessera://tables/{name}" },
        argument: { name: "name", value },
      }),
    ),
  ],
  "mcp.batch": [
    post("/v1/mcp/batch", [
      { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "query", arguments: { sql: "TABLE board" } } },
    ]),
  ],
  // What it sends while it lives is in live-rights.test.ts.
  "changes.subscribe": [
    get("/v1/subscribe?table=board"),
    get("/v1/subscribe?table=_chat_messages"),
    get(`/v1/subscribe?sql=${encodeURIComponent("SELECT * FROM _chat_messages")}`),
    get("/v1/subscribe?collection=notes"),
    get(`/v1/subscribe?table=board&filter=${encodeURIComponent(`{"note":"${SECRET}"}`)}`),
  ],
};

const FILTERS = [...ENDPOINTS, ...MESSAGES, ...WIRE].filter(
  ({ name, door }) => (door === "statements" || door === "parts") && !WIRES.includes(name),
);

/** What both tenants have, and what only one has. */
const OBJECTS: readonly Objects[] = [
  { table: "board", collection: "notes", document: "seen1", vectors: "points", vector: "seen1" },
  { table: "board", collection: "closed", document: "hidden1", vectors: "points", vector: "hidden1" },
];

/** A door without a case is asked for these, if its path or example names such objects; else it needs a case. */
function asksOf(endpoint: Endpoint): readonly Ask[] {
  const written = CASES[endpoint.name] ?? CASES[ELSEWHERE[endpoint.name] ?? ""];
  if (written !== undefined) return written;
  return OBJECTS.flatMap((objects) => {
    const request = derivedRequest(endpoint, objects);
    return request?.namesObjects === true ? [{ method: endpoint.method, ...request }] : [];
  });
}

/** Tools that filter; the others refuse, or reach no table. */
const ASKED_TOOLS = new Set(
  CASES["mcp.call"]!.map(({ body }) => (body as { params: { name?: string } }).params.name ?? ""),
);

/** Also in a tool's answer, whose JSON is a text in JSON. */
const TIMES =
  /\\?"(?:took_ms|(?:total_)?execution_time_ms|created_at|updated_at|last_scan_at|found_at|read_at|certified_at|valid_from|valid_until|request_id|timestamp|meta)\\?":(?:\\?"[^"]*"|[\d.]+|\{[^}]*\}),?/g;

/** Names that are made up anew, and digests of texts with a time in them. */
const MADE_UP = /\b(?:chat|msg|run|eval|job|ds|fsc|file)_[0-9a-z-]{16,}|sha256:[0-9a-f]{64}|Exported at [^"]*Z/g;

t.test("each door that filters has a case, and each tool that does", (t) => {
  t.same(
    FILTERS.flatMap((endpoint) => (asksOf(endpoint).length === 0 ? endpoint.name : [])),
    [],
    "doors without a case",
  );
  t.same(
    TOOLS.flatMap(({ name, door }) =>
      (door === "statements" || door === "parts") && !ASKED_TOOLS.has(name) ? name : [],
    ),
    [],
    "tools without a case",
  );
  t.end();
});

t.test("what is hidden changes no answer", { timeout: 300_000 }, async (t) => {
  const folders = new LeakFolders();
  const server = await TestServer.start({ TESSERA_ACTORS: "1", ...folders.settings });
  t.teardown(async () => {
    await server.stop();
    folders.end();
  });
  const [alpha, omega] = [await fill(server, "alpha", true), await fill(server, "omega", false)];
  for (const [id, hides] of [
    ["alpha", true],
    ["omega", false],
  ] as const)
    await folders.fill(server, id, hides);
  const tokens = [alpha.token, omega.token];
  const answer = async ({ method = "POST", path, body, type }: Ask, i: number) => {
    const headers: Record<string, string> = type === undefined ? {} : { "content-type": type };
    const signal = AbortSignal.timeout(20_000);
    const reply = await server.call(method, path, body, { token: tokens[i]!, headers, signal });
    const text = typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body);
    return {
      status: reply.status,
      text: text
        .replaceAll(/alpha|omega/g, "tenant")
        .replaceAll(TIMES, "")
        .replaceAll(MADE_UP, "")
        // A stored moment is a byte longer or shorter.
        .replaceAll(/("name":"_recipes"[^}]*"size_bytes":)\d+/g, "$1"),
    };
  };
  let answered = 0;
  const doors = new Map([...FILTERS.map((one) => [one.name, asksOf(one)] as const), ...Object.entries(CASES)]);
  for (const [door, asks] of doors) {
    for (const ask of asks) {
      const what = `${door}: ${ask.path} ${JSON.stringify(ask.body ?? "")}`;
      const [there, without] = [await answer(ask, 0), await answer(ask, 1)];
      t.not(there.status, 500, what);
      if (!JSON.stringify(ask.body ?? ask.path).includes(SECRET)) t.notMatch(there.text, SECRET, what);
      if (ask.byStatus === true) t.equal(there.status, without.status, what);
      else t.same(there, without, what);
      if (there.status < 300) answered++;
    }
  }
  t.ok(answered > 40, `${answered} were answered, not refused`);
  // What operators read, who may be no users of the tenant.
  const metrics = await server.call("GET", "/metrics");
  t.match(String(metrics.body), "tessera_");
  t.notMatch(String(metrics.body), SECRET, "metrics");
  t.notMatch(server.lines.join("\n"), SECRET, "the log");
  // The same searches find something.
  const found = await answer(CASES["documents.search"]![1]!, 0);
  t.match(found.text, "seen0");
  const files = await answer(CASES["files.documents"]![0]!, 0);
  t.match(files, { status: 200, text: '"path":"open.md"' });
  const recalled = await answer(CASES["memory.recall"]![0]!, 0);
  t.match(recalled.text, "another common thing");
});

t.test("policies that ask other rows, or what the session says", async (t) => {
  const server = await TestServer.start({ TESSERA_ACTORS: "1" });
  t.teardown(() => server.stop());
  const boss = await server.tenant("club", ["admin"]);
  await server.expect(201, "POST", "/admin/tenants/club/users", {
    ...{ username: "ann", password: PASSWORD, roles: ["user"] },
  });
  const ann = await server.login("ann", PASSWORD);
  const run = (text: string, token = boss) => server.sql(text, [], { token });
  const rows = async (text: string, token = ann) => {
    const { status, body } = await run(text, token);
    return status === 200 ? body.data.rows : body.error.details.sqlstate;
  };
  for (const text of [
    "CREATE TABLE member_of (who text, team int)",
    "INSERT INTO member_of VALUES ('ann', 1)",
    "CREATE TABLE board (id int PRIMARY KEY, team int, secret text, note text, v vector(2))",
    "INSERT INTO board VALUES (1, 1, 'mine', 'aazure common', '[1,0]'), (2, 2, 'hunter2', 'common rare', '[1,0.1]')",
    "INSERT INTO board SELECT 100 + i, 2, 'x', (SELECT string_agg('aa' || (1000 + i * 10 + j), ' ') FROM generate_series(0, 9) j), '[0,1]' FROM generate_series(0, 99) i",
    "CREATE INDEX ON board USING text (note)",
    "CREATE INDEX ON board USING hnsw (v)",
    "CREATE POLICY p ON board USING (EXISTS (SELECT 1 FROM member_of m WHERE m.team = board.team AND m.who = current_user))",
    "ALTER TABLE board ENABLE ROW LEVEL SECURITY",
  ])
    t.equal((await run(text)).status, 200, text);
  // No index answers it: that is an error of the statement, whatever a hidden row has.
  const guess = (secret: string) =>
    rows(`SELECT id FROM board WHERE secret = '${secret}' AND text_score(secret, 'x', 'any') > 0`);
  t.same(await guess("hunter2"), await guess("hunter3"));
  t.same(await rows("SELECT id FROM board WHERE MATCH (note) AGAINST ('common') > 0"), [[1]]);

  await run("DROP POLICY p ON board");
  await run("CREATE POLICY p ON board USING (team = 1 OR secret = current_setting('app.t'))");
  t.same(await rows("SELECT id FROM board WHERE id = 1"), [[1]]);
  await run("DROP POLICY p ON board");
  await run("CREATE POLICY p ON board USING (CASE WHEN team = 1 THEN true ELSE id = 0 END)");
  t.same(
    await rows("SELECT id FROM board WHERE text_score(note, 'aa*', 'any') > 0"),
    [[1]],
    "hidden words are no words",
  );
  t.same(await rows("SELECT id FROM board ORDER BY v <-> '[0,1]' LIMIT 2"), [[1]]);

  const scores =
    "SELECT id, round(text_score(note, 'common', 'any')::numeric, 6) FROM board WHERE MATCH (note) AGAINST ('common') > 0";
  const few = await rows(`${scores} AND team = 1`);
  t.same(await rows(scores), few, "a score does not go by the other conditions");
  await run("DROP POLICY p ON board");
  await run("CREATE POLICY p ON board USING (true)");
  t.same(
    await rows(`${scores} ORDER BY id`),
    await rows(`${scores} ORDER BY id`, boss),
    "all rows: the owner's scores",
  );
});
