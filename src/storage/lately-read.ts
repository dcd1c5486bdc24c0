/**
 * Remembers what cursors have read lately of tenants whose writes need what was there before: an UPDATE reads the rows
 * that its commit replaces, and they need not be read again. It knows whole ranges, so also which keys are not there.
 * Owned by layered-engine.ts, through which all is written.
 */
import type { Engine } from "./engine.js";
import { firstPlace } from "./first-place.js";
import { keyAfter, tenantOfKey } from "./keys.js";
import { neighbouringValues } from "./neighbouring-values.js";
import type { Operation } from "./operation.js";
import { type Cursor, type Entries, type KeyRange, readSome } from "./store.js";

/** Of all ranges: past either, all are forgotten. */
const ENTRIES_MAX = 4096;
const BYTES_MAX = 2 * 1024 * 1024;
/** Fewer, read at once, are found again for little. */
const ENTRIES_MIN = 8;
const NO_KEY = new Uint8Array(0);

/** All that the engine has from `gte` to `lt`. */
interface ReadRange extends Entries {
  readonly tenant: number;
  readonly gte: Uint8Array;
  readonly lt: Uint8Array;
}

export class LatelyRead {
  /** In the order of their keys; none overlap. */
  private ranges: ReadRange[] = [];
  private entries = 0;
  private bytes = 0;
  /** What a cursor gives is what is there as long as nothing was written since it was opened. */
  writes = 0;

  constructor(private readonly engine: Engine) {}

  /** `tenant`: whose writes end what it finds. */
  cursor(range: KeyRange, tenant: number): Cursor {
    const cursor = this.engine.cursor(range);
    if (range.reverse === true || range.only !== undefined || range.isOnce === true) return cursor;
    return new NotingCursor(cursor, range, tenant, this);
  }

  /** The engine's values of keys, in their order. */
  valuesOf(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    if (this.ranges.length === 0) return neighbouringValues(this.engine, keys);
    const values = new Array<Uint8Array | undefined>(keys.length);
    const rest: number[] = [];
    let range: ReadRange | undefined;
    let place = 0;
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]!;
      // Most often it is the next one.
      if (range !== undefined && place < range.keys.length && isSame(range.keys[place]!, key)) {
        values[i] = range.values[place++];
        continue;
      }
      if (range === undefined || !isIn(range, key)) {
        range = this.ranges[firstPlace(this.ranges, ({ lt }) => Buffer.compare(lt, key) > 0)];
        place = 0;
      }
      if (range === undefined || !isIn(range, key)) {
        rest.push(i);
        continue;
      }
      const { keys: there } = range;
      place = firstPlace(there, (one) => Buffer.compare(one, key) >= 0);
      if (place < there.length && isSame(there[place]!, key)) values[i] = range.values[place++];
    }
    if (rest.length === 0) return values;
    const found = neighbouringValues(
      this.engine,
      rest.map((i) => keys[i]!),
    );
    for (const [j, i] of rest.entries()) values[i] = found[j];
    return values;
  }

  add(range: ReadRange): void {
    let { length: bytes } = range.keys;
    for (const value of range.values) bytes += value.length;
    if (this.entries + range.keys.length > ENTRIES_MAX || this.bytes + bytes > BYTES_MAX) this.forget();
    if (bytes > BYTES_MAX) return;
    const from = firstPlace(this.ranges, ({ lt }) => Buffer.compare(lt, range.gte) > 0);
    const to = firstPlace(this.ranges, ({ gte }) => Buffer.compare(gte, range.lt) >= 0);
    this.ranges.splice(from, Math.max(0, to - from), range);
    this.entries += range.keys.length;
    this.bytes += bytes;
  }

  /**
   * Of layered tenants. Parts of a large commit come in the order of their keys: what is ahead of one stays.
   * `doAscend`: each key is greater than the one before.
   */
  wrote(operations: readonly Operation[], doAscend: boolean): void {
    this.writes++;
    if (this.ranges.length === 0) return;
    const spans = new Map<number, { first: Uint8Array; last: Uint8Array }>();
    let tenant = -1;
    let span: { first: Uint8Array; last: Uint8Array } = { first: NO_KEY, last: NO_KEY };
    for (const { key } of operations) {
      if (tenantOfKey(key) !== tenant) {
        tenant = tenantOfKey(key);
        span = spans.get(tenant) ?? { first: key, last: key };
        spans.set(tenant, span);
      }
      if (doAscend || Buffer.compare(key, span.last) > 0) span.last = key;
      else if (Buffer.compare(key, span.first) < 0) span.first = key;
    }
    this.ranges = this.ranges.flatMap((range) => {
      const span = spans.get(range.tenant);
      if (span === undefined) return [range];
      // Markers of deletions have other keys.
      if (tenantOfKey(range.gte) !== range.tenant) return [];
      if (Buffer.compare(range.lt, span.first) <= 0 || Buffer.compare(span.last, range.gte) < 0) return [range];
      const gte = keyAfter(span.last);
      return Buffer.compare(gte, range.lt) < 0 ? [{ ...range, gte }] : [];
    });
    if (this.ranges.length === 0) this.forget();
  }

  /** Anything may have been written. */
  clear(): void {
    this.writes++;
    this.forget();
  }

  private forget(): void {
    this.ranges = [];
    this.entries = 0;
    this.bytes = 0;
  }
}

class NotingCursor implements Cursor {
  private position: Uint8Array;
  private readonly writes: number;

  constructor(
    private readonly cursor: Cursor,
    range: KeyRange,
    private readonly tenant: number,
    private readonly read: LatelyRead,
  ) {
    this.position = range.gte;
    this.writes = read.writes;
  }

  get at(): Uint8Array | null {
    return this.cursor.at ?? null;
  }

  next(max: number): Entries {
    return this.noted(this.cursor.next(max));
  }

  step(max: number): Entries | null {
    const entries = readSome(this.cursor, max);
    return entries === null ? null : this.noted(entries);
  }

  private noted(entries: Entries): Entries {
    const { keys } = entries;
    if (keys.length === 0 || this.writes !== this.read.writes) return entries;
    const gte = this.position;
    this.position = keyAfter(keys.at(-1)!);
    if (keys.length >= ENTRIES_MIN) this.read.add({ ...entries, tenant: this.tenant, gte, lt: this.position });
    return entries;
  }

  seek(key: Uint8Array): boolean {
    if (this.cursor.seek?.(key) !== true) return false;
    this.position = key;
    return true;
  }

  close(): void {
    this.cursor.close();
  }
}

function isIn({ gte, lt }: ReadRange, key: Uint8Array): boolean {
  return Buffer.compare(gte, key) <= 0 && Buffer.compare(key, lt) < 0;
}

/** Neighbours differ at their ends. */
function isSame(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let at = a.length - 1; at >= 0; at--) if (a[at] !== b[at]) return false;
  return true;
}
