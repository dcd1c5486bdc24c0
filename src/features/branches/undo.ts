/**
 * POST /v1/history/undo: makes rows of tables what they were at an earlier moment. The differences are written in one
 * serializable transaction, through the same writers as those of statements: all constraints hold as always.
 */

import type { Request } from "../../actor/request.js";
import type { CatalogView } from "../../catalog/catalog-view.js";
import { graphDefOf } from "../../catalog/graph.js";
import { storageOf, type TableDef } from "../../catalog/table.js";
import type { BodyOf, ResponseOf } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import type { ExecContext } from "../../query/exec/context.js";
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
import type { CommitStamp } from "../../storage/operation.js";
import { type Cursor, NO_ENTRIES, readSome } from "../../storage/store.js";
import type { ShardTransaction } from "../../storage/transaction.js";
import { shownPath } from "../../values/shown-path.js";
import { DIFF_ROWS_DEFAULT, shownChange } from "./branch-diff.js";
import { RowMerge, sameRow } from "./branch-merge.js";
import { shownStamp } from "./history-routes.js";
import { layersOf, startOf } from "./make-branch.js";
import { type Row, shownName } from "./row-changes.js";
import { condition, type Difference, type Moment } from "./undo-condition.js";

type Wanted = BodyOf<"history.undo">;
type ShownRow = ResponseOf<"history.undo">["rows"][number];

/** Entries that are looked at in a turn. */
const ENTRIES_AT_ONCE = 48;
/** Rows that the condition is asked of at a time. */
const DIFFERENCES_AT_ONCE = 256;

/** `commit`: absent, the answer is the request's own. `rowsMax`: rows that are shown. */
export async function undo(
  request: Request,
  { table, tables, as_of, where, dry_run = false }: Wanted,
  commit: (tx: ShardTransaction, answer: Answer) => void = (tx, answer) => request.commit(tx, answer),
  rowsMax = DIFF_ROWS_DEFAULT,
) {
  const { tenant, partition } = request;
  const names = tables ?? (table === undefined ? [] : [table]);
  if (names.length === 0 || (tables !== undefined && table !== undefined)) {
    throw new DbError("invalid_request", 'Name a "table", or several as "tables".', { field: "table" });
  }
  const stamp = await startOf(request, tenant.number, as_of);
  const session = new Session(tenant, { ...sessionOptions(request, "routes"), isolation: "serializable" });
  session.begin({});
  try {
    const context = session.contextFor(request);
    const { merge, rows } = await rowsToWrite(request, context, { names, stamp, where, rowsMax });
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

export interface ToRestore {
  readonly names: readonly string[];
  readonly stamp: CommitStamp;
  readonly where?: string | undefined;
  /** Rows that are shown. */
  readonly rowsMax: number;
}

/** What makes the tables what they were: to be written in the context's transaction, which has written nothing yet. */
export async function rowsToWrite(request: Request, context: ExecContext, { names, stamp, where, rowsMax }: ToRestore) {
  const { tenant } = request;
  const past = await pastTenant(tenant, stamp.sequence, request);
  const merge = new RowMerge(context, "refuse");
  const tx = (context.live ?? context.tx) as ShardTransaction;
  const tables = [...new Set(names)].map((name) => {
    const before = tableOf(past, name);
    const table = tableIn(context.services.catalogView(), name);
    requireSameColumns(table, before);
    return { table, before };
  });
  noteReads(
    tables.map(({ table }) => table),
    request.audited(),
  );
  const write = tables.flatMap(({ table }) => (table.audit?.includes("write") ? [table] : []));
  if (write.length > 0) context.services.noteAccess({ read: [], write }, context);
  // All that is written from now on ends this at its commit. What the transaction sees, the engine has.
  for (const { table } of tables) tx.noteRead(rowRange(tenant.number, table));
  await engineHasAll(request.partition.shard, request.yieldTurn);
  const rows: ShownRow[] = [];
  for (const { table, before } of tables) {
    const undoing: Undoing = { request, stamp, table, before, tx, engine: layersOf(request).asOf(stamp.sequence) };
    const wantedOf = where === undefined ? (all: readonly Difference[]) => all : await condition(undoing, where);
    for await (const differences of differencesOf(undoing, merge)) {
      for (const { key, now, then } of await wantedOf(differences)) {
        merge.restore(table, key, then);
        if (rows.length < rowsMax) rows.push(shownChange({ table, before: now, after: then }));
      }
    }
    requireKept(undoing);
  }
  await merge.checkGraphs(request.yieldTurn);
  if (merge.conflictCount > 0) throw looseEnds(context, tables[0]!.table, merge);
  return { merge, rows, tables: tables.map(({ table }) => table) };
}

/** Relationships would be without a node. */
function looseEnds(context: ExecContext, table: TableDef, { conflicts, conflictCount }: RowMerge): DbError {
  const { graph } = graphDefOf(table) ?? { graph: "" };
  const all = context.services.catalogView().tables();
  const names = all.flatMap((each) => (graphDefOf(each)?.graph === graph ? [`"${shownName(each)}"`] : []));
  const what = `${conflictCount} relationships would be without a node, first of "${conflicts[0]!.table}".`;
  return new DbError("conflict", `${what} Restore the tables of the graph together, and all of their rows.`, {
    hint: `Name ${names.join(" and ")} as "tables", without "where"; in SQL: RESTORE GRAPH ${graph} AS OF …`,
  });
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
    if (found.length < DIFFERENCES_AT_ONCE) continue;
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
  const rowOf = (record: Uint8Array | undefined): Row | null =>
    record === undefined ? null : rowOfRecord(layout, record);
  if (Buffer.compare(own, old) === 0) {
    let last: Uint8Array = new Uint8Array(0);
    for (let from: Uint8Array | null = null; ; await request.yieldTurn()) {
      const { keys, next } = layersOf(request).writtenSince(prefixRange(own), stamp.sequence, from, ENTRIES_AT_ONCE);
      requireKept(undoing);
      // A key's entries are neighbours, so one that was seen comes first.
      const some = distinct(keys).filter((key) => Buffer.compare(key, last) !== 0);
      const records = engine.getMany(some);
      for (const [i, key] of some.entries()) yield { key, row: rowOf(records[i]) };
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
    if (engine.get(movedTo(old, key)) === undefined) yield { key, row: null };
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

/** By its name, with the schema where that is not `public` (shown-path.ts). Throws not_found. */
function tableIn(catalog: CatalogView, name: string): TableDef {
  const isIt = (each: TableDef) => shownName(each) === name || shownPath([each.schema, each.name]) === name;
  const table = catalog.tables().find(isIt);
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
