/**
 * Up to where a branch has been merged: the next merge writes what has changed since, and finds conflicts by what the
 * branch had then. The past of a branch is kept from its first merge on. A stored format, under `mergesKey`. Kept by
 * layered-engine.ts, read by merges.
 */
import { SPACE, storageIdOf } from "./keys.js";
import type { CommitStamp } from "./operation.js";

/** What the commit of a branch's record has merged. */
export interface MergeRecord {
  /** Storage ids of tables whose rows were merged; null: everything was. */
  readonly tables: readonly number[] | null;
  /** Definitions were among it. */
  readonly definitions: boolean;
}

/** Commits after which the origin had what the branch had, or what it was to have in its place. */
export interface MergePoints {
  /** The last merge of everything. */
  readonly all: CommitStamp | null;
  /** The last merge that took over definitions. */
  readonly definitions: CommitStamp | null;
  /** Later merges of some tables, by storage ids. */
  readonly tables: ReadonlyMap<number, CommitStamp>;
}

export const NO_MERGES: MergePoints = { all: null, definitions: null, tables: new Map() };

export function withMerge(points: MergePoints, { tables, definitions }: MergeRecord, commit: CommitStamp): MergePoints {
  if (tables !== null)
    return { ...points, tables: new Map([...points.tables, ...tables.map((id) => [id, commit] as const)]) };
  return { all: commit, definitions: definitions ? commit : points.definitions, tables: new Map() };
}

/** The merge that counts for a key; null: none, so that the fork does. */
export function pointOf(points: MergePoints, key: Uint8Array): CommitStamp | null {
  const space = key[4]!;
  if (space === SPACE.catalog) return points.definitions;
  const isOfTable = points.tables.size > 0 && (space === SPACE.rows || space === SPACE.index);
  return (isOfTable ? points.tables.get(storageIdOf(key)) : undefined) ?? points.all;
}

/** The merges that make those points of a branch again, oldest first. */
export function mergesOf({ all, definitions, tables }: MergePoints): readonly (MergeRecord & { at: CommitStamp })[] {
  const merges = new Map<number, MergeRecord & { at: CommitStamp }>();
  for (const point of [all, definitions]) {
    if (point === null) continue;
    const isOfDefinitions = point.sequence === definitions?.sequence;
    merges.set(point.sequence, { at: point, tables: null, definitions: isOfDefinitions });
  }
  for (const [id, point] of tables) {
    const others = merges.get(point.sequence)?.tables ?? [];
    merges.set(point.sequence, { at: point, tables: [...others, id], definitions: false });
  }
  return [...merges.values()].sort((a, b) => a.at.sequence - b.at.sequence);
}

/** From this commit on, merges need the branch's past; null: there was no merge. */
export function oldestPoint({ all, definitions, tables }: MergePoints): CommitStamp | null {
  let oldest: CommitStamp | null = null;
  for (const point of [all, definitions, ...tables.values()]) {
    if (point !== null && (oldest === null || point.sequence < oldest.sequence)) oldest = point;
  }
  return oldest;
}

export function mergesValue({ all, definitions, tables }: MergePoints): Buffer {
  return Buffer.from(JSON.stringify({ all, definitions, tables: [...tables] }));
}

export function readMerges(value: Uint8Array | undefined): MergePoints {
  if (value === undefined) return NO_MERGES;
  const { tables, ...rest } = JSON.parse(Buffer.from(value).toString()) as Omit<MergePoints, "tables"> & {
    readonly tables: readonly [number, CommitStamp][];
  };
  return { ...rest, tables: new Map(tables) };
}
