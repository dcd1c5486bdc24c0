/**
 * Backups of the whole installation, restored into an empty one; schedules; moments beyond the last backup; backups
 * that are carried from one installation to another. Two installations with a folder of backups between them.
 */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { ADMIN_PASSWORD, type Reply, TestServer } from "./server.js";

const shared = mkdtempSync(join(tmpdir(), "tessera-backups-"));
/** Two partitions each. From a restart on one actor has both. */
const environment = { TESSERA_ACTORS: "2", TESSERA_BACKUP_DIRECTORY: shared };
const server = await TestServer.start(environment);
const other = await TestServer.start(environment);
t.teardown(async () => {
  await server.stop();
  await other.stop();
  rmSync(shared, { recursive: true, force: true });
});
t.setTimeout(300_000);
const passphrase = "correct horse battery";
const acme = { token: await server.tenant("acme", ["super_admin"]) };
const beta = { token: await server.tenant("beta", ["super_admin"]) };

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What the path answers when it has ended. */
async function ended(on: TestServer, path: string, options = {}): Promise<Reply["body"]> {
  for (;;) {
    const { data } = (await on.expect(200, "GET", path, undefined, options)).body;
    if (data.finished_at !== null) return data;
    await pause(25);
  }
}

async function wholeBackup(body: object = {}): Promise<Reply["body"]> {
  const { id } = (await server.expect(202, "POST", "/admin/backups", body)).body.data;
  return ended(server, `/admin/backups/${id}`);
}

await server.rows("CREATE TABLE item (id integer PRIMARY KEY, name text)", [], acme);
await server.rows("INSERT INTO item SELECT n, 'item ' || n FROM generate_series(1, 2000) AS s (n)", [], acme);
await server.rows("CREATE TABLE other (id integer PRIMARY KEY)", [], beta);
await server.rows("INSERT INTO other VALUES (7)", [], beta);
await server.rows("CREATE TABLE own (id integer PRIMARY KEY)");
const { raw_key } = (await server.expect(201, "POST", "/v1/api-keys", { name: "of acme" }, acme)).body.data;

t.test("the whole installation is backed up and comes back in an empty one", async (t) => {
  const whole = await wholeBackup({ passphrase });
  t.match(whole, {
    status: "completed",
    kind: "full",
    tenants_total: 3,
    tenants_done: 3,
    encrypted: true,
    error: null,
  });
  t.strictSame(whole.tenants.map((one: { tenant: string }) => one.tenant).sort(), ["acme", "beta", "system"]);
  const path = `/admin/backups/${whole.id}`;
  t.match((await server.expect(200, "POST", `${path}/verify`, { passphrase })).body.data, { files: 4 });
  t.match(await server.call("POST", `${path}/verify`, { passphrase: "wrong horse battery" }), {
    status: 400,
    body: { error: { details: { field: "passphrase" } } },
  });
  t.equal((await server.call("GET", "/admin/backups", undefined, acme)).status, 403, "the operator's alone");
  t.equal((await server.call("GET", `/v1/backups/${whole.id}`, undefined, acme)).status, 404);
  t.equal((await server.expect(200, "GET", "/v1/backups", undefined, acme)).body.data.total, 0, "no tenant's own");

  await server.expect(202, "POST", `${path}/restore`, { passphrase });
  t.match(await ended(server, `${path}/restore`), { state: "failed", error: { message: /not empty.*acme/ } });
  await other.expect(202, "POST", `${path}/restore`, { passphrase: "wrong horse battery" });
  t.match(await ended(other, `${path}/restore`), { state: "failed", error: { code: "invalid_request" } });
  t.equal((await other.expect(200, "GET", "/admin/tenants")).body.data.total, 1, "nothing was touched");

  await other.expect(202, "POST", `${path}/restore`, { passphrase });
  await pause(100);
  await other.kill();
  environment.TESSERA_ACTORS = "1";
  await other.boot();
  const { total } = (await other.expect(200, "GET", "/admin/tenants")).body.data;
  t.ok(total === 1 || total === 3, `all or nothing after a kill: ${total}`);
  await other.expect(202, "POST", `${path}/restore`, {
    passphrase,
    ...(total === 1 ? { replace: true } : { tenants: ["acme", "beta", "system"], replace: true }),
  });
  if (total === 1)
    for (;;) {
      const { status } = await other.call("GET", `${path}/restore`);
      if (status === 401) break;
      await pause(25);
    }
  // The tokens of before are worth nothing: the accounts are the backup's.
  other.token = await other.login("admin", ADMIN_PASSWORD);
  const done = await ended(other, `${path}/restore`);
  t.match(done, { state: "completed", tenants_done: 3, error: null });
  t.ok(
    done.tenants.every((one: { verified: boolean }) => one.verified),
    "the digests are those of the backup",
  );
  const there = { token: await other.login("acme-user", "password of acme") };
  t.strictSame(await other.rows("SELECT count(*) FROM item", [], there), [[2000]]);
  const byKey = { token: null, headers: { authorization: `ApiKey ${raw_key}` } };
  t.strictSame(await other.rows("SELECT count(*) FROM item", [], byKey), [[2000]], "by its API key");
  t.strictSame(await other.rows("SELECT count(*) FROM own"), [[0]], "the system tenant's");
  await other.expect(201, "POST", "/admin/tenants", { id: "later" });
  t.strictSame(
    await other.rows("SELECT id FROM other", [], { token: await other.login("beta-user", "password of beta") }),
    [[7]],
  );
});

t.test("named tenants come into an installation that has others", async (t) => {
  await server.rows("INSERT INTO other VALUES (8)", [], beta);
  const whole = await wholeBackup({ incremental: true });
  t.match(whole, { status: "completed", kind: "full", error: null }, "encrypted differently");
  const next = await wholeBackup({ incremental: true });
  t.match(next, { status: "completed", kind: "incremental" });
  t.equal((await server.call("DELETE", `/admin/backups/${whole.id}`)).status, 409, "another continues it");
  const path = `/admin/backups/${next.id}/restore`;
  const restored = async (body: object): Promise<Reply["body"]> => {
    await other.expect(202, "POST", path, body);
    return ended(other, path);
  };
  t.match(await restored({ tenants: ["beta"] }), { state: "failed", error: { code: "conflict", message: /replace/ } });
  t.match(await restored({ tenants: ["nobody"] }), { state: "failed", error: { code: "not_found" } });
  t.match(await restored({ tenants: ["beta"], replace: true }), { state: "completed", tenants_done: 1 });
  const there = { token: await other.login("beta-user", "password of beta") };
  t.strictSame(await other.rows("SELECT id FROM other ORDER BY id", [], there), [[7], [8]]);
  await server.expect(204, "DELETE", `/admin/backups/${next.id}`);
  await server.expect(204, "DELETE", `/admin/backups/${whole.id}`);
  t.equal((await server.expect(200, "GET", "/admin/backups")).body.data.total, 1);
});

t.test("one that is being made is given up, or killed, and nothing of it stays", async (t) => {
  const { id: killed } = (await server.expect(202, "POST", "/admin/backups", {})).body.data;
  await server.kill();
  await server.boot();
  // On a machine that is fast enough it was made before the kill; then it is whole.
  const after = await server.call("GET", `/admin/backups/${killed}`);
  if (after.status === 200) {
    const { status, finished_at, error } = after.body.data;
    t.ok(finished_at !== null && (status === "completed" || error.code === "cancelled"), "or listed as cut short");
    await server.expect(204, "DELETE", `/admin/backups/${killed}`);
  } else t.equal(after.status, 404);
  const asked = [server.call("POST", "/admin/backups", {}), server.call("POST", "/admin/backups", {})];
  const answers = (await Promise.all(asked)).sort((one, two) => one.status - two.status);
  t.strictSame([answers[0]!.status, answers[1]!.status], [202, 409], "one at a time");
  const { id } = answers[0]!.body.data;
  await server.expect(204, "DELETE", `/admin/backups/${id}`);
  t.equal((await server.call("GET", `/admin/backups/${id}`)).status, 404);
  const left = readdirSync(join(shared, "_installation", "sets"));
  t.notOk(left.includes(id) || left.includes(killed));
});

t.test("a moment after the last backup is restored from the log", async (t) => {
  const { id } = (await server.expect(202, "POST", "/v1/backups", { passphrase }, acme)).body.data;
  await ended(server, `/v1/backups/${id}`, acme);
  await server.rows("UPDATE item SET name = 'after the backup' WHERE id = 1", [], acme);
  await pause(5);
  const until = new Date().toISOString();
  await pause(5);
  await server.rows("DROP TABLE item", [], acme);
  const path = "/admin/tenants/acme/restore";
  const restored = async (body: object): Promise<Reply["body"]> => {
    await server.expect(202, "POST", path, body);
    return ended(server, path);
  };
  const wrong = { until, passphrase: "wrong horse battery", replace: true };
  t.match(await restored(wrong), { state: "failed", error: { code: "invalid_request", message: /passphrase/ } });
  const later = { until: "2999-01-01T00:00:00Z", passphrase, replace: true };
  t.match(await restored(later), { state: "failed", error: { code: "invalid_request", message: /until/ } });
  t.match(await restored({ until, passphrase, replace: true }), { state: "completed", error: null });
  t.strictSame(await server.rows("SELECT name FROM item WHERE id = 1", [], acme), [["after the backup"]]);
  t.strictSame(await server.rows("SELECT count(*) FROM item", [], acme), [[2000]]);
  t.match(await restored({ until, passphrase, replace: true }), { state: "completed" }, "and once more");
  const early = { until: "2001-01-01T00:00:00Z", passphrase, replace: true };
  t.match(await restored(early), { state: "failed", error: { message: /begin at/ } });
});

t.test("a backup is carried to another installation", async (t) => {
  const { id: first } = (await server.expect(202, "POST", "/v1/backups", { passphrase }, acme)).body.data;
  await ended(server, `/v1/backups/${first}`, acme);
  await server.rows("UPDATE item SET name = 'carried' WHERE id = 2", [], acme);
  const { id } = (await server.expect(202, "POST", "/v1/backups", { passphrase, incremental: true }, acme)).body.data;
  t.match(await ended(server, `/v1/backups/${id}`, acme), { kind: "incremental", base: first });
  const answer = await fetch(`${server.url}/v1/backups/${id}/download`, {
    headers: { authorization: `Bearer ${acme.token}` },
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  await other.expect(201, "POST", "/admin/tenants", { id: "moved" });
  const folder = join(shared, "moved");
  const send = (body: Buffer, secret = "") =>
    other.call("POST", "/admin/tenants/moved/backups", body, {
      headers: {
        "content-type": "application/octet-stream",
        ...(secret === "" ? {} : { "x-backup-passphrase": encodeURIComponent(secret) }),
      },
    });
  const flipped = Buffer.from(bytes);
  flipped[bytes.length >> 1]! ^= 1;
  for (const [what, body] of [
    ["cut", bytes.subarray(0, bytes.length - 50)],
    ["flipped", flipped],
    ["longer", Buffer.concat([bytes, Buffer.of(0)])],
    ["no archive", Buffer.from("some text of some length that is no archive")],
    ["empty", Buffer.of(0)],
  ] as const) {
    t.match(await send(body), { status: 422, body: { error: { code: "backup_damaged" } } }, what);
  }
  t.match(await send(bytes, "wrong horse battery"), {
    status: 400,
    body: { error: { details: { field: "passphrase" } } },
  });
  t.throws(() => readdirSync(folder), { code: "ENOENT" }, "nothing of them is left");
  t.strictSame(readdirSync(join(shared, "_incoming")), []);
  const { data } = (
    await other.expect(201, "POST", "/admin/tenants/moved/backups", bytes, {
      headers: { "content-type": "application/octet-stream", "x-backup-passphrase": encodeURIComponent(passphrase) },
    })
  ).body;
  t.match(data, { id, imported: true, encrypted: true, verified_at: String });
  t.equal((await send(bytes)).status, 409, "it is there already");
  await other.expect(202, "POST", "/admin/tenants/moved/restore", { backup: id, passphrase });
  t.match(await ended(other, "/admin/tenants/moved/restore"), { state: "completed", verified: true });
  await other.expect(201, "POST", "/admin/tenants/moved/users", {
    username: "mover",
    password: "password of mover",
    roles: ["super_admin"],
  });
  const there = { token: await other.login("mover", "password of mover") };
  t.strictSame(await other.rows("SELECT name FROM item WHERE id = 2", [], there), [["carried"]]);
  const own = (await other.expect(202, "POST", "/v1/backups", { passphrase, incremental: true }, there)).body.data;
  t.match(
    await ended(other, `/v1/backups/${own.id}`, there),
    { kind: "full" },
    "no log continues what came from elsewhere",
  );
});

t.test("schedules", async (t) => {
  const wish = { cron: "* * * * * *", full_every: 2, keep: 2, passphrase };
  const { data } = (await server.expect(201, "POST", "/v1/backups/schedules", wish, beta)).body;
  t.match(data, { enabled: true, encrypted: true, last: null, installation: false });
  t.notOk("passphrase" in data);
  const path = `/v1/backups/schedules/${data.id}`;
  const reached = async (completed: number): Promise<Reply["body"]> => {
    for (;;) {
      const now = (await server.expect(200, "GET", path, undefined, beta)).body.data;
      if (now.completed >= completed) return now;
      await pause(50);
    }
  };
  const once = await reached(1);
  t.match(once, { last: { backup: String, error: null }, failures: 0 });
  await server.kill();
  await server.boot();
  await reached(once.completed + 3);
  await server.expect(200, "PATCH", path, { enabled: false }, beta);
  for (;;) if (!(await server.expect(200, "GET", path, undefined, beta)).body.data.running) break;
  const kept = (await server.expect(200, "GET", "/v1/backups", undefined, beta)).body.data.backups;
  t.ok(kept.length >= 2 && kept.length <= 3, `two, and the full one that they need: ${kept.length}`);
  t.ok(kept.every((one: Reply["body"]) => one.schedule === data.id && one.verified_at !== null));
  t.match(await server.call("POST", "/v1/backups/schedules", { cron: "every day" }, beta), {
    status: 400,
    body: { error: { details: { field: "cron" } } },
  });
  const lost = await server.call("POST", "/v1/backups/schedules", { cron: "0 3 * * *", timezone: "Moon/Sea" }, beta);
  t.match(lost, { status: 400, body: { error: { details: { field: "timezone" } } } });
  t.equal((await server.call("GET", path, undefined, acme)).status, 404, "another tenant's");
  t.equal(
    (await server.call("POST", "/v1/backups/schedules", { cron: "0 3 * * *", installation: true }, beta)).status,
    403,
  );

  const nightly = { cron: "0 3 1 1 *", timezone: "Europe/Lisbon", installation: true };
  const whole = (await server.expect(201, "POST", "/v1/backups/schedules", nightly)).body.data;
  await server.expect(202, "POST", `/v1/backups/schedules/${whole.id}/run`);
  for (;;) {
    const { last } = (await server.expect(200, "GET", `/v1/backups/schedules/${whole.id}`)).body.data;
    if (last !== null) {
      t.match(last, { error: null });
      t.match((await server.expect(200, "GET", `/admin/backups/${last.backup}`)).body.data, { schedule: whole.id });
      break;
    }
    await pause(20);
  }
  const metrics = (await server.call("GET", "/metrics")).body as unknown as string;
  t.match(
    metrics,
    new RegExp(`tessera_backup_schedule_completed_total\\{schedule="${whole.id}",tenant="\\(installation\\)"\\} 1`),
  );
  await server.expect(204, "DELETE", `/v1/backups/schedules/${whole.id}`);
  await server.expect(204, "DELETE", path, undefined, beta);
  t.equal((await server.expect(200, "GET", "/v1/backups/schedules")).body.data.total, 0);
});
