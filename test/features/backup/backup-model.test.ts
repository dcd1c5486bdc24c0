/**
 * Backups against a model: seeds decide what is written, deleted and undone between any two steps of a backup, and
 * where one is cut short. Whatever a backup restores, whole or up to a moment, is the tenant as it was after one of its
 * commits.
 */

import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import t from "tap";
import { Partition } from "../../../src/actor/partition.js";
import { BackupFolder, type Manifest } from "../../../src/backup/backup-folder.js";
import { loadConfig } from "../../../src/config/load-config.js";
import { Backups } from "../../../src/features/backup/backups.js";
import { isEmpty, Restores } from "../../../src/features/backup/restores.js";
import type { RunnableKind } from "../../../src/features/jobs/background-jobs.js";
import { putJob } from "../../../src/features/jobs/job-records.js";
import { JOBS } from "../../../src/features/jobs/jobs.js";
import { DbError } from "../../../src/protocol/errors.js";
import type { RestoreReport } from "../../../src/protocol/placement.js";
import type { CommitLog } from "../../../src/storage/commit-log.js";
import { FileCommitLog } from "../../../src/storage/file-commit-log.js";
import { CLEARED, isOfRetired, prefixRange, retiredKey, rowPrefix, tenantPrefix } from "../../../src/storage/keys.js";
import { MemoryCommitLog } from "../../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../../src/storage/memory-engine.js";
import { Shard } from "../../../src/storage/shard.js";
import { sized } from "../../lengths.js";
import { SeededRandom } from "../../simulation/seeded-random.js";
import { SimulatedDisk } from "../../storage/simulated-disk.js";

const CONFIG = loadConfig({ env: {} });
const TENANT = 7;
const OTHER = 8;
const TARGET = 9;
const SEEDS = Number(process.env.BACKUP_SEEDS ?? sized(3, 6));

const OWNER = { userId: "1", username: "ann", tenantId: "target", roles: [], readOnly: false };
/** Jobs that run until they are stopped. */
const WAITING: RunnableKind = {
  ...{ name: "waiting", runningMax: 1, waitingMax: 1 },
  run: (_job, signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
};

type Content = ReadonlyMap<string, string>;

class World {
  readonly root = mkdtempSync(join(tmpdir(), "tessera-backup-model-"));
  readonly folder = new BackupFolder(this.root);
  /** The tenant after each of its commits, by the commit's time. */
  readonly history: { readonly micros: number; readonly content: Content }[] = [];
  readonly backups: Backups;
  /** So many turns until the backup is to end; null: it may end by itself. */
  turnsLeft: number | null = null;
  private content: Content = new Map();
  /** A table of the tenant that is filled, dropped and removed, again and again. */
  private dropping = { storageId: 2, step: 0, orderedAt: 0 };

  private constructor(
    readonly partition: Partition,
    private readonly random: SeededRandom,
  ) {
    this.backups = new Backups({
      scheduler: { shouldYield: () => random.chance(0.5), yieldTurn: () => this.yieldTurn() },
      folders: { tenant: this.folder, whole: this.folder },
      report: () => undefined,
      log: () => undefined,
    });
  }

  static async open(random: SeededRandom): Promise<World> {
    const world = new World(await openPartition(), random);
    for (let i = 0; i < 300; i++) world.write();
    world.partition.flush(() => undefined);
    return world;
  }

  private async yieldTurn(): Promise<void> {
    for (let n = this.random.between(0, 6); n > 0; n--) this.write();
    // As an actor does it at the end of each turn: now, or behind what the backup does next.
    if (this.random.chance(0.5)) this.partition.flush(() => undefined);
    else setImmediate(() => this.partition.flush(() => undefined));
    await turn();
    if (this.turnsLeft !== null && this.turnsLeft-- <= 0) throw new DbError("shutting_down");
  }

  /** A transaction over some keys of the tenant; now and then one of another tenant, which is no part of it. */
  write(): void {
    const { random, partition } = this;
    if (random.chance(0.3)) this.dropSome();
    const tenant = random.chance(0.2) ? OTHER : TENANT;
    const content = new Map(this.content);
    const tx = partition.shard.begin({ isolation: "read committed" });
    for (let n = random.between(1, 8); n > 0; n--) {
      const name = String(random.between(0, 400));
      const key = Buffer.concat([rowPrefix(tenant, 1), Buffer.from(name)]);
      const value = `${name} ${random.next()} ${"x".repeat(random.between(0, 2000))}`;
      if (random.chance(0.3)) {
        tx.delete(key);
        content.delete(name);
      } else {
        tx.put(key, Buffer.from(value));
        content.set(name, value);
      }
    }
    const sequence = tx.commit();
    if (tenant === TENANT) this.committed(sequence, content);
  }

  /**
   * The next step of what actor/remove-retired.ts does: rows, the record that nobody needs them, the order, the
   * record's end.
   */
  private dropSome(): void {
    const { random, partition, dropping } = this;
    if (dropping.step === 3 && partition.shard.appliedSequence < dropping.orderedAt) return;
    const content = new Map(this.content);
    const prefix = rowPrefix(TENANT, dropping.storageId);
    const record = retiredKey(TENANT, prefix);
    const tx = partition.shard.begin({ isolation: "read committed" });
    for (let n = 0; n < 5; n++) {
      const name = `${dropping.storageId}/${n}`;
      const value = `dropped ${random.next()}`;
      if (dropping.step === 0) tx.put(Buffer.concat([prefix, Buffer.from(name)]), Buffer.from(value));
      if (dropping.step === 0) content.set(name, value);
      if (dropping.step === 2) content.delete(name);
    }
    if (dropping.step === 1) tx.put(record, Buffer.alloc(0));
    else if (dropping.step === 2) tx.put(record, CLEARED);
    else if (dropping.step === 3) tx.delete(record);
    const sequence = tx.commit();
    this.dropping = { ...dropping, step: (dropping.step + 1) % 4, orderedAt: sequence };
    if (dropping.step === 3) this.dropping.storageId++;
    this.committed(sequence, content);
  }

  private committed(sequence: number, content: Content): void {
    const { partition } = this;
    this.content = content;
    partition.flush(() => undefined);
    for (const entry of partition.shard.log.replay(sequence)) {
      if (entry.sequence === sequence) this.history.push({ micros: entry.micros, content });
    }
  }

  /** What the tenant was at that moment, microseconds since the epoch. */
  at(micros: number): Content {
    return this.history.findLast((one) => one.micros <= micros)?.content ?? new Map();
  }

  /** Null: it was cut short. */
  async backUp(incremental: boolean): Promise<Manifest | null> {
    const options = { incremental, passphrase: null, name: null };
    const { id } = await this.backups.start(this.partition, "acme", TENANT, options);
    for (;;) {
      const { status } = this.backups.get("acme", id);
      if (status === "failed") return null;
      if (status === "completed") return this.folder.get("acme", id);
      await turn();
    }
  }
}

async function openPartition(
  log: CommitLog = new MemoryCommitLog(),
  refused: (first: number, error: DbError) => void = () => undefined,
): Promise<Partition> {
  let partition: Partition | null = null;
  const shard = await Shard.open({
    ...{ engine: new MemoryEngine(), log },
    onFlushFailed: (first, _last, error) => refused(first, error),
    onDurable: (sequence) => partition?.gate.open(sequence),
  });
  partition = new Partition(0, shard, CONFIG, () => setImmediate(() => partition!.flush(() => undefined)));
  partition.part(JOBS).queue.begin([WAITING], () => undefined);
  return partition;
}

async function restored(world: World, backup: string, untilMicros: number | null) {
  const partition = await openPartition();
  const ended = await new Promise<RestoreReport>((resolve) => {
    const restores = new Restores({
      scheduler: { yieldTurn: () => turn() },
      folders: { tenant: world.folder, whole: world.folder },
      running: () => [],
      report: (report) => {
        if (report.state === "completed" || report.state === "failed") resolve(report);
      },
      failed: () => undefined,
    });
    restores.start(partition, {
      ...{ tenant: TARGET, restore: "r", backup, from: "acme", store: "tenant", passphrase: null, untilMicros },
      ...{ replaces: false, isChecked: false },
    });
  });
  const found = new Map<string, string>();
  const prefix = rowPrefix(TARGET, 1).length;
  const tx = partition.shard.begin({ readOnly: true });
  const cursor = tx.scan(prefixRange(tenantPrefix(TARGET)));
  for (;;) {
    const { keys, values } = cursor.next(100);
    if (keys.length === 0) break;
    for (const [i, key] of keys.entries()) {
      if (isOfRetired(key)) continue;
      found.set(Buffer.from(key.subarray(prefix)).toString(), Buffer.from(values[i]!).toString());
    }
  }
  cursor.close();
  tx.rollback();
  return { ended, found };
}

const sorted = (content: Content) => [...content].sort(([a], [b]) => (a < b ? -1 : 1));

for (let seed = 1; seed <= SEEDS; seed++) {
  t.test(`seed ${seed}`, async (t) => {
    const random = new SeededRandom(seed);
    const world = await World.open(random);
    t.teardown(() => rmSync(world.root, { recursive: true }));
    const whole: Manifest[] = [];
    for (let round = 0; round < 5; round++) {
      world.turnsLeft = random.chance(0.4) ? random.between(0, 12) : null;
      const manifest = await world.backUp(round > 0 && random.chance(0.7));
      const ids = readdirSync(join(world.root, "acme"));
      if (manifest === null) t.equal(ids.length, whole.length, "nothing of one that was cut short is left");
      else whole.push(manifest);
      world.turnsLeft = null;
    }
    for (const { id, micros, kind } of whole) {
      const { ended, found } = await restored(world, id, null);
      t.match(ended, { state: "completed", error: null });
      t.not(ended.verified, false);
      t.strictSame(sorted(found), sorted(world.at(micros)), `${kind}: the moment that it names`);
    }
    const last = whole.findLast(({ kind }) => kind === "incremental");
    if (last === undefined) return;
    const first = world.folder.chainOf(last)[0]!;
    for (const { micros } of world.history.filter((one) => one.micros >= first.micros && one.micros <= last.micros)) {
      if (!random.chance(0.05)) continue;
      const { ended, found } = await restored(world, last.id, micros);
      t.match(ended, { state: "completed", verified: micros < last.micros ? null : true });
      t.strictSame(sorted(found), sorted(world.at(micros)), "a moment between two backups");
    }
  });
}

t.test("a restore whose writes the full disk refused for a while is not served", async (t) => {
  const world = await World.open(new SeededRandom(1));
  t.teardown(() => rmSync(world.root, { recursive: true }));
  const { id } = (await world.backUp(false))!;
  const disk = new SimulatedDisk();
  const log = await FileCommitLog.open({ directory: "log", disk });
  let restores: Restores | null = null;
  let refused = 0;
  const partition: Partition = await openPartition(log, (first, error) => {
    refused++;
    partition.undo(first, error);
    partition.places.reload();
    restores!.undone(partition, error);
  });
  let isRestoring = false;
  const ended = await new Promise<RestoreReport>((resolve) => {
    restores = new Restores({
      scheduler: {
        yieldTurn: async () => {
          // Of the tenant's entries the first are refused; from then on there is space again.
          if (isRestoring && !isEmpty(partition, TARGET) && refused === 0) disk.spaceBytes = 0;
          partition.flush(() => undefined);
          disk.spaceBytes = Number.POSITIVE_INFINITY;
          await turn();
        },
      },
      folders: { tenant: world.folder, whole: world.folder },
      running: () => [],
      report: (report) => {
        isRestoring ||= report.state === "restoring";
        if (report.state === "completed" || report.state === "failed") resolve(report);
      },
      failed: () => undefined,
    });
    restores.start(partition, {
      ...{ tenant: TARGET, restore: "r", backup: id, from: "acme", store: "tenant", passphrase: null },
      ...{ untilMicros: Date.now() * 1000, replaces: false, isChecked: true },
    });
  });
  t.equal(refused, 1);
  t.match(ended, { state: "failed", error: { code: "disk_full" } });
  t.notOk(partition.places.isServed(TARGET));
});

t.test("a restore whose first record the full disk refused leaves the tenant as it was", async (t) => {
  const world = await World.open(new SeededRandom(2));
  t.teardown(() => rmSync(world.root, { recursive: true }));
  const { id } = (await world.backUp(false))!;
  const disk = new SimulatedDisk();
  const log = await FileCommitLog.open({ directory: "log", disk });
  let restores: Restores | null = null;
  const partition: Partition = await openPartition(log, (first, error) => {
    partition.undo(first, error);
    partition.places.reload();
    restores!.undone(partition, error);
  });
  const job = { tenant: TARGET, kind: WAITING.name, id: "1", owner: OWNER };
  const tx = partition.shard.begin({ isolation: "read committed" });
  tx.put(Buffer.concat([rowPrefix(TARGET, 1), Buffer.from("a")]), Buffer.from("1"));
  putJob(tx, job);
  tx.commit();
  partition.part(JOBS).queue.start(job);
  partition.flush(() => undefined);
  await turn();
  t.equal(partition.part(JOBS).queue.metrics[0]!.running, 1);
  const ended = await new Promise<RestoreReport>((resolve) => {
    restores = new Restores({
      scheduler: { yieldTurn: () => turn() },
      folders: { tenant: world.folder, whole: world.folder },
      running: () => [],
      report: (report) => {
        if (report.state === "restoring") disk.spaceBytes = 0;
        if (report.state === "completed" || report.state === "failed") resolve(report);
      },
      failed: () => undefined,
    });
    restores.start(partition, {
      ...{ tenant: TARGET, restore: "r", backup: id, from: "acme", store: "tenant", passphrase: null },
      ...{ untilMicros: null, replaces: true, isChecked: true },
    });
  });
  disk.spaceBytes = Number.POSITIVE_INFINITY;
  t.match(ended, { state: "failed", error: { code: "disk_full" } });
  t.ok(partition.places.isServed(TARGET));
  t.notOk(isEmpty(partition, TARGET));
  t.equal(partition.part(JOBS).queue.metrics[0]!.running, 1, "its jobs go on");
  await partition.part(JOBS).queue.close();
});
