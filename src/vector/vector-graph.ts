/**
 * An index of vectors in memory: a Hierarchical Navigable Small World graph (Malkov & Yashunin 2016), run by hnsw.wasm.
 * The owner of a vector index makes one, in its own thread, and keeps which record is in which slot. Every call is one
 * bounded step; loops over many are the owner's.
 *
 * The graph is a cache of records: it knows vectors by slot and nothing else. Its memory is one WebAssembly memory, at
 * most 4 GiB (some 2.4 million float32 vectors of 384 dimensions at m = 16); a process has room for some 13,000.
 *
 * Zero vectors under cosine have no direction, so no distance (pgvector: NaN, and its indexes leave them out, too):
 * they are stored and counted, and no search finds them; a zero query finds nothing.
 */

import { sqlError } from "../protocol/errors.js";
import type { VectorMetric } from "../values/vector-metric.js";
import { type Calibrated, Calibration } from "./calibration.js";
import { type Found, foundOf, NOTHING, within } from "./found.js";
import { loadGraph, saveGraph } from "./graph-file.js";
import {
  AT_LEAST,
  BY_CODE,
  EXACTLY,
  floatsAt,
  type GraphModule,
  instantiateGraph,
  pooled,
  wordsAt,
} from "./graph-module.js";
import {
  checkFinite,
  configure,
  dimensionsMax,
  EF_MAX,
  inRange,
  isWhole,
  metricFor,
  timeOfOne,
  type VectorGraphOptions,
  type VectorStorage,
} from "./graph-parameters.js";
import { GraphWalks } from "./graph-walks.js";
import type { LinkJob } from "./link-graph.js";
import { BY_ORIGINAL, type LongSearch, offerSlots, type Slots } from "./long-search.js";
import { BOUNDED_MIN, firstPool } from "./pool-lengths.js";
import { type Candidates, type Originals, type Passes, type Ranked, rankOriginals } from "./rank-originals.js";
import { SharedLinks } from "./shared-links.js";
import { each, listedSlots, SlotMeasures } from "./slot-measures.js";
import { WaitingSlots } from "./waiting-slots.js";

const BYTES_MAX = 2 ** 32;
/**
 * The largest error of a code happens where all that was lost points to the query. What is lost points anywhere, so
 * that errors have a deviation of that divided by the root of the dimensions: walks reckon with as many deviations.
 */
const DEVIATIONS = 4;
const ONCE_NUMBERS = 4_000_000;
/** Of binary codes so many of the nearest are read to say which are the nearest. */
const BESIDE_BINARY = 512;

/** Which of those measured are wanted; `most` is what the first pool holds at least, where `passes` is asked. */
interface Which {
  readonly passes?: Passes | undefined;
  readonly isTooFar?: ((measured: number) => boolean) | undefined;
  readonly most?: number;
}

export class VectorGraph {
  readonly dimensions: number;
  readonly metric: VectorMetric;
  readonly storage: VectorStorage;
  readonly m: number;
  readonly efConstruction: number;
  readonly bytesMax: number;
  private readonly originals: Originals | undefined;
  private readonly module: GraphModule;
  private readonly waiting: WaitingSlots;
  private readonly measures: SlotMeasures;
  private readonly walks: GraphWalks;
  readonly links: SharedLinks;
  readonly calibration: Calibration;
  /** Of what `links.hold` holds. */
  private changes = 0;
  /** The metric's distance, from what the module measures. */
  private readonly ofMeasured: (measured: number) => number;

  /** @throws DbError 22023 for a parameter out of its range, 53200 when `bytesMax` holds not even the empty graph. */
  constructor(options: VectorGraphOptions) {
    this.storage = options.storage ?? "f32";
    this.dimensions = inRange("dimensions", options.dimensions, 1, dimensionsMax(this.storage));
    this.m = inRange("m", options.m ?? 16, 2, 128);
    this.efConstruction = inRange("efConstruction", options.efConstruction ?? Math.max(100, this.m), this.m, 2_000);
    this.metric = options.metric;
    this.bytesMax = Math.min(options.bytesMax ?? BYTES_MAX, BYTES_MAX);
    this.originals = isWhole(this.storage) ? undefined : options.originals;
    const metric = metricFor(this.metric, this.storage);
    this.module = instantiateGraph();
    this.waiting = new WaitingSlots(this.module);
    this.ofMeasured = metric.ofMeasured ?? Number;
    const { dimensions, m, efConstruction, keepsOriginals } = this;
    const parameters = { metric: this.metric, storage: this.storage, dimensions, m, efConstruction, keepsOriginals };
    configure(this.module, parameters, this.bytesMax);
    this.links = new SharedLinks(this.module, parameters, this.bytesMax);
    if (this.module.create((options.seed ?? 1) >>> 0) === 0) throw this.full();
    this.measures = new SlotMeasures(
      this.module,
      timeOfOne(dimensions, this.storage),
      options.onceNumbers ?? ONCE_NUMBERS,
      {
        prepare: (query, allowed) => {
          this.writeQuery(query);
          if (allowed !== undefined) this.writeAllowed(allowed);
        },
        rank: (most, slots) => this.rankAll(most, slots),
      },
    );
    this.walks = new GraphWalks(this.module, this.waiting, this.measures, this.links);
    this.calibration = new Calibration(this.calibrated(), this.module);
  }

  private calibrated(): Calibrated {
    return {
      // Those of binary codes would have to be read.
      mayMeasureAll: this.hasBounds || this.storage === "bits",
      count: () => this.count,
      slotCount: () => this.slotCount,
      sample: (slot) => (this.module.isSample(slot) === 1 ? this.vector(slot) : undefined),
      longSearch: (query) => this.longSearch(query),
      nearestBeside: (query, slot, k) => this.nearestBeside(query, slot, k),
      walkBeside: (query, slot, ef, k) => {
        if (!this.writeQuery(query) || this.module.isSample(slot) === 0) return [];
        return this.rankBeside(slot, k, this.module.searchBeside(slot, ef));
      },
      changes: () => this.changes++,
    };
  }

  private nearestBeside(query: Float32Array, slot: number, k: number): Ranked[] {
    if (!this.writeQuery(query)) return [];
    const most = this.hasBounds ? BOUNDED_MIN : BESIDE_BINARY;
    if (this.module.startScan(most) === 0) return [];
    return this.rankBeside(slot, k, this.measures.offer(this.walks.slotsOf(undefined, this.count), BY_CODE, most).size);
  }

  private rankBeside(slot: number, k: number, size: number): Ranked[] {
    if (size < 0) return [];
    const { slots, measured, errorShare } = this.poolCandidates(size);
    if (measured === null) return this.rank(k, { slots, measured, errorShare, passes: (other) => other !== slot });
    // What codes of int8 say of walks is what vectors say, and those would have to be read.
    const near = Array.from(slots, (other, i) => ({ slot: other, distance: measured[i]! }));
    return near.filter((other) => other.slot !== slot).slice(0, k);
  }

  /** A search for what is nearest to the query that may take turns. To be closed. */
  longSearch(query: Float32Array): LongSearch {
    return this.measures.longSearch(query);
  }

  /** How many vectors it holds. */
  get count(): number {
    return this.module.vectorCount() >>> 0;
  }

  /** All slots ever used are below. */
  get slotCount(): number {
    return this.module.slotCount() >>> 0;
  }

  /** Bytes taken of its memory. */
  get bytes(): number {
    return this.module.imageBytes() >>> 0;
  }

  /** True when int8 and binary keep the float32 vectors, and for f32 and bits. */
  get keepsOriginals(): boolean {
    return this.originals === undefined;
  }

  /**
   * The graph as it is now as bytes, in pieces, for `load`. It may change before the last was taken between
   * `links.hold` and `links.release` only.
   */
  save(): Generator<Uint8Array> {
    if (this.links.isShared) throw new Error("other threads change the graph");
    this.links.markRemoved();
    return this.unchanged(saveGraph(this, this.module));
  }

  private *unchanged(blocks: Iterable<Uint8Array>): Generator<Uint8Array> {
    const { changes } = this;
    for (const block of blocks) {
      if (this.changes !== changes) throw new Error("a vector graph was changed while it was saved");
      yield block;
    }
  }

  /**
   * Loads the graph that `save` gave, from pieces of any lengths, by copying them into memory. `bytesMax` and
   * `originals` are not saved; `originals` must be given if and only if the saved graph had one. @throws
   * DamagedGraphError for anything but a complete saved graph of this version of the format.
   */
  static load(
    pieces: Iterable<Uint8Array>,
    options: Pick<VectorGraphOptions, "bytesMax" | "originals"> = {},
  ): VectorGraph {
    const steps = VectorGraph.loadInSteps(pieces, options);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return step.value;
  }

  /** `load` with a pause now and then. */
  static *loadInSteps(
    pieces: Iterable<Uint8Array>,
    options: Pick<VectorGraphOptions, "bytesMax" | "originals"> = {},
  ): Generator<undefined, VectorGraph> {
    const loaded = yield* loadGraph(pieces, (parameters) => {
      const graph = new VectorGraph({ ...parameters, ...options });
      return { graph, module: graph.module };
    });
    yield* loaded.links.read();
    return loaded;
  }

  /**
   * Adds a vector (copied) and answers its slot: that of a removed one, or the first never used.
   * @throws DbError 22000 for a wrong length or an element that is not finite; 53200 when there is no room.
   */
  add(vector: Float32Array): number {
    const slot = this.append(vector);
    if (!this.links.isShared) this.link(slot);
    return slot;
  }

  /**
   * Adds a vector that waits for `linkOne`: searches find it, by measuring it. Takes microseconds, where linking takes
   * a good part of a millisecond. @throws as `add`.
   */
  append(vector: Float32Array): number {
    this.writeInput(vector);
    if (!this.links.isShared) this.changes++;
    const slot = this.module.append();
    if (slot < 0) throw this.full();
    this.waiting.appended(slot >>> 0);
    this.measures.appended(slot >>> 0);
    return slot >>> 0;
  }

  /** Vectors that wait to be linked. */
  get waitingCount(): number {
    return this.waiting.count;
  }

  /** Links one of the waiting vectors; false if there is none, or others do it. */
  linkOne(): boolean {
    const slot = this.links.isShared ? null : this.waiting.next();
    if (slot === null) return false;
    this.link(slot);
    return true;
  }

  private link(slot: number): void {
    this.changes++;
    this.module.link(slot);
  }

  /** Other threads begin to link what waits; empty: there is nothing that they could link it to. */
  beginSharing(threads: number): readonly LinkJob[] {
    if (this.module.hasEntry() === 0 && !this.linkOne()) return [];
    return this.links.begin(threads, this.waiting.least());
  }

  /** Takes out one that was removed while others linked. */
  takeOutOne(): void {
    this.changes++;
    this.links.takeOutOne();
  }

  /** Takes the vector out, so that no search finds it from now on; its slot may be used again. False: there is none. */
  remove(slot: number): boolean {
    if (!this.links.isShared) this.changes++;
    if (this.module.remove(slot) === 0) return false;
    this.waiting.removed(slot);
    this.links.removed(slot);
    return true;
  }

  has(slot: number): boolean {
    return this.module.slotState(slot) !== 0;
  }

  /** int8 and binary: whether the vector has the slot's code. Without originals the graph knows no more of it. */
  holdsCode(slot: number, vector: Float32Array): boolean {
    this.writeInput(vector);
    return this.module.inputHasCodeOf(slot) === 1;
  }

  /** A copy of the vector as kept: normalised under cosine. Undefined for a free slot, or if its owner has none. */
  vector(slot: number): Float32Array | undefined {
    if (!this.has(slot)) return undefined;
    const at = this.module.vectorAt(slot) >>> 0;
    if (at === 0) return this.originals?.([slot])[0];
    return floatsAt(this.module, at, this.dimensions).slice();
  }

  /**
   * The `k` nearest that a walk with a list of `ef` (at least `k`) finds, among the slots whose bit is set in `allowed`
   * (bit s & 31 of word s >> 5; slots beyond its end are not). @throws DbError 22000, 22023, 53200.
   */
  search(query: Float32Array, k: number, ef: number, allowed?: Uint32Array): Found {
    return this.searchPassing(query, k, ef, undefined, allowed);
  }

  /** The same of those that `passes` answers true for; it is asked of what the walk found. */
  searchPassing(query: Float32Array, k: number, ef: number, passes?: Passes, allowed?: Uint32Array): Found {
    const wanted = inRange("k", k, 1, EF_MAX);
    const width = Math.max(wanted, inRange("ef", ef, 1, EF_MAX));
    if (!this.writeQuery(query)) return NOTHING;
    const possible = allowed === undefined ? this.count : this.writeAllowed(allowed);
    if (possible === 0) return NOTHING;
    const isScan = this.walks.isScanned(width, possible, allowed !== undefined);
    const slots = this.walks.slotsOf(allowed, possible);
    if (isScan && this.hasBounds) return this.nearestByBounds(wanted, slots, { passes, most: width });
    const how = this.storage === "binary" && !this.originals ? EXACTLY : BY_CODE;
    const size = isScan ? this.walks.scan(width, slots, how) : this.walks.walk(wanted, width, possible, allowed);
    if (size < 0) throw this.full();
    const complete = size >= Math.min(wanted, possible);
    if (this.originals !== undefined)
      return this.foundOf(this.rank(wanted, { ...this.poolCandidates(size), passes }), complete);
    this.module.rerankPool();
    return this.readPool(size, wanted, complete, passes);
  }

  /** It has the codes of int8 alone, which say how far away vectors are at least. */
  private get hasBounds(): boolean {
    return this.originals !== undefined && this.storage === "int8";
  }

  /**
   * The `k` nearest, exactly, of the slots (as written, those allowed): all are measured by the least
   * distance that their codes allow, with longer and longer pools, until the last of one cannot be among the nearest.
   * Where `passes` is to be asked, the second pool is the last.
   */
  private nearestByBounds(k: number, slots: Slots, { passes, isTooFar, most: wanted = 0 }: Which = {}): Found {
    const first = firstPool(k, passes === undefined ? 0 : wanted, isTooFar !== undefined);
    for (let most = first; ; most = Math.min(EF_MAX, most * 4)) {
      if (this.module.startScan(most) === 0) throw this.full();
      const { size, bound } = this.measures.offer(slots, AT_LEAST, most);
      const { slots: found, measured } = this.poolCandidates(size);
      const best = this.rank(k, { slots: found, measured, errorShare: 0, passes }, isTooFar);
      const others = Math.min(bound, size < most ? Number.POSITIVE_INFINITY : measured![size - 1]!);
      const areNone = (others === Number.POSITIVE_INFINITY && size < most) || isTooFar?.(others) === true;
      if (areNone || (best.length >= k && others > best[k - 1]!.distance)) return this.foundOf(best, true);
      if (passes !== undefined && (most > first || most === EF_MAX)) return this.foundOf(best, false);
      if (most === EF_MAX) return this.nearestOriginals(k, slots, isTooFar);
    }
  }

  /** By reading all of them. */
  private nearestOriginals(k: number, slots: Slots, isTooFar?: Which["isTooFar"]): Found {
    for (let most = k + BOUNDED_MIN; ; most *= 4) {
      const known = this.measures.known(slots, BY_ORIGINAL, most);
      const best = this.rankAll(k, known?.slots ?? each(slots), isTooFar);
      const others = known?.bound ?? Number.POSITIVE_INFINITY;
      const isAll = others === Number.POSITIVE_INFINITY || isTooFar?.(others) === true;
      if (isAll || (best.length >= k && others > best[k - 1]!.distance)) return this.foundOf(best, true);
    }
  }

  private rankAll(k: number, slots: Iterable<number>, isTooFar?: Which["isTooFar"]): Ranked[] {
    return this.rank(k, { slots: [...slots], measured: null, errorShare: 1 }, isTooFar);
  }

  private rank(k: number, candidates: Candidates, isTooFar?: (distance: number) => boolean): Ranked[] {
    const { module, measures } = this;
    return rankOriginals({ module, originals: this.originals!, reads: measures.reads }, candidates, k, isTooFar);
  }

  private foundOf(ranked: readonly Ranked[], complete: boolean): Found {
    return foundOf(ranked, this.ofMeasured, complete);
  }

  /** The pool as a walk has left it. */
  private poolCandidates(size: number): Candidates {
    const { slots, measured } = pooled(this.module, size);
    if (this.storage === "binary") return { slots, measured: null, errorShare: 1 };
    return { slots, measured, errorShare: Math.min(1, DEVIATIONS / Math.sqrt(this.dimensions)) };
  }

  /** The `k` nearest (of those allowed, and not too far as measured), by measuring all: linear in `slotCount`. */
  exact(query: Float32Array, k: number, allowed?: Uint32Array, isTooFar?: Which["isTooFar"]): Found {
    const wanted = inRange("k", k, 1, EF_MAX);
    if (!this.writeQuery(query)) return NOTHING;
    const slots = this.walks.slotsOf(allowed, allowed === undefined ? this.count : this.writeAllowed(allowed));
    if (this.hasBounds) return this.nearestByBounds(wanted, slots, { isTooFar });
    if (this.originals !== undefined) return this.nearestOriginals(wanted, slots, isTooFar);
    const size = this.walks.scan(wanted, slots, isWhole(this.storage) ? BY_CODE : EXACTLY);
    if (size < 0) throw this.full();
    this.module.rerankPool();
    return this.readPool(size, wanted, true);
  }

  /**
   * The `k` nearest, exactly, of those (allowed) that `passes` answers true for. It is asked of the nearest `most` and
   * a few times as many; incomplete where fewer of them pass. A graph of int8 with originals, or of bits.
   */
  exactPassing(query: Float32Array, k: number, most: number, passes: Passes, allowed?: Uint32Array): Found {
    const wanted = inRange("k", k, 1, EF_MAX);
    if (!this.writeQuery(query)) return NOTHING;
    const slots = this.walks.slotsOf(allowed, allowed === undefined ? this.count : this.writeAllowed(allowed));
    if (this.hasBounds) return this.nearestByBounds(wanted, slots, { passes, most });
    const width = Math.min(EF_MAX, Math.max(wanted, most));
    const size = this.walks.scan(width, slots, BY_CODE);
    if (size < 0) throw this.full();
    const found = this.readPool(size, wanted, true, passes);
    return { ...found, complete: size < width || found.slots.length === wanted };
  }

  /** The `k` nearest of the given slots, exactly; those that are free are passed over. */
  exactOf(query: Float32Array, k: number, slots: Iterable<number>): Found {
    const wanted = inRange("k", k, 1, EF_MAX);
    if (!this.writeQuery(query)) return NOTHING;
    const listed = listedSlots([...slots]);
    if (this.hasBounds) return this.nearestByBounds(wanted, listed);
    if (this.originals !== undefined) return this.nearestOriginals(wanted, listed);
    if (this.module.startScan(wanted) === 0) throw this.full();
    const size = offerSlots(this.module, listed.listed, EXACTLY);
    this.module.rerankPool();
    return this.readPool(size, wanted, true);
  }

  /**
   * The nearest `limit` whose distance is at most `radius`: by walks with longer and longer lists until one reaches
   * beyond the radius, or exactly when that would be most of the graph.
   */
  withinRadius(query: Float32Array, radius: number, limit: number, allowed?: Uint32Array): Found {
    const most = inRange("limit", limit, 1, EF_MAX);
    for (const ef of this.walks.widths()) {
      if (ef * 8 > this.count) break;
      if (this.hasBounds && allowed === undefined) {
        const near = this.walkWithin(query, radius, ef, most);
        if (near !== null) return near;
        continue;
      }
      const found = this.search(query, ef, ef, allowed);
      if (!found.complete) break;
      const count = found.slots.length;
      if (count >= most || count < ef || found.distances[count - 1]! > radius) return within(found, radius, most);
    }
    const isTooFar = (distance: number): boolean => this.ofMeasured(distance) > radius;
    return within(this.exact(query, most, allowed, isTooFar), radius, most);
  }

  /** Those within the radius that a walk finds; null: it does not reach beyond. */
  private walkWithin(query: Float32Array, radius: number, ef: number, most: number): Found | null {
    if (!this.writeQuery(query)) return NOTHING;
    const { size, walked, last } = this.walks.walkOrScan(ef);
    if (size < 0) throw this.full();
    const candidates = this.poolCandidates(size);
    const isPastEnd = size < ef || this.ofMeasured(candidates.measured![size - 1]!) > radius;
    // Where removed vectors may have had places in the walk's list, only what it found itself says how far it went.
    const isRemoved = walked !== null && this.links.pendingCount > 0;
    const isFar = isRemoved ? walked * 2 >= ef && this.ofMeasured(last) > radius : size === ef;
    const isBeyond = (isRemoved ? walked : size) > most || (isFar && isPastEnd);
    if (!isBeyond) return null;
    const isTooFar = (distance: number): boolean => this.ofMeasured(distance) > radius;
    return this.foundOf(this.rank(most, candidates, isTooFar), true);
  }

  /** The nearest of so many, or of those that pass. */
  private readPool(size: number, wanted: number, complete: boolean, passes: Passes = () => true): Found {
    const { slots, measured } = pooled(this.module, size);
    const best: Ranked[] = [];
    for (let i = 0; i < size && best.length < wanted; i++)
      if (passes(slots[i]!)) best.push({ slot: slots[i]!, distance: measured[i]! });
    return this.foundOf(best, complete);
  }

  private writeInput(vector: Float32Array): void {
    if (vector.length !== this.dimensions)
      throw sqlError("22000", `expected ${this.dimensions} dimensions, not ${vector.length}`);
    checkFinite(vector);
    floatsAt(this.module, this.module.inputAt(), this.dimensions).set(vector);
  }

  /** False for a query that is no distance from anything. */
  private writeQuery(query: Float32Array): boolean {
    this.writeInput(query);
    return this.module.setQuery() === 1;
  }

  private writeAllowed(allowed: Uint32Array): number {
    const words = Math.min(allowed.length, (this.slotCount + 31) >>> 5);
    wordsAt(this.module, this.module.allowedAt(), words).set(allowed.subarray(0, words));
    return this.module.setAllowed(words) >>> 0;
  }

  private full(): Error {
    return sqlError("53200", `the vector index is full: it may take ${this.bytesMax} bytes of memory`);
  }
}
