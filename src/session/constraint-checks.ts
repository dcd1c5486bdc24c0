/**
 * Foreign keys and AFTER triggers. Writers of rows note what is to be checked (exec/constraint-event.ts); this does it
 * at the end of the statement or, for deferred constraints, of the transaction. Checks and actions are internal
 * statements, as in PostgreSQL (src/backend/utils/adt/ri_triggers.c); checks that those leave in turn are done at
 * once.
 */

import { ownRows } from "../catalog/ddl-outcome.js";
import { quotedIdentifier } from "../catalog/relation-names.js";
import {
  type ForeignKeyAction,
  type ForeignKeyDef,
  forbidsOverlap,
  type IndexDef,
  type TableDef,
} from "../catalog/table.js";
import { type DbError, sqlError } from "../protocol/errors.js";
import type {
  ConstraintEvent,
  FiringEvent,
  ReferencedEvent,
  ReferencingEvent,
  UniqueEvent,
} from "../query/exec/constraint-event.js";
import type { ExecContext } from "../query/exec/context.js";
import { after } from "../query/exec/operator.js";
import { referencedKey } from "../query/exec/referenced-key.js";
import { valueText } from "../query/exec/table-layout.js";
import { TableWriter } from "../query/exec/table-writer.js";
import { displayName } from "../query/expr/types.js";
import type { ShardTransaction } from "../storage/transaction.js";
import type { Value } from "../values/values.js";
import type { InternalStatements } from "./internal-statements.js";
import {
  actionOnSet,
  type Ends,
  firstOfSet,
  hearsOfStatements,
  inSets,
  isForSets,
  type ReferencedSet,
  setParameters,
} from "./referenced-sets.js";

/** Actions that set off actions nest at most so deep. */
const DEPTH_MAX = 1000;

export class ConstraintChecks {
  private depth = 0;
  /** Triggers of rows that actions changed: they come after all that the statement itself left. */
  private later: FiringEvent[] = [];

  constructor(
    private readonly statements: InternalStatements,
    /** Whether checks of the constraint wait for the end of the transaction. */
    private readonly isDeferred: (key: Deferrability) => boolean,
    private readonly defer: (event: ConstraintEvent) => void,
  ) {}

  /** Checks and acts, in order; what is deferred goes to `defer` unless `final`. Throws 23503. */
  run(events: readonly ConstraintEvent[], context: ExecContext, final: boolean): void | Promise<void> {
    const tx = context.tx as ShardTransaction;
    tx.guardReads(true);
    const done = () => tx.guardReads(false);
    try {
      const pending = after(this.runFrom(this.inSets(events, context), 0, context, final), () =>
        this.runLater(context, final),
      );
      if (pending instanceof Promise) return pending.finally(done);
    } catch (error) {
      done();
      throw error;
    }
    done();
  }

  private inSets(events: readonly ConstraintEvent[], context: ExecContext) {
    return inSets(events, ({ reference }) => {
      const child = this.statements.table(reference.tableId, context);
      return child !== null && hearsOfStatements(child);
    });
  }

  private runLater(context: ExecContext, final: boolean): void | Promise<void> {
    const { later } = this;
    if (later.length === 0) return;
    this.later = [];
    return after(this.runFrom(later, 0, context, final), () => this.runLater(context, final));
  }

  private runFrom(
    work: readonly (ConstraintEvent | ReferencedSet)[],
    from: number,
    context: ExecContext,
    final: boolean,
  ): void | Promise<void> {
    for (let i = from; i < work.length; i++) {
      const pending = this.one(work[i]!, context, final);
      if (pending instanceof Promise) return pending.then(() => this.runFrom(work, i + 1, context, final));
      // Each may be a search of a whole table.
      if (context.shouldYield()) return context.yieldTurn().then(() => this.runFrom(work, i + 1, context, final));
    }
  }

  private one(event: ConstraintEvent | ReferencedSet, context: ExecContext, final: boolean): void | Promise<void> {
    context.checkpoint();
    if (event.kind === "set") return this.set(event, context, final);
    if (event.kind === "unique") {
      const table = this.statements.table(event.tableId, context);
      const index = table?.indexes.find(({ id }) => id === event.indexId);
      if (table === null || index === undefined) return;
      if (index.deferrable === undefined && !forbidsOverlap(index)) return;
      if (!final && this.isDeferred(deferrabilityOf(index))) this.defer(event);
      else return checkUnique(event, table, index, context);
      return;
    }
    if (event.kind === "referencing") {
      const table = this.statements.table(event.tableId, context);
      const key = table?.foreignKeys?.find(({ id }) => id === event.foreignKey.id);
      if (table === null || key === undefined) return;
      if (!final && this.isDeferred(key)) this.defer(event);
      else return this.checkReferencing(event, table, key, context);
      return;
    }
    if (event.kind === "trigger") {
      if (!final && this.isDeferred(deferrabilityOfTrigger(event))) this.defer(event);
      else return this.fire(event, context);
      return;
    }
    const ends = this.endsOf(event, context);
    if (ends === null) return;
    const action = actionOf(event, ends);
    if (action === "no action" && !final && this.isDeferred(ends.key)) {
      this.defer(event);
      return;
    }
    const isCascade = event.after !== null && ends.key.onUpdate === "cascade";
    const params = isCascade ? [...event.before, ...event.after] : event.before;
    switch (action) {
      case "no action":
      case "restrict":
        return this.refuse(event, ends, action, context);
      case "cascade":
        return this.act(cascade(event, ends), params, context, final);
      case "set null":
        return this.act(setTo(event, ends, "NULL"), params, context, final);
      case "set default":
        return after(this.act(setTo(event, ends, "DEFAULT"), params, context, final), () =>
          // Rows whose default is the removed key itself are as they were.
          this.refuse(event, ends, "no action", context),
        );
    }
  }

  /** The function's own statements are checked as any, by their own isolation. */
  private fire({ firing }: FiringEvent, context: ExecContext): void | Promise<void> {
    const tx = context.tx as ShardTransaction;
    tx.guardReads(false);
    return after(context.services.fireTrigger!(firing, context), () => tx.guardReads(true));
  }

  /** Null: the constraint or its tables are gone. */
  private endsOf(event: ReferencedEvent, context: ExecContext): Ends | null {
    const child = this.statements.table(event.reference.tableId, context);
    const key = child?.foreignKeys?.find(({ id }) => id === event.reference.foreignKeyId);
    const parent = this.statements.table(event.tableId, context);
    if (child === null || key === undefined || parent === null) return null;
    const target = key.tableId === parent.id ? parent : this.statements.table(key.tableId, context)!;
    return { parent, target, child, key };
  }

  /** All rows of a set by one statement, if there is one for it; otherwise one after the other. */
  private set(set: ReferencedSet, context: ExecContext, final: boolean): void | Promise<void> {
    const { events } = set;
    const [first] = events;
    const ends = this.endsOf(first!, context);
    if (ends === null) return;
    const action = actionOf(first!, ends);
    const isDeferred = action === "no action" && !final && this.isDeferred(ends.key);
    if (isDeferred || !isForSets(ends)) return this.runFrom(events, 0, context, final);
    const params = setParameters(set);
    const refused = () =>
      after(this.statements.run(firstOfSet(ends, action), params, context).rows, ({ rows }) => {
        const [place] = rows[0]!;
        if (place !== null) throw stillReferenced(events[Number(place) - 1]!, ends, context);
      });
    if (action === "no action" || action === "restrict") return refused();
    return after(this.act(actionOnSet(ends, action, first!.after !== null), params, context, final), () =>
      action === "set default" ? refused() : undefined,
    );
  }

  private checkReferencing(
    event: ReferencingEvent,
    table: TableDef,
    key: ForeignKeyDef,
    context: ExecContext,
  ): void | Promise<void> {
    const row = new TableWriter(table, context).find(event.rowKey);
    if (row === null) return;
    const values: Value[] = key.columns.map((id) => row[id]!);
    if (values.includes(null)) {
      if (key.match === "simple" || values.every((value) => value === null)) return;
      throw violation(table, key, "MATCH FULL does not allow mixing of null and nonnull key values.");
    }
    const parent = this.statements.table(key.tableId, context)!;
    const missing = () => {
      const names = namesOf(table, key.columns).join(", ");
      const texts = key.columns.map((id) => valueText(typeOf(table, id), row[id]!, context.timeZone)).join(", ");
      const told = context.hidesRows ? "Key" : `Key (${names})=(${texts})`;
      return violation(table, key, `${told} is not present in table "${parent.name}".`);
    };
    const direct = findDirectly(parent, table, key, values, context);
    if (direct !== null) {
      if (!direct) throw missing();
      return;
    }
    const conditions = key.references.map((id, i) => `${column(parent, id)} = ${param(table, key.columns[i]!, i)}`);
    const sql = `SELECT 1 FROM ${ownRows(parent)} WHERE ${conditions.join(" AND ")} LIMIT 1`;
    return after(this.statements.run(sql, values, context).rows, ({ rows }) => {
      if (rows.length === 0) throw missing();
    });
  }

  /** Throws 23503 when a row still refers to the old values, unless (NO ACTION) another row has them now. */
  private refuse(
    event: ReferencedEvent,
    ends: Ends,
    action: "no action" | "restrict",
    context: ExecContext,
  ): void | Promise<void> {
    const { target, child, key } = ends;
    // A row that moved to another partition may have them.
    const own = key.references.map((id, i) => `${column(target, id)} = ${param(target, id, i)}`);
    const replaced =
      action === "restrict"
        ? ""
        : ` AND NOT EXISTS (SELECT 1 FROM ${ownRows(target)} p WHERE ${own.map((text) => `p.${text}`).join(" AND ")})`;
    const sql = `SELECT 1 FROM ${ownRows(child)} f WHERE ${matching(ends, "f.")}${replaced} LIMIT 1`;
    return after(this.statements.run(sql, event.before, context).rows, ({ rows }) => {
      if (rows.length > 0) throw stillReferenced(event, ends, context);
    });
  }

  private act(sql: string, params: readonly Value[], context: ExecContext, final: boolean): void | Promise<void> {
    const run = this.statements.run(sql, params, context);
    return after(run.rows, () => {
      const all = run.context.statement.constraintEvents;
      if (all === null) return;
      const events = all.filter((event) => event.kind !== "trigger");
      for (const event of all) if (event.kind === "trigger") this.later.push(event);
      if (++this.depth > DEPTH_MAX) throw sqlError("54001", "actions of foreign keys nest too deeply");
      return after(this.runFrom(this.inSets(events, context), 0, context, final), () => {
        this.depth--;
      });
    });
  }
}

/** When a constraint is checked, unless SET CONSTRAINTS says otherwise. */
export type Deferrability = Pick<ForeignKeyDef, "id" | "parentId" | "deferrable" | "initiallyDeferred">;

export function deferrabilityOf({ id, parentId, deferrable }: IndexDef): Deferrability {
  const part = parentId === undefined ? {} : { parentId };
  return {
    id,
    ...part,
    deferrable: deferrable !== undefined,
    initiallyDeferred: deferrable?.initiallyDeferred ?? false,
  };
}

export function deferrabilityOfTrigger({ firing: { trigger } }: FiringEvent): Deferrability {
  const { id, parentId, constraint } = trigger;
  return {
    id,
    ...(parentId !== undefined && { parentId }),
    deferrable: constraint?.deferrable ?? false,
    initiallyDeferred: constraint?.initiallyDeferred ?? false,
  };
}

/** Throws 23505 when another row has the row's values now. */
export function checkUnique(
  event: UniqueEvent,
  table: TableDef,
  index: IndexDef,
  context: ExecContext,
): void | Promise<void> {
  const writer = new TableWriter(table, context);
  const row = writer.find(event.rowKey);
  if (row !== null) return writer.checkUnique(index, row, event.rowKey);
}

function actionOf(event: ReferencedEvent, { key }: Ends): ForeignKeyAction {
  return event.after === null ? key.onDelete : key.onUpdate;
}

function stillReferenced(event: ReferencedEvent, { parent, child, key }: Ends, context: ExecContext): DbError {
  const { columns } = event.reference;
  const names = namesOf(parent, columns).join(", ");
  const texts = columns.map((id, i) => valueText(typeOf(parent, id), event.before[i]!, context.timeZone));
  const message = `update or delete on table "${parent.name}" violates foreign key constraint "${key.name}" on table "${child.name}"`;
  return sqlError("23503", message, {
    ...(!context.hidesRows && {
      detail: `Key (${names})=(${texts.join(", ")}) is still referenced from table "${child.name}".`,
    }),
    schema: child.schema,
    table: child.name,
    constraint: key.name,
  });
}

function violation(table: TableDef, key: ForeignKeyDef, detail: string): DbError {
  const message = `insert or update on table "${table.name}" violates foreign key constraint "${key.name}"`;
  return sqlError("23503", message, { detail, schema: table.schema, table: table.name, constraint: key.name });
}

/** Whether the referenced row is there, by one lookup; null when types differ and a comparison must convert. */
function findDirectly(
  parent: TableDef,
  table: TableDef,
  key: ForeignKeyDef,
  values: readonly Value[],
  context: ExecContext,
): boolean | null {
  const found = referencedKey(parent, table, key);
  if (found === null) return null;
  const row: Value[] = [];
  key.references.forEach((id, i) => {
    row[id] = values[i]!;
  });
  // What else the row holds may change: only that it is there counts.
  return context.tx.expectFound(() => new TableWriter(parent, context).has(found.index, row));
}

const typeOf = (table: TableDef, id: number) => table.columns.find((other) => other.id === id)!.type;
const nameOf = (table: TableDef, id: number) => table.columns.find((other) => other.id === id)!.name;
const namesOf = (table: TableDef, ids: readonly number[]) => ids.map((id) => nameOf(table, id));
const column = (table: TableDef, id: number) => quotedIdentifier(nameOf(table, id));

/** A parameter that holds a value of the column. */
const param = (table: TableDef, id: number, i: number) => `$${i + 1}::${displayName(typeOf(table, id))}`;

/** Rows of the child that refer to the parent's values in $1, $2, … */
function matching({ target, child, key }: Ends, alias: string): string {
  const conditions = key.columns.map(
    (id, i) => `${alias}${column(child, id)} = ${param(target, key.references[i]!, i)}`,
  );
  return conditions.join(" AND ");
}

function cascade(event: ReferencedEvent, ends: Ends): string {
  const { target, child, key } = ends;
  if (event.after === null) return `DELETE FROM ${ownRows(child)} WHERE ${matching(ends, "")}`;
  const { length } = key.columns;
  const sets = key.columns.map((id, i) => {
    return `${column(child, id)} = $${length + i + 1}::${displayName(typeOf(target, key.references[i]!))}`;
  });
  return `UPDATE ${ownRows(child)} SET ${sets.join(", ")} WHERE ${matching(ends, "")}`;
}

function setTo(event: ReferencedEvent, ends: Ends, value: "NULL" | "DEFAULT"): string {
  const { child, key } = ends;
  const some = event.after === null && key.onDeleteColumns.length > 0;
  const columns = some ? key.onDeleteColumns : key.columns;
  const sets = columns.map((id) => `${column(child, id)} = ${value}`);
  return `UPDATE ${ownRows(child)} SET ${sets.join(", ")} WHERE ${matching(ends, "")}`;
}
