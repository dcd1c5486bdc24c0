/**
 * UPDATE of a table and those that inherit from it: as update.ts, with each row read and written as its own table has
 * it. Called by update.ts.
 */
import type { Value } from "../../protocol/values.js";
import { compileExpr } from "../expr/compile.js";
import type { Evaluate } from "../expr/expr.js";
import type { HeirTable, UpdatePlan } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { assignedIn, compileFamily, Family, type FamilyMember, type FamilyProgram } from "./family.js";
import { drain, inTurns, type Open, type Operator } from "./operator.js";
import { type ChangedRows, compileReturning, ModifyOperator } from "./returning.js";
import { emptyColumns, RowBuffer } from "./row-buffer.js";
import { slotsOf } from "./slots.js";
import { isChangedMeanwhile } from "./statement-snapshot.js";
import type { Move, Row } from "./table-writer.js";
import { sumOfBytes } from "./value-bytes.js";

interface Assignment {
  /** Of the column among those of the named table. */
  readonly place: number;
  readonly evaluate: Evaluate;
}

interface FamilyUpdateProgram {
  readonly plan: UpdatePlan;
  readonly rowKeySlot: number;
  readonly assignments: readonly Assignment[];
  readonly family: FamilyProgram;
  /** Per table, ids of the columns that may change. */
  readonly assigned: ReadonlyMap<number, ReadonlySet<number>>;
}

export function compileFamilyUpdate(plan: UpdatePlan, heirs: readonly HeirTable[], input: Open): Open {
  const slotOf = slotsOf(plan.input.columns);
  const family = compileFamily(heirs);
  const assignments = plan.assignments.map(({ columnId, expr }): Assignment => {
    const place = plan.table.columns.findIndex((column) => column.id === columnId);
    return { place, evaluate: compileExpr(expr, slotOf) };
  });
  const places = assignments.map(({ place }) => place);
  const program: FamilyUpdateProgram = {
    plan,
    rowKeySlot: slotOf(plan.rowKey),
    assignments,
    family,
    assigned: new Map(Array.from(family, ([id, heir]) => [id, assignedIn(heir, places)])),
  };
  const shown = slotsOf([...(plan.returning?.rowColumns ?? []), ...plan.input.columns]);
  const returning = compileReturning(plan.returning, shown);
  return (context) => {
    const operator = input(context);
    const updater = new FamilyUpdater(program, operator, context);
    return new ModifyOperator(
      () => updater.run(),
      returning,
      operator,
      () => updater.release(),
      context,
    );
  };
}

/** A row on its way, as its own table has it. */
interface Change {
  readonly member: FamilyMember;
  readonly key: Uint8Array;
  readonly before: Row;
  readonly after: Row;
  move: Move | null;
}

class FamilyUpdater {
  private readonly rows: RowBuffer;
  private readonly family: Family;
  /** New values by column of the named table, parallel to the input's rows. */
  private readonly newColumns: Value[][];
  private readonly changed: number[] = [];
  private readonly changes: Change[] = [];
  private readonly seen = new Set<string>();
  private bytes = 0;

  constructor(
    private readonly program: FamilyUpdateProgram,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    const { plan } = program;
    this.rows = new RowBuffer(plan.input.columns, context);
    this.family = new Family(program.family, context);
    this.newColumns = emptyColumns(plan.table.columns.length);
  }

  run(): ChangedRows | Promise<ChangedRows> {
    const { rows, context, changes } = this;
    const result: ChangedRows = { columns: [...this.newColumns, ...rows.columns], rows: this.changed };
    return drain(
      this.input,
      (batch) => rows.append(batch),
      () =>
        inTurns(context, rows.length, this.evaluate, () =>
          inTurns(context, changes.length, this.takeOut, () =>
            inTurns(context, changes.length, this.putBack, () => result),
          ),
        ),
    );
  }

  release(): void {
    this.rows.release();
    this.context.statement.release(this.bytes);
    this.bytes = 0;
  }

  private readonly evaluate = (number: number): void => {
    const { program, rows, newColumns, context } = this;
    for (const column of newColumns) column[number] = null;
    const key = rows.columns[program.rowKeySlot]![number] as Uint8Array | null;
    if (key === null) return;
    const text = Buffer.from(key).toString("latin1");
    if (this.seen.has(text) || isChangedMeanwhile(context, key)) return;
    this.seen.add(text);
    const member = this.family.of(key);
    const { columnIds } = member.program;
    const before = member.writer.read(key);
    const after = before.slice();
    for (const { place, evaluate } of program.assignments) after[columnIds[place]!] = evaluate(rows, number, context);
    member.finish(after);
    for (let c = 0; c < newColumns.length; c++) newColumns[c]![number] = after[columnIds[c]!]!;
    this.reserve(before, after);
    this.changes.push({ member, key, before, after, move: null });
    this.changed.push(number);
  };

  private readonly takeOut = (i: number): void => {
    const change = this.changes[i]!;
    const { member, key, before, after } = change;
    change.move = member.writer.takeOut(key, before, after, this.assignedOf(member));
  };

  private readonly putBack = (i: number): void => {
    const { member, after, move } = this.changes[i]!;
    member.writer.putBack(move!, after, this.assignedOf(member));
  };

  private assignedOf({ program }: FamilyMember): ReadonlySet<number> {
    return this.program.assigned.get(program.table.id)!;
  }

  private reserve(...rows: readonly Row[]): void {
    let bytes = 0;
    for (const row of rows) bytes += sumOfBytes(row, row.length);
    this.bytes += bytes;
    this.context.statement.reserve(bytes);
  }
}
