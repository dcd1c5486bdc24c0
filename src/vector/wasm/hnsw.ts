/**
 * The module's exports, called by vector-graph.ts: it writes a vector to `inputAt`, calls, and reads the pool.
 * One instance is one graph.
 */

import { extract, free, insert, linkBack, randomLevel } from "./change";
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
  spread,
} from "./distance";
import { BY_CODE, offerSlots, rerank, scan } from "./exact";
import { countAllowed, walkAllowed, walkWide } from "./filtered-walk";
import {
  addWaiting,
  allowedBits,
  BITS,
  batch,
  batchMax,
  CALIBRATION,
  codeOf,
  countAdded,
  ensurePool,
  ensureSlot,
  entrySlot,
  growTo,
  hold,
  IMAGE,
  input,
  isHeld,
  isShared,
  isWhole,
  keepsOriginals,
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
  query,
  release,
  setGeometry,
  setMemoryMax,
  setRandomState,
  slots,
  storage,
  storeState,
  top,
  visited,
  waitingCount,
} from "./layout";
import { distanceAt, move, reset, size, slotAt, truncate } from "./pool";
import {
  addLive,
  claim,
  FREE,
  GHOST,
  GONE,
  GONE_LATER,
  goneOf,
  inDegreeOf,
  isBusy,
  isFindable,
  isGone,
  isInGraph,
  joinTwins,
  LINKED,
  popSlot,
  publishState,
  releaseUpper,
  setBusy,
  setGone,
  setLevelOf,
  setStateOf,
  stateOf,
  TWIN,
  takeUpper,
  UNLINKED,
  WAITING,
} from "./slots";
import { nextShared, share, stopSharing, takePlace } from "./threads";
import { addTwin, hasTwins, isSet, markTwins, passRepresentatives, removeTwin, spreadTwins } from "./twins";
import { clearMarks, enter, isVisited, newMark, walkLayer } from "./walk";

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
  return top() - IMAGE;
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

export function calibrationAt(): usize {
  return CALIBRATION;
}

export function slotCount(): u32 {
  return slots();
}

export function vectorCount(): u32 {
  return liveCount();
}

/** Address of the slot's float32 vector, of bits for this call alone; 0 when only its code is kept. */
export function vectorAt(slot: u32): usize {
  if (storage !== BITS) return originalOf(slot);
  spread(codeOf(slot), other);
  return other;
}

/** 0 free, 1 to be found, 2 a zero vector under cosine. */
export function slotState(slot: u32): i32 {
  if (slot >= slots()) return 0;
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
  if (!isWhole() && keepsOriginals) memory.copy(originalOf(slot), input, (<usize>padded) << 2);
  store<u32>(linksOf(slot, 0), 0);
  addLive(1);
  countAdded();
  // Walks meet what is linked only.
  store<u8>(visited + slot, 0);
  joinTwins(slot, slot);
  setGone(slot, 0);
  setStateOf(slot, hasDirection ? WAITING : UNLINKED);
  if (hasDirection) addWaiting(1);
  return slot;
}

export function isWaiting(slot: u32): bool {
  return slot < slots() && stateOf(slot) === WAITING;
}

/** Links a slot that waits. */
export function link(slot: u32): void {
  if (claim(slot)) linkClaimed(slot);
}

function linkClaimed(slot: u32): void {
  let level = randomLevel();
  // A full graph may still have a slot, if only in layer 0.
  if (!takeUpper(slot, level)) {
    level = 0;
    takeUpper(slot, level);
  }
  setLevelOf(slot, level);
  prepareStored(slot, query);
  const node = insert(slot, level);
  if (node !== NONE) {
    releaseUpper(slot);
    setLevelOf(slot, -1);
    // Whoever sees a twin reads its representative.
    addTwin(slot, node);
    publishState(slot, TWIN);
  }
  addWaiting(-1);
}

/** Removes the slot's vector; 0 if there is none. */
export function remove(slot: u32): i32 {
  if (slot >= slots() || isGone(slot)) return 0;
  const state = stateOf(slot);
  if (state === FREE || state === GHOST) return 0;
  if (isShared()) {
    setGone(slot, isHeld() ? GONE_LATER : GONE);
    gone++;
  } else takeOut(slot);
  addLive(-1);
  return 1;
}

function takeOut(slot: u32): void {
  const state = stateOf(slot);
  if (state === LINKED) {
    if (hasTwins(slot)) setStateOf(slot, GHOST);
    else extract(slot);
  } else if (state === TWIN) {
    const node = removeTwin(slot);
    free(slot);
    if (stateOf(node) === GHOST && !hasTwins(node)) extract(node);
  } else {
    if (state === WAITING) addWaiting(-1);
    free(slot);
  }
}

/** Slots that were removed while other threads linked, and are to be taken out. */
let gone: u32 = 0;

export function isGoneSlot(slot: u32): bool {
  return slot < slots() && isGone(slot);
}

/** It was removed before what is to be copied now. */
export function setGoneBefore(slot: u32): void {
  setGone(slot, GONE);
}

/** Takes a slot out that was removed while other threads linked. */
export function removeGone(slot: u32): void {
  setGone(slot, 0);
  gone--;
  takeOut(slot);
}

/** From here on other threads may link what waits from slot `from` on; what is in the graph stays in it. */
export function beginSharing(from: u32): void {
  share(from);
}

/** There is a node that others can be linked to. */
export function hasEntry(): bool {
  return entrySlot() !== NONE;
}

/** Other threads are to end soon. */
export function stopOthers(): void {
  stopSharing();
}

/** In another thread's instance, which links: before anything but `configure`. 0: there is no room. */
export function join(thread: u32): i32 {
  return takePlace(thread) ? 1 : 0;
}

/** Links the next slot that waits, or looks at it; 0: there is none, or the owner wants an end. */
export function linkNext(): i32 {
  const slot = nextShared();
  if (slot === NONE) return 0;
  if (stateOf(slot) !== WAITING || isGone(slot)) return 1;
  setBusy(slot, true);
  if (claim(slot)) linkClaimed(slot);
  setBusy(slot, false);
  return 1;
}

/**
 * All others have ended: makes of the slots from `from` up to `to` what they would be if one thread had linked them.
 */
export function settle(from: u32, to: u32): void {
  const end = min(to, slots());
  markTwins(from, end);
  for (let slot = from; slot < end; slot++) if (isInGraph(slot) && inDegreeOf(slot) === 0) linkBack(slot);
}

export function endSharing(): void {
  release();
}

/** From here on the image is copied: until `endSharing` no links may change. */
export function holdLinks(): void {
  hold();
}

/** The first slot from `from` up to `to` that walks may not find yet, and `to` if there is none. */
export function firstWaiting(from: u32, to: u32): u32 {
  const end = min(to, slots());
  for (let slot = from; slot < end; slot++) if (stateOf(slot) === WAITING || isBusy(slot)) return slot;
  return end;
}

export function waiting(): u32 {
  return waitingCount();
}

/**
 * Offers the (allowed) slots from `from` on that wait, after a walk. While other threads link, those that they have
 * linked meanwhile, too, which the walk may have met or not; returns how many the pool holds.
 */
export function offerWaiting(from: u32, filtered: bool): i32 {
  const end = slots();
  const shared = isShared();
  let count = 0;
  for (let slot = from; slot < end; slot++) {
    if (shared ? !isFindable(slot) || isWalked(slot) : stateOf(slot) !== WAITING) continue;
    if (filtered && !isSet(allowedBits, slot)) continue;
    store<u32>(batch + ((<usize>count) << 2), slot);
    count++;
    if (<u32>count < batchMax) continue;
    offerSlots(count, BY_CODE);
    count = 0;
  }
  offerSlots(count, BY_CODE);
  return size;
}

/** The last walk has met it and offered it itself. */
function isWalked(slot: u32): bool {
  return isVisited(slot) && stateOf(slot) === LINKED;
}

/** Takes from the pool what is there twice, and what was removed; returns how many it holds. */
export function cleanPool(): i32 {
  let kept = 0;
  for (let i = 0; i < size; i++) {
    const slot = slotAt(i);
    if (!isFindable(slot)) continue;
    const d = distanceAt(i);
    let twice = false;
    for (let j = kept - 1; j >= 0 && distanceAt(j) === d && !twice; j--) twice = slotAt(j) === slot;
    if (twice) continue;
    move(i, kept);
    kept++;
  }
  truncate(kept);
  return size;
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
  newMark();
  if (entrySlot() === NONE) return 0;
  enter(query, 0);
  if (!filtered) walkLayer(query, ef, 0);
  else if (wide > 0) walkWide(query, wide);
  else walkAllowed(query, ef, allowedCount);
  spreadTwins(ef, filtered);
  return gone === 0 ? size : cleanPool();
}

/** It is a node that no other vector is equal to, and a search can do without it. */
export function isSample(slot: u32): bool {
  return slot < slots() && stateOf(slot) === LINKED && !isGone(slot) && !hasTwins(slot) && slot !== entrySlot();
}

/** `search` by a walk that does not meet the slot, which `isSample` is true for. */
export function searchBeside(slot: u32, ef: u32): i32 {
  // No mark of a walk is as large.
  store<u8>(visited + slot, NEVER);
  const found = search(ef, false, 0, 0);
  store<u8>(visited + slot, 0);
  return found;
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
  scan(from, min(to, slots()), filtered, how);
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
  // Searches went on while the image was copied.
  clearMarks();
}

/**
 * The next slot from `from` up to `to` that was gone when the image was to be copied; `to` if there is none. What was
 * removed later is there again.
 */
export function nextGone(from: u32, to: u32): u32 {
  const end = min(to, slots());
  for (let slot = from; slot < end; slot++) {
    if (goneOf(slot) === GONE) {
      gone++;
      return slot;
    }
    setGone(slot, 0);
  }
  return end;
}

export function checksum(at: usize, bytes: usize): u64 {
  return xxh64(at, bytes);
}
