/**
 * Sorted writes whose keys begin with one prefix, as readers of a load see them: in memory (load-run.ts) or in a file
 * (stored-run.ts). And neighbouring writes of such a run, for the commit log and the engine, which copy their bytes
 * without looking at each.
 */
import type { Memory } from "./copy-bytes.js";
import type { CommitParts, Operation } from "./operation.js";

export interface SortedRun {
  /** Tells it from others of this thread. */
  readonly id: number;
  readonly prefix: Uint8Array;
  readonly size: number;
  /** How many writes are deletions. */
  readonly deletions: number;
  readonly isSorted: boolean;
  /** The log has all of it among these (runs-ahead.ts). Absent, or null: it does not. */
  readonly parts?: CommitParts | null;
  /** Puts the writes in key order, those of one key in the order of adding; in steps (in-steps.ts). */
  sort(): Generator<undefined, void>;
  /** The number of the write at a place in key order. */
  numberAt(place: number): number;
  keyOf(number: number): Uint8Array;
  /** Null: the write deletes. */
  valueOf(number: number): Uint8Array | null;
  operationAt(place: number): Operation;
  /** The first place whose key is not before `key`. The run must be sorted. */
  lowerBound(key: Uint8Array): number;
  keyLengthAt(place: number): number;
  /** Null: the write deletes. */
  valueLengthAt(place: number): number | null;
  /**
   * Where it reads neighbouring writes together and such a piece begins at the place: how many they are, and the bytes
   * of their keys and values. Absent, or null: not known without looking at each.
   */
  pieceAt?(place: number): { readonly count: number; readonly bytes: number } | null;
  /** Copies the frames (operation-frame.ts) of places, end to end. Answers where they end. */
  copyFrames(from: number, to: number, target: Memory, offset: number): number;
}

let runs = 0;

export function nextRunId(): number {
  return ++runs;
}

export class LoadPart implements Iterable<Operation> {
  constructor(
    readonly run: SortedRun,
    /** Places, the first one and the one behind the last. */
    readonly from: number,
    readonly to: number,
    /** Of keys and values. */
    readonly bytes: number,
  ) {}

  get length(): number {
    return this.to - this.from;
  }

  /** Copies the writes' frames (operation-frame.ts). Answers where they end. */
  copyFrames(to: Memory, at: number): number {
    return this.run.copyFrames(this.from, this.to, to, at);
  }

  get firstKey(): Uint8Array {
    return this.run.keyOf(this.run.numberAt(this.from));
  }

  get lastKey(): Uint8Array {
    return this.run.keyOf(this.run.numberAt(this.to - 1));
  }

  /** How many of them are no deletions. */
  get puts(): number {
    if (this.run.deletions === 0) return this.length;
    let puts = 0;
    for (let place = this.from; place < this.to; place++) if (this.run.valueLengthAt(place) !== null) puts++;
    return puts;
  }

  *[Symbol.iterator](): IterableIterator<Operation> {
    for (let place = this.from; place < this.to; place++) yield this.run.operationAt(place);
  }
}

/** The writes in key order, so many operations and bytes at a time. The run must be sorted. */
export function* partsOfRun(run: SortedRun, operationsMax: number, bytesMax: number): IterableIterator<LoadPart> {
  for (let from = 0; from < run.size; ) {
    const piece = run.pieceAt?.(from) ?? null;
    if (piece !== null && piece.count <= operationsMax && piece.bytes <= bytesMax) {
      yield new LoadPart(run, from, from + piece.count, piece.bytes);
      from += piece.count;
      continue;
    }
    let to = from;
    let bytes = 0;
    while (to < run.size && to - from < operationsMax && bytes < bytesMax) {
      bytes += run.keyLengthAt(to) + (run.valueLengthAt(to) ?? 0);
      to++;
    }
    yield new LoadPart(run, from, to, bytes);
    from = to;
  }
}
