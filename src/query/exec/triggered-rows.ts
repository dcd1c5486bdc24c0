/**
 * How UPDATE, DELETE and MERGE change rows of tables with triggers. A BEFORE trigger sees what the statement did to
 * earlier rows, as in PostgreSQL, so with BEFORE triggers rows are written one by one. With AFTER triggers only, an
 * update is written at the end as without triggers, which lets one statement shift unique keys. Owned by one run of
 * one of those operators.
 */

import type { TableDef } from "../../catalog/table.js";
import type { TriggerEvent } from "../../catalog/trigger.js";
import { sqlError } from "../../protocol/errors.js";
import type { Value } from "../../values/values.js";
import type { Batch } from "../expr/expr.js";
import type { BoundCheck, HeirTable } from "../plan/change-plans.js";
import type { PartitionBranch } from "../plan/partition-tree.js";
import type { OutputColumn } from "../plan/plan.js";
import type { Move } from "./changed-entries.js";
import type { ExecContext } from "./context.js";
import { asRowOf, assignedIn, compileFamily, Family, type FamilyMember, type FamilyProgram } from "./family.js";
import { after, inTurns } from "./operator.js";
import { belongs, findRoute, type RouteProgram, routeRow } from "./partition-router.js";
import { writingContext } from "./statement-snapshot.js";
import {
  fireBefore,
  hasTriggers,
  movedByTrigger,
  noteAfter,
  type RowTriggers,
  rowTriggers,
  StatementFiring,
  type StatementTriggers,
  statementTriggers,
} from "./table-triggers.js";
import { assignedColumns, emptyRow, type Row, TableWriter } from "./table-writer.js";

interface MemberTriggers {
  readonly insert: RowTriggers | null;
  readonly update: RowTriggers | null;
  readonly delete: RowTriggers | null;
}

export interface TriggeredProgram {
  readonly table: TableDef;
  readonly family: FamilyProgram;
  readonly routes: RouteProgram;
  /** By table id. */
  readonly triggers: ReadonlyMap<number, MemberTriggers>;
  readonly statement: StatementTriggers | null;
  /** Places of the columns that an update assigns. */
  readonly places: readonly number[];
  /** Each row is written before the next one is looked at. */
  readonly oneByOne: boolean;
}

/** Of an operator that changes rows of `table`. */
export interface ChangingPlan {
  readonly table: TableDef;
  readonly heirs?: readonly HeirTable[];
  readonly partitions?: PartitionBranch;
}

/** Whether triggers of any table that the plan changes may fire. */
export function isTriggered({ table, heirs, partitions }: ChangingPlan): boolean {
  return hasTriggers(table, partitions) || heirs?.some((heir) => heir.table.triggers !== undefined) === true;
}

/** @param assigned ids of the columns of the named table that an update assigns. */
export function compileTriggered(
  plan: ChangingPlan,
  events: readonly TriggerEvent[],
  assigned: readonly { readonly columnId: number }[],
  own: { readonly rowColumns: readonly OutputColumn[]; readonly checks: readonly BoundCheck[] },
  routes: RouteProgram,
): TriggeredProgram {
  const { table } = plan;
  const columnIds = table.columns.map(({ id }) => id);
  const family = compileFamily(plan.heirs ?? [{ table, columnIds, ...own }]);
  const places = assigned.map(({ columnId }) => columnIds.indexOf(columnId));
  const triggers = new Map(
    Array.from(family, ([id, heir]): [number, MemberTriggers] => [
      id,
      {
        insert: rowTriggers(heir.table, "insert"),
        update: rowTriggers(heir.table, "update", assignedIn(heir, places)),
        delete: rowTriggers(heir.table, "delete"),
      },
    ]),
  );
  const hasBefore = [...triggers.values()].some((each) =>
    [each.insert, each.update, each.delete].some((some) => some !== null && some.before.length > 0),
  );
  return {
    table,
    family,
    routes,
    triggers,
    statement: statementTriggers(table, events, assignedColumns(table, assigned)),
    places,
    oneByOne: hasBefore || routes.root !== null || events.length > 1,
  };
}

/** A row as the statement stored it. */
export interface StoredRow {
  readonly member: FamilyMember;
  readonly row: Row;
  /** Its storage key; of an update that is still to be written, the one that it had. */
  newKey: Uint8Array;
}

/** A row that an update is to write. */
interface Change extends StoredRow {
  readonly key: Uint8Array;
  readonly before: Row;
  readonly assigned: ReadonlySet<number>;
  move: Move | null;
}

/** Asks policies about a row that is to be stored, given by the named table's columns. Throws 42501. */
export type Permit = (values: readonly Value[]) => void;

export class TriggeredRows {
  private readonly family: Family;
  private readonly firing: StatementFiring;
  /** What `flush` writes. */
  private readonly changes: Change[] = [];

  constructor(
    private readonly program: TriggeredProgram,
    private readonly context: ExecContext,
  ) {
    this.family = new Family(program.family, context);
    this.firing = new StatementFiring(program.statement, context);
  }

  /** Fires BEFORE statement triggers, then does `run`, then notes AFTER statement triggers. */
  around<T>(run: () => T | Promise<T>): T | Promise<T> {
    return this.firing.begin(() =>
      after(run(), (result) => {
        this.firing.end();
        return result;
      }),
    );
  }

  /** The stored rows before any is changed, for `update` and `remove`; null: none can change before they are used. */
  recordsOf(keys: ArrayLike<Value>): readonly (Uint8Array | undefined)[] | null {
    if (!this.program.oneByOne) return null;
    const { tx } = writingContext(this.context);
    return Array.from(keys, (key) => (key === null ? undefined : tx.get(key as Uint8Array)));
  }

  /**
   * @param compute fills in what is assigned, by the ids of the named table's columns in this one.
   * @param permit is asked about the row that triggers leave.
   * @returns the row as it is or will be stored; null: a trigger left the row as it was.
   */
  update(
    key: Uint8Array,
    record: Uint8Array | undefined | null,
    compute: (row: Row, columnIds: readonly number[]) => void,
    permit: Permit | null = null,
  ): StoredRow | null | Promise<StoredRow | null> {
    const member = this.family.of(key);
    this.requireSame(key, record);
    const before = member.writer.read(key);
    const row = before.slice();
    compute(row, member.program.columnIds);
    const triggers = this.triggersOf(member).update;
    if (triggers === null || triggers.before.length === 0) return this.place(member, key, before, row, false, permit);
    return after(fireBefore(triggers, before, row, this.context), (given) => {
      if (given === null) return null;
      this.requireSame(key, record);
      return this.place(member, key, before, given, true, permit);
    });
  }

  /** @returns false: a trigger kept the row. */
  remove(key: Uint8Array, record: Uint8Array | undefined | null): boolean | Promise<boolean> {
    const member = this.family.of(key);
    this.requireSame(key, record);
    const before = member.writer.read(key);
    return after(this.goes(member, before), (goes) => {
      if (!goes) return false;
      this.requireSame(key, record);
      member.writer.remove(key, before);
      this.changed("delete", member, before, null);
      return true;
    });
  }

  /** @param values by the named table's columns. */
  insert(values: readonly Value[], permit: Permit | null = null): StoredRow | null | Promise<StoredRow | null> {
    const { table } = this.program;
    const named = emptyRow(table);
    table.columns.forEach(({ id }, place) => {
      named[id] = values[place]!;
    });
    const member = this.destination(values, named) ?? this.family.member(table.id);
    const row = emptyRow(member.program.table);
    member.program.columnIds.forEach((id, place) => {
      row[id] = values[place]!;
    });
    return this.insertInto(member, row, "insert", null, permit);
  }

  /** Writes what updates have left. */
  flush<T>(finish: () => T | Promise<T>): T | Promise<T> {
    const { changes, context } = this;
    return inTurns(
      context,
      changes.length,
      (i) => this.takeOut(changes[i]!),
      () => inTurns(context, changes.length, (i) => this.putBack(changes[i]!), finish),
    );
  }

  private triggersOf(member: FamilyMember): MemberTriggers {
    return this.program.triggers.get(member.program.table.id)!;
  }

  /** Throws 27000 for a row that a trigger of this statement has changed. */
  private requireSame(key: Uint8Array, record: Uint8Array | undefined | null): void {
    if (record === null) return;
    const now = writingContext(this.context).tx.get(key);
    if (now !== undefined && record !== undefined && (now === record || Buffer.compare(now, record) === 0)) return;
    const message = "tuple to be updated was already modified by an operation triggered by the current command";
    throw sqlError("27000", message, {
      hint: "Consider using an AFTER trigger instead of a BEFORE trigger to propagate changes to other rows.",
    });
  }

  /** The new row to where it belongs: where it was, or in another partition. */
  private place(
    member: FamilyMember,
    key: Uint8Array,
    before: Row,
    row: Row,
    isWhole: boolean,
    permit: Permit | null,
  ): StoredRow | null | Promise<StoredRow | null> {
    const { columnIds, table, ownIds } = member.program;
    const next = this.destination(
      columnIds.map((id) => row[id]!),
      row,
      member,
    );
    if (next !== null && next !== member) return this.moveTo(next, member, key, before, row, permit);
    finish(member, row, permit);
    const places = this.program.places;
    // A trigger may have given any column another value.
    const assigned = isWhole
      ? new Set(ownIds)
      : assignedColumns(
          table,
          places.map((c) => ({ columnId: columnIds[c]! })),
        );
    const change: Change = { member, row, key, newKey: key, before, assigned, move: null };
    if (this.program.oneByOne) {
      this.takeOut(change);
      this.putBack(change);
    } else this.changes.push(change);
    return change;
  }

  /** A removal there and an insertion here, whose row triggers fire beside those of the update. */
  private moveTo(
    next: FamilyMember,
    member: FamilyMember,
    key: Uint8Array,
    before: Row,
    row: Row,
    permit: Permit | null,
  ): StoredRow | null | Promise<StoredRow | null> {
    return after(this.goes(member, before), (goes) => {
      if (!goes) return null;
      member.writer.remove(key, before, row);
      noteAfter(this.triggersOf(member).delete, before, null, this.context, null);
      return this.insertInto(next, asRowOf(next, member, row), "update", { member, before }, permit);
    });
  }

  /** `from`: where an update took the row. */
  private insertInto(
    member: FamilyMember,
    row: Row,
    event: "insert" | "update",
    from: { readonly member: FamilyMember; readonly before: Row } | null,
    permit: Permit | null,
  ): StoredRow | null | Promise<StoredRow | null> {
    const triggers = this.triggersOf(member).insert;
    const store = (stored: Row): StoredRow => {
      finish(member, stored, permit);
      const newKey = member.writer.insert(stored);
      if (from !== null) this.firing.capture(event, from.member.program.columnIds, from.before, null);
      this.firing.capture(event, member.program.columnIds, null, stored);
      noteAfter(triggers, null, stored, this.context, from === null ? this.firing.rowsOf("insert") : null);
      return { member, row: stored, newKey };
    };
    if (triggers === null || triggers.before.length === 0) return store(row);
    return after(fireBefore(triggers, null, row, this.context), (given) => {
      if (given === null) return null;
      const values = member.program.columnIds.map((id) => given[id]!);
      if (this.isElsewhere(values, member)) throw movedByTrigger(triggers, member.writer, given);
      return store(given);
    });
  }

  /** Fires BEFORE DELETE; false: the row stays. */
  private goes(member: FamilyMember, before: Row): boolean | Promise<boolean> {
    const triggers = this.triggersOf(member).delete;
    if (triggers === null || triggers.before.length === 0) return true;
    return after(fireBefore(triggers, before, null, this.context), (given) => given !== null);
  }

  private takeOut(change: Change): void {
    const { member, key, before, row, assigned } = change;
    change.move = member.writer.takeOut(key, before, row, assigned);
  }

  private putBack(change: Change): void {
    const { member, move, row, before, assigned } = change;
    member.writer.putBack(move!, row, assigned);
    change.newKey = move!.newKey;
    this.changed("update", member, before, row);
  }

  private changed(event: "update" | "delete", member: FamilyMember, before: Row, row: Row | null): void {
    this.firing.capture(event, member.program.columnIds, before, row);
    noteAfter(this.triggersOf(member)[event], before, row, this.context, this.firing.rowsOf(event));
  }

  /** Whether a row that was to be in that partition now belongs to another one, or to none. */
  private isElsewhere(values: readonly Value[], member: FamilyMember): boolean {
    const { root } = this.program.routes;
    if (root === null) return false;
    const found = findRoute(root, { columns: values.map((value) => [value]), length: 1 }, 0, this.context);
    return !("table" in found) || found.table.id !== member.program.table.id;
  }

  /** The partition of a row, given by the named table's columns; null: there are none. Throws 23514. */
  private destination(values: readonly Value[], row: Row, member: FamilyMember | null = null): FamilyMember | null {
    const { routes, table } = this.program;
    if (routes.root === null && routes.membership.length === 0) return null;
    const batch: Batch = { columns: values.map((value) => [value]), length: 1 };
    if (!belongs(routes, batch, 0, this.context)) {
      throw (member?.writer ?? new TableWriter(table, this.context)).partitionViolation(row);
    }
    if (routes.root === null) return null;
    return this.family.member(routeRow(routes.root, batch, 0, this.context).table.id);
  }
}

/** The row that triggers leave: its generated columns, what policies say of it, and its constraints. */
function finish(member: FamilyMember, row: Row, permit: Permit | null): void {
  member.writer.generate(row);
  permit?.(member.program.columnIds.map((id) => row[id]!));
  member.check(row);
}
