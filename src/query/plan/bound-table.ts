/**
 * The expressions of a table's definition, bound over one row: made by sql/bind, compiled by exec/table-expressions.ts
 * and matched by optimize.
 */
import type { Expr } from "../expr/expr.js";
import type { BoundCheck } from "./change-plans.js";
import type { IndexExprs } from "./index-exprs.js";
import type { PartitionMembership } from "./partition-tree.js";
import type { OutputColumn } from "./plan.js";

/** Expressions over `columns`, which are the table's, in its order. */
export interface BoundTable {
  readonly columns: readonly OutputColumn[];
  readonly generated: readonly { readonly columnId: number; readonly expr: Expr }[];
  /** By id, of indexes with expressions or a predicate; a key that is a column is null. */
  readonly indexes: IndexExprs;
  /** null: no trigger has a condition. */
  readonly triggers: TriggerConditions | null;
  /** Bound when it is called. */
  readonly rules: () => RowRules;
}

/** What a row has to satisfy that no statement has bound checks for. NOT NULL and keys are the writer's. */
export interface RowRules {
  readonly checks: readonly BoundCheck[];
  /** Of columns that have domains: their values, which throw when a domain refuses them. */
  readonly domains: readonly Expr[];
  readonly membership: readonly PartitionMembership[];
}

/** WHEN of triggers, over the row as it was and as it will be; each is parallel to the table's columns. */
export interface TriggerConditions {
  readonly before: readonly OutputColumn[];
  readonly after: readonly OutputColumn[];
  /** By the trigger's id. */
  readonly byTrigger: ReadonlyMap<number, Expr>;
}
