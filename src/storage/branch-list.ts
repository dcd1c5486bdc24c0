/** The branches of a partition, by number, by name and by what they were forked from. Kept by layered-engine.ts. */
import { type MergePoints, type MergeRecord, oldestPoint } from "./merge-points.js";
import type { CommitStamp } from "./operation.js";

/** Numbers of branches are between these; those of tenants stay below. */
export const FIRST_BRANCH = 2 ** 30;
export const LAST_BRANCH = 2 ** 31 - 1;
/** The origin of branches that begin empty: a number that no tenant has, so that nothing is ever read through to it. */
export const NO_ORIGIN = FIRST_BRANCH - 1;

/** Who may enter a branch, where not everybody who may use its tenant. Administrators who have signed in always may. */
export interface BranchAccess {
  /** By name; absent: all. */
  readonly users?: readonly string[];
  /** API keys, by id; absent: those of users who may. */
  readonly keys?: readonly string[];
  /** Roles and policies of the branch alone say what is seen in it; absent: those of the tenant must allow all. */
  readonly ownPolicies?: true;
}

/** The record of a branch: what makes it, and what its feature keeps there. */
export interface BranchRecord {
  /** The tenant or branch that it was forked from; NO_ORIGIN: it began empty. */
  readonly origin: number;
  /**
   * The commit that it begins with: it has what its origin had after it. Null in the record: the one that makes the
   * record.
   */
  readonly start: CommitStamp | null;
  /** The tenant that the branch, and those that it was forked from, belong to. */
  readonly root: number;
  readonly name: string;
  readonly createdAt: string;
  readonly createdBy: string;
  /** Milliseconds since the epoch; null: it stays. */
  readonly expiresAtMs: number | null;
  /** Bytes that it may hold of its own; null, or absent in older records: any number. */
  readonly quotaBytes?: number | null;
  /** Absent: none but what holds in the tenant. */
  readonly access?: BranchAccess;
  /** A restore makes it, and has not ended (features/backup/restored-branches.ts). */
  readonly isRestoring?: true;
  /** The commit of the record is one that has merged the branch. */
  readonly merged?: MergeRecord;
}

export interface Branch extends Omit<BranchRecord, "merged" | "access"> {
  access: BranchAccess;
  name: string;
  readonly start: CommitStamp;
  expiresAtMs: number | null;
  quotaBytes: number | null;
  merges: MergePoints;
  /** Operations since the engine was opened: whether somebody has written meanwhile. */
  writes: number;
  /** Who reads it in many steps, such as a backup: it does not end meanwhile. */
  readers: number;
  /** The newest commit that has forked another from it, of which the engine may not know yet; 0: none has. */
  forkedBy: number;
  /** The commit that ends it, of which the engine may not know yet; null: none does. */
  endedBy: number | null;
}

type Changeable = Pick<Branch, "access" | "expiresAtMs" | "quotaBytes" | "isRestoring" | "merges">;

const NONE: ReadonlySet<number> = new Set();

export class BranchList {
  private readonly all = new Map<number, Branch>();
  /** Of a tenant, by name. */
  private readonly names = new Map<number, Map<string, number>>();
  private readonly forks = new Map<number, Set<number>>();

  get isEmpty(): boolean {
    return this.all.size === 0;
  }

  get(number: number): Branch | undefined {
    return this.all.get(number);
  }

  entries(): Iterable<[number: number, branch: Branch]> {
    return this.all.entries();
  }

  values(): Iterable<Branch> {
    return this.all.values();
  }

  /** Those that have entries of an origin. */
  through(number: number): Branch | undefined {
    const branch = this.all.get(number);
    return branch === undefined || branch.origin === NO_ORIGIN ? undefined : branch;
  }

  /**
   * Those whose writes say nothing of what was there before: they began empty, and may hold any number of bytes. They
   * are written like tenants.
   */
  free(number: number): Branch | undefined {
    const branch = this.all.get(number);
    return branch?.origin === NO_ORIGIN && branch.quotaBytes === null ? branch : undefined;
  }

  /** All others. */
  layered(number: number): Branch | undefined {
    return this.free(number) === undefined ? this.all.get(number) : undefined;
  }

  /** The number of a tenant's branch; null: it has none of that name. */
  named(root: number, name: string): number | null {
    return this.names.get(root)?.get(name) ?? null;
  }

  /** All branches that belong to a tenant, by their numbers. */
  under(root: number): readonly (readonly [number, Branch])[] {
    return [...(this.names.get(root)?.values() ?? [])].map((number) => [number, this.all.get(number)!] as const);
  }

  /** Those that were forked from it. */
  forksOf(origin: number): ReadonlySet<number> {
    return this.forks.get(origin) ?? NONE;
  }

  origins(): Iterable<number> {
    return this.forks.keys();
  }

  /** Those that have been merged, whose past is kept from there on. */
  *merged(): Iterable<number> {
    for (const [number, { merges }] of this.all) if (oldestPoint(merges) !== null) yield number;
  }

  needPastOf(number: number): boolean {
    return this.forks.has(number) || this.mergesOf(number) !== null;
  }

  /** The commit from which on forks and merges need a past; null: they need none. */
  oldestNeeded(number: number): CommitStamp | null {
    let oldest = this.mergesOf(number);
    for (const fork of this.forksOf(number)) {
      const { start } = this.all.get(fork)!;
      if (oldest === null || start.sequence < oldest.sequence) oldest = start;
    }
    return oldest;
  }

  private mergesOf(number: number): CommitStamp | null {
    const branch = this.all.get(number);
    return branch === undefined ? null : oldestPoint(branch.merges);
  }

  /** Up to `max` of those whose time is over, that can end now: none was forked from them, and nobody reads them. */
  expired(nowMs: number, max: number): readonly number[] {
    const found: number[] = [];
    for (const [number, { expiresAtMs, readers, endedBy }] of this.all) {
      if (found.length === max) break;
      const isOver = expiresAtMs !== null && expiresAtMs <= nowMs && endedBy === null;
      if (isOver && readers === 0 && !this.forks.has(number)) found.push(number);
    }
    return found;
  }

  set(number: number, branch: Branch): void {
    this.delete(number);
    this.all.set(number, branch);
    const names = this.names.get(branch.root) ?? new Map<string, number>();
    this.names.set(branch.root, names.set(branch.name, number));
    if (branch.origin !== NO_ORIGIN)
      this.forks.set(branch.origin, (this.forks.get(branch.origin) ?? new Set<number>()).add(number));
  }

  /** Whoever has the branch at hand sees the change. */
  change(number: number, name: string, other: Changeable): void {
    const branch = this.all.get(number)!;
    Object.assign(branch, other);
    if (branch.name === name) return;
    const names = this.names.get(branch.root)!;
    if (names.get(branch.name) === number) names.delete(branch.name);
    branch.name = name;
    names.set(name, number);
  }

  delete(number: number): void {
    const branch = this.all.get(number);
    if (branch === undefined) return;
    this.all.delete(number);
    const names = this.names.get(branch.root)!;
    if (names.get(branch.name) === number) names.delete(branch.name);
    if (names.size === 0) this.names.delete(branch.root);
    const forks = this.forks.get(branch.origin);
    forks?.delete(number);
    if (forks?.size === 0) this.forks.delete(branch.origin);
  }
}
