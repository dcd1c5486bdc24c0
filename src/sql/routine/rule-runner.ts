/** Runs the statements of rules for one row, or once for a statement. Called by routine-runner.ts. */
import { keptRule, type RuleActions } from "../../catalog/trigger.js";
import type { TriggerAnswer } from "../../query/exec/context.js";
import type { TriggerFiring } from "../../query/exec/trigger-firing.js";
import { recordOf, type Value } from "../../values/values.js";
import { rowVariables } from "../bind/row-variables.js";
import { conditionQuery } from "../bind/rule-condition.js";
import { requireReadableRow } from "../bind/rule-rows.js";
import type { CreateRuleStatement, StatementNode } from "../parse/ast.js";
import { parseSql } from "../parse/parse.js";
import type { RoutinePlan } from "./host.js";
import type { Invocation } from "./prepared-routine.js";

/** By the rule's definition. */
const planned = new WeakMap<RuleActions, { readonly epoch: string; readonly plans: RulePlans }>();

interface RulePlans {
  /** Of a WHERE with a subquery. */
  readonly condition: RoutinePlan | null;
  readonly actions: readonly RoutinePlan[];
}

/**
 * The row that RETURNING gave, else the row at hand; null: a conditional rule stands in for what happens to the row.
 */
export function runRule(
  rule: RuleActions,
  firing: TriggerFiring,
  invocation: Invocation,
): TriggerAnswer | Promise<TriggerAnswer> {
  const { before, after, trigger } = firing;
  const { condition, actions: plans } = plansOf(rule, firing, invocation);
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
  if (condition === null) return from(0, own);
  // The statement goes on with a row for which the condition does not hold. Of a view there is nothing to go on with.
  const left = trigger.timing === "instead of" ? null : (after ?? before);
  const decided = ({ rows }: { readonly rows: readonly TriggerAnswer[] }) =>
    rows[0]?.[0] === true ? from(0, own) : left;
  const asked = host.run(condition, params, context, { maxRows: 1, canWait });
  return asked instanceof Promise ? asked.then(decided) : decided(asked);
}

function plansOf(rule: RuleActions, { relation }: TriggerFiring, { host, context }: Invocation): RulePlans {
  const epoch = host.epoch(context);
  const known = planned.get(rule);
  if (known?.epoch === epoch) return known.plans;
  const { actions, where } = parseSql(rule.sql)[0]!.node as CreateRuleStatement;
  const kept = keptRule(rule);
  // The row's columns have the names that they had then.
  const then = kept?.relations.find(({ id }) => id === relation.id);
  const nameOf = (id: number) => then?.columns.find((column) => column.id === id)?.name;
  const columns = relation.columns.map((column) => ({ ...column, name: nameOf(column.id) ?? column.name }));
  const variables = rowVariables(recordOf(columns, relation.name));
  const names = kept === null ? { searchPath: rule.searchPath } : { kept };
  requireReadableRow(relation, columns, [where, actions], host.environment(context));
  const planOf = (node: StatementNode) => host.plan(node, { variables, ...names }, context);
  const plans = {
    condition: rule.asks === true ? planOf(conditionQuery(where!)) : null,
    actions: actions.map(planOf),
  };
  planned.set(rule, { epoch, plans });
  return plans;
}
