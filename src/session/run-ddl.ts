/**
 * Runs one bound definition command: changes the definitions, then does the work on rows that the change requires, all
 * in the statement's transaction. Called by the session.
 */
import type { Author } from "../catalog/author.js";
import type { Catalog } from "../catalog/catalog.js";
import { applyDdl } from "../catalog/ddl.js";
import type { PositionOf } from "../catalog/ddl-namespace.js";
import type { DdlOutcome, Rewrite } from "../catalog/ddl-outcome.js";
import { storageOf, type TableDef } from "../catalog/table.js";
import { backfillIndex } from "../query/exec/backfill-index.js";
import { requiresSingleRows } from "../query/exec/bulk-writer.js";
import type { ExecContext, UnseenTable } from "../query/exec/context.js";
import { dropTableData, holdsMany, retireIndexData, retireTableData } from "../query/exec/table-data.js";
import { StatementFiring, statementTriggers } from "../query/exec/table-triggers.js";
import type { BoundDdl } from "../sql/bind/bound-statement.js";
import { columnsReadBy } from "../sql/bind/stored-expression.js";
import { toText } from "../values/text-format.js";
import { fillTable, isFilledByQuery, isWithoutData, seesItsRowsOnly, writeRows } from "./fill-table.js";
import type { InternalStatements } from "./internal-statements.js";

/** Also the rows that a query has filled a table with. */
export interface DdlDone extends DdlOutcome {
  readonly rowsFilled?: number;
}

export async function runDdl(
  bound: BoundDdl,
  catalog: Catalog,
  statements: InternalStatements,
  context: ExecContext,
  positionOf: PositionOf,
  author: Author | null,
  unseen: (table: TableDef) => UnseenTable,
): Promise<DdlDone> {
  const isFilled = isFilledByQuery(bound);
  const { rows: plan } = bound;
  const isReadLater = !isFilled && seesItsRowsOnly(plan);
  const rows =
    plan && !isFilled && !isReadLater
      ? await guarded(context, async () => (await statements.runPlan(plan, context, bound.parameters)).rows)
      : null;
  const done = applyDdl(catalog, context.tx, bound.command, context.statementMicros, positionOf, author, columnsReadBy);
  if (done.made !== undefined) context.rowNumbers.begin(context.tenantNumber, storageOf(done.made));
  let rowsFilled: number | undefined;
  for (const rewrite of done.rewrites) {
    // A partitioned table has no rows of its own.
    if (rewrite.after.partitionKey !== undefined) continue;
    const { select } = rewrite;
    if (select === null && isFilled) {
      const table = await emptied(rewrite, catalog, context);
      const filled = await fillTable(table, bound, statements, { ...context, unseen: unseen(table) });
      if (!isWithoutData(bound)) rowsFilled = filled;
      continue;
    }
    if (select === null && isReadLater) {
      await rewriteAsRead(rewrite, bound, catalog, statements, context);
      continue;
    }
    const next =
      select === null ? rows! : (await guarded(context, () => statements.run(select, [], context).rows)).rows;
    await writeRows(await emptied(rewrite, catalog, context), next, context);
  }
  for (const { table, index } of done.backfills) {
    await guarded(context, () => backfillIndex(context, located(table, catalog, context), index));
  }
  const truncated = bound.command.kind === "truncate" ? done.cleared : [];
  await fireTruncate(truncated, "before", context);
  for (const table of done.cleared) await clear(table, catalog, context);
  for (const { table, index } of done.clearedIndexes) {
    await retireIndexData(context, table, index);
    const now = located(table, catalog, context);
    if (now !== table) await retireIndexData(context, now, index);
  }
  for (const { sql, error } of done.verify) {
    const found = await guarded(context, () => statements.run(sql, [], context).rows);
    const [row] = found.rows;
    if (row !== undefined) {
      throw error(row.map((value, i) => (value === null ? null : toText(found.columns[i]!.type, value))));
    }
  }
  await fireTruncate(truncated, "after", context);
  return rowsFilled === undefined ? done : { ...done, rowsFilled };
}

/**
 * Rows under the new definition that come from the table under the old one. Many go into their new storage as they are
 * read, column by column where they can, and the old storage keeps them until the commit.
 */
async function rewriteAsRead(
  rewrite: Rewrite,
  bound: BoundDdl,
  catalog: Catalog,
  statements: InternalStatements,
  context: ExecContext,
): Promise<void> {
  // Rows keep what they refer to, and nothing is inserted that triggers should see.
  const { foreignKeys: _, triggers: __, ...plain } = rewrite.after;
  const isMoved = holdsMany(context, located(rewrite.before, catalog, context));
  if (isMoved && requiresSingleRows(plain, () => null) === null) {
    const { foreignKeys: ___, triggers: ____, ...table } = await emptied(rewrite, catalog, context);
    await guarded(context, () => fillTable(table, bound, statements, context));
    return;
  }
  const { rows } = await guarded(context, async () => statements.runPlan(bound.rows!, context, bound.parameters));
  await writeRows(await emptied(rewrite, catalog, context), rows, context);
}

/** What is read must still be so at the commit, at any isolation: a definition depends on it. */
async function guarded<T>({ tx }: ExecContext, read: () => T | Promise<T>): Promise<T> {
  tx.guardReads(true);
  try {
    return await read();
  } finally {
    tx.guardReads(false);
  }
}

/** TRUNCATE triggers, table by table. */
async function fireTruncate(
  tables: readonly TableDef[],
  timing: "before" | "after",
  context: ExecContext,
): Promise<void> {
  for (const table of tables) {
    const firing = new StatementFiring(statementTriggers(table, ["truncate"]), context);
    for (const each of firing.of(timing)) await context.services.fireTrigger!(each, context);
  }
}

/** The table with its intermediate definition, at its current storage. */
function located(table: TableDef, catalog: Catalog, { tx }: ExecContext): TableDef {
  const now = catalog.view(tx).tableById(table.id);
  if (now === null || storageOf(now) === storageOf(table)) return table;
  return Object.freeze({ ...table, storageId: storageOf(now) });
}

/** Removes the rows of a table that was dropped, or is to be empty. */
async function clear(table: TableDef, catalog: Catalog, context: ExecContext): Promise<void> {
  const now = catalog.view(context.tx).tableById(table.id);
  const isEmptied = now !== null && storageOf(now) === storageOf(table);
  if (isEmptied && holdsMany(context, table)) storeElsewhere(table, catalog, context);
  else if (isEmptied) return dropTableData(context, table);
  await retireTableData(context, table);
}

/** The table as it is to be, without the rows that it had. */
async function emptied(rewrite: Rewrite, catalog: Catalog, context: ExecContext): Promise<TableDef> {
  const before = located(rewrite.before, catalog, context);
  if (holdsMany(context, before)) {
    storeElsewhere(before, catalog, context);
    await retireTableData(context, before);
  } else await dropTableData(context, before);
  const after = located(rewrite.after, catalog, context);
  if (before.primaryKey !== null && after.primaryKey === null)
    context.rowNumbers.restart(context.tenantNumber, storageOf(after));
  return after;
}

/** Empties a table of many rows, as TRUNCATE does: it takes no time. */
export function emptyLargeTable(table: TableDef, catalog: Catalog, context: ExecContext): void | Promise<void> {
  storeElsewhere(table, catalog, context);
  return retireTableData(context, table);
}

/** From now on the table is empty and keeps its rows under another storage id; what it had must be retired. */
function storeElsewhere({ id }: TableDef, catalog: Catalog, { tx, rowNumbers, tenantNumber }: ExecContext): void {
  catalog.change(tx, (editor) => {
    const storageId = editor.nextId();
    editor.replaceTable(Object.freeze({ ...editor.view.tableById(id)!, storageId }));
    rowNumbers.begin(tenantNumber, storageId);
  });
}
