/**
 * A sorted run of a load (load-run.ts) as what it is made of: to be given to another thread, and to be merged with
 * others there. Pure but for its heads, which belong to the merge.
 */
import { type Memory, memoryOf } from "./copy-bytes.js";
import { RunHead } from "./run-head.js";
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

/** Of a run that is of no use any more: slabs, and whole blocks. */
export interface SpareMemory {
  readonly slabs: Memory[];
  readonly blocks: Int32Array[];
}

/** Where a write's numbers begin in its block. */
export function placeOf(number: number): number {
  return PLACE_NUMBERS * (number & (BLOCK_WRITES - 1));
}

/** Writes that a head looks at before they are wanted. */
const AHEAD = 64;

/**
 * The next write of a run that is being merged. The run has writes, and none of them is a deletion. Its writes lie all
 * over memory in the order of keys, and which run has the next one depends on them: so some are looked at one after the
 * other beforehand, where the processor need not wait for one before it asks for the next.
 */
export class PackedHead extends RunHead {
  private place = -1;
  /** Up to which place writes were looked at, and what was found, by the place within AHEAD. */
  private lookedTo = 0;
  private readonly slabs: readonly Memory[];
  private readonly found = new Int32Array(PLACE_NUMBERS * AHEAD);
  private readonly words = new Uint32Array(2 * AHEAD);

  constructor(
    private readonly run: PackedRun,
    alike: number,
  ) {
    super(alike);
    this.slabs = run.slabs.map(memoryOf);
    this.advance();
  }

  advance(): boolean {
    const place = ++this.place;
    if (place === this.run.size) return false;
    if (place === this.lookedTo) this.lookAhead();
    const { found, words } = this;
    const ahead = place % AHEAD;
    const at = PLACE_NUMBERS * ahead;
    this.slab = this.slabs[found[at]!]!;
    this.start = found[at + START]!;
    this.keyLength = found[at + KEY_LENGTH]!;
    this.valueLength = found[at + VALUE_LENGTH]!;
    this.high = words[2 * ahead]!;
    this.low = words[2 * ahead + 1]!;
    return true;
  }

  private lookAhead(): void {
    const { found, words, slabs, alike } = this;
    const { size, blocks, order } = this.run;
    const from = this.lookedTo;
    const to = Math.min(size, from + AHEAD);
    for (let place = from, at = 0; place < to; place++, at += PLACE_NUMBERS) {
      const number = order === null ? place : order[place]!;
      const block = blocks[number >>> BLOCK_BITS]!;
      const own = placeOf(number);
      found[at] = block[own]!;
      found[at + START] = block[own + START]!;
      found[at + KEY_LENGTH] = block[own + KEY_LENGTH]!;
      found[at + VALUE_LENGTH] = block[own + VALUE_LENGTH]!;
    }
    for (let i = 0, at = 0; i < to - from; i++, at += PLACE_NUMBERS) {
      const slab = slabs[found[at]!]!;
      const first = found[at + START]! + alike;
      const length = found[at + KEY_LENGTH]! - alike;
      words[2 * i] = wordOf(slab, first, length);
      words[2 * i + 1] = wordOf(slab, first + 4, length - 4);
    }
    this.lookedTo = to;
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
