/** Elements and slices of arrays, members of jsonb values: `a[i]`, `a[i:j]`, `j['key']`. */
import { sqlError } from "../../protocol/errors.js";
import { canCoerce } from "../../query/expr/coercion.js";
import type { Expr } from "../../query/expr/expr.js";
import { ARRAY_DIMENSIONS_MAX } from "../../query/expr/functions/array-parts.js";
import { FIGURE_PARTS } from "../../query/expr/functions/geometry.js";
import { HSTORE_FETCH } from "../../query/expr/functions/hstore.js";
import { jsonbElement } from "../../query/expr/functions/json-subscripts.js";
import { resolveFunction } from "../../query/expr/resolve.js";
import { baseType } from "../../query/expr/types.js";
import { CHAR, INT4, TEXT } from "../../values/values.js";
import type { ExprNode, SubscriptNode } from "../parse/ast-query.js";
import { arrayElement, arraySliceOf, type SliceForm } from "./array-functions.js";
import { applyOperator } from "./bind-comparison.js";
import type { ExprContext } from "./bind-context.js";
import type { Bind } from "./call-arguments.js";
import { coerceExplicit, coerceImplicit, coerceTo, constant, isUnknown, typeName } from "./coerce.js";

/** Consecutive subscripts, in order, and the expression that they are applied to. */
export function subscriptsOf(node: SubscriptNode): { readonly input: ExprNode; readonly subscripts: SubscriptNode[] } {
  const subscripts: SubscriptNode[] = [];
  let input: ExprNode = node;
  while (input.kind === "subscript") {
    subscripts.unshift(input);
    const { separate } = input;
    input = input.input;
    if (separate === true) break;
  }
  return { input, subscripts };
}

/** Subscripts as integers. With a slice among them all are slices: `a[2]` then means `a[1:2]`. */
export interface BoundSubscripts {
  /** null: no slice. */
  readonly form: SliceForm | null;
  readonly values: readonly Expr[];
}

/** Throws 54000 for too many, 42804 for what is no integer. */
export function bindSubscripts(
  subscripts: readonly SubscriptNode[],
  context: ExprContext,
  bind: Bind,
): BoundSubscripts {
  const { position } = subscripts[0]!;
  if (subscripts.length > ARRAY_DIMENSIONS_MAX) {
    const message = `number of array dimensions (${subscripts.length}) exceeds the maximum allowed (${ARRAY_DIMENSIONS_MAX})`;
    throw sqlError("54000", message, { position });
  }
  const integer = (node: ExprNode) =>
    coerceTo(bind(node, context), INT4, "array subscript", context.binding, node.position || position);
  if (!subscripts.some(({ slice }) => slice)) {
    return { form: null, values: subscripts.map(({ upper }) => integer(upper!)) };
  }
  const values: Expr[] = [];
  const form = subscripts.map(({ slice, lower, upper }): SliceForm[number] => {
    if (!slice) {
      values.push(constant(INT4, 1), integer(upper!));
      return "both";
    }
    if (lower !== null) values.push(integer(lower));
    if (upper !== null) values.push(integer(upper));
    return lower === null ? (upper === null ? "none" : "upper") : upper === null ? "lower" : "both";
  });
  return { form, values };
}

/** A name is an array of "char" that counts from 0. */
function characterOf(name: Expr, at: ExprNode, { binding, ...context }: ExprContext, bind: Bind): Expr {
  const { position } = at;
  const index = coerceTo(bind(at, { ...context, binding }), INT4, "subscript", binding, position);
  const number = applyOperator("+", index, constant(INT4, 1), binding, position);
  const { fn } = resolveFunction("substr", [TEXT, INT4, INT4], position);
  const args = [coerceExplicit(name, TEXT, binding, position), number, constant(INT4, 1)];
  return coerceExplicit(Object.freeze({ kind: "call", type: TEXT, fn, args }), CHAR, binding, position);
}

export function bindSubscript(node: SubscriptNode, context: ExprContext, bind: Bind): Expr {
  const { input, subscripts } = subscriptsOf(node);
  const array = bind(input, context);
  if (array.type.name === "jsonb") {
    const { path } = jsonbPath(subscripts, context, bind);
    const element = jsonbElement(path.length);
    return Object.freeze({ kind: "call", type: element.returns, fn: element, args: [array, ...path] });
  }
  if (array.type.name === "name" && subscripts.length === 1 && !subscripts[0]!.slice) {
    return characterOf(array, subscripts[0]!.upper!, context, bind);
  }
  if (array.type.name === "hstore") {
    const key = hstoreKey(subscripts, context, bind);
    return Object.freeze({ kind: "call", type: TEXT, fn: HSTORE_FETCH, args: [array, key] });
  }
  const part = FIGURE_PARTS.get(baseType(array.type));
  if (part !== undefined && subscripts.length === 1 && !subscripts[0]!.slice) {
    const { values } = bindSubscripts(subscripts, context, bind);
    return Object.freeze({ kind: "call", type: part.returns, fn: part, args: [array, ...values] });
  }
  if (array.type.element === null) {
    const message = `cannot subscript type ${typeName(array.type)} because it does not support subscripting`;
    throw sqlError("42804", message, { position: node.position });
  }
  const { form, values } = bindSubscripts(subscripts, context, bind);
  const fn = form === null ? arrayElement(array.type, values.length) : arraySliceOf(array.type, form);
  return Object.freeze({ kind: "call", type: fn.returns, fn, args: [array, ...values] });
}

/** Throws 0A000 for several subscripts and slices. */
export function hstoreKey(subscripts: readonly SubscriptNode[], context: ExprContext, bind: Bind): Expr {
  const { upper, position, slice } = subscripts[0]!;
  if (slice || subscripts.length > 1) throw sqlError("0A000", "hstore allows only one subscript", { position });
  return coerceTo(bind(upper!, context), TEXT, "hstore subscript", context.binding, position);
}

/**
 * Subscripts of jsonb, integers or texts, as the steps of a path; `numeric` tells which were integers. Throws 42804 for
 * slices and other types.
 */
export function jsonbPath(subscripts: readonly SubscriptNode[], context: ExprContext, bind: Bind) {
  const numeric: boolean[] = [];
  const path = subscripts.map((node): Expr => {
    const position = node.upper?.position || node.position;
    if (node.slice) throw sqlError("42804", "jsonb subscript does not support slices", { position });
    const subscript = bind(node.upper!, context);
    const { type } = subscript;
    const isInteger = !isUnknown(subscript) && canCoerce(type, INT4, "implicit");
    if (!isInteger && !isUnknown(subscript) && !canCoerce(type, TEXT, "implicit")) {
      const hint = "jsonb subscript must be coercible to either integer or text.";
      throw sqlError("42804", `subscript type ${typeName(type)} is not supported`, { position, hint });
    }
    numeric.push(isInteger);
    if (!isInteger) return coerceImplicit(subscript, TEXT, context.binding, position);
    const input = coerceImplicit(subscript, INT4, context.binding, position);
    return Object.freeze({ kind: "cast", type: TEXT, input });
  });
  return { path, numeric };
}
