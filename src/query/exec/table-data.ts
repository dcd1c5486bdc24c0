/**
 * Whole-table work for definition statements: removing the data of a dropped table or index. The
 * session calls it within the statement's transaction; all of it gives the actor's loop its turns.
 */
import { type IndexDef, storageOf, type TableDef } from "../../catalog/table.js";
import { indexPrefix, prefixRange, retiredKey, rowPrefix } from "../../storage/keys.js";
import type { Load } from "../../storage/load.js";
import type { LoadRun } from "../../storage/load-run.js";
import { type Cursor, NO_ENTRIES, readSome } from "../../storage/store.js";
import { BULK_ROWS } from "./bulk-writer.js";
import type { ExecContext } from "./context.js";
import { chainPrefix } from "./hash-chain.js";
import { after } from "./operator.js";
import { ownIndexes } from "./table-layout.js";

/** The transaction to work in, the tenant, and the turns of the actor's loop. */
export type TableWork = Pick<ExecContext, "tx" | "tenantNumber" | "checkpoint" | "shouldYield" | "yieldTurn">;

/** Entries between two looks at the clock. */
const STEP_ENTRIES = 256;

const NO_BYTES = new Uint8Array(0);

/** Removes all rows and index entries of a table. */
export function dropTableData(work: TableWork, table: TableDef): void | Promise<void> {
  return dropAll(work, prefixesOf(work, table));
}

/** What all keys of its data begin with. */
export function prefixesOf({ tenantNumber }: Pick<TableWork, "tenantNumber">, table: TableDef): readonly Uint8Array[] {
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

/** Whether the table has enough rows that leaving them in place and using another storage pays off. */
export function holdsMany(work: TableWork, table: TableDef): boolean {
  return hasMany(work, rowPrefix(work.tenantNumber, storageOf(table)));
}

function hasMany({ tx }: TableWork, prefix: Uint8Array): boolean {
  const cursor = tx.scan({ ...prefixRange(prefix), only: "keys" });
  const found = readSome(cursor, BULK_ROWS);
  cursor.close();
  // To know it exactly would take long: there is much to step over.
  return found === null || found.keys.length === BULK_ROWS;
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

function visitEntries(work: TableWork, cursor: Cursor, visit: VisitEntry): void | Promise<void> {
  let paused = false;
  try {
    for (;;) {
      work.checkpoint();
      const entries = readSome(cursor, STEP_ENTRIES);
      if (entries?.keys.length === 0) return;
      const { keys, values } = entries ?? NO_ENTRIES;
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
