/**
 * Whole-table work for definition statements: filling a new index, removing the data of a dropped table or index. The
 * session calls it within the statement's transaction; all of it gives the actor's loop its turns.
 */
import { type IndexDef, storageOf, type TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import { inSteps } from "../../storage/in-steps.js";
import { indexPrefix, prefixRange, retiredKey, rowPrefix } from "../../storage/keys.js";
import type { Load } from "../../storage/load.js";
import type { LoadRun } from "../../storage/load-run.js";
import type { Cursor } from "../../storage/store.js";
import type { Value } from "../../values/values.js";
import { BULK_ROWS } from "./bulk-writer.js";
import type { ExecContext } from "./context.js";
import { entryValue, suffixOf } from "./entry-value.js";
import { chainPrefix } from "./hash-chain.js";
import { after } from "./operator.js";
import { emptyColumns } from "./row-buffer.js";
import { TableExpressions } from "./table-expressions.js";
import { decoderOf, entryKey, indexLayout, joinKey, keyText, keyValues, layoutOf, ownIndexes } from "./table-layout.js";
import { emptyRow, TableWriter } from "./table-writer.js";

/** The transaction to work in, the tenant, and the turns of the actor's loop. */
export type TableWork = Pick<ExecContext, "tx" | "tenantNumber" | "checkpoint" | "shouldYield" | "yieldTurn">;

/** Entries between two looks at the clock. */
const STEP_ENTRIES = 256;

const NO_BYTES = new Uint8Array(0);

/**
 * Makes the entries of an index for all rows of the table; `index` need not be part of the definition yet. Throws 23505
 * when it is unique and two rows have the same values.
 */
export function backfillIndex(context: ExecContext, table: TableDef, index: IndexDef): void | Promise<void> {
  const { tx, tenantNumber } = context;
  const keyLayout = indexLayout(table, index);
  const ids = keyLayout.computed
    ? table.columns.map((column) => column.id)
    : [...new Set([...keyLayout.columnIds, ...(keyLayout.included?.ids ?? [])])];
  const decode = decoderOf(layoutOf(table), ids);
  const columns = emptyColumns(ids.length);
  const row = emptyRow(table);
  const prefix = rowPrefix(tenantNumber, storageOf(table));
  const writer = new TableWriter(table, context);
  const expressions = keyLayout.computed ? new TableExpressions(table, context) : null;
  const valuesOf = (record: Uint8Array): Value[] | null => {
    decode(record, columns, 0);
    for (let i = 0; i < ids.length; i++) row[ids[i]!] = columns[i]![0]!;
    return expressions === null ? keyValues(keyLayout, row) : expressions.valuesOf(keyLayout, row);
  };
  const duplicate = (values: readonly Value[]) => {
    const text = keyText(keyLayout, values, "UTC");
    const at = { table: table.name, constraint: index.name };
    if (index.exclusion) {
      const detail = `Key ${text} conflicts with key ${text}.`;
      return sqlError("23P01", `could not create exclusion constraint "${index.name}"`, { detail, ...at });
    }
    return sqlError("23505", `could not create unique index "${index.name}"`, {
      detail: `Key ${text} is duplicated.`,
      ...at,
    });
  };
  // A deferrable key looks at the entries that it has made.
  const load = index.deferrable ? null : tx.beginLoad();
  if (load === null) {
    return eachEntry(context, prefix, (key, record) => {
      const values = valuesOf(record);
      if (values === null) return;
      const suffix = Buffer.from(key.subarray(prefix.length));
      const entry = entryKey(keyLayout, tenantNumber, values, suffix);
      const isTaken = index.unique ? tx.get(entry) !== undefined : index.deferrable && writer.isTaken(index, row);
      if (isTaken) throw duplicate(values);
      tx.put(entry, entryValue(keyLayout, row, suffix));
    });
  }
  const run = load.run(keyLayout.prefixOf(tenantNumber));
  const filled = eachEntry(context, prefix, (key, record) => {
    const values = valuesOf(record);
    if (values === null) return;
    const suffix = key.subarray(prefix.length);
    load.add(run, entryKey(keyLayout, tenantNumber, values, suffix), entryValue(keyLayout, row, suffix));
  });
  const isRepeated = (place: number): boolean => index.unique && run.isSameKey(place - 1, place);
  function* finish(): Generator<undefined, void> {
    yield* load!.sort();
    for (let place = 1; place < run.size; place++) {
      if (isRepeated(place)) {
        const record = tx.get(joinKey(prefix, suffixOf(keyLayout, run.operationAt(place).value!)))!;
        throw duplicate(valuesOf(record)!);
      }
      if (place % STEP_ENTRIES === 0) yield;
    }
    if (run.size > 0) tx.attach(load!);
  }
  return after(filled, () => inSteps(context, finish()));
}

/** Removes all rows and index entries of a table. */
export function dropTableData(work: TableWork, table: TableDef): void | Promise<void> {
  return dropAll(work, prefixesOf(work, table));
}

function prefixesOf({ tenantNumber }: TableWork, table: TableDef): readonly Uint8Array[] {
  const storageId = storageOf(table);
  return [
    rowPrefix(tenantNumber, storageId),
    ...ownIndexes(table).map((index) => indexPrefix(tenantNumber, storageId, index.id)),
    ...(table.immutable ? [chainPrefix(tenantNumber, storageId)] : []),
  ];
}

/**
 * The same for a table that is dropped, or stored elsewhere from now on. It takes no time: what is much stays until
 * nobody sees it any more, and is then removed in the background (actor/remove-retired.ts).
 */
export function retireTableData(work: TableWork, table: TableDef): void | Promise<void> {
  if (!holdsMany(work, table)) return dropTableData(work, table);
  for (const prefix of prefixesOf(work, table)) retire(work, prefix);
}

/** Removes all entries of an index that is dropped, as `retireTableData` does. */
export function retireIndexData(work: TableWork, table: TableDef, index: IndexDef): void | Promise<void> {
  const prefix = indexPrefix(work.tenantNumber, storageOf(table), index.id);
  if (!hasMany(work, prefix)) return dropAll(work, [prefix]);
  retire(work, prefix);
}

/** Whether the table has so many rows that it pays to leave them where they are and to store it elsewhere. */
export function holdsMany(work: TableWork, table: TableDef): boolean {
  return hasMany(work, rowPrefix(work.tenantNumber, storageOf(table)));
}

function hasMany({ tx }: TableWork, prefix: Uint8Array): boolean {
  const cursor = tx.scan({ ...prefixRange(prefix), only: "keys" });
  const { length } = cursor.next(BULK_ROWS).keys;
  cursor.close();
  return length === BULK_ROWS;
}

function retire({ tx, tenantNumber }: TableWork, prefix: Uint8Array): void {
  tx.put(retiredKey(tenantNumber, prefix), NO_BYTES);
}

function dropAll(work: TableWork, prefixes: readonly Uint8Array[]): void | Promise<void> {
  for (let i = 0; i < prefixes.length; i++) {
    const pending = dropPrefix(work, prefixes[i]!);
    if (pending !== undefined) return pending.then(() => dropAll(work, prefixes.slice(i + 1)));
  }
}

/** Few keys are deleted one by one, many as a load. */
function dropPrefix(work: TableWork, prefix: Uint8Array): void | Promise<void> {
  const { tx } = work;
  const first: Buffer[] = [];
  let load: Load | null = null;
  let run: LoadRun | null = null;
  let isSingly = false;
  const keys = work.tx.scan({ ...prefixRange(prefix), only: "keys" });
  const deleted = visitEntries(work, keys, (key) => {
    if (isSingly) tx.delete(Buffer.from(key));
    else if (run !== null) load!.add(run, key, null);
    else if (first.push(Buffer.from(key)) === BULK_ROWS) {
      load = tx.beginLoad();
      isSingly = load === null;
      run = load?.run(prefix) ?? null;
      for (const each of first.splice(0)) {
        if (run === null) tx.delete(each);
        else load!.add(run, each, null);
      }
    }
  });
  return after(deleted, () => {
    for (const key of first) tx.delete(key);
    if (load !== null) tx.attach(load);
  }) as void | Promise<void>;
}

type VisitEntry = (key: Uint8Array, value: Uint8Array) => void;

function eachEntry(work: TableWork, prefix: Uint8Array, visit: VisitEntry): void | Promise<void> {
  return visitEntries(work, work.tx.scan(prefixRange(prefix)), visit);
}

function visitEntries(work: TableWork, cursor: Cursor, visit: VisitEntry): void | Promise<void> {
  let paused = false;
  try {
    for (;;) {
      work.checkpoint();
      const { keys, values } = cursor.next(STEP_ENTRIES);
      if (keys.length === 0) return;
      for (let i = 0; i < keys.length; i++) visit(keys[i]!, values[i]!);
      if (work.shouldYield()) {
        paused = true;
        return work.yieldTurn().then(() => visitEntries(work, cursor, visit));
      }
    }
  } finally {
    if (!paused) cursor.close();
  }
}
