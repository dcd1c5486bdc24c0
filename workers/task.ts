/** Entry of a task thread: each export is a task, run by name through a piscina pool (task-pool.ts). */
import { move } from "piscina";
import { linkGraph as link } from "../src/vector/link-graph.js";

export { deriveKey } from "../src/directory/derive-key.js";

/** The result is moved, not copied. */
export function linkGraph(parts: readonly Uint8Array[]): Uint8Array {
  return move(link(parts)) as unknown as Uint8Array;
}
