/**
 * An engine in memory, for tests and for shards that live from their commit log alone. Cursors read a copy-on-write
 * clone of the tree, so that they are snapshots as RocksDB's iterators are.
 */
import type { Engine } from "./engine.js";
import type { Operation } from "./operation.js";
import { createOrderedMap, keyText, type OrderedMap } from "./ordered-map.js";
import type { Cursor, Entries, KeyRange } from "./store.js";

interface Item {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

export class MemoryEngine implements Engine {
  private items: OrderedMap<Item> = createOrderedMap();
  private written = 0;

  get(key: Uint8Array): Uint8Array | undefined {
    return this.items.get(keyText(key))?.value;
  }

  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[] {
    return keys.map((key) => this.get(key));
  }

  cursor(range: KeyRange): Cursor {
    return new MemoryCursor(this.items.clone(), range);
  }

  write(operations: readonly Operation[]): void {
    for (const { key, value } of operations) {
      const text = keyText(key);
      if (value === null) this.items.delete(text);
      else this.items.set(text, { key, value });
    }
    this.written += operations.length;
  }

  clear({ gte, lt }: Pick<KeyRange, "gte" | "lt">): void {
    this.items.deleteRange(keyText(gte), keyText(lt), false);
    this.written++;
  }

  /** Nothing is ever persisted. */
  entriesInMemory(): number {
    return this.written;
  }

  metrics(): null {
    return null;
  }

  recordCache(): null {
    return null;
  }

  storedBytes(): number {
    let bytes = 0;
    for (const { key, value } of this.items.values()) bytes += key.length + value.length;
    return bytes;
  }

  async close(): Promise<void> {}

  /** A second engine with the same content, independent from then on. */
  clone(): MemoryEngine {
    const copy = new MemoryEngine();
    copy.takeFrom(this);
    return copy;
  }

  /** Has the content of the other from now on. */
  takeFrom(other: MemoryEngine): void {
    this.items = other.items.clone();
    this.written = other.written;
  }
}

class MemoryCursor implements Cursor {
  private readonly gte: string;
  private readonly lt: string;
  private steps: Iterator<[string, Item]> | null;
  private readonly reverse: boolean;

  constructor(
    private readonly items: OrderedMap<Item>,
    range: KeyRange,
  ) {
    this.gte = keyText(range.gte);
    this.lt = keyText(range.lt);
    this.reverse = range.reverse === true;
    this.steps = this.reverse ? items.entriesReversed(this.lt, undefined, true) : items.entries(this.gte);
  }

  next(max: number): Entries {
    const keys: Uint8Array[] = [];
    const values: Uint8Array[] = [];
    while (this.steps !== null && keys.length < max) {
      const step = this.steps.next();
      if (step.done === true || (this.reverse ? step.value[0] < this.gte : step.value[0] >= this.lt)) {
        this.steps = null;
        break;
      }
      keys.push(step.value[1].key);
      values.push(step.value[1].value);
    }
    return { keys, values };
  }

  seek(key: Uint8Array): boolean {
    if (this.steps === null) return false;
    const text = keyText(key);
    this.steps = this.reverse ? this.items.entriesReversed(text) : this.items.entries(text);
    return true;
  }

  close(): void {
    this.steps = null;
  }
}
