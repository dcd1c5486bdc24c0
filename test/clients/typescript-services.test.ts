/** The client for TypeScript: calls of any route, AutoML with its progress, MCP, files, administration. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { connect, NotFoundError, PermissionError, RequestError } from "../../clients/typescript/src/index.js";
import { TestServer } from "../e2e/server.js";

const root = mkdtempSync(join(tmpdir(), "client-files-"));
mkdirSync(join(root, "notes"));
writeFileSync(join(root, "notes", "ferry.md"), "# Ferry\n\nThe ferry leaves at noon.\n");
writeFileSync(join(root, "notes", "bread.md"), "# Bread\n\nBread needs flour, water and salt.\n");
const server = await TestServer.start({ TESSERA_ACTORS: "1", TESSERA_FILES_ROOTS: root });
t.teardown(async () => {
  await server.stop();
  rmSync(root, { recursive: true });
});
const { username, password } = server;
const db = connect({ url: server.url, username, password });

t.test("a call of any route, with its variables, query and body", async (t) => {
  const session = await db.call("POST /v1/ai/sessions", { body: { title: "A first one" } });
  const { title } = await db.call("GET /v1/ai/sessions/{id}", { params: { id: session.session_id } });
  t.equal(title, "A first one");
  const me = await db.call("GET /v1/users/me");
  t.equal(me.username, username);
  t.equal(await db.call("DELETE /v1/ai/sessions/{id}", { params: { id: session.session_id } }), undefined);
  await t.rejects(db.call("GET /v1/ai/sessions/{id}", { params: { id: "a/b c" } }), NotFoundError);
  await t.rejects(async () => db.call("GET /v1/ai/sessions/{id}", {} as never), { message: /params\.id/ });
  // A URL would drop the last two parts, and the call would remove the collection.
  for (const id of ["..", "."]) {
    const params = { name: "books", id };
    await t.rejects(async () => db.call("DELETE /v1/collections/{name}/documents/{id}", { params }), TypeError);
  }
  t.throws(() => db.collection(".."), TypeError);
  await t.rejects(async () => db.admin.backups.download(".."), TypeError);
  const stop = AbortSignal.abort(new Error("enough"));
  await t.rejects(db.call("GET /v1/users/me", { signal: stop }), { message: "enough" });
  const body = { name: "same" };
  const kept = { body, idempotencyKey: "one" };
  const [first, second] = [await db.call("POST /v1/api-keys", kept), await db.call("POST /v1/api-keys", kept)];
  t.equal(first.raw_key, second.raw_key, "the answer of the first time");
});

t.test("AutoML: training with progress, predictions, evaluation, stopping", async (t) => {
  await db.sql`CREATE TABLE pet (id integer PRIMARY KEY, weight double precision, legs integer, kind text)`;
  await db.sql`INSERT INTO pet SELECT i, CASE WHEN i % 2 = 0 THEN 4 ELSE 30 END + i % 7 / 10.0, 4, CASE WHEN i % 2 = 0 THEN 'cat' ELSE 'dog' END FROM generate_series(1, 120) i`;
  const heard: string[] = [];
  const options = { table: "pet", target: "kind", features: ["weight"], name: "kinds", max_trials: 2 };
  const model = await db.automl.fit(options, {
    everyMs: 20,
    onProgress: ({ status, progress }) => heard.push(`${status} ${progress >= 0 && progress <= 1}`),
  });
  t.match(model, { name: "kinds", version: 1 });
  t.equal(heard.at(-1), "completed true");
  t.equal(new Set(heard.map((each) => each.split(" ")[1])).size, 1);
  const told = await db.automl.predict("kinds", [{ weight: 4.2 }, { weight: 31 }], { probabilities: true });
  t.same(told.predictions, ["cat", "dog"]);
  t.ok(told.probabilities![0]!.cat! > 0.5);
  const evaluated = await db.automl.evaluate(model.id, { table: "pet" });
  t.equal(evaluated.rows, 120);
  t.same(
    (await db.automl.models()).map(({ name }) => name),
    ["kinds"],
  );
  const long = await db.automl.train({ ...options, name: "long", max_trials: 50, folds: 10 });
  await db.automl.stop(long.job_id);
  const states: string[] = [];
  for await (const { status } of db.automl.follow(long.job_id, { everyMs: 20 })) states.push(status);
  t.match(states.at(-1), /^(cancelled|completed)$/);
  const wrong = db.automl.fit({ ...options, target: "colour" }, { everyMs: 20 });
  await t.rejects(wrong, { message: /colour/ });
  const stop = new AbortController();
  const begun = { ...options, name: "stopped", max_trials: 50, folds: 10 };
  const stopped = db.automl.fit(begun, {
    signal: stop.signal,
    everyMs: 20,
    onProgress: () => stop.abort(new Error("enough")),
  });
  await t.rejects(stopped, { message: "enough" });
  const jobs = (await db.call("GET /v1/automl/jobs", { query: { limit: 1 } })).jobs;
  for await (const { status } of db.automl.follow(jobs[0]!.job_id, { everyMs: 20 })) states.push(status);
  t.equal(states.at(-1), "cancelled", "the server has stopped it, too");
  await db.automl.delete("kinds");
  await t.rejects(db.automl.model("kinds"), NotFoundError);
});

t.test("MCP: tools, their calls with progress, resources and prompts", async (t) => {
  const tools = await db.mcp.tools();
  t.ok(tools.some(({ name, inputSchema }) => name === "query" && inputSchema.type === "object"));
  const result = await db.mcp.call<{ rows: unknown[][] }>("query", { sql: "SELECT 6 * 7 AS answer" });
  t.match(JSON.stringify(result), /42/);
  t.notOk(result.isError);
  const failed = await db.mcp.call("query", { sql: "SELECT nothing" });
  t.ok(failed.isError, "the tool's own error is part of its answer");
  const heard: number[] = [];
  const slow = await db.mcp.call(
    "query",
    { sql: "SELECT 1 AS one" },
    { onProgress: ({ progress }) => heard.push(progress) },
  );
  t.match(JSON.stringify(slow.content), /one/);
  await t.rejects(db.mcp.call("no_such_tool"), RequestError);
  const resources = await db.mcp.resources();
  for (const { uri } of resources.slice(0, 1)) t.ok((await db.mcp.read(uri)).length > 0);
  await t.rejects(db.mcp.read("tessera://nothing/at/all"), { name: "NotFoundError", details: { mcp_code: -32_002 } });
  for (const { name, arguments: args = [] } of (await db.mcp.prompts()).slice(0, 1)) {
    const filled = Object.fromEntries(args.map((arg) => [arg.name, "pet"]));
    t.ok((await db.mcp.prompt(name, filled)).length > 0);
  }
});

t.test("files of rows, in and out", async (t) => {
  const made = await db.files.import("city", "id,name\n1,Lisbon\n2,Porto\n", { create: true });
  t.equal(made.rows, 2);
  t.equal((await db.files.import("city", '{"id":3,"name":"Faro"}\n', { format: "ndjson" })).rows, 1);
  t.equal(await (await db.files.export({ table: "city" })).text(), "id,name\n1,Lisbon\n2,Porto\n3,Faro\n");
  const parquet = await (
    await db.files.export({ query: "SELECT id + 10 AS id, name FROM city", format: "parquet" })
  ).blob();
  t.equal((await db.files.import("city", parquet, { format: "parquet" })).rows, 3);
  const arrow = await (
    await db.files.export({ query: "SELECT id + 100 AS id, name FROM city", format: "arrow" })
  ).blob();
  t.equal((await db.files.import("city", arrow, { format: "arrow" })).rows, 6);
  await t.rejects(db.files.import("city", "id,nme\n1,a\n"), { name: "QueryError", sqlstate: "42703" });
  await t.rejects(db.files.export({ table: "no_such" }), { name: "QueryError", sqlstate: "42P01" });
});

t.test("a folder of the server, until it is read", async (t) => {
  const folder = await db.files.follow("notes", join(root, "notes"), { chunk_size: 500 });
  const states: string[] = [];
  for await (const { status } of db.files.progress("notes", { everyMs: 20 })) states.push(status);
  t.equal(states.at(-1), "ready");
  const paths: string[] = [];
  for await (const { path, status } of db.files.list(folder.id)) if (status === "indexed") paths.push(path);
  t.same(paths.sort(), ["bread.md", "ferry.md"]);
  const [found] = await db
    .collection<{ text: string }>("notes")
    .search({ query: "when does the boat leave", limit: 1 });
  t.match(JSON.stringify(found), /noon/);
  t.equal(await db.files.reprocess("notes", "ferry.md"), 1);
  await db.files.change("notes", { paused: true });
  t.equal((await db.files.folder("notes")).paused, true);
  t.equal((await db.files.folders()).length, 1);
  await db.files.unfollow("notes");
  await t.rejects(db.files.folder("notes"), NotFoundError);
});

t.test("administration: tenants, users, keys", async (t) => {
  const { tenants, users, keys } = db.admin;
  t.match(await tenants.create({ id: "acme", name: "Acme" }), { id: "acme", is_active: true });
  t.match(await tenants.change("acme", { name: "Acme Ltd." }), { name: "Acme Ltd." });
  t.equal((await tenants.get("acme")).name, "Acme Ltd.");
  t.ok((await tenants.list()).some(({ id }) => id === "acme"));
  const ann = await users.create("acme", { username: "ann", password: "correct horse battery" });
  t.match(await users.setActive("acme", "ann", false), { username: "ann", is_active: false });
  await users.setActive("acme", ann.id, true);
  const fresh = await users.resetPassword("acme", "ann");
  const own = connect({ url: server.url, username: "ann", password: fresh! });
  t.equal((await own.admin.users.me()).tenant_id, "acme");
  await t.rejects(own.admin.tenants.list(), PermissionError);
  t.equal(await users.resetPassword("acme", "ann", "another horse battery"), undefined);
  t.same(
    (await users.list("acme")).map((user) => user.username),
    ["ann"],
  );
  await users.delete("acme", "ann");
  t.same(await users.list("acme"), []);
  const { id, key } = await keys.create({ name: "reads", permission: "ReadOnly" });
  const reader = connect({ url: server.url, apiKey: key });
  t.same([...(await reader.sql`SELECT 1 AS one`)], [{ one: 1 }]);
  t.ok((await keys.list()).some((each) => each.id === id));
  await keys.delete(id);
  t.notOk((await keys.list()).some((each) => each.id === id));
});

t.test("administration: a backup, and its content in another tenant", async (t) => {
  const { backups, tenants } = db.admin;
  await db.sql`CREATE TABLE IF NOT EXISTS kept AS SELECT 42 AS answer`;
  const seen: string[] = [];
  const backup = await backups.create(
    { name: "first" },
    { everyMs: 20, onProgress: ({ status }) => seen.push(status) },
  );
  t.match(backup, { status: "completed", name: "first", kind: "full" });
  t.equal(seen.at(-1), "completed");
  await backups.verify(backup.id);
  t.same(
    (await backups.list()).map(({ id }) => id),
    [backup.id],
  );
  t.ok((await (await backups.download(backup.id)).blob()).size > 100);
  await tenants.create({ id: "copy" });
  const own = await db.admin.users.me();
  const restored = await backups.restore("copy", { backup: backup.id, from: own.tenant_id }, { everyMs: 20 });
  t.match(restored, { state: "completed", verified: true });
  await t.rejects(backups.restore("copy", { backup: backup.id, from: own.tenant_id }, { everyMs: 20 }), {
    name: "ConflictError",
  });
  await backups.delete(backup.id);
  await t.rejects(backups.get(backup.id), NotFoundError);
});

t.test("who may come back only tomorrow learns it today", async (t) => {
  await db.call("PUT /admin/budget", { body: { rows_per_day: 1 } });
  await t.rejects(db.query("SELECT i FROM generate_series(1, 3) i"), {
    name: "RateLimitError",
    code: "budget_exhausted",
  });
  await db.call("PUT /admin/budget", { body: {} });
});
