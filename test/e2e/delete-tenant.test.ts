/**
 * A tenant is deleted: whoever was at work in it is turned away, nothing of it is left in the engine and in files, not
 * even after kill -9 in the middle, and another tenant of the same name begins with nothing.
 */
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { FIRST_BRANCH } from "../../src/storage/branch-list.js";
import { entriesOf } from "../../src/storage/history-cursors.js";
import { SHARD_TENANT, SPACE, tenantOfKey } from "../../src/storage/keys.js";
import { RocksEngine } from "../../src/storage/rocksdb-engine.js";
import { sized } from "../lengths.js";
import { SeededRandom } from "../simulation/seeded-random.js";
import { type Reply, TestServer } from "./server.js";
import { SocketClient } from "./socket-client.js";

t.setTimeout(300_000);

/** From which on a table's columns are kept in files. */
const LONG = 40_000;
const ROUNDS = Number(process.env.ROUNDS ?? sized(1, 40));
const SEED = Number(process.env.SEED ?? 1);
const PASSWORD = "a password that is long";

/** What the directory knows of it goes at once; what its partition has, soon. */
async function removed(server: TestServer, tenant: string): Promise<Reply["body"]> {
  for (;;) {
    const { data } = (await server.expect(200, "GET", `/admin/tenants/${tenant}/deletion`)).body;
    if (data.state === "done") return data;
    await sleep(20);
  }
}

async function backedUp(server: TestServer, id: string): Promise<Reply["body"]> {
  for (;;) {
    const { data } = (await server.expect(200, "GET", `/admin/backups/${id}`)).body;
    if (data.status !== "running") return data;
    await sleep(20);
  }
}

const remove = (server: TestServer, tenant: string) =>
  server.expect(202, "DELETE", `/admin/tenants/${tenant}?confirm=${tenant}`);

/** Of a server that is stopped: keys and files of the tenants, of branches, and of anybody's past. */
async function leftovers(server: TestServer, ...tenants: number[]): Promise<string[]> {
  const { directory } = server;
  const found: string[] = [];
  const isOf = (tenant: number): boolean => tenants.includes(tenant) || tenant >= FIRST_BRANCH;
  for (const partition of readdirSync(directory).filter((name) => name.startsWith("partition-"))) {
    const engine = await RocksEngine.open({ directory: join(directory, partition, "rocksdb") });
    for (const { key } of entriesOf(engine.cursor({ gte: Buffer.alloc(0), lt: Buffer.alloc(8, 0xff) }))) {
      const own = tenantOfKey(key);
      const text = own === SHARD_TENANT && key[4] === SPACE.meta ? Buffer.from(key.subarray(5)).toString() : "";
      const kept: readonly number[] = [SPACE.history, SPACE.hidden, SPACE.since, SPACE.stamps, SPACE.flat];
      const isBeside = own === SHARD_TENANT && kept.includes(key[4]!);
      const named = /^(?:job|watch|history|branch)\/(\d+)/.exec(text);
      if (isOf(own) || isBeside || (named !== null && isOf(Number(named[1])))) {
        found.push(text || Buffer.from(key).toString("hex"));
      }
    }
    await engine.close();
  }
  return [...found, ...tenants.flatMap((tenant) => files(server, `${tenant}-`)), ...files(server, "1073")];
}

/** Files of the tenants' indexes and columns, by the beginning of their names. */
function files({ directory }: TestServer, begin: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => new RegExp(`^partition-\\d+/(indexes|columns)/${begin}[^/]*$`).test(name))
    .map((name) => name.replace(/^partition-\d+\//, ""))
    .sort();
}

/** Some of everything that a tenant can have. Its administrator's token. */
async function filled(server: TestServer, tenant: string): Promise<string> {
  const token = await server.tenant(tenant, ["super_admin"]);
  const as = { token };
  const inBranch = (name: string) => ({ token, headers: { "x-tessera-branch": name } });
  await server.expect(200, "PUT", "/v1/history", { window_seconds: 3600 }, as);
  await server.rows("CREATE TABLE long (id serial PRIMARY KEY, a int, b text, v vector(4))", [], as);
  await server.rows("CREATE INDEX long_v ON long USING hnsw (v vector_cosine_ops)", [], as);
  await server.rows("CREATE INDEX long_b ON long USING gin (to_tsvector('english', b))", [], as);
  await server.rows("CREATE TABLE wide (id int PRIMARY KEY, a int, b text)", [], as);
  const vector = "INSERT INTO long (a, b, v) SELECT i, 'secret ' || i, '[1,2,3,4]' FROM generate_series(1, 2000) i";
  await server.rows(vector, [], as);
  await server.rows(`INSERT INTO wide SELECT i, i % 9, 'b' || i % 99 FROM generate_series(1, ${LONG}) i`, [], as);
  await server.rows("UPDATE long SET a = 0 WHERE id <= 1000", [], as);
  await server.expect(201, "POST", "/v1/collections", { name: "letter" }, as);
  await server.expect(201, "POST", "/v1/collections/letter/documents", { id: "one", text: "secret" }, as);
  await server.expect(200, "POST", "/v1/graph/match", { cypher: "CREATE (:P {a: 1})-[:K]->(:P {a: 2})" }, as);
  await server.expect(201, "POST", "/v1/branches", { name: "trunk" }, as);
  await server.rows("UPDATE long SET a = 1 WHERE id <= 1500", [], inBranch("trunk"));
  await server.expect(201, "POST", "/v1/branches", { name: "twig", from: "trunk" }, as);
  await server.rows("DELETE FROM long WHERE id <= 100", [], inBranch("twig"));
  for (const each of [as, inBranch("trunk")]) {
    await server.rows("SELECT id FROM long ORDER BY v <=> '[1,2,3,4]' LIMIT 3", [], each);
    const search = "SELECT count(*) FROM long WHERE to_tsvector('english', b) @@ to_tsquery('english', 'secret')";
    await server.rows(search, [], each);
  }
  await server.expect(201, "POST", "/v1/backup-schedules", { cron: "0 3 1 1 *" }, as);
  const backup = (await server.expect(202, "POST", "/v1/backups", {}, as)).body.data.id;
  while ((await server.call("GET", `/v1/backups/${backup}`, undefined, as)).body.data.status === "running")
    await sleep(20);
  const issuer = { issuer: "https://login.example.com", audience: [tenant], roles_claim: "g", roles: { s: "user" } };
  await server.expect(200, "PUT", `/admin/tenants/${tenant}/oidc/corp`, issuer);
  return token;
}

/** Whoever comes under the same name finds nothing of the tenant that was. */
async function isEmpty(t: Test, server: TestServer, tenant: string): Promise<string> {
  const token = await server.tenant(tenant, ["super_admin"]);
  const as = { token };
  const get = async (path: string) => (await server.expect(200, "GET", path, undefined, as)).body.data;
  t.equal((await server.sql("SELECT * FROM long", [], as)).body.error.details.sqlstate, "42P01");
  t.same(await server.rows("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", [], as), [[0]]);
  t.same((await get("/v1/branches")).branches, []);
  t.match(await get("/v1/history"), { kept: false });
  t.same((await get("/v1/collections")).items, []);
  t.same((await get("/v1/api-keys")).keys, []);
  t.same((await get("/v1/backups")).backups, []);
  const earlier = (await get("/admin/audit")).entries.filter(
    ({ action }: { action: string }) => action !== "auth.login",
  );
  t.same(earlier, [], "what was done in the tenant that was");
  t.same((await get("/v1/backup-schedules")).schedules, []);
  t.same((await get(`/admin/tenants/${tenant}/oidc`)).providers, []);
  t.same((await get(`/admin/tenants/${tenant}/users`)).total, 1);
  await server.rows("CREATE TABLE long (id serial PRIMARY KEY)", [], as);
  t.same(await server.rows("INSERT INTO long DEFAULT VALUES RETURNING id", [], as), [[1]]);
  return token;
}

const server = await TestServer.start({ TESSERA_ACTORS: "2" });
t.teardown(() => server.stop());

t.test("a tenant that is deleted", async (t) => {
  const token = await filled(server, "leaves");
  const as = { token };
  const other = { token: await server.tenant("stays") };
  await server.rows("CREATE TABLE long (id int PRIMARY KEY)", [], other);
  await server.rows("INSERT INTO long SELECT * FROM generate_series(1, 100)", [], other);
  while (files(server, "2-").length === 0) await sleep(50);
  // Indexes in memory are saved when the server ends.
  await server.terminate();
  await server.boot();
  const found = new Set(files(server, "2-").map((name) => name.split("-")[0]));
  t.same(found, new Set(["columns/2", "indexes/2"]), "it has files of both kinds");
  t.ok(files(server, "1073").length > 0, "and its branch has some");
  const secretOf = async (auth: object) =>
    (await server.expect(200, "GET", "/v1/automl/webhook-secret", undefined, auth)).body.data.secret;
  const secret = await secretOf(as);
  const key = (await server.expect(201, "POST", "/v1/api-keys", { name: "k" }, as)).body.data.raw_key;
  const { id } = (await server.expect(201, "POST", "/v1/transactions", {}, as)).body.data;
  await server.expect(200, "POST", `/v1/transactions/${id}/execute`, { sql: "DELETE FROM wide" }, as);
  const socket = await SocketClient.open(server.url, "/v1/ws", { authorization: `Bearer ${token}` });
  t.teardown(() => socket.destroy());
  socket.send({ type: "subscribe", table: "long" });
  await socket.next();
  const running = server.sql("SELECT count(*) FROM wide a, wide b WHERE a.a + b.a < 0", [], as);

  const refused = async (path: string, status: number, code: string) => {
    const { status: got, body } = await server.call("DELETE", `/admin/tenants/${path}`);
    t.same([got, body.error.code], [status, code], path);
  };
  await refused("leaves", 400, "invalid_request");
  await refused("leaves?confirm=stays", 400, "invalid_request");
  await refused("system?confirm=system", 409, "conflict");
  await refused("nobody?confirm=nobody", 404, "tenant_not_found");
  t.equal((await server.call("DELETE", "/admin/tenants/leaves?confirm=leaves", undefined, as)).status, 403);
  t.same(await server.rows("SELECT count(*) FROM long", [], as), [[2000]], "nothing has happened so far");

  const whole = (await server.expect(202, "POST", "/admin/backups", {})).body.data.id;
  await refused("leaves?confirm=leaves", 409, "conflict");
  await backedUp(server, whole);

  t.match((await remove(server, "leaves")).body.data, { tenant: "leaves", started_at: String });
  await refused("leaves?confirm=leaves", 404, "tenant_not_found");
  t.equal((await server.call("GET", "/admin/tenants/leaves")).body.error.code, "tenant_not_found");
  t.equal((await server.sql("SELECT 1", [], as)).status, 401, "its sessions");
  t.equal((await server.sql("SELECT 1", [], { token: null, headers: { "x-api-key": key } })).status, 401, "its keys");
  const login = { username: "leaves-user", password: PASSWORD };
  t.equal((await server.call("POST", "/v1/auth/login", login, { token: null })).status, 401, "its users");
  t.ok((await running).status >= 400, "what was running");
  while (socket.closed === null) await sleep(5);
  t.same((await removed(server, "leaves")).tenant, "leaves");
  const { tenants } = (await server.expect(200, "GET", "/admin/tenants")).body.data;
  t.same(tenants.map((each: { id: string }) => each.id).sort(), ["stays", "system"]);
  const { partitions } = (await server.expect(200, "GET", "/admin/placement")).body.data;
  t.equal(
    partitions.reduce((sum: number, one: { tenants: number }) => sum + one.tenants, 0),
    2,
  );
  const { entries } = (await server.expect(200, "GET", "/admin/audit?action=admin.tenants.delete")).body.data;
  const [entry] = entries.filter(({ outcome }: { outcome: string }) => outcome === "ok");
  t.match(entry, { username: "admin", target: ["leaves"], status: 202 });

  await server.terminate();
  t.same(await leftovers(server, 2), []);
  await server.boot();
  const later = await isEmpty(t, server, "leaves");
  t.not(await secretOf({ token: later }), secret, "what signs its webhooks");
  const next = (await server.expect(202, "POST", "/admin/backups", { incremental: true })).body.data.id;
  await backedUp(server, next);
  const kindsOf = (tenant: string): string[] => {
    const folder = join(server.directory, "backups", "_installation", "tenants", tenant);
    return readdirSync(folder).map((id) => JSON.parse(readFileSync(join(folder, id, "manifest.json"), "utf8")).kind);
  };
  t.same(kindsOf("leaves"), ["full", "full"], "no backup of one tenant continues another tenant's");
  t.same(kindsOf("stays").sort(), ["full", "incremental"]);
  t.same(await server.rows("SELECT count(*) FROM long", [], other), [[100]], "another tenant has what it had");
});

t.test("a backup that is being uploaded while its tenant is deleted is no other tenant's", async (t) => {
  const as = { token: await server.tenant("late", ["super_admin"]) };
  await server.rows("CREATE TABLE secret (id int)", [], as);
  const { id } = (await server.expect(202, "POST", "/v1/backups", {}, as)).body.data;
  while ((await server.call("GET", `/v1/backups/${id}`, undefined, as)).body.data.status === "running") await sleep(20);
  const archive = await fetch(`${server.url}/v1/backups/${id}/download`, {
    headers: { authorization: `Bearer ${as.token}` },
  });
  const bytes = Buffer.from(await archive.arrayBuffer());
  const backups = join(server.directory, "backups");
  const upload = request(`${server.url}/admin/tenants/late/backups`, {
    method: "POST",
    headers: { authorization: `Bearer ${server.token}`, "content-type": "application/octet-stream" },
  });
  const answered = once(upload, "response");
  upload.write(bytes.subarray(0, bytes.length - 1));
  while (!readdirSync(backups).includes("_incoming") || readdirSync(join(backups, "_incoming")).length === 0)
    await sleep(5);
  await remove(server, "late");
  await removed(server, "late");
  const next = { token: await server.tenant("late", ["super_admin"]) };
  upload.end(bytes.subarray(bytes.length - 1));
  const [response] = (await answered) as [IncomingMessage];
  t.equal(response.statusCode, 404);
  t.match(await text(response), /tenant_not_found/);
  t.same((await server.expect(200, "GET", "/v1/backups", undefined, next)).body.data.backups, []);
  t.notOk(readdirSync(backups).includes("late"), "nothing of it is on the disk");
  t.same(readdirSync(join(backups, "_incoming")), []);
});

t.test("kill -9 at any moment of it", async (t) => {
  const random = new SeededRandom(SEED);
  const server = await TestServer.start({ TESSERA_ACTORS: "1" });
  t.teardown(() => server.stop());
  const counts = { none: 0, begun: 0, answered: 0, done: 0 };
  for (let round = 1; round <= ROUNDS; round++) {
    const tenant = `killed${round}`;
    const as = { token: await server.tenant(tenant, ["super_admin"]) };
    await server.expect(200, "PUT", "/v1/history", { window_seconds: 3600 }, as);
    await server.rows("CREATE TABLE item (id int PRIMARY KEY, v int)", [], as);
    await server.rows("CREATE INDEX item_v ON item (v)", [], as);
    await server.rows("INSERT INTO item SELECT i, 0 FROM generate_series(1, 3000) i", [], as);
    for (const from of [null, "a"]) {
      const name = from === null ? "a" : "b";
      await server.expect(201, "POST", "/v1/branches", { name, from }, as);
      const inBranch = { ...as, headers: { "x-tessera-branch": name } };
      await server.rows("UPDATE item SET v = v + 1 WHERE id <= 500", [], inBranch);
    }
    for (let isThere = true; isThere; ) {
      const asked = server.call("DELETE", `/admin/tenants/${tenant}?confirm=${tenant}`).then(
        ({ status }) => status === 202 || status === 404,
        () => false,
      );
      if (random.chance(0.3)) await sleep(random.next() * 30);
      else {
        await asked;
        await sleep(random.next() * 200);
      }
      await server.kill();
      const isAnswered = await asked;
      await server.boot();
      const { status, body } = await server.call("GET", `/admin/tenants/${tenant}/deletion`);
      isThere = (await server.call("GET", `/admin/tenants/${tenant}`)).status === 200;
      t.ok(!(isAnswered && isThere), `round ${round}: what was acknowledged is so`);
      t.equal(status === 404, isThere, `round ${round}: it is there, or being deleted`);
      counts[isThere ? "none" : !isAnswered ? "begun" : body.data.state === "done" ? "done" : "answered"]++;
      t.equal((await server.sql("SELECT count(*) FROM item", [], as)).status, isThere ? 200 : 401);
    }
    await removed(server, tenant);
  }
  t.comment(JSON.stringify(counts));
  await server.terminate();
  t.same(await leftovers(server, ...Array.from({ length: ROUNDS }, (_, i) => 2 + i)), []);
});
