/**
 * Temporary relations are ordinary ones in a schema of the session's own. They are dropped when the session ends (a
 * request, a batch, an interactive transaction), or with a transaction if they were made ON COMMIT DROP. Leftovers of
 * a crash are dropped when the tenant next makes one. Called by the session; SessionNames knows its schema.
 */

import type { CatalogEditor } from "../catalog/catalog-editor.js";
import type { DdlCommand } from "../catalog/ddl-command.js";
import { droppedWith } from "../catalog/inheritance.js";
import { isTemporarySchema } from "../catalog/schema.js";
import type { TableDef } from "../catalog/table.js";
import { sqlError } from "../protocol/errors.js";
import type { CheckedTurns } from "../protocol/turns.js";
import { dropTableData, retireTableData } from "../query/exec/table-data.js";
import type { ShardTransaction } from "../storage/transaction.js";
import type { SessionNames } from "./session-names.js";
import type { Tenant } from "./tenant.js";

/** Whether the command makes or changes something in a schema of temporary relations. */
export function isTemporary(command: DdlCommand): boolean {
  return "schema" in command && isTemporarySchema(command.schema);
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
  const catalog = tenant.catalog.view(tx);
  const tables = catalog.tables().filter((table) => isGone(table.schema));
  const others = [...catalog.sequences(), ...catalog.views()];
  if (tables.length === 0 && !others.some((other) => isGone(other.schema))) return;
  tenant.catalog.change(tx, (editor) => dropAll(editor, tables, isGone));
  const work = { tx, tenantNumber: tenant.number, checkpoint, shouldYield, yieldTurn };
  for (const table of tables) await retireTableData(work, table);
}

function dropAll(editor: CatalogEditor, tables: readonly TableDef[], isGone: (schema: string) => boolean): void {
  for (const view of editor.view.views()) if (isGone(view.schema)) editor.dropView(view);
  for (const table of tables) editor.dropTable(table);
  for (const sequence of editor.view.sequences()) if (isGone(sequence.schema)) editor.dropSequence(sequence);
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
