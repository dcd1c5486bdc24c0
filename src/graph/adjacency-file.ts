/** What an adjacency (adjacency-body.ts) is saved as: names of types, then types, sources and ends, each by id. */
import { CHUNK_EDGES, type EdgeChunk, type FrozenEdges } from "./edge-chunks.js";

const PARTS = [
  { name: "type", of: Uint16Array },
  { name: "src", of: Uint32Array },
  { name: "dst", of: Uint32Array },
] as const;
const BYTES_PER_EDGE = PARTS.reduce((sum, { of }) => sum + of.BYTES_PER_ELEMENT, 0);

/** Of ids below `length`. Short steps. */
export function* savedParts(types: readonly string[], edges: FrozenEdges, length: number): Generator<Uint8Array> {
  const names = Buffer.from(JSON.stringify(types));
  const head = Buffer.alloc(8);
  head.writeUInt32LE(length, 0);
  head.writeUInt32LE(names.length, 4);
  yield head;
  yield names;
  for (const { name, of } of PARTS) {
    const none = new of(CHUNK_EDGES);
    for (let from = 0; from < length; from += CHUNK_EDGES) {
      const some = (edges[from / CHUNK_EDGES]?.[name] ?? none).subarray(0, length - from);
      yield new Uint8Array(some.buffer, some.byteOffset, some.byteLength);
    }
  }
}

/** What `savedParts` gave: `visit` is called for each id, of which it may be that it has no relationship. */
export function readSaved(bytes: Uint8Array): {
  readonly types: readonly string[];
  readonly chunks: Iterable<EdgeChunk>;
} {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const namesEnd = 8 + view.getUint32(4, true);
  const length = view.getUint32(0, true);
  const types = JSON.parse(Buffer.from(bytes.subarray(8, namesEnd)).toString()) as string[];
  if (bytes.length !== namesEnd + length * BYTES_PER_EDGE) throw new Error("its parts do not fit its length");
  return { types, chunks: readChunks(bytes, namesEnd, length) };
}

function* readChunks(bytes: Uint8Array, start: number, length: number): Generator<EdgeChunk> {
  for (let from = 0; from < length; from += CHUNK_EDGES) {
    let at = start;
    const part = <Part extends Uint16Array | Uint32Array>(made: Part): Part => {
      const size = made.BYTES_PER_ELEMENT;
      const begin = at + from * size;
      new Uint8Array(made.buffer).set(bytes.subarray(begin, begin + made.byteLength));
      at += length * size;
      return made;
    };
    const count = Math.min(CHUNK_EDGES, length - from);
    yield { type: part(new Uint16Array(count)), src: part(new Uint32Array(count)), dst: part(new Uint32Array(count)) };
  }
}
