/**
 * Writes whose keys begin with one prefix (a table's rows, an index's entries), for loads of many. Bytes are in slabs
 * and numbers in typed arrays, so a write costs its bytes and some twenty more, and makes no object for the garbage
 * collector. Filled in any order, then sorted once. Owned by a Load.
 */
import type { Operation } from "./operation.js";

const SLAB_BYTES = 256 * 1024;
/** Longer pieces are copied by the runtime, shorter ones byte by byte. */
const COPIED_BYTES = 48;
const DELETED = -1;
const FIRST_CAPACITY = 256;
/** Bytes of a key behind the prefix that are compared as two numbers. */
const HEAD_BYTES = 6;
/** Keys sorted by insertion before the merges. */
const INSERTION = 16;
/** Keys handled between two looks at the clock. */
const KEYS_PER_LOOK = 2048;

export class LoadRun {
  private readonly slabs: Buffer[] = [];
  /** Free bytes of the last slab begin here. */
  private free = 0;
  private capacity = FIRST_CAPACITY;
  private slabOf = new Int32Array(FIRST_CAPACITY);
  private startOf = new Int32Array(FIRST_CAPACITY);
  private keyLengthOf = new Int32Array(FIRST_CAPACITY);
  private valueLengthOf = new Int32Array(FIRST_CAPACITY);
  /** Places of writes in key order; null: they were added in that order. */
  private order: Int32Array | null = null;
  private inOrder = true;
  size = 0;

  constructor(readonly prefix: Uint8Array) {}

  get isSorted(): boolean {
    return this.inOrder || this.order !== null;
  }

  /** The write's number, counted from 0 in the order of adding. Copies both; `value` null deletes. */
  add(key: Uint8Array, value: Uint8Array | null): number {
    const number = this.size;
    if (number === this.capacity) this.grow();
    const valueLength = value === null ? 0 : value.length;
    const slab = this.slabFor(key.length + valueLength);
    const start = this.free;
    copy(key, slab, start);
    if (value !== null) copy(value, slab, start + key.length);
    this.free = start + key.length + valueLength;
    this.slabOf[number] = this.slabs.length - 1;
    this.startOf[number] = start;
    this.keyLengthOf[number] = key.length;
    this.valueLengthOf[number] = value === null ? DELETED : valueLength;
    this.size = number + 1;
    if (this.inOrder && number > 0 && this.compareBytes(number - 1, number) > 0) this.inOrder = false;
    return number;
  }

  /** The number of the write at a place in key order. */
  numberAt(place: number): number {
    return this.order === null ? place : this.order[place]!;
  }

  keyOf(number: number): Buffer {
    const start = this.startOf[number]!;
    return this.slabs[this.slabOf[number]!]!.subarray(start, start + this.keyLengthOf[number]!);
  }

  valueOf(number: number): Buffer | null {
    const length = this.valueLengthOf[number]!;
    if (length === DELETED) return null;
    const start = this.startOf[number]! + this.keyLengthOf[number]!;
    return this.slabs[this.slabOf[number]!]!.subarray(start, start + length);
  }

  operationAt(place: number): Operation {
    const number = this.numberAt(place);
    return { key: this.keyOf(number), value: this.valueOf(number) };
  }

  /** Whether the keys at two places are the same. */
  isSameKey(place: number, other: number): boolean {
    return this.compareBytes(this.numberAt(place), this.numberAt(other)) === 0;
  }

  /** The first place whose key is not before `key`. The run must be sorted. */
  lowerBound(key: Uint8Array): number {
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const number = this.numberAt(middle);
      const start = this.startOf[number]!;
      const slab = this.slabs[this.slabOf[number]!]!;
      if (slab.compare(key, 0, key.length, start, start + this.keyLengthOf[number]!) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Puts the writes in key order, those of one key in the order of adding: a merge sort in steps (in-steps.ts). */
  *sort(): Generator<undefined, void> {
    if (this.isSorted) return;
    const { size } = this;
    const heads = new Float64Array(size);
    const seconds = new Float64Array(size);
    let from = new Int32Array(size);
    let to = new Int32Array(size);
    const follows = (a: number, b: number): boolean => {
      const order = heads[a]! - heads[b]! || seconds[a]! - seconds[b]!;
      return order === 0 ? this.compareBytes(a, b) > 0 : order > 0;
    };
    for (let low = 0; low < size; low += INSERTION) {
      const end = Math.min(low + INSERTION, size);
      for (let i = low; i < end; i++) {
        heads[i] = this.head(i, 0);
        seconds[i] = this.head(i, HEAD_BYTES);
        let at = i;
        for (; at > low && follows(from[at - 1]!, i); at--) from[at] = from[at - 1]!;
        from[at] = i;
      }
      if (low % KEYS_PER_LOOK === 0) yield;
    }
    for (let width = INSERTION; width < size; width *= 2) {
      let sinceLook = 0;
      for (let low = 0; low < size; low += 2 * width) {
        const middle = Math.min(low + width, size);
        const end = Math.min(low + 2 * width, size);
        let left = low;
        let right = middle;
        for (let at = low; at < end; ) {
          const stop = Math.min(end, at + KEYS_PER_LOOK - sinceLook);
          sinceLook += stop - at;
          for (; at < stop; at++) {
            const takesLeft = left < middle && (right >= end || !follows(from[left]!, from[right]!));
            to[at] = takesLeft ? from[left++]! : from[right++]!;
          }
          if (sinceLook < KEYS_PER_LOOK) continue;
          sinceLook = 0;
          yield;
        }
      }
      [from, to] = [to, from];
    }
    this.order = from;
  }

  /** Some bytes of a key behind the prefix as a number; what is beyond its end counts as zero. */
  private head(number: number, skipped: number): number {
    const from = this.prefix.length + skipped;
    const start = this.startOf[number]! + from;
    const slab = this.slabs[this.slabOf[number]!]!;
    const length = this.keyLengthOf[number]! - from;
    if (length >= HEAD_BYTES) {
      const high = (slab[start]! << 16) | (slab[start + 1]! << 8) | slab[start + 2]!;
      return high * 0x1000000 + ((slab[start + 3]! << 16) | (slab[start + 4]! << 8) | slab[start + 5]!);
    }
    let head = 0;
    for (let i = 0; i < HEAD_BYTES; i++) head = head * 256 + (i < length ? slab[start + i]! : 0);
    return head;
  }

  private compareBytes(a: number, b: number): number {
    const one = this.slabs[this.slabOf[a]!]!;
    const other = this.slabs[this.slabOf[b]!]!;
    const prefix = this.prefix.length;
    const lengthA = this.keyLengthOf[a]!;
    const lengthB = this.keyLengthOf[b]!;
    const startA = this.startOf[a]!;
    const startB = this.startOf[b]!;
    const length = Math.min(lengthA, lengthB);
    for (let i = prefix; i < length; i++) {
      const difference = one[startA + i]! - other[startB + i]!;
      if (difference !== 0) return difference;
    }
    return lengthA - lengthB;
  }

  private slabFor(bytes: number): Buffer {
    const last = this.slabs.at(-1);
    if (last !== undefined && this.free + bytes <= last.length) return last;
    const slab = Buffer.allocUnsafeSlow(Math.max(this.slabs.length === 0 ? SLAB_BYTES / 16 : SLAB_BYTES, bytes));
    this.slabs.push(slab);
    this.free = 0;
    return slab;
  }

  private grow(): void {
    this.capacity *= 2;
    this.slabOf = longer(this.slabOf, this.capacity);
    this.startOf = longer(this.startOf, this.capacity);
    this.keyLengthOf = longer(this.keyLengthOf, this.capacity);
    this.valueLengthOf = longer(this.valueLengthOf, this.capacity);
  }
}

function longer(array: Int32Array, capacity: number): Int32Array<ArrayBuffer> {
  const copied = new Int32Array(capacity);
  copied.set(array);
  return copied;
}

function copy(bytes: Uint8Array, to: Buffer, at: number): void {
  if (bytes.length > COPIED_BYTES) to.set(bytes, at);
  else for (let i = 0; i < bytes.length; i++) to[at + i] = bytes[i]!;
}
