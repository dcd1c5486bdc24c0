import type { Plan } from "./plan.js";

/** The plan's columns without a row. */
export function emptyOf(plan: Plan): Plan {
  return Object.freeze({ kind: "values", rows: [], columns: plan.columns });
}
