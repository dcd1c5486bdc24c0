/**
 * Waits for segments that are being opened or made: they are there sooner than their rows could be read from records.
 * Used by scans and by ANALYZE.
 */
import type { CheckedTurns } from "../../../protocol/turns.js";
import type { AwaitedSegments } from "./table-segments.js";

/** Who waits looks this often whether it is to end. */
const LOOK_MS = 20;
/** How long it waits for segments that are being made. */
const AWAITED_MS_MAX = 30_000;

/** Resolves when the files are open, however that ends, or soon: then it is to be asked again. */
export async function filesOpen(opening: Promise<void>, turns: CheckedTurns): Promise<void> {
  await Promise.race([opening.catch(() => undefined), soon()]);
  turns.checkpoint();
}

/** Resolves when the segments are there, will not come, or take too long. */
export async function segmentsMade({ done }: AwaitedSegments, turns: CheckedTurns): Promise<void> {
  let isDone = false;
  const noted = done.then(() => {
    isDone = true;
  });
  const until = performance.now() + AWAITED_MS_MAX;
  while (!isDone && performance.now() < until) {
    await Promise.race([noted, soon()]);
    turns.checkpoint();
  }
  await turns.yieldTurn();
}

function soon(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}
