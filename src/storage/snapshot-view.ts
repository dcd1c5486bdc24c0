/**
 * Reads of ranges as a transaction sees them: the engine's entries beneath recent versions, loads and the transaction's
 * own writes. Called by transactions, which note what they read.
 */
import type { Engine } from "./engine.js";
import type { Load } from "./load.js";
import { MergedCorrections, MergedCursor, versionOverlays, writeOverlay } from "./merged-cursor.js";
import type { OrderedMap } from "./ordered-map.js";
import type { RangeRead } from "./read-set.js";
import type { Corrections, KeyRange, NewerEntries } from "./store.js";
import type { RecentVersions } from "./versions.js";
import type { Write } from "./write-set.js";

/** What is seen: a snapshot, and over it the loads and the writes; null: there are no writes. */
export interface SnapshotView {
  readonly writes: OrderedMap<Write> | null;
  readonly loads: readonly Load[];
  readonly snapshot: number;
}

interface Stored {
  readonly engine: Engine;
  readonly versions: RecentVersions;
}

/** `read` is told how far the cursor goes; `closed` is called once. */
export function openCursor(
  { engine, versions }: Stored,
  view: SnapshotView,
  range: KeyRange,
  read: RangeRead | null,
  closed: (cursor: MergedCursor) => void,
): MergedCursor {
  const recent = versionOverlays(versions, range, view.snapshot);
  const overlays = [...ownOverlays(view, range), ...recent].filter((overlay) => overlay !== null);
  // Merging goes by keys, and so does what is validated.
  const needsKeys = overlays.length > 0 || read !== null;
  const cursor = engine.cursor(needsKeys ? { ...range, only: withKeys(range.only) } : range);
  return new MergedCursor(cursor, overlays, range.reverse === true, read, closed);
}

/** As Transaction.corrections. */
export function correctionsOf(
  versions: RecentVersions,
  view: SnapshotView,
  range: KeyRange,
  newer: NewerEntries,
): Corrections {
  const { entries, columns } = newer;
  const seen: Load[] = [];
  const isWanted = (load: Load): boolean => {
    const isOther = columns !== undefined && load.changesOthers(range.gte, columns);
    if (!isOther) seen.push(load);
    return !isOther;
  };
  const own = { ...view, loads: view.loads.filter(isWanted) };
  const recent = versionOverlays(versions, range, view.snapshot, isWanted);
  const left = entries.beside?.(seen, columns) ?? entries;
  const beneath = left.size > 0 ? writeOverlay(left, range) : null;
  return new MergedCorrections([...ownOverlays(own, range), ...recent, beneath]);
}

function withKeys(only: KeyRange["only"]): KeyRange["only"] {
  return only === "count" || only === "keys" ? "keys" : undefined;
}

/** What counts first, first. */
function ownOverlays({ writes, loads }: SnapshotView, range: KeyRange) {
  const overlays = writes === null ? [] : [writeOverlay(writes, range)];
  for (let i = loads.length - 1; i >= 0; i--) overlays.push(writeOverlay(loads[i]!, range));
  return overlays;
}
