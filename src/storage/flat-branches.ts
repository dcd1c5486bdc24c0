/**
 * Keeps chains of branches short. A read of a branch asks each of those that it reads through, down to the tenant.
 * Where these are many, what some of them have written is copied beside a branch, which then reads past them. The
 * copies say what its origin had at the fork, which never changes: so they are no commits. Each node makes them for
 * itself, a few at a time, and what a crash leaves of them is true, and is made again. They are no part of what the
 * branch has changed, nor of its bytes. Owned by layered-engine.ts.
 */
import type { Branch, BranchList } from "./branch-list.js";
import type { BranchOrigins, States } from "./branch-origins.js";
import { changedKeys } from "./changed-keys.js";
import type { Engine } from "./engine.js";
import { replacedValue } from "./history-cursors.js";
import { flatKey, flatRange, ofTenant, readBesideKey } from "./history-keys.js";
import { isOwnOnly, keyAfter, prefixRange, tenantPrefix } from "./keys.js";
import type { Operation } from "./operation.js";
import { firstOf } from "./replaced-entries.js";

/** A step ends after so many bytes of values that it has read, and reads so many values at a time. */
const STEP_BYTES = 256 * 1024;
const VALUES_AT_ONCE = 8;

/** Chains that are longer are made so long. */
export const FLAT_DEPTH = 4;

/** Whose keys are copied: those that it has written, or those that were copied for it. */
interface Source {
  readonly number: number;
  readonly isFlat: boolean;
}

/** What is being copied for a branch. */
interface Work {
  readonly tenant: number;
  /** What it reads then: of the chain below what is copied. */
  readonly base: { readonly number: number; readonly sequence: number };
  readonly sources: Source[];
  /** The last key of the first source that was copied. */
  after: Uint8Array | null;
  bytes: number;
}

export class FlatBranches {
  private work: Work | null = null;
  /** Whose chain may be too long. It never grows, but for one that was made. */
  private readonly unknown = new Set<number>();

  constructor(
    private readonly engine: Engine,
    private readonly branches: BranchList,
    private readonly origins: BranchOrigins,
    private readonly layers: Pick<States, "getManyAsOf"> & { bytesOf(branch: number): number },
  ) {}

  learn(tenant: number): void {
    this.unknown.add(tenant);
  }

  /** How many others a read of it may ask. */
  depthOf(number: number): number {
    return this.chainOf(number).length - 1;
  }

  /** It, and what it reads through, down to what reads through to nothing. */
  private chainOf(number: number): readonly number[] {
    const chain = [number];
    for (let at = this.branches.through(number); at !== undefined; at = this.branches.through(chain.at(-1)!))
      chain.push(this.origins.baseOf(chain.at(-1)!, at).number);
    return chain;
  }

  /** Goes on copying, up to `max` entries, and fewer where they are large. False: no chain is too long. */
  some(max: number): boolean {
    if (this.work === null) {
      if (this.unknown.size === 0) return false;
      this.work = this.nextWork(max);
      if (this.work === null) return true;
    }
    const branch = this.branches.through(this.work.tenant);
    if (branch === undefined || this.goOn(this.work, branch, max)) this.work = null;
    return true;
  }

  /** Looks at up to `max` chains. Of one that is too long, what costs least to copy. */
  private nextWork(max: number): Work | null {
    let looked = 0;
    for (const number of this.unknown) {
      if (looked++ === max) break;
      const chain = this.chainOf(number);
      const skipped = chain.length - 1 - FLAT_DEPTH;
      if (skipped > 0) return this.leastWork(chain, skipped);
      this.unknown.delete(number);
    }
    return null;
  }

  private leastWork(chain: readonly number[], skipped: number): Work {
    const sizes = chain.map((each) => this.layers.bytesOf(each) + (this.origins.flatOf(each)?.bytes ?? 0));
    let [least, place] = [Number.POSITIVE_INFINITY, 0];
    for (let i = 0; i + skipped + 1 < chain.length; i++) {
      const size = sizes.slice(i + 1, i + 1 + skipped).reduce((sum, each) => sum + each, 0);
      if (size < least) [least, place] = [size, i];
    }
    return this.workOf(chain[place]!, chain.slice(place + 1, place + 1 + skipped));
  }

  private workOf(tenant: number, skipped: readonly number[]): Work {
    const last = skipped.at(-1)!;
    const sources = skipped.flatMap((number) => {
      const own = { number, isFlat: false };
      return this.origins.flatOf(number) === null ? [own] : [own, { number, isFlat: true }];
    });
    const base = this.origins.baseOf(last, this.branches.get(last)!);
    const bytes = this.origins.flatOf(tenant)?.bytes ?? 0;
    return { tenant, base: { number: base.number, sequence: base.sequence }, sources, after: null, bytes };
  }

  /** True: it is done. */
  private goOn(work: Work, branch: Branch, max: number): boolean {
    const [source] = work.sources;
    if (source === undefined) {
      this.origins.flatten(work.tenant, { ...work.base, bytes: work.bytes });
      return true;
    }
    const keys = this.keysOf(source, work.after, max);
    let done = 0;
    for (let bytes = 0; done < keys.length && bytes < STEP_BYTES; done += VALUES_AT_ONCE) {
      const some = keys.slice(done, done + VALUES_AT_ONCE).filter((key) => !isOwnOnly(key));
      bytes += this.copy(work, branch, some);
    }
    const isAll = done >= keys.length && keys.length < max;
    work.after = isAll ? null : Buffer.from(keys[Math.min(done, keys.length) - 1]!);
    if (isAll) work.sources.shift();
    return false;
  }

  private keysOf({ number, isFlat }: Source, after: Uint8Array | null, max: number): readonly Uint8Array[] {
    if (!isFlat) return changedKeys(this.engine, number, after, max);
    const whole = prefixRange(tenantPrefix(number));
    const range = flatRange(after === null ? whole : { ...whole, gte: keyAfter(after) });
    return firstOf(this.engine, { ...range, only: "keys" }, max).keys.map(readBesideKey);
  }

  /** What the base has as well is not copied. Answers how many bytes of values were read. */
  private copy(work: Work, { origin, start }: Branch, keys: readonly Uint8Array[]): number {
    if (keys.length === 0) return 0;
    const { tenant, base } = work;
    const of = (number: number) => keys.map((key) => ofTenant(key, number));
    const had = this.layers.getManyAsOf(of(origin), start.sequence);
    const below = this.layers.getManyAsOf(of(base.number), base.sequence);
    const copies: Operation[] = [];
    let bytes = 0;
    for (const [i, key] of keys.entries()) {
      const [value, other] = [had[i], below[i]];
      bytes += (value?.length ?? 0) + (other?.length ?? 0);
      if (value === undefined ? other === undefined : other !== undefined && Buffer.compare(value, other) === 0)
        continue;
      const copy = { key: flatKey(ofTenant(key, tenant)), value: replacedValue(value) };
      work.bytes += copy.key.length + copy.value.length;
      copies.push(copy);
    }
    if (copies.length > 0) this.engine.write(copies);
    return bytes;
  }
}
