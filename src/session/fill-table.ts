/**
 * Fills the tables of definition statements: with the rows of a query (CREATE TABLE AS, REFRESH), or with rewritten
 * rows (ALTER TABLE). Many rows go through a load. Called by run-ddl.ts.
 */
import type { TableDef } from "../catalog/table.js";
import { DbError, sqlError } from "../protocol/errors.js";
import { BULK_ROWS, BulkWriter, requiresSingleRows } from "../query/exec/bulk-writer.js";
import { type ExecContext, StatementState } from "../query/exec/context.js";
import { inTurns } from "../query/exec/operator.js";
import { emptyRow, TableWriter } from "../query/exec/table-writer.js";
import { someExpr } from "../query/expr/walk.js";
import type { InsertPlan } from "../query/plan/change-plans.js";
import type { Plan } from "../query/plan/plan.js";
import { exprsOfPlan } from "../query/plan/walk.js";
import type { BoundDdl } from "../sql/bind/bound-statement.js";
import type { Value } from "../values/values.js";
import { checkUnique } from "./constraint-checks.js";
import type { InternalStatements } from "./internal-statements.js";

/** Whether the rows come from a query that cannot read the table itself, so that they may go into it as they come. */
export function isFilledByQuery({ command, rows }: BoundDdl): boolean {
  const fills = (command.kind === "create table" && command.filled === true) || command.kind === "refresh";
  return fills && rows !== undefined && rows !== null;
}

/**
 * Whether a query over a table's own rows gives the same ones when the table has its new definition: it calls nothing
 * that could look at the table.
 */
export function seesItsRowsOnly(rows: Plan | null | undefined): boolean {
  if (rows?.kind !== "project" || rows.input.kind !== "scan") return false;
  return !exprsOfPlan(rows).some((expr) =>
    someExpr(
      expr,
      (node) =>
        node.kind === "subquery" ||
        (node.kind === "call" && (node.fn.routine !== undefined || node.fn.volatility !== "immutable")),
    ),
  );
}

/** WITH NO DATA: the binder has put no rows in the query's place. */
export function isWithoutData({ rows }: BoundDdl): boolean {
  return rows?.kind === "values" && rows.rows.length === 0;
}

/** The rows of the statement's query, by the table's columns, into the empty table. Answers how many. */
export async function fillTable(
  table: TableDef,
  { rows, parameters }: BoundDdl,
  statements: InternalStatements,
  context: ExecContext,
): Promise<number> {
  const rowColumns = rows!.columns.map((column, i) => ({ ...column, name: table.columns[i]!.name }));
  const insert: InsertPlan = {
    kind: "insert",
    table,
    input: rows!,
    rowColumns,
    checks: [],
    returning: null,
    onConflict: null,
    columns: [],
  };
  try {
    return (await statements.runPlan(insert, context, parameters)).rowsAffected;
  } catch (error) {
    throw asDefinitionError(error, table);
  }
}

/** All rows of the table, by its columns, into the empty table. */
export async function writeRows(
  table: TableDef,
  rows: readonly (readonly Value[])[],
  context: ExecContext,
): Promise<void> {
  const own = { ...context, statement: new StatementState(context.statement.memoryBytesMax) };
  // Rows keep what they refer to, so only keys are left to check; and nothing is inserted that triggers should see.
  const { foreignKeys: _, triggers: __, ...plain } = table;
  const writer = new TableWriter(table, own);
  const row = emptyRow(table);
  const ids = table.columns.map((column) => column.id);
  const isLoaded = rows.length >= BULK_ROWS && requiresSingleRows(plain, () => null) === null;
  const load = isLoaded ? own.tx.beginLoad() : null;
  const bulk = load === null ? null : new BulkWriter(plain, own, load, () => null);
  const write = (number: number): void => {
    for (let c = 0; c < ids.length; c++) row[ids[c]!] = rows[number]![c]!;
    writer.generate(row);
    writer.checkNotNull(row);
    if (bulk === null) writer.insert(row);
    else bulk.addRow(row);
  };
  try {
    await inTurns(own, rows.length, write, () => bulk?.finish());
    for (const event of own.statement.constraintEvents ?? []) {
      if (event.kind !== "unique") continue;
      await checkUnique(event, table, table.indexes.find(({ id }) => id === event.indexId)!, own);
    }
  } catch (error) {
    throw asDefinitionError(error, table);
  }
}

/** Errors in existing rows are reported about the table, not about a new row. */
function asDefinitionError(error: unknown, table: TableDef): unknown {
  if (!(error instanceof DbError)) return error;
  const { sqlstate, column, constraint, detail } = error.details ?? {};
  if (sqlstate === "23502") {
    return sqlError("23502", `column "${column}" of relation "${table.name}" contains null values`, {
      schema: table.schema,
      table: table.name,
      ...(column !== undefined && { column }),
    });
  }
  if (sqlstate !== "23505") return error;
  return sqlError("23505", `could not create unique index "${constraint}"`, {
    schema: table.schema,
    table: table.name,
    ...(constraint !== undefined && { constraint }),
    ...(typeof detail === "string" && { detail: detail.replace(/ already exists\.$/, " is duplicated.") }),
  });
}
