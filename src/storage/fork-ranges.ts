/**
 * Remembers what an origin had in ranges of a branch at the fork, which never changes, where it has written much there
 * since: to find it again, each row's replaced values would have to be stepped over. Owned by layered-engine.ts.
 */
import { BranchTops } from "./branch-tops.js";
import { firstPlace } from "./first-place.js";
import { LayeredCursor } from "./history-cursors.js";
import { rangeOfTenant } from "./history-keys.js";
import { keyAfter, tenantOfKey } from "./keys.js";
import { keyText } from "./ordered-map.js";
import { type Cursor, EMPTY_CURSOR, type Entries, type KeyRange, NO_ENTRIES, readSome } from "./store.js";

/** Of all runs, with what the process needs for each entry: past it, all are forgotten. */
const BYTES_MAX = 4 * 1024 * 1024;
const ENTRY_BYTES = 250;
/** Shorter runs are found again for little. */
const ENTRIES_MIN = 16;
/** Runs that were read once, of which is known where they begin. */
const READ_ONCE_MAX = 4096;
/** A run is kept where at least one in so many of its entries was replaced. */
const ENTRIES_FOR_EACH = 8;

/** All that there was from `gte` to `lt`. */
interface Run extends Entries {
  readonly gte: Uint8Array;
  readonly lt: Uint8Array;
}

export class ForkRanges {
  private readonly tops = new BranchTops();
  /** Of each branch, in the order of their keys, which are the origin's. None overlap. */
  private readonly runs = new Map<number, Run[]>();
  private bytes = 0;
  /** Where runs begin that were read once. Most are not read again, and to keep one costs half as much as its read. */
  private readonly readOnce = new Set<string>();

  /** A cursor over the origin's part of a branch's range; `open` makes one over the origin as of the fork. */
  cursor(range: KeyRange, origin: number, open: (range: KeyRange) => Cursor): Cursor {
    if (range.reverse === true) return this.tops.cursor(range, (part) => open(rangeOfTenant(part, origin)));
    const narrowed = this.tops.narrowed(range);
    if (narrowed === null) return EMPTY_CURSOR;
    const branch = tenantOfKey(range.gte);
    const whole = rangeOfTenant(narrowed, origin);
    if (this.runs.has(branch)) return new ForkCursor(this, branch, whole, open, null);
    const base = open(whole);
    return base instanceof LayeredCursor ? new ForkCursor(this, branch, whole, open, base) : base;
  }

  /** The run that the key lies in, or else the next one. */
  runAt(branch: number, key: Uint8Array): Run | null {
    const runs = this.runs.get(branch) ?? [];
    return runs[firstPlace(runs, (run) => Buffer.compare(run.lt, key) > 0)] ?? null;
  }

  /** Two cursors may have read the same: the first one's stays. */
  add(branch: number, run: Run): void {
    const from = `${branch} ${keyText(run.gte)}`;
    if (!this.readOnce.delete(from)) {
      if (this.readOnce.size >= READ_ONCE_MAX) this.readOnce.clear();
      this.readOnce.add(from);
      return;
    }
    const copied = copyOf(run);
    if (this.bytes + copied.bytes > BYTES_MAX) {
      this.runs.clear();
      this.bytes = 0;
    }
    const runs = this.runs.get(branch) ?? [];
    const at = firstPlace(runs, ({ lt }) => Buffer.compare(lt, run.gte) > 0);
    const next = runs[at];
    if (next !== undefined && Buffer.compare(next.gte, run.lt) < 0) return;
    this.runs.set(branch, runs);
    runs.splice(at, 0, copied.run);
    this.bytes += copied.bytes;
  }

  forget(branch: number): void {
    this.tops.forget(branch);
    for (const run of this.runs.get(branch) ?? []) this.bytes -= bytesOf(run);
    this.runs.delete(branch);
  }
}

/** Gives what is remembered, and reads the rest. */
class ForkCursor implements Cursor {
  private position: Uint8Array;
  private isAtEnd = false;
  /** Where the part that the base reads ends. */
  private baseEnd: Uint8Array;

  constructor(
    private readonly ranges: ForkRanges,
    private readonly branch: number,
    private readonly range: KeyRange,
    private readonly open: (range: KeyRange) => Cursor,
    private base: Cursor | null,
  ) {
    this.position = range.gte;
    this.baseEnd = range.lt;
  }

  get at(): Uint8Array | null {
    return this.base?.at ?? null;
  }

  next(max: number): Entries {
    for (;;) {
      const entries = this.step(max);
      if (entries !== null) return entries;
    }
  }

  step(max: number): Entries | null {
    while (!this.isAtEnd) {
      const entries = this.base === null ? this.remembered(max) : this.read(this.base, max);
      if (entries === null || entries.keys.length > 0) return entries;
    }
    return NO_ENTRIES;
  }

  /** None: the run is at its end, or a base has been opened. */
  private remembered(max: number): Entries {
    const run = this.ranges.runAt(this.branch, this.position);
    if (run === null || Buffer.compare(run.gte, this.position) > 0) {
      this.baseEnd = run === null || Buffer.compare(run.gte, this.range.lt) > 0 ? this.range.lt : run.gte;
      this.base = this.open({ ...this.range, gte: this.position, lt: this.baseEnd });
      return NO_ENTRIES;
    }
    const { keys, values } = run;
    const from = firstPlace(keys, (key) => Buffer.compare(key, this.position) >= 0);
    const end = firstPlace(keys, (key) => Buffer.compare(key, this.range.lt) >= 0);
    const to = Math.min(from + max, end);
    this.goTo(to < keys.length ? keys[to]! : run.lt);
    return { keys: keys.slice(from, to), values: values.slice(from, to) };
  }

  private read(base: Cursor, max: number): Entries | null {
    const entries = readSome(base, max);
    if (entries === null) return null;
    const { length } = entries.keys;
    const gte = this.position;
    if (length === 0) {
      base.close();
      this.base = null;
      this.goTo(this.baseEnd);
      return entries;
    }
    const lt = keyAfter(entries.keys[length - 1]!);
    const replaced = base instanceof LayeredCursor ? base.takeReplaced() : 0;
    if (length >= ENTRIES_MIN && replaced * ENTRIES_FOR_EACH >= length)
      this.ranges.add(this.branch, { ...entries, gte, lt });
    this.goTo(lt);
    return entries;
  }

  private goTo(key: Uint8Array): void {
    this.position = key;
    this.isAtEnd = Buffer.compare(key, this.range.lt) >= 0;
  }

  close(): void {
    this.base?.close();
    this.base = null;
    this.isAtEnd = true;
  }
}

/** In memory of its own: entries are parts of what was read at once. */
function copyOf({ gte, lt, keys, values }: Run): { readonly run: Run; readonly bytes: number } {
  const size = [...keys, ...values].reduce((sum, { length }) => sum + length, 0);
  const slab = Buffer.allocUnsafeSlow(size);
  let at = 0;
  const copy = (bytes: Uint8Array): Uint8Array => {
    slab.set(bytes, at);
    at += bytes.length;
    return slab.subarray(at - bytes.length, at);
  };
  const run = { gte: Buffer.from(gte), lt: Buffer.from(lt), keys: keys.map(copy), values: values.map(copy) };
  return { run, bytes: bytesOf(run) };
}

function bytesOf({ keys, values }: Run): number {
  let bytes = keys.length * ENTRY_BYTES;
  for (let i = 0; i < keys.length; i++) bytes += keys[i]!.length + values[i]!.length;
  return bytes;
}
