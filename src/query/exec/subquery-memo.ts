/**
 * Answers of correlated subqueries within one statement, by the outer values they were run for: rows with the same
 * values need one run. Used by subquery.ts; owned by the statement's state. Volatile subqueries are left out, and so
 * are values without a short text.
 */
import { Numeric } from "../../values/numeric.js";
import type { Value } from "../../values/values.js";
import type { SubqueryExpr } from "../expr/expr.js";
import { isVolatile } from "../expr/walk.js";
import type { Plan } from "../plan/plan.js";
import { exprsOfPlan, modifiesData, subqueriesOf, walkPlan } from "../plan/walk.js";
import type { ExecContext, SubqueryAnswers } from "./context.js";
import { SET_ENTRY_BYTES } from "./distinct.js";
import { sumOfBytes } from "./value-bytes.js";

/** Answers that are kept per subquery; further ones are computed again. */
const ANSWERS_MAX = 10_000;
const KEY_CHARACTERS_MAX = 256;

export class SubqueryMemo implements SubqueryAnswers {
  private readonly answers = new Map<SubqueryExpr, Map<string, readonly Value[]>>();

  /** The answer for the context's outer values, from `run` when it is not known. */
  answer(expr: SubqueryExpr, context: ExecContext, run: () => readonly Value[]): readonly Value[] {
    const key = keyOf(expr, context);
    if (key === null) return run();
    let known = this.answers.get(expr);
    if (known === undefined) {
      known = new Map();
      this.answers.set(expr, known);
    }
    let values = known.get(key);
    if (values !== undefined) return values;
    values = run();
    if (known.size < ANSWERS_MAX) {
      context.statement.reserve(SET_ENTRY_BYTES + 2 * key.length + sumOfBytes(values, values.length));
      known.set(key, values);
    }
    return values;
  }
}

/** The outer values as text, each with its type and length; null when one has none. */
function keyOf(expr: SubqueryExpr, { outer }: ExecContext): string | null {
  let key = "";
  for (const id of expr.outer) {
    const value = outer?.get(id) ?? null;
    if (typeof value === "object" && value !== null && !(value instanceof Numeric)) return null;
    const text = String(value);
    key += `${typeof value === "object" ? "n" : (typeof value)[0]}${text.length}:${text}`;
    if (key.length > KEY_CHARACTERS_MAX) return null;
  }
  return key;
}

/** Whether the plan gives the same rows each time, as far as it reads the same outer values. */
export function isRepeatable(plan: Plan): boolean {
  if (modifiesData(plan)) return false;
  let repeatable = true;
  walkPlan(plan, (node) => {
    if (exprsOfPlan(node).some(isVolatile)) repeatable = false;
    if (subqueriesOf(node).some((inner) => !isRepeatable(inner.plan))) repeatable = false;
  });
  return repeatable;
}
