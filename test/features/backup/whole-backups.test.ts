/**
 * The node with the directory conducts a backup of the installation: owners of partitions end meanwhile, reports of
 * parts are lost, and the directory gets another owner at each point. What is not whole never looks like a backup.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { newBackupId } from "../../../src/backup/backup-folder.js";
import { WholeFolder } from "../../../src/backup/whole-folder.js";
import { WholeBackups, type WholeBackupsHost } from "../../../src/features/backup/whole-backups.js";
import type { BackupOrder, MadeBackup } from "../../../src/protocol/backup-orders.js";
import { DbError, type ErrorCode } from "../../../src/protocol/errors.js";

type Create = Extract<BackupOrder, { readonly do: "create" }>;

const TENANTS = ["ant", "bee"];
const WISH = { incremental: false, passphrase: null, schedule: null, verifies: false };

class World {
  nowMs = 0;
  readonly folder: WholeFolder;
  readonly backups: WholeBackups;
  readonly bases = new Map<string, Create["base"]>();
  /** What the next orders fail with, whatever was done of them. */
  failures: ErrorCode[] = [];
  /** How often it may still be asked whether this node has the directory. */
  asksLeft = Number.POSITIVE_INFINITY;
  /** Before an order of the tenant ends, however it ends. */
  beforeEnd: (tenant: string) => Promise<unknown> = async () => undefined;
  /** After all parts were made. */
  beforeSaving: () => Promise<void> = async () => undefined;

  constructor(directory: string, isBetweenNodes = true) {
    this.folder = new WholeFolder(directory);
    const tenants = TENANTS.map((id, number) => ({ id, number, partition: number }));
    const host = {
      directory: {
        wholeRecords: () => ({ createdAt: 0, tenants, users: [], apiKeys: [], schedules: [], oidcProviders: [] }),
        placeOf: (id: string) => tenants.find((tenant) => tenant.id === id)!,
      },
      orders: { isBetweenNodes, make: (_partition: number, order: Create) => this.make(order) },
      folder: this.folder,
      turn: () => this.beforeSaving(),
      stillHere: async () => {
        if (this.asksLeft-- <= 0) throw new DbError("partition_unavailable", "Another node has the directory.");
      },
      clock: { now: () => this.nowMs, sleep: async (ms: number) => this.pass(ms) },
      log: () => undefined,
    };
    this.backups = new WholeBackups(host as unknown as WholeBackupsHost);
  }

  private pass(ms: number): void {
    this.nowMs += ms;
  }

  private async make({ tenantId, base }: Create): Promise<MadeBackup> {
    this.bases.set(tenantId, base);
    const id = await this.makePart(tenantId);
    const failure = this.failures.shift();
    await this.beforeEnd(tenantId);
    if (failure !== undefined) throw new DbError(failure, "failed");
    return { id, kind: "full", base: null, entries: 1, bytes: 1, micros: 1, note: null };
  }

  /** Whole, whoever hears of it. */
  private async makePart(tenant: string): Promise<string> {
    const id = newBackupId();
    writeFileSync(join(await this.folder.tenants.create(tenant, id), "data.bak"), "");
    this.folder.tenants.save({ id, tenant, finishedAt: new Date().toISOString() } as never);
    return id;
  }

  made(incremental = false) {
    return this.backups.make({ ...WISH, incremental }, new AbortController().signal);
  }

  get parts(): string[] {
    return TENANTS.flatMap((tenant) => this.folder.tenants.ids(tenant));
  }
}

t.test("a part whose owner ends is made by the next one, and nothing continues the part that was lost", async (t) => {
  const world = new World(t.testdir());
  world.failures = ["partition_unavailable", "shutting_down", "cancelled"];
  const first = await world.made();
  t.equal(world.parts.length, 5, "three of them are left over");
  t.equal(first.tenants.length, 2);
  world.failures = ["partition_unavailable"];
  const second = await world.made(true);
  for (const { tenant, id } of first.tenants) t.same(world.bases.get(tenant), { newestOf: [id] }, "but for those");
  await world.made(true);
  for (const { tenant, id } of second.tenants) {
    const known = [id, first.tenants.find((one) => one.tenant === tenant)!.id].sort();
    const { newestOf } = world.bases.get(tenant) as { readonly newestOf: readonly string[] };
    t.same([...newestOf].sort(), known);
  }
  t.equal(world.parts.length, 6, "what was left over is gone");
});

t.test("without an owner for too long it fails, and so does what trying again does not mend", async (t) => {
  const world = new World(t.testdir());
  world.failures = Array.from({ length: 1000 }, () => "partition_unavailable");
  await t.rejects(world.made(), { code: "partition_unavailable", message: /^Tenant "(ant|bee)": failed/ });
  t.ok(world.nowMs >= 90_000 && world.nowMs < 200_000, `after a while: ${world.nowMs}`);
  t.same(world.folder.list(), []);
  world.failures = ["folder_not_shared"];
  const before = world.nowMs;
  await t.rejects(world.made(), { code: "folder_not_shared" });
  t.equal(world.nowMs, before, "at once");
  const alone = new World(t.testdir({ alone: {} }), false);
  alone.failures = ["shutting_down"];
  await t.rejects(alone.made(), { code: "conflict" }, "one machine has no other owner");
});

t.test("what failed first is told, not what its end has made fail", async (t) => {
  const world = new World(t.testdir());
  world.failures = ["folder_not_shared", "folder_not_shared"];
  world.beforeEnd = (tenant) => (tenant === "ant" ? sleep(20) : Promise.resolve());
  await t.rejects(world.made(), { code: "folder_not_shared", message: 'Tenant "bee": failed' });
});

t.test("who has the directory no more leaves no backup, whenever that happens", async (t) => {
  const directory = t.testdir();
  const sure = new World(directory);
  const whole = await sure.made();
  let failed = 0;
  for (let asks = 0; ; asks++) {
    const world = new World(directory);
    world.asksLeft = asks;
    const made = await world.made().catch((error: DbError) => error);
    const left = world.folder.list().map(({ id }) => id);
    if (!(made instanceof DbError)) {
      t.same(left.sort(), [whole.id, made.id].sort());
      break;
    }
    failed++;
    t.equal(made.code, "partition_unavailable");
    t.same(left, [whole.id]);
  }
  t.ok(failed >= 2, "before and after the manifest is written");
});

t.test("a part that another node has removed is missed", async (t) => {
  const world = new World(t.testdir());
  world.beforeSaving = async () => {
    for (const tenant of TENANTS) await world.folder.tenants.removeAll(tenant);
  };
  await t.rejects(world.made(), { code: "conflict", message: /removed meanwhile/ });
  t.same(world.folder.list(), []);
});

t.test("one that was cut short is listed as failed, and can be deleted", async (t) => {
  const world = new World(t.testdir());
  const id = newBackupId();
  const records = { createdAt: 0, tenants: [], users: [], apiKeys: [], schedules: [], oidcProviders: [] };
  await world.folder.saveRecords(id, records, null);
  t.match(world.backups.list(), [{ id, status: "failed", error: { code: "cancelled" } }]);
  t.match(world.backups.get(id), { id, status: "failed" });
  await world.backups.remove(id);
  t.same(world.backups.list(), []);
  t.throws(() => world.backups.get(id), { code: "not_found" });
});
