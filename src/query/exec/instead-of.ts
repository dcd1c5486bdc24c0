/**
 * INSERT, UPDATE and DELETE on a view whose INSTEAD OF triggers do the work, row by row. Called by insert.ts, update.ts
 * and delete.ts for plans that say so.
 */
import { sqlError } from "../../protocol/errors.js";
import type { Value } from "../../values/values.js";
import { compileExpr } from "../expr/compile.js";
import type { Evaluate } from "../expr/expr.js";
import type { BoundCheck, DeletePlan, InsertPlan, UpdatePlan } from "../plan/change-plans.js";
import type { ExecContext } from "./context.js";
import { after, drain, inOrder, type Open, type Operator } from "./operator.js";
import { type ChangedRows, modifying, type ReturningProgram } from "./returning.js";
import { emptyColumns, RowBuffer } from "./row-buffer.js";
import { compileChecks, failedCheck, type RowCheck } from "./row-checks.js";
import { slotsOf } from "./slots.js";
import {
  fireBefore,
  noteAfter,
  type RowTriggers,
  rowTriggers,
  StatementFiring,
  type StatementTriggers,
  statementTriggers,
} from "./table-triggers.js";
import { emptyRow, type Row } from "./table-writer.js";

type ChangePlan = InsertPlan | UpdatePlan | DeletePlan;

interface InsteadProgram {
  readonly plan: ChangePlan;
  readonly triggers: RowTriggers | null;
  readonly statement: StatementTriggers | null;
  /** Per column of the view, where the input has its old value; null: there is no old row. */
  readonly oldSlots: readonly number[] | null;
  /** Per column of the view its new value; null: the row goes. */
  readonly newValues: readonly Evaluate[] | null;
  /** WITH CHECK OPTION of views above the one with the triggers, over the new row as these leave it. */
  readonly checks: readonly RowCheck[];
}

/** `returning` reads the new rows' columns, if there are any, then the input's. */
export function compileInsteadOf(plan: ChangePlan, returning: ReturningProgram | null, input: Open): Open {
  const { table, kind } = plan;
  const slotOf = slotsOf(plan.input.columns);
  const oldSlots = kind === "insert" ? null : plan.oldColumns.map(({ id }) => slotOf(id));
  const newValues = table.columns.map(({ id }, i): Evaluate => {
    const slot = oldSlots === null ? i : oldSlots[i]!;
    const assignment = kind === "update" ? plan.assignments.find(({ columnId }) => columnId === id) : undefined;
    return assignment === undefined ? (batch, row) => batch.columns[slot]![row]! : compileExpr(assignment.expr, slotOf);
  });
  const program: InsteadProgram = {
    plan,
    triggers: rowTriggers(table, kind),
    statement: statementTriggers(table, [kind]),
    oldSlots,
    newValues: kind === "delete" ? null : newValues,
    checks: kind === "delete" ? [] : compileChecks(ofViews(plan.checks), slotsOf(plan.rowColumns)),
  };
  return modifying(input, returning, (operator, context) => new InsteadChanger(program, operator, context));
}

/** The others are the table's whose rules do the work: it gets no row. */
const ofViews = (checks: readonly BoundCheck[]): readonly BoundCheck[] => checks.filter(({ view }) => view === true);

class InsteadChanger {
  private readonly input: RowBuffer;
  private readonly firing: StatementFiring;
  /** New values by column of the view, parallel to the input's rows. */
  private readonly newColumns: Value[][];
  private readonly changed: number[] = [];

  constructor(
    private readonly program: InsteadProgram,
    private readonly source: Operator,
    private readonly context: ExecContext,
  ) {
    this.input = new RowBuffer(program.plan.input.columns, context);
    this.firing = new StatementFiring(program.statement, context);
    this.newColumns = program.newValues === null ? [] : emptyColumns(program.newValues.length);
  }

  run(): ChangedRows | Promise<ChangedRows> {
    const { input, newColumns, firing, program } = this;
    const columns = program.plan.kind === "insert" ? newColumns : [...newColumns, ...input.columns];
    return firing.begin(() =>
      drain(
        this.source,
        (batch) => input.append(batch),
        () =>
          inOrder(this.context, input.length, this.change, (): ChangedRows => {
            firing.end();
            return { columns, rows: this.changed };
          }),
      ),
    );
  }

  release(): void {
    this.input.release();
  }

  private readonly change = (number: number): void | Promise<void> => {
    const { program, input, newColumns, context } = this;
    const { triggers, plan } = program;
    for (const column of newColumns) column[number] = null;
    // A rule that names no row has run by now.
    if (triggers === null) return;
    const { columns } = plan.table;
    const byId = (value: (place: number) => Value): Row => {
      const row = emptyRow(plan.table);
      columns.forEach(({ id }, place) => {
        row[id] = value(place);
      });
      return row;
    };
    const { oldSlots, newValues } = program;
    const old = oldSlots && byId((place) => input.columns[oldSlots[place]!]![number]!);
    const next = newValues && byId((place) => newValues[place]!(input, number, context));
    return after(fireBefore(triggers, old, next, context), (row) => {
      if (row === null) return;
      for (let c = 0; c < newColumns.length; c++) newColumns[c]![number] = row[columns[c]!.id]!;
      const failed = failedCheck(program.checks, { columns: newColumns, length: number + 1 }, number, context);
      if (failed !== null) throw sqlError("44000", `new row violates check option for view "${failed.name}"`);
      this.changed.push(number);
      noteAfter(triggers, old, next && row, context, null);
    });
  };
}
