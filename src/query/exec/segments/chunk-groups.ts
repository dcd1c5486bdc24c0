/**
 * Group numbers for rows of a segment. Where each group column has few different values in the segment (a dictionary,
 * or numbers close together), a table from their combined codes to group numbers stands in for hashing: it is filled as
 * combinations are met. Used by aggregate.ts, one per run.
 */
import type { Chunk } from "./chunk.js";
import { type Column, entryCount } from "./column.js";

/** Combinations of codes that a table is made for. */
const CODES_MAX = 1 << 16;
const NUMBERS_MAX = 4096;
/** Of a chunk. */
const ROWS_MAX = 4096;

interface Coded {
  readonly codes: Uint8Array | Uint16Array | Int32Array | Float64Array;
  /** Taken from each to begin at 0. */
  readonly first: number;
  readonly size: number;
  readonly slot: number;
  /** What the codes stand for; null: for numbers. */
  readonly entries: unknown;
}

/** The numbers of the groups of a chunk's rows, made if need be; valid until the next call. */
export type GroupsOf = (chunk: Chunk) => Int32Array;

/** No group is known yet. Below it: the rows that wait for one. */
const UNKNOWN = -1;

export class ChunkGroups {
  private vectors: readonly Column[] | null = null;
  private coded: readonly Coded[] | null = null;
  private table = new Int32Array(0);
  /** Made for the first chunk: runs over few rows see none. */
  private numbers = new Int32Array(0);
  private combined = new Int32Array(0);
  /** Rows whose combinations were not met before. */
  private waiting = new Int32Array(0);

  constructor(
    private readonly slots: readonly number[],
    private readonly groupsOf: GroupsOf,
  ) {}

  /** The groups of the chunk's rows; null when they must be looked up by their values. */
  assign(chunk: Chunk): Int32Array | null {
    if (chunk.vectors !== this.vectors) this.enter(chunk.vectors);
    const { coded, numbers, combined, table, waiting } = this;
    if (coded === null || chunk.length > numbers.length) return null;
    const { selections, length } = chunk;
    combined.fill(0, 0, length);
    for (const one of coded) {
      const { rows, from } = selections[one.slot]!;
      addCodes(one.codes, one.first, one.size, rows, from, length, combined);
    }
    const count = lookUp(combined, length, table, numbers, waiting);
    if (count > 0) this.assignWaiting(chunk, count);
    return numbers;
  }

  private assignWaiting(chunk: Chunk, count: number): void {
    const { numbers, combined, table, waiting } = this;
    const groups = this.groupsOf(chunk.pick(waiting, count));
    for (let i = 0; i < count; i++) table[combined[waiting[i]!]!] = groups[i]!;
    giveGroups(numbers, waiting[0]!, chunk.length, groups);
  }

  private enter(vectors: readonly Column[]): void {
    if (this.numbers.length === 0) {
      this.numbers = new Int32Array(ROWS_MAX);
      this.combined = new Int32Array(ROWS_MAX);
      this.waiting = new Int32Array(ROWS_MAX);
    }
    this.vectors = vectors;
    const before = this.coded;
    this.coded = null;
    const coded: Coded[] = [];
    let size = 1;
    for (const slot of this.slots) {
      const one = codedOf(vectors[slot]!, slot);
      if (one === null) return;
      size *= one.size;
      if (size > CODES_MAX) return;
      coded.push(one);
    }
    this.coded = coded;
    // Neighbouring segments share dictionaries: what was met in one need not be looked for in the next.
    if (before !== null && coded.every((one, i) => isSameCode(one, before[i]!))) return;
    if (this.table.length < size) this.table = new Int32Array(size);
    this.table.fill(-1, 0, size);
  }
}

function codedOf(column: Column, slot: number): Coded | null {
  if (column.kind === "dictionary") {
    const entries = column.entries ?? column.values;
    return { codes: column.codes, first: 0, size: entryCount(column), slot, entries };
  }
  if (column.kind !== "number" || column.nulls !== null || column.hasNaN) return null;
  const size = column.max - column.min + 1;
  // Fractions and infinities have no place in a table.
  if (!(column.data instanceof Int32Array) || !(size <= NUMBERS_MAX)) return null;
  return { codes: column.data, first: column.min, size, slot, entries: null };
}

/** A code stands for the same value in both. */
function isSameCode(a: Coded, b: Coded): boolean {
  return a.entries === b.entries && a.first === b.first && a.size === b.size;
}

// Loops by themselves: V8 optimizes them after few rows, and what surrounds them changes from chunk to chunk.

function addCodes(
  codes: Coded["codes"],
  first: number,
  size: number,
  rows: Int32Array | null,
  from: number,
  length: number,
  combined: Int32Array,
): void {
  if (rows === null) for (let i = 0; i < length; i++) combined[i] = combined[i]! * size + (codes[from + i]! - first);
  else for (let i = 0; i < length; i++) combined[i] = combined[i]! * size + (codes[rows[i]!]! - first);
}

/** Writes the rows' numbers. Rows whose codes have none wait for one: they are listed, and counted in the answer. */
function lookUp(
  combined: Int32Array,
  length: number,
  table: Int32Array,
  numbers: Int32Array,
  waiting: Int32Array,
): number {
  let count = 0;
  for (let i = 0; i < length; i++) {
    let number = table[combined[i]!]!;
    if (number === UNKNOWN) {
      number = UNKNOWN - 1 - count;
      table[combined[i]!] = number;
      waiting[count++] = i;
    }
    numbers[i] = number;
  }
  return count;
}

/** Gives the rows that waited their groups. */
function giveGroups(numbers: Int32Array, from: number, length: number, groups: Int32Array): void {
  for (let i = from; i < length; i++) {
    if (numbers[i]! < UNKNOWN) numbers[i] = groups[UNKNOWN - 1 - numbers[i]!]!;
  }
}
