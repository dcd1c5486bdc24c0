/**
 * Runs one INSERT for many sets of parameters in a client's transaction, each set as a statement of its own; the plan
 * is looked up once and opened once (query/exec/repeated-insert.ts). The session's StatementRunner calls it.
 */
import type { Notice } from "../protocol/notice.js";
import type { ExecContext } from "../query/exec/context.js";
import { compileRepeatedInsert, type RepeatedInsert } from "../query/exec/repeated-insert.js";
import { StepBudget } from "../query/exec/step-budget.js";
import { auditedTables } from "../query/plan/audited-tables.js";
import type { Value } from "../values/values.js";
import { sameOpenTypes } from "./plan-cache.js";
import type { StatementPlan } from "./statement-plan.js";
import type { ParameterValues } from "./statement-run.js";

/** The sets of parameters, and how far the run has come: after an error, `done` is the place of the set that failed. */
export class Repetition {
  done = 0;
  /** Of runs that had something to tell, by the place of their set. */
  notices: Map<number, readonly Notice[]> | null = null;

  constructor(readonly sets: readonly ParameterValues[]) {}
}

/** What single runs ask of the session. */
export interface RepeatedSteps {
  /** The values of a set, as the plan wants them. */
  parameters(set: ParameterValues): readonly Value[] | Promise<readonly Value[]>;
  /** The time at which the next run begins. */
  nowMicros(): number;
  /** What is left to do when a run's row is stored. */
  settle(context: ExecContext, set: ParameterValues): void | Promise<void>;
}

const programs = new WeakMap<StatementPlan, { readonly insert: RepeatedInsert | null }>();

/** The plan as something that runs for many sets of parameters; null: each set needs a run of its own. */
export function repeatedInsertOf(plan: StatementPlan, { sets }: Repetition): RepeatedInsert | null {
  if (plan.program === null || plan.checks.length > 0 || plan.parameterNames !== null) return null;
  if (plan.openParameters.length > 0 && !sets.every((set) => sameOpenTypes(plan, set))) return null;
  let known = programs.get(plan);
  if (known === undefined) {
    // Each row of an audited table is an entry of its own.
    const { plan: inserts } = plan.program;
    known = { insert: auditedTables(inserts) === null ? compileRepeatedInsert(inserts) : null };
    programs.set(plan, known);
  }
  return known.insert;
}

/** `values`: the list that is the context's parameters, which each set fills. */
export async function insertRepeatedly(
  insert: RepeatedInsert,
  repetition: Repetition,
  context: ExecContext,
  values: Value[],
  steps: RepeatedSteps,
): Promise<void> {
  const { sets } = repetition;
  const budget = new StepBudget();
  const inserter = insert.open(context);
  try {
    for (; repetition.done < sets.length; repetition.done++) {
      const set = sets[repetition.done]!;
      const given = steps.parameters(set);
      const taken = given instanceof Promise ? await given : given;
      for (let i = 0; i < taken.length; i++) values[i] = taken[i]!;
      (context as { statementMicros: number }).statementMicros = steps.nowMicros();
      inserter.insertRow();
      const settled = steps.settle(context, set);
      if (settled instanceof Promise) await settled;
      if (--budget.left > 0) continue;
      context.checkpoint();
      const isDue = context.shouldYield();
      if (isDue) await context.yieldTurn();
      budget.renew(isDue);
    }
  } finally {
    inserter.close();
  }
}
