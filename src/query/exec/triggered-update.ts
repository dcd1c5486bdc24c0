/** UPDATE of tables with triggers: as update.ts, with each row's change made by TriggeredRows. Called by update.ts. */

import type { Value } from "../../values/values.js";
import { compileExpr } from "../expr/compile.js";
import type { Evaluate } from "../expr/expr.js";
import { oidOfId } from "../expr/types.js";
import type { UpdatePlan } from "../plan/change-plans.js";
import { RowsChangedOnce } from "./changed-once.js";
import type { ExecContext } from "./context.js";
import { after, drain, inOrder, type Open, type Operator } from "./operator.js";
import { compileRoutes } from "./partition-router.js";
import { type ChangedRows, compileReturning, modifying } from "./returning.js";
import { emptyColumns, RowBuffer } from "./row-buffer.js";
import { slotsOf } from "./slots.js";
import { compileTriggered, type StoredRow, type TriggeredProgram, TriggeredRows } from "./triggered-rows.js";

interface TriggeredUpdateProgram {
  readonly plan: UpdatePlan;
  readonly rowKeySlot: number;
  readonly assignments: readonly { readonly place: number; readonly evaluate: Evaluate }[];
  /** Where the input has the OID of the row's table; −1: nowhere. */
  readonly tableOidSlot: number;
  readonly rows: TriggeredProgram;
}

export function compileTriggeredUpdate(plan: UpdatePlan, input: Open): Open {
  const slotOf = slotsOf(plan.input.columns);
  const rowSlotOf = slotsOf(plan.rowColumns);
  const routes = compileRoutes(plan.partitions, plan.membership, rowSlotOf);
  const program: TriggeredUpdateProgram = {
    plan,
    rowKeySlot: slotOf(plan.rowKey),
    assignments: plan.assignments.map(({ columnId, expr }) => ({
      place: plan.table.columns.findIndex(({ id }) => id === columnId),
      evaluate: compileExpr(expr, slotOf),
    })),
    tableOidSlot: plan.tableOid === undefined ? -1 : slotOf(plan.tableOid),
    rows: compileTriggered(plan, ["update"], plan.assignments, plan, routes),
  };
  const shown = slotsOf([...(plan.returning?.rowColumns ?? []), ...plan.input.columns]);
  const returning = compileReturning(plan.returning, shown);
  return modifying(input, returning, (operator, context) => new TriggeredUpdater(program, operator, context));
}

class TriggeredUpdater {
  private readonly input: RowBuffer;
  private readonly rows: TriggeredRows;
  /** New values by column of the named table, parallel to the input's rows. */
  private readonly newColumns: Value[][];
  private readonly changed: number[] = [];
  /** The rows of `changed`; null: nobody asks where they are. */
  private readonly stored: StoredRow[] | null;
  private readonly once: RowsChangedOnce;
  private records: readonly (Uint8Array | undefined)[] | null = null;

  constructor(
    private readonly program: TriggeredUpdateProgram,
    private readonly source: Operator,
    private readonly context: ExecContext,
  ) {
    const { plan } = program;
    this.stored = plan.returning === null ? null : [];
    this.input = new RowBuffer(plan.input.columns, context);
    this.rows = new TriggeredRows(program.rows, context);
    this.once = new RowsChangedOnce(plan.input, context);
    this.newColumns = emptyColumns(plan.table.columns.length);
  }

  run(): ChangedRows | Promise<ChangedRows> {
    const { input, rows, context, program, changed } = this;
    const result: ChangedRows = { columns: [...this.newColumns, ...input.columns], rows: changed };
    return rows.around(() =>
      drain(
        this.source,
        (batch) => input.append(batch),
        () => {
          this.records = rows.recordsOf(input.columns[program.rowKeySlot]!);
          return inOrder(context, input.length, this.update, () => rows.flush(() => this.withNewKeys(result)));
        },
      ),
    );
  }

  release(): void {
    this.input.release();
  }

  /** For RETURNING: where the rows are now. */
  private withNewKeys(result: ChangedRows): ChangedRows {
    const keys = this.input.columns[this.program.rowKeySlot] as Value[];
    this.stored?.forEach(({ newKey }, i) => {
      keys[this.changed[i]!] = newKey;
    });
    return result;
  }

  private readonly update = (number: number): void | Promise<void> => {
    const { program, input, newColumns, context } = this;
    for (const column of newColumns) column[number] = null;
    const key = input.columns[program.rowKeySlot]![number] as Uint8Array | null;
    if (key === null || !this.once.takes(key)) return;
    const record = this.records === null ? null : this.records[number];
    const stored = this.rows.update(key, record, (row, columnIds) => {
      for (const { place, evaluate } of program.assignments) row[columnIds[place]!] = evaluate(input, number, context);
    });
    return after(stored, (changed) => {
      if (changed === null) return;
      const { columnIds, table } = changed.member.program;
      for (let c = 0; c < newColumns.length; c++) newColumns[c]![number] = changed.row[columnIds[c]!]!;
      if (program.tableOidSlot >= 0) (input.columns[program.tableOidSlot] as Value[])[number] = oidOfId(table.id);
      this.changed.push(number);
      this.stored?.push(changed);
    });
  };
}
