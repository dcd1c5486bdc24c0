/**
 * Vectors side by side in memory, compared one by one: of small indexes all of them, of large ones those that wait to be
 * linked into the graph. Owned by vector-body.ts.
 */
import type { VectorMetric } from "../catalog/table.js";
import { innerProduct, squaredDistance } from "../protocol/vector-math.js";
import type { NearestHeap } from "./nearest-heap.js";

const ROOM_MIN = 64;

export class FlatVectors {
  private data: Float32Array;
  /** By position. */
  private slots: number[] = [];

  constructor(
    private readonly dimensions: number,
    private readonly metric: VectorMetric,
  ) {
    this.data = new Float32Array(ROOM_MIN * dimensions);
  }

  get count(): number {
    return this.slots.length;
  }

  get bytes(): number {
    return this.data.byteLength + 8 * this.slots.length;
  }

  slotAt(position: number): number {
    return this.slots[position]!;
  }

  vectorAt(position: number): Float32Array {
    const start = position * this.dimensions;
    return this.data.subarray(start, start + this.dimensions);
  }

  /** The vectors by position, as bytes of their own. */
  save(): Uint8Array {
    return new Uint8Array(this.data.slice(0, this.slots.length * this.dimensions).buffer);
  }

  /** Answers the position. */
  add(slot: number, vector: Float32Array): number {
    const position = this.slots.length;
    if ((position + 1) * this.dimensions > this.data.length) {
      const grown = new Float32Array(2 * this.data.length);
      grown.set(this.data);
      this.data = grown;
    }
    this.data.set(vector, position * this.dimensions);
    this.slots.push(slot);
    return position;
  }

  /** The last one takes the position; answers its slot, or -1 when it was the last. */
  remove(position: number): number {
    const last = this.slots.length - 1;
    const slot = this.slots.pop()!;
    if (position === last) return -1;
    this.slots[position] = slot;
    this.data.copyWithin(position * this.dimensions, last * this.dimensions, (last + 1) * this.dimensions);
    return slot;
  }

  /** Offers those whose bits are set. */
  search(query: Float32Array, nearest: NearestHeap, allowed: Uint32Array | null): void {
    for (let position = 0; position < this.slots.length; position++) {
      const slot = this.slots[position]!;
      if (allowed !== null && (allowed[slot >>> 5]! & (1 << (slot & 31))) === 0) continue;
      nearest.offer(slot, this.distance(query, position));
    }
  }

  /** Orders as the metric does; of cosine and dot both sides' inner product counts, cosine's are of length 1. */
  distance(query: Float32Array, position: number): number {
    const vector = this.vectorAt(position);
    return this.metric === "l2" ? squaredDistance(query, vector) : 1 - innerProduct(query, vector);
  }
}
