/**
 * The tables whose rows one statement changes when it names a table from which others inherit. A row's storage key
 * tells which of them has it. The row is read again as that table has it, because the statement's input only has the
 * columns of the named table. Owned by one run of an operator that changes rows.
 */
import { storageOf, type TableDef } from "../../catalog/table.js";
import { storageIdOf } from "../../storage/keys.js";
import type { HeirTable } from "../plan/change-plans.js";
import { checkRow } from "./check-row.js";
import type { ExecContext } from "./context.js";
import { compileChecks, type RowCheck } from "./row-checks.js";
import { slotsOf } from "./slots.js";
import { writingContext } from "./statement-snapshot.js";
import { assignedColumns, emptyRow, type Row, TableWriter } from "./table-writer.js";

export interface HeirProgram {
  readonly table: TableDef;
  /** Ids of all its columns. */
  readonly ownIds: readonly number[];
  /** Per column of the named table, its id here. */
  readonly columnIds: readonly number[];
  readonly checks: readonly RowCheck[];
}

/** By table id. */
export type FamilyProgram = ReadonlyMap<number, HeirProgram>;

export function compileFamily(heirs: readonly HeirTable[]): FamilyProgram {
  return new Map(
    heirs.map(({ table, columnIds, rowColumns, checks }) => {
      const ownIds = table.columns.map(({ id }) => id);
      return [table.id, { table, ownIds, columnIds, checks: compileChecks(checks, slotsOf(rowColumns)) }];
    }),
  );
}

/** Ids of the columns of an heir that an update may change; `places`: of the assigned ones in the named table. */
export function assignedIn({ table, columnIds }: HeirProgram, places: readonly number[]): ReadonlySet<number> {
  return assignedColumns(
    table,
    places.map((place) => ({ columnId: columnIds[place]! })),
  );
}

export class Family {
  private readonly members = new Map<number, FamilyMember>();
  /** Of tables by storage id. */
  private ids: ReadonlyMap<number, number> | null = null;

  constructor(
    private readonly program: FamilyProgram,
    private readonly context: ExecContext,
  ) {}

  /** The table that has the row with this key. */
  of(key: Uint8Array): FamilyMember {
    return this.member(this.idOfStorage(storageIdOf(key)));
  }

  private idOfStorage(storageId: number): number {
    const same = this.program.get(storageId);
    // Most tables are stored under their own ids.
    if (same !== undefined && storageOf(same.table) === storageId) return storageId;
    this.ids ??= new Map([...this.program.values()].map(({ table }) => [storageOf(table), table.id]));
    return this.ids.get(storageId)!;
  }

  /** The table with that id. */
  member(id: number): FamilyMember {
    let member = this.members.get(id);
    if (member === undefined) {
      member = new FamilyMember(this.program.get(id)!, this.context);
      this.members.set(id, member);
    }
    return member;
  }
}

/** A row of one table of the family as another has it, whose columns have the same names. */
export function asRowOf(member: FamilyMember, from: FamilyMember, row: Row): Row {
  const result = emptyRow(member.program.table);
  const { columnIds } = from.program;
  member.program.columnIds.forEach((id, place) => {
    result[id] = row[columnIds[place]!]!;
  });
  return result;
}

export class FamilyMember {
  readonly writer: TableWriter;

  constructor(
    readonly program: HeirProgram,
    private readonly context: ExecContext,
  ) {
    this.writer = new TableWriter(program.table, writingContext(context));
  }

  /** Fills in generated columns and checks the new row. Throws 23502, 23514. */
  finish(row: Row): void {
    this.writer.generate(row);
    this.check(row);
  }

  /** Throws 23502, 23514. */
  check(row: Row): void {
    const { program, writer, context } = this;
    const { checks } = program;
    const columns = checks.length === 0 ? [] : program.ownIds.map((id) => [row[id]!]);
    checkRow(writer, row, checks, { columns, length: 1 }, 0, context);
  }
}
