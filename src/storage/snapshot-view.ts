/**
 * Reads of ranges as a transaction sees them: the engine's entries beneath recent versions, loads and the transaction's
 * own writes. Called by transactions, which note what they read.
 */
import type { Engine } from "./engine.js";
import { findInLoads, type Load } from "./load.js";
import { MergedCorrections, MergedCursor, versionOverlays, writeOverlay } from "./merged-cursor.js";
import type { OrderedMap } from "./ordered-map.js";
import type { RangeRead } from "./read-set.js";
import { runOverlay } from "./run-overlay.js";
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

/** The value that was written over the snapshot, null for a deletion; undefined: none was. */
export function writtenIn(
  { writes, loads }: SnapshotView,
  key: Uint8Array,
  text: string,
): Uint8Array | null | undefined {
  return (writes?.get(text) ?? findInLoads(loads, key))?.value;
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
  const ofLoad = (load: Load): readonly Corrections[] => {
    if (columns !== undefined && load.changesOthers(range.gte, columns)) return [];
    seen.push(load);
    return load.runsOf(range.gte).map((run) => runOverlay(run, range, [{ from: 0, to: run.size }]));
  };
  const own = view.writes === null ? [] : [writeOverlay(view.writes, range)];
  for (const load of [...view.loads].reverse()) own.push(...ofLoad(load));
  const recent = versionOverlays(versions, range, view.snapshot, ofLoad);
  const left = entries.beside?.(seen, columns) ?? entries;
  const beneath = left.size === 0 ? [] : (left.overlays?.(range) ?? [writeOverlay(left, range)]);
  return new MergedCorrections([...own, ...recent, ...beneath]);
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

/** `inMemory`: the value if memory knows it, null when the key is absent; undefined when the engine must be asked. */
export function valuesOf(
  engine: Pick<Engine, "getMany">,
  keys: readonly Uint8Array[],
  inMemory: (key: Uint8Array) => Uint8Array | null | undefined,
): (Uint8Array | undefined)[] {
  const values = new Array<Uint8Array | undefined>(keys.length);
  const missing: number[] = [];
  for (let i = 0; i < keys.length; i++) {
    const found = inMemory(keys[i]!);
    if (found === undefined) missing.push(i);
    else values[i] = found ?? undefined;
  }
  if (missing.length === keys.length) return engine.getMany(keys);
  if (missing.length === 0) return values;
  const stored = engine.getMany(missing.map((i) => keys[i]!));
  for (let j = 0; j < missing.length; j++) values[missing[j]!] = stored[j];
  return values;
}
