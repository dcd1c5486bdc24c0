/**
 * Folders of files, and what is known of the files in them, by users who may see the folder's collection, a part of it,
 * or nothing of it.
 */
import t, { type Test } from "tap";
import { ROUTE, TestFolder, until } from "../e2e/filesystem-folder.js";
import { TestServer } from "../e2e/server.js";
import { SocketClient } from "../e2e/socket-client.js";

const PASSWORD = "a password of somebody";
const SECRET = "xyzzy";
const RECORDS = ["_file_collections", "_file_documents", "_file_thumbnails"];

const folder = new TestFolder();
folder.put(`${SECRET}.md`, `The ${SECRET} of the cave.`);
folder.put("open.md", "The open door.");
const server = await TestServer.start({ TESSERA_ACTORS: "1", TESSERA_FILES_ROOTS: folder.root });
t.teardown(async () => {
  await server.stop();
  folder.end();
});

const tokens: Record<string, string> = {};
const call = (who: string, method: string, path: string, body?: unknown) =>
  server.call(method, path, body, { token: tokens[who]! });
const must = (who: string, status: number, method: string, path: string, body?: unknown) =>
  server.expect(status, method, path, body, { token: tokens[who]! });
const rows = (who: string, sql: string) => server.rows(sql, [], { token: tokens[who]! });
const stateOf = async (who: string, sql: string) => stateIn((await server.sql(sql, [], { token: tokens[who]! })).body);
const stateIn = ({ error }: { error?: { message: string; details?: { sqlstate?: string } } }): string =>
  error === undefined ? "none" : (error.details?.sqlstate ?? error.message);
const tool = (who: string, name: string, args: object) =>
  call(who, "POST", "/v1/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });

async function listed(who: string): Promise<string[]> {
  const { collections, total } = (await must(who, 200, "GET", ROUTE)).body.data;
  if (collections.length !== total) throw new Error(`${total} are counted, ${collections.length} listed`);
  return collections.map(({ name }: { name: string }) => name);
}

const paths = async (who: string): Promise<string[]> =>
  (await must(who, 200, "GET", `${ROUTE}/papers/documents`)).body.data.documents.map(
    (one: { path: string }) => one.path,
  );

let id = "";

async function made(name: string): Promise<string> {
  const made = (await must("boss", 201, "POST", ROUTE, { name, watch_dir: folder.root, embed_text: false })).body.data;
  await until(async () => {
    const { files } = (await must("boss", 200, "GET", `${ROUTE}/${made.id}`)).body.data;
    return files.indexed === folder.paths().length;
  });
  return made.id;
}

t.test("without roles a folder is everybody's, its records are not", async (t) => {
  await server.expect(201, "POST", "/admin/tenants", { id: "club" });
  for (const who of ["boss", "ann", "ben"]) {
    const roles = [who === "boss" ? "super_admin" : "user"];
    await server.expect(201, "POST", "/admin/tenants/club/users", { username: who, password: PASSWORD, roles });
    tokens[who] = await server.login(who, PASSWORD);
  }
  await made("common");
  t.same(await listed("ann"), ["common"]);
  t.equal((await must("ann", 200, "GET", `${ROUTE}/common/documents`)).body.data.total, 2);
  await must("ann", 202, "POST", `${ROUTE}/common/reprocess`, {});
  t.equal((await must("ann", 200, "PATCH", `${ROUTE}/common`, { paused: true })).body.data.paused, true);
  await must("ann", 200, "PATCH", `${ROUTE}/common`, { paused: false });
  for (const table of RECORDS) {
    for (const sql of [
      `SELECT * FROM ${table}`,
      `SELECT count(*) FROM ${table}`,
      `EXPLAIN ANALYZE SELECT * FROM ${table}`,
      `UPDATE ${table} SET ${table === "_file_collections" ? "root" : "folder_id"} = '/etc'`,
      `DELETE FROM ${table}`,
      `DROP TABLE ${table}`,
      `CREATE TABLE copied AS SELECT * FROM ${table}`,
    ]) {
      t.equal(await stateOf("ann", sql), "42501", sql);
    }
    t.equal(await stateOf("boss", `SELECT * FROM ${table}`), "none", "administrators may");
    t.equal((await call("ann", "GET", `/v1/data/export?table=${table}&format=ndjson`)).status, 403);
    t.equal((await call("ann", "GET", `/v1/subscribe?table=${table}`)).status, 403);
    t.notMatch(JSON.stringify((await tool("ann", "query", { sql: `SELECT * FROM ${table}` })).body), SECRET);
    t.notMatch(JSON.stringify((await tool("ann", "describe_table", { table })).body), /folder_id|root/);
    t.notMatch(JSON.stringify((await must("ann", 200, "GET", "/v1/schema/tables?include_system=true")).body), table);
  }
});

/** Nothing tells that there is a folder of the name. */
async function isUnknown(t: Test, who: string, others: readonly string[]): Promise<void> {
  t.same(await listed(who), others, `${who}'s list`);
  for (const [method, path, body] of [
    ["GET", "", undefined],
    ["GET", "/documents", undefined],
    ["GET", `/documents?status=failed`, undefined],
    ["GET", "/documents/none/thumbnail", undefined],
    ["PATCH", "", { paused: true }],
    ["PATCH", "", { chunk_size: 500 }],
    ["DELETE", "", undefined],
    ["DELETE", "?retain_data=true", undefined],
    ["POST", "/reprocess", {}],
    ["POST", "/reprocess", { path: `${SECRET}.md` }],
  ] as const) {
    const [hidden, none] = [
      await call(who, method, `${ROUTE}/papers${path}`, body),
      await call(who, method, `${ROUTE}/absent${path}`, body),
    ];
    const same = (one: { body: unknown }) =>
      JSON.stringify(one.body)
        .replaceAll(/papers|absent/g, "it")
        .replaceAll(/"meta":\{[^}]*\}/g, "");
    t.equal(hidden.status, 404, `${method} ${path}: ${JSON.stringify(hidden.body)}`);
    t.equal(same(hidden), same(none), `${method} ${path}`);
    t.equal((await call(who, method, `${ROUTE}/${id}${path}`, body)).status, 404, `${method} ${path} by id`);
  }
  for (const sql of ["DROP COLLECTION papers", "DROP COLLECTION papers KEEP DATA"]) {
    t.equal(await stateOf(who, sql), "42P01", sql);
  }
  t.same(await rows(who, "DROP COLLECTION IF EXISTS papers"), [
    [`The filesystem collection "papers" does not exist, so nothing was dropped.`],
  ]);
  for (const answer of [
    call(who, "POST", "/v1/collections/papers/search", { query: "cave" }),
    call(who, "POST", "/v1/chat/completions", {
      model: "collection:papers",
      messages: [{ role: "user", content: "cave?" }],
    }),
    call(who, "POST", "/v1/nl2sql/translate", { question: "What is in papers?" }),
    call(who, "POST", "/v1/recipes/export", { tables: ["papers"], graph: null }),
    call(who, "GET", "/v1/collections"),
    call(who, "GET", "/v1/models"),
    tool(who, "rag_search", { collection: "papers", query: "cave" }),
    tool(who, "list_tables", {}),
    server.sql("SELECT text FROM papers", [], { token: tokens[who]! }),
    server.sql("SELECT * FROM search('papers', 'cave')", [], { token: tokens[who]! }),
  ]) {
    const { body } = await answer;
    t.notMatch(JSON.stringify(body), new RegExp(`${SECRET}|${folder.root}`), JSON.stringify(body).slice(0, 200));
  }
  const ticket = (await must(who, 200, "POST", "/v1/ws/ticket")).body.token;
  const socket = await SocketClient.open(server.url, `/ws/filesystem-collections/${id}/progress?token=${ticket}`);
  t.match(await socket.next(), { type: "error", code: "not_found" });
}

t.test("where the tenant has roles, a folder is for those who may read its collection", async (t) => {
  await rows("boss", "CREATE ROLE seller");
  await rows("boss", "CREATE USER ann IN ROLE seller");
  await rows("boss", "CREATE USER ben");
  id = await made("papers");
  // What administrators make is for everybody, until they say otherwise.
  t.same(await listed("ann"), ["common", "papers"]);
  await rows("boss", "REVOKE ALL ON COLLECTION papers FROM member");
  t.same(await listed("boss"), ["common", "papers"]);
  await isUnknown(t, "ann", ["common"]);

  await rows("boss", "GRANT SELECT ON COLLECTION papers TO seller");
  t.same(await listed("ann"), ["common", "papers"]);
  t.same(await paths("ann"), ["open.md", `${SECRET}.md`]);
  t.equal((await must("ann", 200, "GET", `${ROUTE}/papers`)).body.data.files.total, 2);
  for (const [method, path, body] of [
    ["PATCH", "", { paused: true }],
    ["DELETE", "", undefined],
    ["DELETE", "?retain_data=true", undefined],
    ["POST", "/reprocess", {}],
  ] as const) {
    const { status, body: told } = await call("ann", method, `${ROUTE}/papers${path}`, body);
    t.equal(status, 403, `${method}${path}: ${JSON.stringify(told)}`);
    t.match(told.error.message, "must be owner of collection papers");
  }
  for (const sql of ["DROP COLLECTION papers", "DROP COLLECTION papers KEEP DATA"]) {
    t.equal(await stateOf("ann", sql), "42501", sql);
  }
  await isUnknown(t, "ben", ["common"]);
});

t.test("of who may see some passages, the files that have one", async (t) => {
  await rows("boss", `CREATE POLICY opened ON papers USING (file <> '${SECRET}.md')`);
  await rows("boss", "ALTER TABLE papers ENABLE ROW LEVEL SECURITY");
  t.same(await paths("ann"), ["open.md"]);
  const shown = (await must("ann", 200, "GET", `${ROUTE}/papers`)).body.data;
  t.match(shown, { files: { total: 1, indexed: 1 }, document_count: 1, chunk_count: 1 });
  t.notMatch(JSON.stringify((await must("ann", 200, "GET", ROUTE)).body), SECRET);
  const hidden = (await paths("boss")).length;
  t.equal(hidden, 2, "administrators see both");
  const ticket = (await must("ann", 200, "POST", "/v1/ws/ticket")).body.token;
  const socket = await SocketClient.open(server.url, `/ws/filesystem-collections/${id}/progress?token=${ticket}`);
  t.match(await socket.next(), { type: "error", code: "forbidden" });
  await rows("boss", "ALTER TABLE papers DISABLE ROW LEVEL SECURITY");
});

t.test("what is followed ends with the right to it", async (t) => {
  const follow = async (who: string) => {
    const ticket = (await must(who, 200, "POST", "/v1/ws/ticket")).body.token;
    const socket = await SocketClient.open(server.url, `/ws/filesystem-collections/${id}/progress?token=${ticket}`);
    t.match(await socket.next(), { type: "scan_complete" });
    return socket;
  };
  const [ann, boss] = [await follow("ann"), await follow("boss")];
  await rows("boss", "REVOKE SELECT ON papers FROM seller");
  t.match(await ann.next(), { type: "error", code: "not_found" });
  folder.put(`${SECRET} 2.md`, "More of it.");
  t.match(await boss.next(), { collection_id: id }, "others go on");
  t.same(ann.messages, []);
  await until(async () => (await paths("boss")).length === 3);
});

t.test("its owner changes and drops it, and only administrators say what is read", async (t) => {
  await rows("boss", "ALTER TABLE papers OWNER TO seller");
  t.same(await listed("ann"), ["common", "papers"]);
  t.equal((await must("ann", 200, "PATCH", `${ROUTE}/papers`, { paused: true })).body.data.paused, true);
  await must("ann", 202, "POST", `${ROUTE}/papers/reprocess`, { path: "open.md" });
  t.equal((await call("ann", "PATCH", `${ROUTE}/papers`, { include: ["*"] })).status, 403);
  await rows("ann", "GRANT SELECT ON COLLECTION papers TO ben");
  t.same(await listed("ben"), ["common", "papers"]);
  await rows("ann", "REVOKE SELECT ON COLLECTION papers FROM ben");
  await isUnknown(t, "ben", ["common"]);
  await rows("ann", "DROP COLLECTION papers");
  t.same(await listed("boss"), ["common"]);
  t.same(await rows("boss", `SELECT count(*) FROM _file_documents WHERE folder_id = '${id}'`), [[0]]);
});

t.test("who takes the name of a dropped collection gets none of the files", async (t) => {
  id = await made("papers");
  await rows("boss", "DROP TABLE papers");
  const fields = "text text, file text, title text, heading text, page bigint, kind text, chunk bigint";
  await rows(
    "ben",
    `CREATE TABLE papers (id text PRIMARY KEY, ${fields}, start_offset bigint, end_offset bigint, document_id text)`,
  );
  t.same(await listed("ben"), ["common"]);
  await must("boss", 202, "POST", `${ROUTE}/${id}/reprocess`, {}).catch(() => undefined);
  folder.put("another.md", `Another ${SECRET}.`);
  await until(async () => (await must("boss", 200, "GET", `${ROUTE}/${id}`)).body.data.error !== null);
  t.same(await rows("ben", "SELECT count(*) FROM papers"), [[0]]);
});
