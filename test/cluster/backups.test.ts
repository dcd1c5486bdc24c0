/**
 * Backups of a whole installation whose partitions have several owners, on real nodes and with real etcd: asked at any
 * node, after owners died between two of them or while one is made, restored here and elsewhere.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { TestServer } from "../e2e/server.js";
import { ClusterProcesses, type NodeProcess } from "../torture/cluster/cluster-processes.js";
import { NO_ETCD } from "./etcd.js";
import { call, type Door, ended, expect, makeTenant, rows, signIn, until } from "./installation.js";

t.setTimeout(900_000);

const TENANTS = ["ant", "bee", "cat", "dog", "eel"];
const ROWS = 500;
/** Of a tenant whose backup takes long enough to be met half written. */
const LARGE_ROWS = 60_000;
const LARGE_ROWS_AT_ONCE = 5000;
const DIRECTORY = 0;

const folders = mkdtempSync(join(tmpdir(), "tessera-shared-"));
t.teardown(() => rmSync(folders, { recursive: true, force: true }));
/** The folder that nodes have which are started from now on. */
function backupsIn(name: string): string {
  const folder = join(folders, name);
  process.env.TESSERA_BACKUP_DIRECTORY = folder;
  return folder;
}

/** Of the installation's backups, with those of tenants that are parts of them, and without. */
function inFolder(folder: string) {
  const below = (path: string): string[] => (existsSync(path) ? readdirSync(path) : []);
  const parts = join(folder, "_installation", "tenants");
  const partsOf = (tenant: string) => below(join(parts, tenant)).map((id) => join(parts, tenant, id));
  const isWhole = (part: string): boolean => existsSync(join(part, "manifest.json"));
  return {
    sets: below(join(folder, "_installation", "sets")),
    parts: below(parts).flatMap(partsOf),
    isHalfWritten: (tenant: string): boolean =>
      partsOf(tenant).some((part) => existsSync(join(part, "data.bak")) && !isWhole(part)),
  };
}

interface Filled {
  readonly admin: string;
  readonly tokens: ReadonlyMap<string, string>;
}

async function fill(door: Door): Promise<Filled> {
  const admin = await signIn(door);
  const tokens = new Map<string, string>();
  for (const id of TENANTS) {
    const token = await makeTenant(door, admin, id);
    await rows(door, token, "CREATE TABLE item (id integer PRIMARY KEY, what text)");
    await rows(door, token, `INSERT INTO item SELECT g, '${id} ' || g FROM generate_series(1, ${ROWS}) AS g`);
    tokens.set(id, token);
  }
  await expect(door, tokens.get("ant")!, "POST", "/v1/branches", { name: "work" });
  await rows(door, tokens.get("ant")!, "DELETE FROM item WHERE id > 10", "work");
  return { admin, tokens };
}

const COUNT = "SELECT count(*) FROM item";

t.test("backups of an installation on several nodes", { skip: NO_ETCD }, async (t) => {
  const shared = backupsIn("cluster");
  const cluster = await ClusterProcesses.start(3, { etcdMembers: 1 });
  t.teardown(() => cluster.close());
  const said = () => cluster.logEnds();
  const [n1, n2, n3] = cluster.nodes as [NodeProcess, NodeProcess, NodeProcess];
  const { admin, tokens } = await fill(n1);
  const owners = async () => (await cluster.copies()).map(({ owner }) => owner);
  const wholeBackup = async (asked: Door, seen: Door, body: object) => {
    const { id } = await expect(asked, admin, "POST", "/admin/backups", body);
    return ended(seen, admin, `/admin/backups/${id}`);
  };
  const partitionOf = async (tenant: string): Promise<number> =>
    (await expect(n3, admin, "GET", `/admin/tenants/${tenant}`)).partition;
  const give = async (partition: number, { name }: NodeProcess) => {
    await cluster.handOver(partition, name);
    await until(`${name} has partition ${partition}`, async () => (await owners())[partition] === name, said);
  };
  for (const [partition, node] of [n1, n2, n3, n2].entries()) await give(partition, node);

  const full = await wholeBackup(n2, n3, {});
  t.match(full, { status: "completed", kind: "full", tenants_total: 6, tenants_done: 6, error: null });
  for (const node of cluster.nodes) {
    const { backups } = await expect(node, admin, "GET", "/admin/backups");
    t.match(backups, [{ id: full.id, status: "completed" }], "each node lists it");
    t.match(await expect(node, admin, "POST", `/admin/backups/${full.id}/verify`, {}), { files: 7 });
  }

  // An owner dies between the full backup and the incremental one.
  for (const [id, token] of tokens) await rows(n2, token, `INSERT INTO item VALUES (${ROWS + 1}, '${id} later')`);
  await rows(n2, tokens.get("ant")!, "DELETE FROM item WHERE id = 1", "work");
  await cluster.end(n2, "SIGKILL");
  const [a, b] = [n1, n3];
  // While its partitions have no owner: the backup waits for the next ones.
  const next = await wholeBackup(a, b, { incremental: true });
  t.match(next, { status: "completed", kind: "incremental", tenants_done: 6, error: null }, "with the next owners");
  t.match(
    await expect(b, admin, "POST", `/admin/backups/${next.id}/verify`, {}),
    { files: 13 },
    "all continue the full",
  );
  t.equal((await call(a, admin, "DELETE", `/admin/backups/${full.id}`)).status, 409, "another one continues it");

  // A tenant's own backup, and a moment that only the log has.
  const bee = tokens.get("bee")!;
  const own = await expect(b, bee, "POST", "/v1/backups", {});
  t.match(await ended(a, bee, `/v1/backups/${own.id}`), { status: "completed" });
  await rows(a, bee, `INSERT INTO item VALUES (${ROWS + 2}, 'kept')`);
  await sleep(20);
  const moment = new Date().toISOString();
  await sleep(20);
  await rows(b, bee, "DELETE FROM item");
  await expect(b, admin, "POST", "/admin/tenants/bee/restore", { until: moment, replace: true });
  t.match(await ended(a, admin, "/admin/tenants/bee/restore"), { state: "completed", error: null });
  t.same(await rows(b, bee, COUNT), [[ROWS + 2]], "as of the moment, from any node");

  cluster.run(n2);
  await until("n2 is back", async () => new Set(await owners()).has("n2"), said);
  const dog = tokens.get("dog")!;
  await rows(n1, dog, "UPDATE item SET what = 'changed'");
  await rows(n1, tokens.get("ant")!, "DELETE FROM item");
  const again = { tenants: ["ant", "dog"], replace: true };
  await expect(n3, admin, "POST", `/admin/backups/${next.id}/restore`, again);
  t.match(await ended(n2, admin, `/admin/backups/${next.id}/restore`), {
    ...{ state: "completed", error: null },
    tenants: [{ verified: true }, { verified: true }],
  });
  t.same(await rows(n2, dog, "SELECT count(*) FROM item WHERE what = 'changed'"), [[0]]);
  t.same(await rows(n2, tokens.get("ant")!, COUNT), [[ROWS + 1]]);
  t.same(await rows(n1, tokens.get("ant")!, COUNT, "work-restored"), [[9]], "with its branch");

  // A partition stays while its part is written, and then goes.
  const cat = tokens.get("cat")!;
  await rows(n1, cat, "CREATE TABLE large (id integer PRIMARY KEY, what text)");
  for (let from = 0; from < LARGE_ROWS; from += LARGE_ROWS_AT_ONCE) {
    const series = `generate_series(${from + 1}, ${from + LARGE_ROWS_AT_ONCE})`;
    await rows(n1, cat, `INSERT INTO large SELECT g, repeat('x', 200) || g FROM ${series} AS g`);
  }
  const partition = await partitionOf("cat");
  t.not(partition, DIRECTORY);
  const halfWritten = () => until("half written", () => inFolder(shared).isHalfWritten("cat"), said);
  const before = (await owners())[partition]!;
  const other = cluster.nodes.find(({ name }) => name !== before)!;
  const asked = await expect(n1, admin, "POST", "/admin/backups", {});
  await halfWritten();
  await cluster.handOver(partition, other.name);
  t.match(await ended(n1, admin, `/admin/backups/${asked.id}`), { status: "completed", error: null });
  await until("it goes over", async () => (await owners())[partition] === other.name, said);
  t.match(await expect(n2, admin, "POST", `/admin/backups/${asked.id}/verify`, {}), { files: 7 });

  // The owner is killed while it writes.
  await give(DIRECTORY, n1);
  await give(partition, n2);
  const inMidst = await expect(n3, admin, "POST", "/admin/backups", {});
  await halfWritten();
  await cluster.end(n2, "SIGKILL");
  t.match(await ended(n3, admin, `/admin/backups/${inMidst.id}`), {
    status: "completed",
    tenants_done: 6,
    error: null,
  });
  t.match(await expect(n3, admin, "POST", `/admin/backups/${inMidst.id}/verify`, {}), { files: 7 });
  cluster.run(n2);
  await until("n2 is back", async () => (await owners())[partition] === n2.name, said);

  // It is killed while it restores: the tenant's content comes back with the next one.
  const path = `/admin/backups/${inMidst.id}/restore`;
  await rows(n3, cat, "DELETE FROM large WHERE id > 5");
  await expect(n3, admin, "POST", path, { tenants: ["cat"], replace: true });
  const hasBegun = async () => (await expect(n3, admin, "GET", path)).entries > 0;
  await until("the restore has begun", hasBegun, said);
  await cluster.end(n2, "SIGKILL");
  t.match(await ended(n3, admin, path), {
    state: "completed",
    tenants: [{ tenant: "cat", verified: true }],
    error: null,
  });
  t.same(await rows(n3, cat, "SELECT count(*), max(id) FROM large"), [[LARGE_ROWS, LARGE_ROWS]]);
  cluster.run(n2);
  await until("n2 is back", async () => (await owners())[partition] === n2.name, said);

  // It is told to end, which does not wait for the backup.
  const shutDown = await expect(n3, admin, "POST", "/admin/backups", {});
  await halfWritten();
  await cluster.end(n2, "SIGTERM");
  t.match(await ended(n3, admin, `/admin/backups/${shutDown.id}`), {
    status: "completed",
    tenants_done: 6,
    error: null,
  });
  cluster.run(n2);
  await until("n2 is back", async () => (await owners())[partition] === n2.name, said);

  // The node that conducts is killed.
  const lost = await expect(n3, admin, "POST", "/admin/backups", {});
  await halfWritten();
  await cluster.end(n1, "SIGKILL");
  await until(
    "the directory answers",
    async () => (await call(n3, admin, "GET", "/admin/backups")).status === 200,
    said,
  );
  const cut = await expect(n3, admin, "GET", `/admin/backups/${lost.id}`);
  t.match(cut, { status: "failed", error: { code: "cancelled", message: /stopped before/ } });
  t.equal((await call(n3, admin, "POST", `/admin/backups/${lost.id}/restore`, {})).status, 404, "it is no backup");
  const after = await wholeBackup(n2, n3, { incremental: true });
  t.match(after, { status: "completed", tenants_done: 6, error: null });
  const whole = [full, next, asked, inMidst, shutDown, after].map(({ id }) => id).sort();
  t.same(inFolder(shared).sets.sort(), whole, "what was cut short is gone");
  t.equal(inFolder(shared).parts.length, 6 * whole.length, "with its parts");
  t.match(await expect(n3, admin, "POST", `/admin/backups/${after.id}/verify`, {}), {});
});

t.test("from a cluster to one machine and back to another cluster", { skip: NO_ETCD }, async (t) => {
  const source = join(folders, "cluster", "_installation");
  if (!existsSync(source)) return;
  const alone = backupsIn("alone");
  cpSync(source, join(alone, "_installation"), { recursive: true });
  const server = await TestServer.start({ TESSERA_ACTORS: "1", TESSERA_BACKUP_DIRECTORY: alone });
  t.teardown(() => server.stop());
  const machine: Door = { port: Number(new URL(server.url).port) };
  const [newest] = (await expect(machine, server.token, "GET", "/admin/backups")).backups;
  await expect(machine, server.token, "POST", `/admin/backups/${newest.id}/restore`, {});
  let admin = "";
  const restored = async (): Promise<boolean> => {
    admin = await signIn(machine).catch(() => "");
    return admin !== "";
  };
  await until("the accounts are the backup's", restored, () => server.lines.join("\n"));
  t.match(await ended(machine, admin, `/admin/backups/${newest.id}/restore`), { state: "completed", tenants_done: 6 });
  const bee = await signIn(machine, "bee-user");
  t.same(await rows(machine, bee, COUNT), [[ROWS + 2]]);
  t.same(await rows(machine, await signIn(machine, "ant-user"), COUNT, "work-restored"), [[9]]);
  await rows(machine, bee, "DELETE FROM item WHERE id > 7");
  const { id } = await expect(machine, admin, "POST", "/admin/backups", { incremental: true });
  const made = await ended(machine, admin, `/admin/backups/${id}`);
  t.match(made, { status: "completed", kind: "full", error: null }, "its log continues no other installation's backup");

  const shared = backupsIn("second");
  cpSync(join(alone, "_installation"), join(shared, "_installation"), { recursive: true });
  const cluster = await ClusterProcesses.start(2, { etcdMembers: 1 });
  t.teardown(() => cluster.close());
  const said = () => cluster.logEnds();
  const [n1, n2] = cluster.nodes as [NodeProcess, NodeProcess];
  const token = await signIn(n1);
  await expect(n2, token, "POST", `/admin/backups/${id}/restore`, {});
  // The other backup's administrator has the same password, so the old token ends when all is restored.
  const isOver = async (): Promise<boolean> =>
    (await call(n2, token, "GET", `/admin/backups/${id}/restore`)).status === 401;
  await until("the accounts are the backup's", isOver, said);
  const there = await signIn(n2);
  t.match(await ended(n1, there, `/admin/backups/${id}/restore`), { state: "completed", tenants_done: 6, error: null });
  const copies = await cluster.copies();
  await until(
    "both nodes own something",
    async () => new Set((await cluster.copies()).map(({ owner }) => owner)).size === 2,
    said,
  );
  t.equal(copies.length, 4, "with more partitions than the machine had");
  for (const node of cluster.nodes) {
    t.same(await rows(node, await signIn(node, "bee-user"), COUNT), [[7]]);
    t.same(await rows(node, await signIn(node, "dog-user"), COUNT), [[ROWS + 1]]);
  }

  // One of the nodes has another folder.
  await cluster.end(n2, "SIGTERM");
  const apart = backupsIn("apart");
  mkdirSync(apart);
  cluster.run(n2);
  await until(
    "both own something",
    async () => new Set((await cluster.copies()).map(({ owner }) => owner)).size === 2,
    said,
  );
  await cluster.handOver(DIRECTORY, n1.name);
  await until("n1 has the directory", async () => (await cluster.ownerOf(DIRECTORY)) === n1.name, said);
  const tenants = new Map<string, number>();
  for (const tenant of TENANTS)
    tenants.set(tenant, (await expect(n1, there, "GET", `/admin/tenants/${tenant}`)).partition);
  const [remote, partition] = [...tenants].find(([, of]) => of !== DIRECTORY)!;
  await cluster.handOver(partition, n2.name);
  await until("n2 has another partition", async () => (await cluster.ownerOf(partition)) === n2.name, said);
  const had = inFolder(shared).sets.length;
  const refused = { status: 409, error: { code: "folder_not_shared", message: /"n2".*Mount one folder/ } };
  t.match(await call(n1, there, "POST", "/admin/backups", {}), refused);
  t.match(await call(n1, await signIn(n1, `${remote}-user`), "POST", "/v1/backups", {}), refused);
  await expect(n1, there, "POST", `/admin/backups/${id}/restore`, { tenants: [remote], replace: true });
  t.match(await ended(n1, there, `/admin/backups/${id}/restore`), { state: "failed", error: refused.error });
  t.equal((await call(n2, there, "GET", `/admin/tenants/${remote}`)).status, 200);
  t.equal((await rows(n2, await signIn(n2, `${remote}-user`), COUNT)).length, 1, "the tenant is served as before");
  t.equal(inFolder(shared).sets.length, had, "nothing is left");
  t.same(readdirSync(apart), [], "there neither");
});
