/** The place at which an expression stands: what its names mean and what is allowed there. */
import type { Binding } from "./binding.js";
import type { Scope } from "./scope.js";

export interface ExprContext {
  readonly binding: Binding;
  readonly scope: Scope;
  /** The clause, as messages name it: "WHERE", "JOIN conditions", "VALUES". */
  readonly clause: string;
  /** Whether aggregates of this query may stand here. */
  readonly aggregates: boolean;
  readonly subqueries: boolean;
}

export function contextOf(binding: Binding, scope: Scope, clause: string): ExprContext {
  return { binding, scope, clause, aggregates: false, subqueries: true };
}
