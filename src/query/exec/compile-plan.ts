/**
 * From a plan to a program: everything that one plan needs once is done here (closures, decoders, key layouts), so
 * that opening a run allocates little more than its operators. The session calls it and caches programs with plans.
 */

import type { SubqueryExpr } from "../expr/expr.js";
import type { Plan } from "../plan/plan.js";
import { childrenOf, subqueriesOf, walkPlan } from "../plan/walk.js";
import { compileAggregate } from "./aggregate.js";
import { compileDelete } from "./delete.js";
import { compileDistinct } from "./distinct.js";
import { compileFilter } from "./filter.js";
import { compileHashJoin } from "./hash-join.js";
import { compileIndexScan } from "./index-scan.js";
import { compileInsert } from "./insert.js";
import { compileLateralJoin } from "./lateral-join.js";
import { compileLimit } from "./limit.js";
import { compileNestedLoopJoin } from "./nested-loop-join.js";
import type { Open, Program } from "./operator.js";
import { compilePointGet } from "./point-get.js";
import { compileProject } from "./project.js";
import { compileProjectSet } from "./project-set.js";
import { compileScan } from "./scan.js";
import { compileSetOp } from "./set-op.js";
import { compileSort } from "./sort.js";
import { registerSubquery, runningFirst } from "./subquery.js";
import { compileTableFunction } from "./table-function.js";
import { compileTopN } from "./top-n.js";
import { compileUpdate } from "./update.js";
import { compileValues } from "./values.js";

/** Any plan can be compiled, optimized or not. The program keeps no state of its runs. */
export function compilePlan(plan: Plan): Program {
  const first = new Set<SubqueryExpr>();
  walkPlan(plan, (node) => {
    for (const expr of subqueriesOf(node)) compileSubquery(expr, first);
  });
  const open = compileNode(plan);
  return { plan, columns: plan.columns, open: first.size === 0 ? open : runningFirst([...first], open) };
}

/** Compiles the subquery's plan and adds to `first` what of it can run ahead: itself, or uncorrelated ones inside. */
function compileSubquery(expr: SubqueryExpr, first: Set<SubqueryExpr>): void {
  const plan = expr.plan as Plan;
  registerSubquery(expr, compilePlan(plan));
  if (expr.outer.length === 0) {
    first.add(expr);
    return;
  }
  walkPlan(plan, (node) => {
    for (const inner of subqueriesOf(node)) if (inner.outer.length === 0) first.add(inner);
  });
}

function compileNode(plan: Plan): Open {
  const [first, second] = childrenOf(plan).map(compileNode) as [Open, Open];
  switch (plan.kind) {
    case "scan":
      return compileScan(plan);
    case "pointget":
      return compilePointGet(plan);
    case "indexscan":
      return compileIndexScan(plan);
    case "values":
      return compileValues(plan);
    case "tablefunction":
      return compileTableFunction(plan);
    case "projectset":
      return compileProjectSet(plan, first);
    case "project":
      return compileProject(plan, first);
    case "filter":
      return compileFilter(plan, first);
    case "join":
      return plan.lateral ? compileLateralJoin(plan, first, second) : compileNestedLoopJoin(plan, first, second);
    case "hashjoin":
      return compileHashJoin(plan, first, second);
    case "aggregate":
      return compileAggregate(plan, first);
    case "sort":
      return compileSort(plan, first);
    case "topn":
      return compileTopN(plan, first);
    case "limit":
      return compileLimit(plan, first);
    case "distinct":
      return compileDistinct(plan, first);
    case "setop":
      return compileSetOp(plan, first, second);
    case "insert":
      return compileInsert(plan, first);
    case "update":
      return compileUpdate(plan, first);
    case "delete":
      return compileDelete(plan, first);
  }
}
