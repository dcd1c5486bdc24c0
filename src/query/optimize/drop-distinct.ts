/**
 * Drops DISTINCT over rows that are distinct anyway: all columns of a unique key without NULLs are among them, or they
 * are groups.
 */
import type { ColumnId } from "../expr/expr.js";
import type { DistinctPlan, Plan } from "../plan/plan.js";
import { mapPlan } from "../plan/walk.js";
import { keyColumnIds, keyConditionsOf, keysOfTable } from "./key-conditions.js";
import type { Rule } from "./rule.js";

export const dropDistinct: Rule = {
  name: "drop-distinct",
  places: [340],
  apply: (plan) => mapPlan(plan, (node) => (node.kind === "distinct" && node.on === null ? dropped(node) : node)),
};

function dropped(plan: DistinctPlan): Plan {
  const ids = new Set(plan.columns.map(({ id }) => id));
  return isUnique(plan.input, ids) ? plan.input : plan;
}

/** No two rows of the plan agree in all of these columns; "no NULLs": of those rows that have no NULL there. */
export function isUnique(plan: Plan, ids: ReadonlySet<ColumnId>, nulls: "NULLs" | "no NULLs" = "NULLs"): boolean {
  switch (plan.kind) {
    case "pointget":
      return true;
    case "scan":
    case "indexscan": {
      const shown = new Set(plan.source.filter((_, i) => ids.has(plan.columns[i]!.id)));
      // A column that has one value in all rows tells none of them apart.
      if (plan.kind === "scan") {
        for (const { op, columnId, isWider } of keyConditionsOf(plan)) if (op === "=" && !isWider) shown.add(columnId);
      }
      return keysOfTable(plan.table).some((key) => {
        if (key !== "primary key" && !key.unique) return false;
        const columns = keyColumnIds(plan.table, key);
        const nullable = nulls === "NULLs" && key !== "primary key";
        return columns.every((id) => shown.has(id) && (!nullable || isNotNull(plan.table.columns, id)));
      });
    }
    case "project": {
      const below = plan.exprs.flatMap((expr, i) =>
        expr.kind === "column" && ids.has(plan.columns[i]!.id) ? [expr.id] : [],
      );
      return isUnique(plan.input, new Set(below), nulls);
    }
    case "filter":
    case "sort":
    case "limit":
    case "topn":
      return isUnique(plan.input, ids, nulls);
    case "aggregate":
      // Several grouping sets may have the same groups, and NULL in place of what they leave out.
      if (plan.grouping !== undefined && plan.grouping.sets.length > 1) return false;
      return plan.columns.slice(0, plan.groups.length).every(({ id }) => ids.has(id));
    case "join":
    case "hashjoin":
      return (plan.type === "semi" || plan.type === "anti") && isUnique(plan.left, ids, nulls);
    default:
      return false;
  }
}

function isNotNull(columns: readonly { readonly id: number; readonly notNull: boolean }[], id: number): boolean {
  return columns.find((column) => column.id === id)?.notNull === true;
}
