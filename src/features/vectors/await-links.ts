/**
 * Has those who store many vectors keep to the pace at which these are linked. A search compares the vectors that wait
 * to be linked one by one, so a load that runs ahead would make searches slower and slower. Called by
 * vector-routes.ts when the vectors are committed.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { IndexProgress } from "../../derived/index-progress.js";

/** So many may wait: a search compares them in one or two milliseconds. */
export const WAITING_MAX = 20_000;
const LOOK_MS = 5;
/** The longest that a request waits: for each of its vectors several times what linking it takes, and altogether. */
const VECTOR_MS = 2;
const REQUEST_MS_MAX = 2_000;

/** Resolves when few of the index's vectors wait, or a request of so many vectors has waited long enough. */
export async function awaitLinks(
  progress: () => Pick<IndexProgress, "hasWork" | "waiting"> | null,
  vectors: number,
  isOver: () => boolean,
): Promise<void> {
  const until = performance.now() + Math.min(VECTOR_MS * vectors, REQUEST_MS_MAX);
  while (isBehind(progress()) && performance.now() < until && !isOver()) await sleep(LOOK_MS);
}

function isBehind(progress: Pick<IndexProgress, "hasWork" | "waiting"> | null): boolean {
  return progress?.hasWork === true && progress.waiting > WAITING_MAX;
}
