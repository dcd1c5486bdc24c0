/**
 * Moves calls of deferred functions (EMBED by a model in another thread, NLI_CLASSIFY, GENERATE) out of expressions
 * into `deferred` nodes below, because expressions cannot wait. It is not a rule: without it such a call cannot be
 * computed. It runs before all rules, so they see columns. Calls that read no column stay until the end
 * (deferred-constants.ts).
 *
 *   Project: id, upper(generate(body))        Project: id, upper(#-1)
 *     Filter: id > 3                     ⇒      Deferred: generate(body) AS #-1
 *       Seq Scan on note                          Filter: id > 3
 *                                                   Seq Scan on note
 */
import { sqlError } from "../../protocol/errors.js";
import type { Expr } from "../expr/expr.js";
import { andOf, columnsOf, conjuncts, walkExpr } from "../expr/walk.js";
import { columnsChangedBy, columnsMadeBy, mapExprsOfStep, variablesOf } from "../plan/graph-steps.js";
import type { AggregatePlan, FilterPlan, JoinPlan, Plan, TableFunctionPlan } from "../plan/plan.js";
import { childrenOf, exprsOfPlan, mapExprsOfPlan, mapSubqueries, withChildren } from "../plan/walk.js";
import { DeferredCalls } from "./deferred-calls.js";
import { deferredInChanges } from "./deferred-changes.js";
import { hasCalls, hasToMove, isWaitingSubquery, refuseIn, type Waits } from "./deferred-parts.js";
import { deferredInValues } from "./deferred-values.js";
import { filtered, withColumns } from "./rule.js";

/** Throws 0A000, with the position of the call, where a call cannot be moved. */
export function liftDeferred(plan: Plan, waits: Waits): Plan {
  return hasCalls(plan, waits) ? lifted(plan, waits) : plan;
}

function lifted(plan: Plan, waits: Waits): Plan {
  const inputs = childrenOf(plan).map((child) => lifted(child, waits));
  const node = mapSubqueries(withChildren(plan, inputs), (subquery) => lifted(subquery, waits));
  const hasCalls = "generated" in node || exprsOfPlan(node).some((expr) => hasToMove(expr, waits));
  return hasCalls ? moved(node, waits) : node;
}

function moved(node: Plan, waits: Waits): Plan {
  switch (node.kind) {
    case "project":
    case "projectset":
    case "sort":
    case "topn":
    case "window":
    case "distinct": {
      const calls = new DeferredCalls(waits, node.input);
      const changed = mapExprsOfPlan(node, (expr) => calls.lift(expr)) as typeof node;
      return withColumns(withChildren(changed, [calls.stacked()]), node.columns);
    }
    case "filter":
      return filter(node, waits);
    case "aggregate":
      return aggregate(node, waits);
    case "join":
      return join(node, waits);
    case "values":
      return deferredInValues(node, waits);
    case "tablefunction":
      return tableFunction(node, waits);
    case "match":
      if (!node.optional) {
        const [later, now] = partition(conjuncts(node.predicate), (condition) => hasToMove(condition, waits));
        const rest = Object.freeze({ ...node, predicate: andOf(now) });
        if (!exprsOfPlan(rest).some((expr) => hasToMove(expr, waits))) return moved(filtered(rest, later), waits);
      }
      return refuse(node, waits, "in an OPTIONAL MATCH or in a pattern");
    case "graphwrite": {
      const calls = new DeferredCalls(waits, node.input);
      const made = [...variablesOf(node.steps), ...columnsMadeBy(node.steps).map(({ id }) => id)];
      const steps = node.steps.map((step, i) => {
        const known = new Set([...made, ...columnsChangedBy(node.steps.slice(0, i))]);
        return mapExprsOfStep(step, (expr) => {
          if (!hasToMove(expr, waits)) return expr;
          if (![...columnsOf(expr)].some((id) => known.has(id))) return calls.lift(expr);
          return refuseIn(expr, waits, "on what the same statement made");
        });
      });
      const changed: Plan = Object.freeze({ ...node, steps });
      return withColumns(withChildren(changed, [calls.stacked(), ...childrenOf(changed).slice(1)]), node.columns);
    }
    case "insert":
    case "update":
    case "delete":
    case "merge":
      return deferredInChanges(node, waits);
    default:
      return refuse(node, waits, "here");
  }
}

/** What is cheap sorts rows out first; then one condition after the other. */
function filter(node: FilterPlan, waits: Waits): Plan {
  const [later, now] = partition(conjuncts(node.predicate), (condition) => hasToMove(condition, waits));
  let calls = new DeferredCalls(waits, filtered(node.input, now));
  for (const condition of later) {
    const predicate = calls.lift(condition);
    calls = new DeferredCalls(waits, filtered(calls.stacked(), [predicate]));
  }
  return withColumns(calls.stacked(), node.columns);
}

/** Arguments are only needed in rows that pass the call's FILTER. */
function aggregate(node: AggregatePlan, waits: Waits): Plan {
  const calls = new DeferredCalls(waits, node.input);
  const groups = node.groups.map((expr) => calls.lift(expr));
  const lifted = node.calls.map((call) => {
    const filter = call.filter && calls.lift(call.filter);
    const within = (expr: Expr) => calls.lift(expr, filter);
    return {
      ...call,
      filter,
      args: call.args.map(within),
      orderBy: call.orderBy.map((key) => ({ ...key, expr: within(key.expr) })),
      ...(call.direct && { direct: call.direct.map((expr) => calls.lift(expr)) }),
    };
  });
  return Object.freeze({ ...node, groups, calls: lifted, input: calls.stacked() });
}

/** Of an inner join such a condition is a filter; of an outer one it can read one side only. */
function join(node: JoinPlan, waits: Waits): Plan {
  const [later, now] = partition(conjuncts(node.condition), (condition) => hasToMove(condition, waits));
  if (node.type === "inner") {
    return moved(filtered(Object.freeze({ ...node, condition: andOf(now) }), later), waits);
  }
  const sides = [node.left, node.right].map((side) => new DeferredCalls(waits, side));
  const conditions = later.map((condition) => {
    const side = sides.find((calls) => calls.has(columnsWaitedFor(condition, waits)));
    return side === undefined ? refuseIn(condition, waits, "with both sides of an outer join") : side.lift(condition);
  });
  const [left, right] = sides.map((calls) => calls.stacked()) as [Plan, Plan];
  const joined = Object.freeze({ ...node, condition: andOf([...now, ...conditions]) });
  return withColumns(withChildren(joined, [left, right]), node.columns);
}

function columnsWaitedFor(condition: Expr, waits: Waits): Set<number> {
  const read = new Set<number>();
  walkExpr(condition, (part) => {
    const isItem = waits(part) || isWaitingSubquery(part);
    if (isItem) for (const id of columnsOf(part)) read.add(id);
    return !isItem;
  });
  return read;
}

/** Its arguments read rows of enclosing queries: they are computed for one row, to which the function is joined. */
function tableFunction(node: TableFunctionPlan, waits: Waits): Plan {
  const oneRow: Plan = Object.freeze({ kind: "values", rows: [[]], columns: [] });
  const calls = new DeferredCalls(waits, oneRow);
  const right = mapExprsOfPlan(node, (expr) => calls.lift(expr));
  const left = calls.stacked();
  const columns = [...left.columns, ...right.columns];
  const joined: Plan = Object.freeze({
    kind: "join",
    type: "inner",
    left,
    right,
    condition: null,
    lateral: true,
    columns,
  });
  return withColumns(joined, node.columns);
}

function partition<T>(items: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}

/** Throws 0A000 for the first call in the node. */
function refuse(node: Plan, waits: Waits, where: string): never {
  for (const expr of exprsOfPlan(node)) if (hasToMove(expr, waits)) refuseIn(expr, waits, where);
  throw sqlError("0A000", `a subquery that has to wait cannot be used ${where}`);
}
