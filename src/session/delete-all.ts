/**
 * DELETE of all rows of a large table, alone in its transaction: the rows are counted, and the table is emptied as
 * TRUNCATE does it. Removing them one by one takes ten times as long. Nobody can tell the difference, because it is
 * only done while no other transaction may write; and nobody may be there who wants to know of each row: triggers,
 * foreign keys, followers of changes. Called by statement-runner.ts.
 */
import type { TableDef } from "../catalog/table.js";
import type { ExecContext } from "../query/exec/context.js";
import { countRows } from "../query/exec/count-rows.js";
import { layoutOf } from "../query/exec/table-layout.js";
import type { Plan } from "../query/plan/plan.js";
import { prefixRange, watchKey } from "../storage/keys.js";
import { emptyLargeTable } from "./run-ddl.js";
import type { Tenant } from "./tenant.js";

/** Fewer rows are removed one by one: definitions do not change for them. */
const ROWS_MIN = 10_000;

/** The table whose rows the plan removes, all of them and nothing else; null: it does something else. */
export function tableOfDeleteAll(plan: Plan): TableDef | null {
  if (plan.kind !== "delete") return null;
  const { table, input, returning, instead, heirs } = plan;
  if (returning !== null || instead || heirs !== undefined) return null;
  if (input.kind !== "scan" || input.filter !== null || input.table !== table) return null;
  const { triggers, rules, referencedBy, children, partitionKey, collection, immutable } = table;
  const isWatched = [triggers, rules, referencedBy, children].some((list) => list !== undefined && list.length > 0);
  return isWatched || partitionKey !== undefined || collection !== undefined || immutable || table.audit !== undefined
    ? null
    : table;
}

/** The number of rows that are gone; null: they are to be removed one by one. */
export async function deleteAll(table: TableDef, tenant: Tenant, context: ExecContext): Promise<number | null> {
  const { tx, tenantNumber } = context;
  if (tx.dirty || tx.get(watchKey(tenantNumber, table.id)) !== undefined) return null;
  const rows = await countRows(context, table, ROWS_MIN);
  const range = prefixRange(layoutOf(table).rowPrefixOf(tenantNumber));
  if (rows === null || !tx.isAloneIn(range)) return null;
  // The commit follows in this turn, or else it is refused when somebody was faster.
  tx.guardReads(true);
  tx.noteRead(range);
  tx.guardReads(false);
  await emptyLargeTable(table, tenant.catalog, context);
  return rows;
}
