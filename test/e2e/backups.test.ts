/**
 * Backups over HTTP: made beside writers, continued from the log, encrypted, restored into another tenant and in place,
 * as of a moment; damage and wrong passphrases are found before anything is touched, and a restore that a crash cut
 * short is never served.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import t from "tap";
import { type Reply, TestServer } from "./server.js";

/** Two partitions. From a restart on one actor has both. */
const environment = { TESSERA_ACTORS: "2" };
const server = await TestServer.start(environment);
t.teardown(() => server.stop());
t.setTimeout(300_000);
const as = { token: await server.tenant("acme", ["super_admin"]) };

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function backUp(body: object = {}): Promise<Reply["body"]> {
  const { id } = (await server.expect(202, "POST", "/v1/backups", body, as)).body.data;
  for (;;) {
    const { data } = (await server.expect(200, "GET", `/v1/backups/${id}`, undefined, as)).body;
    if (data.status !== "running") return data;
    await pause(25);
  }
}

async function restored(tenant: string, body: object): Promise<Reply["body"]> {
  await server.expect(202, "POST", `/admin/tenants/${tenant}/restore`, body);
  for (;;) {
    const { data } = (await server.expect(200, "GET", `/admin/tenants/${tenant}/restore`)).body;
    if (data.finished_at !== null) return data;
    await pause(25);
  }
}

const dataFile = (id: string): string => join(server.directory, "backups", "acme", id, "data.bak");

await server.rows("CREATE TABLE item (id integer PRIMARY KEY, name text, v vector(3))", [], as);
await server.rows("CREATE INDEX item_name ON item (name)", [], as);
await server.rows("CREATE INDEX item_v ON item USING hnsw (v vector_cosine_ops)", [], as);
await server.rows(
  "INSERT INTO item SELECT n, 'item ' || n, ARRAY[n, n % 7, 1]::vector FROM generate_series(1, 3000) AS s (n)",
  [],
  as,
);
await server.expect(
  200,
  "POST",
  "/v1/graph/match",
  { cypher: "CREATE (:City {name:'Faro'})-[:NEAR]->(:City {name:'Olhao'})" },
  as,
);
await server.rows("DELETE FROM item WHERE id = 17", [], as);

let full: Reply["body"];

t.test("a backup beside a writer is a moment of the tenant", async (t) => {
  let stop = false;
  let last = 0;
  const writer = (async () => {
    while (!stop) {
      last++;
      await server.rows("INSERT INTO item VALUES ($1, 'written meanwhile', '[1,2,3]')", [100_000 + last], as);
    }
  })();
  full = await backUp();
  stop = true;
  await writer;
  t.match(full, { status: "completed", kind: "full", base: null, encrypted: false, error: null });
  t.match(full.digest, /^[0-9a-f]{64}$/);
  t.match((await server.expect(200, "POST", `/v1/backups/${full.id}/verify`, {}, as)).body.data, {
    files: 1,
    entries: full.entries,
  });

  const copy = { token: await server.tenant("copy", ["super_admin"]) };
  const done = await restored("copy", { backup: full.id, from: "acme" });
  t.match(done, { state: "completed", verified: true, error: null });
  const [[count, top]] = (await server.rows("SELECT count(*), max(id) FROM item", [], copy)) as [[number, number]];
  t.equal(count, 2999 + (top > 100_000 ? top - 100_000 : 0), "what the writer had written is there without gaps");
  t.equal((await server.rows("SELECT id FROM item WHERE name = 'item 42'", [], copy))[0]![0], 42, "by its index");
  const near = await server.rows("SELECT id FROM item ORDER BY v <=> '[42,0,1]' LIMIT 1", [], copy);
  t.equal(near.length, 1, "by its vectors");
  const match = { cypher: "MATCH (a:City)-[:NEAR]->(b) RETURN b.name" };
  t.strictSame((await server.expect(200, "POST", "/v1/graph/match", match, copy)).body.data.rows, [["Olhao"]]);
  await server.rows("INSERT INTO item VALUES (-1, 'the copy goes on', null)", [], copy);
  t.strictSame(
    await server.rows("SELECT count(*) FROM item WHERE id = -1", [], as),
    [[0]],
    "and the other does not see it",
  );
});

t.test("an incremental backup holds what came since, and every moment of it", async (t) => {
  await server.rows("UPDATE item SET name = 'renamed' WHERE id = 1", [], as);
  await pause(5);
  const between = new Date().toISOString();
  await pause(5);
  await server.rows("DROP TABLE item", [], as);
  const next = await backUp({ incremental: true });
  t.match(next, { kind: "incremental", base: full.id, status: "completed", note: null });
  t.ok(next.bytes < full.bytes);
  const copy = { token: await server.tenant("earlier", ["super_admin"]) };
  t.match(await restored("earlier", { backup: next.id, from: "acme", until: between }), {
    state: "completed",
    verified: null,
  });
  t.strictSame(await server.rows("SELECT name FROM item WHERE id = 1", [], copy), [["renamed"]]);
  t.match(await restored("earlier", { backup: next.id, from: "acme", replace: true }), {
    state: "completed",
    verified: true,
  });
  t.match(
    (await server.sql("SELECT 1 FROM item", [], copy)).body.error.message,
    /does not exist/,
    "it was dropped later",
  );
  t.equal((await server.call("DELETE", `/v1/backups/${full.id}`, undefined, as)).status, 409, "another continues it");

  t.match(await restored("acme", { backup: full.id }), { state: "failed", error: { code: "conflict" } });
  t.match(await restored("acme", { backup: full.id, replace: true }), { state: "completed", verified: true });
  t.strictSame(await server.rows("SELECT name FROM item WHERE id = 1", [], as), [["item 1"]], "in place");
});

t.test("the removal of a branch removes nothing of what is restored", async (t) => {
  const token = await server.tenant("forked", ["super_admin"]);
  const own = { token };
  await server.rows("CREATE TABLE kept (id int PRIMARY KEY)", [], own);
  await server.rows("INSERT INTO kept SELECT generate_series(1, 500)", [], own);
  const backUpOwn = async (body: object): Promise<string> => {
    const { id } = (await server.expect(202, "POST", "/v1/backups", body, own)).body.data;
    for (;;) {
      const { data } = (await server.expect(200, "GET", `/v1/backups/${id}`, undefined, own)).body;
      if (data.status !== "running") return id;
      await pause(25);
    }
  };
  await backUpOwn({});
  await server.expect(201, "POST", "/v1/branches", { name: "b" }, own);
  await server.rows("DELETE FROM kept", [], { ...own, headers: { "X-Tessera-Branch": "b" } });
  await server.expect(204, "DELETE", "/v1/branches/b", undefined, own);
  const copy = { token: await server.tenant("unforked", ["super_admin"]) };
  for (const body of [{ incremental: true }, {}]) {
    const backup = await backUpOwn(body);
    const done = await restored("unforked", { backup, from: "forked", replace: true });
    t.match(done, { state: "completed", error: null }, JSON.stringify(body));
    t.strictSame(await server.rows("SELECT count(*) FROM kept", [], copy), [[500]]);
  }
});

t.test("branches come back with what they began with, and merge", async (t) => {
  const token = await server.tenant("branched", ["super_admin"]);
  const of = (own: { token: string }, branch: string) => ({ ...own, headers: { "X-Tessera-Branch": branch } });
  const own = { token };
  const take = async (body: object): Promise<string> => {
    const { id } = (await server.expect(202, "POST", "/v1/backups", body, own)).body.data;
    for (;;) {
      const { data } = (await server.expect(200, "GET", `/v1/backups/${id}`, undefined, own)).body;
      if (data.status === "completed") return id;
      if (data.status !== "running") throw new Error(JSON.stringify(data));
      await pause(25);
    }
  };
  await server.rows("CREATE TABLE guest (id int PRIMARY KEY, city text)", [], own);
  await server.rows("CREATE INDEX guest_city ON guest (city)", [], own);
  await server.rows("INSERT INTO guest SELECT n, 'city ' || n FROM generate_series(1, 700) AS s (n)", [], own);
  await server.expect(
    201,
    "POST",
    "/v1/branches",
    { name: "first", ttl_seconds: 5000, quota_bytes: 1e6, users: ["ann"] },
    own,
  );
  await server.rows("UPDATE guest SET city = 'Faro' WHERE id = 1", [], of(own, "first"));
  await server.rows("UPDATE guest SET city = 'Lagos' WHERE id = 2", [], own);
  await server.expect(201, "POST", "/v1/branches", { name: "second", from: "first" }, own);
  await server.rows("CREATE TABLE note (id int PRIMARY KEY)", [], of(own, "second"));
  await server.rows("DELETE FROM guest WHERE id > 600", [], of(own, "second"));
  await take({});
  await server.rows("UPDATE guest SET city = 'Olhao' WHERE id = 3", [], of(own, "first"));
  await server.expect(201, "POST", "/v1/branches", { name: "third" }, own);
  await server.rows("INSERT INTO guest VALUES (1000, 'Tavira')", [], of(own, "third"));
  await pause(5);
  const until = new Date().toISOString();
  await pause(5);
  await server.rows("DELETE FROM guest WHERE id = 1000", [], of(own, "third"));
  const next = await take({ incremental: true });
  // The one who is restored has a branch of that name already.
  const copy = { token: await server.tenant("rebranched", ["super_admin"]) };
  await server.expect(201, "POST", "/v1/branches", { name: "third" }, copy);
  const done = await restored("rebranched", { backup: next, from: "branched", until, replace: true });
  t.match(done, { state: "completed", error: null });
  const { data } = (await server.expect(200, "GET", "/v1/branches", undefined, copy)).body;
  const names = data.branches.map((each: Reply["body"]) => [
    each.name,
    each.from,
    each.quota_bytes,
    each.expires_at !== null,
    each.users,
  ]);
  t.strictSame(names.sort(), [
    ["first", null, 1e6, true, ["ann"]],
    ["second", "first", null, false, ["ann"]],
    ["third", null, null, false, null],
    ["third-restored", null, null, false, null],
  ]);
  const cities = "SELECT id, city FROM guest WHERE id < 4 ORDER BY id";
  t.strictSame(await server.rows(cities, [], copy), [
    [1, "city 1"],
    [2, "Lagos"],
    [3, "city 3"],
  ]);
  t.strictSame(await server.rows(cities, [], of(copy, "first")), [
    [1, "Faro"],
    [2, "city 2"],
    [3, "Olhao"],
  ]);
  t.strictSame(await server.rows("SELECT count(*), max(id) FROM guest", [], of(copy, "second")), [[600, 600]]);
  t.strictSame(await server.rows("SELECT count(*) FROM note", [], of(copy, "second")), [[0]], "its own table");
  t.strictSame(await server.rows("SELECT id FROM guest WHERE city = 'Tavira'", [], of(copy, "third-restored")), [
    [1000],
  ]);
  t.strictSame(
    await server.rows("SELECT id FROM guest WHERE city = 'Faro'", [], of(copy, "second")),
    [[1]],
    "by index",
  );
  const diff = (await server.expect(200, "GET", "/v1/branches/first/diff", undefined, copy)).body.data;
  t.match(diff, { tables: [{ added: 0, removed: 0, changed: 2 }] }, "not what its origin has changed since");
  await server.expect(409, "DELETE", "/v1/branches/first", undefined, copy);
  await server.expect(204, "DELETE", "/v1/branches/second", undefined, copy);
  t.match((await server.expect(200, "POST", "/v1/branches/first/merge", {}, copy)).body.data, { merged: true });
  t.strictSame(await server.rows(cities, [], copy), [
    [1, "Faro"],
    [2, "Lagos"],
    [3, "Olhao"],
  ]);
});

t.test("an encrypted backup needs its passphrase", async (t) => {
  const passphrase = "correct horse battery";
  const sealed = await backUp({ passphrase });
  t.match(sealed, { status: "completed", encrypted: true });
  t.notOk(readFileSync(dataFile(sealed.id)).includes("item 4"));
  await server.expect(200, "POST", `/v1/backups/${sealed.id}/verify`, { passphrase }, as);
  const wrong = await server.call("POST", `/v1/backups/${sealed.id}/verify`, { passphrase: "wrong horse battery" }, as);
  t.match(wrong, { status: 400, body: { error: { code: "invalid_request", details: { field: "passphrase" } } } });
  t.equal((await server.call("POST", `/v1/backups/${sealed.id}/verify`, {}, as)).status, 400);
  const into = { token: await server.tenant("sealed") };
  t.match(await restored("sealed", { backup: sealed.id, from: "acme" }), {
    state: "failed",
    error: { code: "invalid_request" },
  });
  t.match(await restored("sealed", { backup: sealed.id, from: "acme", passphrase }), {
    state: "completed",
    verified: true,
  });
  t.strictSame(await server.rows("SELECT count(*) > 2000 FROM item", [], into), [[true]]);
});

t.test("with a passphrase, what is not encrypted is refused: anybody could have made it", async (t) => {
  const passphrase = "correct horse battery";
  const { id } = await backUp();
  const refusal = { code: "invalid_request", message: /not encrypted.*leave the passphrase out/ };
  const verify = () => server.call("POST", `/v1/backups/${id}/verify`, { passphrase }, as);
  t.match(await verify(), { status: 400, body: { error: { ...refusal, details: { field: "passphrase" } } } });
  await server.tenant("unsealed");
  t.match(await restored("unsealed", { backup: id, from: "acme", passphrase }), { state: "failed", error: refusal });
  const path = join(dirname(dataFile(id)), "manifest.json");
  const manifest = readFileSync(path, "utf8");
  writeFileSync(path, JSON.stringify({ ...JSON.parse(manifest), encrypted: true }));
  t.match(await verify(), { body: { error: { code: "backup_damaged", message: /it is not encrypted/ } } });
  writeFileSync(path, manifest);
});

t.test("damage is found before anything is touched", async (t) => {
  const hurt = await backUp();
  const whole = readFileSync(dataFile(hurt.id));
  const into = { token: await server.tenant("unhurt") };
  await server.rows("CREATE TABLE kept (id integer)", [], into);
  for (const [what, bytes] of [
    [
      "a flipped bit",
      Buffer.from(whole).fill(whole[whole.length >> 1]! ^ 1, whole.length >> 1, (whole.length >> 1) + 1),
    ],
    ["a cut file", whole.subarray(0, whole.length - 40)],
    ["another file", Buffer.from("not a backup at all, but some text of some length")],
  ] as const) {
    writeFileSync(dataFile(hurt.id), bytes);
    const check = await server.call("POST", `/v1/backups/${hurt.id}/verify`, {}, as);
    t.match(check, { status: 422, body: { error: { code: "backup_damaged" } } }, what);
    const done = await restored("unhurt", { backup: hurt.id, from: "acme", replace: true });
    t.match(done, { state: "failed", error: { code: "backup_damaged" } }, what);
    t.strictSame(await server.rows("SELECT count(*) FROM kept", [], into), [[0]], "served as before");
  }
  await server.expect(204, "DELETE", `/v1/backups/${hurt.id}`, undefined, as);
  t.equal((await server.call("GET", `/v1/backups/${hurt.id}`, undefined, as)).status, 404);
  t.notOk(readdirSync(join(server.directory, "backups", "acme")).includes(hurt.id));
});

t.test("whose backups they are", async (t) => {
  const other = { token: await server.tenant("other", ["super_admin"]) };
  t.equal((await server.call("GET", `/v1/backups/${full.id}`, undefined, other)).status, 404);
  t.equal(
    (await server.call("POST", "/admin/tenants/other/restore", { backup: full.id, from: "acme" }, other)).status,
    403,
  );
  t.equal((await server.call("POST", "/admin/tenants/acme/restore", { backup: full.id }, other)).status, 403);
  const member = { token: await server.tenant("plain") };
  t.equal((await server.call("POST", "/v1/backups", {}, member)).status, 403);
  for (const id of ["nothing", "../acme", "bak_00000000000000000000000000000000"]) {
    const path = `/v1/backups/${encodeURIComponent(id)}`;
    t.equal((await server.call("GET", path, undefined, as)).status, 404, id);
  }
  t.match(await restored("plain", { backup: "bak_00000000000000000000000000000000" }), {
    state: "failed",
    error: { code: "not_found" },
  });
  t.equal((await server.call("POST", "/v1/backups", { passphrase: "short" }, as)).status, 400);
});

/**
 * A restore that is at work when this returns; a machine that is too fast for the polling gets a tenant twice as large.
 */
async function restoreUnderWay(): Promise<{ tenant: string; backup: string; rows: number }> {
  for (let rows = 25_000; ; rows *= 2) {
    const tenant = `crashed_${rows}`;
    await server.tenant(tenant);
    await server.rows(
      "INSERT INTO filler SELECT n FROM generate_series($1::int, $2::int) AS s (n)",
      [rows / 2, rows],
      as,
    );
    const backup = (await backUp()).id;
    await server.expect(202, "POST", `/admin/tenants/${tenant}/restore`, { backup, from: "acme" });
    for (;;) {
      const { data } = (await server.expect(200, "GET", `/admin/tenants/${tenant}/restore`)).body;
      if (data.state === "restoring" && data.entries > 0) return { tenant, backup, rows };
      if (data.finished_at !== null) break;
    }
  }
}

t.test("a restore that a crash cut short is not served, and can be done again", async (t) => {
  await server.rows("CREATE TABLE filler (id integer)", [], as);
  const { tenant, backup, rows } = await restoreUnderWay();
  await server.kill();
  environment.TESSERA_ACTORS = "1";
  await server.boot();
  const into = { token: await await server.login(`${tenant}-user`, `password of ${tenant}`) };
  const refused = await server.sql("SELECT 1", [], into);
  t.match(refused, { status: 503, body: { error: { message: /restore/ } } });
  const told = (await server.expect(200, "GET", `/admin/tenants/${tenant}/restore`)).body.data;
  t.match(told, { tenant, backup, state: "failed", error: { message: /interrupted.*restore the tenant again/ } });
  t.match(await restored(tenant, { backup, from: "acme" }), { state: "completed", verified: true });
  t.strictSame(await server.rows("SELECT count(*) >= $1 FROM filler", [rows / 2], into), [[true]]);
});

/**
 * Kills the server as soon as a backup has begun to write; gives the backup's id. A machine that ends the backup before
 * the signal arrives gets twice as many rows.
 */
async function backupCutShort(): Promise<string> {
  for (let rows = 25_000; ; rows *= 2) {
    const { id } = (await server.expect(202, "POST", "/v1/backups", {}, as)).body.data;
    const folder = join(server.directory, "backups", "acme", id);
    while (!existsSync(join(folder, "unfinished")) && !existsSync(join(folder, "manifest.json"))) await pause(1);
    await server.kill();
    await server.boot();
    if (existsSync(join(folder, "unfinished"))) return id;
    await server.rows("INSERT INTO filler SELECT n FROM generate_series(1, $1::int) AS s (n)", [rows], as);
  }
}

t.test("a backup that a crash cut short is told as failed, and goes when it is deleted or made again", async (t) => {
  const left = async () =>
    (await server.expect(200, "GET", "/v1/backups", undefined, as)).body.data.backups.filter(
      ({ status }: { status: string }) => status === "failed",
    );
  const first = await backupCutShort();
  t.match(await left(), [{ id: first, error: { message: /Make another backup/ } }]);
  t.match((await server.expect(200, "GET", `/v1/backups/${first}`, undefined, as)).body.data, { status: "failed" });
  await server.expect(204, "DELETE", `/v1/backups/${first}`, undefined, as);
  await server.expect(404, "GET", `/v1/backups/${first}`, undefined, as);
  const second = await backupCutShort();
  t.match(await left(), [{ id: second }]);
  t.match(await backUp(), { status: "completed" });
  t.same(await left(), []);
  t.notOk(existsSync(join(server.directory, "backups", "acme", second)));
});

t.test("the list of backups says that the tenant is being restored while the backup is still read", async (t) => {
  const whole = await backUp();
  const isRestoring = async (): Promise<boolean> =>
    (await server.call("GET", "/v1/backups", undefined, as)).body.data?.restoring;
  t.equal(await isRestoring(), false);
  // A quick machine may have read it before the first question.
  for (let seen = false; !seen; ) {
    let isOver = false;
    const work = restored("acme", { backup: whole.id, replace: true }).finally(() => {
      isOver = true;
    });
    while (!isOver) seen = (await isRestoring()) === true || seen;
    t.match(await work, { state: "completed" });
  }
  t.equal(await isRestoring(), false);
});
