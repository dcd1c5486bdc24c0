/**
 * Work inside the evaluation of an expression, which cannot wait: correlated subqueries and functions that statements
 * made. Between two of them the operators give way (filter.ts, project.ts); one of them alone may not hold up the actor,
 * whose loop would not even hear that its client has gone.
 */
import { sqlError } from "../../protocol/errors.js";
import { UNINTERRUPTED_MS_MAX } from "../../protocol/limits.js";
import type { ExecContext } from "./context.js";

const never = () => false;

/** A context that asks for no turns. Its checkpoint throws 57014 when the work has gone on for too long. */
export function uninterrupted(context: ExecContext): ExecContext {
  // Work inside of such work ends with it.
  if (context.shouldYield === never) return context;
  const end = performance.now() + UNINTERRUPTED_MS_MAX;
  const checkpoint = (): void => {
    context.checkpoint();
    if (performance.now() > end) {
      throw sqlError("57014", "canceling statement due to a function or subquery that runs too long for one row", {
        hint: `One call may take ${UNINTERRUPTED_MS_MAX / 1000} s where it stands inside an expression. Call it in FROM or as an item of the select list, or write the subquery as a join.`,
      });
    }
  };
  return { ...context, checkpoint, shouldYield: never };
}

/** Whether work in this context may not wait for anything. */
export function isUninterrupted({ shouldYield }: ExecContext): boolean {
  return shouldYield === never;
}
