/** Queries and patterns inside expressions: they see the variables around them as columns of an enclosing query. */

import type { Expr, SubqueryExpr } from "../../query/expr/expr.js";
import type { Plan } from "../../query/plan/plan.js";
import { outerColumnsOf } from "../../query/plan/walk.js";
import { BOOL, INT8, type SqlType, VARIANT } from "../../values/values.js";
import type {
  PathPattern,
  PatternComprehension,
  PatternExpr,
  SubqueryExpr as SubqueryNode,
  Variable as VariableNode,
} from "../parse/ast.js";
import { COUNT_ALL } from "./aggregate-collector.js";
import type { Binding, ExprContext } from "./binding.js";
import { limited, ONE_ROW, only, project } from "./rows.js";
import { integerConst, valueOfVariable } from "./variables.js";

/** EXISTS, COUNT and COLLECT. */
export function bindSubquery(node: SubqueryNode, { binding, scope }: ExprContext): Expr {
  const { plan } = binding.bind.query(node.query, scope, binding, { kept: scope });
  switch (node.result) {
    case "exists":
      return existsSubquery(plan);
    case "count":
      return subquery("scalar", INT8, counted(plan, binding));
    case "collect":
      return subquery("list", VARIANT, plan);
  }
}

function counted(input: Plan, binding: Binding): Plan {
  const calls = [{ fn: COUNT_ALL, args: [], distinct: false, filter: null, orderBy: [] }];
  const columns = [binding.newColumn("count", INT8, false)];
  return Object.freeze({ kind: "aggregate", input, groups: [], calls, columns });
}

/** A pattern as a condition; a search for shortest paths gives a path, or all of them as a list. */
export function bindPatternExpr({ pattern }: PatternExpr, context: ExprContext): Expr {
  const { binding } = context;
  if (pattern.search === "all") return existsSubquery(matched(pattern, context).plan);
  const variable: VariableNode = { kind: "variable", name: PATH_NAME, position: pattern.position };
  const { plan, scope } = matched({ ...pattern, variable }, context);
  const paths = project(plan, [{ name: "path", expr: valueOfVariable(scope.get(PATH_NAME)!) }], [], binding);
  if (pattern.search === "all-shortest") return subquery("list", VARIANT, paths);
  return subquery("scalar", VARIANT, limited(paths, { limit: integerConst(1), offset: null }));
}

/** No variable can be called that. */
const PATH_NAME = "";

function matched(pattern: PathPattern, { binding, scope }: ExprContext) {
  const clause = { optional: false, patterns: [pattern], where: null };
  return binding.bind.match(clause, { plan: ONE_ROW, scope }, binding);
}

/** `[pattern WHERE … | result]`. */
export function bindPatternComprehension(node: PatternComprehension, { binding, scope }: ExprContext): Expr {
  const clause = { optional: false, patterns: [node.pattern], where: node.where };
  const rows = binding.bind.match(clause, { plan: ONE_ROW, scope }, binding);
  const expr = binding.bind.expr(node.result, { binding, scope: rows.scope, aggregates: null, computed: [] });
  return subquery("list", VARIANT, project(rows.plan, [{ name: "item", expr }], [], binding));
}

/** Whether the plan has a row. */
export function existsSubquery(plan: Plan): SubqueryExpr {
  return subquery("exists", BOOL, only(plan, []));
}

function subquery(form: SubqueryExpr["form"], type: SqlType, plan: Plan): SubqueryExpr {
  const outer = [...outerColumnsOf(plan)];
  return Object.freeze({ kind: "subquery", type, form, plan, outer, input: null, compare: null });
}
