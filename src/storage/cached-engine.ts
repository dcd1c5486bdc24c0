/**
 * Keeps values by key in memory, in front of an engine. A point read that hits costs a Map lookup instead of a call
 * into RocksDB, a copy and a buffer (about a tenth). The same holds for a read above every key that the table has
 * (table-tops.ts). The shard is the only writer and writes through here, so no entry is ever stale. Made by
 * shard-on-disk.ts.
 */
import type { EngineMetrics, RecordCacheMetrics } from "../protocol/thread-metrics.js";
import { ROW_PREFIX_BYTES } from "../values/row-place.js";
import type { Engine } from "./engine.js";
import { FramedPart } from "./framed-part.js";
import { prefixRange } from "./keys.js";
import type { Operation } from "./operation.js";
import { keyText } from "./ordered-map.js";
import type { WrittenPart } from "./packed-operations.js";
import { LoadPart } from "./sorted-run.js";
import { type Cursor, type KeyRange, readSome } from "./store.js";
import { TableTops } from "./table-tops.js";

/** Bound on keys of one read that are looked up here and kept; more would displace entries in frequent use. */
const FEW_KEYS = 256;
/** Estimated bytes of an entry beside its key and value: Map slot, string and buffer headers. */
const ENTRY_BYTES = 160;

/**
 * Two generations: an entry that is read moves to the young one; when that is full it becomes the old one, and the old
 * one is dropped. A hit in the young one costs one lookup, and nothing is ever sorted by age.
 */
export class CachedEngine implements Engine {
  private young = new Map<string, Uint8Array>();
  private old = new Map<string, Uint8Array>();
  private youngBytes = 0;
  /** What keys in either generation begin with, and a few more. */
  private youngPrefixes = new Set<string>();
  private oldPrefixes = new Set<string>();
  /** Of the last key that was kept: the next one often has the same. */
  private lastPrefix = "";
  private readonly tops = new TableTops();
  private lookups = 0;
  private misses = 0;

  /** Holds between half of and all of `bytesMax`. */
  constructor(
    private readonly engine: Engine,
    private readonly bytesMax: number,
  ) {}

  get(key: Uint8Array): Uint8Array | undefined {
    const text = keyText(key);
    this.lookups++;
    const young = this.young.get(text);
    if (young !== undefined) return young;
    const value = this.old.get(text) ?? (this.tops.isAbove(text) ? undefined : this.read(key, text));
    if (value !== undefined) this.keep(text, value);
    return value;
  }

  private read(key: Uint8Array, text: string): Uint8Array | undefined {
    this.misses++;
    const value = this.engine.get(key);
    if (value === undefined && this.tops.isUnknown(text)) this.lookForTop(key, text);
    return value;
  }

  /** A branch's cursor may have to step over much. It says how far it came, and the next one goes on there. */
  private lookForTop(key: Uint8Array, text: string): void {
    const range = prefixRange(key.subarray(0, ROW_PREFIX_BYTES), true);
    const cursor = this.engine.cursor(range);
    const found = readSome(cursor, 1);
    const greatest = found === null ? (cursor.at ?? range.lt) : (found.keys[0] ?? null);
    cursor.close();
    this.tops.learn(text, greatest === null ? null : keyText(greatest), found !== null);
  }

  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    if (keys.length === 1) return [this.get(keys[0]!)];
    if (keys.length <= FEW_KEYS) return this.few(keys);
    return this.tops.isEmpty ? this.engine.getMany(keys) : this.many(keys);
  }

  /** Those that are known not to be there are not looked up. */
  private many(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const places: number[] = [];
    for (let i = 0; i < keys.length; i++) if (!this.tops.isAbove(keyText(keys[i]!))) places.push(i);
    if (places.length === keys.length) return this.engine.getMany(keys);
    const values = new Array<Uint8Array | undefined>(keys.length);
    if (places.length === 0) return values;
    const found = this.engine.getMany(places.map((i) => keys[i]!));
    for (const [j, i] of places.entries()) values[i] = found[j];
    return values;
  }

  /** Those that are not cached are read together. */
  private few(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    const values: (Uint8Array | undefined)[] = [];
    const missing: number[] = [];
    const texts: string[] = [];
    for (let i = 0; i < keys.length; i++) {
      const text = keyText(keys[i]!);
      let value = this.young.get(text);
      if (value === undefined) {
        value = this.old.get(text);
        if (value !== undefined) this.keep(text, value);
        else if (!this.tops.isAbove(text)) {
          missing.push(i);
          texts.push(text);
        }
      }
      values.push(value);
    }
    this.lookups += keys.length;
    this.misses += missing.length;
    if (missing.length === 0) return values;
    const read = this.engine.getMany(missing.length === keys.length ? keys : missing.map((i) => keys[i]!));
    for (const [m, i] of missing.entries()) {
      const value = read[m];
      values[i] = value;
      if (value !== undefined) this.keep(texts[m]!, value);
    }
    return values;
  }

  cursor(range: KeyRange): Cursor {
    return this.engine.cursor(range);
  }

  /**
   * Cached entries follow writes to their keys. Keys that are not cached stay so, because a bulk load would displace
   * all others.
   */
  write(operations: readonly Operation[], persisted = false): void {
    this.engine.write(operations, persisted);
    this.follow(operations);
  }

  /** To find the entries of the range would take longer than a turn: where there may be some, all go. */
  clear(range: Pick<KeyRange, "gte" | "lt">): void {
    this.engine.clear(range);
    const prefix = keyText(range.gte).slice(0, ROW_PREFIX_BYTES);
    if (!this.youngPrefixes.has(prefix) && !this.oldPrefixes.has(prefix)) return;
    this.forgetRecords();
  }

  writeElsewhere(parts: readonly WrittenPart[]): Promise<number> | null {
    const written = this.engine.writeElsewhere?.(parts) ?? null;
    if (written === null) return null;
    return written.then((entries) => {
      for (const part of parts) {
        if (part instanceof FramedPart) this.forgetAll();
        else if (!(part instanceof LoadPart && this.followLoad(part))) this.follow(part);
      }
      return entries;
    });
  }

  greatestElsewhere(range: Pick<KeyRange, "gte" | "lt">): Promise<Uint8Array | null> | null {
    return this.engine.greatestElsewhere?.(range) ?? null;
  }

  /** Where no key of the part can be cached, there is no need to look at each. False: one may be. */
  private followLoad(part: LoadPart): boolean {
    const last = keyText(part.lastKey);
    const prefix = last.slice(0, ROW_PREFIX_BYTES);
    if (part.run.prefix.length < ROW_PREFIX_BYTES) return false;
    if (this.youngPrefixes.has(prefix) || this.oldPrefixes.has(prefix)) return false;
    // A key that is deleted may stand for one below it: the table still has no row above.
    this.tops.wrote(last);
    return true;
  }

  private follow(operations: Iterable<Operation>): void {
    if (this.young.size + this.old.size === 0 && this.tops.isEmpty) return;
    for (const { key, value, text = keyText(key) } of operations) {
      if (value !== null) this.tops.wrote(text);
      const wasOld = this.old.delete(text);
      if (!wasOld && !this.young.has(text)) continue;
      if (value === null) this.young.delete(text);
      else this.keep(text, value);
    }
  }

  entriesInMemory(): number {
    return this.engine.entriesInMemory();
  }

  storedBytes(): number {
    return this.engine.storedBytes();
  }

  metrics(): EngineMetrics | null {
    return this.engine.metrics();
  }

  /**
   * What was known of keys without a record counts as a hit. The bytes of the older generation are taken for half of
   * the bound.
   */
  recordCache(): RecordCacheMetrics {
    return {
      hits: this.lookups - this.misses,
      misses: this.misses,
      entries: this.young.size + this.old.size,
      bytes: this.youngBytes + (this.old.size > 0 ? this.bytesMax / 2 : 0),
    };
  }

  close(): Promise<void> {
    return this.engine.close();
  }

  private keep(text: string, value: Uint8Array): void {
    this.young.set(text, value);
    if (!text.startsWith(this.lastPrefix) || this.lastPrefix === "") {
      this.lastPrefix = text.slice(0, ROW_PREFIX_BYTES);
      this.youngPrefixes.add(this.lastPrefix);
    }
    this.youngBytes += text.length + value.length + ENTRY_BYTES;
    if (this.youngBytes >= this.bytesMax / 2) this.nextGeneration();
  }

  private forgetRecords(): void {
    this.nextGeneration();
    this.nextGeneration();
  }

  /** Frames are of use only until they are given away: what they wrote is looked up anew. */
  private forgetAll(): void {
    this.forgetRecords();
    this.tops.forgetAll();
  }

  private nextGeneration(): void {
    this.old = this.young;
    this.young = new Map();
    this.youngBytes = 0;
    this.oldPrefixes = this.youngPrefixes;
    this.youngPrefixes = new Set();
    this.lastPrefix = "";
  }
}
