/**
 * Makes the branches of a backup again, from its steps (write-branches.ts): under new numbers, and under other names
 * where the tenant has branches of these names. They are marked until the restore has ended. What an interrupted
 * restore has left goes before the next one. Called by restores.ts.
 */
import type { Partition } from "../../actor/partition.js";
import { type BackedUpBranch, type BranchStep, TENANT_ITSELF } from "../../backup/backup-branches.js";
import { DbError } from "../../protocol/errors.js";
import { BRANCHES_MAX } from "../../protocol/limits.js";
import { keyOfTenant } from "../../storage/backup-entries.js";
import { type BranchRecord, NO_ORIGIN } from "../../storage/branch-list.js";
import { engineHasAll } from "../../storage/engine-has-all.js";
import { branchKey } from "../../storage/history-keys.js";
import type { LayeredEngine } from "../../storage/layered-engine.js";
import type { MergeRecord } from "../../storage/merge-points.js";
import type { Operation } from "../../storage/operation.js";
import type { Transaction } from "../../storage/store.js";
import { endBranch, endBranches } from "../branches/branch-life.js";
import { takeNumber } from "../branches/make-branch.js";
import { writeEntries } from "../placement/write-entries.js";

const NAME_MAX = 63;
/** Records that are made in one turn. */
const RECORDS_AT_ONCE = 64;

interface Restored {
  readonly number: number;
  /** As the backup has it last. */
  record: BackedUpBranch;
}

export class RestoredBranches {
  /** By the numbers that they had. */
  private readonly made = new Map<number, Restored>();

  constructor(
    private readonly partition: Partition,
    private readonly tenant: number,
    private readonly turn: () => Promise<void>,
  ) {}

  /** Ends those that a restore has left which did not end. `all`: whichever there are. */
  removeLeft(all: boolean): Promise<void> {
    return endBranches(this.partition, this.tenant, ({ isRestoring }) => all || isRestoring === true, this.turn);
  }

  async take(step: BranchStep, operations: readonly Operation[]): Promise<void> {
    const { what, branch } = step;
    if (what === "fork") {
      await this.fork(step);
      return;
    }
    const number = branch === TENANT_ITSELF ? this.tenant : this.restored(branch).number;
    if (what === "change") this.restored(branch).record = step.record!;
    else if (what === "merge") await this.merge(number, step.merged!);
    else if (what === "write") {
      const own = operations.map(({ key, value }) => ({ key: keyOfTenant(number, key), value }));
      await writeEntries(this.partition, number, own, this.turn);
    } else {
      this.made.delete(branch);
      endBranch(this.partition, number);
      await engineHasAll(this.partition.shard, this.turn);
    }
  }

  private restored(branch: number): Restored {
    const found = this.made.get(branch);
    if (found === undefined) throw new DbError("backup_damaged", "The backup writes to a branch before its fork.");
    return found;
  }

  private async fork({ branch, origin, record }: BranchStep): Promise<void> {
    const { shard } = this.partition;
    const layers = this.layers;
    if (this.made.has(branch)) throw new DbError("backup_damaged", "The backup forks a branch twice.");
    if (layers.branchesUnder(this.tenant).length >= BRANCHES_MAX) {
      const message = `A tenant has at most ${BRANCHES_MAX} branches, and the backup has more. Delete some first.`;
      throw new DbError("conflict", message);
    }
    // What it begins with is in the engine: the record's commit is the one that it begins with.
    await engineHasAll(shard, this.turn);
    const tx = shard.begin({ isolation: "read committed" });
    const number = takeNumber(tx, this.partition.number);
    const made: BranchRecord = {
      ...record!,
      origin: this.originNow(origin!),
      ...{ root: this.tenant, start: null, name: freeName(layers, this.tenant, record!.name) },
      // It stays, and may hold all that it held, until the restore has ended.
      ...{ expiresAtMs: null, quotaBytes: null, isRestoring: true },
    };
    tx.put(branchKey(number), Buffer.from(JSON.stringify(made)));
    tx.commit();
    this.partition.wroteSomething(this.tenant);
    await engineHasAll(shard, this.turn);
    this.made.set(branch, { number, record: record! });
  }

  /** Its past is kept from there on, as where the backup was made. */
  private async merge(number: number, merged: MergeRecord): Promise<void> {
    const { shard } = this.partition;
    await engineHasAll(shard, this.turn);
    const { start } = this.layers.branchOf(number)!;
    const tx = shard.begin({ isolation: "read committed" });
    const stored = JSON.parse(Buffer.from(tx.get(branchKey(number))!).toString()) as BranchRecord;
    const record: BranchRecord = { ...stored, start, merged };
    tx.put(branchKey(number), Buffer.from(JSON.stringify(record)));
    tx.commit();
    this.partition.wroteSomething(this.tenant);
    await engineHasAll(shard, this.turn);
  }

  private originNow(origin: number): number {
    if (origin === NO_ORIGIN) return NO_ORIGIN;
    return origin === TENANT_ITSELF ? this.tenant : this.restored(origin).number;
  }

  private get layers(): LayeredEngine {
    const { layers } = this.partition.shard;
    if (layers === null) throw new DbError("not_supported", "The backup has branches, and this partition keeps none.");
    return layers;
  }

  /**
   * A transaction from whose commit on they are the tenant's: the caller commits it, and then calls `forget`.
   * `micros`: the moment that was restored.
   */
  async finished(micros: number): Promise<Transaction> {
    const tx = this.partition.shard.begin({ isolation: "read committed" });
    try {
      let made = 0;
      for (const { number, record } of this.made.values()) {
        tx.put(branchKey(number), Buffer.from(JSON.stringify(this.finishedRecord(number, record, micros))));
        if (++made % RECORDS_AT_ONCE === 0) await this.turn();
      }
      return tx;
    } catch (error) {
      tx.rollback();
      throw error;
    }
  }

  private finishedRecord(number: number, record: BackedUpBranch, micros: number): BranchRecord {
    const { origin, root, name, start } = this.layers.branchOf(number)!;
    // As much of its time is left as then.
    const expiresAtMs = record.expiresAtMs === null ? null : Date.now() + record.expiresAtMs - micros / 1000;
    return { ...record, origin, root, name, start, expiresAtMs };
  }

  /** What the partition knows of them besides. */
  forget(): void {
    for (const { number } of this.made.values()) this.partition.forget(number);
  }
}

function freeName(layers: LayeredEngine, tenant: number, name: string): string {
  for (let i = 1; ; i++) {
    const end = i === 1 ? "" : i === 2 ? "-restored" : `-restored-${i - 1}`;
    const free = `${name.slice(0, NAME_MAX - end.length)}${end}`;
    if (layers.branches.named(tenant, free) === null) return free;
  }
}
