/** Rows compared item by item: with another row, with the row of a subquery, with all rows of one. */
import { sqlError } from "../../protocol/errors.js";
import type { Expr, ScalarFunction, SubqueryExpr } from "../../query/expr/expr.js";
import { resolveOperator } from "../../query/expr/resolve.js";
import { type RowComparison, rowComparison } from "../../query/expr/row-comparison.js";
import { columnExpr } from "../../query/plan/column-expr.js";
import { outerColumnsOf } from "../../query/plan/walk.js";
import { BOOL, type SqlType } from "../../values/values.js";
import type { RowNode, SubqueryNode } from "../parse/ast-query.js";
import type { ExprContext } from "./bind-context.js";
import { bindItems } from "./bind-row.js";
import type { Source } from "./binding.js";
import type { Bind } from "./call-arguments.js";
import { coerceImplicit, isUnknown, resolveUnknown } from "./coerce.js";
import { rowConstructor, rowType } from "./record-functions.js";
import { castColumns, project, resolveColumns } from "./source.js";

/** Operators that order rows, with those that decide before the last items do. */
const STRICT: Readonly<Record<string, string>> = {
  "<": "<",
  "<=": "<",
  ">": ">",
  ">=": ">",
  "~<~": "~<~",
  "~<=~": "~<~",
  "~>~": "~>~",
  "~>=~": "~>~",
};

/** The operator for all items but the last. */
export function strictOperator(name: string): string {
  return STRICT[name] ?? name;
}

export function isRowOperator(name: string): boolean {
  return name === "=" || name === "<>" || Object.hasOwn(STRICT, name);
}

export function notRowOperator(name: string, position: number): Error {
  return sqlError("0A000", `could not determine interpretation of row comparison operator ${name}`, {
    position,
    hint: "Row comparison operators must be associated with btree operator families.",
  });
}

interface Operands {
  readonly compare: RowComparison;
  /** The row with its items as the comparison takes them. */
  readonly row: Expr;
  readonly source: Source;
}

/** A row and a subquery of as many columns, converted to each other. Throws 42601 for another number of columns. */
function operands(node: SubqueryNode, rowNode: RowNode, operator: string, context: ExprContext, bind: Bind): Operands {
  const { binding } = context;
  const { position } = node;
  if (!isRowOperator(operator)) throw notRowOperator(operator, position);
  const items = bindItems(rowNode.items, context, bind);
  const expected = items.map((item) => item.type);
  let source = binding.query(node.query, context.scope, { unknowns: "keep", expected });
  if (source.columns.length !== items.length) {
    const message = `subquery has too ${source.columns.length < items.length ? "few" : "many"} columns`;
    throw sqlError("42601", message, { position });
  }
  const known = items.map((item, i) =>
    isUnknown(item) && source.columns[i]!.type.name === "unknown" ? resolveUnknown(item, binding) : item,
  );
  source = resolveColumns(source, binding);
  const pairs = known.map((item, i) => {
    const right = source.columns[i]!.type;
    const left = isUnknown(item) ? right : item.type;
    return { equals: resolveOperator("=", left, right, position), left, right };
  });
  const order = orderOf(operator, pairs, position);
  const types = pairs.map(({ equals }) => equals.argTypes);
  source = castColumns(
    source,
    types.map((type) => type[1]!),
    binding,
    (expr, type) => coerceImplicit(expr, type, binding, position),
  );
  const args = known.map((item, i) => coerceImplicit(item, types[i]![0]!, binding, rowNode.position));
  const row = rowCall(args);
  const right = rowType(source.columns.map((column) => column.type));
  const equals = pairs.map((pair) => pair.equals.fn);
  return { compare: rowComparison(operator, equals, order, row.type, right), row, source };
}

function orderOf(
  operator: string,
  pairs: readonly { readonly left: SqlType; readonly right: SqlType }[],
  position: number,
): ScalarFunction[] | null {
  if (!Object.hasOwn(STRICT, operator)) return null;
  return pairs.map(({ left, right }, i) => {
    const symbol = i === pairs.length - 1 ? operator : strictOperator(operator);
    return resolveOperator(symbol, left, right, position).fn;
  });
}

function rowCall(args: readonly Expr[]): Expr {
  const fn = rowConstructor(rowType(args.map((arg) => arg.type)));
  return Object.freeze({ kind: "call", type: fn.returns, fn, args });
}

/** `(a, b) op ANY|ALL (SELECT …)`, IN among them. `alikeOf`: what it shares with those that are written alike. */
export function bindRowsComparison(
  node: SubqueryNode,
  row: RowNode,
  context: ExprContext,
  bind: Bind,
  alikeOf: (source: Source) => object | undefined,
): Expr {
  const { compare, row: input, source } = operands(node, row, node.operator!, context, bind);
  const form = node.form === "all" ? "all" : compare.name === "=" ? "in" : "any";
  return subquery(form, BOOL, source, input, compare, alikeOf(source));
}

/** `(a, b) op (SELECT …)`, of at most one row. */
export function bindRowComparison(
  operator: string,
  row: RowNode,
  node: SubqueryNode,
  context: ExprContext,
  bind: Bind,
): Expr {
  const { compare, row: left, source } = operands(node, row, operator, context, bind);
  const whole = rowCall(source.columns.map(columnExpr));
  const one = project(source.plan, [whole], ["row"], context.binding);
  const right = subquery("scalar", whole.type, one, null, null);
  return Object.freeze({ kind: "call", type: BOOL, fn: compare, args: [left, right] });
}

function subquery(
  form: SubqueryExpr["form"],
  type: SqlType,
  source: Source,
  input: Expr | null,
  compare: ScalarFunction | null,
  alike?: object,
): Expr {
  const outer = [...outerColumnsOf(source.plan)];
  const expr: SubqueryExpr = { kind: "subquery", type, form, plan: source.plan, outer, input, compare };
  return Object.freeze(alike === undefined ? expr : { ...expr, alike });
}
