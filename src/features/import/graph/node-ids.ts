/**
 * The ids that the files of an import give to nodes, with the ids that the nodes got. Ids are compared as bytes, so no
 * string is made of them. An id takes some 30 bytes and its own length. The table is cut into parts that grow by
 * themselves, because nothing may hold the thread for long. Owned by one import (graph-import.ts).
 */
import { randomInt } from "node:crypto";

const PARTS = 256;
const PART_SHIFT = 24;
const ENTRIES_AT_FIRST = 16;
const BYTES_AT_FIRST = 128;
/** Of an entry: two slots, its hash, where its bytes end, the node. */
const ENTRY_BYTES = 24;
const NO_ENTRY = -1;
/** What `find` answers for an id that no node has. */
export const NO_NODE = 0;

class Part {
  private slots = new Int32Array(2 * ENTRIES_AT_FIRST);
  private hashes = new Int32Array(ENTRIES_AT_FIRST);
  private ends = new Uint32Array(ENTRIES_AT_FIRST);
  private nodes = new Float64Array(ENTRIES_AT_FIRST);
  private text = Buffer.allocUnsafeSlow(BYTES_AT_FIRST);
  private size = 0;

  constructor(private readonly reserve: (bytes: number) => void) {
    reserve(ENTRIES_AT_FIRST * ENTRY_BYTES + BYTES_AT_FIRST);
  }

  find(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const entry = this.slots[this.slotOf(hash, bytes, start, end)]! - 1;
    return entry === NO_ENTRY ? NO_NODE : this.nodes[entry]!;
  }

  add(hash: number, bytes: Uint8Array, start: number, end: number, node: number): boolean {
    if (this.slots[this.slotOf(hash, bytes, start, end)] !== 0) return false;
    if (this.size === this.nodes.length) this.grow();
    const from = this.size === 0 ? 0 : this.ends[this.size - 1]!;
    const to = from + end - start;
    if (to > this.text.length) this.growText(to);
    this.text.set(bytes.subarray(start, end), from);
    this.hashes[this.size] = hash;
    this.ends[this.size] = to;
    this.nodes[this.size] = node;
    this.size++;
    this.slots[this.freeSlot(hash)] = this.size;
    return true;
  }

  /** The id's slot, or the empty one where it belongs. */
  private slotOf(hash: number, bytes: Uint8Array, start: number, end: number): number {
    const { slots, hashes } = this;
    const mask = slots.length - 1;
    let slot = hash & mask;
    for (let entry = slots[slot]!; entry !== 0; entry = slots[slot]!) {
      if (hashes[entry - 1] === hash && this.isSame(entry - 1, bytes, start, end)) return slot;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private freeSlot(hash: number): number {
    const mask = this.slots.length - 1;
    let slot = hash & mask;
    while (this.slots[slot] !== 0) slot = (slot + 1) & mask;
    return slot;
  }

  private isSame(entry: number, bytes: Uint8Array, start: number, end: number): boolean {
    const { text, ends } = this;
    const from = entry === 0 ? 0 : ends[entry - 1]!;
    if (ends[entry]! - from !== end - start) return false;
    for (let i = start, at = from; i < end; i++, at++) if (bytes[i] !== text[at]) return false;
    return true;
  }

  private grow(): void {
    const entries = 2 * this.nodes.length;
    this.reserve(this.nodes.length * ENTRY_BYTES);
    const { hashes, ends, nodes } = this;
    this.hashes = new Int32Array(entries);
    this.ends = new Uint32Array(entries);
    this.nodes = new Float64Array(entries);
    this.slots = new Int32Array(2 * entries);
    this.hashes.set(hashes);
    this.ends.set(ends);
    this.nodes.set(nodes);
    for (let entry = 0; entry < this.size; entry++) this.slots[this.freeSlot(hashes[entry]!)] = entry + 1;
  }

  private growText(needed: number): void {
    const length = Math.max(needed, 2 * this.text.length);
    this.reserve(length - this.text.length);
    const text = Buffer.allocUnsafeSlow(length);
    this.text.copy(text);
    this.text = text;
  }
}

export class NodeIds {
  private readonly parts: (Part | undefined)[] = new Array<undefined>(PARTS);
  /** So that nobody can prepare ids which all have one place. */
  private readonly seed = randomInt(2 ** 32);

  /** `reserve` counts memory, and throws where there is no more. */
  constructor(private readonly reserve: (bytes: number) => void) {}

  /** False where a node has the id already. `node` is not NO_NODE. */
  add(bytes: Uint8Array, start: number, end: number, node: number): boolean {
    const hash = this.hashOf(bytes, start, end);
    const place = hash >>> PART_SHIFT;
    let part = this.parts[place];
    if (part === undefined) {
      part = new Part(this.reserve);
      this.parts[place] = part;
    }
    return part.add(hash, bytes, start, end, node);
  }

  /** The node with the id, or NO_NODE. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const hash = this.hashOf(bytes, start, end);
    return this.parts[hash >>> PART_SHIFT]?.find(hash, bytes, start, end) ?? NO_NODE;
  }

  /** FNV-1a with the last steps of MurmurHash3, which spread the bits. */
  private hashOf(bytes: Uint8Array, start: number, end: number): number {
    let hash = this.seed | 0;
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b | 0);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35 | 0);
    return hash ^ (hash >>> 16);
  }
}
