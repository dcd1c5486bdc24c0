/**
 * Runs one bound definition command: changes the definitions, then does the work on rows that the change leaves, all
 * in the statement's transaction. Called by the session.
 */
import type { Catalog } from "../catalog/catalog.js";
import { applyDdl } from "../catalog/ddl.js";
import type { PositionOf } from "../catalog/ddl-namespace.js";
import type { DdlOutcome, Rewrite } from "../catalog/ddl-outcome.js";
import { storageOf, type TableDef } from "../catalog/table.js";
import { DbError, sqlError } from "../protocol/errors.js";
import { toText } from "../protocol/text-format.js";
import type { Value } from "../protocol/values.js";
import { type ExecContext, StatementState } from "../query/exec/context.js";
import { inTurns } from "../query/exec/operator.js";
import { backfillIndex, dropTableData, holdsMany, retireIndexData, retireTableData } from "../query/exec/table-data.js";
import { emptyRow, TableWriter } from "../query/exec/table-writer.js";
import type { BoundDdl } from "../sql/bind/bound-statement.js";
import { checkUnique } from "./constraint-checks.js";
import type { InternalStatements } from "./internal-statements.js";

export async function runDdl(
  bound: BoundDdl,
  catalog: Catalog,
  statements: InternalStatements,
  context: ExecContext,
  positionOf: PositionOf,
): Promise<DdlOutcome> {
  const rows = bound.rows ? (await statements.runPlan(bound.rows, context, bound.parameters)).rows : null;
  const done = applyDdl(catalog, context.tx, bound.command, context.statementMicros, positionOf);
  for (const rewrite of done.rewrites) {
    // A partitioned table has no rows of its own.
    if (rewrite.after.partitionKey !== undefined) continue;
    const { select } = rewrite;
    const next = select === null ? rows! : (await statements.run(select, [], context).rows).rows;
    await rewriteRows(rewrite, next, catalog, context);
  }
  for (const { table, index } of done.backfills) await backfillIndex(context, located(table, catalog, context), index);
  for (const table of done.cleared) await clear(table, catalog, context);
  for (const { table, index } of done.clearedIndexes) {
    await retireIndexData(context, table, index);
    const now = located(table, catalog, context);
    if (now !== table) await retireIndexData(context, now, index);
  }
  for (const { sql, error } of done.verify) {
    const found = await statements.run(sql, [], context).rows;
    const [row] = found.rows;
    if (row !== undefined) {
      throw error(row.map((value, i) => (value === null ? null : toText(found.columns[i]!.type, value))));
    }
  }
  return done;
}

/** The table as it was defined in between, stored where it is now. */
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

/** From now on the table is empty and keeps its rows under another storage id; what it had must be retired. */
function storeElsewhere({ id }: TableDef, catalog: Catalog, { tx }: ExecContext): void {
  catalog.change(tx, (editor) => {
    editor.replaceTable(Object.freeze({ ...editor.view.tableById(id)!, storageId: editor.nextId() }));
  });
}

/** All rows of the table, by its columns as they are now, in place of those that are stored. */
async function rewriteRows(
  rewrite: Rewrite,
  rows: readonly (readonly Value[])[],
  catalog: Catalog,
  context: ExecContext,
): Promise<void> {
  const before = located(rewrite.before, catalog, context);
  if (holdsMany(context, before)) {
    storeElsewhere(before, catalog, context);
    await retireTableData(context, before);
  } else await dropTableData(context, before);
  const after = located(rewrite.after, catalog, context);
  if (before.primaryKey !== null && after.primaryKey === null)
    context.rowNumbers.restart(context.tenantNumber, storageOf(after));
  // Rows keep what they refer to, so only keys are left to check.
  const own = { ...context, statement: new StatementState(context.statement.memoryBytesMax) };
  const writer = new TableWriter(after, own);
  const row = emptyRow(after);
  const ids = after.columns.map((column) => column.id);
  const write = (number: number): void => {
    for (let c = 0; c < ids.length; c++) row[ids[c]!] = rows[number]![c]!;
    writer.generate(row);
    writer.checkNotNull(row);
    writer.insert(row);
  };
  try {
    await inTurns(own, rows.length, write, () => undefined);
    for (const event of own.statement.constraintEvents ?? []) {
      if (event.kind !== "unique") continue;
      checkUnique(event, after, after.indexes.find(({ id }) => id === event.indexId)!, own);
    }
  } catch (error) {
    throw asDefinitionError(error, after);
  }
}

/** What is wrong with rows that are there is said of the table, not of a new row. */
function asDefinitionError(error: unknown, table: TableDef): unknown {
  if (!(error instanceof DbError)) return error;
  const { sqlstate, column, constraint, detail } = error.details ?? {};
  if (sqlstate === "23502") {
    return sqlError("23502", `column "${column}" of relation "${table.name}" contains null values`, {
      table: table.name,
      ...(column !== undefined && { column }),
    });
  }
  if (sqlstate !== "23505") return error;
  return sqlError("23505", `could not create unique index "${constraint}"`, {
    table: table.name,
    ...(constraint !== undefined && { constraint }),
    ...(typeof detail === "string" && { detail: detail.replace(/ already exists\.$/, " is duplicated.") }),
  });
}
