/** Pulling, using and deleting models as an administrator does: over HTTP, in SQL and on a WebSocket. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { editManifest, ID, rootWith } from "../ai/bundle-copies.js";
import { type Hub, loopbackHub } from "../ai/library/loopback-hub.js";
import { tinyBundle } from "../ai/tiny-bundle.js";
import { sized } from "../lengths.js";
import { TestServer } from "./server.js";
import { SocketClient } from "./socket-client.js";

t.setTimeout(300_000);
const hub = await loopbackHub(t);
const server = await TestServer.start({
  TESSERA_AI_PULL_SOURCES: `${hub.url},hub:${hub.url}/hub`,
  TESSERA_ACTORS: "2",
});
t.teardown(() => server.stop());

function serve(target: Hub, id: string, padding = 0, extra: object = {}): void {
  for (const [file, bytes] of tinyBundle(id, padding, extra).files) target.contents.set(`/${id}/latest/${file}`, bytes);
}

const call = (method: string, path: string, body?: object) => server.call(method, path, body);
const pull = (body: object) => call("POST", "/v1/ai/models/pull", body);
const embed = (model: string) => call("POST", "/v1/ai/embeddings", { text: "a dog runs", model });
const connected = (token: string) => SocketClient.open(server.url, "/v1/ws", { authorization: `Bearer ${token}` });
const names = async () => (await server.rows("SELECT name FROM LIST_MODELS() ORDER BY name")).flat();

t.test("a model is pulled, used at once, listed and deleted", async (t) => {
  serve(hub, "tiny", 50_000, { alias: "small" });
  const before = await names();
  t.equal((await embed("tiny")).status, 404);
  const { status, body } = await pull({ model: "tiny", wait: true });
  t.equal(status, 200);
  t.match(body.data, {
    id: /^pull_/,
    job_id: body.data.id,
    model: "tiny:latest",
    name: "tiny",
    status: "completed",
    progress: 1,
    source: hub.url,
    error: null,
    restart_required: false,
  });
  for (const name of ["tiny", "small", "tiny:latest"]) {
    const reply = await embed(name);
    t.match(reply.body.data, { model: "tiny", dimensions: 4 });
    t.equal(reply.body.data.embedding.length, 4);
  }
  t.match((await embed("tiny:other")).body.error, { code: "model_not_found", message: /installed: .*tiny:latest/ });
  t.same(await server.rows("SELECT vector_dims(EMBED('a cat sleeps', 'tiny'))"), [[4]]);
  t.same(await names(), [...before, "tiny"].sort());
  const listed = "SELECT * FROM LIST_MODELS() WHERE name = 'tiny'";
  const { columns, rows } = (await server.sql(listed)).body.data;
  t.same(
    columns.slice(0, 6).map(({ name }: { name: string }) => name),
    ["name", "architecture", "size_bytes", "digest", "pulled_at", "last_used_at"],
  );
  t.match(rows[0].slice(0, 6), ["tiny", "static", Number, /^[0-9a-f]{64}$/, /^20\d\d-/, /^20\d\d-/]);
  t.match((await call("GET", "/v1/ai/models/small")).body.data, {
    name: "tiny",
    kind: "embedding",
    tag: "latest",
    source: hub.url,
    state: "ready",
    digest: rows[0][3],
  });
  const gone = await call("DELETE", "/v1/ai/models/tiny");
  t.equal(gone.status, 204);
  t.equal((await embed("tiny")).status, 404);
  t.same(await names(), before);
  t.equal(existsSync(join(server.directory, "models", "tiny")), false);
  t.equal((await call("DELETE", "/v1/ai/models/tiny")).status, 404);
});

t.test("every tenant sees it, whichever actor serves it", async (t) => {
  serve(hub, "shared");
  const tokens = [await server.tenant("one"), await server.tenant("two"), await server.tenant("three")];
  const ask = (token: string) =>
    server.call("POST", "/v1/ai/embeddings", { text: "a dog", model: "shared" }, { token });
  for (const token of tokens) t.equal((await ask(token)).status, 404);
  await pull({ name: "shared:latest", wait: true });
  for (const token of tokens) t.equal((await ask(token)).status, 200);
  await call("DELETE", "/v1/ai/models/shared");
  for (const token of tokens) t.equal((await ask(token)).status, 404);
});

t.test("a pull in the background, and another that joins it", async (t) => {
  serve(hub, "slow", 100_000);
  let open: (() => void) | null = null;
  hub.misbehave.set("/slow/latest/padding.bin", (_request, response, content) => {
    response.writeHead(200, { "content-length": content.length });
    response.write(content.subarray(0, 40_000));
    open = () => response.end(content.subarray(40_000));
    return true;
  });
  const started = await pull({ model: "slow" });
  t.equal(started.status, 202);
  const { id } = started.body.data;
  t.equal((await pull({ model: "slow:latest" })).body.data.id, id);
  const waiting = pull({ model: "slow", wait: true });
  while (open === null) await new Promise((resolve) => setTimeout(resolve, 10));
  const now = (await call("GET", `/v1/ai/models/pulls/${id}`)).body.data;
  t.match(now, { status: "running", phase: "downloading", bytes_total: Number, completed_at: null });
  t.ok(now.progress < 1);
  t.match((await call("GET", "/v1/ai/models/pulls")).body.data.pulls[0], { id });
  (open as () => void)();
  t.match((await waiting).body.data, { id, status: "completed" });
  t.match((await call("GET", `/v1/ai/models/pulls/${id}`)).body.data, { status: "completed", progress: 1 });
  await call("DELETE", "/v1/ai/models/slow");
});

t.test("a pull is cancelled; its waiters hear of it", async (t) => {
  serve(hub, "endless", 100_000);
  hub.misbehave.set("/endless/latest/padding.bin", (_request, response, content) => {
    response.writeHead(200, { "content-length": content.length });
    response.write(content.subarray(0, 40_000));
    return true;
  });
  const { id } = (await pull({ model: "endless" })).body.data;
  const waiting = pull({ model: "endless", wait: true });
  while (!hub.requests.some((line) => line.includes("/endless/latest/padding.bin"))) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const cancelled = await call("DELETE", `/v1/ai/models/pulls/${id}`);
  t.match(cancelled.body.data, { status: "cancelled", error: { code: "pull_cancelled" } });
  t.match(await waiting, { status: 409, body: { error: { code: "pull_cancelled" } } });
  t.same(readdirSync(join(server.directory, "models", ".pulling")), []);
});

t.test("progress on the socket", async (t) => {
  serve(hub, "watched", 100_000);
  const socket = await connected(server.token);
  t.teardown(() => socket.destroy());
  socket.send({ type: "model.pull", id: "p", model: "watched" });
  const messages = [await socket.next()];
  while (messages.at(-1).type === "model.progress") messages.push(await socket.next());
  const complete = messages.at(-1);
  t.match(complete, {
    type: "model.complete",
    id: "p",
    model: "watched:latest",
    status: "completed",
    job_id: /^pull_/,
  });
  const progress = messages.filter(({ type }) => type === "model.progress");
  t.ok(progress.length >= 2, `${progress.length} reports`);
  t.ok(progress.every(({ id }) => id === "p"));
  socket.send({ type: "model.pull", id: 7, model: "no-such-model" });
  let error = await socket.next();
  while (error.type === "model.progress") error = await socket.next();
  t.match(error, { type: "error", id: 7, code: "model_not_found", message: /No source has the model/ });
  socket.send({ type: "model.pull", id: 8 });
  t.match(await socket.next(), { type: "error", code: "invalid_request", message: /"model"/ });
  await call("DELETE", "/v1/ai/models/watched");
});

t.test("PULL_MODEL and DELETE_MODEL in SQL", async (t) => {
  serve(hub, "by-sql");
  serve(hub, "second");
  const [[pulled]] = (await server.rows("SELECT PULL_MODEL('by-sql:latest')")) as [[object]];
  t.match(pulled, { model: "by-sql", size_bytes: Number, source: hub.url, restart_required: false });
  t.same(await server.rows("SELECT vector_dims(EMBED('a red dog', 'by-sql'))"), [[4]]);
  const several = "SELECT n, pull_model(n) ->> 'model' FROM (VALUES ('by-sql'), ('second'), (NULL)) v (n)";
  t.same(await server.rows(several), [
    ["by-sql", "by-sql"],
    ["second", "second"],
    [null, null],
  ]);
  t.same(await server.rows("SELECT DELETE_MODEL($1), DELETE_MODEL($2)", ["by-sql", "second:latest"]), [[true, true]]);
  t.notOk((await names()).includes("by-sql"));
  const wrong: readonly (readonly [string, number, string, string])[] = [
    ["SELECT DELETE_MODEL('by-sql')", 404, "model_not_found", "42704"],
    ["SELECT PULL_MODEL('by sql')", 400, "invalid_request", "22023"],
    ["SELECT PULL_MODEL('nobody:has-it')", 404, "model_not_found", "42704"],
    ["SELECT DELETE_MODEL('tessera-embed-384')", 403, "forbidden", "42501"],
    ["CREATE TABLE models_default (a jsonb DEFAULT pull_model('by-sql'))", 501, "not_supported", "0A000"],
  ];
  for (const [sql, status, code, sqlstate] of wrong) {
    t.match(await server.sql(sql), { status, body: { error: { code, details: { sqlstate } } } }, sql);
  }
  const begun = await server.call("POST", "/v1/transactions", { read_only: true });
  const inside = { sql: "SELECT DELETE_MODEL('tessera-embed-384')" };
  t.equal((await call("POST", `/v1/transactions/${begun.body.data.id}/execute`, inside)).status >= 400, true);
});

t.test("a statement that is given up does not end the pull", async (t) => {
  serve(hub, "patient", 60_000);
  let open: (() => void) | null = null;
  hub.misbehave.set("/patient/latest/padding.bin", (_request, response, content) => {
    response.writeHead(200, { "content-length": content.length });
    response.write(content.subarray(0, 10_000));
    open = () => response.end(content.subarray(10_000));
    return true;
  });
  const body = { sql: "SELECT PULL_MODEL('patient')", timeout_secs: 0.5 };
  const reply = await call("POST", "/v1/query/execute", body);
  t.equal(reply.status, 408);
  t.match((await call("GET", "/v1/ai/models/pulls")).body.data.pulls[0], {
    model: "patient:latest",
    status: "running",
  });
  (open as unknown as () => void)();
  t.match((await server.rows("SELECT PULL_MODEL('patient')"))[0], [{ model: "patient" }]);
  await call("DELETE", "/v1/ai/models/patient");
});

t.test("a model that ONNX Runtime runs is deleted when its runs have ended, and can be replaced", async (t) => {
  const root = rootWith((bundle) =>
    editManifest(bundle, ({ static: _, alias: __, ...manifest }) => ({ ...manifest, id: "by-onnx" })),
  );
  for (const file of readdirSync(join(root, ID))) {
    hub.contents.set(`/by-onnx/latest/${file}`, readFileSync(join(root, ID, file)));
  }
  await pull({ model: "by-onnx", wait: true });
  const texts = Array.from({ length: sized(200, 600) }, (_, i) => `${i} many words `.repeat(150));
  const running = server.call("POST", "/v1/ai/embeddings/batch", { texts: texts.slice(0, 64), model: "by-onnx" });
  await embed("by-onnx");
  const long = server.call("POST", "/v1/ai/embeddings/batch", { texts, model: "by-onnx" });
  await new Promise((resolve) => setTimeout(resolve, 30));
  t.equal((await call("DELETE", "/v1/ai/models/by-onnx")).status, 204);
  t.ok([200, 404].includes((await long).status), "what had begun ended, or found no model for the rest");
  t.ok([200, 404].includes((await running).status), "it ended, or came too late");
  t.equal((await embed("by-onnx")).status, 404);
  t.match(await pull({ model: "by-onnx", wait: true }), { status: 200 });
  t.equal((await embed("by-onnx")).body.data.embedding.length, 384);
  await call("DELETE", "/v1/ai/models/by-onnx");
});

t.test("the list for administrators", async (t) => {
  const { body } = await call("GET", "/v1/ai/models");
  t.equal(body.data.count, body.data.models.length);
  t.same(body.data.sources, [hub.url, `hub:${hub.url}/hub`]);
  t.ok(body.data.free_bytes > 0);
  t.match(
    body.data.available.find(({ name }: { name: string }) => name === "nli-small"),
    { alias: "nli-default", kind: "nli", tags: ["latest", "fp32", "int8"] },
  );
});

t.test("what is wrong with a request", async (t) => {
  for (const body of [
    {},
    { model: "" },
    { model: 1 },
    { model: "a", name: "b" },
    { model: "a", force: true },
    { model: "../a" },
  ]) {
    const reply = await pull(body);
    t.equal(reply.status, 400, JSON.stringify(body));
    t.equal(reply.body.error.code, "invalid_request");
  }
  const bundled = "tessera-embed-384";
  t.match(await pull({ model: bundled }), { status: 409, body: { error: { message: /comes with the program/ } } });
  t.match(await call("DELETE", `/v1/ai/models/${bundled}`), {
    status: 403,
    body: { error: { code: "forbidden", message: /comes with the program and cannot be deleted/ } },
  });
  t.equal((await call("DELETE", "/v1/ai/models/..%2f..%2fetc")).status, 400);
  t.equal((await call("GET", "/v1/ai/models/nothing")).status, 404);
  t.equal((await call("GET", "/v1/ai/models/pulls/nothing")).status, 404);
  t.match(await pull({ model: "nothing", wait: true }), { status: 404, body: { error: { code: "model_not_found" } } });
});

t.test("nobody else may", async (t) => {
  const user = await server.tenant("four");
  const admin = await server.tenant("five", ["admin"]);
  const others = await server.tenant("six", ["super_admin"]);
  const key = await call("POST", "/v1/api-keys", { name: "reader", permission: "ReadOnly" });
  for (const token of [user, admin, others, key.body.data.raw_key]) {
    for (const sql of ["SELECT PULL_MODEL('tiny')", "SELECT DELETE_MODEL('tessera-embed-384')"]) {
      const reply = await server.sql(sql, [], { token });
      t.equal(reply.status, 403);
      t.match(reply.body.error, { code: "forbidden", message: /ermission/, details: { sqlstate: "42501" } });
    }
    const as = (method: string, path: string, body?: object) => server.call(method, path, body, { token });
    for (const reply of [
      await as("GET", "/v1/ai/models"),
      await as("GET", "/v1/ai/models/tessera-embed-384"),
      await as("POST", "/v1/ai/models/pull", { model: "tiny" }),
      await as("GET", "/v1/ai/models/pulls"),
      await as("GET", "/v1/ai/models/pulls/x"),
      await as("DELETE", "/v1/ai/models/pulls/x"),
      await as("DELETE", "/v1/ai/models/tiny"),
    ]) {
      t.equal(reply.status, 403);
      t.match(reply.body.error, { code: "forbidden", message: /permission/ });
    }
    t.equal(
      (await server.sql("SELECT name FROM LIST_MODELS()", [], { token })).status,
      200,
      "all may see what they can use",
    );
  }
  t.equal((await server.call("GET", "/v1/ai/models", undefined, { token: null })).status, 401);
  t.notOk(hub.requests.some((line) => line.includes("/x/")));
  const socket = await connected(user);
  t.teardown(() => socket.destroy());
  socket.send({ type: "model.pull", id: "p", model: "tiny" });
  t.match(await socket.next(), { type: "error", code: "forbidden" });
});

t.test("nor may tools, whoever lets them be called", async (t) => {
  serve(hub, "tool-made");
  const sql = "SELECT PULL_MODEL('tool-made')";
  const params = { name: "execute", arguments: { sql } };
  const { body } = await call("POST", "/v1/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params });
  t.equal(body.result.isError, true);
  t.match(body.result.content[0].text, /permission/);
  t.notOk(hub.requests.some((line) => line.includes("tool-made")));
});

t.test("what was pulled is there after a restart; what was half pulled is not", async (t) => {
  serve(hub, "kept");
  serve(hub, "half", 90_000);
  await pull({ model: "kept", wait: true });
  let sent = false;
  hub.misbehave.set("/half/latest/padding.bin", (_request, response, content) => {
    response.writeHead(200, { "content-length": content.length });
    response.write(content.subarray(0, 40_000), () => {
      sent = true;
    });
    return true;
  });
  await pull({ model: "half" });
  while (!sent) await new Promise((resolve) => setTimeout(resolve, 10));
  await server.kill();
  await server.boot();
  t.ok((await names()).includes("kept"));
  t.notOk((await names()).includes("half"));
  t.equal((await embed("kept")).status, 200);
  hub.misbehave.clear();
  t.equal((await pull({ model: "half", wait: true })).status, 200);
  t.equal((await embed("half")).status, 200);
});

t.test("a pull does not keep the server from ending", async (t) => {
  serve(hub, "stuck", 70_000);
  hub.misbehave.set("/stuck/latest/padding.bin", () => true);
  const waiting = pull({ model: "stuck", wait: true });
  while (!hub.requests.some((line) => line.includes("/stuck/latest/padding.bin"))) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  t.equal(await server.terminate(), 0);
  t.match(await waiting, { status: 503, body: { error: { code: "shutting_down" } } });
});
