/** Runs the statements of rules for one row, or once for a statement. Called by routine-runner.ts. */
import { keptRule, type RuleActions } from "../../catalog/trigger.js";
import type { TriggerAnswer } from "../../query/exec/context.js";
import type { TriggerFiring } from "../../query/exec/trigger-firing.js";
import { recordOf, type Value } from "../../values/values.js";
import { rowVariables } from "../bind/row-variables.js";
import { requireReadableRow } from "../bind/rule-rows.js";
import type { CreateRuleStatement } from "../parse/ast.js";
import { parseSql } from "../parse/parse.js";
import type { RoutinePlan } from "./host.js";
import type { Invocation } from "./prepared-routine.js";

/** By the rule's definition. */
const planned = new WeakMap<RuleActions, { readonly epoch: string; readonly plans: readonly RoutinePlan[] }>();

/**
 * The row that RETURNING gave, else the row at hand; null: a conditional rule stands in for what happens to the row.
 */
export function runRule(
  rule: RuleActions,
  firing: TriggerFiring,
  invocation: Invocation,
): TriggerAnswer | Promise<TriggerAnswer> {
  const { before, after, trigger } = firing;
  const plans = plansOf(rule, firing, invocation);
  const own: TriggerAnswer = trigger.timing === "before" ? null : (after ?? before);
  const params: readonly Value[] = [after, before];
  const { host, context, canWait } = invocation;
  const from = (i: number, answer: TriggerAnswer): TriggerAnswer | Promise<TriggerAnswer> => {
    for (let at = i; at < plans.length; at++) {
      const plan = plans[at]!;
      context.checkpoint();
      const run = host.run(plan, params, context, { maxRows: Number.MAX_SAFE_INTEGER, canWait });
      const next = ({ rows }: { readonly rows: readonly TriggerAnswer[] }): TriggerAnswer => {
        const returns = rule.returns && plan.bound.kind === "query" && plan.bound.returnsRows;
        return returns ? (rows[0] ?? null) : answer;
      };
      if (run instanceof Promise) return run.then((done) => from(at + 1, next(done)));
      answer = next(run);
    }
    return answer;
  };
  return from(0, own);
}

function plansOf(
  rule: RuleActions,
  { relation }: TriggerFiring,
  { host, context }: Invocation,
): readonly RoutinePlan[] {
  const epoch = host.epoch(context);
  const known = planned.get(rule);
  if (known?.epoch === epoch) return known.plans;
  const { actions } = parseSql(rule.sql)[0]!.node as CreateRuleStatement;
  const kept = keptRule(rule);
  // The row's columns have the names that they had then.
  const then = kept?.relations.find(({ id }) => id === relation.id);
  const nameOf = (id: number) => then?.columns.find((column) => column.id === id)?.name;
  const columns = relation.columns.map((column) => ({ ...column, name: nameOf(column.id) ?? column.name }));
  const variables = rowVariables(recordOf(columns, relation.name));
  const names = kept === null ? { searchPath: rule.searchPath } : { kept };
  requireReadableRow(relation, columns, actions, host.environment(context));
  const plans = actions.map((action) => host.plan(action, { variables, ...names }, context));
  planned.set(rule, { epoch, plans });
  return plans;
}
