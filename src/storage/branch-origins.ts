/**
 * What branches have of their origins as of their forks. A branch asks its origin, which may be a branch and ask its
 * own in turn; or it reads past some of them, once what these had written was copied for it (flat-branches.ts). Owned
 * by layered-engine.ts.
 */
import type { Branch } from "./branch-list.js";
import type { Engine } from "./engine.js";
import { ForkRanges } from "./fork-ranges.js";
import { flatCursor, readReplaced } from "./history-cursors.js";
import { flatKey, flatRange, flatRecordKey, ofTenant, rangeOfTenant } from "./history-keys.js";
import type { Cursor, KeyRange } from "./store.js";

/** A state that is read through to. */
export interface Base {
  readonly number: number;
  /** As after that commit. */
  readonly sequence: number;
}

/** The base of a branch that reads past some of its origins. */
export interface FlatBase extends Base {
  /** That were copied for it. */
  readonly bytes: number;
}

/** All that the engine has, branches read through. */
export interface States {
  getAsOf(key: Uint8Array, sequence: number): Uint8Array | undefined;
  /** Keys of one tenant, of which there are some. */
  getManyAsOf(keys: readonly Uint8Array[], sequence: number): (Uint8Array | undefined)[];
  cursorAsOf(range: KeyRange, sequence: number): Cursor;
}

export class BranchOrigins {
  private readonly flat = new Map<number, FlatBase>();
  private readonly forks = new ForkRanges();

  constructor(
    private readonly engine: Engine,
    private readonly states: States,
  ) {}

  learn(tenant: number): void {
    const stored = this.engine.get(flatRecordKey(tenant));
    if (stored !== undefined) this.flat.set(tenant, JSON.parse(Buffer.from(stored).toString()) as FlatBase);
  }

  /** From now on the branch has beside its base what was copied for it. */
  flatten(tenant: number, base: FlatBase): void {
    this.engine.write([{ key: flatRecordKey(tenant), value: Buffer.from(JSON.stringify(base)) }]);
    this.flat.set(tenant, base);
  }

  flatOf(tenant: number): FlatBase | null {
    return this.flat.get(tenant) ?? null;
  }

  baseOf(tenant: number, { origin, start }: Branch): Base {
    return this.flat.get(tenant) ?? { number: origin, sequence: start.sequence };
  }

  forget(tenant: number): void {
    this.forks.forget(tenant);
    this.flat.delete(tenant);
  }

  get(key: Uint8Array, tenant: number, branch: Branch): Uint8Array | undefined {
    const { number, sequence } = this.baseOf(tenant, branch);
    const copied = this.flat.has(tenant) ? this.engine.get(flatKey(key)) : undefined;
    if (copied !== undefined) return readReplaced(copied) ?? undefined;
    return this.states.getAsOf(ofTenant(key, number), sequence);
  }

  /** Keys of one branch. */
  getMany(keys: readonly Uint8Array[], tenant: number, branch: Branch): (Uint8Array | undefined)[] {
    const { number, sequence } = this.baseOf(tenant, branch);
    const ofBase = (some: readonly Uint8Array[]) =>
      this.states.getManyAsOf(
        some.map((key) => ofTenant(key, number)),
        sequence,
      );
    if (!this.flat.has(tenant)) return ofBase(keys);
    const copied = this.engine.getMany(keys.map(flatKey));
    const rest = keys.filter((_, i) => copied[i] === undefined);
    const found = rest.length === 0 ? [] : ofBase(rest);
    let next = 0;
    return copied.map((value) => (value === undefined ? found[next++] : (readReplaced(value) ?? undefined)));
  }

  /** A cursor over the origin's part of a branch's range. */
  cursor(range: KeyRange, tenant: number, branch: Branch): Cursor {
    return this.forks.cursor(range, branch.origin, (part) => this.open(part, tenant, branch));
  }

  /** The range is the origin's. */
  private open(range: KeyRange, tenant: number, branch: Branch): Cursor {
    if (!this.flat.has(tenant)) return this.states.cursorAsOf(range, branch.start.sequence);
    const { number, sequence } = this.baseOf(tenant, branch);
    const base = this.states.cursorAsOf(rangeOfTenant(range, number), sequence);
    return flatCursor(base, this.engine.cursor(flatRange(rangeOfTenant(range, tenant))), range, branch.origin);
  }
}
