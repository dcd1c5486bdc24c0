/** Queries inside expressions: scalar, EXISTS, IN, ANY, ALL and ARRAY. */
import { sqlError } from "../../protocol/errors.js";
import type { Expr, SubqueryExpr } from "../../query/expr/expr.js";
import { resolveOperator } from "../../query/expr/resolve.js";
import { isVolatilePlan, outerColumnsOf } from "../../query/plan/walk.js";
import { arrayOf, BOOL } from "../../values/values.js";
import type { ExprNode, SubqueryNode } from "../parse/ast-query.js";
import type { ExprContext } from "./bind-context.js";
import { bindRowsComparison } from "./bind-row-comparison.js";
import type { Source } from "./binding.js";
import { coerceImplicit, isUnknown, resolveUnknown } from "./coerce.js";
import { ownQuantified } from "./own-operator.js";
import type { Scope } from "./scope.js";
import { castColumns, resolveColumns } from "./source.js";

type Bind = (node: ExprNode, context: ExprContext) => Expr;

export function bindSubquery(node: SubqueryNode, context: ExprContext, bind: Bind): Expr {
  const { position, form } = node;
  const { binding, scope } = context;
  if (!context.subqueries) {
    const place = context.clause.replace(/(constraint|expression|condition|predicate)s$/, "$1");
    throw sqlError("0A000", `cannot use subquery in ${place}`, { position });
  }
  if (form === "any" || form === "all") return bindComparison(node, context, bind);
  const source = binding.query(node.query, scope, { unknowns: "text", expected: null });
  const alike = alikeOf(node, scope, source);
  if (form === "exists") return subquery("exists", BOOL, source, null, null, alike);
  const column = onlyColumn(source, position);
  // An array of arrays is an array of one dimension more.
  const type = form === "array" && column.type.element === null ? arrayOf(column.type) : column.type;
  return subquery(form, type, source, null, null, alike);
}

/** GROUP BY and what stands above it may have the same subquery. Undefined where its value may be another each time. */
function alikeOf(node: SubqueryNode, { alikeSubqueries }: Scope, { plan }: Source): object | undefined {
  if (alikeSubqueries === null || isVolatilePlan(plan)) return undefined;
  const written = JSON.stringify([node.form, node.operator, node.query], withoutPositions);
  let alike = alikeSubqueries.get(written);
  if (alike === undefined) {
    alike = {};
    alikeSubqueries.set(written, alike);
  }
  return alike;
}

function withoutPositions(name: string, value: unknown): unknown {
  if (name === "position") return undefined;
  return typeof value === "bigint" ? `${value}n` : value;
}

function onlyColumn(source: Source, position: number) {
  if (source.columns.length !== 1) throw sqlError("42601", "subquery must return only one column", { position });
  return source.columns[0]!;
}

function subquery(
  form: SubqueryExpr["form"],
  type: SubqueryExpr["type"],
  source: Source,
  input: Expr | null,
  compare: SubqueryExpr["compare"],
  alike: object | undefined,
): SubqueryExpr {
  const outer = [...outerColumnsOf(source.plan)];
  const expr: SubqueryExpr = { kind: "subquery", type, form, plan: source.plan, outer, input, compare };
  return Object.freeze(alike === undefined ? expr : { ...expr, alike });
}

/** `input op ANY|ALL (query)`; `= ANY` is IN. */
function bindComparison(node: SubqueryNode, context: ExprContext, bind: Bind): Expr {
  const { position } = node;
  const { binding } = context;
  const inputNode = node.input!;
  if (inputNode.kind === "row" && inputNode.items.length > 1) {
    return bindRowsComparison(node, inputNode, context, bind, (source) => alikeOf(node, context.scope, source));
  }
  const input = bind(inputNode.kind === "row" ? inputNode.items[0]! : inputNode, context);
  let source = binding.query(node.query, context.scope, { unknowns: "keep", expected: [input.type] });
  if (source.columns.length !== 1) throw sqlError("42601", "subquery has too many columns", { position });
  const known = isUnknown(input) && source.columns[0]!.type.name === "unknown" ? resolveUnknown(input, binding) : input;
  source = resolveColumns(source, binding);
  const column = source.columns[0]!;
  const left = isUnknown(known) ? column.type : known.type;
  const name = node.operator!;
  const own = ownQuantified(node, left, column.type, binding);
  const { fn, argTypes } = own ?? resolveOperator(name, left, column.type, position);
  if (fn.returns !== BOOL) throw sqlError("42804", `operator ${node.operator} must return type boolean`, { position });
  source = castColumns(source, [argTypes[1]!], binding, (expr, type) => coerceImplicit(expr, type, binding, position));
  const operand = coerceImplicit(known, argTypes[0]!, binding, inputNode.position);
  const form = node.form === "all" ? "all" : own === null && fn.name === "=" ? "in" : "any";
  return subquery(form, BOOL, source, operand, fn, alikeOf(node, context.scope, source));
}
