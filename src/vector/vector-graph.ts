/**
 * An index of vectors in memory: a Hierarchical Navigable Small World graph (Malkov & Yashunin 2016), run by hnsw.wasm.
 * The owner of a vector index makes one, in its own thread, and keeps which record is in which slot. Every call is one
 * bounded step; loops over many are the owner's.
 *
 * The graph is a cache of records: it knows vectors by slot and nothing else. Its memory is one WebAssembly memory, at
 * most 4 GiB (some 2.4 million float32 vectors of 384 dimensions at m = 16); a process has room for about 13,000 of them.
 *
 * Zero vectors under cosine have no direction, so no distance (pgvector: NaN, and its indexes leave them out, too): they
 * are stored and counted, and no search finds them; a zero query finds nothing.
 */

import { sqlError } from "../protocol/errors.js";
import { VECTOR_METRICS, type VectorMetric } from "../values/vector-metric.js";
import { loadGraph, saveGraph } from "./graph-file.js";
import { type GraphModule, instantiateGraph } from "./graph-module.js";
import { STORAGES, type VectorStorage } from "./graph-parameters.js";

export interface VectorGraphOptions {
  /** 1 to 16,000. */
  readonly dimensions: number;
  readonly metric: VectorMetric;
  /** Links that a node chooses per layer, 2 to 128; layer 0 has room for twice as many. Default 16. */
  readonly m?: number;
  /** Candidates among which links are chosen, `m` to 2,000. Default 100. */
  readonly efConstruction?: number;
  readonly storage?: VectorStorage;
  /** Levels of nodes follow from it: same calls, same graph. 32 bits, default 1. */
  readonly seed?: number;
  /** `add` refuses beyond this many bytes. Default and maximum: 4 GiB. */
  readonly bytesMax?: number;
  /**
   * int8 and binary only: the vector in a slot, as added. With it the graph keeps codes alone and asks for the vectors
   * that it compares exactly; without it it keeps the float32 vectors beside the codes. Undefined: not to be found.
   */
  readonly original?: (slot: number) => Float32Array | undefined;
}

/** Nearest first; equally near ones by slot. */
export interface Found {
  readonly slots: Uint32Array;
  readonly distances: Float64Array;
  /** False when a walk found fewer than `k` although the filter lets more pass: the caller then asks `exact`. */
  readonly complete: boolean;
}

/** The most that `k` and `ef` may be. */
export const EF_MAX = 16_384;
export const DIMENSIONS_MAX = 16_000;
const BYTES_MAX = 2 ** 32;
/** Slots that one step of an exact search measures. */
const SCAN_STEP_SLOTS = 4_096;
/** As many may be removed while an exact search goes on in steps. */
const SCAN_SPARE = 64;
// What a filter asks for, measured with 50,000 vectors of 384 dimensions. From this share of matches on, a walk that heeds
// no filter and is longer by as much costs least.
const WIDE_SHARE = 0.2;
/** Below it too few nodes have a match among their neighbours' neighbours for a walk to hold together. */
const SCAN_SHARE = 0.04;
/** Up to this many matches per unit of `ef`, measuring all of them is as fast as a walk. */
const SCAN_PER_EF = 24;
/** Vectors of the owner that int8 compares exactly, besides twice as many as are wanted. */
const INT8_SPARE = 8;
const LINKED = 1;

const NOTHING: Found = { slots: new Uint32Array(0), distances: new Float64Array(0), complete: true };

export class VectorGraph {
  readonly dimensions: number;
  readonly metric: VectorMetric;
  readonly storage: VectorStorage;
  readonly m: number;
  readonly efConstruction: number;
  readonly bytesMax: number;
  private readonly original: ((slot: number) => Float32Array | undefined) | undefined;
  private readonly module: GraphModule;
  /** Slots without links yet, oldest first. */
  private readonly waiting = new Set<number>();
  private changes = 0;
  /** The metric's distance, from what the module measures. */
  private readonly ofMeasured: (measured: number) => number;
  private removals = 0;

  /** @throws DbError 22023 for a parameter out of its range, 53200 when `bytesMax` holds not even the empty graph. */
  constructor(options: VectorGraphOptions) {
    this.dimensions = inRange("dimensions", options.dimensions, 1, DIMENSIONS_MAX);
    this.m = inRange("m", options.m ?? 16, 2, 128);
    this.efConstruction = inRange("efConstruction", options.efConstruction ?? Math.max(100, this.m), this.m, 2_000);
    this.metric = options.metric;
    this.storage = options.storage ?? "f32";
    this.bytesMax = Math.min(options.bytesMax ?? BYTES_MAX, BYTES_MAX);
    this.original = this.storage === "f32" ? undefined : options.original;
    const metric = VECTOR_METRICS[this.metric];
    const storage = STORAGES.indexOf(this.storage);
    if (metric === undefined) throw sqlError("22023", `unknown vector metric "${this.metric}"`);
    if (storage < 0) throw sqlError("22023", `unknown vector storage "${this.storage}"`);
    this.module = instantiateGraph();
    this.ofMeasured = metric.ofMeasured ?? Number;
    const keeps = this.original === undefined ? 1 : 0;
    this.module.configure(metric.wasm, storage, this.dimensions, this.m, this.efConstruction, keeps, this.bytesMax);
    if (this.module.create((options.seed ?? 1) >>> 0) === 0) throw this.full();
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

  /** True when int8 and binary keep the float32 vectors, and for f32. */
  get keepsOriginals(): boolean {
    return this.original === undefined;
  }

  /** Changes with every `add` and `remove`. */
  get version(): number {
    return this.changes;
  }

  /** The graph as bytes, in pieces, for `load`; it must not change until the last was taken. */
  save(): Generator<Uint8Array> {
    return saveGraph(this, this.module);
  }

  /**
   * Loads the graph that `save` gave, from pieces of any lengths, by copying them into memory. `bytesMax` and
   * `original` are not saved; `original` must be given if and only if the saved graph had one. @throws
   * DamagedGraphError for anything but a complete saved graph of this version of the format.
   */
  static load(
    pieces: Iterable<Uint8Array>,
    options: Pick<VectorGraphOptions, "bytesMax" | "original"> = {},
  ): VectorGraph {
    const steps = VectorGraph.loadInSteps(pieces, options);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return step.value;
  }

  /** `load` with a pause now and then. */
  static *loadInSteps(
    pieces: Iterable<Uint8Array>,
    options: Pick<VectorGraphOptions, "bytesMax" | "original"> = {},
  ): Generator<undefined, VectorGraph> {
    const loaded = yield* loadGraph(pieces, (parameters) => {
      const graph = new VectorGraph({ ...parameters, ...options });
      return { graph, module: graph.module };
    });
    for (let slot = 0; slot < loaded.slotCount; slot++) if (loaded.module.isWaiting(slot)) loaded.waiting.add(slot);
    return loaded;
  }

  /**
   * Adds a vector (copied) and answers its slot: that of a removed one, or the first never used.
   * @throws DbError 22000 for a wrong length or an element that is not finite; 53200 when there is no room.
   */
  add(vector: Float32Array): number {
    const slot = this.append(vector);
    this.link(slot);
    return slot;
  }

  /**
   * Adds a vector that waits for `linkOne`: searches find it, by measuring it. Takes microseconds, where linking takes a
   * good part of a millisecond. @throws as `add`.
   */
  append(vector: Float32Array): number {
    this.writeInput(vector);
    this.changes++;
    const slot = this.module.append();
    if (slot < 0) throw this.full();
    if (this.module.isWaiting(slot)) this.waiting.add(slot >>> 0);
    return slot >>> 0;
  }

  /** Vectors that wait to be linked. */
  get waitingCount(): number {
    return this.waiting.size;
  }

  /** Links one of the waiting vectors; false if there is none. */
  linkOne(): boolean {
    for (const slot of this.waiting) {
      this.link(slot);
      return true;
    }
    return false;
  }

  private link(slot: number): void {
    if (!this.waiting.delete(slot)) return;
    this.changes++;
    this.module.link(slot);
  }

  /** Takes the vector out, so that no search finds it from now on; its slot may be used again. False: there is none. */
  remove(slot: number): boolean {
    this.changes++;
    this.removals++;
    this.waiting.delete(slot);
    return this.module.remove(slot) === 1;
  }

  has(slot: number): boolean {
    return this.module.slotState(slot) !== 0;
  }

  /** A copy of the vector as kept: normalised under cosine. Undefined for a free slot, or when the owner does not know. */
  vector(slot: number): Float32Array | undefined {
    if (!this.has(slot)) return undefined;
    const at = this.module.vectorAt(slot) >>> 0;
    if (at === 0) return this.original?.(slot);
    return new Float32Array(this.module.memory.buffer, at, this.dimensions).slice();
  }

  /**
   * The `k` nearest that a walk with a list of `ef` (at least `k`) finds, among the slots whose bit is set in `allowed`
   * (bit s & 31 of word s >> 5; slots beyond its end are not). @throws DbError 22000, 22023, 53200.
   */
  search(query: Float32Array, k: number, ef: number, allowed?: Uint32Array): Found {
    const wanted = inRange("k", k, 1, EF_MAX);
    const width = Math.max(wanted, inRange("ef", ef, 1, EF_MAX));
    if (!this.writeQuery(query)) return NOTHING;
    let size: number;
    let possible = this.count;
    if (allowed === undefined) size = this.searchAll(width);
    else {
      possible = this.writeAllowed(allowed);
      if (possible === 0) return NOTHING;
      size = this.searchAllowed(width, possible, allowed);
    }
    if (size < 0) throw this.full();
    const complete = size >= Math.min(wanted, possible);
    if (this.original !== undefined) {
      // By their codes of int8 the nearest are nearly in order; each one asked for costs as much as ten measured.
      const asked = this.storage === "int8" ? Math.min(size, 2 * wanted + INT8_SPARE) : size;
      return this.rerank(wanted, this.poolSlots(asked), complete);
    }
    this.module.rerankPool();
    return this.readPool(Math.min(size, wanted), complete);
  }

  /** The `k` nearest (of those allowed), by measuring all: linear in `slotCount`. */
  exact(query: Float32Array, k: number, allowed?: Uint32Array): Found {
    const steps = this.scan(query, inRange("k", k, 1, EF_MAX), 0, allowed);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    return step.value;
  }

  /**
   * `exact` that may be interrupted between steps of some thousand slots, also by changes: it answers with the nearest
   * of those that were there all the time, and perhaps some of those added meanwhile.
   */
  exactInSteps(query: Float32Array, k: number, allowed?: Uint32Array): Generator<undefined, Found> {
    return this.scan(query, inRange("k", k, 1, EF_MAX), SCAN_SPARE, allowed);
  }

  /**
   * Keeps `spare` more results than `k`, because some may be removed while it runs. If more are removed, it starts
   * again and does not stop.
   */
  private *scan(query: Float32Array, k: number, spare: number, allowed?: Uint32Array): Generator<undefined, Found> {
    const width = Math.min(EF_MAX, k + spare);
    const removalsBefore = this.removals;
    let isPatient = true;
    let found = NOTHING;
    for (let from = 0; from < this.slotCount; from += SCAN_STEP_SLOTS) {
      if (from > 0 && isPatient) yield;
      if (isPatient && this.removals - removalsBefore > width - k) {
        isPatient = false;
        from = 0;
        found = NOTHING;
      }
      if (!this.writeQuery(query)) return NOTHING;
      if (this.original !== undefined) {
        const candidates = [...found.slots, ...this.slotsBetween(from, from + SCAN_STEP_SLOTS, allowed)];
        found = this.rerank(width, candidates, true);
        continue;
      }
      if (this.module.startScan(width) === 0) throw this.full();
      if (allowed !== undefined) this.writeAllowed(allowed);
      this.offer(found.slots);
      const size = this.module.scanSlots(from, from + SCAN_STEP_SLOTS, allowed === undefined ? 0 : 1, 0);
      this.module.rerankPool();
      found = this.readPool(size, true);
    }
    return { ...found, slots: found.slots.slice(0, k), distances: found.distances.slice(0, k) };
  }

  /** The `k` nearest of the given slots, exactly; those that are free are passed over. */
  exactOf(query: Float32Array, k: number, slots: Iterable<number>): Found {
    const wanted = inRange("k", k, 1, EF_MAX);
    if (!this.writeQuery(query)) return NOTHING;
    if (this.original !== undefined) return this.rerank(wanted, slots, true);
    if (this.module.startScan(wanted) === 0) throw this.full();
    const size = this.offer(slots);
    this.module.rerankPool();
    return this.readPool(size, true);
  }

  /**
   * The nearest `limit` whose distance is at most `radius`: by walks with longer and longer lists until one reaches
   * beyond the radius, or exactly when that would be most of the graph.
   */
  withinRadius(query: Float32Array, radius: number, limit: number, allowed?: Uint32Array): Found {
    const most = inRange("limit", limit, 1, EF_MAX);
    for (let ef = 128; ef * 8 <= this.count && ef <= EF_MAX; ef *= 4) {
      const found = this.search(query, ef, ef, allowed);
      if (!found.complete) break;
      const count = found.slots.length;
      if (count >= most || count < ef || found.distances[count - 1]! > radius) return within(found, radius, most);
    }
    return within(this.exact(query, most, allowed), radius, most);
  }

  /** The way that costs least for as many as pass the filter, with recall; see the constants for what was measured. */
  private searchAllowed(width: number, possible: number, allowed: Uint32Array): number {
    const share = possible / this.count;
    if (share < SCAN_SHARE || possible <= width * SCAN_PER_EF || this.isMostlyWaiting())
      return this.measureAll(width, true);
    const wide = share >= WIDE_SHARE ? Math.min(EF_MAX, Math.ceil(width / share)) : 0;
    const size = this.module.search(width, 1, wide, possible);
    return this.withWaiting(size, (slot) => (((allowed[slot >>> 5] ?? 0) >>> (slot & 31)) & 1) === 1);
  }

  private searchAll(width: number): number {
    if (this.isMostlyWaiting()) return this.measureAll(width, false);
    return this.withWaiting(this.module.search(width, 0, 0, 0), () => true);
  }

  private measureAll(width: number, filtered: boolean): number {
    if (this.module.startScan(width) === 0) throw this.full();
    const byCode = this.storage !== "binary" || this.original !== undefined;
    return this.module.scanSlots(0, this.slotCount, filtered ? 1 : 0, byCode ? 1 : 0);
  }

  private isMostlyWaiting(): boolean {
    return this.waiting.size * 2 > this.count;
  }

  /** What a walk found, with those that wait. */
  private withWaiting(size: number, passes: (slot: number) => boolean): number {
    if (size < 0 || this.waiting.size === 0) return size;
    const { module } = this;
    const most = module.batchLength();
    let total = size;
    let count = 0;
    // Measuring takes no memory, so the view lasts.
    const batch = new Uint32Array(module.memory.buffer, module.batchAt() >>> 0, most);
    for (const slot of this.waiting) {
      if (!passes(slot)) continue;
      batch[count++] = slot;
      if (count < most) continue;
      total = module.offerBatchByCode(count);
      count = 0;
    }
    return count > 0 ? module.offerBatchByCode(count) : total;
  }

  private offer(slots: Iterable<number>): number {
    const module = this.module;
    const most = module.batchLength();
    let count = 0;
    let size = 0;
    const batch = new Uint32Array(module.memory.buffer, module.batchAt() >>> 0, most);
    for (const slot of slots) {
      if (module.slotState(slot) !== LINKED) continue;
      batch[count++] = slot;
      if (count < most) continue;
      size = module.offerBatchExact(count);
      count = 0;
    }
    return count > 0 ? module.offerBatchExact(count) : size;
  }

  /** Sorts the slots by the exact distance of the owner's vectors to the query, which is the input. */
  private rerank(k: number, slots: Iterable<number>, complete: boolean): Found {
    const measured: { slot: number; distance: number }[] = [];
    const other = new Float32Array(this.module.memory.buffer, this.module.otherAt() >>> 0, this.dimensions);
    for (const slot of slots) {
      if (this.module.slotState(slot) !== LINKED) continue;
      const vector = this.original!(slot);
      if (vector === undefined) continue;
      other.set(vector);
      const distance = this.module.distanceToOther();
      if (!Number.isNaN(distance)) measured.push({ slot, distance });
    }
    measured.sort((a, b) => a.distance - b.distance || a.slot - b.slot);
    measured.length = Math.min(measured.length, k);
    return {
      slots: Uint32Array.from(measured, (entry) => entry.slot),
      distances: Float64Array.from(measured, (entry) => this.ofMeasured(entry.distance)),
      complete,
    };
  }

  private *slotsBetween(from: number, to: number, allowed: Uint32Array | undefined): Generator<number> {
    for (let slot = from; slot < Math.min(to, this.slotCount); slot++) {
      if (allowed === undefined || ((allowed[slot >>> 5] ?? 0) >>> (slot & 31)) & 1) yield slot;
    }
  }

  private poolSlots(size: number): Uint32Array {
    const words = new Uint32Array(this.module.memory.buffer, this.module.poolAt() >>> 0, size * 2);
    const slots = new Uint32Array(size);
    // The topmost bit is the walk's.
    for (let i = 0; i < size; i++) slots[i] = words[2 * i + 1]! & 0x7fffffff;
    return slots;
  }

  private readPool(size: number, complete: boolean): Found {
    const at = this.module.poolAt() >>> 0;
    const measured = new Float32Array(this.module.memory.buffer, at, size * 2);
    const distances = new Float64Array(size);
    for (let i = 0; i < size; i++) distances[i] = this.ofMeasured(measured[2 * i]!);
    return { slots: this.poolSlots(size), distances, complete };
  }

  private writeInput(vector: Float32Array): void {
    if (vector.length !== this.dimensions)
      throw sqlError("22000", `expected ${this.dimensions} dimensions, not ${vector.length}`);
    let differences = 0;
    for (let i = 0; i < vector.length; i++) differences += vector[i]! - vector[i]!;
    if (differences !== 0) {
      const what = vector.some(Number.isNaN) ? "NaN" : "infinite value";
      throw sqlError("22000", `${what} not allowed in vector`);
    }
    new Float32Array(this.module.memory.buffer, this.module.inputAt() >>> 0, this.dimensions).set(vector);
  }

  /** False for a query that is no distance from anything. */
  private writeQuery(query: Float32Array): boolean {
    this.writeInput(query);
    return this.module.setQuery() === 1;
  }

  private writeAllowed(allowed: Uint32Array): number {
    const words = Math.min(allowed.length, (this.slotCount + 31) >>> 5);
    new Uint32Array(this.module.memory.buffer, this.module.allowedAt() >>> 0, words).set(allowed.subarray(0, words));
    return this.module.setAllowed(words) >>> 0;
  }

  private full(): Error {
    return sqlError("53200", `the vector index is full: it may take ${this.bytesMax} bytes of memory`);
  }
}

function inRange(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw sqlError("22023", `${name} of a vector index must be a whole number from ${least} to ${most}, not ${value}`);
}

function within(found: Found, radius: number, limit: number): Found {
  let count = 0;
  while (count < found.slots.length && count < limit && found.distances[count]! <= radius) count++;
  return { ...found, slots: found.slots.slice(0, count), distances: found.distances.slice(0, count) };
}
