/**
 * Fires the triggers of tables for operators that change rows. BEFORE triggers run at once. AFTER triggers are noted
 * among the remaining checks and run when the statement ends, after foreign keys of the same row (as in PostgreSQL,
 * whose foreign keys are triggers with names that come first). The session runs the functions
 * (ExecServices.fireTrigger). Which triggers a statement may fire is decided when it is compiled, so rows of tables
 * without triggers cost nothing; whether they fire in this session is decided with their conditions.
 */
import type { TableDef } from "../../catalog/table.js";
import type { TriggerDef, TriggerEvent } from "../../catalog/trigger.js";
import { type DbError, sqlError } from "../../protocol/errors.js";
import type { Value } from "../../values/values.js";
import { isBranch, type PartitionBranch, type PartitionLeaf } from "../plan/partition-tree.js";
import type { ExecContext } from "./context.js";
import { after } from "./operator.js";
import type { Row, TableWriter } from "./table-writer.js";
import { conditionHolds } from "./trigger-conditions.js";
import type { TransitionRows, TriggerFiring, TriggerRelation } from "./trigger-firing.js";
import { sumOfBytes } from "./value-bytes.js";

/** Row triggers of one table for one event, in the order of their names. */
export interface RowTriggers {
  readonly table: TableDef;
  readonly event: TriggerEvent;
  readonly before: readonly TriggerDef[];
  readonly after: readonly TriggerDef[];
  /** Columns of an update that are computed after BEFORE triggers, which see NULL in them. */
  readonly generated: readonly number[];
}

/**
 * @param assigned ids of the columns that an update assigns; null: UPDATE OF does not matter. Null: no trigger fires.
 */
export function rowTriggers(
  table: TableDef,
  event: TriggerEvent,
  assigned: ReadonlySet<number> | null = null,
): RowTriggers | null {
  const fired = firedBy(table, event, "row", assigned);
  if (fired.length === 0) return null;
  const timed = (timing: TriggerDef["timing"]) => fired.filter((trigger) => trigger.timing === timing);
  // An INSTEAD OF trigger of a view answers like a BEFORE trigger.
  const before = [...timed("before"), ...timed("instead of")];
  const generated = event === "update" ? table.columns.filter(({ generatedSql }) => generatedSql) : [];
  return { table, event, before, after: timed("after"), generated: generated.map(({ id }) => id) };
}

function firedBy(
  { triggers = [], rules = [] }: Pick<TableDef, "triggers" | "rules">,
  event: TriggerEvent,
  level: TriggerDef["level"],
  assigned: ReadonlySet<number> | null,
): readonly TriggerDef[] {
  const all = rules.length === 0 ? triggers : [...rules, ...triggers];
  return all.filter(
    (trigger) =>
      trigger.level === level &&
      trigger.events.includes(event) &&
      trigger.enabled !== "disabled" &&
      (event !== "update" || trigger.columns === undefined || assigned === null || touches(trigger.columns, assigned)),
  );
}

const touches = (columns: readonly number[], assigned: ReadonlySet<number>) => columns.some((id) => assigned.has(id));

const isTriggering = ({ triggers, rules }: TableDef) => triggers !== undefined || rules !== undefined;

/** Whether the table, or a partition of it, has any triggers. */
export function hasTriggers(table: TableDef, partitions: PartitionBranch | undefined): boolean {
  if (isTriggering(table)) return true;
  const inside = (node: PartitionBranch | PartitionLeaf): boolean =>
    isBranch(node) ? [...node.partitions.values()].some(inside) : isTriggering(node.table);
  return partitions !== undefined && inside(partitions);
}

/** Whether a statement that inserts rows into the table fires any. */
export function firesOnInsert(table: TableDef): boolean {
  return (
    isTriggering(table) &&
    (["row", "statement"] as const).some((level) => firedBy(table, "insert", level, null).length > 0)
  );
}

const valuesOf = ({ columns }: TriggerRelation, row: Row | null): Value[] | null =>
  row === null ? null : columns.map(({ id }) => row[id]!);

/**
 * BEFORE row triggers, each with the row as the one before it left it. Answers the row to store (of a removal the old
 * row), by column id; null: nothing happens to this row.
 */
export function fireBefore(
  triggers: RowTriggers,
  old: Row | null,
  next: Row | null,
  context: ExecContext,
): Row | null | Promise<Row | null> {
  const { generated, before } = triggers;
  if (next === null || generated.length === 0 || before.length === 0) return fireFrom(triggers, 0, old, next, context);
  const row = next.slice();
  for (const id of generated) row[id] = null;
  return fireFrom(triggers, 0, old, row, context);
}

function fireFrom(
  triggers: RowTriggers,
  from: number,
  old: Row | null,
  next: Row | null,
  context: ExecContext,
): Row | null | Promise<Row | null> {
  const { table, event, before } = triggers;
  const trigger = before[from];
  if (trigger === undefined) return next ?? old;
  if (!conditionHolds(table, trigger, old, next, context)) return fireFrom(triggers, from + 1, old, next, context);
  const firing = {
    trigger,
    relation: table,
    event,
    before: valuesOf(table, old),
    after: valuesOf(table, next),
    transitions: null,
  };
  return after(context.services.fireTrigger(firing, context), (given) => {
    if (given === null) return null;
    // What a trigger answers to a removal only says that it may go on.
    if (next === null) return fireFrom(triggers, from + 1, old, next, context);
    const row = next.slice();
    table.columns.forEach(({ id }, i) => {
      row[id] = given[i]!;
    });
    return fireFrom(triggers, from + 1, old, row, context);
  });
}

/** A BEFORE INSERT trigger gave a row a key of another partition. */
export function movedByTrigger({ table, before }: RowTriggers, writer: TableWriter, row: Row): DbError {
  const trigger = before.find(({ parentId }) => parentId !== undefined);
  // PostgreSQL minds only triggers of the partitioned table; of others it finds that the row does not belong here.
  if (trigger === undefined) return writer.partitionViolation(row);
  return sqlError("0A000", "moving row to another partition during a BEFORE FOR EACH ROW trigger is not supported", {
    detail: `Before executing trigger "${trigger.name}", the row was to be in partition "${table.schema}.${table.name}".`,
  });
}

/** Notes AFTER row triggers whose conditions hold now. */
export function noteAfter(
  triggers: RowTriggers | null,
  old: Row | null,
  next: Row | null,
  context: ExecContext,
  transitions: TransitionRows | null,
): void {
  if (triggers === null) return;
  const { table, event } = triggers;
  for (const trigger of triggers.after) {
    if (!conditionHolds(table, trigger, old, next, context)) continue;
    const before = valuesOf(table, old);
    const after = valuesOf(table, next);
    context.statement.reserve(
      sumOfBytes(before ?? [], before?.length ?? 0) + sumOfBytes(after ?? [], after?.length ?? 0),
    );
    note({ trigger, relation: table, event, before, after, transitions }, context);
  }
}

function note(firing: TriggerFiring, { statement }: ExecContext): void {
  const event = { kind: "trigger", tableId: firing.relation.id, firing } as const;
  if (statement.constraintEvents === null) statement.constraintEvents = [event];
  else statement.constraintEvents.push(event);
}

/** In which BEFORE statement triggers of several events fire. */
const ORDER: readonly TriggerEvent[] = ["insert", "update", "delete", "truncate"];

interface EventTriggers {
  readonly event: TriggerEvent;
  readonly before: readonly TriggerDef[];
  readonly after: readonly TriggerDef[];
  /** A trigger wants to see the changed rows. */
  readonly captures: boolean;
}

/** Statement triggers of the table that a statement names, for what the statement does. */
export interface StatementTriggers {
  readonly table: TableDef;
  readonly events: readonly EventTriggers[];
}

/** Null: none fires, and none wants to see what changed. */
export function statementTriggers(
  table: TableDef,
  events: readonly TriggerEvent[],
  assigned: ReadonlySet<number> | null = null,
): StatementTriggers | null {
  if (!isTriggering(table)) return null;
  const found = events.flatMap((event): EventTriggers[] => {
    const fired = firedBy(table, event, "statement", assigned);
    const all = [...fired, ...firedBy(table, event, "row", assigned)];
    const captures = all.some(({ oldTable, newTable }) => oldTable !== undefined || newTable !== undefined);
    if (fired.length === 0 && !captures) return [];
    const timed = (timing: TriggerDef["timing"]) => fired.filter((trigger) => trigger.timing === timing);
    // A rule that names no row replaces the statement once.
    return [{ event, before: [...timed("before"), ...timed("instead of")], after: timed("after"), captures }];
  });
  return found.length === 0 ? null : { table, events: found };
}

/** One run of a statement: its statement triggers, and the rows that triggers want to see. */
export class StatementFiring {
  private readonly captured = new Map<TriggerEvent, TransitionRows>();

  constructor(
    private readonly triggers: StatementTriggers | null,
    private readonly context: ExecContext,
  ) {
    for (const { event, captures } of triggers?.events ?? []) {
      if (captures) this.captured.set(event, { before: [], after: [] });
    }
  }

  /** Runs BEFORE triggers, then what the statement does. */
  begin<T>(run: () => T | Promise<T>): T | Promise<T> {
    const firings = this.of("before");
    const from = (i: number): T | Promise<T> => {
      const firing = firings[i];
      if (firing === undefined) return run();
      return after(this.context.services.fireTrigger(firing, this.context), () => from(i + 1));
    };
    return from(0);
  }

  /** Notes AFTER triggers. */
  end(): void {
    for (const firing of this.of("after")) note(firing, this.context);
  }

  /** Calls of statement triggers. */
  of(timing: "before" | "after"): TriggerFiring[] {
    const events = ORDER.flatMap((event) => this.triggers?.events.filter((each) => each.event === event) ?? []);
    // Of a statement that does several things: the last of them first, as PostgreSQL fires them.
    const ordered = timing === "before" ? events : events.reverse();
    return ordered.flatMap((each) => this.firings(each.event, each[timing]));
  }

  /** The rows of one event; null: nobody wants them. */
  rowsOf(event: TriggerEvent): TransitionRows | null {
    return this.captured.get(event) ?? null;
  }

  /** A changed row of a table whose `columnIds` are the columns of the named table. */
  capture(event: TriggerEvent, columnIds: readonly number[], old: Row | null, next: Row | null): void {
    const rows = this.captured.get(event);
    if (rows === undefined) return;
    const { statement } = this.context;
    for (const [row, to] of [
      [old, rows.before],
      [next, rows.after],
    ] as const) {
      if (row === null) continue;
      const values = columnIds.map((id) => row[id]!);
      statement.reserve(sumOfBytes(values, values.length));
      to.push(values);
    }
  }

  private firings(event: TriggerEvent, triggers: readonly TriggerDef[]): TriggerFiring[] {
    const relation = this.triggers!.table;
    const transitions = this.rowsOf(event);
    return triggers
      .filter((trigger) => conditionHolds(relation, trigger, null, null, this.context))
      .map((trigger) => ({ trigger, relation, event, before: null, after: null, transitions }));
  }
}
