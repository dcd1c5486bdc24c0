/**
 * The ids that the files of an import give to nodes, with the ids that the nodes got. Ids are compared as bytes, so no
 * string is made of them; those that are whole numbers, as most are, by the number. An id takes some 40 bytes, or 30
 * and its own length. The table is cut into parts that grow by themselves, because nothing may hold the thread for
 * long. Owned by one import (graph-import.ts).
 */
import { randomInt } from "node:crypto";
import { allocateMemory } from "../../../storage/copy-bytes.js";

const PARTS = 256;
const PART_SHIFT = 24;
const ENTRIES_AT_FIRST = 16;
const BYTES_AT_FIRST = 16 * ENTRIES_AT_FIRST;
/** Of an entry: its hash, and one more than where it begins; 0: it is empty. Half of the slots at most are in use. */
const SLOT_NUMBERS = 2;
const SLOT_BYTES = 4 * SLOT_NUMBERS;
/** In front of an id: its node (a double) and its length. */
const HEAD_BYTES = 12;
/** What `find` answers for an id that no node has. */
export const NO_NODE = 0;

/** A look at an id takes two places of memory: its slot, and its entry with all of it. */
class Part {
  private slots = new Int32Array(2 * ENTRIES_AT_FIRST * SLOT_NUMBERS);
  private entries = allocateMemory(BYTES_AT_FIRST);
  private used = 0;
  private size = 0;

  constructor(private readonly reserve: (bytes: number) => void) {
    reserve(2 * ENTRIES_AT_FIRST * SLOT_BYTES + BYTES_AT_FIRST);
  }

  find(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const entry = this.slots[this.slotOf(hash, bytes, start, end) + 1]! - 1;
    return entry === -1 ? NO_NODE : this.entries.view.getFloat64(entry, true);
  }

  add(hash: number, bytes: Uint8Array, start: number, end: number, node: number): boolean {
    if (2 * SLOT_NUMBERS * (this.size + 1) > this.slots.length) this.grow();
    const slot = this.slotOf(hash, bytes, start, end);
    if (this.slots[slot + 1] !== 0) return false;
    const length = end - start;
    const entry = this.used;
    if (entry + HEAD_BYTES + length > this.entries.bytes.length) this.growEntries(entry + HEAD_BYTES + length);
    const { view, bytes: own } = this.entries;
    view.setFloat64(entry, node, true);
    view.setUint32(entry + 8, length, true);
    for (let i = start, at = entry + HEAD_BYTES; i < end; i++, at++) own[at] = bytes[i]!;
    this.slots[slot] = hash;
    this.slots[slot + 1] = entry + 1;
    this.used = entry + HEAD_BYTES + length;
    this.size++;
    return true;
  }

  /** The id's slot, or the empty one where it belongs. */
  private slotOf(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const { slots } = this;
    const mask = slots.length - 1;
    let slot = (hash * SLOT_NUMBERS) & mask;
    while (slots[slot + 1] !== 0) {
      if (slots[slot] === hash && this.isSame(slots[slot + 1]! - 1, bytes, start, end)) return slot;
      slot = (slot + SLOT_NUMBERS) & mask;
    }
    return slot;
  }

  private isSame(entry: number, bytes: Uint8Array, start: number, end: number): boolean {
    const { view, bytes: own } = this.entries;
    if (view.getUint32(entry + 8, true) !== end - start) return false;
    for (let i = start, at = entry + HEAD_BYTES; i < end; i++, at++) if (bytes[i] !== own[at]) return false;
    return true;
  }

  private grow(): void {
    const { slots } = this;
    this.reserve(4 * slots.length);
    this.slots = new Int32Array(2 * slots.length);
    const mask = this.slots.length - 1;
    for (let old = 0; old < slots.length; old += SLOT_NUMBERS) {
      if (slots[old + 1] === 0) continue;
      let slot = (slots[old]! * SLOT_NUMBERS) & mask;
      while (this.slots[slot + 1] !== 0) slot = (slot + SLOT_NUMBERS) & mask;
      this.slots[slot] = slots[old]!;
      this.slots[slot + 1] = slots[old + 1]!;
    }
  }

  private growEntries(needed: number): void {
    const { bytes } = this.entries;
    const length = Math.max(needed, 2 * bytes.length);
    this.reserve(length - bytes.length);
    const entries = allocateMemory(length);
    entries.bytes.set(bytes.subarray(0, this.used));
    this.entries = entries;
  }
}

/** Digits of a number that is exact. */
const DIGITS_MAX = 15;
const NO_NUMBER = -1;
const TWO_32 = 2 ** 32;
const ZERO = 48;
const NINE = 57;

/** What is written as the number itself would be, so that no two texts are one number; NO_NUMBER: it is not. */
function numberIn(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  if (length === 0 || length > DIGITS_MAX || (bytes[start] === ZERO && length > 1)) return NO_NUMBER;
  let number = 0;
  for (let i = start; i < end; i++) {
    const digit = bytes[i]!;
    if (digit < ZERO || digit > NINE) return NO_NUMBER;
    number = 10 * number + digit - ZERO;
  }
  return number;
}

function hashOfNumber(number: number, seed: number): number {
  return spread((number | 0) ^ Math.imul(number / TWO_32, 0x9e3779b1 | 0) ^ seed);
}

/** The last steps of MurmurHash3, which spread the bits. */
function spread(bits: number): number {
  let hash = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b | 0);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35 | 0);
  return hash ^ (hash >>> 16);
}

/** As a Part, of numbers: a slot has the number and its node. A look takes one place of memory. */
class NumberPart {
  private slots = new Float64Array(2 * ENTRIES_AT_FIRST * SLOT_NUMBERS);
  private size = 0;

  constructor(
    private readonly seed: number,
    private readonly reserve: (bytes: number) => void,
  ) {
    reserve(this.slots.byteLength);
  }

  find(hash: number, number: number): number {
    return this.slots[this.slotOf(hash, number) + 1]!;
  }

  add(hash: number, number: number, node: number): boolean {
    if (2 * SLOT_NUMBERS * (this.size + 1) > this.slots.length) this.grow();
    const slot = this.slotOf(hash, number);
    if (this.slots[slot + 1] !== NO_NODE) return false;
    this.slots[slot] = number;
    this.slots[slot + 1] = node;
    this.size++;
    return true;
  }

  private slotOf(hash: number, number: number): number {
    const { slots } = this;
    const mask = slots.length - 1;
    let slot = (hash * SLOT_NUMBERS) & mask;
    while (slots[slot + 1] !== NO_NODE && slots[slot] !== number) slot = (slot + SLOT_NUMBERS) & mask;
    return slot;
  }

  private grow(): void {
    const { slots } = this;
    this.reserve(slots.byteLength);
    this.slots = new Float64Array(2 * slots.length);
    for (let old = 0; old < slots.length; old += SLOT_NUMBERS) {
      if (slots[old + 1] === NO_NODE) continue;
      const slot = this.slotOf(hashOfNumber(slots[old]!, this.seed), slots[old]!);
      this.slots[slot] = slots[old]!;
      this.slots[slot + 1] = slots[old + 1]!;
    }
  }
}

export class NodeIds {
  private readonly parts: (Part | undefined)[] = new Array<undefined>(PARTS);
  private readonly numbers: (NumberPart | undefined)[] = new Array<undefined>(PARTS);
  /** So that nobody can prepare ids which all have one place. */
  private readonly seed = randomInt(2 ** 32);

  /** `reserve` counts memory, and throws where there is no more. */
  constructor(private readonly reserve: (bytes: number) => void) {}

  /** False where a node has the id already. `node` is not NO_NODE. */
  add(bytes: Uint8Array, start: number, end: number, node: number): boolean {
    const number = numberIn(bytes, start, end);
    if (number !== NO_NUMBER) {
      const hash = hashOfNumber(number, this.seed);
      const place = hash >>> PART_SHIFT;
      this.numbers[place] ??= new NumberPart(this.seed, this.reserve);
      return this.numbers[place].add(hash, number, node);
    }
    const hash = this.hashOf(bytes, start, end);
    const place = hash >>> PART_SHIFT;
    this.parts[place] ??= new Part(this.reserve);
    return this.parts[place].add(hash, bytes, start, end, node);
  }

  /** The node with the id, or NO_NODE. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const number = numberIn(bytes, start, end);
    if (number !== NO_NUMBER) {
      const hash = hashOfNumber(number, this.seed);
      return this.numbers[hash >>> PART_SHIFT]?.find(hash, number) ?? NO_NODE;
    }
    const hash = this.hashOf(bytes, start, end);
    return this.parts[hash >>> PART_SHIFT]?.find(hash, bytes, start, end) ?? NO_NODE;
  }

  /** FNV-1a. */
  private hashOf(bytes: Uint8Array, start: number, end: number): number {
    let hash = this.seed | 0;
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
    return spread(hash);
  }
}
