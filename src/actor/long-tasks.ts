/** Computations over data that an actor hands to task threads (workers/task.ts), so that its loop does not wait for them. */
import type { ExtractedGraph } from "../graph/extract/extract-graph.js";

/** Each rejects with `overloaded` when too many wait. */
export interface LongTasks {
  extractGraph(text: string): Promise<ExtractedGraph>;
}
