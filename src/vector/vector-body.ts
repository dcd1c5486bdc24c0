/**
 * The vectors of an index: a graph, and those that wait to be linked into it, which searches measure one by one. So a
 * vector is found as soon as it is there, and linking (a third of a millisecond each) is work for idle moments.
 */
import type { VectorIndexDef } from "../catalog/table.js";
import type { IndexBody } from "../derived/index-body.js";
import { normalized } from "../protocol/vector-math.js";
import { type Found, VectorGraph } from "./vector-graph.js";

/** Indexes of fewer vectors are never linked: measuring all is as fast. */
const LINKED_MIN = 1000;
/** Per member: what single precision loses when a vector is normalised here and there. */
const TOLERANCE = 1e-6;

/** The stored vector of a slot, for storages that keep none. */
export type VectorAt = (slot: number) => Float32Array | undefined;

export class VectorBody implements IndexBody<Float32Array> {
  private constructor(
    private readonly graph: VectorGraph,
    private readonly definition: VectorIndexDef,
  ) {}

  static create(definition: VectorIndexDef, dimensions: number, original: VectorAt): VectorBody {
    return new VectorBody(
      new VectorGraph({ dimensions, ...definition, ...originalOf(definition, original) }),
      definition,
    );
  }

  /** Throws when the bytes are not those of a body of this definition. */
  static load(definition: VectorIndexDef, bytes: Uint8Array, original: VectorAt): VectorBody {
    return new VectorBody(VectorGraph.load([bytes], originalOf(definition, original)), definition);
  }

  get count(): number {
    return this.graph.count;
  }

  get bytes(): number {
    return this.graph.bytes;
  }

  add(vector: Float32Array): number {
    return this.graph.append(vector);
  }

  remove(slot: number): void {
    this.graph.remove(slot);
  }

  /** Of a quantised one nobody can tell. */
  holds(slot: number, vector: Float32Array): boolean {
    if (this.definition.storage !== "f32") return false;
    const held = this.graph.vector(slot)!;
    const wanted = this.definition.metric === "cosine" ? normalized(vector) : vector;
    return held.every((x, i) => Math.abs(x - wanted[i]!) <= TOLERANCE * Math.abs(x));
  }

  get hasWork(): boolean {
    return this.graph.waitingCount > 0 && this.graph.count >= LINKED_MIN;
  }

  get waitingCount(): number {
    return this.graph.waitingCount;
  }

  work(): void {
    this.graph.linkOne();
  }

  save(): readonly Uint8Array[] {
    return [...this.graph.save()];
  }

  /** Approximately the `k` nearest of the slots whose bits are set; `ef` candidates are kept on the way. */
  search(query: Float32Array, k: number, ef: number, allowed: Uint32Array | null): Found {
    return this.graph.search(query, k, ef, allowed ?? undefined);
  }

  /** The `k` nearest of these slots. */
  nearestOf(query: Float32Array, k: number, slots: Uint32Array): Found {
    return this.graph.exactOf(query, k, slots);
  }
}

/** Single precision is kept in the graph; of the shorter forms the records have the whole vectors. */
function originalOf({ storage }: VectorIndexDef, original: VectorAt): { readonly original?: VectorAt } {
  return storage === "f32" ? {} : { original };
}
