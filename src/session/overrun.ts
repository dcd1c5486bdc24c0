/**
 * Handles a statement that computed too long without giving way (protocol/stretch.ts). It is run again by a plan that
 * can wait within expressions. If something in it still cannot wait (a check, an index's expression, a function's
 * body), it is run once more in long turns; after that it ends with an error. Used by the session, which runs each
 * attempt.
 */
import { DbError, sqlError } from "../protocol/errors.js";
import { UNINTERRUPTED_MS_MAX } from "../protocol/limits.js";
import { sizeError } from "../protocol/size-errors.js";
import { allowLongStretch, Overrun } from "../protocol/stretch.js";
import type { Outcome } from "./sql-result.js";
import type { StatementPlan } from "./statement-plan.js";
import type { StatementRun } from "./statement-run.js";

/** Whether the statement may as well be run in that way at once. */
export function isKnownToOverrun(plan: StatementPlan | null, run: StatementRun): boolean {
  return plan !== null && plan.overruns > 1 && run.waits !== true;
}

/** The statement as it is to be run again; null: not because of this error. Throws 57014 when there is no other way. */
export function afterOverrun(error: unknown, plan: StatementPlan | null, run: StatementRun): StatementRun | null {
  if (!(error instanceof Overrun) || run.request.hasActed === true) return null;
  if (plan !== null) plan.overruns++;
  if (run.waits !== true) return { ...run, waits: true };
  return run.inLongTurns === true ? null : inLongTurns(run);
}

/** Each turn of the run may take as long as anything may that cannot give way. */
function inLongTurns(run: StatementRun): StatementRun {
  const { request } = run;
  return {
    ...run,
    inLongTurns: true,
    request: {
      trace: request.trace ?? null,
      checkpoint: () => request.checkpoint(),
      shouldYield: () => request.shouldYield(),
      yieldTurn: async () => {
        await request.yieldTurn();
        allowLongStretch(UNINTERRUPTED_MS_MAX);
      },
      origin: request.origin ?? request,
      standsFor: request.standsFor ?? request,
      signal: request.signal,
    },
  };
}

/** The client's error for an Overrun that cannot be resolved. */
export function overrunError() {
  return sqlError("57014", "canceling statement due to an expression that computes too long for one row", {
    hint: `Some expressions cannot be interrupted for other requests. They may take ${UNINTERRUPTED_MS_MAX / 1000} s at a time. Compute less in one expression, or use smaller values.`,
  });
}

/** A further attempt begins in a turn of its own: the one before has used up more than one. */
export async function inItsOwnTurn({ request }: StatementRun, run: () => Outcome | Promise<Outcome>): Promise<Outcome> {
  await request.yieldTurn();
  return run();
}

/**
 * What a client is told of something thrown. What is no error of its statement is thrown on: the actor logs it and ends
 * the connection.
 */
export function expectedError(thrown: unknown): DbError {
  if (thrown instanceof DbError) return thrown;
  if (thrown instanceof Overrun) return overrunError();
  const tooLarge = sizeError(thrown);
  if (tooLarge !== null) return tooLarge;
  throw thrown;
}
