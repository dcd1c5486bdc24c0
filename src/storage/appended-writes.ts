/**
 * The writes of a load: new keys in ascending order, in a list instead of maps, which costs a tenth of the time and a
 * third of the memory. Owned by the transaction that appends; from its commit on it does not change any more, and
 * stands in for the maps of a large commit.
 */
import type { Operation } from "./engine.js";
import { keyText, type OrderedEntries, STOP_WALK } from "./ordered-map.js";

interface AppendedWrite extends Operation {
  readonly text: string;
  readonly snapshot: number;
}

export class AppendedWrites implements OrderedEntries<AppendedWrite> {
  readonly #operations: Operation[] = [];

  constructor(
    /** Of the transaction. */
    private readonly snapshot: number,
  ) {}

  get size(): number {
    return this.#operations.length;
  }

  get operations(): readonly Operation[] {
    return this.#operations;
  }

  /** Throws when the keys are not in order: a fault of the caller. */
  append(key: Uint8Array, value: Uint8Array): void {
    const last = this.#operations.at(-1);
    if (last !== undefined && Buffer.compare(key, last.key) <= 0) throw new Error("appended keys are not in order");
    this.#operations.push({ key, value });
  }

  /** A write anywhere; for few of them. */
  put(key: Uint8Array, value: Uint8Array | null): void {
    const place = this.#lowerBound(key);
    const isThere = place < this.size && Buffer.compare(this.#operations[place]!.key, key) === 0;
    this.#operations.splice(place, isThere ? 1 : 0, { key, value });
  }

  find(key: Uint8Array): Operation | undefined {
    const operation = this.#operations[this.#lowerBound(key)];
    return operation !== undefined && Buffer.compare(operation.key, key) === 0 ? operation : undefined;
  }

  get(text: string): AppendedWrite | undefined {
    const operation = this.find(bytesOf(text));
    return operation === undefined ? undefined : this.#write(operation);
  }

  has(text: string): boolean {
    return this.find(bytesOf(text)) !== undefined;
  }

  *values(): IterableIterator<AppendedWrite> {
    for (const operation of this.#operations) yield this.#write(operation);
  }

  /** It does not change while somebody reads it in order. */
  clone(): this {
    return this;
  }

  *entries(low: string): IterableIterator<[string, AppendedWrite]> {
    for (let i = this.#lowerBound(bytesOf(low)); i < this.size; i++) yield this.#entry(i);
  }

  *entriesReversed(high: string): IterableIterator<[string, AppendedWrite]> {
    for (let i = this.#lowerBound(bytesOf(high)) - 1; i >= 0; i--) yield this.#entry(i);
  }

  forRange(
    low: string,
    high: string,
    _includeHigh: false,
    visit: (text: string, write: AppendedWrite) => typeof STOP_WALK | undefined,
  ): unknown {
    const end = this.#lowerBound(bytesOf(high));
    let count = 0;
    for (let i = this.#lowerBound(bytesOf(low)); i < end; i++, count++) {
      if (visit(...this.#entry(i)) === STOP_WALK) return undefined;
    }
    return count;
  }

  #entry(index: number): [string, AppendedWrite] {
    const write = this.#write(this.#operations[index]!);
    return [write.text, write];
  }

  #write({ key, value }: Operation): AppendedWrite {
    return { text: keyText(key), key, value, snapshot: this.snapshot };
  }

  /** The place of the first key that is not before `key`. */
  #lowerBound(key: Uint8Array): number {
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (Buffer.compare(this.#operations[middle]!.key, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, "latin1");
}
