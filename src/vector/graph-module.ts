/**
 * Loads hnsw.wasm (src/vector/wasm, compiled by `npm run build`): compiled once per thread when the first graph is
 * made, instantiated once per graph and thread, over the graph's memory. Called by vector-graph.ts.
 */
import { readFileSync } from "node:fs";
import { PROJECT } from "../protocol/places.js";

/** What wasm/hnsw.ts exports; addresses and counts are unsigned but come as signed 32-bit numbers. */
export interface GraphModule {
  readonly memory: WebAssembly.Memory;
  configure(
    metric: number,
    storage: number,
    dimensions: number,
    m: number,
    efConstruction: number,
    keepsOriginals: number,
    bytesMax: number,
  ): void;
  create(seed: number): number;
  imageAt(): number;
  imageBytes(): number;
  inputAt(): number;
  otherAt(): number;
  poolAt(): number;
  batchAt(): number;
  batchLength(): number;
  allowedAt(): number;
  calibrationAt(): number;
  slotCount(): number;
  vectorCount(): number;
  vectorAt(slot: number): number;
  slotState(slot: number): number;
  append(): number;
  link(slot: number): void;
  remove(slot: number): number;
  isGoneSlot(slot: number): number;
  setGoneBefore(slot: number): void;
  removeGone(slot: number): void;
  beginSharing(from: number): void;
  hasEntry(): number;
  stopOthers(): void;
  join(thread: number): number;
  linkNext(): number;
  settle(from: number, to: number): void;
  endSharing(): void;
  holdLinks(): void;
  firstWaiting(from: number, to: number): number;
  waiting(): number;
  offerWaiting(from: number, filtered: number): number;
  cleanPool(): number;
  setQuery(): number;
  setAllowed(words: number): number;
  search(ef: number, filtered: number, wide: number, allowedCount: number): number;
  isSample(slot: number): number;
  searchBeside(slot: number, ef: number): number;
  rerankPool(): void;
  startScan(k: number): number;
  scanSlots(from: number, to: number, filtered: number, how: How): number;
  offerWritten(count: number, how: How): number;
  distanceToOther(): number;
  errorOf(slot: number): number;
  inputHasCodeOf(slot: number): number;
  freeze(): void;
  growForImage(bytes: number): number;
  thaw(): void;
  nextGone(from: number, to: number): number;
  checksum(at: number, bytes: number): bigint;
}

/** How slots are measured, as wasm/exact.ts numbers it; at least: the nearest that a code of int8 allows. */
export const EXACTLY = 0;
export const BY_CODE = 1;
export const AT_LEAST = 2;
type How = typeof EXACTLY | typeof BY_CODE | typeof AT_LEAST;

/** As asconfig.json says. */
const PAGES_MIN = 2;
const PAGES_MAX = 65_536;

let compiled: WebAssembly.Module | undefined;

/** Without a memory, a new graph; with that of one, another thread's part in it. */
export function instantiateGraph(
  memory = new WebAssembly.Memory({ initial: PAGES_MIN, maximum: PAGES_MAX, shared: true }),
): GraphModule {
  compiled ??= new WebAssembly.Module(readFileSync(new URL("dist/src/vector/hnsw.wasm", PROJECT)));
  const { exports } = new WebAssembly.Instance(compiled, { env: { memory } });
  return { ...(exports as Omit<GraphModule, "memory">), memory };
}

export function bytesAt(module: GraphModule, at: number, length: number): Uint8Array {
  return new Uint8Array(bufferTo(module, (at >>> 0) + length), at >>> 0, length);
}

export function wordsAt(module: GraphModule, at: number, length: number): Uint32Array {
  return new Uint32Array(bufferTo(module, (at >>> 0) + 4 * length), at >>> 0, length);
}

export function floatsAt(module: GraphModule, at: number, length: number): Float32Array {
  return new Float32Array(bufferTo(module, (at >>> 0) + 4 * length), at >>> 0, length);
}

/** What the pool holds, nearest first. */
export function pooled(module: GraphModule, size: number): { slots: Uint32Array; measured: Float32Array } {
  const words = wordsAt(module, module.poolAt(), size * 2);
  const numbers = floatsAt(module, module.poolAt(), size * 2);
  const slots = new Uint32Array(size);
  const measured = new Float32Array(size);
  for (let i = 0; i < size; i++) {
    measured[i] = numbers[2 * i]!;
    // The topmost bit is the walk's.
    slots[i] = words[2 * i + 1]! & 0x7fffffff;
  }
  return { slots, measured };
}

/** When another thread has made the memory larger, this one's buffer may be as it was until it is asked to grow. */
function bufferTo({ memory }: GraphModule, end: number): SharedArrayBuffer {
  if (memory.buffer.byteLength < end) memory.grow(0);
  return memory.buffer;
}
