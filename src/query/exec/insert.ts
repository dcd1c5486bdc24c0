/**
 * INSERT, with ON CONFLICT and RETURNING. All input rows are read before the first is written, so INSERT … SELECT from
 * the same table does not meet its own rows.
 */

import type { TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import type { Value } from "../../protocol/values.js";
import { compileExpr, type Predicate } from "../expr/compile.js";
import type { Batch, Evaluate } from "../expr/expr.js";
import type { InsertPlan, OnConflict } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { drain, inTurns, type Open, type Operator } from "./operator.js";
import { type ChangedRows, compileReturning, ModifyOperator } from "./returning.js";
import { RowBuffer } from "./row-buffer.js";
import { compileChecks, failedCheck, type RowCheck } from "./row-checks.js";
import { compileCondition, slotsOf } from "./slots.js";
import { writingContext } from "./statement-snapshot.js";
import { assignedColumns, emptyRow, type Row, TableWriter } from "./table-writer.js";

interface InsertProgram {
  readonly plan: InsertPlan;
  /** Column ids in the order of the input's columns. */
  readonly columnIds: readonly number[];
  /** Places of generated columns among them. */
  readonly generated: readonly number[];
  readonly checks: readonly RowCheck[];
  readonly conflict: ConflictProgram | null;
}

interface ConflictProgram {
  readonly arbiter: OnConflict["index"];
  /** Null: DO NOTHING. */
  readonly update: {
    readonly assignments: readonly { readonly columnId: number; readonly evaluate: Evaluate }[];
    readonly assigned: ReadonlySet<number>;
    readonly where: Predicate | null;
  } | null;
}

export function compileInsert(plan: InsertPlan, input: Open): Open {
  const program: InsertProgram = {
    plan,
    columnIds: plan.table.columns.map((column) => column.id),
    generated: plan.table.columns.flatMap((column, i) => (column.generatedSql ? [i] : [])),
    checks: compileChecks(plan.checks, slotsOf(plan.rowColumns)),
    conflict: plan.onConflict && compileConflict(plan.onConflict, plan.table),
  };
  const returning = compileReturning(plan.returning, slotsOf(plan.returning?.rowColumns ?? []));
  return (context) => {
    const operator = input(context);
    const inserter = new Inserter(program, operator, context);
    return new ModifyOperator(
      () => inserter.run(),
      returning,
      operator,
      () => inserter.release(),
      context,
    );
  };
}

function compileConflict(conflict: OnConflict, table: TableDef): ConflictProgram {
  if (conflict.action === "nothing") return { arbiter: conflict.index, update: null };
  const slotOf = slotsOf([...conflict.existing, ...conflict.excluded]);
  return {
    arbiter: conflict.index,
    update: {
      assignments: conflict.assignments.map(({ columnId, expr }) => ({
        columnId,
        evaluate: compileExpr(expr, slotOf),
      })),
      assigned: assignedColumns(table, conflict.assignments),
      where: compileCondition(conflict.where, slotOf),
    },
  };
}

class Inserter {
  private readonly rows: RowBuffer;
  private readonly writer: TableWriter;
  private readonly row: Row;
  private readonly changed: number[] = [];
  /** Keys of rows that this statement wrote, as text; for ON CONFLICT DO UPDATE. */
  private readonly written = new Set<string>();

  constructor(
    private readonly program: InsertProgram,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    this.rows = new RowBuffer(program.plan.input.columns, context);
    this.writer = new TableWriter(program.plan.table, writingContext(context));
    this.row = emptyRow(program.plan.table);
  }

  run(): ChangedRows | Promise<ChangedRows> {
    const { rows, context } = this;
    return drain(
      this.input,
      (batch) => rows.append(batch),
      () => inTurns(context, rows.length, this.insertRow, () => ({ columns: rows.columns, rows: this.changed })),
    );
  }

  release(): void {
    this.rows.release();
  }

  private readonly insertRow = (number: number): void => {
    const { rows, row, writer, program } = this;
    const { columnIds, conflict } = program;
    for (let c = 0; c < columnIds.length; c++) row[columnIds[c]!] = rows.columns[c]![number]!;
    if (program.generated.length > 0) {
      writer.generate(row);
      for (const c of program.generated) rows.columns[c]![number] = row[columnIds[c]!]!;
    }
    this.check(row, rows, number);
    if (conflict !== null) {
      const key = writer.conflicting(row, conflict.arbiter);
      if (key !== null) {
        this.resolve(conflict, key, number);
        return;
      }
    }
    const key = writer.insert(row);
    if (conflict !== null && conflict.update !== null) this.written.add(keyText(key));
    this.changed.push(number);
  };

  private check(row: Row, batch: Batch, number: number): void {
    this.writer.checkNotNull(row);
    const failed = failedCheck(this.program.checks, batch, number, this.context);
    if (failed !== null) throw this.writer.checkViolation(row, failed);
  }

  /** DO NOTHING, or updates the stored row and shows it in place of the proposed one. */
  private resolve({ update }: ConflictProgram, key: Uint8Array, number: number): void {
    if (update === null) return;
    const { writer, rows, context, program } = this;
    if (this.written.has(keyText(key))) {
      throw sqlError("21000", "ON CONFLICT DO UPDATE command cannot affect row a second time", {
        hint: "Ensure that no rows proposed for insertion within the same command have duplicate constrained values.",
      });
    }
    const existing = writer.read(key);
    const { columnIds } = program;
    const pair: Batch = {
      columns: [...columnIds.map((id) => [existing[id]!]), ...rows.columns.map((values) => [values[number]!])],
      length: 1,
    };
    if (update.where !== null && !update.where(pair, 0, context)) return;
    const row = existing.slice();
    for (const { columnId, evaluate } of update.assignments) row[columnId] = evaluate(pair, 0, context);
    writer.generate(row);
    const shown: Value[][] = columnIds.map((id) => [row[id]!]);
    this.check(row, { columns: shown, length: 1 }, 0);
    const move = writer.takeOut(key, existing, row, update.assigned);
    writer.putBack(move, row, update.assigned);
    this.written.add(keyText(move.newKey));
    for (let c = 0; c < columnIds.length; c++) rows.columns[c]![number] = row[columnIds[c]!]!;
    this.changed.push(number);
  }
}

function keyText(key: Uint8Array): string {
  return Buffer.from(key).toString("latin1");
}
