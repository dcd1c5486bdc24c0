/** The audit trail: who did what, what was refused, who sees it, what it survives, how much of it is kept. */
import { statSync } from "node:fs";
import t from "tap";
import { ADMIN_PASSWORD, TestServer } from "../e2e/server.js";
import { filesIn } from "../live-files.js";

const server = await TestServer.start({ TESSERA_ACTORS: "2", TESSERA_AUDIT_ENTRIES_MAX: "100" });
t.teardown(() => server.stop());
t.setTimeout(120_000);

interface Entry {
  readonly number: number;
  readonly at: string;
  readonly [key: string]: unknown;
}

const audit = async (query = "", token = server.token): Promise<Entry[]> =>
  (await server.expect(200, "GET", `/admin/audit?${query}`, undefined, { token })).body.data.entries;

/** Refusals are told once a second. */
async function eventually(query: string): Promise<Entry> {
  for (;;) {
    const [entry] = await audit(query);
    if (entry !== undefined) return entry;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

t.test("administration, with who, from where and to what", async (t) => {
  const token = await server.tenant("acme", ["admin"]);
  const [made] = await audit("action=admin.tenants.create");
  t.match(made, {
    action: "admin.tenants.create",
    outcome: "ok",
    status: 201,
    code: null,
    tenant: "system",
    username: "admin",
    address: "127.0.0.1",
    count: 1,
  });
  t.match(await audit("action=admin.users"), [{ action: "admin.users.create", target: ["acme"], outcome: "ok" }]);
  t.equal((await server.call("POST", "/admin/tenants", { id: "acme" })).status, 409);
  t.match((await audit("action=admin.tenants.create"))[0], { outcome: "failed", status: 409, code: "conflict" });
  const key = await server.expect(201, "POST", "/v1/api-keys", { name: "k", permission: "ReadOnly" }, { token });
  t.match(await audit("action=apikeys"), [{ action: "apikeys.create", tenant: "acme", username: "acme-user" }]);
  const provider = { provider: "ollama", base_url: "http://ollama.example:11434", model: "m" };
  await server.call("PUT", "/v1/ai/provider", provider, { token });
  t.match(await eventually("action=ai.provider.set"), { tenant: "acme" }, "told by another actor");
  t.notMatch(JSON.stringify(await audit()), key.body.raw_key, "no secret");
});

t.test("sign-ins and refused credentials", async (t) => {
  const wrong = { username: "acme-user", password: "not the password" };
  t.equal((await server.call("POST", "/v1/auth/login", wrong, { token: null })).status, 401);
  t.match((await audit("action=auth.login&outcome=refused"))[0], {
    code: "invalid_credentials",
    tenant: "acme",
    username: "acme-user",
    address: "127.0.0.1",
  });
  await Promise.all(
    Array.from({ length: 5 }, () => server.call("GET", "/v1/users/me", undefined, { token: "ak_wrong" })),
  );
  t.match(await eventually("action=auth.refused"), { outcome: "refused", status: 401, tenant: null });
  const counts = (await audit("action=auth.refused")).map(({ count }) => count as number);
  t.ok(counts.length <= 2, "equal ones of a second are one entry");
  const token = await server.login("acme-user", "password of acme");
  t.equal((await server.call("GET", "/admin/tenants", undefined, { token })).status, 403);
  t.match(await eventually("action=admin.tenants.list"), {
    code: "forbidden",
    username: "acme-user",
    outcome: "refused",
  });
  t.notMatch(JSON.stringify(await audit("limit=1000")), /not the password|ak_wrong/);
});

/** When the logs of commits were last written to. */
function lastWrite(): number {
  const logs = filesIn(server.directory).filter((file) => /\/log\//.test(file));
  return Math.max(...logs.map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0));
}

t.test("a refusal reaches the disk though nobody writes after it", async (t) => {
  const before = lastWrite();
  await server.call("GET", "/v1/users/me", undefined, { token: "ak_before_the_kill" });
  while (lastWrite() === before) await new Promise((resolve) => setTimeout(resolve, 50));
  await server.kill();
  await server.boot();
  const refused = await audit("action=auth.refused");
  t.ok(Date.parse(refused[0]!.at) > before, "the one of before the kill");
});

t.test("who sees what", async (t) => {
  const credentials = { username: "acme-chief", password: "password of chief" };
  await server.expect(201, "POST", "/admin/tenants/acme/users", { ...credentials, roles: ["super_admin"] });
  const token = await server.login(credentials.username, credentials.password);
  const seen = await audit("limit=1000", token);
  t.ok(seen.length > 0);
  t.ok(
    seen.every(({ tenant }) => tenant === "acme"),
    "only one's own tenant's",
  );
  t.equal((await server.call("GET", "/admin/audit?tenant=system", undefined, { token })).status, 403);
  t.equal((await server.call("GET", "/admin/audit?since=yesterday")).status, 400);
  t.same(await audit("since=2099-01-01T00:00:00Z"), []);
  t.same(await audit("until=2001-01-01T00:00:00Z"), []);
});

t.test("pages; a kill loses nothing; the oldest go", async (t) => {
  const all = await audit("limit=1000");
  const paged: Entry[] = [];
  for (let before = ""; ; ) {
    const { data } = (await server.expect(200, "GET", `/admin/audit?limit=3${before}`)).body;
    paged.push(...data.entries);
    if (data.next_before === null) break;
    before = `&before=${data.next_before}`;
  }
  t.same(
    paged.map(({ number }) => number),
    all.map(({ number }) => number),
  );
  await server.expect(201, "POST", "/admin/tenants", { id: "last" });
  await server.kill();
  await server.boot();
  await server.login("admin", ADMIN_PASSWORD);
  const [signIn, newest] = await audit();
  t.match(signIn, { action: "auth.login", username: "admin" });
  t.match(newest, { action: "admin.tenants.create", outcome: "ok" }, "what was answered is there");
  const bad = { username: "admin", password: `${ADMIN_PASSWORD}!` };
  await Promise.all(
    Array.from({ length: 100 }, (_, i) => server.call("PATCH", "/admin/tenants/last", { name: `name ${i}` })),
  );
  await server.call("POST", "/v1/auth/login", bad, { token: null });
  const kept = await audit("limit=1000");
  t.equal(kept.length, 100);
  t.ok(kept.at(-1)!.number > 1);
});

t.test("the audit of data: doors, callers, branches, and who reads it", async (t) => {
  const token = await server.tenant("ledger", ["super_admin"]);
  const data = async (query = "", as = token): Promise<Entry[]> =>
    (await server.expect(200, "GET", `/admin/audit/data?${query}`, undefined, { token: as })).body.data.entries;
  const call = (method: string, path: string, body?: object) => server.call(method, path, body, { token });
  const must = (sql: string) => server.expect(200, "POST", "/v1/query/execute", { sql }, { token });
  await must("CREATE TABLE salary (id int PRIMARY KEY, amount int)");
  await must("ALTER TABLE salary SET (audit = 'read, write')");
  await must("INSERT INTO salary VALUES (1, 48151)");
  await call("POST", "/v1/query/execute", { sql: "SELECT * FROM salary WHERE amount > $1", parameters: [40404] });
  const [read, written, set] = await data();
  t.match(read, { action: "data.read", door: "query.execute", target: ["salary"], username: "ledger-user" });
  t.match(written, { action: "data.write", tenant: "ledger", key_id: null, outcome: "ok" });
  t.match(set, { action: "data.audit", target: ["salary"] });
  t.match(read!.statement, /^[0-9a-f]{32}$/);
  t.match(read!.parameters, /^[0-9a-f]{32}$/);
  t.notMatch(JSON.stringify(await data()), /48151|40404/, "no values");
  const doors: readonly (readonly [string, string, object | undefined, RegExp])[] = [
    ["POST", "/v1/query/execute/batch", { statements: [{ sql: "SELECT 1" }, { sql: "TABLE salary" }] }, /read salary/],
    ["GET", "/v1/data/export?table=salary&format=csv", undefined, /read salary/],
    ["POST", "/v1/branches", { name: "draft" }, /^$/],
    ["GET", "/v1/branches/draft/diff", undefined, /read salary/],
  ];
  for (const [method, path, body, expected] of doors) {
    const before = (await data("limit=1000")).length;
    const { status } = await call(method, path, body);
    t.ok(status < 300, `${path}: ${status}`);
    const fresh = (await data("limit=1000")).slice(0, -before);
    t.match(fresh.map(({ action, target }) => `${String(action).slice(5)} ${target}`).join(), expected, path);
  }
  const inDraft = { token, headers: { "X-Tessera-Branch": "draft" } };
  await server.expect(200, "POST", "/v1/query/execute", { sql: "UPDATE salary SET amount = 1" }, inDraft);
  t.match(await data("limit=2"), [{ target: ["salary"] }, { target: ["salary"] }], "a branch is in its origin's trail");
  await must("CREATE (:Person {name: 'Ann'})");
  await must(`ALTER TABLE "graph:default".nodes SET (audit = 'read')`);
  await must("MATCH (p:Person) RETURN p.name");
  t.match((await data("limit=1"))[0], { action: "data.read", target: ["graph:default.nodes"] }, "Cypher");
  const other = await server.tenant("others", ["super_admin"]);
  t.same(await data("", other), [], "another tenant has its own");
  const plain = await server.expect(201, "POST", "/v1/api-keys", { name: "r", permission: "ReadOnly" }, { token });
  const before = (await data("limit=1000")).length;
  await server.expect(200, "POST", "/v1/query/execute", { sql: "TABLE salary" }, { token: plain.body.data.raw_key });
  const [byKey] = await data("limit=1000");
  t.equal((await data("limit=1000")).length, before + 1, "a key that only reads is noted");
  t.type(byKey!.key_id, "string");
});
