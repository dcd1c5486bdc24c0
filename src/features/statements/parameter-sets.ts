/**
 * One statement with several sets of parameters: `parameters: [[…], […]]`. It runs once per set, in one transaction.
 * Called by the routes of single statements and of batches.
 */

import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import type { Notice } from "../../protocol/notice.js";
import { Repetition } from "../../session/repeated-run.js";
import type { Session } from "../../session/session.js";
import { countOutcome, type Outcome } from "../../session/sql-result.js";
import type { StatementPlan } from "../../session/statement-plan.js";
import type { ParameterValues, StatementRun } from "../../session/statement-run.js";
import type { SqlType } from "../../values/values.js";
import { errorAt, together } from "./run-together.js";

type ParameterSets = readonly (readonly unknown[])[];

/** The values as sets of parameters, if they can be; whether they are depends on the statement. */
export function possibleSets(values: ParameterValues): ParameterSets | null {
  if (!Array.isArray(values) || values.length === 0) return null;
  return values.every((value) => Array.isArray(value)) ? (values as ParameterSets) : null;
}

const takesList = ({ name, element }: SqlType): boolean =>
  element !== null ||
  name === "json" ||
  name === "jsonb" ||
  name === "vector" ||
  name === "halfvec" ||
  name === "variant";

/** Null: the values are no sets, and nothing was done. */
export function executeSets(request: Request, run: StatementRun, sets: ParameterSets, answer: SetsAnswer) {
  return together(
    request,
    request,
    (_, session) => runSets(request, session, run, sets),
    (tx, outcome) => {
      if (outcome === null) tx.rollback();
      else request.commit(tx, answer(outcome));
    },
  );
}

type SetsAnswer = (outcome: Outcome) => Parameters<Request["commit"]>[1];

/** As `executeSets`, in a transaction of the session's own unless one is open, which an error leaves failed. */
export async function executeSetsIn(
  request: Request,
  session: Session,
  run: StatementRun,
  sets: ParameterSets,
): Promise<Outcome | null> {
  if (session.inTransaction) return runSets(request, session, run, sets);
  session.begin({});
  try {
    const outcome = await runSets(request, session, run, sets);
    await session.prepareCommit(request);
    session.commit((tx) => request.commitPart(tx));
    return outcome;
  } finally {
    if (session.inTransaction) session.rollback();
  }
}

async function runSets(
  request: Request,
  session: Session,
  run: StatementRun,
  sets: ParameterSets,
): Promise<Outcome | null> {
  const plan = planOf(session, { ...run, params: sets[0]! });
  if (plan === null || plan.parameterNames !== null) return null;
  const { length } = plan.parameterTypes;
  if (length === 0 || !sets.every((set) => set.length === length)) return null;
  if (sets.length === length && areValues(session, run)) return null;
  requireNoRows(plan, run.paramsField);
  const repetition = new Repetition(sets);
  try {
    if (await session.executeRepeated(run, repetition)) {
      return { ...countOutcome(sets.length, run.collector), notices: [...(repetition.notices?.values() ?? [])].flat() };
    }
    return await runEach(request, session, run, repetition);
  } catch (error) {
    throw errorAt(error, { parameter_set: repetition.done });
  }
}

async function runEach(
  request: Request,
  session: Session,
  run: StatementRun,
  repetition: Repetition,
): Promise<Outcome> {
  const { sets } = repetition;
  const notices: Notice[] = [];
  let affected = 0;
  for (repetition.done = 0; repetition.done < sets.length; repetition.done++) {
    const outcome = await session.execute({ ...run, params: sets[repetition.done]! }, (tx) => tx.rollback());
    affected += outcome.rowsAffected ?? 0;
    notices.push(...outcome.notices);
    if (request.shouldYield()) await request.yieldTurn();
  }
  return { ...countOutcome(affected, run.collector), notices };
}

/** There is one list for each parameter: each can take its list, so the lists are values as ever. */
function areValues(session: Session, run: StatementRun): boolean {
  return planOf(session, run)?.parameterTypes.every(takesList) === true;
}

/** Null: the statement cannot be planned with such values. With other values it perhaps can. */
function planOf(session: Session, run: StatementRun): StatementPlan | null {
  try {
    return session.planNow(run);
  } catch (error) {
    if (error instanceof DbError) return null;
    throw error;
  }
}

function requireNoRows({ bound }: StatementPlan, field = "parameters"): void {
  if (bound.kind === "query" && !bound.returnsRows) return;
  throw new DbError(
    "invalid_request",
    "Several sets of parameters are for INSERT, UPDATE, DELETE and MERGE without RETURNING. Send a batch with one statement per set.",
    { field },
  );
}
