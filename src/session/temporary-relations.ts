/**
 * Temporary relations are ordinary ones in a schema of the session's own, which may hold types, functions and operators
 * as well. They are dropped when the session ends (a request, a batch, an interactive transaction), or with a
 * transaction if they were made ON COMMIT DROP. Leftovers of a crash are dropped when the tenant next makes one. Called
 * by the session; SessionNames knows its schema.
 */

import type { CatalogEditor } from "../catalog/catalog-editor.js";
import type { DdlCommand } from "../catalog/ddl-command.js";
import { contentsOf, dropContents, type SchemaContents } from "../catalog/ddl-namespace.js";
import { combined } from "../catalog/ddl-outcome.js";
import { dropCondemned } from "../catalog/drop-condemned.js";
import { droppedWith } from "../catalog/inheritance.js";
import { isTemporarySchema } from "../catalog/schema.js";
import type { TableDef } from "../catalog/table.js";
import { type TypeDef, usesType } from "../catalog/type.js";
import { sqlError } from "../protocol/errors.js";
import type { CheckedTurns } from "../protocol/turns.js";
import { dropTableData, retireIndexData, retireTableData } from "../query/exec/table-data.js";
import { columnsReadBy } from "../sql/bind/stored-expression.js";
import type { ShardTransaction } from "../storage/transaction.js";
import type { SessionNames } from "./session-names.js";
import type { Tenant } from "./tenant.js";
import { nowMicros } from "./transaction-block.js";

/** Whether the command makes or changes a relation or type in a schema of temporary relations. */
export function isTemporary(command: DdlCommand): boolean {
  return "schema" in command && isTemporarySchema(command.schema);
}

/** Whether the command leaves something in such a schema; that of a function is no matter of relations' rights. */
export function isInTemporary(command: DdlCommand): boolean {
  if (command.kind === "create function") return isTemporarySchema(command.function.schema);
  if (command.kind === "create operator") return isTemporarySchema(command.operator.schema);
  return isTemporary(command);
}

/** Something is about to be made in the session's own schema. */
export async function openTemporaries(names: SessionNames, tx: ShardTransaction, turns: CheckedTurns): Promise<void> {
  if (names.hasTemporaries) return;
  const { tenant } = names;
  tenant.temporarySchemas.add(names.temporarySchema);
  names.hasTemporaries = true;
  await dropSchemas(tenant, (name) => isTemporarySchema(name) && !tenant.temporarySchemas.has(name), tx, turns);
}

/** Removes the definitions and the rows of everything in the session's schema. */
export async function dropTemporaries(names: SessionNames, tx: ShardTransaction, turns: CheckedTurns): Promise<void> {
  if (names.hasTemporaries) await dropSchemas(names.tenant, (name) => name === names.temporarySchema, tx, turns);
}

/**
 * At the end of the session: within its open transaction, which is about to be committed, or in one of their own,
 * which `commit` gets. Costs nothing for a session without temporary relations.
 */
export function endTemporaries(
  names: SessionNames,
  open: ShardTransaction | null,
  turns: CheckedTurns,
  commit: (tx: ShardTransaction) => void,
): void | Promise<void> {
  return names.hasTemporaries ? end(names, open, turns, commit) : undefined;
}

async function end(
  names: SessionNames,
  open: ShardTransaction | null,
  turns: CheckedTurns,
  commit: (tx: ShardTransaction) => void,
): Promise<void> {
  const { tenant } = names;
  const tx = open ?? tenant.partition.shard.begin({ readOnly: false });
  try {
    await dropTemporaries(names, tx, turns);
    if (open === null) commit(tx);
  } catch (error) {
    if (open === null) tenant.rollback(tx);
    throw error;
  } finally {
    names.hasTemporaries = false;
    tenant.temporarySchemas.delete(names.temporarySchema);
  }
}

async function dropSchemas(
  tenant: Tenant,
  isGone: (schema: string) => boolean,
  tx: ShardTransaction,
  { checkpoint, shouldYield, yieldTurn }: CheckedTurns,
): Promise<void> {
  const view = tenant.catalog.view(tx);
  const all = [view.tables(), view.sequences(), view.views(), view.types(), view.functions(), view.operators()];
  const schemas = new Set(all.flatMap((kind) => kind.map(({ schema }) => schema)).filter(isGone));
  if (schemas.size === 0) return;
  const { cleared = [], clearedIndexes = [] } = tenant.catalog.change(tx, (editor) => {
    const dropped = [...schemas].map((schema) => dropContents(editor, ownContents(editor.view, schema)));
    return combined([...dropped, dropCondemned(editor, columnsReadBy, nowMicros())]);
  });
  const work = { tx, tenantNumber: tenant.number, checkpoint, shouldYield, yieldTurn };
  for (const table of cleared) await retireTableData(work, table);
  for (const { table, index } of clearedIndexes) await retireIndexData(work, table, index);
}

/** A type stays while a table of another schema has a column of it. */
function ownContents(view: CatalogEditor["view"], schema: string): SchemaContents {
  const contents = contentsOf(view, schema);
  const others = view.tables().filter((table) => table.schema !== schema);
  const isOwn = ({ id }: TypeDef) => !others.some(({ columns }) => columns.some(({ type }) => usesType(type, id)));
  return { ...contents, types: contents.types.filter(isOwn) };
}

/** ON COMMIT, for the tables of the session. What fails it takes the transaction back. */
export function applyOnCommit(names: SessionNames, tx: ShardTransaction): void {
  if (!names.hasTemporaries) return;
  try {
    emptyOrDrop(names, tx);
  } catch (error) {
    names.tenant.rollback(tx);
    throw error;
  }
}

/** It runs at once: what a transaction holds is bounded. */
function emptyOrDrop({ tenant, temporarySchema }: SessionNames, tx: ShardTransaction): void {
  const tables = tenant.catalog.view(tx).tables();
  const own = tables.filter((table) => table.schema === temporarySchema && table.onCommit !== undefined);
  if (own.length === 0) return;
  const work = {
    tx,
    tenantNumber: tenant.number,
    checkpoint: () => undefined,
    shouldYield: () => false,
    yieldTurn: () => Promise.resolve(),
  };
  refuseReferences(own, tables);
  for (const table of own) void dropTableData(work, table);
  const ending = own.filter((table) => table.onCommit === "drop");
  if (ending.length === 0) return;
  const heirs = droppedWith(ending, tenant.catalog.view(tx)).map((heir) => heir.table);
  for (const table of heirs) void retireTableData(work, table);
  const dropped = [...ending, ...heirs];
  tenant.catalog.change(tx, (editor) => {
    for (const table of dropped) editor.dropTable(table);
  });
}

/** Throws 0A000 for a table that is emptied at each commit while another one that keeps its rows refers to it. */
function refuseReferences(own: readonly TableDef[], tables: readonly TableDef[]): void {
  for (const { name, onCommit, referencedBy = [] } of own) {
    if (onCommit !== "delete") continue;
    const keeps = referencedBy.find(({ tableId }) => !own.some(({ id }) => id === tableId));
    if (keeps === undefined) continue;
    const other = tables.find(({ id }) => id === keeps.tableId);
    throw sqlError("0A000", "unsupported ON COMMIT and foreign key combination", {
      detail: `Table "${other?.name}" references "${name}", but they do not have the same ON COMMIT setting.`,
    });
  }
}
