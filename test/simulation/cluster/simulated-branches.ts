/**
 * What is done with branches of a tenant in a simulated cluster, by the owner of its partition: real are the engine's
 * layers, which tell a merge what has changed, and how chains are made short and the past forgotten. A transaction here
 * does what the requests do (features/branches). Each notes what it saw and did before it commits.
 *
 * For the checker, a fork reads its origin's lists and appends all of their values to lists of its own, a merge reads
 * those of the branch and appends to those of the origin, and a branch has a list that says that it was made and ended.
 */

import { requireEndable } from "../../../src/features/branches/branch-life.js";
import { takeNumber } from "../../../src/features/branches/make-branch.js";
import { keyChanges } from "../../../src/features/branches/row-changes.js";
import { DbError } from "../../../src/protocol/errors.js";
import type { Branch, BranchRecord } from "../../../src/storage/branch-list.js";
import { forked, isEnding, requireBranch } from "../../../src/storage/ending-branches.js";
import type { Engine } from "../../../src/storage/engine.js";
import { engineHasAll } from "../../../src/storage/engine-has-all.js";
import { branchKey, historyRecordKey, horizonKey, ofTenant, stampValue } from "../../../src/storage/history-keys.js";
import { putHorizon } from "../../../src/storage/history-records.js";
import { CLEARED, prefixRange, retiredKey, rowPrefix, tenantPrefix } from "../../../src/storage/keys.js";
import type { Shard } from "../../../src/storage/shard.js";
import type { ShardTransaction } from "../../../src/storage/transaction.js";
import type { Operation } from "../history.js";
import type { SeededRandom } from "../seeded-random.js";
import type { VirtualLoop } from "../virtual-loop.js";
import type { Sabotage } from "./simulated-log.js";
import type { Work } from "./work.js";

/** The last one has a number of each merge: of two merges that write the same, the one that was done is known by it. */
const MERGES = "m";
export const BRANCH_LISTS = ["a", "b", "c", MERGES];
/** Of a branch: it was made, and it has ended. */
const [MADE, ENDED] = [1, 2];
const LIFE = "life";
const STORAGE = 1;
const FILLER_STORAGE = 2;
/** Writes that make a commit large in the simulation. */
const FILLERS = 8;
/** Commits that are kept at least where the past is forgotten. */
const KEPT_COMMITS = 15;

/** A tenant, or one of its branches by name. */
export interface BranchPlace {
  readonly root: number;
  readonly name: string | null;
}

/** What all lists of a place were after a commit. */
export interface Moment {
  readonly place: BranchPlace;
  readonly sequence: number;
  readonly lists: Lists;
}

/** What the client is told of a transaction; `operations` are there before it commits. */
export interface Noted {
  readonly operations: Operation[];
}

export type Lists = ReadonlyMap<string, readonly number[]>;

/** Where a merge into the place leaves its number. */
export function nameOfMerges(place: BranchPlace): string {
  return nameOfList(place, MERGES);
}

/** The list's name in the history. */
export function nameOfList({ root, name }: BranchPlace, list: string): string {
  return `${root}.${name ?? ""}/${list}`;
}

/** Says that a branch has ended, and with what; beside its tenant's entries. */
function endKey({ root, name }: BranchPlace): Buffer {
  return Buffer.from(`gone/${root}/${name}`);
}

/** A list lies under one of two keys: who moves it to the other one deletes an entry that the origin may have. */
function keyOf(number: number, list: string, variant: number): Buffer {
  return Buffer.concat([rowPrefix(number, STORAGE), Buffer.from(`${list}${variant}`)]);
}

interface Found {
  readonly variant: number;
  readonly values: readonly number[];
}

type Reader = Pick<ShardTransaction, "get" | "scan">;

function listOf(reader: Reader, number: number, list: string, byRange: boolean): Found {
  const read = [0, 1].map((variant) => keyOf(number, list, variant));
  const found: (readonly [number, Uint8Array])[] = [];
  if (byRange) {
    const cursor = reader.scan(prefixRange(Buffer.concat([rowPrefix(number, STORAGE), Buffer.from(list)])));
    for (let part = cursor.next(1); part.keys.length > 0; part = cursor.next(1))
      found.push([Number(Buffer.from(part.keys[0]!).toString("latin1").at(-1)), part.values[0]!]);
    cursor.close();
  } else {
    for (const [variant, key] of read.entries()) {
      const value = reader.get(key);
      if (value !== undefined) found.push([variant, value]);
    }
  }
  if (found.length > 1) throw new Error(`list ${list} of ${number} is there twice`);
  const [variant, value] = found[0] ?? [0, undefined];
  return { variant, values: valuesIn(value) };
}

function valuesIn(value: Uint8Array | undefined): number[] {
  return value === undefined ? [] : (JSON.parse(Buffer.from(value).toString()) as number[]);
}

function putList(tx: ShardTransaction, number: number, list: string, found: Found, values: readonly number[]): void {
  tx.put(keyOf(number, list, found.variant), Buffer.from(JSON.stringify(values)));
}

/** Null: there is no such branch, or it ends. */
function numberOf({ layers }: Shard, { root, name }: BranchPlace): number | null {
  const number = name === null ? root : layers!.branches.named(root, name);
  return number === null || (name !== null && isEnding(layers!.branchOf(number)!)) ? null : number;
}

function isThere({ layers }: Shard, number: number, branch: Branch | null): boolean {
  return branch === null || (layers!.branchOf(number) === branch && !isEnding(branch));
}

const conflict = (): DbError => new DbError("serialization_failure");

export interface BranchWorkHost {
  readonly loop: VirtualLoop;
  readonly random: SeededRandom;
  readonly sabotage: Sabotage | null;
}

export interface TransactPlan {
  readonly appends: readonly { readonly list: string; readonly value: number }[];
  readonly isLarge: boolean;
  readonly pauseMs: number;
  /** Called with what all lists are after the commit. */
  readonly after?: (sequence: number, lists: Lists) => void;
}

export class BranchWorks {
  constructor(private readonly host: BranchWorkHost) {}

  /** Reads all lists of a place and appends to some. */
  transact(place: BranchPlace, plan: TransactPlan, noted: Noted): Work {
    return this.work(place, noted, async ({ shard, number, tx, isEnded, operations }) => {
      const lists = new Map<string, readonly number[]>();
      const { random } = this.host;
      const found = BRANCH_LISTS.map((list) => listOf(tx, number, list, random.chance(0.5)));
      for (const [i, list] of BRANCH_LISTS.entries()) {
        lists.set(list, found[i]!.values);
        operations.push({ kind: "read", key: nameOfList(place, list), list: found[i]!.values });
      }
      await this.pause(plan.pauseMs, isEnded);
      for (const { list, value } of plan.appends) {
        const at = found[BRANCH_LISTS.indexOf(list)]!;
        const values = [...lists.get(list)!, value];
        const isMoved = random.chance(0.3);
        if (isMoved) tx.delete(keyOf(number, list, at.variant));
        putList(tx, number, list, isMoved ? { ...at, variant: 1 - at.variant } : at, values);
        lists.set(list, values);
        operations.push({ kind: "append", key: nameOfList(place, list), value });
      }
      if (plan.isLarge) await this.makeLarge(shard, tx, number, plan.appends[0]!.value);
      return { done: (sequence) => plan.after?.(sequence, lists) };
    });
  }

  private async makeLarge({ largeSizes }: Shard, tx: ShardTransaction, number: number, value: number): Promise<void> {
    for (let i = 0; i < Math.max(FILLERS, largeSizes.operations); i++)
      tx.put(Buffer.concat([rowPrefix(number, FILLER_STORAGE), Buffer.of(value % 50, i)]), Buffer.from(String(value)));
    await tx.prepareCommit({ checkpoint: () => undefined, shouldYield: () => false, yieldTurn: async () => undefined });
  }

  /** `moment`: of the origin; null: as it is. */
  fork(origin: BranchPlace, name: string, moment: Moment | null, noted: Noted): Work {
    const made: BranchPlace = { root: origin.root, name };
    return this.work(origin, noted, async ({ shard, number: from, tx, isEnded, durable, operations }) => {
      const { sabotage } = this.host;
      const layers = shard.layers!;
      const start = moment === null ? null : layers.stampOf(from, moment.sequence);
      if (moment !== null && start === null) throw conflict();
      requireBranch(layers, from);
      const number = takeNumber(tx, origin.root);
      operations.push({ kind: "append", key: nameOfList(made, LIFE), value: MADE });
      for (const list of BRANCH_LISTS) {
        const values = moment === null ? listOf(tx, from, list, true).values : moment.lists.get(list)!;
        if (moment === null) operations.push({ kind: "read", key: nameOfList(origin, list), list: values });
        for (const value of values) operations.push({ kind: "append", key: nameOfList(made, list), value });
      }
      const record: BranchRecord = {
        ...{ origin: from, root: origin.root, name, createdAt: "", createdBy: "", start, expiresAtMs: null },
      };
      tx.put(branchKey(number), Buffer.from(JSON.stringify(record)));
      return {
        done: async (sequence) => {
          if (sabotage !== "a branch ends while it is forked") forked(shard, from);
          await durable(sequence);
          return this.begun(shard, number, isEnded);
        },
      };
    });
  }

  /** As features/branches/make-branch.ts: what it begins with was there until the engine had the record. */
  private async begun(shard: Shard, number: number, isEnded: () => boolean): Promise<void> {
    const layers = shard.layers!;
    while (layers.branchOf(number) === null) {
      if (isEnded() || shard.failed !== null) throw new DbError("partition_unavailable");
      await this.host.loop.sleep(1);
    }
    const { origin, start } = layers.branchOf(number)!;
    const oldest = layers.oldestOf(origin);
    if (oldest !== null && oldest.sequence <= start.sequence) return;
    this.commitEnd(shard, number, null);
    throw conflict();
  }

  /** What the branch has changed since the last merge, or since the fork, into its origin. `id`: of this merge. */
  merge(place: BranchPlace, origin: BranchPlace, id: number, noted: Noted): Work {
    return this.work(place, noted, async ({ shard, number, tx, isEnded, operations }) => {
      const { loop, random, sabotage } = this.host;
      const layers = shard.layers!;
      const branch = layers.branchOf(number)!;
      const turn = async (): Promise<void> => {
        if (isEnded()) throw new DbError("partition_unavailable");
        await loop.sleep(random.next() * 2);
      };
      await engineHasAll(shard, turn);
      const { writes: before } = branch;
      tx.noteRead(prefixRange(tenantPrefix(number)));
      const changes = new Map<string, { base: number[]; theirs: number[] }>([[MERGES, { base: [], theirs: [] }]]);
      for await (const { key, base, theirs } of keyChanges(layers, number, branch, turn, { sinceMerge: true })) {
        const row = Buffer.from(key).toString("latin1");
        if (!row.startsWith(rowPrefix(branch.origin, STORAGE).toString("latin1"))) continue;
        const change = changes.get(row.at(-2)!) ?? { base: [], theirs: [] };
        changes.set(row.at(-2)!, change);
        change.base.push(...valuesIn(base));
        change.theirs.push(...valuesIn(theirs));
      }
      for (const [list, { base, theirs }] of changes) {
        const ours = listOf(tx, branch.origin, list, random.chance(0.5));
        if (theirs.length > 0) operations.push({ kind: "read", key: nameOfList(place, list), list: theirs });
        operations.push({ kind: "read", key: nameOfList(origin, list), list: ours.values });
        const added = [...theirs.slice(base.length), ...(list === MERGES ? [id] : [])];
        putList(tx, branch.origin, list, ours, [...ours.values, ...added]);
        for (const value of added) operations.push({ kind: "append", key: nameOfList(origin, list), value });
      }
      const stored = tx.get(branchKey(number));
      if (stored === undefined) throw conflict();
      const known = JSON.parse(Buffer.from(stored).toString()) as BranchRecord;
      const merged = { tables: null, definitions: false };
      const isForgotten = sabotage === "a merge does not say up to where";
      const record: BranchRecord = { ...known, start: branch.start, ...(!isForgotten && { merged }) };
      tx.put(branchKey(number), Buffer.from(JSON.stringify(record)));
      if (branch.writes !== before) throw conflict();
      return {};
    });
  }

  /** Ends a branch that nothing was forked from. */
  drop(place: BranchPlace, noted: Noted): Work {
    return async (shard) => {
      const number = numberOf(shard, place);
      if (number === null) return { seen: shard.committedSequence, value: null };
      try {
        requireEndable({ shard }, number);
      } catch (error) {
        if (error instanceof DbError && error.code === "conflict")
          return { seen: shard.committedSequence, value: null };
        throw error;
      }
      noted.operations.push({ kind: "append", key: nameOfList(place, LIFE), value: ENDED });
      return { seen: this.commitEnd(shard, number, place), value: noted.operations };
    };
  }

  /** As features/branches/branch-life.ts. `place`: whose end is told. */
  private commitEnd(shard: Shard, number: number, place: BranchPlace | null): number {
    const branch = shard.layers!.branchOf(number)!;
    const tx = shard.begin({ isolation: "read committed" });
    if (place !== null) {
      const last = BRANCH_LISTS.map((list) => listOf(tx, number, list, true).values);
      tx.put(endKey(place), Buffer.from(JSON.stringify(last)));
    }
    tx.put(retiredKey(branch.root, tenantPrefix(number)), CLEARED);
    tx.delete(historyRecordKey(number));
    tx.delete(horizonKey(number));
    tx.delete(branchKey(number));
    const sequence = tx.commit();
    if (this.host.sabotage !== "a branch that ends takes writes") branch.endedBy = sequence;
    return sequence;
  }

  /** From now on the tenant's past is kept. */
  keepPast(root: number): Work {
    return async (shard) => {
      const tx = shard.begin();
      if (tx.get(historyRecordKey(root)) === undefined) tx.put(historyRecordKey(root), Buffer.from("{}"));
      return { seen: tx.commit(), value: [] };
    };
  }

  /** The lists as they were; `value` null where nobody can tell. */
  past({ place, sequence }: Moment): Work {
    return async (shard, isEnded) => {
      const { loop } = this.host;
      const layers = shard.layers!;
      await engineHasAll(shard, async () => {
        if (isEnded()) throw new DbError("partition_unavailable");
        await loop.sleep(1);
      });
      const number = numberOf(shard, place);
      const oldest = number === null ? null : layers.oldestOf(number);
      const seen = shard.committedSequence;
      if (number === null || oldest === null || oldest.sequence > sequence) return { seen, value: null };
      return { seen, value: readAll(layers.asOf(sequence), number) };
    };
  }

  /** Runs in a transaction at a place. What it notes is noted before it commits. */
  private work(
    place: BranchPlace,
    noted: Noted,
    run: (at: {
      readonly shard: Shard;
      readonly number: number;
      readonly tx: ShardTransaction;
      readonly operations: Operation[];
      isEnded(): boolean;
      durable(sequence: number): Promise<void>;
    }) => Promise<{ readonly done?: (sequence: number) => void | Promise<void> }>,
  ): Work {
    return async (shard, isEnded, durable) => {
      const number = numberOf(shard, place);
      if (number === null) return { seen: shard.committedSequence, value: null };
      const branch = shard.layers!.branchOf(number);
      const tx = shard.begin();
      try {
        const operations: Operation[] = [];
        if (branch !== null) operations.push({ kind: "read", key: nameOfList(place, LIFE), list: [MADE] });
        const { done } = await run({ shard, number, tx, isEnded, durable, operations });
        if (isEnded()) throw new DbError("partition_unavailable");
        if (!isThere(shard, number, branch)) throw conflict();
        noted.operations.push(...operations);
        const seen = tx.commit();
        await done?.(seen);
        return { seen, value: operations };
      } catch (error) {
        tx.rollback();
        throw error;
      }
    };
  }

  private async pause(ms: number, isEnded: () => boolean): Promise<void> {
    const { loop } = this.host;
    for (let left = ms; left > 0 && !isEnded(); left -= 20) await loop.sleep(Math.min(left, 20));
  }
}

function readAll(engine: Pick<Engine, "get" | "cursor">, number: number): Lists {
  const reader: Reader = { get: (key) => engine.get(key), scan: (range) => engine.cursor(range) };
  const lists = BRANCH_LISTS.map((list) => {
    const byRange = listOf(reader, number, list, true);
    if (JSON.stringify(byRange) !== JSON.stringify(listOf(reader, number, list, false)))
      throw new Error(`list ${list} of ${number} is another by its key`);
    return [list, byRange.values] as const;
  });
  return new Map(lists);
}

/** Lists of the place as they are at the end, by their names in the history. */
export function finalLists(shard: Shard, place: BranchPlace): readonly (readonly [string, readonly number[]])[] {
  const number = numberOf(shard, place);
  const named = (lists: readonly (readonly number[])[], life: readonly number[]) => [
    ...BRANCH_LISTS.map((list, i) => [nameOfList(place, list), lists[i] ?? []] as const),
    [nameOfList(place, LIFE), life] as const,
  ];
  if (number !== null) return named([...readAll(shard.engine, number).values()], place.name === null ? [] : [MADE]);
  const end = shard.engine.get(endKey(place));
  return end === undefined ? named([], []) : named(JSON.parse(Buffer.from(end).toString()), [MADE, ENDED]);
}

/** All that a tenant and its branches hold, as their readers see it: copies of a partition have the same. */
export function contentOfBranches({ layers, engine }: Shard, root: number): readonly string[] {
  return [root, ...layers!.branchesUnder(root).map(([number]) => number)].flatMap((number) => {
    const cursor = engine.cursor(prefixRange(tenantPrefix(number)));
    const { keys, values } = cursor.next(10_000);
    cursor.close();
    return keys.map((key, i) => `${Buffer.from(ofTenant(key, number)).toString("latin1")}=${values[i]}`);
  });
}

/** Makes chains short, counts what branches hold, and forgets what is old: what an actor does in the background. */
export class BranchCare {
  /** `sequence`: of the commit that says so. */
  private forgetting: { readonly tenant: number; readonly sequence: number; from: Uint8Array | null } | null = null;

  constructor(
    private readonly shard: Shard,
    private readonly random: SeededRandom,
    private readonly roots: readonly number[],
    private readonly sabotage: Sabotage | null,
  ) {}

  /** A turn's work. */
  some(): void {
    const { random, shard } = this;
    const layers = shard.layers!;
    if (shard.failed !== null) return;
    for (let left = random.between(0, 6); left > 0; left--)
      if (!layers.countSome(4) && !layers.flat.some(random.between(1, 4))) break;
    this.forgetSome();
  }

  private forgetSome(): void {
    const { shard, random } = this;
    const layers = shard.layers!;
    if (this.forgetting === null && random.chance(0.15)) {
      const root = random.pick(this.roots);
      this.moveHorizon(random.pick([root, ...layers.branchesUnder(root).map(([number]) => number)]));
    }
    if (this.forgetting === null || shard.appliedSequence < this.forgetting.sequence) return;
    const { tenant, from } = this.forgetting;
    this.forgetting.from = layers.forget(tenant, from, 8);
    if (this.forgetting.from === null) this.forgetting = null;
  }

  private moveHorizon(tenant: number): void {
    const { shard, sabotage } = this;
    const layers = shard.layers!;
    const before = layers.stampOf(tenant, shard.appliedSequence - KEPT_COMMITS);
    const to = before === null ? null : layers.horizonFor(tenant, before);
    if (to === null) return;
    if (sabotage === "each owner forgets by itself") {
      layers.write([{ key: horizonKey(tenant), value: stampValue(to) }]);
      this.forgetting = { tenant, sequence: 0, from: null };
      return;
    }
    const tx = shard.begin();
    putHorizon(tx, tenant, to);
    this.forgetting = { tenant, sequence: tx.commit(), from: null };
  }
}
