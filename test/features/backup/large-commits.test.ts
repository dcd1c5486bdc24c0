/** Incremental backups across commits of any size, and over logs that have lost what they need. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as settle } from "node:timers/promises";
import t, { type Test } from "tap";
import { Partition } from "../../../src/actor/partition.js";
import { BackupFolder, bytesOfId, type Manifest } from "../../../src/backup/backup-folder.js";
import { operationsOf, verifyBackups } from "../../../src/backup/read-backups.js";
import { loadConfig } from "../../../src/config/load-config.js";
import { Backups } from "../../../src/features/backup/backups.js";
import type { BackupReport } from "../../../src/protocol/backup-orders.js";
import { readBackup } from "../../../src/storage/backup-file.js";
import type { CommitLog } from "../../../src/storage/commit-log.js";
import { FileCommitLog } from "../../../src/storage/file-commit-log.js";
import { rowPrefix } from "../../../src/storage/keys.js";
import { MemoryCommitLog } from "../../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../../src/storage/memory-engine.js";
import { Shard } from "../../../src/storage/shard.js";
import { applyBacklog } from "../../storage/apply-backlog.js";
import { CountedReads } from "../../storage/counted-reads.js";
import { SimulatedDisk } from "../../storage/simulated-disk.js";

const CONFIG = loadConfig({ env: {} });
const TENANT = 7;
const OTHER = 8;

class World {
  private readonly root = mkdtempSync(join(tmpdir(), "tessera-large-commits-"));
  readonly folder = new BackupFolder(this.root);
  onTurn = (): void => undefined;
  private told: (report: BackupReport) => void = () => undefined;
  private readonly backups = new Backups({
    scheduler: {
      shouldYield: () => true,
      yieldTurn: async () => {
        this.onTurn();
        this.partition.flush(() => undefined);
        await settle();
      },
    },
    folders: { tenant: this.folder, whole: this.folder },
    report: (report) => this.told(report),
    log: () => undefined,
  });

  private constructor(readonly partition: Partition) {}

  static async open(t: Test, log: CommitLog): Promise<World> {
    let partition: Partition | null = null;
    const shard = await Shard.open({
      ...{ engine: new MemoryEngine(), log },
      onDurable: (sequence) => partition?.gate.open(sequence),
    });
    partition = new Partition(0, shard, CONFIG, () => setImmediate(() => partition!.flush(() => undefined)));
    const world = new World(partition);
    t.teardown(() => rmSync(world.root, { recursive: true }));
    return world;
  }

  /** Its time. */
  async commit(rows: number, name: string): Promise<number> {
    const { shard } = this.partition;
    const tx = shard.begin();
    for (let n = 0; n < rows; n++) {
      tx.put(Buffer.concat([rowPrefix(TENANT, 1), Buffer.from(`${name}${n}`)]), Buffer.alloc(300, name));
      tx.put(Buffer.concat([rowPrefix(OTHER, 1), Buffer.from(`${name}${n}`)]), Buffer.alloc(300, name));
    }
    await tx.prepareCommit({ checkpoint: () => {}, shouldYield: () => false, yieldTurn: settle });
    const sequence = tx.commit();
    shard.flush();
    await applyBacklog(shard);
    await this.partition.durable();
    for (const entry of shard.log.replay(sequence)) return entry.micros;
    throw new Error("it is not in the log");
  }

  order(base: "newest" | "none" | { readonly continues: string }): Promise<BackupReport> {
    return new Promise((resolve) => {
      this.told = (report) => {
        if (report.state === "completed" || report.state === "failed") resolve(report);
      };
      this.backups.order(this.partition, {
        ...{ do: "create", ask: "a", tenantId: "acme", tenant: TENANT, store: "tenant", passphrase: null },
        ...{ base, schedule: null, verifies: true },
      });
    });
  }

  async made(base: "newest" | "none"): Promise<Manifest> {
    const { backup, error } = await this.order(base);
    if (backup === null) throw new Error(error!.message);
    return this.folder.get("acme", backup.id);
  }

  source() {
    return { dataOf: (one: Manifest) => this.folder.dataOf(one), passphrase: null };
  }

  /** How many rows of each name a restore would give. */
  async rowsAt(backup: Manifest, micros: number | null): Promise<Record<string, number>> {
    const rows = new Set<string>();
    for await (const { operations } of operationsOf(this.folder.chainOf(backup), this.source(), micros))
      for (const { key } of operations) rows.add(Buffer.from(key).toString("latin1"));
    const counts: Record<string, number> = {};
    for (const row of rows) {
      const name = /[a-z]+(?=\d+$)/.exec(row)![0];
      counts[name] = (counts[name] ?? 0) + 1;
    }
    return counts;
  }
}

t.test("a large commit is written in pieces; a moment has all of it or nothing", async (t) => {
  const log = new MemoryCommitLog();
  const world = await World.open(t, log);
  await world.commit(1, "base");
  await world.made("none");
  const before = await world.commit(1, "before");
  const large = await world.commit(4000, "large");
  await world.commit(1, "after");
  const reads = new CountedReads(log);
  world.onTurn = () => reads.turn();
  const backup = await world.made("newest");
  t.equal(backup.kind, "incremental");
  t.ok(reads.most > 0 && reads.most <= 256, `${reads.most} operations are read in a turn`);
  const blocks: number[] = [];
  const seal = { backup: bytesOfId(backup.id), key: null };
  for await (const { body } of readBackup(world.folder.dataOf(backup), seal)) blocks.push(body.length);
  t.ok(blocks.length >= 4, `${blocks.length} blocks`);
  t.ok(Math.max(...blocks) <= 512 * 1024, `the largest block has ${Math.max(...blocks)} bytes`);
  t.strictSame(await world.rowsAt(backup, before), { base: 1, before: 1 });
  t.strictSame(await world.rowsAt(backup, large - 1), { base: 1, before: 1 });
  t.strictSame(await world.rowsAt(backup, large), { base: 1, before: 1, large: 4000 });
  t.strictSame(await world.rowsAt(backup, null), { base: 1, before: 1, large: 4000, after: 1 });
  const verified = await verifyBackups(world.folder.chainOf(backup), world.source(), async () => undefined);
  t.equal(verified.entries, 4003);
});

t.test("where the log has a gap a full backup is made, which says why; to continue one is refused", async (t) => {
  const log = new MemoryCommitLog();
  const world = await World.open(t, log);
  await world.commit(1, "base");
  const base = await world.made("none");
  await world.commit(1, "lost");
  log.appendGap(log.lastSequence, Date.now() * 1000);
  const refused = await world.order({ continues: base.id });
  t.match(refused, {
    state: "failed",
    error: { code: "conflict", message: /^until: the commit log does not continue/ },
  });
  const backup = await world.made("newest");
  t.match(backup, { kind: "full", base: null, note: /^This is a full backup because the commit log/ });
  t.strictSame(await world.rowsAt(backup, null), { base: 1, lost: 1 });
});

t.test("a log that is trimmed while a large commit is read gives a full backup", async (t) => {
  const disk = new SimulatedDisk();
  const log = await FileCommitLog.open({ directory: "log", disk, segmentBytes: 50_000, retentionBytes: 0 });
  const world = await World.open(t, log);
  await world.commit(1, "base");
  await world.made("none");
  await world.commit(2000, "large");
  for (let n = 0; n < 100; n++) await world.commit(1, "after");
  const reads = new CountedReads(log);
  let turns = 0;
  world.onTurn = () => {
    reads.turn();
    if (reads.most > 0 && ++turns === 3) log.trim(log.lastSequence);
  };
  const backup = await world.made("newest");
  t.ok(turns > 3);
  t.match(backup, { kind: "full", note: /^This is a full backup because the commit log/ });
  t.strictSame(await world.rowsAt(backup, null), { base: 1, large: 2000, after: 1 });
});
