/**
 * For each table, a key that no row of the table is above. A key above it (the next of ascending primary keys) is
 * known to be free without a lookup. Owned by the cached engine, which reports everything that is written. Keys are
 * latin-1 text (ordered-map.ts).
 */
import { ROW_PREFIX_BYTES } from "../values/row-place.js";
import { SPACE } from "./keys.js";

const SPACE_AT = 4;
const TABLES_MAX = 4096;

interface Top {
  readonly prefix: string;
  key: string;
  /** To look again would find no lower key. */
  readonly isFound: boolean;
}

export class TableTops {
  private readonly tops = new Map<string, Top>();
  /** The table asked about last; the next question is often about the same one. */
  private last: Top | null = null;

  get isEmpty(): boolean {
    return this.tops.size === 0;
  }

  /** True: the key is that of a row, and surely not there. */
  isAbove(key: string): boolean {
    const top = this.topOf(key);
    return top !== null && key > top.key;
  }

  /** Whether the key is that of a row which a look for the greatest key of its table might show to be above. */
  isUnknown(key: string): boolean {
    return isRow(key) && this.topOf(key)?.isFound !== true;
  }

  /**
   * No key of the table in which `key` would be is above `greatest`; null: it has no rows. `isFound`: that one is
   * there. Else a look comes closer the next time, if it has come closer than the one before.
   */
  learn(key: string, greatest: string | null, isFound: boolean): void {
    const before = this.topOf(key)?.key;
    if (this.tops.size >= TABLES_MAX) this.tops.clear();
    const prefix = key.slice(0, ROW_PREFIX_BYTES);
    const top = { prefix, key: greatest ?? prefix, isFound: isFound || before === greatest };
    this.tops.set(prefix, top);
    this.last = top;
  }

  wrote(key: string): void {
    const top = this.topOf(key);
    if (top !== null && key > top.key) top.key = key;
  }

  forgetAll(): void {
    this.tops.clear();
    this.last = null;
  }

  private topOf(key: string): Top | null {
    if (this.tops.size === 0 || !isRow(key)) return null;
    const last = this.last;
    if (last !== null && key.startsWith(last.prefix)) return last;
    const found = this.tops.get(key.slice(0, ROW_PREFIX_BYTES));
    if (found === undefined) return null;
    this.last = found;
    return found;
  }
}

function isRow(key: string): boolean {
  return key.length > ROW_PREFIX_BYTES && key.charCodeAt(SPACE_AT) === SPACE.rows;
}
