/**
 * Where everything lies in the memory of one graph. AssemblyScript, compiled into hnsw.wasm; one instance per graph.
 *
 *   [0, 32 KiB)     the compiler's own
 *   [32, 64 KiB)    the loader's, for checksums of what is no part of the image
 *   [IMAGE, top)    the image, which is what a saved graph holds: state, chunk table, scratch, chunks and upper links
 *                   in the order in which they were taken. No address in it is outside, so copying it is loading it.
 *
 * A chunk holds 2^chunkShift slots as four arrays: codes (what the walk measures), level-0 links, slot infos,
 * originals. Memory is only ever taken at `top`; what is given back (upper links) goes into lists by size. All
 * functions that take memory answer 0 when `memoryMax` or the module's 4 GiB would be exceeded, and nothing has changed
 * then.
 */

export const IMAGE: usize = 65536;
/** Bytes of the state at IMAGE, as `storeState` writes it. */
export const STATE_BYTES: usize = 4096;
const CHUNK_BYTES_MIN: usize = 262144;
const CHUNKS_MAX: usize = 16384;
const TABLE: usize = IMAGE + STATE_BYTES;

export const F32: i32 = 0;
export const INT8: i32 = 1;
export const BINARY: i32 = 2;
/** A bit of each member that is above zero: all there is of vectors of zeros and ones. */
export const BITS: i32 = 3;

/** Marks a free slot for the walk: no mark of a search is as large (see `walk.ts`). */
export const NEVER: u8 = 255;

export const LEVEL_MAX: i32 = 15;
export const NONE: u32 = 0xffffffff;

// What the graph was made with.
export let metric: i32 = 0;
export let storage: i32 = 0;
export let dimensions: u32 = 0;
/** Dimensions rounded up to a multiple of 8: what f32 and int8 vectors are padded to, with zeros. */
export let padded: u32 = 0;
export let keepsOriginals: bool = false;
export let m: u32 = 0;
export let linksMax0: u32 = 0;
export let efConstruction: u32 = 0;
export let memoryMax: u64 = 0;

// What it holds lies at IMAGE, where all instances over the memory see it.
const TOP: usize = IMAGE;
export const SLOTS: usize = IMAGE + 4;
export const LIVE: usize = IMAGE + 8;
const CAPACITY: usize = IMAGE + 12;
/** The entry's slot, and its level in the upper half. */
const ENTRY: usize = IMAGE + 16;
export const FREE_SLOT: usize = IMAGE + 24;
const RANDOM: usize = IMAGE + 48;
const SWEEP: usize = IMAGE + 88;
const TWINS: usize = IMAGE + 100;
/** While other threads link; while the image is copied. */
export const LINKING: u32 = 1;
const HELD: u32 = 2;
export const SHARED: usize = IMAGE + 104;
const WAITING_COUNT: usize = IMAGE + 108;
/** Other threads that link are to end (threads.ts). */
export const STOP: usize = IMAGE + 112;
/** Four words of the owner's (calibration.ts); the last is how many vectors were ever added. */
export const CALIBRATION: usize = IMAGE + 128;
const ADDED: usize = CALIBRATION + 12;

// Geometry of a chunk, computed from the above.
export let chunkShift: u32 = 0;
let chunkMask: u32 = 0;
let chunkBytes: usize = 0;
export let codeStride: usize = 0;
let linksStride: usize = 0;
let linksOffset: usize = 0;
let infoOffset: usize = 0;
let originalStride: usize = 0;
let originalOffset: usize = 0;

// Scratch.
/** A vector as float32, as the owner hands it in. */
export let input: usize = 0;
/** The input prepared for measuring: the same for f32, int16 for int8, bits for binary. */
export let query: usize = 0;
/** A float32 vector to compare with the input. */
export let other: usize = 0;
/** One byte per slot. */
export let visited: usize = 0;
/** One bit per slot. */
export let allowedBits: usize = 0;
/** Nodes that the walk looks for under a filter: those allowed, and representatives of allowed twins. */
export let passBits: usize = 0;
/** Slots that are twins: the owner's. */
export let twinBits: usize = 0;
/** Slots to be measured, and what was measured: `batchMax` of both. */
export let batch: usize = 0;
export let distances: usize = 0;
/** A second pair, for choosing links. */
export let chosen: usize = 0;
export let chosenDistances: usize = 0;
/** Slots with distances in between (pairs of f32 and u32), sorted: one node's links and one more. */
export let pairs: usize = 0;
export let batchMax: u32 = 0;
/** The walk's pool (pool.ts): 8 bytes for each of `poolMax`, and as much again for a copy. */
export let pool: usize = 0;
export let poolMax: u32 = 0;
export let freeUpper: usize = 0;

const INFO_BYTES: usize = 24;

/** All slots that have ever been used are below. */
export function slots(): u32 {
  return atomic.load<u32>(SLOTS);
}

export function liveCount(): u32 {
  return load<u32>(LIVE);
}

export function capacity(): u32 {
  return load<u32>(CAPACITY);
}

export function top(): usize {
  return <usize>atomic.load<u32>(TOP);
}

/** The entry's slot, and its level in the upper half: the two always belong together. */
export function entry(): u64 {
  return atomic.load<u64>(ENTRY);
}

export function entrySlot(): u32 {
  return <u32>entry();
}

export function entryLevel(): i32 {
  return <i32>(entry() >> 32);
}

export function setEntry(slot: u32, level: i32): void {
  atomic.store<u64>(ENTRY, ((<u64>(<u32>level)) << 32) | <u64>slot);
}

/** Makes the slot the entry unless another thread has found a higher one. */
export function raiseEntry(slot: u32, level: i32): void {
  for (;;) {
    const before = entry();
    if (level <= <i32>(before >> 32)) return;
    const next = ((<u64>(<u32>level)) << 32) | <u64>slot;
    if (atomic.cmpxchg<u64>(ENTRY, before, next) === before) return;
  }
}

/** The next state of the generator of levels. */
export function nextRandom(by: u64): u64 {
  return atomic.add<u64>(RANDOM, by) + by;
}

export function setRandomState(state: u64): void {
  store<u64>(RANDOM, state);
}

export function twinCount(): u32 {
  return atomic.load<u32>(TWINS);
}

export function addTwins(by: i32): void {
  atomic.add<u32>(TWINS, <u32>by);
}

/** Where the search for links to free slots has come to (change.ts). */
export function sweepSlot(): u32 {
  return load<u32>(SWEEP);
}

export function setSweepSlot(slot: u32): void {
  store<u32>(SWEEP, slot);
}

/** Vectors that wait to be linked. */
export function waitingCount(): u32 {
  return atomic.load<u32>(WAITING_COUNT);
}

export function addWaiting(by: i32): void {
  atomic.add<u32>(WAITING_COUNT, <u32>by);
}

/** One more was added. */
export function countAdded(): void {
  store<u32>(ADDED, load<u32>(ADDED) + 1);
}

/** Other threads link, or the image is copied: nothing is taken out of the graph, and no slot is used again. */
export function isShared(): bool {
  return atomic.load<u32>(SHARED) !== 0;
}

export function isHeld(): bool {
  return load<u32>(SHARED) === HELD;
}

export function hold(): void {
  atomic.store<u32>(SHARED, HELD);
}

export function release(): void {
  atomic.store<u32>(SHARED, 0);
}

export function setMemoryMax(bytes: u64): void {
  memoryMax = bytes;
}

/** Sets the parameters and the geometry; `metricOf` and `storageOf` are the constants above. */
export function setGeometry(
  metricOf: i32,
  storageOf: i32,
  dimensionsOf: u32,
  mOf: u32,
  efConstructionOf: u32,
  keeps: bool,
): void {
  metric = metricOf;
  storage = storageOf;
  dimensions = dimensionsOf;
  padded = (dimensionsOf + 7) & ~7;
  m = mOf;
  linksMax0 = mOf * 2;
  efConstruction = efConstructionOf;
  keepsOriginals = keeps;
  // int8 has its scale, its squared norm and the length of what it has lost behind the code.
  if (storageOf === F32) codeStride = padded * 4;
  else if (storageOf === INT8) codeStride = padded + 16;
  else codeStride = ((dimensionsOf + 63) >> 6) << 3;
  linksStride = ((linksMax0 + 1) * 4 + 7) & ~7;
  originalStride = !isWhole() && keeps ? <usize>padded * 4 : 0;
  const slotBytes = codeStride + linksStride + INFO_BYTES + originalStride;
  chunkShift = 0;
  while (slotBytes << chunkShift < CHUNK_BYTES_MIN) chunkShift++;
  const perChunk: usize = (<usize>1) << chunkShift;
  chunkMask = <u32>perChunk - 1;
  linksOffset = perChunk * codeStride;
  infoOffset = linksOffset + perChunk * linksStride;
  originalOffset = infoOffset + perChunk * INFO_BYTES;
  chunkBytes = originalOffset + perChunk * originalStride;
}

/** The code is the vector: what is measured by it is exact. */
export function isWhole(): bool {
  return storage === F32 || storage === BITS;
}

/** Lays the empty image out; 0 when even that does not fit. */
export function layOut(): i32 {
  store<u32>(TOP, <u32>(TABLE + CHUNKS_MAX * 4));
  store<u32>(FREE_SLOT, NONE);
  setEntry(NONE, -1);
  freeUpper = take(<usize>(LEVEL_MAX + 1) * 4);
  input = take(padded * 4);
  query = take(padded * 4 + 16);
  other = take(padded * 4);
  setBatchMax();
  const bytes: usize = <usize>(batchMax + 4) * 4;
  batch = take(bytes);
  distances = take(bytes);
  chosen = take(bytes);
  chosenDistances = take(bytes);
  pairs = take(<usize>(linksMax0 + 1) * 8);
  // What is taken last fails when anything before it did.
  if (pairs === 0) return 0;
  return ensurePool(efConstruction) ? 1 : 0;
}

/** A node's links, and as many again of its neighbours' when a filter is walked around (filtered-walk.ts). */
function setBatchMax(): void {
  batchMax = linksMax0 * 4;
}

/** Makes room for a pool of `ef`; one of twice the size takes the place of the one before. */
export function ensurePool(ef: u32): bool {
  if (ef <= poolMax) return true;
  let room: u32 = 128;
  while (room < ef) room *= 2;
  const at = take(<usize>room * 16 + 16);
  if (at === 0) return false;
  pool = at;
  poolMax = room;
  return true;
}

/** Bytes at the end of the image, zero, aligned to 16; 0 when there is no room. */
export function take(bytes: usize): usize {
  let before: u32;
  let at: usize;
  let end: u64;
  do {
    before = atomic.load<u32>(TOP);
    at = (<usize>before + 15) & ~15;
    end = <u64>at + <u64>bytes;
    if (end - <u64>IMAGE > memoryMax || end > 0xffff0000) return 0;
    if (!growTo(end)) return 0;
  } while (atomic.cmpxchg<u32>(TOP, before, <u32>end) !== before);
  return at;
}

/** Makes the memory at least `end` bytes long, ahead by an eighth because growing is a system call. */
export function growTo(end: u64): bool {
  const pages = <i32>((end + 65535) >> 16);
  const missing = pages - memory.size();
  if (missing <= 0) return true;
  const ahead = max(missing, min(memory.size() >> 3, 65535 - pages));
  return memory.grow(ahead) >= 0 || memory.grow(missing) >= 0;
}

/** Makes room for one more slot; false when there is none. */
export function ensureSlot(): bool {
  const held = capacity();
  if (hasFreeSlot() || slots() < held) return true;
  const chunk = held >> chunkShift;
  if (<usize>chunk >= CHUNKS_MAX) return false;
  const perChunk = chunkMask + 1;
  // The arrays by slot double, so that the abandoned memory is less than the memory in use.
  if ((chunk & (chunk - 1)) === 0) {
    const room: usize = max(perChunk, held * 2);
    const bitBytes: usize = ((room + 63) >> 6) << 3;
    // In one piece: there is room for all of it or for nothing.
    const marksBytes: usize = (room + bitBytes * 3 + 15) & ~15;
    const marks = take(marksBytes + chunkBytes);
    if (marks === 0) return false;
    if (held > 0) {
      memory.copy(marks, visited, held);
      memory.copy(marks + room, twinBits, <usize>held >> 3);
    }
    visited = marks;
    twinBits = marks + room;
    allowedBits = twinBits + bitBytes;
    passBits = allowedBits + bitBytes;
    store<u32>(TABLE + ((<usize>chunk) << 2), <u32>(marks + marksBytes));
  } else {
    const at = take(chunkBytes);
    if (at === 0) return false;
    store<u32>(TABLE + ((<usize>chunk) << 2), <u32>at);
  }
  store<u32>(CAPACITY, held + perChunk);
  return true;
}

export function hasFreeSlot(): bool {
  return !isShared() && load<u32>(FREE_SLOT) !== NONE;
}

function chunkOf(slot: u32): usize {
  return <usize>load<u32>(TABLE + ((<usize>slot >> chunkShift) << 2));
}

export function codeOf(slot: u32): usize {
  return chunkOf(slot) + <usize>(slot & chunkMask) * codeStride;
}

/** The float32 original: the code itself for f32, 0 when there is none. */
export function originalOf(slot: u32): usize {
  if (storage === F32) return codeOf(slot);
  return originalStride !== 0 ? chunkOf(slot) + originalOffset + <usize>(slot & chunkMask) * originalStride : 0;
}

export function infoOf(slot: u32): usize {
  return chunkOf(slot) + infoOffset + <usize>(slot & chunkMask) * INFO_BYTES;
}

/** A count, then that many slots. */
export function linksOf(slot: u32, level: i32): usize {
  if (level === 0) return chunkOf(slot) + linksOffset + <usize>(slot & chunkMask) * linksStride;
  return <usize>load<u32>(infoOf(slot)) + <usize>(level - 1) * <usize>(m + 1) * 4;
}

/** Writes where the owner's own places are to the image, so that the image is the whole graph. */
export function storeState(): void {
  store<u32>(IMAGE, <u32>input, 28);
  store<u32>(IMAGE, <u32>query, 32);
  store<u32>(IMAGE, <u32>visited, 36);
  store<u32>(IMAGE, <u32>allowedBits, 40);
  store<u32>(IMAGE, <u32>freeUpper, 44);
  store<u32>(IMAGE, <u32>batch, 56);
  store<u32>(IMAGE, <u32>distances, 60);
  store<u32>(IMAGE, <u32>chosen, 64);
  store<u32>(IMAGE, <u32>chosenDistances, 68);
  store<u32>(IMAGE, <u32>pool, 72);
  store<u32>(IMAGE, poolMax, 76);
  store<u32>(IMAGE, <u32>pairs, 80);
  store<u32>(IMAGE, <u32>other, 84);
  store<u32>(IMAGE, <u32>passBits, 92);
  store<u32>(IMAGE, <u32>twinBits, 96);
}

export function loadState(): void {
  input = <usize>load<u32>(IMAGE, 28);
  query = <usize>load<u32>(IMAGE, 32);
  visited = <usize>load<u32>(IMAGE, 36);
  allowedBits = <usize>load<u32>(IMAGE, 40);
  freeUpper = <usize>load<u32>(IMAGE, 44);
  batch = <usize>load<u32>(IMAGE, 56);
  distances = <usize>load<u32>(IMAGE, 60);
  chosen = <usize>load<u32>(IMAGE, 64);
  chosenDistances = <usize>load<u32>(IMAGE, 68);
  pool = <usize>load<u32>(IMAGE, 72);
  poolMax = load<u32>(IMAGE, 76);
  pairs = <usize>load<u32>(IMAGE, 80);
  other = <usize>load<u32>(IMAGE, 84);
  passBits = <usize>load<u32>(IMAGE, 92);
  twinBits = <usize>load<u32>(IMAGE, 96);
  setBatchMax();
}

function listBytes(): usize {
  return (<usize>(batchMax + 4) * 4 + 15) & ~15;
}

function pairsBytes(): usize {
  return (<usize>(linksMax0 + 1) * 8 + 15) & ~15;
}

function poolBytes(): usize {
  poolMax = 128;
  while (poolMax < efConstruction) poolMax *= 2;
  return <usize>poolMax * 16 + 16;
}

/** What an instance that links needs beside the graph. */
export function scratchBytes(): usize {
  return <usize>padded * 4 + 16 + listBytes() * 4 + pairsBytes() + poolBytes() + <usize>capacity();
}

/** The instance's scratch is at `at` from now on. */
export function useScratch(at: usize): void {
  query = at;
  batch = query + <usize>padded * 4 + 16;
  distances = batch + listBytes();
  chosen = distances + listBytes();
  chosenDistances = chosen + listBytes();
  pairs = chosenDistances + listBytes();
  pool = pairs + pairsBytes();
  visited = pool + poolBytes();
}
