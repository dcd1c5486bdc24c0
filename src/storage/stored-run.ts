/**
 * A sorted run of a load in a file (sorted-run.ts): for loads of more than memory is to hold. The file has its frames
 * in key order, in slabs that are read when somebody asks for a write of them; memory has the first and the last key of
 * each slab. Made of a run in memory or, by merging, of several stored ones; or the file is the commit log's
 * (runs-ahead.ts). Owned by a Load, which closes the file.
 */
import type { CheckedTurns } from "../protocol/turns.js";
import { allocateMemory, copyBytes, type Memory } from "./copy-bytes.js";
import type { LoadRun } from "./load-run.js";
import type { CommitParts, Operation } from "./operation.js";
import { FRAME_HEAD_BYTES, FRAME_KIND } from "./operation-frame.js";
import { RunHead } from "./run-head.js";
import { nextRunId, type SortedRun } from "./sorted-run.js";

/** Where runs are read. Owned by the loads that are in it. */
export interface RunBytes {
  /** Fills `into` from `position`; answers how many bytes there were. Throws once it is closed. */
  read(into: Uint8Array, position: number): number;
  /** May be called twice. */
  close(): void;
}

/** Where runs are stored, unless the commit log has them. */
export interface RunFile extends RunBytes {
  /** Bytes written. */
  readonly length: number;
  /** Appends. */
  write(bytes: Uint8Array): void;
}

/** The commit log, as a place of runs (runs-ahead.ts). */
export interface RunLog extends RunBytes {
  /** Bytes written. */
  readonly length: number;
  /** `firstNumber`: of the row of its first write, those of the others follow; null: not kept. */
  write(run: LoadRun, firstNumber: number | null, turns: CheckedTurns): Promise<StoredRun>;
}

/** Counts bytes on disk; throws past a bound. */
export interface BytesShare {
  take(bytes: number): void;
  giveBack(): void;
}

/** Where the number of each write's row is. */
interface RunNumbers {
  readonly file: RunBytes;
  readonly position: number;
}

/** Counts the bytes of the files that a transaction holds. */
export interface HeldBytes {
  spilledBytes: number;
}

export interface Slab {
  /** Place of its first write. */
  readonly first: number;
  readonly count: number;
  /** In the file. */
  readonly position: number;
  readonly length: number;
  readonly firstKey: Uint8Array;
  readonly lastKey: Uint8Array;
}

interface OpenSlab {
  readonly slab: Slab;
  readonly memory: Memory;
  /** Where its frames begin, and where the last one ends. */
  readonly starts: Int32Array;
}

const SLAB_BYTES = 64 * 1024;
/** A slab with so many writes and bytes is full, too, so that it is what the log and the engine take at a time. */
const SLAB_WRITES = 256;
const FULL_BYTES = 16 * 1024;
const SLABS_OPEN = 4;
/** Memory of a slab's description beside its keys. */
const SLAB_OVERHEAD_BYTES = 200;
/** Rows of a run whose numbers are written at a time. */
const NUMBERS_AT_ONCE = 16_384;
const NUMBER_BYTES = 4;
/** Writes merged between two looks at the clock, and bytes of them. */
const MERGED_PER_LOOK = 1024;
const MERGED_BYTES_PER_LOOK = 512 * 1024;

export class StoredRun implements SortedRun {
  readonly id = nextRunId();
  readonly isSorted = true;
  readonly size: number;
  /** Those that were read last, the newest first. */
  private readonly opened: OpenSlab[] = [];

  /** Slabs in order, each of which is read when it is needed. */
  constructor(
    readonly prefix: Uint8Array,
    private readonly slabs: readonly Slab[],
    readonly deletions: number,
    readonly file: RunBytes,
    /** The first one, if they count up with the places; null: there are none. */
    private readonly numbers: RunNumbers | number | null,
    readonly parts: CommitParts | null = null,
  ) {
    const last = slabs.at(-1);
    this.size = last === undefined ? 0 : last.first + last.count;
  }

  /** Of a sorted run in memory, in steps (in-steps.ts). `rowOf`: the number of the row of a place; null: not kept. */
  static *of(run: LoadRun, file: RunFile, rowOf: ((place: number) => number) | null): Generator<undefined, StoredRun> {
    const writer = new SlabWriter(file);
    for (let from = 0; from < run.size; ) {
      let to = from;
      let bytes = 0;
      for (; to < run.size; to++) {
        const frame = FRAME_HEAD_BYTES + run.keyLengthAt(to) + (run.valueLengthAt(to) ?? 0);
        if (isFull(bytes, to - from, frame)) break;
        bytes += frame;
      }
      writer.slabOf(run, from, to, bytes);
      from = to;
      yield;
    }
    const numbers = rowOf === null ? null : yield* writeNumbers(file, run.size, rowOf);
    return new StoredRun(run.prefix, writer.slabs, run.deletions, file, numbers);
  }

  /**
   * Of stored runs of the same prefix, in steps. None has a key twice. `twice`: told of keys that two of them have,
   * with the places; null: none can be. `fileOf`: where they go unless they only follow each other in one file.
   */
  static *merged(
    runs: readonly StoredRun[],
    twice: ((one: StoredRun, place: number, other: StoredRun, otherPlace: number) => void) | null,
    fileOf: () => RunFile,
  ): Generator<undefined, StoredRun> {
    const parts = runs.filter(({ size }) => size > 0);
    const [first] = parts;
    if (first === undefined || parts.length === 1) return first ?? runs[0]!;
    const { prefix } = first;
    let deletions = 0;
    for (const part of parts) deletions += part.deletions;
    const slabs = chained(parts);
    if (slabs !== null) {
      const isOne = parts.every((part) => part.parts === first.parts);
      return new StoredRun(prefix, slabs, deletions, first.file, null, isOne ? first.parts : null);
    }
    const file = fileOf();
    const writer = new SlabWriter(file);
    const heads = parts.map((part) => new StoredHead(part, prefix.length));
    while (heads.length > 0) {
      mergeSome(heads, writer, twice);
      yield;
    }
    writer.flush();
    return new StoredRun(prefix, writer.slabs, deletions, file, null);
  }

  /** In its file. */
  get storedBytes(): number {
    let bytes = 0;
    for (const { length } of this.slabs) bytes += length;
    return bytes;
  }

  get memoryBytes(): number {
    let bytes = 0;
    for (const { firstKey, lastKey } of this.slabs) bytes += SLAB_OVERHEAD_BYTES + firstKey.length + lastKey.length;
    return bytes;
  }

  /** Its writes have rows with numbers (`rowNumberAt`). */
  get hasNumbers(): boolean {
    return this.numbers !== null;
  }

  get ownSlabs(): readonly Slab[] {
    return this.slabs;
  }

  *sort(): Generator<undefined, void> {}

  numberAt(place: number): number {
    return place;
  }

  /** Of the row, as it was given to `of`. */
  rowNumberAt(place: number): number {
    const { numbers } = this;
    if (typeof numbers === "number") return numbers + place;
    const bytes = new Uint8Array(NUMBER_BYTES);
    const { file, position } = numbers!;
    file.read(bytes, position + NUMBER_BYTES * place);
    return new DataView(bytes.buffer).getInt32(0, true);
  }

  /** Those at the ends of slabs are known without reading. */
  keyOf(place: number): Uint8Array {
    let open = this.openedOf(place);
    if (open === null) {
      const slab = this.slabOf(place);
      if (place === slab.first) return slab.firstKey;
      if (place === slab.first + slab.count - 1) return slab.lastKey;
      open = this.openSlab(slab);
    }
    const start = open.starts[place - open.slab.first]! + FRAME_HEAD_BYTES;
    return viewOf(open.memory, start, keyLengthOf(open, place));
  }

  valueOf(place: number): Uint8Array | null {
    return this.operationAt(place).value;
  }

  operationAt(place: number): Operation {
    const open = this.openOf(place);
    const { memory, starts, slab } = open;
    const at = starts[place - slab.first]!;
    const keyLength = keyLengthOf(open, place);
    const start = at + FRAME_HEAD_BYTES;
    const key = viewOf(memory, start, keyLength);
    if (memory.bytes[at] === FRAME_KIND.delete) return { key, value: null };
    const end = starts[place - slab.first + 1]!;
    return { key, value: viewOf(memory, start + keyLength, end - start - keyLength) };
  }

  lowerBound(key: Uint8Array): number {
    const { slabs } = this;
    // The last slab whose first key is before it; earlier ones have no key that is not.
    let low = 0;
    let high = slabs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (Buffer.compare(slabs[middle]!.firstKey, key) < 0) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return 0;
    const { first, count } = slabs[low - 1]!;
    low = first;
    high = first + count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (Buffer.compare(this.keyOf(middle), key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  keyLengthAt(place: number): number {
    return keyLengthOf(this.openOf(place), place);
  }

  valueLengthAt(place: number): number | null {
    const { memory, starts, slab } = this.openOf(place);
    const at = starts[place - slab.first]!;
    return memory.bytes[at] === FRAME_KIND.delete ? null : memory.view.getUint32(at + 3, true);
  }

  copyFrames(from: number, to: number, target: Memory, offset: number): number {
    let at = offset;
    for (let place = from; place < to; ) {
      const opened = this.openedOf(place);
      const slab = opened?.slab ?? this.slabOf(place);
      const end = Math.min(to, slab.first + slab.count);
      if (opened === null && place === slab.first && end === slab.first + slab.count) {
        this.readInto(target.bytes.subarray(at, at + slab.length), slab);
        at += slab.length;
        place = end;
        continue;
      }
      const { memory, starts } = opened ?? this.openSlab(slab);
      const start = starts[place - slab.first]!;
      const length = starts[end - slab.first]! - start;
      copyBytes(memory, start, length, target, at);
      at += length;
      place = end;
    }
    return at;
  }

  pieceAt(place: number): { readonly count: number; readonly bytes: number } | null {
    const { first, count, length } = this.slabOf(place);
    return place === first ? { count, bytes: length - FRAME_HEAD_BYTES * count } : null;
  }

  private openOf(place: number): OpenSlab {
    return this.openedOf(place) ?? this.openSlab(this.slabOf(place));
  }

  /** Null: the slab of the place is not in memory. */
  private openedOf(place: number): OpenSlab | null {
    const { opened } = this;
    for (let i = 0; i < opened.length; i++) {
      const open = opened[i]!;
      const { first, count } = open.slab;
      if (place < first || place >= first + count) continue;
      if (i > 0) {
        opened.splice(i, 1);
        opened.unshift(open);
      }
      return open;
    }
    return null;
  }

  private openSlab(slab: Slab): OpenSlab {
    const { opened } = this;
    const open = this.read(slab);
    opened.unshift(open);
    if (opened.length > SLABS_OPEN) opened.pop();
    return open;
  }

  private slabOf(place: number): Slab {
    const { slabs } = this;
    let low = 0;
    let high = slabs.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (slabs[middle]!.first <= place) low = middle;
      else high = middle - 1;
    }
    return slabs[low]!;
  }

  /** Views of its memory are given out, so it is never written again. */
  read(slab: Slab): OpenSlab {
    const memory = allocateMemory(slab.length);
    this.readInto(memory.bytes, slab);
    const starts = new Int32Array(slab.count + 1);
    const { view } = memory;
    for (let i = 0, at = 0; i < slab.count; i++) {
      at += FRAME_HEAD_BYTES + view.getUint16(at + 1, true) + view.getUint32(at + 3, true);
      starts[i + 1] = at;
    }
    return { slab, memory, starts };
  }

  private readInto(bytes: Uint8Array, slab: Slab): void {
    const length = this.file.read(bytes, slab.position);
    if (length !== slab.length) throw new Error(`the file of a load has ${length} of ${slab.length} bytes`);
  }
}

/** Whether a slab of so many bytes and writes ends before a frame. */
function isFull(bytes: number, count: number, frame: number): boolean {
  if (count === 0) return false;
  return bytes + frame > SLAB_BYTES || (count >= SLAB_WRITES && bytes >= FULL_BYTES);
}

/** The slabs of runs in one file, each of which ends before the next one begins; null: they do not. */
function chained(runs: readonly StoredRun[]): readonly Slab[] | null {
  if (runs.some(({ file }) => file !== runs[0]!.file)) return null;
  const inOrder = [...runs].sort((a, b) => Buffer.compare(a.keyOf(0), b.keyOf(0)));
  const slabs: Slab[] = [];
  let first = 0;
  for (const [i, run] of inOrder.entries()) {
    const before = inOrder[i - 1];
    if (before !== undefined && Buffer.compare(before.keyOf(before.size - 1), run.keyOf(0)) >= 0) return null;
    for (const slab of run.ownSlabs) slabs.push({ ...slab, first: first + slab.first });
    first += run.size;
  }
  return slabs;
}

function* writeNumbers(
  file: RunFile,
  size: number,
  rowOf: (place: number) => number,
): Generator<undefined, RunNumbers> {
  const position = file.length;
  for (let from = 0; from < size; from += NUMBERS_AT_ONCE) {
    const some = new Int32Array(Math.min(NUMBERS_AT_ONCE, size - from));
    for (let i = 0; i < some.length; i++) some[i] = rowOf(from + i);
    file.write(new Uint8Array(some.buffer));
    yield;
  }
  return { file, position };
}

/** A function of its own: V8 makes slower code of loops that a generator pauses in. */
function mergeSome(
  heads: StoredHead[],
  writer: SlabWriter,
  twice: ((one: StoredRun, place: number, other: StoredRun, otherPlace: number) => void) | null,
): void {
  let bytes = 0;
  for (let merged = 0; merged < MERGED_PER_LOOK && bytes < MERGED_BYTES_PER_LOOK && heads.length > 0; merged++) {
    let least = heads[0]!;
    for (let i = 1; i < heads.length; i++) {
      const head = heads[i]!;
      if (head.isBefore(least)) least = head;
      else if (twice !== null && !least.isBefore(head)) twice(least.run, least.place, head.run, head.place);
    }
    bytes += writer.frame(least);
    if (!least.advance()) heads.splice(heads.indexOf(least), 1);
  }
}

/** The next write of a stored run that is being merged. */
class StoredHead extends RunHead {
  place = -1;
  private open: OpenSlab;
  private number = 0;

  constructor(
    readonly run: StoredRun,
    alike: number,
  ) {
    super(alike);
    this.open = run.read(run.ownSlabs[0]!);
    this.advance();
  }

  advance(): boolean {
    const place = ++this.place;
    if (place === this.run.size) return false;
    const { slab } = this.open;
    if (place === slab.first + slab.count) this.open = this.run.read(this.run.ownSlabs[++this.number]!);
    const { memory, starts } = this.open;
    const at = starts[place - this.open.slab.first]!;
    this.stand(memory, at + FRAME_HEAD_BYTES, memory.view.getUint16(at + 1, true), memory.view.getUint32(at + 3, true));
    return true;
  }
}

/** Appends slabs to a file. */
class SlabWriter {
  readonly slabs: Slab[] = [];
  private next = 0;
  private memory = allocateMemory(SLAB_BYTES);
  /** Of the slab that is being filled. */
  private used = 0;
  private count = 0;
  private firstKey: Uint8Array | null = null;
  /** The last one in the memory: where it begins, and its length. */
  private lastKeyAt = 0;
  private lastKeyLength = 0;

  constructor(private readonly file: RunFile) {}

  /** The writes at places of the run, whose frames have so many bytes, become a slab. */
  slabOf(run: SortedRun, from: number, to: number, bytes: number): void {
    this.require(bytes);
    this.used = run.copyFrames(from, to, this.memory, 0);
    this.count = to - from;
    this.firstKey = Uint8Array.from(run.keyOf(run.numberAt(from)));
    this.lastKeyLength = run.keyLengthAt(to - 1);
    this.lastKeyAt = this.used - (run.valueLengthAt(to - 1) ?? 0) - this.lastKeyLength;
    this.flush();
  }

  /** The head's write is the next one. Answers its bytes. */
  frame({ slab, start, keyLength, valueLength }: RunHead): number {
    const length = FRAME_HEAD_BYTES + keyLength + valueLength;
    if (isFull(this.used, this.count, length)) this.flush();
    this.require(length);
    this.firstKey ??= Uint8Array.from(viewOf(slab, start, keyLength));
    copyBytes(slab, start - FRAME_HEAD_BYTES, length, this.memory, this.used);
    this.lastKeyAt = this.used + FRAME_HEAD_BYTES;
    this.lastKeyLength = keyLength;
    this.used += length;
    this.count++;
    return length;
  }

  flush(): void {
    if (this.count === 0) return;
    const { file, used, count } = this;
    const lastKey = Uint8Array.from(viewOf(this.memory, this.lastKeyAt, this.lastKeyLength));
    const slab = { first: this.next, count, position: file.length, length: used, firstKey: this.firstKey!, lastKey };
    file.write(this.memory.bytes.subarray(0, used));
    this.slabs.push(slab);
    this.next += count;
    this.used = 0;
    this.count = 0;
    this.firstKey = null;
  }

  private require(bytes: number): void {
    if (this.used + bytes > this.memory.bytes.length) this.memory = allocateMemory(bytes);
  }
}

function viewOf({ bytes }: Memory, start: number, length: number): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset + start, length);
}

function keyLengthOf({ memory, starts, slab }: OpenSlab, place: number): number {
  return memory.view.getUint16(starts[place - slab.first]! + 1, true);
}
