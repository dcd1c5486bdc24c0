/**
 * Temporary relations are ordinary ones in a schema of the session's own. They go when the session ends (a request, a
 * batch, an interactive transaction), or with a transaction if they were made ON COMMIT DROP. What a crash left behind
 * goes when the tenant next makes one.
 */
import type { CatalogEditor } from "../catalog/catalog-editor.js";
import { isTemporarySchema } from "../catalog/schema.js";
import type { TableDef } from "../catalog/table.js";
import { dropTableData, type TableWork } from "../query/exec/table-data.js";
import type { ShardTransaction } from "../storage/transaction.js";
import type { Tenant } from "./tenant.js";

/** Removes the definitions and the rows of everything in the session's schema. */
export async function dropTemporaries(tenant: Tenant, schema: string, work: Omit<TableWork, "tenantNumber">) {
  await dropSchemas(tenant, (name) => name === schema, work);
}

/** Removes what sessions left that are no more. */
export async function dropAbandoned(tenant: Tenant, work: Omit<TableWork, "tenantNumber">): Promise<void> {
  await dropSchemas(tenant, (name) => isTemporarySchema(name) && !tenant.temporarySchemas.has(name), work);
}

async function dropSchemas(
  tenant: Tenant,
  isGone: (schema: string) => boolean,
  work: Omit<TableWork, "tenantNumber">,
): Promise<void> {
  const tx = work.tx as ShardTransaction;
  const tables = tenant.catalog.view(tx).tables();
  const gone = tables.filter((table) => isGone(table.schema));
  const others = [...tenant.catalog.view(tx).sequences(), ...tenant.catalog.view(tx).views()];
  if (gone.length === 0 && !others.some((other) => isGone(other.schema))) return;
  tenant.catalog.change(tx, (editor) => dropAll(editor, gone, isGone));
  for (const table of gone) await dropTableData({ ...work, tenantNumber: tenant.number }, table);
}

function dropAll(editor: CatalogEditor, tables: readonly TableDef[], isGone: (schema: string) => boolean): void {
  for (const view of editor.view.views()) if (isGone(view.schema)) editor.dropView(view);
  for (const table of tables) editor.dropTable(table);
  for (const sequence of editor.view.sequences()) if (isGone(sequence.schema)) editor.dropSequence(sequence);
}

/** ON COMMIT, for the tables of the session. It runs at once: what a transaction holds is bounded. */
export function applyOnCommit(tenant: Tenant, tx: ShardTransaction, schema: string): void {
  const tables = tenant.catalog.view(tx).tables();
  const own = tables.filter((table) => table.schema === schema && table.onCommit !== undefined);
  if (own.length === 0) return;
  const work = {
    tx,
    tenantNumber: tenant.number,
    checkpoint: () => undefined,
    shouldYield: () => false,
    yieldTurn: () => Promise.resolve(),
  };
  for (const table of own) void dropTableData(work, table);
  const dropped = own.filter((table) => table.onCommit === "drop");
  if (dropped.length === 0) return;
  tenant.catalog.change(tx, (editor) => {
    for (const table of dropped) editor.dropTable(table);
  });
}
