/**
 * The saved form of a vector graph: its memory's image in blocks, each with its checksum. Called by vector-graph.ts.
 *
 *   header   64 bytes: "TSVG", format, metric, storage, dimensions, m, efConstruction, originals kept (u32 each),
 *            the image's length (u32), zeros, XXH64 of the 56 bytes before
 *   block    number, stored length (u32 each; 0: the block is all zeros), XXH64 of the block, the block
 *
 * All numbers are little-endian. FORMAT changes whenever the layout of the memory (wasm/layout.ts) does.
 */
import { METRICS_BY_NUMBER, VECTOR_METRICS } from "../values/vector-metric.js";
import { bytesAt, type GraphModule, instantiateGraph } from "./graph-module.js";
import { type GraphParameters, STORAGES } from "./graph-parameters.js";

const MAGIC = 0x47565354;
const FORMAT = 4;
const HEADER_BYTES = 64;
const PREFIX_BYTES = 16;
const BLOCK_BYTES = 64 * 1024;
/** Blocks between two pauses. */
const STEP_BLOCKS = 8;
/** In the module's memory, below the image: room for a header to be checked in. */
const SCRATCH_AT = 32 * 1024;

/** What was to be loaded is not a graph as it was saved; its owner builds it again from the records. */
export class DamagedGraphError extends Error {
  override readonly name = "DamagedGraphError";
}

/**
 * Header, then blocks: the graph as it is now. Until the last was taken vectors may be added and removed, as while
 * other threads link, but no links may change.
 */
export function saveGraph(graph: GraphParameters, module: GraphModule): Generator<Uint8Array> {
  module.freeze();
  const length = module.imageBytes() >>> 0;
  // The first block says how far the others count.
  return blocksOf(headerOf(graph, length, module), blockOf(module, 0, length), length, module);
}

function* blocksOf(header: Uint8Array, first: Uint8Array, length: number, module: GraphModule): Generator<Uint8Array> {
  yield header;
  yield first;
  for (let number = 1; number * BLOCK_BYTES < length; number++) yield blockOf(module, number, length);
}

/** The block as it is saved. */
function blockOf(module: GraphModule, number: number, length: number): Uint8Array {
  const from = number * BLOCK_BYTES;
  const size = Math.min(BLOCK_BYTES, length - from);
  const at = (module.imageAt() >>> 0) + from;
  const block = bytesAt(module, at, size);
  const stored = isZero(block) ? 0 : size;
  const bytes = new Uint8Array(PREFIX_BYTES + stored);
  const prefix = new DataView(bytes.buffer);
  prefix.setUint32(0, number, true);
  prefix.setUint32(4, stored, true);
  prefix.setBigUint64(8, BigInt.asUintN(64, module.checksum(at, size)), true);
  if (stored > 0) bytes.set(block, PREFIX_BYTES);
  return bytes;
}

/**
 * Reads what `saveGraph` wrote into the graph that `make` makes, with a pause after half a megabyte. @throws
 * DamagedGraphError, and what `make` throws.
 */
export function* loadGraph<Graph extends { readonly keepsOriginals: boolean }>(
  pieces: Iterable<Uint8Array>,
  make: (parameters: GraphParameters) => { graph: Graph; module: GraphModule },
): Generator<undefined, Graph> {
  const input = new PieceReader(pieces);
  const header = input.read(HEADER_BYTES);
  const fields = new DataView(header.buffer, header.byteOffset, HEADER_BYTES);
  if (fields.getUint32(0, true) !== MAGIC) throw new DamagedGraphError("not a saved vector graph");
  const format = fields.getUint32(4, true);
  if (format !== FORMAT) throw new DamagedGraphError(`saved vector graph of format ${format}, not ${FORMAT}`);
  // Nothing is made of a header before it has been checked.
  const checksum = checksumOf(header.subarray(0, HEADER_BYTES - 8), instantiateGraph());
  if (checksum !== fields.getBigUint64(HEADER_BYTES - 8, true))
    throw new DamagedGraphError("the header of a saved vector graph is damaged");
  const parameters = parametersOf(fields);
  const { graph, module } = make(parameters);
  if (graph.keepsOriginals !== parameters.keepsOriginals)
    throw new DamagedGraphError("a saved vector graph has its vectors elsewhere than its owner says");
  const length = fields.getUint32(32, true);
  if (module.growForImage(length) === 0) throw new DamagedGraphError(`no room for a saved graph of ${length} bytes`);
  for (let at = 0, number = 0; at < length; at += BLOCK_BYTES, number++) {
    readBlock(input, module, number, module.imageAt() + at, Math.min(BLOCK_BYTES, length - at));
    if (number % STEP_BLOCKS === 0) yield;
  }
  if (!input.atEnd()) throw new DamagedGraphError("a saved vector graph has bytes behind its end");
  module.thaw();
  return graph;
}

function readBlock(input: PieceReader, module: GraphModule, number: number, at: number, size: number): void {
  const head = input.read(PREFIX_BYTES);
  const prefix = new DataView(head.buffer, head.byteOffset, PREFIX_BYTES);
  const stored = prefix.getUint32(4, true);
  if (prefix.getUint32(0, true) !== number || (stored !== 0 && stored !== size))
    throw new DamagedGraphError(`block ${number} of a saved vector graph is damaged`);
  const checksum = prefix.getBigUint64(8, true);
  const block = bytesAt(module, at, size);
  if (stored === 0) block.fill(0);
  else block.set(input.read(size));
  if (BigInt.asUintN(64, module.checksum(at, size)) !== checksum)
    throw new DamagedGraphError(`block ${number} of a saved vector graph is damaged`);
}

function headerOf(graph: GraphParameters, imageBytes: number, module: GraphModule): Uint8Array {
  const header = new Uint8Array(HEADER_BYTES);
  const fields = new DataView(header.buffer);
  const { metric, storage, dimensions, m, efConstruction } = graph;
  const numbers = [
    MAGIC,
    FORMAT,
    VECTOR_METRICS[metric].wasm,
    STORAGES.indexOf(storage),
    dimensions,
    m,
    efConstruction,
  ];
  numbers.push(graph.keepsOriginals ? 1 : 0, imageBytes);
  for (const [i, number] of numbers.entries()) fields.setUint32(i * 4, number, true);
  fields.setBigUint64(HEADER_BYTES - 8, checksumOf(header.subarray(0, HEADER_BYTES - 8), module), true);
  return header;
}

function parametersOf(fields: DataView): GraphParameters {
  return {
    metric: METRICS_BY_NUMBER[fields.getUint32(8, true)]!,
    storage: STORAGES[fields.getUint32(12, true)]!,
    dimensions: fields.getUint32(16, true),
    m: fields.getUint32(20, true),
    efConstruction: fields.getUint32(24, true),
    keepsOriginals: fields.getUint32(28, true) === 1,
  };
}

function checksumOf(bytes: Uint8Array, module: GraphModule): bigint {
  bytesAt(module, SCRATCH_AT, bytes.length).set(bytes);
  return BigInt.asUintN(64, module.checksum(SCRATCH_AT, bytes.length));
}

function isZero(block: Uint8Array): boolean {
  const words = new BigUint64Array(block.buffer, block.byteOffset, block.length >>> 3);
  return words.every((word) => word === 0n) && block.subarray(words.byteLength).every((byte) => byte === 0);
}

/** Bytes in the lengths they are asked for, from pieces of other lengths. */
class PieceReader {
  private readonly pieces: Iterator<Uint8Array>;
  private rest: Uint8Array = new Uint8Array(0);

  constructor(pieces: Iterable<Uint8Array>) {
    this.pieces = pieces[Symbol.iterator]();
  }

  read(length: number): Uint8Array {
    if (this.rest.length >= length) {
      const bytes = this.rest.subarray(0, length);
      this.rest = this.rest.subarray(length);
      return bytes;
    }
    const bytes = new Uint8Array(length);
    for (let have = 0; have < length; ) {
      if (this.rest.length === 0 && !this.advance()) throw new DamagedGraphError("a saved vector graph is cut off");
      const part = this.rest.subarray(0, length - have);
      bytes.set(part, have);
      have += part.length;
      this.rest = this.rest.subarray(part.length);
    }
    return bytes;
  }

  atEnd(): boolean {
    while (this.rest.length === 0) if (!this.advance()) return true;
    return false;
  }

  private advance(): boolean {
    const next = this.pieces.next();
    if (next.done === true) return false;
    this.rest = next.value;
    return true;
  }
}
