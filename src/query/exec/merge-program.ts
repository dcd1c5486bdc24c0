/** A MERGE made ready to run, by merge.ts, for itself and for triggered-merge.ts. */
import type { Predicate } from "../expr/compile.js";
import type { Evaluate } from "../expr/expr.js";
import type { MergeAction, MergePlan } from "../plan/change-plans.js";
import type { FamilyProgram } from "./family.js";
import type { RouteProgram } from "./partition-router.js";
import type { RowCheck } from "./row-checks.js";

export interface Action {
  readonly match: MergeAction["match"];
  readonly kind: MergeAction["action"];
  readonly condition: Predicate | null;
  /** Per live column its new value, or null when it keeps the old one. */
  readonly newValues: readonly (Evaluate | null)[];
  readonly assigned: ReadonlySet<number>;
  /** Null: no policy decides. */
  readonly policies: { readonly using: readonly RowCheck[]; readonly checks: readonly RowCheck[] } | null;
}

export interface MergeProgram {
  readonly plan: MergePlan;
  readonly columnIds: readonly number[];
  /** Per live column, where the input has its old value. */
  readonly oldSlots: readonly number[];
  readonly rowKeySlot: number;
  readonly inSourceSlot: number;
  readonly actions: readonly Action[];
  readonly checks: readonly RowCheck[];
  /** Null: all rows that are there are the table's own. */
  readonly family: FamilyProgram | null;
  readonly routes: RouteProgram;
}
