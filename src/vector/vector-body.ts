/**
 * The vectors of an index: a graph, and those that wait to be linked into it, which searches measure one by one. So a
 * vector is found as soon as it is there, and linking (a third of a millisecond each) is work for idle moments.
 */
import type { VectorIndexDef } from "../catalog/table.js";
import type { IndexBody, LongWork } from "../derived/index-body.js";
import { normalized } from "../values/vector-math.js";
import type { VectorStorage } from "./graph-parameters.js";
import { type Found, VectorGraph } from "./vector-graph.js";

/** Indexes of fewer vectors are never linked: measuring all is as fast. */
const LINKED_MIN = 1000;
/** So many that wait are linked by another thread. */
const LINKED_ELSEWHERE_MIN = 10_000;
/** Vectors taken over between two pauses. */
const STEP_VECTORS = 32;
/** Per member: what single precision loses when a vector is normalised here and there. */
const TOLERANCE = 1e-6;

/** The stored vector of a slot, for storages that keep none. */
export type VectorAt = (slot: number) => Float32Array | undefined;

export class VectorBody implements IndexBody<Float32Array>, LongWork {
  /** Slots whose vector changed since a copy of the graph left to be linked elsewhere; null: none is away. */
  private changed: Set<number> | null = null;

  private constructor(
    private graph: VectorGraph,
    private readonly definition: VectorIndexDef,
    private readonly original: VectorAt,
    private readonly linkedElsewhereMin: number,
  ) {}

  /** `linkedElsewhereMin` is what tests make small. */
  static create(
    definition: VectorIndexDef,
    dimensions: number,
    original: VectorAt,
    linkedElsewhereMin = LINKED_ELSEWHERE_MIN,
  ): VectorBody {
    const graph = new VectorGraph({ dimensions, ...definition, ...keptOf(definition, original) });
    return new VectorBody(graph, definition, original, linkedElsewhereMin);
  }

  /** Throws when the bytes are not those of a body of this definition. */
  static *load(
    definition: VectorIndexDef,
    bytes: Uint8Array,
    original: VectorAt,
    linkedElsewhereMin = LINKED_ELSEWHERE_MIN,
  ): Generator<undefined, VectorBody> {
    const graph = yield* VectorGraph.loadInSteps([bytes], originalOf(definition, original));
    return new VectorBody(graph, definition, original, linkedElsewhereMin);
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

  /** Of a quantised one nobody can tell. */
  holds(slot: number, vector: Float32Array): boolean {
    if (this.definition.storage !== "f32") return false;
    const held = this.graph.vector(slot)!;
    const wanted = this.definition.metric === "cosine" ? normalized(vector) : vector;
    return held.every((x, i) => Math.abs(x - wanted[i]!) <= TOLERANCE * Math.abs(x));
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
    const linked = yield* VectorGraph.loadInSteps([bytes], originalOf(this.definition, this.original));
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

  /** Approximately all within the radius, but no more than `limit`. */
  within(query: Float32Array, radius: number, limit: number): Found {
    return this.graph.withinRadius(query, radius, limit);
  }

  /** The `k` nearest of these slots. */
  nearestOf(query: Float32Array, k: number, slots: Uint32Array): Found {
    return this.graph.exactOf(query, k, slots);
  }
}

/**
 * Where single precision is wanted the graph keeps it, and walks by int8 beside it: half the time to build, two thirds to
 * search, for a quarter more memory. Of the shorter forms the records have the whole vectors.
 */
function keptOf(
  { storage }: VectorIndexDef,
  original: VectorAt,
): { readonly storage: VectorStorage; readonly original?: VectorAt } {
  return storage === "f32" ? { storage: "int8" } : { storage, original };
}

function originalOf({ storage }: VectorIndexDef, original: VectorAt): { readonly original?: VectorAt } {
  return storage === "f32" ? {} : { original };
}
