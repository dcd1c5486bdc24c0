/**
 * A sorted run of a load (load-run.ts) as what it is made of: to be given to another thread, and to be merged with
 * others there. Pure but for its heads, which belong to the merge.
 */
import { type Memory, memoryOf } from "./copy-bytes.js";
import { RunHead } from "./run-head.js";

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
export class PackedHead extends RunHead {
  private place = -1;
  private readonly slabs: readonly Memory[];

  constructor(
    private readonly run: PackedRun,
    alike: number,
  ) {
    super(alike);
    this.slabs = run.slabs.map(memoryOf);
    this.advance();
  }

  advance(): boolean {
    const { size, blocks, order } = this.run;
    this.place++;
    if (this.place === size) return false;
    const number = order === null ? this.place : order[this.place]!;
    const block = blocks[number >>> BLOCK_BITS]!;
    const at = placeOf(number);
    this.stand(this.slabs[block[at]!]!, block[at + START]!, block[at + KEY_LENGTH]!, block[at + VALUE_LENGTH]!);
    return true;
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
