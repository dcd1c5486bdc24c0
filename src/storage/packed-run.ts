/**
 * A sorted run of a load (load-run.ts) as what it is made of: to be given to another thread, and to be merged with
 * others there. Pure but for its heads, which belong to the merge.
 */
import { type Memory, memoryOf } from "./copy-bytes.js";
import { wordOf } from "./sort-keys.js";

/** Writes of a block of `blocks`: to make one array longer would take longer than a turn. */
export const BLOCK_BITS = 16;
export const BLOCK_WRITES = 1 << BLOCK_BITS;
/** Numbers of a write in a block: its slab, and these. */
export const PLACE_NUMBERS = 4;
/** Of the key; its frame's head is before it. */
export const START = 1;
export const KEY_LENGTH = 2;
export const VALUE_LENGTH = 3;

export interface PackedRun {
  readonly size: number;
  readonly slabs: readonly Uint8Array<ArrayBuffer>[];
  readonly blocks: readonly Int32Array<ArrayBuffer>[];
  /** Numbers of writes in key order; null: that is their order. */
  readonly order: Int32Array<ArrayBuffer> | null;
  /** The first place whose key is that of the place before it, −1 if there is none; null: not known. */
  readonly repeated: number | null;
}

/** Where a write's numbers begin in its block. */
export function placeOf(number: number): number {
  return PLACE_NUMBERS * (number & (BLOCK_WRITES - 1));
}

/** The next write of a run that is being merged. The run has writes, and none of them is a deletion. */
export class RunHead {
  slab: Memory;
  start = 0;
  keyLength = 0;
  valueLength = 0;
  /** Eight bytes of the key from `alike` on; zeros where it has ended. */
  private high = 0;
  private low = 0;
  private place = -1;
  private readonly slabs: readonly Memory[];

  /** `alike`: bytes in which all keys are alike. */
  constructor(
    private readonly run: PackedRun,
    private readonly alike: number,
  ) {
    this.slabs = run.slabs.map(memoryOf);
    this.slab = this.slabs[0]!;
    this.advance();
  }

  /** False: there is no further one. */
  advance(): boolean {
    const { size, blocks, order } = this.run;
    this.place++;
    if (this.place === size) return false;
    const number = order === null ? this.place : order[this.place]!;
    const block = blocks[number >>> BLOCK_BITS]!;
    const at = placeOf(number);
    this.slab = this.slabs[block[at]!]!;
    this.start = block[at + START]!;
    this.keyLength = block[at + KEY_LENGTH]!;
    this.valueLength = block[at + VALUE_LENGTH]!;
    const first = this.start + this.alike;
    const length = this.keyLength - this.alike;
    this.high = wordOf(this.slab, first, length);
    this.low = wordOf(this.slab, first + 4, length - 4);
    return true;
  }

  isBefore(other: RunHead): boolean {
    if (this.high !== other.high) return this.high < other.high;
    if (this.low !== other.low) return this.low < other.low;
    const one = this.slab.bytes;
    const two = other.slab.bytes;
    const length = Math.min(this.keyLength, other.keyLength);
    for (let i = this.alike + 8; i < length; i++) {
      const difference = one[this.start + i]! - two[other.start + i]!;
      if (difference !== 0) return difference < 0;
    }
    return this.keyLength < other.keyLength;
  }
}

/**
 * In how many bytes all keys of sorted runs are alike, whose keys begin with `known` equal ones: ask the first and the
 * last ones.
 */
export function alikeInRuns(runs: readonly PackedRun[], known: number): number {
  const keys = runs.flatMap((run) => (run.size === 0 ? [] : [keyAt(run, 0), keyAt(run, run.size - 1)]));
  let alike = known;
  const [first, ...others] = keys;
  if (first === undefined) return alike;
  while (alike < first.length && others.every((key) => alike < key.length && key[alike] === first[alike])) alike++;
  return alike;
}

function keyAt({ slabs, blocks, order }: PackedRun, place: number): Uint8Array {
  const number = order === null ? place : order[place]!;
  const block = blocks[number >>> BLOCK_BITS]!;
  const at = placeOf(number);
  const start = block[at + START]!;
  return slabs[block[at]!]!.subarray(start, start + block[at + KEY_LENGTH]!);
}
