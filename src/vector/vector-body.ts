/** The vectors of an index, compared one by one. */
import type { VectorIndexDef } from "../catalog/table.js";
import type { IndexBody } from "../derived/index-body.js";
import { normalized } from "../protocol/vector-math.js";
import { FlatVectors } from "./flat-vectors.js";
import { NearestHeap } from "./nearest-heap.js";

/** The nearest first. */
export interface Neighbours {
  readonly slots: ArrayLike<number>;
  readonly distances: ArrayLike<number>;
}

/** What `save` puts before the vectors. */
interface Head {
  readonly slots: number;
  readonly free: readonly number[];
  /** Slots of the vectors, in the order in which they follow. */
  readonly order: readonly number[];
}

const FREE = -1;

export class VectorBody implements IndexBody<Float32Array> {
  private flat: FlatVectors;
  /** By slot: the position in `flat`. */
  private places: number[] = [];
  private freeSlots: number[] = [];

  constructor(
    private readonly definition: VectorIndexDef,
    dimensions: number,
  ) {
    this.flat = new FlatVectors(dimensions, definition.metric);
  }

  get count(): number {
    return this.flat.count;
  }

  get bytes(): number {
    return this.flat.bytes + 8 * this.places.length;
  }

  add(vector: Float32Array): number {
    const slot = this.freeSlots.pop() ?? this.places.length;
    this.places[slot] = this.flat.add(slot, this.prepared(vector));
    return slot;
  }

  remove(slot: number): void {
    const position = this.places[slot]!;
    const moved = this.flat.remove(position);
    if (moved >= 0) this.places[moved] = position;
    this.places[slot] = FREE;
    this.freeSlots.push(slot);
  }

  holds(slot: number, vector: Float32Array): boolean {
    const held = this.flat.vectorAt(this.places[slot]!);
    const wanted = this.prepared(vector);
    return held.every((x, i) => x === wanted[i]);
  }

  get hasWork(): boolean {
    return false;
  }

  work(): void {}

  save(): readonly Uint8Array[] {
    const order = Array.from({ length: this.flat.count }, (_, position) => this.flat.slotAt(position));
    const head: Head = { slots: this.places.length, free: this.freeSlots, order };
    const headBytes = Buffer.from(JSON.stringify(head));
    const length = Buffer.alloc(4);
    length.writeUInt32LE(headBytes.length);
    return [length, headBytes, this.flat.save()];
  }

  /** Throws when the bytes are not those of a body of this definition. */
  static load(definition: VectorIndexDef, dimensions: number, bytes: Uint8Array): VectorBody {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const headEnd = 4 + buffer.readUInt32LE(0);
    const head = JSON.parse(buffer.toString("utf8", 4, headEnd)) as Head;
    const body = new VectorBody(definition, dimensions);
    body.places = new Array<number>(head.slots).fill(FREE);
    body.freeSlots = [...head.free];
    const vectors = new Float32Array(dimensions * head.order.length);
    if (headEnd + vectors.byteLength !== buffer.length) throw new Error("the vectors have another length than it says");
    new Uint8Array(vectors.buffer).set(buffer.subarray(headEnd));
    head.order.forEach((slot, i) => {
      body.places[slot] = body.flat.add(slot, vectors.subarray(i * dimensions, (i + 1) * dimensions));
    });
    return body;
  }

  /** Approximately the `k` nearest of the slots whose bits are set; `ef` candidates are kept on the way. */
  search(query: Float32Array, k: number, _ef: number, allowed: Uint32Array | null): Neighbours {
    const nearest = new NearestHeap(k);
    this.flat.search(this.prepared(query), nearest, allowed);
    return nearest.take();
  }

  /** The `k` nearest of these slots. */
  nearestOf(query: Float32Array, k: number, slots: Uint32Array): Neighbours {
    const prepared = this.prepared(query);
    const nearest = new NearestHeap(k);
    for (const slot of slots) nearest.offer(slot, this.flat.distance(prepared, this.places[slot]!));
    return nearest.take();
  }

  /** A cosine compares directions: its vectors are kept at length 1. */
  private prepared(vector: Float32Array): Float32Array {
    return this.definition.metric === "cosine" ? normalized(vector) : vector;
  }
}
