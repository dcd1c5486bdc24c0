/** Assigning to a part of a column: `SET a[1] = …`, `SET c.x = …`, `INSERT INTO t (a[1:2], c.x)`. */
import { sqlError } from "../../protocol/errors.js";
import { canCoerce } from "../../query/expr/coercion.js";
import type { Expr } from "../../query/expr/expr.js";
import { HSTORE_ASSIGN, HSTORE_FETCH } from "../../query/expr/functions/hstore.js";
import { assignJsonb } from "../../query/expr/functions/json-subscripts.js";
import { type SqlType, TEXT } from "../../values/values.js";
import type { AssignmentTarget } from "../parse/ast.js";
import type { ExprNode, SubscriptNode } from "../parse/ast-query.js";
import { arrayElement, arrayWithElement, arrayWithSlice } from "./array-functions.js";
import type { ExprContext } from "./bind-context.js";
import { bindSubscripts, hstoreKey, jsonbPath } from "./bind-subscript.js";
import type { Bind } from "./call-arguments.js";
import { coerceAssignment, isUnknown, typeName } from "./coerce.js";
import { checkedAs, uncheckedOf, withoutDomains } from "./domain-checks.js";
import { fieldSelector, withField } from "./record-functions.js";

/** One step into a value: a field, or all subscripts that stand directly after each other. */
export type Part =
  | { readonly kind: "field"; readonly name: string }
  | { readonly kind: "subscripts"; readonly subscripts: readonly SubscriptNode[] };

/** The steps after the column's name, outermost first. */
export function partsOf(target: AssignmentTarget): Part[] {
  const parts: Part[] = [];
  let node: ExprNode | undefined = target.indirection[0];
  while (node !== undefined && node.kind !== "column") {
    if (node.kind === "field") {
      parts.unshift({ kind: "field", name: node.name });
      node = node.input;
    } else if (node.kind === "subscript") {
      const subscripts: SubscriptNode[] = [];
      while (node.kind === "subscript") {
        subscripts.unshift(node);
        node = node.input;
      }
      parts.unshift({ kind: "subscripts", subscripts });
    } else {
      throw sqlError("42601", "a column's part is a field or a subscript", { position: target.position });
    }
  }
  return parts;
}

/** The type of the part, which is what the assigned value has to become. Throws 42804, 42703. */
export function partType(type: SqlType, parts: readonly Part[], target: AssignmentTarget): SqlType {
  return parts.reduce((container, part) => stepType(container, part, target), type);
}

function stepType(type: SqlType, part: Part, target: AssignmentTarget): SqlType {
  const { position, name } = target;
  if (part.kind === "subscripts") {
    if (type.name === "jsonb") return type;
    if (type.name === "hstore") return TEXT;
    if (type.element === null) {
      const message = `cannot subscript type ${typeName(type)} because it does not support subscripting`;
      throw sqlError("42804", message, { position });
    }
    return part.subscripts.some(({ slice }) => slice) ? type : type.element;
  }
  if (type.fields === undefined) {
    const message = `cannot assign to field "${part.name}" of column "${name}" because its type ${typeName(type)} is not a composite type`;
    throw sqlError("42804", message, { position });
  }
  return type.fields[fieldIndex(type, part.name, target)]!.type;
}

function fieldIndex(type: SqlType, field: string, { name, position }: AssignmentTarget): number {
  const index = type.fields!.findIndex((other) => other.name === field);
  if (index >= 0) return index;
  const message = `cannot assign to field "${field}" of column "${name}" because there is no such column in data type ${typeName(type)}`;
  throw sqlError("42703", message, { position });
}

/** A part of a column, and the value for it as it was bound. */
export interface PartAssignment {
  readonly target: AssignmentTarget;
  readonly parts: readonly Part[];
  readonly value: Expr;
  readonly position: number;
}

/** The column's new value: `current` with the part replaced. Throws 42804 for a value of the wrong type. */
export function withPart(current: Expr, assignment: PartAssignment, context: ExprContext, bind: Bind): Expr {
  const { parts, target, value, position } = assignment;
  const [part, ...rest] = parts;
  if (part === undefined) {
    return coerceAssignment(value, { name: target.name, type: current.type }, context.binding, position);
  }
  const { type } = current;
  if (type.user?.kind === "domain") {
    const { binding } = context;
    const value: Expr = Object.freeze({ ...uncheckedOf(current), type: withoutDomains(type) });
    return checkedAs(withPart(value, assignment, context, bind), type, binding);
  }
  const inner = stepType(type, part, target);
  checkValue(assignment, part, rest, inner);
  const next = (container: Expr) => withPart(container, { ...assignment, parts: rest }, context, bind);
  if (part.kind === "field") {
    const index = fieldIndex(type, part.name, target);
    return call(withField(type, index), [current, next(call(fieldSelector(type, index), [current]))]);
  }
  if (type.name === "jsonb") {
    const { path, numeric } = jsonbPath(part.subscripts, context, bind);
    return call(assignJsonb(numeric), [current, next(current), ...path]);
  }
  if (type.name === "hstore") {
    const key = hstoreKey(part.subscripts, context, bind);
    return call(HSTORE_ASSIGN, [current, next(call(HSTORE_FETCH, [current, key])), key]);
  }
  const { form, values } = bindSubscripts(part.subscripts, context, bind);
  if (form === null) {
    const element = call(arrayElement(type, values.length), [current, ...values]);
    return call(arrayWithElement(type, values.length), [current, next(element), ...values]);
  }
  if (rest.length > 0) {
    throw sqlError("0A000", "assigning to a part of each element of a slice is not supported", { position });
  }
  return call(arrayWithSlice(type, form), [current, next(current), ...values]);
}

function checkValue(
  { value, target, position }: PartAssignment,
  part: Part,
  rest: readonly Part[],
  type: SqlType,
): void {
  if (rest.length > 0 || isUnknown(value) || canCoerce(value.type, type, "assignment")) return;
  const [wanted, given] = [typeName(type), typeName(value.type)];
  const message =
    part.kind === "field"
      ? `subfield "${part.name}" is of type ${wanted} but expression is of type ${given}`
      : `subscripted assignment to "${target.name}" requires type ${wanted} but expression is of type ${given}`;
  throw sqlError("42804", message, {
    position,
    hint: "You will need to rewrite or cast the expression.",
  });
}

function call(fn: Extract<Expr, { kind: "call" }>["fn"], args: readonly Expr[]): Expr {
  return Object.freeze({ kind: "call", type: fn.returns, fn, args });
}
