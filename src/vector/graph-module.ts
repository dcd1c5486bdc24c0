/**
 * Loads hnsw.wasm (src/vector/wasm, compiled by `npm run build`): compiled once per thread when the first graph is made,
 * instantiated once per graph, whose memory it is. Called by vector-graph.ts.
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
  slotCount(): number;
  vectorCount(): number;
  vectorAt(slot: number): number;
  slotState(slot: number): number;
  append(): number;
  isWaiting(slot: number): number;
  link(slot: number): void;
  remove(slot: number): number;
  setQuery(): number;
  setAllowed(words: number): number;
  search(ef: number, filtered: number, wide: number, allowedCount: number): number;
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
  checksum(at: number, bytes: number): bigint;
}

/** How slots are measured, as wasm/exact.ts numbers it; at least: the nearest that a code of int8 allows. */
export const EXACTLY = 0;
export const BY_CODE = 1;
export const AT_LEAST = 2;
type How = typeof EXACTLY | typeof BY_CODE | typeof AT_LEAST;

let compiled: WebAssembly.Module | undefined;

/** A new instance with a memory of its own. */
export function instantiateGraph(): GraphModule {
  compiled ??= new WebAssembly.Module(readFileSync(new URL("dist/src/vector/hnsw.wasm", PROJECT)));
  return new WebAssembly.Instance(compiled).exports as GraphModule;
}
