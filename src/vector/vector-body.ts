/**
 * The vectors of an index: a graph, and the vectors that wait to be linked into it, which searches compare one by one.
 * So a vector is found as soon as it is stored, and linking (a third of a millisecond each) happens in idle moments.
 */
import type { VectorIndexDef } from "../catalog/table.js";
import type { IndexBody, LongWork } from "../derived/index-body.js";
import type { VectorStorage } from "./graph-parameters.js";
import type { Originals } from "./rank-originals.js";
import { type Found, VectorGraph } from "./vector-graph.js";

/** Indexes of fewer vectors are never linked: measuring all is as fast. */
const LINKED_MIN = 1000;
/** From this many waiting vectors on, another thread links them. */
const LINKED_ELSEWHERE_MIN = 10_000;
/**
 * What a graph keeps: codes alone. The records have the vectors, so recall and distances are those of single precision
 * for a quarter of the memory.
 */
const CODES: Readonly<Record<VectorIndexDef["storage"], VectorStorage>> = {
  f32: "int8",
  int8: "int8",
  binary: "binary",
};
/** Vectors taken over between two pauses. */
const STEP_VECTORS = 32;

export class VectorBody implements IndexBody<Float32Array>, LongWork {
  /** Slots whose vector changed since a copy of the graph left to be linked elsewhere; null: none is away. */
  private changed: Set<number> | null = null;

  private constructor(
    private graph: VectorGraph,
    private readonly originals: Originals,
    private readonly linkedElsewhereMin: number,
  ) {}

  /** `linkedElsewhereMin` is what tests make small. */
  static create(
    definition: VectorIndexDef,
    dimensions: number,
    originals: Originals,
    linkedElsewhereMin = LINKED_ELSEWHERE_MIN,
  ): VectorBody {
    const graph = new VectorGraph({ dimensions, ...definition, storage: CODES[definition.storage], originals });
    return new VectorBody(graph, originals, linkedElsewhereMin);
  }

  /** Throws when the bytes are not those of a body of this definition. */
  static *load(
    bytes: Uint8Array,
    originals: Originals,
    linkedElsewhereMin = LINKED_ELSEWHERE_MIN,
  ): Generator<undefined, VectorBody> {
    const graph = yield* VectorGraph.loadInSteps([bytes], { originals });
    return new VectorBody(graph, originals, linkedElsewhereMin);
  }

  get count(): number {
    return this.graph.count;
  }

  get bytes(): number {
    return this.graph.bytes;
  }

  add(vector: Float32Array): number {
    const slot = this.graph.append(vector);
    this.changed?.add(slot);
    return slot;
  }

  remove(slot: number): void {
    this.graph.remove(slot);
    this.changed?.add(slot);
  }

  /** Vectors of one code are the same to the graph. */
  holds(slot: number, vector: Float32Array): boolean {
    return this.graph.holdsCode(slot, vector);
  }

  get hasWork(): boolean {
    return this.changed === null && this.graph.waitingCount > 0 && this.graph.count >= LINKED_MIN;
  }

  get waitingCount(): number {
    return this.graph.waitingCount;
  }

  work(): void {
    this.graph.linkOne();
  }

  save(): Iterable<Uint8Array> {
    return this.graph.save();
  }

  get longWork(): LongWork {
    return this;
  }

  get isWanted(): boolean {
    return this.changed === null && this.graph.waitingCount > this.linkedElsewhereMin;
  }

  get isAway(): boolean {
    return this.changed !== null;
  }

  begin(): void {
    this.changed = new Set();
  }

  giveUp(): void {
    this.changed = null;
  }

  *takeBack(bytes: Uint8Array): Generator<undefined, ReadonlyMap<number, number>> {
    const linked = yield* VectorGraph.loadInSteps([bytes], { originals: this.originals });
    const changed = this.changed!;
    /** Slots whose vector of then is gone from the linked graph, and where those of now are in it. */
    const emptied = new Set<number>();
    const moved = new Map<number, number>();
    for (let steps = 1; changed.size > 0; steps++) {
      const [slot] = changed as Iterable<number> as [number];
      changed.delete(slot);
      if (!emptied.has(slot)) linked.remove(slot);
      emptied.add(slot);
      const before = moved.get(slot);
      if (before !== undefined) linked.remove(before);
      if (this.graph.has(slot)) moved.set(slot, linked.append(this.vectorOf(slot)));
      else moved.delete(slot);
      if (steps % STEP_VECTORS === 0) yield;
    }
    this.graph = linked;
    this.changed = null;
    return moved;
  }

  /** One whose record has changed by now will be replaced soon: until then it is nowhere. */
  private vectorOf(slot: number): Float32Array {
    return this.graph.vector(slot) ?? new Float32Array(this.graph.dimensions);
  }

  /** Approximately the `k` nearest of the slots whose bits are set; `ef` candidates are kept on the way. */
  search(query: Float32Array, k: number, ef: number, allowed: Uint32Array | null): Found {
    return this.graph.search(query, k, ef, allowed ?? undefined);
  }

  /** The same of those that pass, among the `ef` candidates that the walk keeps. */
  searchPassing(query: Float32Array, k: number, ef: number, passes: (slot: number) => boolean): Found {
    return this.graph.searchPassing(query, k, ef, passes);
  }

  /** Approximately all within the radius, but no more than `limit`. */
  within(query: Float32Array, radius: number, limit: number): Found {
    return this.graph.withinRadius(query, radius, limit);
  }

  /** The `k` nearest of these slots. */
  nearestOf(query: Float32Array, k: number, slots: Uint32Array): Found {
    return this.graph.exactOf(query, k, slots);
  }
}
