/**
 * Writes whose keys begin with one prefix (a table's rows, an index's entries), for loads of many. Bytes are in slabs
 * as the log has them (operation-frame.ts), and numbers in typed arrays, so a write costs its bytes and some twenty
 * more, and makes no object for the garbage collector. Filled in any order, then sorted once. Owned by a Load.
 */
import { compareKeys } from "./compare-keys.js";
import { allocateMemory, copyAll, copyBytes, type Memory, memoryOf } from "./copy-bytes.js";
import { copyKeyTo, keyLength } from "./key-writer.js";
import type { Operation } from "./operation.js";
import { FRAME_HEAD_BYTES, FRAME_KIND, writeFrameHead } from "./operation-frame.js";
import type { PackedKeys } from "./packed-keys.js";
import {
  alikeInRuns,
  BLOCK_BITS,
  BLOCK_WRITES,
  KEY_LENGTH,
  PackedHead,
  type PackedRun,
  PLACE_NUMBERS,
  placeOf,
  type SpareMemory,
  START,
  VALUE_LENGTH,
} from "./packed-run.js";
import { copyRecordTo, recordLength } from "./record-writer.js";
import { keysInSlabs } from "./slab-keys.js";
import { sortKeys } from "./sort-keys.js";
import { nextRunId, type SortedRun } from "./sorted-run.js";

const SLAB_BYTES = 256 * 1024;
const DELETED = -1;
const FIRST_CAPACITY = 256;
/** Writes merged between two looks at the clock. */
const TAKEN_PER_LOOK = 4096;
const NONE = -1;
/** Of a number in a key. */
const NUMBER_BYTES = 8;
const TWO_32 = 2 ** 32;

/** By the place of a write among those that are added together. */
export interface NumberedValues {
  /** Bytes of its value. */
  readonly sizes: Int32Array;
  /** Where its value begins; filled in. */
  readonly places: Int32Array;
}

export class LoadRun implements SortedRun {
  readonly id = nextRunId();
  /** How many writes are deletions. */
  deletions = 0;
  private readonly slabs: Memory[] = [];
  /** Free bytes of the last slab begin here. */
  private free = 0;
  private capacity: number;
  /** Of each write: its slab, where it begins, the lengths of key and value. Together they are one line of memory. */
  private readonly blocks: Int32Array[];
  /** Places of writes in key order; null: they were added in that order. */
  private order: Int32Array | null = null;
  private inOrder = true;
  /** The first place whose key is that of the place before it; null: not known. */
  private repeated: number | null = null;
  /** Bytes of the key that was merged last, as its head has them. */
  private lastHigh = NONE;
  private lastLow = NONE;
  size = 0;
  /**
   * Of a table's rows: the columns, by their ids, in which its records may differ from those that they replace. Each
   * replaces one then, and none deletes. Null: not known.
   */
  changedColumns: ReadonlySet<number> | null = null;

  /** `spare`: memory of another run that is of no use any more; it is taken first. */
  constructor(
    public prefix: Uint8Array,
    private readonly spare: SpareMemory = { slabs: [], blocks: [] },
  ) {
    const block = spare.blocks.pop();
    this.blocks = [block ?? new Int32Array(PLACE_NUMBERS * FIRST_CAPACITY)];
    this.capacity = block === undefined ? FIRST_CAPACITY : BLOCK_WRITES;
  }

  /** Its memory, for another run. It is of no use afterwards. */
  takeMemory(): SpareMemory {
    const blocks = this.blocks.splice(0).filter(({ length }) => length === PLACE_NUMBERS * BLOCK_WRITES);
    return { slabs: this.slabs.splice(0), blocks };
  }

  /** All keys begin with another prefix from now on, of the same length; in steps (in-steps.ts). */
  *move(prefix: Uint8Array): Generator<undefined, void> {
    this.prefix = prefix;
    for (let from = 0; from < this.size; from += TAKEN_PER_LOOK) {
      this.moveSome(from, Math.min(this.size, from + TAKEN_PER_LOOK));
      yield;
    }
  }

  /** A function of its own: V8 makes slower code of loops that a generator pauses in. */
  private moveSome(from: number, to: number): void {
    const { prefix, slabs } = this;
    const { length } = prefix;
    for (let number = from; number < to; number++) {
      const block = this.blockOf(number);
      const at = placeOf(number);
      const { bytes } = slabs[block[at]!]!;
      const start = block[at + START]!;
      for (let i = 0; i < length; i++) bytes[start + i] = prefix[i]!;
    }
  }

  get isSorted(): boolean {
    return this.inOrder || this.order !== null;
  }

  /** Writes were added in key order. */
  get isInOrder(): boolean {
    return this.inOrder;
  }

  /** The write's number, counted from 0 in the order of adding. Copies both; `value` null deletes. */
  add(key: Uint8Array, value: Uint8Array | null): number {
    const valueLength = value === null ? 0 : value.length;
    const slab = this.begin(key.length + valueLength).bytes;
    const start = this.free;
    copyAll(key, slab, start);
    if (value !== null) copyAll(value, slab, start + key.length);
    return this.added(key.length, value === null ? DELETED : valueLength);
  }

  /** The same with the key that key-codec.ts is building. */
  addBuiltKey(value: Uint8Array | null): number {
    const length = keyLength();
    const valueLength = value === null ? 0 : value.length;
    const slab = this.begin(length + valueLength);
    copyKeyTo(0, length, slab, this.free);
    if (value !== null) copyAll(value, slab.bytes, this.free + length);
    return this.added(length, value === null ? DELETED : valueLength);
  }

  /** Deletes so many keys of one length, which are end to end there. */
  removeKeys(keys: Memory, length: number, count: number): void {
    for (let i = 0; i < count; i++) {
      copyBytes(keys, i * length, length, this.begin(length), this.free);
      this.added(length, DELETED);
    }
  }

  /** The same with the record that record-codec.ts has built. */
  addBuiltRow(): number {
    const length = keyLength();
    const valueLength = recordLength();
    const slab = this.begin(length + valueLength);
    copyKeyTo(0, length, slab, this.free);
    copyRecordTo(slab, this.free + length);
    return this.added(length, valueLength);
  }

  /** The same with a key of its own. */
  addWithRecord(key: Uint8Array): number {
    const valueLength = recordLength();
    const slab = this.begin(key.length + valueLength);
    copyAll(key, slab.bytes, this.free);
    copyRecordTo(slab, this.free + key.length);
    return this.added(key.length, valueLength);
  }

  /**
   * The same with the key that is being built. Its bytes from `mark` on are the value; with `isWhole`, also the key's.
   */
  addBuilt(mark: number, isWhole: boolean): number {
    const end = keyLength();
    const slab = this.begin(end + (isWhole ? end - mark : 0));
    copyKeyTo(0, end, slab, this.free);
    if (isWhole) copyKeyTo(mark, end, slab, this.free + end);
    return this.added(isWhole ? end : mark, end - mark);
  }

  /**
   * The same with that key and a value that is written afterwards, into `slab` from `valueStart` on. Answers false, and
   * adds nothing, if the slab has no room: then `nextSlab` makes another.
   */
  addBuiltRoom(valueLength: number): boolean {
    const length = keyLength();
    if (!this.hasRoom(length + valueLength)) return false;
    copyKeyTo(0, length, this.begin(length + valueLength), this.free);
    this.added(length, valueLength);
    return true;
  }

  /** With room for the key that is being built and a value. */
  nextSlab(valueLength: number): void {
    this.newSlab(FRAME_HEAD_BYTES + keyLength() + valueLength);
  }

  /**
   * Adds writes of which each key is the prefix and the next number (a u64), above all that are there. The values are
   * written afterwards, into `slab`. Answers where it ended: the slab has no room for more. At least one is added.
   */
  addNumbered(firstNumber: number, { sizes, places }: NumberedValues, from: number, to: number): number {
    const { prefix } = this;
    const keyLength = prefix.length + NUMBER_BYTES;
    if (!this.hasRoom(keyLength + sizes[from]!)) this.newSlab(FRAME_HEAD_BYTES + keyLength + sizes[from]!);
    let i = from;
    for (; i < to && this.hasRoom(keyLength + sizes[i]!); i++) {
      const size = sizes[i]!;
      const { bytes, view } = this.begin(keyLength + size);
      const number = firstNumber + i - from;
      const start = this.free;
      writeFrameHead(bytes, start - FRAME_HEAD_BYTES, FRAME_KIND.put, keyLength, size);
      for (let b = 0; b < prefix.length; b++) bytes[start + b] = prefix[b]!;
      view.setUint32(start + prefix.length, Math.floor(number / TWO_32));
      view.setUint32(start + prefix.length + 4, number % TWO_32);
      places[i] = start + keyLength;
      this.noted(keyLength, size, keyLength + size);
    }
    return i;
  }

  /** The last one; null: there is none. */
  get slab(): Memory | null {
    return this.slabs.at(-1) ?? null;
  }

  /** The slab that has a write. */
  slabOf(number: number): Memory {
    return this.slabs[this.blockOf(number)[placeOf(number)]!]!;
  }

  keyLengthOf(number: number): number {
    return this.blockOf(number)[placeOf(number) + KEY_LENGTH]!;
  }

  /** Where in its slab a write's value begins. */
  valueStart(number: number): number {
    const block = this.blockOf(number);
    const at = placeOf(number);
    return block[at + START]! + block[at + KEY_LENGTH]!;
  }

  /** The slab for the next write; its key begins at `free`. */
  private begin(bytes: number): Memory {
    if (this.size === this.capacity) this.grow();
    if (!this.hasRoom(bytes)) this.newSlab(FRAME_HEAD_BYTES + bytes);
    this.free += FRAME_HEAD_BYTES;
    return this.slabs[this.slabs.length - 1]!;
  }

  private hasRoom(bytes: number): boolean {
    const last = this.slabs[this.slabs.length - 1];
    return last !== undefined && this.free + FRAME_HEAD_BYTES + bytes <= last.bytes.length;
  }

  /** Notes the write whose key begins at `free`. */
  private added(keyLength: number, valueLength: number): number {
    const number = this.size;
    const start = this.free;
    const slabNumber = this.slabs.length - 1;
    const isDeletion = valueLength === DELETED;
    const length = isDeletion ? 0 : valueLength;
    const kind = isDeletion ? FRAME_KIND.delete : FRAME_KIND.put;
    writeFrameHead(this.slabs[slabNumber]!.bytes, start - FRAME_HEAD_BYTES, kind, keyLength, length);
    this.noted(keyLength, valueLength, keyLength + length);
    if (isDeletion) this.deletions++;
    if (this.inOrder && number > 0 && this.compareBytes(number - 1, number) > 0) this.inOrder = false;
    return number;
  }

  private noted(keyLength: number, valueLength: number, length: number): number {
    const number = this.size;
    const block = this.blockOf(number);
    const at = placeOf(number);
    block[at] = this.slabs.length - 1;
    block[at + START] = this.free;
    block[at + KEY_LENGTH] = keyLength;
    block[at + VALUE_LENGTH] = valueLength;
    this.free += length;
    this.size = number + 1;
    return number;
  }

  /** The number of the write at a place in key order. */
  numberAt(place: number): number {
    return this.order === null ? place : this.order[place]!;
  }

  keyOf(number: number): Uint8Array {
    const block = this.blockOf(number);
    const at = placeOf(number);
    return this.view(block[at]!, block[at + START]!, block[at + KEY_LENGTH]!);
  }

  valueOf(number: number): Uint8Array | null {
    const block = this.blockOf(number);
    const at = placeOf(number);
    const length = block[at + VALUE_LENGTH]!;
    return length === DELETED ? null : this.view(block[at]!, block[at + START]! + block[at + KEY_LENGTH]!, length);
  }

  /** Made in a third of the time that Buffer.subarray takes. */
  private view(slabNumber: number, start: number, length: number): Uint8Array {
    const { bytes } = this.slabs[slabNumber]!;
    return new Uint8Array(bytes.buffer, bytes.byteOffset + start, length);
  }

  operationAt(place: number): Operation {
    const number = this.numberAt(place);
    return { key: this.keyOf(number), value: this.valueOf(number) };
  }

  /** Whether the keys at two places are the same. */
  isSameKey(place: number, other: number): boolean {
    return this.compareBytes(this.numberAt(place), this.numberAt(other)) === 0;
  }

  /** The first of the places from `from` (not 0) to `to` whose key is that of the place before it; −1: none is. */
  firstRepeated(from: number, to: number): number {
    if (this.repeated !== null) return this.repeated >= from && this.repeated < to ? this.repeated : NONE;
    for (let place = from; place < to; place++) if (this.isSameKey(place - 1, place)) return place;
    return NONE;
  }

  /** The first place whose key is not before `key`. The run must be sorted. */
  lowerBound(key: Uint8Array): number {
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const number = this.numberAt(middle);
      const block = this.blockOf(number);
      const at = placeOf(number);
      const order = Buffer.compare(this.view(block[at]!, block[at + START]!, block[at + KEY_LENGTH]!), key);
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Puts the writes in key order, those of one key in the order of adding; in steps (in-steps.ts). */
  *sort(): Generator<undefined, void> {
    if (this.isSorted) return;
    const { slabs, blocks } = this;
    const keys = keysInSlabs(slabs, blocks, (one, other) => this.compareBytes(one, other));
    this.order = yield* sortKeys(this.size, this.prefix.length, keys);
  }

  /** It must be sorted, without deletions, and is of no use afterwards. */
  pack(): PackedRun {
    const { size, order, repeated } = this;
    const slabs = this.slabs.map(({ bytes }) => bytes as Uint8Array<ArrayBuffer>);
    const blocks = this.blocks as Int32Array<ArrayBuffer>[];
    return { size, slabs, blocks, order: order as PackedRun["order"], repeated };
  }

  /** Has the writes of a sorted run from now on. It must be empty, and takes no more writes. */
  takeOver({ size, slabs, blocks, order, repeated }: PackedRun): void {
    // Nothing fits behind what was taken over.
    this.free = Number.MAX_SAFE_INTEGER;
    for (const slab of slabs) this.slabs.push(memoryOf(slab));
    this.blocks.splice(0, 1, ...blocks);
    this.size = size;
    this.order = order;
    this.repeated = repeated;
  }

  /**
   * Adds the writes of sorted runs without deletions, their bytes in key order, which is read several times as fast; in
   * steps (in-steps.ts). It must be empty.
   */
  *merge(parts: readonly PackedRun[]): Generator<undefined, void> {
    const alike = alikeInRuns(parts, this.prefix.length);
    const heads = parts.filter(({ size }) => size > 0).map((part) => new PackedHead(part, alike));
    this.repeated = NONE;
    this.lastHigh = NONE;
    while (heads.length > 0) {
      this.mergeSome(heads, this.size + TAKEN_PER_LOOK);
      yield;
    }
  }

  private mergeSome(heads: PackedHead[], sizeMax: number): void {
    while (heads.length > 0 && this.size < sizeMax) {
      let least = 0;
      for (let i = 1; i < heads.length; i++) if (heads[i]!.isBefore(heads[least]!)) least = i;
      const head = heads[least]!;
      this.copyWrite(head);
      if (!head.advance()) heads.splice(least, 1);
    }
  }

  private copyWrite({ slab, start, keyLength, valueLength, high, low }: PackedHead): void {
    const length = keyLength + valueLength;
    const target = this.begin(length);
    copyBytes(slab, start - FRAME_HEAD_BYTES, FRAME_HEAD_BYTES + length, target, this.free - FRAME_HEAD_BYTES);
    const number = this.noted(keyLength, valueLength, length);
    const isAlike = high === this.lastHigh && low === this.lastLow;
    if (isAlike && this.repeated === NONE && this.compareBytes(number - 1, number) === 0) this.repeated = number;
    this.lastHigh = high;
    this.lastLow = low;
  }

  keyLengthAt(place: number): number {
    return this.keyLengthOf(this.numberAt(place));
  }

  /** Null: the write deletes. */
  valueLengthAt(place: number): number | null {
    const number = this.numberAt(place);
    const length = this.blockOf(number)[placeOf(number) + VALUE_LENGTH]!;
    return length === DELETED ? null : length;
  }

  /** Packs the keys of places without their first `skip` bytes. */
  packKeys(from: number, to: number, skip: number, keys: PackedKeys): void {
    const { slabs } = this;
    for (let place = from; place < to; place++) {
      const number = this.numberAt(place);
      const block = this.blockOf(number);
      const at = placeOf(number);
      const start = block[at + START]!;
      keys.add(slabs[block[at]!]!.bytes, start + skip, start + block[at + KEY_LENGTH]!);
    }
  }

  /** Copies the frames of places, end to end. Answers where they end. */
  copyFrames(from: number, to: number, target: Memory, offset: number): number {
    let at = offset;
    for (let place = from; place < to; ) {
      const first = this.numberAt(place);
      // Frames in the order of adding are neighbours.
      const last = this.order === null ? this.lastOfSlab(first, to - 1) : first;
      const begin = this.frameStart(first);
      const length = this.frameEnd(last) - begin;
      copyBytes(this.slabs[this.blockOf(first)[placeOf(first)]!]!, begin, length, target, at);
      at += length;
      place += last - first + 1;
    }
    return at;
  }

  /** The last write up to `limit` that is in the same slab. */
  private lastOfSlab(number: number, limit: number): number {
    const slab = this.blockOf(number)[placeOf(number)]!;
    let last = limit;
    while (this.blockOf(last)[placeOf(last)]! !== slab) last--;
    return last;
  }

  private frameStart(number: number): number {
    return this.blockOf(number)[placeOf(number) + START]! - FRAME_HEAD_BYTES;
  }

  private frameEnd(number: number): number {
    const block = this.blockOf(number);
    const at = placeOf(number);
    return block[at + START]! + block[at + KEY_LENGTH]! + Math.max(0, block[at + VALUE_LENGTH]!);
  }

  private compareBytes(a: number, b: number): number {
    const { slabs } = this;
    const blockA = this.blockOf(a);
    const blockB = this.blockOf(b);
    const atA = placeOf(a);
    const atB = placeOf(b);
    const one = slabs[blockA[atA]!]!;
    const other = slabs[blockB[atB]!]!;
    const start = blockA[atA + START]!;
    const length = blockA[atA + KEY_LENGTH]!;
    const otherStart = blockB[atB + START]!;
    const otherLength = blockB[atB + KEY_LENGTH]!;
    return compareKeys(one, start, length, other, otherStart, otherLength, this.prefix.length);
  }

  private newSlab(bytes: number): void {
    const { slabs } = this;
    const spare = this.spare.slabs;
    // Memory that was written before costs no page fault.
    const isSpare = (spare.at(-1)?.bytes.length ?? 0) >= bytes;
    const length = Math.max(slabs.length === 0 ? SLAB_BYTES / 16 : SLAB_BYTES, bytes);
    slabs.push(isSpare ? spare.pop()! : allocateMemory(length));
    this.free = 0;
  }

  private grow(): void {
    const { blocks, capacity } = this;
    if (capacity < BLOCK_WRITES) {
      const longer = new Int32Array(2 * PLACE_NUMBERS * capacity);
      longer.set(blocks[0]!);
      blocks[0] = longer;
      this.capacity = 2 * capacity;
      return;
    }
    blocks.push(this.spare.blocks.pop() ?? new Int32Array(PLACE_NUMBERS * BLOCK_WRITES));
    this.capacity += BLOCK_WRITES;
  }

  private blockOf(number: number): Int32Array {
    return this.blocks[number >>> BLOCK_BITS]!;
  }
}
