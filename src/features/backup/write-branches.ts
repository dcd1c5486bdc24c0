/**
 * Writes the branches of a tenant into its backup, as steps (backup/backup-branches.ts). A restore cannot fork in the
 * past, so the steps take the tenant back to where its first branch begins, fork, go on to where the next one begins,
 * and so on to the present; then the same for branches of branches. Only what has changed since is read, and what a
 * branch has of its own. Called by write-backup.ts.
 */
import { type BackedUpBranch, type BranchStep, encodeStep, TENANT_ITSELF } from "../../backup/backup-branches.js";
import type { Turns } from "../../protocol/turns.js";
import { operationsInTenant } from "../../storage/backup-entries.js";
import { BLOCK } from "../../storage/backup-file.js";
import { type Branch, type BranchRecord, NO_ORIGIN } from "../../storage/branch-list.js";
import { isEnding } from "../../storage/ending-branches.js";
import { layerRecordOf } from "../../storage/history-keys.js";
import { prefixRange, tenantOfKey, tenantPrefix } from "../../storage/keys.js";
import { partsOf } from "../../storage/large-commit.js";
import { LARGE_COMMIT_SIZES } from "../../storage/large-commit-sizes.js";
import type { LayeredEngine } from "../../storage/layered-engine.js";
import { type MergeRecord, mergesOf, NO_MERGES } from "../../storage/merge-points.js";
import type { Operation } from "../../storage/operation.js";
import { WrittenIntervals } from "./written-intervals.js";

/** Keys that are read at a time. */
const KEYS_AT_ONCE = 64;

/** Where the steps go. */
export interface StepWriter {
  add(piece: Uint8Array, entries: number, kind: number): void;
  readonly isFull: boolean;
  flush(): Promise<void>;
}

type Read = (keys: readonly Uint8Array[]) => readonly (Uint8Array | undefined)[];

export class BranchesWriter {
  /** Branches that the backup knows where it is now. */
  readonly known: Set<number>;
  /** Of these, those that may have what later commits wrote, whose turn in the log has not come. */
  private readonly ahead = new Set<number>();

  constructor(
    private readonly layers: LayeredEngine,
    private readonly tenant: number,
    known: Iterable<number>,
    private readonly out: StepWriter,
    private readonly turns: Turns,
  ) {
    this.known = new Set(known);
  }

  /**
   * All that are there, after the tenant's entries were written as of that commit, the newest. The commits after it
   * have to follow, from the log.
   */
  async all(sequence: number): Promise<void> {
    await this.held(async (members) => {
      for (const [number] of members) this.known.add(number);
      await this.layersOf(this.tenant, members, sequence);
      await this.layersOf(NO_ORIGIN, members, sequence);
    });
  }

  /** Work that needs the past back to where the branches of now begin: none of them ends meanwhile. */
  async held(work: (members: readonly (readonly [number, Branch])[]) => Promise<void>): Promise<void> {
    const members = this.layers.branchesUnder(this.tenant).filter(([, branch]) => !isEnding(branch));
    for (const [, branch] of members) branch.readers++;
    try {
      await work(members);
    } finally {
      for (const [, branch] of members) branch.readers--;
    }
  }

  private async layersOf(
    origin: number,
    members: readonly (readonly [number, Branch])[],
    sequence: number,
  ): Promise<void> {
    const forks = members.filter(([, branch]) => branch.origin === origin);
    const stops = [
      ...forks.map(([number, branch]) => ({ at: branch.start, take: () => this.fork(number, branch, null) })),
      ...mergesOf(this.layers.branchOf(origin)?.merges ?? NO_MERGES).map(({ at, ...merged }) => ({
        at,
        take: () => this.step({ what: "merge", branch: origin, merged, micros: null }),
      })),
    ].sort((a, b) => a.at.sequence - b.at.sequence);
    const starts = stops.map(({ at }) => at.sequence);
    if (origin !== this.tenant) await this.ownOf(origin, starts[0] ?? null);
    else if (starts.length > 0) await this.changedSince(origin, starts[0]!, sequence, this.at(starts[0]!));
    const bounds = [...starts, sequence];
    const intervals = new WrittenIntervals(this.layers, origin, bounds, this.turns);
    for (const [i, stop] of stops.entries()) {
      stop.take();
      const [since, upTo] = [bounds[i]!, bounds[i + 1]!];
      const keys = await intervals.take(i);
      if (keys === null) await this.changedSince(origin, since, upTo, this.at(upTo));
      else await this.writeAll(origin, keys, this.at(upTo));
    }
    for (const [number] of forks) await this.layersOf(number, members, sequence);
  }

  /** What a branch has of its own, as it was after a commit; null: as it is, since its past is not kept. */
  private async ownOf(branch: number, sequence: number | null, micros: number | null = null): Promise<void> {
    if (sequence === null) this.ahead.add(branch);
    else this.ahead.delete(branch);
    const read = sequence === null ? this.now : this.at(sequence);
    let after: Uint8Array | null = null;
    do {
      const keys = this.layers.changedKeys(branch, after, KEYS_AT_ONCE);
      await this.write(branch, keys, read, micros);
      after = keys.length < KEYS_AT_ONCE ? null : keys.at(-1)!;
    } while (after !== null);
    // One that began empty keeps no note of what it has deleted, but its past has it.
    const isFree = this.layers.branchOf(branch)?.origin === NO_ORIGIN;
    if (isFree && sequence !== null) await this.changedSince(branch, sequence, null, read, micros);
  }

  /** Keys that commits from behind `since` to `upTo` (null: all) have written. */
  private async changedSince(
    tenant: number,
    since: number,
    upTo: number | null,
    read: Read,
    micros: number | null = null,
  ): Promise<void> {
    const range = prefixRange(tenantPrefix(tenant));
    let from: Uint8Array | null = null;
    let last: Uint8Array | undefined;
    do {
      const { keys, next } = this.layers.writtenSince(range, since, from, KEYS_AT_ONCE, upTo);
      // A key comes once for each commit that has written it, one after the other.
      const others = keys.filter((key, i) => !isSame(key, i === 0 ? last : keys[i - 1]));
      last = keys.at(-1) ?? last;
      await this.write(tenant, others, read, micros);
      from = next;
    } while (from !== null);
  }

  private async writeAll(tenant: number, keys: readonly Uint8Array[], read: Read): Promise<void> {
    for (let at = 0; at < keys.length; at += KEYS_AT_ONCE)
      await this.write(tenant, keys.slice(at, at + KEYS_AT_ONCE), read, null);
  }

  private async write(tenant: number, keys: readonly Uint8Array[], read: Read, micros: number | null): Promise<void> {
    if (keys.length > 0) {
      const values = read(keys);
      // Values of any size: no block may have many large ones.
      const parts = partsOf(
        keys.map((key, i) => ({ key, value: values[i] ?? null })),
        LARGE_COMMIT_SIZES,
      );
      for (const part of parts) {
        this.writes(tenant, part, micros);
        if (this.out.isFull) await this.out.flush();
      }
    }
    if (this.out.isFull) await this.out.flush();
    await this.turns.yieldTurn();
  }

  private writes(tenant: number, operations: readonly Operation[], micros: number | null): void {
    const own = operationsInTenant(operations);
    if (own.length > 0) this.step({ what: "write", branch: this.numberOf(tenant), micros }, own);
  }

  private fork(number: number, record: BranchRecord, micros: number | null): void {
    const origin = this.numberOf(record.origin);
    this.step({ what: "fork", branch: number, origin, record: shownOf(record), micros });
    this.known.add(number);
  }

  private step(step: BranchStep, operations: readonly Operation[] = []): void {
    this.out.add(encodeStep(step, operations), operations.length, BLOCK.branches);
  }

  private numberOf(tenant: number): number {
    return tenant === this.tenant ? TENANT_ITSELF : tenant;
  }

  private readonly now: Read = (keys) => this.layers.getMany(keys);

  private at(sequence: number): Read {
    return (keys) => this.layers.getManyAsOf(keys, sequence);
  }

  /**
   * What a commit of the log has of branches: what was written in them, their forks and ends. Called while those are
   * held that are there after the last commit.
   */
  async commit(operations: readonly Operation[], sequence: number, micros: number): Promise<void> {
    const written = new Map<number, Operation[]>();
    for (const operation of operations) {
      const record = layerRecordOf(operation.key);
      if (record?.kind === "branch") await this.recorded(record.tenant, operation.value, sequence, micros);
      const tenant = tenantOfKey(operation.key);
      if (!this.known.has(tenant)) continue;
      const own = written.get(tenant);
      if (own === undefined) written.set(tenant, [operation]);
      else own.push(operation);
    }
    for (const [tenant, own] of written) this.writes(tenant, own, micros);
  }

  private async recorded(number: number, value: Uint8Array | null, sequence: number, micros: number): Promise<void> {
    if (value === null) {
      if (this.known.delete(number)) this.step({ what: "end", branch: number, micros });
      return;
    }
    const record = JSON.parse(Buffer.from(value).toString()) as BranchRecord;
    if (this.known.has(number)) {
      this.step({ what: "change", branch: number, record: shownOf(record), micros });
      if (record.merged !== undefined) await this.merged(number, record.merged, sequence, micros);
    } else if (record.root === this.tenant && this.knows(record.origin)) {
      if (record.start === null && !this.ahead.has(record.origin)) this.fork(number, record, micros);
      else await this.forkOfPast(number, record, sequence, micros);
    }
  }

  /** The branch has now what the merge began with, so that a later one can go on from there. */
  private async merged(number: number, merged: MergeRecord, sequence: number, micros: number): Promise<void> {
    if (this.ahead.has(number)) {
      const branch = this.layers.branchOf(number);
      if (branch === null || isEnding(branch)) return;
      // What it had then is not kept any more where a later merge stands for this one.
      if (!mergesOf(branch.merges).some(({ at }) => at.sequence === sequence)) return;
      await this.ownOf(number, sequence, micros);
    }
    this.step({ what: "merge", branch: number, merged, micros });
  }

  private knows(origin: number): boolean {
    return origin === this.tenant || origin === NO_ORIGIN || this.known.has(origin);
  }

  /** It begins with a past state: its origin goes back to it and on again. One that has ended since is left out. */
  private async forkOfPast(number: number, record: BranchRecord, sequence: number, micros: number): Promise<void> {
    const branch = this.layers.branchOf(number);
    if (branch === null || isEnding(branch)) return;
    const { origin } = record;
    const start = branch.start.sequence;
    if (this.ahead.has(origin)) await this.ownOf(origin, start, micros);
    else await this.changedSince(origin, start, sequence, this.at(start), micros);
    this.fork(number, record, micros);
    await this.changedSince(origin, start, sequence, this.at(sequence), micros);
  }
}

function isSame(key: Uint8Array, other: Uint8Array | undefined): boolean {
  return other !== undefined && Buffer.compare(key, other) === 0;
}

function shownOf(record: BranchRecord): BackedUpBranch {
  const { name, createdAt, createdBy, expiresAtMs, quotaBytes = null, access } = record;
  return { name, createdAt, createdBy, expiresAtMs, quotaBytes, ...(access !== undefined && { access }) };
}
