/**
 * UPDATE of a table and those that inherit from it: as update.ts, with each row read and written as its own table has
 * it. Called by update.ts.
 */

import type { Value } from "../../values/values.js";
import { compileExpr } from "../expr/compile.js";
import type { Evaluate } from "../expr/expr.js";
import { oidOfId } from "../expr/types.js";
import type { HeirTable, UpdatePlan } from "../plan/change-plans.js";
import type { Move } from "./changed-entries.js";
import { RowsChangedOnce } from "./changed-once.js";
import type { ExecContext } from "./context.js";
import { asRowOf, assignedIn, compileFamily, Family, type FamilyMember, type FamilyProgram } from "./family.js";
import { drain, inTurns, type Open, type Operator } from "./operator.js";
import { belongs, compileRoutes, type RouteProgram, routeRow } from "./partition-router.js";
import { type ChangedRows, compileReturning, modifying } from "./returning.js";
import { emptyColumns, RowBuffer } from "./row-buffer.js";
import { slotsOf } from "./slots.js";
import { emptyRow, type Row, TableWriter } from "./table-writer.js";
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
  readonly routes: RouteProgram;
  /** Where the input has the OID of the row's table; −1: nowhere. */
  readonly tableOidSlot: number;
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
    routes: compileRoutes(plan.partitions, plan.membership, slotsOf(plan.rowColumns)),
    tableOidSlot: plan.tableOid === undefined ? -1 : slotOf(plan.tableOid),
    assigned: new Map(Array.from(family, ([id, heir]) => [id, assignedIn(heir, places)])),
  };
  const shown = slotsOf([...(plan.returning?.rowColumns ?? []), ...plan.input.columns]);
  const returning = compileReturning(plan.returning, shown);
  return modifying(input, returning, (operator, context) => new FamilyUpdater(program, operator, context));
}

/** A row on its way, as its own table has it. */
interface Change {
  readonly member: FamilyMember;
  readonly key: Uint8Array;
  readonly before: Row;
  /** By the columns of the table where it was. */
  readonly after: Row;
  /** The partition that the row moves to, and the row there; null: it stays. */
  readonly moved: { readonly member: FamilyMember; readonly row: Row } | null;
  move: Move | null;
}

class FamilyUpdater {
  private readonly rows: RowBuffer;
  private readonly family: Family;
  /** New values by column of the named table, parallel to the input's rows. */
  private readonly newColumns: Value[][];
  private readonly changed: number[] = [];
  private readonly changes: Change[] = [];
  private readonly once: RowsChangedOnce;
  private bytes = 0;

  constructor(
    private readonly program: FamilyUpdateProgram,
    private readonly input: Operator,
    private readonly context: ExecContext,
  ) {
    const { plan } = program;
    this.rows = new RowBuffer(plan.input.columns, context);
    this.family = new Family(program.family, context);
    this.once = new RowsChangedOnce(plan.input, context);
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
    if (key === null || !this.once.takes(key)) return;
    const member = this.family.of(key);
    const { columnIds } = member.program;
    const before = member.writer.read(key);
    const after = before.slice();
    for (const { place, evaluate } of program.assignments) after[columnIds[place]!] = evaluate(rows, number, context);
    for (let c = 0; c < newColumns.length; c++) newColumns[c]![number] = after[columnIds[c]!]!;
    const moved = this.destination(member, after, number);
    if (moved === null) member.finish(after);
    const [stored, ids] = moved === null ? [after, columnIds] : [moved.row, moved.member.program.columnIds];
    for (let c = 0; c < newColumns.length; c++) newColumns[c]![number] = stored[ids[c]!]!;
    this.reserve(before, after);
    this.changes.push({ member, key, before, after, moved, move: null });
    this.changed.push(number);
  };

  /** The partition that a row belongs to now, when it is another one. Throws 23514. */
  private destination(member: FamilyMember, after: Row, number: number): Change["moved"] {
    const { program, newColumns, rows, context } = this;
    const { routes, tableOidSlot, plan } = program;
    if (routes.root === null) return null;
    const batch = { columns: newColumns, length: number + 1 };
    if (!belongs(routes, batch, number, context)) {
      const row = emptyRow(plan.table);
      plan.table.columns.forEach(({ id }, c) => {
        row[id] = newColumns[c]![number]!;
      });
      throw new TableWriter(plan.table, context).partitionViolation(row);
    }
    const { table } = routeRow(routes.root, batch, number, context);
    if (table.id === member.program.table.id) return null;
    const next = this.family.member(table.id);
    const row = asRowOf(next, member, after);
    next.finish(row);
    if (tableOidSlot >= 0) (rows.columns[tableOidSlot] as Value[])[number] = oidOfId(table.id);
    return { member: next, row };
  }

  private readonly takeOut = (i: number): void => {
    const change = this.changes[i]!;
    const { member, key, before, after, moved } = change;
    if (moved !== null) member.writer.remove(key, before, after);
    else change.move = member.writer.takeOut(key, before, after, this.assignedOf(member));
  };

  private readonly putBack = (i: number): void => {
    const { member, key, after, moved, move } = this.changes[i]!;
    if (moved === null) member.writer.putBack(move!, after, this.assignedOf(member));
    const newKey = moved === null ? move!.newKey : moved.member.writer.insert(moved.row);
    // For RETURNING: where the row is now.
    if (newKey !== key) (this.rows.columns[this.program.rowKeySlot] as Value[])[this.changed[i]!] = newKey;
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
