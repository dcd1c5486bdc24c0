/**
 * Opens the tables whose segments are in files, after a start: manifests and footers are read, and what the engine took
 * after the commits that they stand at is found in the commit log. Until a table is ready its scans wait. Called by
 * column-store.ts.
 */

import { join } from "node:path";
import type { Turns } from "../../../../protocol/turns.js";
import { giveWay } from "../../../../protocol/turns.js";
import type { CommitLog } from "../../../../storage/commit-log.js";
import type { Engine } from "../../../../storage/engine.js";
import { SPACE, storageIdOf, tenantOfKey } from "../../../../storage/keys.js";
import { partsOf } from "../../../../storage/large-commit.js";
import { LARGE_COMMIT_SIZES } from "../../../../storage/large-commit-sizes.js";
import type { Operation } from "../../../../storage/operation.js";
import { keyText } from "../../../../storage/ordered-map.js";
import { ReplayedRows } from "../../../../storage/replayed-rows.js";
import type { SegmentCache } from "../segment-cache.js";
import { ColumnFile, type StoredSegment } from "./column-file.js";
import { nameOf, type StoredTable } from "./stored-table.js";
import { type PendingLoad, readManifest, type TableManifest } from "./table-manifest.js";

/** Changed keys that are looked up at a time. */
const LOOKUPS = 256;

/** What of the shard is read. */
export interface OpenedStore {
  readonly engine: Engine;
  readonly log: CommitLog;
  readonly appliedSequence: number;
}

/** A table whose files are open, and what is still to be found out. */
export interface FoundTable {
  readonly stored: StoredTable;
  readonly sequence: number;
  readonly changed: readonly string[];
  /** Its loads that wait for their columns. */
  readonly loads: readonly PendingLoad[];
}

/** Null: there is no manifest, so the folder is of no use. Throws when something is damaged. */
export async function openFiles(stored: StoredTable, cache: SegmentCache, turns: Turns): Promise<FoundTable | null> {
  const { table, folder } = stored;
  const read = await readManifest(stored.manifestPath, turns);
  if (read === null) return null;
  const { manifest, changed } = read;
  const segments: StoredSegment[] = [];
  for (const file of manifest.files) {
    segments.push(...liveSegments(folder, file, table.prefixLength));
    await giveWay(turns);
  }
  segments.sort((a, b) => (a.from < b.from ? -1 : 1));
  stored.columns = manifest.columns;
  stored.savedSequence = manifest.sequence;
  table.writesInGaps = manifest.writesInGaps;
  table.hold(new Map(manifest.columns.map(({ id, type, missing }) => [id, { type, missing }])));
  table.segments = segments.map((segment) => stored.segmentOf(segment, cache.pages));
  return { stored, sequence: manifest.sequence, changed, loads: manifest.loads ?? [] };
}

function liveSegments(
  folder: string,
  { name, live }: TableManifest["files"][number],
  prefixLength: number,
): StoredSegment[] {
  const file = new ColumnFile(join(folder, name), prefixLength);
  return live.map((number) => file.segments[number]!);
}

/**
 * Brings the tables up to `upTo`, where their newer entries began to be noted. Answers those for which that is not
 * possible: the log does not go back far enough, or has lost commits that the engine had, or has more changes of the
 * table than memory is to hold.
 */
export async function catchUp(
  store: OpenedStore,
  cache: SegmentCache,
  found: readonly FoundTable[],
  upTo: number,
  turns: Turns,
): Promise<ReadonlySet<StoredTable>> {
  const lost = new Set<StoredTable>();
  const behind = new Map<string, FoundTable>();
  for (const one of found) {
    const { sequence, stored } = one;
    if (sequence > upTo || store.log.firstSequence > sequence + 1) lost.add(stored);
    else if (sequence < upTo) behind.set(nameOf(stored.table.tenantNumber, stored.table.storageId), one);
  }
  const replayed = await replay(store.log, { behind, upTo, bytesMax: cache.sizes.replayBytesMax }, turns, lost);
  for (const { stored, changed } of found) {
    if (lost.has(stored)) continue;
    for (const [text, operation] of replayed.get(stored)?.rows ?? []) {
      if (!stored.table.entries.has(text)) cache.note(stored.table, operation);
      await giveWay(turns);
    }
    await lookUp(store.engine, cache, stored, changed, turns);
  }
  return lost;
}

type Replayed = ReadonlyMap<StoredTable, ReplayedRows>;

interface Wanted {
  /** By name. */
  readonly behind: ReadonlyMap<string, FoundTable>;
  readonly upTo: number;
  /** For the changes of each; where there are more, the table is lost. */
  readonly bytesMax: number;
}

async function replay(
  log: CommitLog,
  { behind, upTo, bytesMax }: Wanted,
  turns: Turns,
  lost: Set<StoredTable>,
): Promise<Replayed> {
  const replayed = new Map<StoredTable, ReplayedRows>();
  if (behind.size === 0) return replayed;
  for (const { stored } of behind.values()) replayed.set(stored, new ReplayedRows(bytesMax));
  const from = 1 + Math.min(...[...behind.values()].map(({ sequence }) => sequence));
  for (const entry of log.replay(from)) {
    if (entry.sequence > upTo) break;
    if (entry.gap) for (const { stored, sequence } of behind.values()) if (sequence < entry.sequence) lost.add(stored);
    for (const some of partsOf(entry.operations, LARGE_COMMIT_SIZES)) {
      for (const operation of some) {
        const one = behindOf(operation.key, behind);
        if (one !== undefined && entry.sequence > one.sequence)
          noteReplayed(one.stored, operation, entry.sequence, replayed, lost);
      }
      await giveWay(turns);
    }
  }
  return replayed;
}

function behindOf(key: Uint8Array, behind: Wanted["behind"]): FoundTable | undefined {
  return key[4] === SPACE.rows ? behind.get(nameOf(tenantOfKey(key), storageIdOf(key))) : undefined;
}

function noteReplayed(
  stored: StoredTable,
  operation: Operation,
  sequence: number,
  replayed: Map<StoredTable, ReplayedRows>,
  lost: Set<StoredTable>,
): void {
  const rows = replayed.get(stored);
  if (rows === undefined) return;
  const text = keyText(operation.key);
  const load = stored.loadAt(text);
  // Before it there was nothing; and its own rows are in the columns that are made of it.
  if (load !== null && sequence <= load.sequence) return;
  // Where no segment is, only the count of writes is of use.
  if (load === null && stored.table.segmentOf(text) === null) stored.table.writesInGaps++;
  else rows.note(operation);
  if (!rows.isFull) return;
  lost.add(stored);
  replayed.delete(stored);
}

/** Keys that were changed before the manifest was written: what they hold now is as good as what they held then. */
async function lookUp(
  engine: Engine,
  cache: SegmentCache,
  { table }: StoredTable,
  changed: readonly string[],
  turns: Turns,
): Promise<void> {
  for (let at = 0; at < changed.length; at += LOOKUPS) {
    const texts = changed.slice(at, at + LOOKUPS).map((part) => table.start + part);
    const unknown = texts.filter((text) => !table.entries.has(text));
    const keys = unknown.map((text) => Buffer.from(text, "latin1"));
    const values = engine.getMany(keys);
    for (let i = 0; i < keys.length; i++) cache.note(table, { key: keys[i]!, value: values[i] ?? null });
    await giveWay(turns);
  }
}
