/**
 * Links all waiting vectors of a saved graph, as a task for a thread of its own: some 0.2 ms of computing each.
 * workers/task.ts runs it, for indexes in memory with many waiting vectors (vector-body.ts).
 */
import { setPriority } from "node:os";
import { savesOriginals } from "./graph-file.js";
import { VectorGraph } from "./vector-graph.js";

/** Of the thread, on Linux; elsewhere of the process, where it is left alone. */
const NICE = 10;

/** Takes and gives what `VectorGraph.save` gives, the result in one piece. @throws DamagedGraphError. */
export function linkGraph(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  if (process.platform === "linux") setPriority(NICE);
  const graph = VectorGraph.load(pieces, savesOriginals(pieces) ? {} : { original: () => undefined });
  while (graph.linkOne());
  const linked = [...graph.save()];
  const bytes = new Uint8Array(linked.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of linked) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
