/**
 * Refuses FOR UPDATE and the like for the side of an outer join that may be without a row: there would be nothing to
 * hold. It comes after the filters, because a condition that refuses NULL makes an outer join an inner one.
 */
import { sqlError } from "../../protocol/errors.js";
import type { LockStrength } from "../../protocol/lock-strength.js";
import type { ColumnId } from "../expr/expr.js";
import type { JoinPlan, LockPlan, Plan } from "../plan/plan.js";
import { childrenOf } from "../plan/walk.js";
import type { Rule } from "./rule.js";

export const refuseLocks: Rule = {
  name: "refuse-locks",
  places: [255],
  apply: (plan) => {
    checkLocks(plan);
    return plan;
  },
};

function checkLocks(plan: Plan): void {
  if (plan.kind === "lock") requireRows(plan.input, keysOf(plan), plan.strength);
  for (const child of childrenOf(plan)) checkLocks(child);
}

const keysOf = ({ keys }: LockPlan): ReadonlySet<ColumnId> =>
  new Set(keys.flatMap((key) => (key.kind === "column" ? [key.id] : [])));

/** Throws 0A000. */
function requireRows(plan: Plan, keys: ReadonlySet<ColumnId>, strength: LockStrength): void {
  if (plan.kind === "join" && nullableSides(plan).some(({ columns }) => columns.some(({ id }) => keys.has(id)))) {
    const clause = `FOR ${strength.toUpperCase()}`;
    throw sqlError("0A000", `${clause} cannot be applied to the nullable side of an outer join`, {
      hint: `Name the tables to lock: ${clause} OF …`,
    });
  }
  for (const child of childrenOf(plan)) requireRows(child, keys, strength);
}

function nullableSides({ type, left, right }: JoinPlan): readonly Plan[] {
  switch (type) {
    case "left":
      return [right];
    case "right":
      return [left];
    case "full":
      return [left, right];
    default:
      return [];
  }
}
