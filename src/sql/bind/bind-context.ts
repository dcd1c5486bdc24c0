/** The context of an expression: what names mean there and what is allowed. */
import type { Binding } from "./binding.js";
import type { Scope } from "./scope.js";
import type { SetCollector } from "./set-collector.js";

export interface ExprContext {
  readonly binding: Binding;
  readonly scope: Scope;
  /** The clause, as messages name it: "WHERE", "JOIN conditions", "VALUES". */
  readonly clause: string;
  /** Whether aggregates of this query may stand here. */
  readonly aggregates: boolean;
  /** Whether window functions may stand here. */
  readonly windows: boolean;
  readonly subqueries: boolean;
  /** Where set-returning calls of this query are collected; absent where none may stand. */
  readonly sets?: SetCollector;
  /** A function that a statement made may be called beside the row's other expressions, where it can wait. */
  readonly mayWait?: boolean;
  /** Why none may stand here, when it is not the clause that forbids it. */
  readonly setsRefused?: string;
}

export function contextOf(binding: Binding, scope: Scope, clause: string): ExprContext {
  return { binding, scope, clause, aggregates: false, windows: false, subqueries: true };
}

/** The same place inside a construct that must have one value: CASE, COALESCE. */
export function withoutSets(context: ExprContext, construct: string): ExprContext {
  const { sets: _, ...rest } = context;
  return { ...rest, setsRefused: `set-returning functions are not allowed in ${construct}` };
}
