/**
 * The module's exports, called by vector-graph.ts: it writes a vector to `inputAt`, calls, and reads the pool.
 * One instance is one graph.
 */

import { extract, free, insert, randomLevel } from "./change";
import { xxh64 } from "./checksum";
import {
  COSINE,
  cosineToAny,
  encode,
  errorMax,
  exactDistance,
  hasCode,
  normalise,
  prepare,
  prepareStored,
} from "./distance";
import { offerSlots, rerank, scan } from "./exact";
import { countAllowed, walkAllowed, walkWide } from "./filtered-walk";
import {
  addLive,
  allowedBits,
  batch,
  batchMax,
  codeOf,
  ensurePool,
  ensureSlot,
  entrySlot,
  F32,
  FREE,
  GHOST,
  growTo,
  IMAGE,
  input,
  isFindable,
  joinTwins,
  keepsOriginals,
  LINKED,
  layOut,
  linksOf,
  liveCount,
  loadState,
  metric,
  NEVER,
  NONE,
  originalOf,
  other,
  padded,
  pool,
  popSlot,
  query,
  releaseUpper,
  setGeometry,
  setLevelOf,
  setMemoryMax,
  setRandomState,
  setStateOf,
  slots,
  stateOf,
  storage,
  storeState,
  TWIN,
  takeUpper,
  top,
  UNLINKED,
  visited,
  WAITING,
} from "./layout";
import { reset, size } from "./pool";
import { addTwin, hasTwins, passRepresentatives, removeTwin, spreadTwins } from "./twins";
import { clearMarks, enter, walkLayer } from "./walk";

/** Sets the parameters; before anything else. `bytesMax` bounds the image. */
export function configure(
  metricOf: i32,
  storageOf: i32,
  dimensionsOf: u32,
  mOf: u32,
  efConstructionOf: u32,
  keeps: bool,
  bytesMax: f64,
): void {
  setGeometry(metricOf, storageOf, dimensionsOf, mOf, efConstructionOf, keeps);
  setMemoryMax(<u64>bytesMax);
}

/** Makes the empty graph; 0 when there is no room even for that. */
export function create(seed: u32): i32 {
  setRandomState(<u64>seed);
  return layOut();
}

export function imageAt(): usize {
  return IMAGE;
}

export function imageBytes(): usize {
  return top - IMAGE;
}

export function inputAt(): usize {
  return input;
}

export function otherAt(): usize {
  return other;
}

export function poolAt(): usize {
  return pool;
}

export function batchAt(): usize {
  return batch;
}

export function batchLength(): u32 {
  return batchMax;
}

export function allowedAt(): usize {
  return allowedBits;
}

export function slotCount(): u32 {
  return slots;
}

export function vectorCount(): u32 {
  return liveCount;
}

/** Address of the slot's float32 vector; 0 when only its code is kept. */
export function vectorAt(slot: u32): usize {
  return originalOf(slot);
}

/** 0 free, 1 to be found, 2 a zero vector under cosine. */
export function slotState(slot: u32): i32 {
  if (slot >= slots) return 0;
  if (isFindable(slot)) return LINKED;
  return stateOf(slot) === UNLINKED ? UNLINKED : FREE;
}

/**
 * Stores the input, which then waits to be linked (one without a direction never is); its slot, or -1 when there is no
 * room. Then nothing has changed but the input.
 */
export function append(): i32 {
  if (!ensureSlot()) return -1;
  const hasDirection = metric !== COSINE || normalise(input);
  const slot = popSlot();
  setLevelOf(slot, -1);
  encode(input, codeOf(slot));
  if (storage !== F32 && keepsOriginals) memory.copy(originalOf(slot), input, (<usize>padded) << 2);
  store<u32>(linksOf(slot, 0), 0);
  addLive(1);
  // The walk only meets linked nodes.
  store<u8>(visited + slot, NEVER);
  setStateOf(slot, hasDirection ? WAITING : UNLINKED);
  joinTwins(slot, slot);
  return slot;
}

export function isWaiting(slot: u32): bool {
  return slot < slots && stateOf(slot) === WAITING;
}

/** Links a slot that waits. */
export function link(slot: u32): void {
  let level = randomLevel();
  // A full graph may still have a slot, if only in layer 0.
  if (!takeUpper(slot, level)) {
    level = 0;
    takeUpper(slot, level);
  }
  setLevelOf(slot, level);
  store<u8>(visited + slot, 0);
  setStateOf(slot, LINKED);
  prepareStored(slot, query);
  const node = insert(slot, level);
  if (node === NONE) return;
  releaseUpper(slot);
  setLevelOf(slot, -1);
  setStateOf(slot, TWIN);
  store<u8>(visited + slot, NEVER);
  addTwin(slot, node);
}

/** Removes the slot's vector; 0 if there is none. */
export function remove(slot: u32): i32 {
  if (slot >= slots) return 0;
  const state = stateOf(slot);
  if (state === LINKED) {
    if (hasTwins(slot)) setStateOf(slot, GHOST);
    else extract(slot);
  } else if (state === TWIN) {
    const node = removeTwin(slot);
    free(slot);
    if (stateOf(node) === GHOST && !hasTwins(node)) extract(node);
  } else if (state === UNLINKED || state === WAITING) free(slot);
  else return 0;
  addLive(-1);
  return 1;
}

/** Makes the input the query; 0 for one that no distance is defined for. */
export function setQuery(): i32 {
  if (metric === COSINE && !normalise(input)) return 0;
  prepare(input, query);
  return 1;
}

/** Takes over the first `words` words of the filter's bits as written at `allowedAt`; returns how many are set. */
export function setAllowed(words: u32): u32 {
  const count = countAllowed(words);
  passRepresentatives();
  return count;
}

/**
 * Fills the pool with the nearest to the query by a walk, `ef` at most; returns how many, or -1 when there is no room
 * for so large a pool. `wide` 0: no filter; more than `ef`: filter what a walk so wide finds; else walk the filter.
 */
export function search(ef: u32, filtered: bool, wide: u32, allowedCount: u32): i32 {
  if (!ensurePool(max(ef, wide))) return -1;
  reset(ef);
  if (entrySlot === NONE) return 0;
  enter(query, 0);
  if (!filtered) walkLayer(query, ef, 0);
  else if (wide > 0) walkWide(query, wide);
  else walkAllowed(query, ef, allowedCount);
  spreadTwins(ef, filtered);
  return size;
}

/** Sorts what `search` found by exact distance. */
export function rerankPool(): void {
  rerank();
}

/** Empties the pool for a scan; 0 when there is no room for `k`. */
export function startScan(k: u32): i32 {
  if (!ensurePool(k)) return 0;
  reset(k);
  return 1;
}

/** Offers slots from `from` up to `to`; returns how many the pool holds. */
export function scanSlots(from: u32, to: u32, filtered: bool, how: i32): i32 {
  scan(from, min(to, slots), filtered, how);
  return size;
}

/** Offers the `count` slots written at `batchAt`, which are in the graph. */
export function offerWritten(count: i32, how: i32): i32 {
  offerSlots(count, how);
  return size;
}

/** The exact distance of the query (the input) to the vector at `otherAt`; NaN for a zero vector under cosine. */
export function distanceToOther(): f32 {
  return metric === COSINE ? cosineToAny(input, other) : exactDistance(input, other);
}

/** int8: the most by which the pool's distance of the slot from the query may be wrong. */
export function errorOf(slot: u32): f32 {
  return errorMax(slot);
}

/** int8 and binary: whether the input has the slot's code. Takes the place of the query. */
export function inputHasCodeOf(slot: u32): i32 {
  if (metric === COSINE && !normalise(input)) return 0;
  return hasCode(slot, input) ? 1 : 0;
}

/** Makes the image complete, so that it can be copied. */
export function freeze(): void {
  clearMarks();
  storeState();
}

/** Makes room for an image of the given size in bytes; returns 0 if there is none. */
export function growForImage(bytes: u32): i32 {
  return growTo(<u64>IMAGE + <u64>bytes) ? 1 : 0;
}

/** Takes up the image that was copied in. */
export function thaw(): void {
  loadState();
}

export function checksum(at: usize, bytes: usize): u64 {
  return xxh64(at, bytes);
}
