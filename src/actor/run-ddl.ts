/**
 * Runs one bound definition command: changes the definitions, then does the work on rows that the change leaves, all
 * in the statement's transaction. Called by the session.
 */
import type { Catalog } from "../catalog/catalog.js";
import { applyDdl } from "../catalog/ddl.js";
import type { PositionOf } from "../catalog/ddl-namespace.js";
import type { DdlOutcome, Rewrite } from "../catalog/ddl-outcome.js";
import type { TableDef } from "../catalog/table.js";
import { DbError, sqlError } from "../protocol/errors.js";
import { toText } from "../protocol/text-format.js";
import type { Value } from "../protocol/values.js";
import { type ExecContext, StatementState } from "../query/exec/context.js";
import { inTurns } from "../query/exec/operator.js";
import { backfillIndex, dropIndexData, dropTableData } from "../query/exec/table-data.js";
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
    await rewriteRows(rewrite, next, context);
  }
  for (const { table, index } of done.backfills) await backfillIndex(context, table, index);
  for (const table of done.cleared) await dropTableData(context, table);
  for (const { table, index } of done.clearedIndexes) await dropIndexData(context, table, index);
  for (const { sql, error } of done.verify) {
    const found = await statements.run(sql, [], context).rows;
    const [row] = found.rows;
    if (row !== undefined) {
      throw error(row.map((value, i) => (value === null ? null : toText(found.columns[i]!.type, value))));
    }
  }
  return done;
}

/** All rows of the table, by its columns as they are now, in place of those that are stored. */
async function rewriteRows(
  { before, after }: Rewrite,
  rows: readonly (readonly Value[])[],
  context: ExecContext,
): Promise<void> {
  await dropTableData(context, before);
  if (before.primaryKey !== null && after.primaryKey === null)
    context.rowNumbers.restart(context.tenantNumber, after.id);
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
