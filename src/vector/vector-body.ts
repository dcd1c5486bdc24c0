/**
 * The vectors of an index: a graph, and the vectors that wait to be linked into it, which searches compare one by one.
 * So a vector is found as soon as it is stored, and linking (a third of a millisecond each) happens in idle moments.
 */
import type { VectorIndexDef } from "../catalog/table.js";
import type { IndexBody, LongWork } from "../derived/index-body.js";
import { NEAREST } from "./calibration.js";
import type { Found } from "./found.js";
import type { VectorStorage } from "./graph-parameters.js";
import { LINK_THREADS_MAX, type LinkJob } from "./link-graph.js";
import type { LongSearch } from "./long-search.js";
import type { Originals, Passes } from "./rank-originals.js";
import { VectorGraph } from "./vector-graph.js";

/** Indexes of fewer vectors are never linked: measuring all is as fast. */
const LINKED_MIN = 1000;
/** From this many waiting vectors on, other threads link them. */
const LINKED_ELSEWHERE_MIN = 2000;
/** What the smallest graph counts as. */
const BYTES_MIN = 2 * 64 * 1024;
/**
 * What a graph keeps of numbers: codes alone. The records have the vectors, so recall and distances are those of single
 * precision for a quarter of the memory.
 */
const CODES: Readonly<Record<VectorIndexDef["storage"], VectorStorage>> = {
  f32: "int8",
  int8: "int8",
  binary: "binary",
};

/** What an index is of. */
export interface Indexed {
  readonly dimensions: number;
  /** Vectors of zeros and ones. */
  readonly isOfBits: boolean;
}

export class VectorBody implements IndexBody<Float32Array>, LongWork {
  /** Other threads link. */
  private isShared = false;
  /** It is being saved. */
  private isHeld = false;
  /** Vectors that waited or came to wait since others link, if none is linked. */
  private given = 0;

  private constructor(
    private readonly graph: VectorGraph,
    private readonly linkedElsewhereMin: number,
  ) {}

  /** Of bits they are all that is kept. `linkedElsewhereMin` is what tests make small. */
  static create(
    definition: VectorIndexDef,
    { dimensions, isOfBits }: Indexed,
    originals: Originals,
    linkedElsewhereMin = LINKED_ELSEWHERE_MIN,
  ): VectorBody {
    const storage = isOfBits ? "bits" : CODES[definition.storage];
    const graph = new VectorGraph({ dimensions, ...definition, storage, originals });
    return new VectorBody(graph, linkedElsewhereMin);
  }

  /** Throws when the bytes are not those of a body of this definition. */
  static *load(
    pieces: Iterable<Uint8Array>,
    originals: Originals,
    linkedElsewhereMin = LINKED_ELSEWHERE_MIN,
  ): Generator<undefined, VectorBody> {
    const graph = yield* VectorGraph.loadInSteps(pieces, { originals });
    return new VectorBody(graph, linkedElsewhereMin);
  }

  get count(): number {
    return this.graph.count;
  }

  /** A memory has pages that are not used yet, and a process has room for so many memories only. */
  get bytes(): number {
    return Math.max(BYTES_MIN, this.graph.bytes);
  }

  add(vector: Float32Array): number {
    if (this.isShared) this.given++;
    return this.graph.append(vector);
  }

  remove(slot: number): void {
    this.graph.remove(slot);
  }

  has(slot: number): boolean {
    return this.graph.has(slot);
  }

  /** Vectors of one code are the same to the graph. */
  holds(slot: number, vector: Float32Array): boolean {
    return this.graph.holdsCode(slot, vector);
  }

  get hasWork(): boolean {
    if (this.isShared || this.isHeld) return false;
    const { links, waitingCount, count, calibration } = this.graph;
    return links.goneCount > 0 || (count >= LINKED_MIN && (waitingCount > 0 || calibration.isDue));
  }

  get waitingCount(): number {
    return this.graph.waitingCount;
  }

  work(): void {
    if (this.graph.links.goneCount > 0) this.graph.takeOutOne();
    else if (!this.graph.linkOne()) this.graph.calibration.step();
  }

  save(): Iterable<Uint8Array> {
    return this.graph.save();
  }

  saveNow(): Iterable<Uint8Array> {
    this.graph.calibration.pause();
    const parts = this.graph.save();
    this.graph.links.hold();
    this.isHeld = true;
    return parts;
  }

  saved(): void {
    this.graph.links.release();
    this.isHeld = false;
  }

  get longWork(): LongWork {
    return this;
  }

  get isWanted(): boolean {
    // Those that were removed and are still to be taken out cannot be linked.
    const isFree = !this.isShared && !this.isHeld && this.graph.links.goneCount === 0;
    return isFree && this.graph.waitingCount > this.linkedElsewhereMin;
  }

  get isAway(): boolean {
    return this.isShared;
  }

  begin(threads: number): readonly LinkJob[] {
    this.graph.calibration.pause();
    const jobs = this.graph.beginSharing(Math.min(threads, LINK_THREADS_MAX));
    this.isShared = jobs.length > 0;
    this.given = this.graph.waitingCount;
    return jobs;
  }

  stop(): void {
    this.graph.links.stop();
  }

  *end(): Generator<undefined, boolean> {
    yield* this.graph.links.end();
    this.isShared = false;
    return this.graph.waitingCount < this.given || this.graph.links.goneCount > 0;
  }

  /** A search that may take turns: what the methods below answer is asked through it. To be closed. */
  longSearch(query: Float32Array): LongSearch {
    return this.graph.longSearch(query);
  }

  /** Of a search for ten; all, where the nearest of all are measured. */
  get candidates(): number {
    return Math.min(this.count, this.candidatesFor(NEAREST));
  }

  /** How many candidates a search for `k` keeps to find nearly all; infinite: the nearest of all are to be measured. */
  candidatesFor(k: number): number {
    return this.graph.calibration.lengthFor(k);
  }

  /** Approximately the `k` nearest of the slots whose bits are set; `ef` candidates are kept on the way. */
  search(query: Float32Array, k: number, ef: number, allowed: Uint32Array | null): Found {
    return this.graph.search(query, k, ef, allowed ?? undefined);
  }

  /** The same of those that pass, among the `ef` candidates that the walk keeps. */
  searchPassing(query: Float32Array, k: number, ef: number, passes: Passes, allowed?: Uint32Array): Found {
    return this.graph.searchPassing(query, k, ef, passes, allowed);
  }

  /** The `k` nearest, exactly, of those that pass; `most` are looked at at first, and incomplete is what needs more. */
  nearestPassing(query: Float32Array, k: number, most: number, passes: Passes, allowed?: Uint32Array): Found {
    return this.graph.exactPassing(query, k, most, passes, allowed);
  }

  /** Approximately all within the radius, but no more than `limit`. */
  within(query: Float32Array, radius: number, limit: number): Found {
    return this.graph.withinRadius(query, radius, limit);
  }

  /** The `k` nearest of the slots whose bits are set, or of all. */
  nearest(query: Float32Array, k: number, allowed: Uint32Array | null): Found {
    return this.graph.exact(query, k, allowed ?? undefined);
  }

  /** The `k` nearest of these slots. */
  nearestOf(query: Float32Array, k: number, slots: Uint32Array): Found {
    return this.graph.exactOf(query, k, slots);
  }
}
