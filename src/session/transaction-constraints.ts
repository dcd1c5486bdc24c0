/**
 * The constraints of one session's transaction: which checks run when a statement ends, which wait for the end of the
 * transaction, and what SET CONSTRAINTS changed. Owned by the session.
 */
import type { CatalogView } from "../catalog/catalog-view.js";
import type { DdlCommand, RelationName } from "../catalog/ddl-command.js";
import { descendantsOf } from "../catalog/inheritance.js";
import { sqlError } from "../protocol/errors.js";
import type { ConstraintEvent } from "../query/exec/constraint-event.js";
import type { ExecContext } from "../query/exec/context.js";
import { after } from "../query/exec/operator.js";
import type { BoundSetConstraints } from "../sql/bind/bound-statement.js";
import { ConstraintChecks, type Deferrability, deferrabilityOf, deferrabilityOfTrigger } from "./constraint-checks.js";
import type { InternalStatements } from "./internal-statements.js";

/** Checks that a commit does without giving way: about a millisecond of them. */
const CHECKS_AT_ONCE_MAX = 100;

/** How things are at one moment: a savepoint keeps it, so nothing of it is changed in place. */
export interface ConstraintState {
  /** What is checked when the transaction ends. */
  readonly waiting: readonly ConstraintEvent[];
  /** SET CONSTRAINTS ALL; null: as defined. */
  readonly all: boolean | null;
  /** SET CONSTRAINTS of some, after that. */
  readonly byKey: ReadonlyMap<number, boolean>;
}

const AS_DEFINED: ConstraintState = { waiting: [], all: null, byKey: new Map() };

export class TransactionConstraints {
  private state = AS_DEFINED;

  constructor(private readonly statements: InternalStatements) {}

  /** A transaction begins. */
  reset(): void {
    this.state = AS_DEFINED;
  }

  current(): ConstraintState {
    return this.state;
  }

  /** Back to a savepoint. Null: there were no constraints then. */
  restore(state: ConstraintState | null): void {
    this.state = state ?? AS_DEFINED;
  }

  private get waiting(): readonly ConstraintEvent[] {
    return this.state.waiting;
  }

  private set waiting(waiting: readonly ConstraintEvent[]) {
    this.state = { ...this.state, waiting };
  }

  /**
   * At the end of a statement that changed rows with foreign keys, or rows that others refer to. `isLast`: the
   * statement is its transaction. Throws 23503.
   */
  endStatement(events: readonly ConstraintEvent[], context: ExecContext, isLast: boolean): void | Promise<void> {
    const deferred: ConstraintEvent[] = [];
    const checks = this.checks((event) => deferred.push(event));
    return after(checks.run(events, context, false), () => {
      if (isLast) return checks.run(deferred, context, true);
      if (deferred.length > 0) this.waiting = [...this.waiting, ...deferred];
    });
  }

  get anyWait(): boolean {
    return this.waiting.length > 0;
  }

  /** True if there are so many checks at the end of the transaction that they should give way. */
  get manyWait(): boolean {
    const { waiting } = this;
    return waiting.length > CHECKS_AT_ONCE_MAX || waiting.some(({ kind }) => kind === "trigger");
  }

  /** Before the commit. Waits for nothing if `context` does not give way. Throws 23503. */
  endTransaction(context: ExecContext): void | Promise<void> {
    const events = this.waiting;
    this.waiting = [];
    if (events.length === 0) return;
    // Triggers may leave some more.
    return after(this.checks().run(events, context, true), () => this.endTransaction(context));
  }

  /** SET CONSTRAINTS; IMMEDIATE checks what waited so far, now. */
  set(bound: BoundSetConstraints, catalog: CatalogView, context: ExecContext): void | Promise<void> {
    if (bound.keys === null) {
      this.state = { ...this.state, all: bound.deferred, byKey: new Map() };
    } else {
      const changed = bound.keys.map((id) => [id, bound.deferred] as const);
      this.state = { ...this.state, byKey: new Map([...this.state.byKey, ...changed]) };
    }
    if (bound.deferred) return;
    const now = this.waiting.filter((event) => !this.isDeferred(keyOf(event, catalog)));
    return after(this.checks().run(now, context, true), () => {
      this.waiting = this.waiting.filter((event) => !now.includes(event));
    });
  }

  /** Throws 55006 when checks of a table wait whose definition, or whose existence, the command changes. */
  refusePending(command: DdlCommand, catalog: CatalogView): void {
    if (this.waiting.length === 0) return;
    const what = command.kind === "truncate" ? "TRUNCATE" : command.kind.toUpperCase();
    for (const { schema, name } of tablesOf(command)) {
      const table = catalog.table(schema, name);
      if (table === null) continue;
      for (const changed of [table, ...descendantsOf(table, catalog)]) {
        if (!this.waiting.some((event) => concerns(event, changed.id, command))) continue;
        throw sqlError("55006", `cannot ${what} "${changed.name}" because it has pending trigger events`);
      }
    }
  }

  private checks(defer: (event: ConstraintEvent) => void = () => undefined): ConstraintChecks {
    return new ConstraintChecks(this.statements, (key) => this.isDeferred(key), defer);
  }

  private isDeferred(key: Deferrability | null): boolean {
    if (key === null || !key.deferrable) return false;
    const { byKey, all } = this.state;
    return byKey.get(key.parentId ?? key.id) ?? all ?? key.initiallyDeferred;
  }
}

/** A foreign key that is dropped has checks that wait on both its tables, and one reads an index of the other. */
function concerns(event: ConstraintEvent, tableId: number, command: DdlCommand): boolean {
  if (event.tableId === tableId) return true;
  const drops = command.kind === "alter table" && command.action.kind === "drop constraint";
  return (drops || command.kind === "reindex") && event.kind === "referenced" && event.reference.tableId === tableId;
}

function tablesOf(command: DdlCommand): readonly RelationName[] {
  switch (command.kind) {
    case "alter table":
      return [command.table];
    case "drop table":
    case "reindex":
    case "truncate":
      return command.tables;
    default:
      return [];
  }
}

/** The constraint that the event is about, as it is defined now or was then. */
function keyOf(event: ConstraintEvent, catalog: CatalogView): Deferrability | null {
  if (event.kind === "unique") {
    const index = catalog.tableById(event.tableId)?.indexes.find(({ id }) => id === event.indexId);
    return index === undefined ? null : deferrabilityOf(index);
  }
  if (event.kind === "trigger") return deferrabilityOfTrigger(event);
  if (event.kind === "referencing") return event.foreignKey;
  const table = catalog.tableById(event.reference.tableId);
  return table?.foreignKeys?.find(({ id }) => id === event.reference.foreignKeyId) ?? null;
}
