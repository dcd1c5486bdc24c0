/**
 * Which commits have written keys since the process started: of each key the first one and the last one, in hash tables
 * of some ten thousand keys each. Of most keys they say at once that no commit has, and of others under which commit
 * what was replaced is kept: a look for it would cost an iterator. Two keys with one hash are taken for one, so the
 * commit that is told may not be the key's. Owned by layered-engine.ts, which notes all writes of branches and of
 * tenants whose past is kept.
 */
import { keyHash } from "../values/row-place.js";

const SLOTS_MIN = 2 ** 8;
/** Of one table: 768 KiB. To fill it from one of half the size takes a third of a millisecond. */
const SLOTS_MAX = 2 ** 16;
/** Of the slots, those that are used at most: linear probing. */
const FILLED = 0.75;
const TABLES_MAX = 12;
/** Of a slot: a hash, 0 for an empty one; the first commit and the last one, counted from the table's. */
const WORDS = 3;
const OFFSET_MAX = 2 ** 32 - 1;

interface Table {
  slots: Uint32Array;
  keys: number;
  /** The first commit that it knows of, and the newest one. */
  readonly base: number;
  upTo: number;
}

export class KeyCommits {
  /** Those of older commits come first. */
  private readonly tables: Table[] = [];

  /** `from`: it is told of all later commits. */
  constructor(private from: number) {}

  /** Commits come in their order. */
  note(key: Uint8Array, sequence: number): void {
    const table = this.tableFor(sequence);
    const hash = hashOf(key);
    const at = placeIn(table.slots, hash);
    const { slots } = table;
    const offset = sequence - table.base;
    table.upTo = sequence;
    slots[at + 2] = offset;
    if (slots[at] === hash) return;
    slots[at] = hash;
    slots[at + 1] = offset;
    table.keys++;
  }

  /** The first later commit than that one that has written the key. Null: none has. Undefined: it does not know. */
  firstAfter(key: Uint8Array, sequence: number): number | null | undefined {
    if (sequence < this.from) return undefined;
    let found: number | null = null;
    let hash = 0;
    for (let i = this.tables.length - 1; i >= 0; i--) {
      const { slots, base, upTo } = this.tables[i]!;
      if (upTo <= sequence) return found;
      if (hash === 0) hash = hashOf(key);
      const at = placeIn(slots, hash);
      if (slots[at] !== hash || base + slots[at + 2]! <= sequence) continue;
      const first = base + slots[at + 1]!;
      // One between the first and the last.
      if (first <= sequence) return undefined;
      found = first;
    }
    return found;
  }

  private tableFor(sequence: number): Table {
    const table = this.tables.at(-1);
    if (table !== undefined && sequence - table.base <= OFFSET_MAX) {
      if (table.keys < (table.slots.length / WORDS) * FILLED) return table;
      if (table.slots.length < SLOTS_MAX * WORDS) {
        table.slots = doubled(table.slots);
        return table;
      }
    }
    const made = { slots: new Uint32Array(SLOTS_MIN * WORDS), keys: 0, base: sequence, upTo: sequence };
    this.tables.push(made);
    if (this.tables.length > TABLES_MAX) this.from = this.tables.shift()!.upTo;
    return made;
  }
}

/** Where the hash is, or may be put. */
function placeIn(slots: Uint32Array, hash: number): number {
  const mask = slots.length / WORDS - 1;
  let slot = hash & mask;
  while (slots[slot * WORDS] !== 0 && slots[slot * WORDS] !== hash) slot = (slot + 1) & mask;
  return slot * WORDS;
}

function doubled(slots: Uint32Array): Uint32Array {
  const made = new Uint32Array(2 * slots.length);
  for (let at = 0; at < slots.length; at += WORDS) {
    if (slots[at] === 0) continue;
    const to = placeIn(made, slots[at]!);
    for (let i = 0; i < WORDS; i++) made[to + i] = slots[at + i]!;
  }
  return made;
}

function hashOf(key: Uint8Array): number {
  const hash = keyHash(key);
  return hash === 0 ? 1 : hash;
}
