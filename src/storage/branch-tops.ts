/**
 * Remembers, for ranges of branches that were read backwards, the greatest key that the origin had in them at the fork,
 * or a key that none is above. What an origin was at a fork never changes. Without this, each look for a table's
 * greatest key, and each read of its last rows, steps over all that the origin has appended since. Owned by
 * fork-ranges.ts.
 */
import { ROW_PREFIX_BYTES } from "../values/row-place.js";
import { ofTenant } from "./history-keys.js";
import { keyAfter, prefixEnd, tenantOfKey } from "./keys.js";
import { keyText } from "./ordered-map.js";
import { type Cursor, EMPTY_CURSOR, type Entries, type KeyRange, readSome } from "./store.js";

/** Ranges that are remembered. */
const RANGES_MAX = 4096;

interface Top {
  readonly tenant: number;
  /** Null: the origin had nothing. */
  readonly key: Uint8Array | null;
}

export class BranchTops {
  /** By where the range begins; all of them end where the keys with that beginning do. */
  private readonly tops = new Map<string, Top>();

  /** A cursor over the origin's part of a branch's range, which `open` makes. */
  cursor(range: KeyRange, open: (range: KeyRange) => Cursor): Cursor {
    if (range.reverse !== true || !Buffer.from(range.lt).equals(prefixEnd(range.gte))) return open(range);
    const text = keyText(range.gte);
    const top = this.tops.get(text);
    if (top === undefined) return new NotingCursor(open(range), (key) => this.learn(text, range, key));
    if (top.key === null) return EMPTY_CURSOR;
    const rest = { ...range, lt: keyAfter(top.key) };
    return new NotingCursor(open(rest), (key) => this.learn(text, range, key));
  }

  /** What of a range that is read forwards, of rows of one table, the origin may have had; null: nothing. */
  narrowed(range: KeyRange): KeyRange | null {
    if (this.tops.size === 0) return range;
    const prefix = range.gte.subarray(0, ROW_PREFIX_BYTES);
    const top = this.tops.get(keyText(prefix));
    if (top === undefined || Buffer.compare(range.lt, prefixEnd(prefix)) > 0) return range;
    if (top.key === null || Buffer.compare(top.key, range.gte) < 0) return null;
    const lt = keyAfter(top.key);
    return Buffer.compare(lt, range.lt) < 0 ? { ...range, lt } : range;
  }

  private learn(text: string, { gte }: KeyRange, key: Uint8Array | null): void {
    const tenant = tenantOfKey(gte);
    if (this.tops.size >= RANGES_MAX) this.tops.clear();
    this.tops.set(text, { tenant, key: key === null ? null : ofTenant(key, tenant) });
  }

  forget(tenant: number): void {
    for (const [text, top] of this.tops) if (top.tenant === tenant) this.tops.delete(text);
  }
}

/** Tells where the first entry is, or may be. */
class NotingCursor implements Cursor {
  private hasFound = false;

  constructor(
    private readonly cursor: Cursor,
    private readonly note: (key: Uint8Array | null) => void,
  ) {}

  get at(): Uint8Array | null {
    return this.cursor.at ?? null;
  }

  next(max: number): Entries {
    const entries = this.cursor.next(max);
    this.noteFirst(entries);
    return entries;
  }

  step(max: number): Entries | null {
    const entries = readSome(this.cursor, max);
    if (entries !== null) this.noteFirst(entries);
    else if (!this.hasFound && this.cursor.at != null) this.note(this.cursor.at);
    return entries;
  }

  private noteFirst({ keys }: Entries): void {
    if (!this.hasFound) this.note(keys[0] ?? null);
    this.hasFound = true;
  }

  close(): void {
    this.cursor.close();
  }
}
