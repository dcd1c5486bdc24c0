/**
 * The part of a merge that is about definitions. What only the branch has changed is taken as it stands: records of the
 * catalog, and of the tables that they are about all rows and index entries. So the origin must not have touched those
 * since the fork.
 */
import { NEXT_ID_RECORD, VERSION_RECORD } from "../../catalog/catalog-editor.js";
import { STATISTICS_RECORD } from "../../catalog/statistics.js";
import { storageOf, type TableDef } from "../../catalog/table.js";
import { DbError } from "../../protocol/errors.js";
import { MERGED_ROWS_MAX } from "../../protocol/limits.js";
import type { Tenant } from "../../session/tenant.js";
import type { Branch } from "../../storage/branch-list.js";
import { ofTenant } from "../../storage/history-keys.js";
import {
  catalogKey,
  prefixOfRetiredKey,
  prefixRange,
  retiredKey,
  rowPrefix,
  SPACE,
  storageIdOf,
} from "../../storage/keys.js";
import type { LayeredEngine } from "../../storage/layered-engine.js";
import { pointOf } from "../../storage/merge-points.js";
import type { Operation } from "../../storage/operation.js";
import type { ShardTransaction } from "../../storage/transaction.js";
import { type BranchTables, type KeyChange, keyChanges, sameBytes, shownName } from "./row-changes.js";

/** Replaced entries that are looked at in a turn. */
const CHANGES_AT_ONCE = 1024;

export interface DefinitionMerge {
  readonly layers: LayeredEngine;
  readonly number: number;
  readonly branch: Branch;
  /** The origin, and its transaction. */
  readonly origin: Tenant;
  readonly tx: ShardTransaction;
  readonly yieldTurn: () => Promise<void>;
}

/**
 * Takes over the definitions that the branch has changed since they were merged last. Answers the storage ids of tables
 * whose rows go with them; null: the branch has changed none.
 */
export async function mergeDefinitions(
  merge: DefinitionMerge,
  { changed }: BranchTables,
): Promise<ReadonlySet<number> | null> {
  const { layers, branch, origin, tx } = merge;
  const records: Operation[] = [];
  for await (const { key, theirs } of changesOf(merge, (space) => space <= SPACE.catalog)) {
    if (key[4] !== SPACE.catalog || isOwnRecord(origin.number, key)) continue;
    records.push({ key, value: theirs ?? null });
  }
  if (records.length === 0) return null;
  // Definitions name each other by ids and have names of their own, so records that differ alone say too little: the
  // origin may have dropped what a new view calls, or given another function the name of a new one.
  const version = catalogKey(origin.number, VERSION_RECORD);
  const { sequence } = branch.merges.definitions ?? branch.start;
  if (!sameBytes(tx.get(version), layers.getAsOf(version, sequence))) throw bothChanged();
  const nextId = catalogKey(origin.number, NEXT_ID_RECORD);
  const branchNextId = layers.get(ofTenant(nextId, merge.number));
  if (branchNextId !== undefined) records.push({ key: nextId, value: branchNextId });
  for (const table of changed) await requireUntouched(merge, table);
  origin.catalog.adopt(tx, records);
  return new Set(changed.map(storageOf));
}

/** Their rows and index entries, and what is new to the origin of sequences and of data that nobody needs any more. */
export async function mergeWhole(merge: DefinitionMerge, storages: ReadonlySet<number>): Promise<void> {
  if (storages.size === 0) return;
  let count = 0;
  for await (const { key, base, theirs } of changesOf(merge)) {
    const space = key[4]!;
    const isOfTable = (space === SPACE.rows || space === SPACE.index) && storages.has(storageIdOf(key));
    const isNew = (space === SPACE.sequences || space === SPACE.retired) && base === undefined;
    if (!isOfTable && !isNew) continue;
    if (++count > MERGED_ROWS_MAX)
      throw new DbError("payload_too_large", `A merge writes at most ${MERGED_ROWS_MAX} rows.`);
    // The order to remove names what it is about by the number of the tenant.
    const own = space === SPACE.retired ? retiredOf(merge.branch.origin, key) : key;
    if (theirs === undefined) merge.tx.delete(own);
    else merge.tx.put(own, theirs);
  }
}

function retiredOf(tenant: number, key: Uint8Array): Buffer {
  return retiredKey(tenant, ofTenant(prefixOfRetiredKey(key), tenant));
}

function changesOf(
  { layers, number, branch, yieldTurn }: DefinitionMerge,
  isWanted?: (space: number) => boolean,
): AsyncIterable<KeyChange> {
  return keyChanges(layers, number, branch, yieldTurn, {
    sinceMerge: true,
    ...(isWanted !== undefined && { isWanted }),
  });
}

/**
 * Rows that the origin has written meanwhile would miss the branch's new columns, indexes and checks. Those that it has
 * from the last merge are the branch's own.
 */
async function requireUntouched(merge: DefinitionMerge, table: TableDef): Promise<void> {
  const { layers, branch, origin, tx, yieldTurn } = merge;
  const range = prefixRange(rowPrefix(origin.number, storageOf(table)));
  // What is written from now on ends the merge at its commit.
  tx.noteRead(range);
  for (let from: Uint8Array | null = null; ; await yieldTurn()) {
    const { keys, next } = layers.writtenSince(range, branch.start.sequence, from, CHANGES_AT_ONCE);
    if (!keys.every((key) => isFromMerge(merge, key))) break;
    if (next === null) return;
    from = next;
  }
  const advice = "Make the same change of definitions in the origin, and fork again.";
  throw new DbError(
    "conflict",
    `The branch has changed the definition of "${shownName(table)}", and the origin its rows. ${advice}`,
  );
}

function isFromMerge({ layers, number, branch: { merges } }: DefinitionMerge, key: Uint8Array): boolean {
  const own = ofTenant(key, number);
  const point = pointOf(merges, own);
  return point !== null && sameBytes(layers.get(key), layers.getAsOf(own, point.sequence));
}

/** Each keeps its own. */
function isOwnRecord(tenant: number, key: Uint8Array): boolean {
  const name = Buffer.from(key.subarray(catalogKey(tenant, "").length)).toString("latin1");
  return name === VERSION_RECORD || name === NEXT_ID_RECORD || name.startsWith(STATISTICS_RECORD);
}

function bothChanged(): DbError {
  const advice = "Make the branch's changes of definitions in the origin, and fork again.";
  return new DbError("conflict", `Since the fork, both the branch and its origin have changed definitions. ${advice}`);
}
