/**
 * POST /v1/history/undo: makes a table's rows what they were at an earlier moment. The differences are written in one
 * serializable transaction, through the same writers as those of statements: all constraints hold as always.
 */

import type { Request } from "../../actor/request.js";
import type { CatalogView } from "../../catalog/catalog-view.js";
import { storageOf, type TableDef } from "../../catalog/table.js";
import type { BodyOf, ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { layoutOf, rowOfRecord } from "../../query/exec/table-layout.js";
import type { Answer } from "../../session/answer.js";
import { pastTenant } from "../../session/as-of.js";
import { noteReads } from "../../session/data-audit.js";
import { Session } from "../../session/session.js";
import { sessionOptions } from "../../session/session-options.js";
import type { Tenant } from "../../session/tenant.js";
import type { Engine } from "../../storage/engine.js";
import { engineHasAll } from "../../storage/engine-has-all.js";
import { prefixRange, rowPrefix } from "../../storage/keys.js";
import { type Cursor, NO_ENTRIES, readSome } from "../../storage/store.js";
import type { ShardTransaction } from "../../storage/transaction.js";
import { changeOf, DIFF_ROWS_DEFAULT } from "./branch-diff.js";
import { RowMerge, sameRow } from "./branch-merge.js";
import { shownStamp } from "./history-routes.js";
import { layersOf, startOf } from "./make-branch.js";
import { type Row, shownName, shownRow } from "./row-changes.js";
import { condition, type Difference, type Moment } from "./undo-condition.js";

type Wanted = BodyOf<"history.undo">;

/** Entries that are looked at in a turn. */
const ENTRIES_AT_ONCE = 256;

/** `commit`: absent, the answer is the request's own. */
export async function undo(
  request: Request,
  { table: name, as_of, where, dry_run = false }: Wanted,
  commit: (tx: ShardTransaction, answer: Answer) => void = (tx, answer) => request.commit(tx, answer),
) {
  const { tenant, partition } = request;
  const stamp = await startOf(request, tenant.number, as_of);
  const past = await pastTenant(tenant, stamp, request);
  const before = tableOf(past, name);
  const session = new Session(tenant, { ...sessionOptions(request, "routes"), isolation: "serializable" });
  session.begin({});
  try {
    const context = session.contextFor(request);
    const merge = new RowMerge(context, "refuse");
    const table = tableIn(context.services.catalogView(), name);
    requireSameColumns(table, before);
    noteReads([table], request.audited());
    if (table.audit?.includes("write")) context.services.noteAccess({ read: [], write: [table] }, context);
    const tx = context.tx as ShardTransaction;
    // All that is written from now on ends this at its commit. What the transaction sees, the engine has.
    tx.noteRead(rowRange(tenant.number, table));
    await engineHasAll(request.partition.shard, request.yieldTurn);
    const undoing: Undoing = { request, stamp, table, before, tx, engine: layersOf(request).asOf(stamp.sequence) };
    const wantedOf = where === undefined ? (all: readonly Difference[]) => all : await condition(undoing, where);
    const rows: ResponseOf<"history.undo">["rows"][number][] = [];
    for await (const differences of differencesOf(undoing, merge)) {
      for (const { key, now, then } of await wantedOf(differences)) {
        merge.restore(table, key, then);
        if (rows.length >= DIFF_ROWS_DEFAULT) continue;
        const change = changeOf({ before: now, after: then });
        rows.push({ change, before: shownRow(table, now), after: shownRow(table, then) });
      }
    }
    requireKept(undoing);
    const answer = { plain: { undone: !dry_run, as_of: shownStamp(stamp), ...merge.counts, rows } };
    await merge.write(request.yieldTurn);
    await session.checkConstraints(context);
    if (dry_run) return answer;
    await session.prepareCommit(request);
    session.commit((own) => commit(own, answer));
    // Rows without primary key may have come back above those that were there.
    partition.rowNumbers.lookAgain(tenant.number);
    return answer;
  } finally {
    if (session.inTransaction) session.rollback();
  }
}

interface Undoing extends Moment {
  /** Its definition at that moment. */
  readonly before: TableDef;
  readonly tx: ShardTransaction;
  /** Everything as of that moment. */
  readonly engine: Engine;
}

interface RowToRestore {
  /** Of the table of now. */
  readonly key: Uint8Array;
  /** As of the moment; null: there was none. */
  readonly row: Row | null;
}

/** Rows that are not as they were, some at a time. */
async function* differencesOf(undoing: Undoing, merge: RowMerge): AsyncIterable<readonly Difference[]> {
  const { table } = undoing;
  let found: Difference[] = [];
  for await (const { key, row: then } of rowsToRestore(undoing)) {
    const now = merge.find(table, key);
    if (sameRow(table, now, then)) continue;
    found.push({ key, now, then });
    if (found.length < ENTRIES_AT_ONCE) continue;
    yield found;
    found = [];
  }
  if (found.length > 0) yield found;
}

/** Throws 72000: what was forgotten meanwhile may lack in what was read. */
function requireKept({ request, stamp }: Undoing): void {
  layersOf(request).requireReadable(request.tenant.number, stamp.sequence);
}

/** Rows that may be others than they were. */
async function* rowsToRestore(undoing: Undoing): AsyncIterable<RowToRestore> {
  const { request, stamp, table, before, tx, engine } = undoing;
  const { number } = request.tenant;
  const [own, old] = [rowPrefix(number, storageOf(table)), rowPrefix(number, storageOf(before))];
  const layout = layoutOf(before);
  const rowAt = (key: Uint8Array): Row | null => {
    const record = engine.get(movedTo(old, key));
    return record === undefined ? null : rowOfRecord(layout, record);
  };
  if (Buffer.compare(own, old) === 0) {
    let last: Uint8Array = new Uint8Array(0);
    for (let from: Uint8Array | null = null; ; await request.yieldTurn()) {
      const { keys, next } = layersOf(request).writtenSince(prefixRange(own), stamp.sequence, from, ENTRIES_AT_ONCE);
      requireKept(undoing);
      // A key's entries are neighbours, so one that was seen comes first.
      for (const key of distinct(keys)) if (Buffer.compare(key, last) !== 0) yield { key, row: rowAt(key) };
      last = keys.at(-1) ?? last;
      if (next === null) return;
      from = next;
    }
  }
  // TRUNCATE, or a DELETE of all rows, has given the table a new place: each row that was there is missing.
  for await (const [key, record] of entriesIn(engine.cursor(prefixRange(old)), request)) {
    yield { key: movedTo(own, key), row: rowOfRecord(layout, record) };
  }
  for await (const [key] of entriesIn(tx.scan(prefixRange(own)), request)) {
    if (rowAt(key) === null) yield { key, row: null };
  }
}

function distinct(keys: readonly Uint8Array[]): readonly Uint8Array[] {
  return keys.filter((key, i) => i === 0 || Buffer.compare(key, keys[i - 1]!) !== 0);
}

/** The key of the same row in another place. */
function movedTo(prefix: Uint8Array, key: Uint8Array): Uint8Array {
  return Buffer.concat([prefix, key.subarray(prefix.length)]);
}

async function* entriesIn(cursor: Cursor, { yieldTurn }: Request): AsyncIterable<readonly [Uint8Array, Uint8Array]> {
  try {
    for (;;) {
      const found = readSome(cursor, ENTRIES_AT_ONCE);
      if (found?.keys.length === 0) return;
      const { keys, values } = found ?? NO_ENTRIES;
      for (let i = 0; i < keys.length; i++) yield [Buffer.from(keys[i]!), values[i]!] as const;
      await yieldTurn();
    }
  } finally {
    cursor.close();
  }
}

function tableOf(tenant: Tenant, name: string): TableDef {
  const tx = tenant.partition.shard.begin({ readOnly: true });
  try {
    return tableIn(tenant.catalog.view(tx), name);
  } finally {
    tenant.rollback(tx);
  }
}

/** As SQL names it, with the schema where that is not `public`. Throws not_found. */
function tableIn(catalog: CatalogView, name: string): TableDef {
  const table = catalog.tables().find((each) => shownName(each) === name || `${each.schema}.${each.name}` === name);
  if (table === undefined) {
    const advice = "A table that was dropped comes back by a branch of the moment: POST /v1/branches with as_of.";
    throw new DbError("not_found", `There is no table "${name}", now or at that moment. ${advice}`, { field: "table" });
  }
  if (table.partitionKey === undefined) return table;
  throw new DbError("invalid_request", `"${name}" is partitioned: undo its partitions.`, { field: "table" });
}

function requireSameColumns(now: TableDef, before: TableDef): void {
  const what = ({ id, columns, primaryKey }: TableDef) =>
    JSON.stringify([id, primaryKey, columns.map((column) => [column.id, column.type, column.missingSql])]);
  if (what(now) === what(before)) return;
  const advice = "Fork the moment with POST /v1/branches and as_of, and write what you want.";
  throw new DbError("conflict", `The columns of "${shownName(now)}" have changed since that moment. ${advice}`);
}

function rowRange(tenant: number, table: TableDef) {
  return prefixRange(rowPrefix(tenant, storageOf(table)));
}
