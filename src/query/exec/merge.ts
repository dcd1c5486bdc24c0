/**
 * MERGE. The joined rows are read to their end, and the action of each is chosen and its new row computed and checked,
 * before anything is written. Then stale keys of all changed rows go before new ones come, as in UPDATE.
 */

import { DbError, sqlError } from "../../protocol/errors.js";
import type { Value } from "../../values/values.js";
import { compileExpr } from "../expr/compile.js";
import type { MergePlan } from "../plan/change-plans.js";
import type { Move } from "./changed-entries.js";
import { checkRow } from "./check-row.js";
import type { ExecContext } from "./context.js";
import { assignedIn, compileFamily, Family, type FamilyMember } from "./family.js";
import type { Action, MergeProgram } from "./merge-program.js";
import { drain, inTurns, type Open, type Operator } from "./operator.js";
import { belongs, compileRoutes, routeRow } from "./partition-router.js";
import { type ChangedRows, compileReturning, modifying } from "./returning.js";
import { emptyColumns, RowBuffer } from "./row-buffer.js";
import { compileChecks, requirePolicies } from "./row-checks.js";
import { compileCondition, slotsOf } from "./slots.js";
import { isChangedMeanwhile, writingContext } from "./statement-snapshot.js";
import { assignedColumns, emptyRow, type Row, TableWriter } from "./table-writer.js";
import { compileTriggeredMerge } from "./triggered-merge.js";
import { isTriggered } from "./triggered-rows.js";

export function compileMerge(plan: MergePlan, input: Open): Open {
  const slotOf = slotsOf(plan.input.columns);
  const columnIds = plan.table.columns.map((column) => column.id);
  const program: MergeProgram = {
    plan,
    columnIds,
    oldSlots: plan.oldColumns.map((column) => slotOf(column.id)),
    rowKeySlot: slotOf(plan.rowKey),
    inSourceSlot: slotOf(plan.inSource),
    actions: plan.actions.map(({ match, action, condition, assignments, policies }) => ({
      match,
      kind: action,
      condition: compileCondition(condition, slotOf),
      newValues: columnIds.map((id) => {
        const assignment = assignments.find(({ columnId }) => columnId === id);
        return assignment === undefined ? null : compileExpr(assignment.expr, slotOf);
      }),
      assigned: assignedColumns(plan.table, assignments),
      policies:
        policies === undefined
          ? null
          : {
              using: compileChecks(policies.using, slotOf),
              checks: compileChecks(policies.checks, slotsOf(plan.rowColumns)),
            },
    })),
    checks: compileChecks(plan.checks, slotsOf(plan.rowColumns)),
    family: plan.heirs === undefined ? null : compileFamily(plan.heirs),
    routes: compileRoutes(plan.partitions, plan.membership, slotsOf(plan.rowColumns)),
  };
  const { rowColumns = [], action } = plan.returning ?? {};
  const shown = slotsOf([...rowColumns, ...plan.input.columns, ...(action === undefined ? [] : [action])]);
  const returning = compileReturning(plan.returning, shown);
  if (isTriggered(plan)) return compileTriggeredMerge(program, returning, input);
  return modifying(input, returning, (operator, context) => new Merger(program, operator, context));
}

const NO_COLUMNS: ReadonlySet<number> = new Set();

/** The action for one joined row. */
interface Change {
  readonly number: number;
  readonly action: Action;
  /** Of the row that is there. */
  readonly key: Uint8Array | null;
  /** Of a row of a table with heirs: the row as its own table has it. */
  readonly inFamily: FamilyChange | null;
  move: Move | null;
}

interface FamilyChange {
  readonly member: FamilyMember;
  readonly before: Row;
  readonly after: Row;
  readonly assigned: ReadonlySet<number>;
  /** The partition that the row moves to, and the row there; null: it stays. */
  readonly moved: { readonly member: FamilyMember; readonly row: Row } | null;
}

class Merger {
  private readonly rows: RowBuffer;
  private readonly writer: TableWriter;
  private readonly family: Family | null;
  /** New rows (of DELETE the old ones) by live column, parallel to the input's rows. */
  private readonly shown: Value[][];
  /** What is done with each row, parallel to `shown`. */
  private readonly actions: Value[] = [];
  private readonly changes: Change[] = [];
  private readonly changed: number[] = [];
  private readonly seen = new Set<string>();
  /** What a row was refused with. The rows before it go first, because they may be refused when they are written. */
  private refused: DbError | null = null;
  private readonly oldRow: Row;
  private readonly newRow: Row;

  constructor(
    private readonly program: MergeProgram,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    const { plan } = program;
    this.rows = new RowBuffer(plan.input.columns, context);
    this.writer = new TableWriter(plan.table, writingContext(context));
    this.family = program.family === null ? null : new Family(program.family, context);
    this.shown = emptyColumns(program.columnIds.length);
    this.oldRow = emptyRow(plan.table);
    this.newRow = emptyRow(plan.table);
  }

  run(): ChangedRows | Promise<ChangedRows> {
    const { rows, context, changes } = this;
    const columns = [...this.shown, ...rows.columns, this.actions];
    const result: ChangedRows = { columns, rows: this.changed };
    return drain(
      this.input,
      (batch) => rows.append(batch),
      () =>
        inTurns(context, rows.length, this.decideInOrder, () =>
          inTurns(context, changes.length, this.takeOut, () =>
            inTurns(context, changes.length, this.putIn, () => {
              if (this.refused !== null) throw this.refused;
              return result;
            }),
          ),
        ),
    );
  }

  release(): void {
    this.rows.release();
  }

  private readonly decideInOrder = (number: number): void => {
    if (this.refused !== null) return;
    try {
      this.decide(number);
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
      this.refused = error;
    }
  };

  private decide(number: number): void {
    const { program, rows, context } = this;
    const key = rows.columns[program.rowKeySlot]![number] as Uint8Array | null;
    const inSource = rows.columns[program.inSourceSlot]![number] === true;
    const match = key === null ? "not matched by target" : inSource ? "matched" : "not matched by source";
    const action = program.actions.find(
      (other) => other.match === match && (other.condition === null || other.condition(rows, number, context)),
    );
    // The value of a row that nothing happens to is never asked for, but the columns are parallel to the input's.
    for (const column of this.shown) column[number] = null;
    if (action === undefined || action.kind === "nothing") return;
    if (key !== null) {
      const text = Buffer.from(key).toString("latin1");
      if (this.seen.has(text)) {
        throw sqlError("21000", "MERGE command cannot affect row a second time", {
          hint: "Ensure that not more than one source row matches any one target row.",
        });
      }
      this.seen.add(text);
      if (isChangedMeanwhile(context, key)) return;
      requirePolicies(action.policies?.using, rows, number, context);
    }
    const inFamily = key === null || this.family === null ? null : this.computeIn(this.family, action, key, number);
    const inserted = inFamily === null ? this.compute(action, number) : null;
    this.changes.push({ number, action, key, inFamily: inFamily ?? inserted, move: null });
    this.changed.push(number);
    this.actions[number] = action.kind.toUpperCase();
  }

  /** Fills in the new row and checks it; of DELETE the old row. Answers what a partition gets instead of the table. */
  private compute(action: Action, number: number): FamilyChange | null {
    const { program, rows, shown, newRow, writer, context } = this;
    const { columnIds, oldSlots } = program;
    for (let c = 0; c < columnIds.length; c++) {
      const evaluate = action.newValues[c]!;
      newRow[columnIds[c]!] =
        evaluate === null ? rows.columns[oldSlots[c]!]![number]! : evaluate(rows, number, context);
    }
    const isBranch = program.routes.root !== null;
    if (action.kind !== "delete" && !isBranch) writer.generate(newRow);
    for (let c = 0; c < columnIds.length; c++) shown[c]![number] = newRow[columnIds[c]!]!;
    if (action.kind === "delete") return null;
    if (isBranch) return this.insertedInto(this.partitionOf(number), action, number);
    const batch = { columns: shown, length: number + 1 };
    if (!belongs(program.routes, batch, number, context)) throw writer.partitionViolation(newRow);
    requirePolicies(action.policies?.checks, batch, number, context);
    checkRow(writer, newRow, program.checks, batch, number, context);
    return null;
  }

  /** The partition of the row that is shown. Throws 23514. */
  private partitionOf(number: number): FamilyMember {
    const { program, shown, context } = this;
    const batch = { columns: shown, length: number + 1 };
    if (!belongs(program.routes, batch, number, context)) throw this.writer.partitionViolation(this.rowOf(number));
    // Throws where there is no partition at all, and then no family either.
    const { table } = routeRow(program.routes.root!, batch, number, context);
    return this.family!.member(table.id);
  }

  private insertedInto(member: FamilyMember, action: Action, number: number): FamilyChange {
    const { shown } = this;
    const row = emptyRow(member.program.table);
    const { columnIds } = member.program;
    for (let c = 0; c < shown.length; c++) row[columnIds[c]!] = shown[c]![number]!;
    this.finish(member, row, action, number);
    return { member, before: row, after: row, assigned: NO_COLUMNS, moved: null };
  }

  /** Shows the new row of a table of the family with its generated columns, and checks it. */
  private finish(member: FamilyMember, row: Row, { policies }: Action, number: number): void {
    const { shown, context } = this;
    const { columnIds } = member.program;
    member.writer.generate(row);
    for (let c = 0; c < shown.length; c++) shown[c]![number] = row[columnIds[c]!]!;
    requirePolicies(policies?.checks, { columns: shown, length: number + 1 }, number, context);
    member.check(row);
  }

  /** As `compute`, for a row that is there and may be another table's. */
  private computeIn(family: Family, action: Action, key: Uint8Array, number: number): FamilyChange {
    const { rows, shown, context } = this;
    const member = family.of(key);
    const { columnIds } = member.program;
    const before = member.writer.read(key);
    const after = before.slice();
    const places: number[] = [];
    for (const [c, evaluate] of action.newValues.entries()) {
      if (evaluate === null) continue;
      places.push(c);
      after[columnIds[c]!] = evaluate(rows, number, context);
    }
    for (let c = 0; c < shown.length; c++) shown[c]![number] = after[columnIds[c]!]!;
    const assigned = assignedIn(member.program, places);
    if (action.kind === "delete") return { member, before, after, assigned, moved: null };
    if (this.program.routes.root !== null) {
      const next = this.partitionOf(number);
      if (next !== member) {
        const { after: row } = this.insertedInto(next, action, number);
        return { member, before, after, assigned, moved: { member: next, row } };
      }
    }
    this.finish(member, after, action, number);
    return { member, before, after, assigned, moved: null };
  }

  private readonly takeOut = (i: number): void => {
    const change = this.changes[i]!;
    const { action, key, number, inFamily } = change;
    if (key === null) return;
    if (inFamily !== null) {
      const { member, before, after, assigned, moved } = inFamily;
      if (action.kind === "delete") member.writer.remove(key, before);
      else if (moved !== null) member.writer.remove(key, before, after);
      else change.move = member.writer.takeOut(key, before, after, assigned);
      return;
    }
    const { oldRow, rows, program } = this;
    const { columnIds, oldSlots } = program;
    for (let c = 0; c < columnIds.length; c++) oldRow[columnIds[c]!] = rows.columns[oldSlots[c]!]![number]!;
    if (action.kind === "delete") this.writer.remove(key, oldRow);
    else change.move = this.writer.takeOut(key, oldRow, this.rowOf(number), action.assigned);
  };

  private readonly putIn = (i: number): void => {
    const { action, move, number, inFamily } = this.changes[i]!;
    if (inFamily !== null) {
      const { member, after, assigned, moved } = inFamily;
      if (move !== null) member.writer.putBack(move, after, assigned);
      else if (moved !== null) moved.member.writer.insert(moved.row);
      else if (action.kind === "insert") member.writer.insert(after);
    } else if (action.kind === "insert") this.writer.insert(this.rowOf(number));
    else if (move !== null) this.writer.putBack(move, this.rowOf(number), action.assigned);
  };

  private rowOf(number: number): Row {
    const { newRow, shown } = this;
    const { columnIds } = this.program;
    for (let c = 0; c < columnIds.length; c++) newRow[columnIds[c]!] = shown[c]![number]!;
    return newRow;
  }
}
