/**
 * Work inside the evaluation of an expression, which cannot wait: correlated subqueries and functions that statements
 * made. The operators give way between two of them (filter.ts, project.ts). A single one must not hold up the actor,
 * whose loop would not even learn that the client has disconnected, so it is ended when it takes too long.
 */
import { sqlError } from "../../protocol/errors.js";
import { UNINTERRUPTED_MS_MAX } from "../../protocol/limits.js";
import type { ExecContext } from "./context.js";

const never = () => false;

/** A context that asks for no turns. Its checkpoint throws 57014 when the work has gone on for too long. */
export function uninterrupted(context: ExecContext): ExecContext {
  // Nested work ends with the outer work.
  if (context.isUninterrupted) return context;
  const end = performance.now() + UNINTERRUPTED_MS_MAX;
  const checkpoint = (): void => {
    context.checkpoint();
    if (performance.now() > end) {
      throw sqlError("57014", "canceling statement due to a function or subquery that runs too long for one row", {
        hint: `Inside an expression, one call may take ${UNINTERRUPTED_MS_MAX / 1000} s. Call the function in FROM or as an item of the select list, or write the subquery as a join.`,
      });
    }
  };
  return { ...context, checkpoint, shouldYield: never, isUninterrupted: true };
}
