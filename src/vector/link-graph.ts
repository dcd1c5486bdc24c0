/**
 * Links all waiting vectors of a saved graph, as a task for a thread of its own: some 0.2 ms of computing each.
 * workers/task.ts runs it, for indexes in memory with many waiting vectors (vector-body.ts).
 */
import { setPriority } from "node:os";
import { savesOriginals } from "./graph-file.js";
import { VectorGraph } from "./vector-graph.js";

/** Of the thread, on Linux; elsewhere of the process, where it is left alone. */
const NICE = 10;

/**
 * Takes and gives what `VectorGraph.save` gives, the result in one piece. The list of pieces is empty afterwards: each is
 * dropped when it has been read. @throws DamagedGraphError.
 */
export function linkGraph(pieces: Uint8Array[]): Uint8Array<ArrayBuffer> {
  if (process.platform === "linux") setPriority(NICE);
  const options = savesOriginals(pieces) ? {} : { originals: () => [] };
  const graph = VectorGraph.load(taken(pieces), options);
  while (graph.linkOne());
  const bytes = new Uint8Array(graph.savedBytesMax);
  let length = 0;
  for (const piece of graph.save()) {
    bytes.set(piece, length);
    length += piece.length;
  }
  return bytes.subarray(0, length);
}

function* taken(pieces: Uint8Array[]): Generator<Uint8Array> {
  for (;;) {
    const piece = pieces.shift();
    if (piece === undefined) return;
    yield piece;
  }
}
