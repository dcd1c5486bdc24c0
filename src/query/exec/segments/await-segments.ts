/**
 * Waits for segments that are being opened or made: they are there sooner than their rows could be read from records.
 * Used by scans, by ANALYZE and by CREATE INDEX.
 */
import type { CheckedTurns } from "../../../protocol/turns.js";
import type { TableLayout } from "../table-layout.js";
import type { SegmentCache } from "./segment-cache.js";
import type { AwaitedSegments, TableSegments } from "./table-segments.js";

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

/** Segments of the table are being opened, or made of many rows. */
export function areSettling(cache: SegmentCache, tenantNumber: number, layout: TableLayout): boolean {
  return cache.openingOf(tenantNumber, layout) !== null || awaitedOf(cache, tenantNumber, layout).length > 0;
}

/** The table's segments, once those that are being opened, or made of many rows, are there. */
export async function settledSegments(
  cache: SegmentCache,
  tenantNumber: number,
  layout: TableLayout,
  turns: CheckedTurns,
): Promise<TableSegments | null> {
  for (;;) {
    const opening = cache.openingOf(tenantNumber, layout);
    if (opening === null) break;
    await filesOpen(opening, turns);
  }
  for (const awaited of awaitedOf(cache, tenantNumber, layout)) await segmentsMade(awaited, turns);
  return cache.find(tenantNumber, layout, []);
}

function awaitedOf(cache: SegmentCache, tenantNumber: number, layout: TableLayout): AwaitedSegments[] {
  const making = cache.find(tenantNumber, layout, [])?.making ?? [];
  return [...making].flatMap(({ awaited }) =>
    awaited !== undefined && awaited.rows >= cache.sizes.awaitedRowsMin ? [awaited] : [],
  );
}

function soon(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}
