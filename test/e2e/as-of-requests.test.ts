/** `as_of` of requests about documents and vectors: they read what was there then, and writes refuse it. */
import t from "tap";
import { branchCalls } from "./branch-calls.js";
import { TestServer } from "./server.js";

const server = await TestServer.sharedInstallation();
t.teardown(() => server.stop());

const { fork, rows, sequence } = branchCalls(server);

t.test("documents and vectors are read and searched as of a moment", async (t) => {
  const token = await server.tenant("then", ["super_admin"]);
  const ask = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const { status, body: answer } = await server.call(method, path, body, { token, headers });
    return { status, data: answer.data, error: answer.error };
  };
  const fields = [{ name: "title", type: "string" }];
  const indexes = [{ name: "words", fields: ["title"], type: "text" }];
  await ask("POST", "/v1/collections", { name: "note", schema: { fields, indexes } });
  await ask("POST", "/v1/collections/note/documents", { id: "a", title: "deep woods" });
  await ask("POST", "/v1/vectors/collections", { name: "point", dimensions: 2 });
  await ask("POST", "/v1/vectors/collections/point/vectors", { id: "p", vector: [1, 0], metadata: { n: 1 } });
  const search = (body: object) => ask("POST", "/v1/collections/note/search", { query: "woods", ...body });
  t.match(await search({ as_of: 1 }), { status: 400, error: { details: { sqlstate: "55000" } } }, "nothing is kept");
  await ask("PUT", "/v1/history", { window_seconds: 3600 });
  const before = await sequence(token);
  const time = new Date().toISOString();
  await ask("PUT", "/v1/collections/note/documents/a", { title: "open fields" });
  await ask("POST", "/v1/collections/note/documents", { id: "b", title: "young woods" });
  await ask("DELETE", "/v1/vectors/collections/point/vectors/p");
  await ask("POST", "/v1/vectors/collections/point/vectors", { id: "q", vector: [0, 1] });
  const ids = (data: { documents: { id: string }[] }) => data.documents.map(({ id }) => id);
  for (const as_of of [before, String(before), time]) {
    t.same(ids((await search({ as_of })).data), ["a"], `searched as of ${as_of}`);
    const query = `as_of=${encodeURIComponent(as_of)}`;
    t.match(await ask("GET", `/v1/collections/note/documents/a?${query}`), { data: { title: "deep woods" } });
    t.equal((await ask("GET", `/v1/collections/note/documents/b?${query}`)).status, 404);
    const list = await ask("GET", `/v1/collections/note/documents?limit=5&${query}`);
    t.match(list.data, { total: 1, documents: [{ id: "a", title: "deep woods" }] });
    const near = await ask("POST", "/v1/vectors/collections/point/search", { vector: [0, 1], limit: 5, as_of });
    t.match(near.data, [{ id: "p", metadata: { n: 1 } }]);
    t.equal(near.data.length, 1);
    t.match(await ask("GET", `/v1/vectors/collections/point/vectors/p?${query}`), { data: { vector: [1, 0] } });
  }
  t.same(ids((await search({})).data), ["b"], "without it: now");
  t.match(await search({ as_of: "yesterday" }), {
    status: 400,
    error: { code: "invalid_request", message: /^as_of must be a time/, details: { field: "as_of" } },
  });
  t.match(await search({ as_of: -1 }), { status: 400, error: { code: "invalid_request" } });
  t.match(await search({ as_of: 99_999_999 }), { status: 400, error: { details: { sqlstate: "22023" } } });
  t.match(await search({ as_of: "2020-01-01T00:00:00Z" }), { status: 400, error: { details: { sqlstate: "72000" } } });
  const twice = { "X-Tessera-As-Of": String(before) };
  const both = await ask("POST", "/v1/collections/note/search", { query: "woods", as_of: before }, twice);
  t.match(both, { status: 400, error: { details: { sqlstate: "55000" } } }, "one moment only");
  for (const [method, path, body] of [
    ["DELETE", `/v1/collections/note/documents/b?as_of=${before}`, undefined],
    ["POST", "/v1/collections/note/documents/bulk", { documents: [{ id: "c" }], as_of: before }],
    ["POST", `/v1/collections/note/documents?as_of=${before}`, { id: "c" }],
    ["POST", "/v1/vectors/collections/point/vectors", { id: "r", vector: [1, 1], as_of: before }],
    ["DELETE", `/v1/vectors/collections/point/vectors/q?as_of=${before}`, undefined],
    ["GET", `/v1/collections/note?as_of=${before}`, undefined],
  ] as const) {
    t.match(await ask(method, path, body), { status: 400, error: { code: "invalid_request" } }, `${method} ${path}`);
  }
  t.same(ids((await ask("GET", "/v1/collections/note/documents")).data), ["a", "b"], "nothing was written");
  await fork(token, { name: "b" });
  const inBranch = await ask(
    "POST",
    "/v1/collections/note/search",
    { query: "woods", as_of: before },
    {
      "X-Tessera-Branch": "b",
    },
  );
  t.match(inBranch, { status: 400, error: { details: { sqlstate: "55000" } } }, "the past of a branch is not kept");
});

t.test("as_of shows nothing that a role may not see", async (t) => {
  const token = await server.tenant("unseen", ["super_admin"]);
  const password = "a password of the clerk";
  await server.expect(201, "POST", "/admin/tenants/unseen/users", { username: "clerk4", password, roles: ["user"] });
  const clerk = await server.login("clerk4", password);
  await server.call("POST", "/v1/collections", { name: "note", schema: { fields: [] } }, { token });
  await server.call("POST", "/v1/collections/note/documents", { id: "a", title: "hidden" }, { token });
  await server.call("PUT", "/v1/history", { window_seconds: 3600 }, { token });
  const before = await sequence(token);
  const path = `/v1/collections/note/documents/a?as_of=${before}`;
  t.match((await server.call("GET", path, undefined, { token: clerk })).body.data, { title: "hidden" });
  await rows(token, "ALTER TABLE note ENABLE ROW LEVEL SECURITY");
  const { status, body } = await server.call("GET", path, undefined, { token: clerk });
  t.equal(status, 403);
  t.notMatch(JSON.stringify(body), '"hidden"');
});

t.test("a moment that the engine is still taking is waited for", async (t) => {
  const token = await server.tenant("soon", ["super_admin"]);
  await rows(token, "CREATE TABLE big (id integer PRIMARY KEY, n integer)");
  await server.call("POST", "/v1/collections", { name: "note", schema: { fields: [] } }, { token });
  await server.call("PUT", "/v1/history", { window_seconds: 3600 }, { token });
  await rows(token, "INSERT INTO big SELECT i, 0 FROM generate_series(1, 6000) AS g(i)");
  for (let n = 1; n <= 4; n++) {
    await rows(token, "UPDATE big SET n = n + 1");
    const now = new Date().toISOString();
    const headers = { "X-Tessera-As-Of": now };
    const [byHeader, byField] = await Promise.all([
      server.call("POST", "/v1/query/execute", { sql: "SELECT sum(n)::int FROM big" }, { token, headers }),
      server.call("GET", `/v1/collections/note/documents?as_of=${now}`, undefined, { token }),
    ]);
    t.match(byHeader, { status: 200, body: { data: { rows: [[6000 * n]] } } });
    t.match(byField, { status: 200, body: { data: { total: 0 } } });
  }
});
