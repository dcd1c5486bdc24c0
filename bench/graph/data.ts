import { closeSync, openSync, writeSync } from "node:fs";

/** The graph of bench/graph: nodes 1 … `nodes`, and arrows between two different ones at random, from a fixed seed. */
export interface Data {
  readonly nodes: number;
  /** The ends of each arrow. */
  readonly from: Int32Array;
  readonly to: Int32Array;
}

/** mulberry32. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** No arrow comes twice, so that relationships and rows of two numbers are the same. */
export function graphData(nodes: number, count: number, seed = 1): Data {
  const random = randomFrom(seed);
  const node = () => 1 + Math.floor(nodes * random());
  const from = new Int32Array(count);
  const to = new Int32Array(count);
  const isNew = pairsSeen(count);
  for (let i = 0; i < count; ) {
    // Each node has an arrow: what PageRank makes of others is defined differently by different systems.
    const [a, b] = [i < nodes ? i + 1 : node(), node()];
    if (a === b || !isNew(a * (nodes + 1) + b)) continue;
    from[i] = a;
    to[i++] = b;
  }
  return { nodes, from, to };
}

/** A set of up to `count` numbers above 0, with open addressing: one of objects takes four times the memory. */
function pairsSeen(count: number): (key: number) => boolean {
  const size = 2 ** Math.ceil(Math.log2(2 * count + 1));
  const slots = new Float64Array(size);
  return (key) => {
    let at = key % size;
    for (; slots[at] !== 0; at = (at + 1) % size) if (slots[at] === key) return false;
    slots[at] = key;
    return true;
  };
}

/** Arrows from one on, as rows of two numbers. */
export function pairsOf({ from, to }: Data, first: number, count: number): [from: number, to: number][] {
  const length = Math.max(0, Math.min(count, from.length - first));
  return Array.from({ length }, (_, i) => [from[first + i]!, to[first + i]!]);
}

const PIECE_CHARACTERS = 65_536;

/** The lines of a file, in pieces; `lineOf` a number below `count`. */
export function* csv(header: string, count: number, lineOf: (i: number) => string): Generator<string> {
  let piece = header;
  for (let i = 0; i < count; i++) {
    piece += `${lineOf(i)}\n`;
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = "";
  }
  yield piece;
}

/** In Neo4j's bulk format. */
export function bulkFiles({ nodes, from, to }: Data): { nodes: Iterable<string>; relationships: Iterable<string> } {
  return {
    nodes: csv("id:ID{id-type:long}\n", nodes, (i) => `${i + 1}`),
    relationships: csv(":START_ID,:END_ID\n", from.length, (i) => `${from[i]},${to[i]}`),
  };
}

export function writePieces(path: string, pieces: Iterable<string>): void {
  const file = openSync(path, "w");
  for (const piece of pieces) writeSync(file, piece);
  closeSync(file);
}
