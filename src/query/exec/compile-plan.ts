/**
 * Turns a plan into a program: everything that a plan needs once is done here (closures, decoders, key layouts), so
 * that opening a run allocates little more than its operators. The session calls it and caches programs with plans.
 */

import type { Expr, SubqueryExpr } from "../expr/expr.js";
import { withPlannedPatterns } from "../optimize/plan-patterns.js";
import { auditedTables } from "../plan/audited-tables.js";
import { columnExpr } from "../plan/column-expr.js";
import type {
  AggregatePlan,
  CommonTable,
  IndexScanPlan,
  Plan,
  PointGetPlan,
  ScanPlan,
  WithPlan,
} from "../plan/plan.js";
import type { TextSearchPlan } from "../plan/search-plans.js";
import { similarPairs } from "../plan/similar-pairs.js";
import { childrenOf, subqueriesOf, walkPlan } from "../plan/walk.js";
import { compileAggregate } from "./aggregate.js";
import { compileAppend } from "./append.js";
import { type CommonPrograms, compileCommonScan } from "./common-rows.js";
import { compileCountWalks } from "./count-walks.js";
import { compileDeferred } from "./deferred.js";
import { compileDelete } from "./delete.js";
import { compileDistinct } from "./distinct.js";
import { compileExpand } from "./expand.js";
import { compileExpandPath } from "./expand-path.js";
import { compileFilter } from "./filter.js";
import { compileGraphWrite } from "./graph-write.js";
import { compileGroupingSets } from "./grouping-sets.js";
import { compileHashJoin } from "./hash-join.js";
import { compileIndexScan } from "./index-scan.js";
import { withoutSpoolsAtEnd } from "./index-spool.js";
import { compileInsert } from "./insert.js";
import { compileKeyedJoin } from "./keyed-join.js";
import { compileKeyedScan } from "./keyed-scan.js";
import { withParsedJson, withWrittenJson } from "./large-documents.js";
import { withLargeJson } from "./large-json.js";
import { withLargeKeys } from "./large-keys.js";
import { compileLateralJoin } from "./lateral-join.js";
import { compileLimit } from "./limit.js";
import { compileLimitWithTies } from "./limit-with-ties.js";
import { compileLockRows } from "./lock-rows.js";
import { compileMerge } from "./merge.js";
import { compileMergeJoin } from "./merge-join.js";
import { compileNearestScan } from "./nearest-scan.js";
import { compileNestedLoopJoin } from "./nested-loop-join.js";
import type { Open, Program } from "./operator.js";
import { isPointRead, marking } from "./operator-marks.js";
import { compilePointGet } from "./point-get.js";
import { compileProject } from "./project.js";
import { compileProjectSet } from "./project-set.js";
import { compileRecursive } from "./recursive.js";
import { compileScan } from "./scan.js";
import { compileSetOp } from "./set-op.js";
import { compileSimilarJoin } from "./similar-join.js";
import { compileSort } from "./sort.js";
import { withSnapshot } from "./statement-snapshot.js";
import { registerSubquery, runningFirst } from "./subquery.js";
import { compileTableFunction } from "./table-function.js";
import { compileTextScan } from "./text-scan.js";
import { compileTopN } from "./top-n.js";
import { compileUpdate } from "./update.js";
import { compileValues } from "./values.js";
import { compileWindow } from "./window.js";
import { compileWith } from "./with.js";
import { compileWithinScan } from "./within-scan.js";

/** What to put around each operator; EXPLAIN ANALYZE measures so. */
export type Around = (plan: Plan, open: Open) => Open;

/** Any plan can be compiled, optimized or not. The program keeps no state of its runs. */
export function compilePlan(plan: Plan, around: Around | null = null): Program {
  const compiled = compileWithin(withPlannedPatterns(plan), new Map(), around);
  const program = looksUp(plan) ? { ...compiled, open: withoutSpoolsAtEnd(compiled.open) } : compiled;
  const audited = auditedTables(plan);
  if (audited === null) return program;
  return {
    ...program,
    open: (context) => {
      context.services.noteAccess(audited, context);
      return program.open(context);
    },
  };
}

/** Whether parts of the plan are opened for each row of others. */
function looksUp(plan: Plan): boolean {
  let found = false;
  walkPlan(plan, (node) => {
    found ||= (node.kind === "join" && node.lateral) || node.kind === "recursive";
    found ||= subqueriesOf(node).some((subquery) => subquery.outer.length > 0 || looksUp(subquery.plan));
  });
  return found;
}

function compileWithin(plan: Plan, tables: CommonPrograms, around: Around | null): Program {
  const first = new Set<SubqueryExpr>();
  const withTables: CommonTable[] = [];
  walkTogether(plan, (node) => {
    if (node.kind === "with") withTables.push(...node.tables.map(({ table }) => table));
    for (const expr of subqueriesOf(node)) compileSubquery(expr, first, tables, around);
  });
  const node = compileNode(plan, tables, around, !isPointRead(plan));
  const open = first.size === 0 ? node : runningFirst([...first], withTables, node);
  const oneSnapshot = plan.kind === "with" && !plan.sequential && plan.tables.some((definition) => definition.modifies);
  return { plan, columns: plan.columns, open: oneSnapshot ? withSnapshot(open) : open };
}

/** As walkPlan, but not into the parts of a sequential WITH, whose subqueries run when their part begins. */
function walkTogether(plan: Plan, visit: (plan: Plan) => void): void {
  visit(plan);
  if (plan.kind === "with" && plan.sequential) return;
  for (const child of childrenOf(plan)) walkTogether(child, visit);
}

/** Compiles the subquery's plan and adds to `first` what of it can run ahead: itself, or uncorrelated ones inside. */
function compileSubquery(
  expr: SubqueryExpr,
  first: Set<SubqueryExpr>,
  tables: CommonPrograms,
  around: Around | null,
): void {
  const plan = expr.plan;
  registerSubquery(expr, compileWithin(plan, tables, around));
  if (expr.outer.length === 0) {
    first.add(expr);
    return;
  }
  walkPlan(plan, (node) => {
    for (const inner of subqueriesOf(node)) if (inner.outer.length === 0) first.add(inner);
  });
}

function compileNode(plan: Plan, tables: CommonPrograms, around: Around | null, isMarked: boolean): Open {
  const inputs =
    plan.kind === "with" && plan.sequential
      ? compileParts(plan, tables, around)
      : childrenOf(plan).map((child) => compileNode(child, tables, around, isMarked));
  const bare = compileOperator(plan, inputs, tables, around !== null);
  const open = isMarked ? marking(plan, bare) : bare;
  return around === null ? open : around(plan, open);
}

/** Each part of a sequential WITH by itself; a table is known to the parts after it. */
function compileParts(plan: WithPlan, tables: CommonPrograms, around: Around | null): readonly Open[] {
  return childrenOf(plan).map((part) => compileWithin(part, tables, around).open);
}

/** All columns of a plan, as keys. */
function allOf({ columns }: Plan): readonly Expr[] {
  return columns.map(columnExpr);
}

function compileGroups(plan: AggregatePlan, input: Open): Open {
  const distinct = plan.calls.flatMap((call) => (call.distinct ? call.args : []));
  const { columns } = plan.input;
  const ready = withLargeJson(withLargeKeys(input, columns, [...plan.groups, ...distinct]), columns, plan.calls);
  return plan.grouping === undefined ? compileAggregate(plan, ready) : compileGroupingSets(plan, ready);
}

function compileTableRead(plan: ScanPlan | TextSearchPlan | PointGetPlan | IndexScanPlan): Open {
  switch (plan.kind) {
    case "textsearch":
      return compileTextScan(plan);
    case "pointget":
      return compilePointGet(plan);
    case "indexscan":
      return compileIndexScan(plan);
    case "scan":
      if (plan.nearest === undefined) return plan.rowKey === null ? compileScan(plan) : compileKeyedScan(plan);
      if (plan.nearest.within !== undefined) return compileWithinScan(plan, plan.nearest, plan.nearest.within);
      return compileNearestScan(plan, plan.nearest);
  }
}

/** `isMeasured`: each of the plan's nodes is to be opened by itself. */
function compileOperator(plan: Plan, opens: readonly Open[], tables: CommonPrograms, isMeasured: boolean): Open {
  const [first, second] = opens as [Open, Open];
  switch (plan.kind) {
    case "scan":
    case "textsearch":
    case "pointget":
    case "indexscan":
      return withParsedJson(compileTableRead(plan), plan.columns);
    case "values":
      return compileValues(plan);
    case "tablefunction":
      return compileTableFunction(plan);
    case "projectset":
      return compileProjectSet(plan, first);
    case "deferred":
      return compileDeferred(plan, first);
    case "project":
      return compileProject(plan, first);
    case "filter":
      return compileFilter(plan, first);
    case "join": {
      const keyed = plan.lateral && !isMeasured ? compileKeyedJoin(plan, first) : null;
      if (keyed !== null) return keyed;
      if (plan.lateral) return compileLateralJoin(plan, first, second);
      const pairs = similarPairs(plan);
      return pairs === null
        ? compileNestedLoopJoin(plan, first, second)
        : compileSimilarJoin(plan, pairs, first, second);
    }
    case "hashjoin":
      return compileHashJoin(
        plan,
        withLargeKeys(first, plan.left.columns, plan.leftKeys),
        withLargeKeys(second, plan.right.columns, plan.rightKeys),
      );
    case "mergejoin":
      return compileMergeJoin(plan, first, second);
    case "aggregate":
      return compileGroups(plan, first);
    case "window":
      return compileWindow(plan, first);
    case "sort":
      return compileSort(plan, first);
    case "topn":
      return compileTopN(plan, first);
    case "lock":
      return compileLockRows(plan, first);
    case "limit":
      return plan.ties === undefined ? compileLimit(plan, first) : compileLimitWithTies(plan, first);
    case "distinct":
      return compileDistinct(plan, withLargeKeys(first, plan.input.columns, plan.on ?? allOf(plan.input)));
    case "setop":
      return compileSetOp(
        plan,
        withLargeKeys(first, plan.left.columns, allOf(plan.left)),
        withLargeKeys(second, plan.right.columns, allOf(plan.right)),
      );
    case "append":
      return compileAppend(plan, opens);
    case "with":
      return compileWith(plan, opens, tables);
    case "commonscan":
      return compileCommonScan(plan, tables);
    case "recursive":
      if (plan.all) return compileRecursive(plan, first, second);
      return compileRecursive(
        plan,
        withLargeKeys(first, plan.left.columns, allOf(plan.left)),
        withLargeKeys(second, plan.right.columns, allOf(plan.right)),
      );
    case "expand":
      return compileExpand(plan, first);
    case "expandpath":
      return compileExpandPath(plan, first);
    case "countwalks":
      return compileCountWalks(plan, first);
    case "match":
      throw new Error("a pattern has to be planned before it is compiled");
    case "insert":
      return compileInsert(plan, withWrittenJson(first, plan.input.columns));
    case "update":
      return compileUpdate(plan, withWrittenJson(first, plan.input.columns));
    case "merge":
      return compileMerge(plan, withWrittenJson(first, plan.input.columns));
    case "delete":
      return compileDelete(plan, first);
    case "graphwrite":
      return compileGraphWrite(plan, opens, (part) => compileNode(part, tables, null, false));
  }
}
