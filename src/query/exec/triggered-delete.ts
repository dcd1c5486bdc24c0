/** DELETE from tables with triggers: as delete.ts, with each row removed by TriggeredRows. Called by delete.ts. */
import type { DeletePlan } from "../plan/change-plans.js";
import { RowsChangedOnce } from "./changed-once.js";
import type { ExecContext } from "./context.js";
import { after, drain, inOrder, type Open, type Operator } from "./operator.js";
import { compileRoutes } from "./partition-router.js";
import { type ChangedRows, modifying, type ReturningProgram } from "./returning.js";
import { RowBuffer } from "./row-buffer.js";
import { NO_SLOTS, slotsOf } from "./slots.js";
import { compileTriggered, type TriggeredProgram, TriggeredRows } from "./triggered-rows.js";

export function compileTriggeredDelete(plan: DeletePlan, returning: ReturningProgram | null, input: Open): Open {
  const routes = compileRoutes(undefined, undefined, NO_SLOTS);
  const program = compileTriggered(plan, ["delete"], [], { rowColumns: plan.oldColumns, checks: [] }, routes);
  const rowKeySlot = slotsOf(plan.input.columns)(plan.rowKey);
  return modifying(
    input,
    returning,
    (operator, context) => new TriggeredDeleter(plan, program, rowKeySlot, operator, context),
  );
}

class TriggeredDeleter {
  private readonly input: RowBuffer;
  private readonly rows: TriggeredRows;
  private readonly changed: number[] = [];
  private readonly once: RowsChangedOnce;
  private records: readonly (Uint8Array | undefined)[] | null = null;

  constructor(
    plan: DeletePlan,
    program: TriggeredProgram,
    private readonly rowKeySlot: number,
    private readonly source: Operator,
    private readonly context: ExecContext,
  ) {
    this.input = new RowBuffer(plan.input.columns, context);
    this.rows = new TriggeredRows(program, context);
    this.once = new RowsChangedOnce(plan.input, context);
  }

  run(): ChangedRows | Promise<ChangedRows> {
    const { input, rows, context, rowKeySlot } = this;
    return rows.around(() =>
      drain(
        this.source,
        (batch) => input.append(batch),
        () => {
          this.records = rows.recordsOf(input.columns[rowKeySlot]!);
          const result: ChangedRows = { columns: input.columns, rows: this.changed };
          return inOrder(context, input.length, this.remove, () => result);
        },
      ),
    );
  }

  release(): void {
    this.input.release();
  }

  private readonly remove = (number: number): void | Promise<void> => {
    const { input } = this;
    const key = input.columns[this.rowKeySlot]![number] as Uint8Array | null;
    if (key === null || !this.once.takes(key)) return;
    const record = this.records === null ? null : this.records[number];
    return after(this.rows.remove(key, record), (goes) => {
      if (goes) this.changed.push(number);
    });
  };
}
