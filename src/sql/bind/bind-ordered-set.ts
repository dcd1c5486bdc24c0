/** Ordered-set and hypothetical-set aggregates: calls with WITHIN GROUP (chapter 4.2.7 of PostgreSQL's manual). */
import { sqlError } from "../../protocol/errors.js";
import type { Expr } from "../../query/expr/expr.js";
import { hypotheticalSet, isHypotheticalSetName } from "../../query/expr/functions/ordered-sets.js";
import { isAggregateName, isWindowName, resolveAggregate } from "../../query/expr/resolve.js";
import { baseType } from "../../query/expr/types.js";
import type { AggregateCall, SortKey } from "../../query/plan/plan.js";
import type { CallNode, ExprNode, SortNode } from "../parse/ast-query.js";
import type { ExprContext } from "./bind-context.js";
import { byTypes, functionName } from "./call-arguments.js";
import { coerceCommon, coerceImplicit, commonTypeOf, resolveUnknown, typeName } from "./coerce.js";
import { bindSortKey } from "./sort-key.js";

type Bind = (node: ExprNode, context: ExprContext) => Expr;

/** The call without its FILTER. */
type OrderedSetCall = Pick<AggregateCall, "fn" | "args" | "orderBy"> & { readonly direct: readonly Expr[] };

/** `context` is that of an aggregate's arguments. */
export function bindOrderedSet(node: CallNode, context: ExprContext, bind: Bind): OrderedSetCall {
  const name = functionName(node);
  const { position } = node;
  if (isHypotheticalSetName(name)) return bindHypotheticalSet(node, name, context, bind);
  if (!isAggregateName(name)) {
    throw isWindowName(name)
      ? sqlError("42809", `window function ${name} cannot have WITHIN GROUP`, { position })
      : sqlError("42809", `WITHIN GROUP specified, but ${name} is not an aggregate function`, { position });
  }
  const { binding } = context;
  const direct = node.args.map((arg) => bind(arg.value, context));
  const sorted = node.orderBy.map((sort) => bind(sort.expr, context));
  const all = [...direct, ...sorted];
  const { fn, argTypes } = byTypes(all, binding, (types) => resolveAggregate(name, types, position));
  if (fn.directArgs === undefined) {
    throw sqlError("42809", `${name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP`, { position });
  }
  if (fn.directArgs !== direct.length) {
    const spelled = all.map((expr) => typeName(expr.type)).join(", ");
    throw sqlError("42883", `function ${name}(${spelled}) does not exist`, {
      position,
      hint: `There is an ordered-set aggregate ${name}, but it requires ${fn.directArgs} direct arguments, not ${direct.length}.`,
    });
  }
  const nodes = [...node.args.map((arg) => arg.value), ...node.orderBy.map((sort) => sort.expr)];
  const converted = all.map((expr, i) => coerceImplicit(expr, argTypes[i]!, binding, nodes[i]!.position || position));
  return withinGroup(fn, converted.slice(0, direct.length), converted.slice(direct.length), node.orderBy);
}

/** Each direct argument and the expression that it is ranked among take their common type. */
function bindHypotheticalSet(node: CallNode, name: string, context: ExprContext, bind: Bind): OrderedSetCall {
  const { binding } = context;
  const { position } = node;
  const given = node.args.map((arg) => bind(arg.value, context));
  const sorted = node.orderBy.map((sort) => bind(sort.expr, context));
  if (given.length !== sorted.length) {
    const spelled = [...given, ...sorted].map((expr) => typeName(expr.type)).join(", ");
    throw sqlError("42883", `function ${name}(${spelled}) does not exist`, {
      position,
      hint: `To use the hypothetical-set aggregate ${name}, the number of hypothetical direct arguments (here ${given.length}) must match the number of ordering columns (here ${sorted.length}).`,
    });
  }
  const direct: Expr[] = [];
  const keys: Expr[] = [];
  given.forEach((expr, i) => {
    const at = node.args[i]!.value.position || position;
    const pair = [sorted[i]!, expr];
    const type = commonTypeOf(pair, "WITHIN GROUP", binding, [at, at]);
    const [key, value] = pair.map((one) =>
      resolveUnknown(type.name === "unknown" ? one : coerceCommon(one, type, "WITHIN GROUP", binding, at), binding),
    );
    keys.push(key!);
    direct.push(value!);
  });
  const orderBy = keys.map((expr, i) => bindSortKey(node.orderBy[i]!, expr));
  const fn = hypotheticalSet(
    name,
    orderBy.map(({ expr, descending, nullsFirst }) => ({ type: baseType(expr.type), descending, nullsFirst })),
  );
  return { fn, direct, args: keys, orderBy };
}

function withinGroup(
  fn: AggregateCall["fn"],
  direct: readonly Expr[],
  args: readonly Expr[],
  sorts: readonly SortNode[],
): OrderedSetCall {
  return { fn, direct, args, orderBy: args.map((expr, i): SortKey => bindSortKey(sorts[i]!, expr)) };
}
