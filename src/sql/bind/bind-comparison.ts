/**
 * Operators and constructs that are made from them: IN, BETWEEN, IS DISTINCT FROM, NULLIF, ANY and ALL of an array.
 */
import { DbError, sqlError } from "../../protocol/errors.js";
import { commonType } from "../../query/expr/coercion.js";
import type { Expr, ScalarFunction } from "../../query/expr/expr.js";
import { JSON_AS, JSON_EXTRACT_NAME } from "../../query/expr/functions/json-extract.js";
import { type ResolvedFunction, resolveFunction, resolveOperator } from "../../query/expr/resolve.js";
import { categoryOf } from "../../query/expr/types.js";
import { isNamedOid } from "../../values/catalog-types.js";
import { sqlArray } from "../../values/text-format-array.js";
import { arrayOf, BOOL, type SqlType, TEXT, UNKNOWN, type Value } from "../../values/values.js";
import type {
  BetweenNode,
  DistinctFromNode,
  ExprNode,
  InNode,
  NullIfNode,
  OperatorNode,
  QuantifiedNode,
  RowNode,
} from "../parse/ast-query.js";
import { nullIfFunction, quantifiedOperator } from "./array-functions.js";
import type { ExprContext } from "./bind-context.js";
import { bindItems } from "./bind-row.js";
import { bindRowComparison, isRowOperator, notRowOperator, strictOperator } from "./bind-row-comparison.js";
import type { Binding } from "./binding.js";
import {
  coerceCommon,
  coerceExplicit,
  coerceImplicit,
  constant,
  isUnknown,
  resolveUnknown,
  suggestedType,
  zeroOrOne,
} from "./coerce.js";
import { checkedRecord } from "./json-record-checks.js";
import { logic } from "./logic.js";
import { bindOwnOperator, ownQuantified } from "./own-operator.js";

type Bind = (node: ExprNode, context: ExprContext) => Expr;

export function bindOperator(node: OperatorNode, context: ExprContext, bind: Bind): Expr {
  if (node.left?.kind === "row" && node.right.kind === "row") {
    return compareRows(node.name, node.left, node.right, context, bind, node.position);
  }
  if (node.left?.kind === "row" && node.right.kind === "subquery" && node.right.form === "scalar") {
    const { left, right } = { left: node.left, right: node.right };
    if (left.items.length > 1) return bindRowComparison(node.name, left, right, context, bind);
  }
  const left = node.left === null ? null : bind(node.left, context);
  const right = bind(node.right, context);
  if (left === null && right.kind === "const" && typeof right.value === "number") {
    // The sign belongs to the number, so that -2147483648 and index keys are constants.
    if (node.name === "+") return right;
    if (node.name === "-" && right.type.name.startsWith("int") && right.value !== 0) {
      return constant(right.type, -right.value);
    }
  }
  return (
    bindOwnOperator(node, left, right, context, bind) ?? applyOperator(node.name, left, right, context.binding, node)
  );
}

/** IN, BETWEEN and the like are made of the system's operators. */
const OF_SYSTEM = { kind: "operator", schema: "pg_catalog" } as const;

interface Positions {
  readonly position: number;
  readonly left: ExprNode | null;
  readonly right: ExprNode;
}

/** The operator between bound operands, converted as its overload asks. */
export function applyOperator(
  name: string,
  left: Expr | null,
  right: Expr,
  binding: Binding,
  at: Positions | number,
): Expr {
  const position = typeof at === "number" ? at : at.position;
  const comparable = left === null ? null : comparedAs(name, left, right, binding);
  if (comparable !== null) return applyOperator(name, ...comparable, binding, at);
  if (name === "||" && left !== null && (isNamedOid(left.type) || isNamedOid(right.type))) {
    const text = (expr: Expr) => (isNamedOid(expr.type) ? coerceExplicit(expr, TEXT, binding, position) : expr);
    return applyOperator(name, text(left), text(right), binding, at);
  }
  const { fn, argTypes } = overload(name, left, right, binding, position);
  const positionOf = (node: ExprNode | null) => (node !== null && node.position > 0 ? node.position : position);
  const operand = (expr: Expr, type: SqlType, node: ExprNode | null) =>
    coerceImplicit(expr, type, binding, positionOf(node));
  const [leftNode, rightNode] = typeof at === "number" ? [null, null] : [at.left, at.right];
  const args =
    left === null
      ? [operand(right, argTypes[0]!, rightNode)]
      : [operand(left, argTypes[0]!, leftNode), operand(right, argTypes[1]!, rightNode)];
  const call: Expr = Object.freeze({ kind: "call", type: fn.returns, fn, args });
  return fn.returns.fields === undefined ? call : checkedRecord(call, name, args, binding);
}

const ARITHMETIC: ReadonlySet<string> = new Set(["+", "-", "*", "/", "%"]);
const COMPARISONS: ReadonlySet<string> = new Set(["=", "<>", "!=", "<", "<=", ">", ">="]);

/**
 * Operands that clients of other dialects compare: a boolean with 0 or 1, what JSON_EXTRACT gives with a text, a number
 * or a boolean. Null for all others.
 */
function comparedAs(name: string, left: Expr, right: Expr, binding: Binding): readonly [Expr, Expr] | null {
  const isComparison = COMPARISONS.has(name);
  if (isComparison && left.type === BOOL && left.kind !== "const") {
    const bool = zeroOrOne(right);
    if (bool !== null) return [left, bool];
  }
  if (isComparison && right.type === BOOL && right.kind !== "const") {
    const bool = zeroOrOne(left);
    if (bool !== null) return [bool, right];
  }
  if (ARITHMETIC.has(name) && (isExtracted(left) || isExtracted(right)))
    return [extractedNumber(left), extractedNumber(right)];
  if (!isComparison && !name.includes("~")) return null;
  const first = isExtracted(left) ? extractedAs(left, right, binding) : null;
  if (first !== null) return [first, right];
  const second = isExtracted(right) ? extractedAs(right, left, binding) : null;
  return second === null ? null : [left, second];
}

function isExtracted(expr: Expr): boolean {
  return expr.kind === "call" && expr.fn.name === JSON_EXTRACT_NAME;
}

/** What JSON_EXTRACT gives as a number, where only a number makes sense; anything else as it is. */
export function extractedNumber(expr: Expr): Expr {
  if (!isExtracted(expr)) return expr;
  return Object.freeze({ kind: "call", type: JSON_AS.number.returns, fn: JSON_AS.number, args: [expr] });
}

/** Of the kind of value that it is compared with; null: of JSON. */
function extractedAs(expr: Expr, other: Expr, binding: Binding): Expr | null {
  const type = isUnknown(other) ? (suggestedType(other, binding) ?? TEXT) : other.type;
  if (other.kind === "const" && other.value === null) return null;
  const kinds: Readonly<Record<string, keyof typeof JSON_AS>> = { S: "text", N: "number", B: "boolean" };
  const kind = kinds[categoryOf(type)];
  const fn = kind === undefined ? undefined : JSON_AS[kind];
  return fn === undefined ? null : Object.freeze({ kind: "call", type: fn.returns, fn, args: [expr] });
}

/** When the statement leaves both operands open, the values of parameters decide. */
function overload(name: string, left: Expr | null, right: Expr, binding: Binding, position: number): ResolvedFunction {
  if (isUnknown(right) && (left === null || isUnknown(left))) {
    const rightType = suggestedType(right, binding) ?? right.type;
    const leftType = left === null ? null : (suggestedType(left, binding) ?? left.type);
    return resolveOperator(name, leftType, rightType, position);
  }
  return resolveOperator(name, left?.type ?? null, right.type, position);
}

/** `(a, b) = (c, d)` and the like, by the columns one after the other. */
function compareRows(
  name: string,
  left: RowNode,
  right: RowNode,
  context: ExprContext,
  bind: Bind,
  position: number,
): Expr {
  const [items, others] = [bindItems(left.items, context, bind), bindItems(right.items, context, bind)];
  if (items.length !== others.length) {
    throw sqlError("42601", "unequal number of entries in row expressions", { position });
  }
  if (items.length === 0) throw sqlError("0A000", "cannot compare rows of zero length", { position });
  const pairs = items.map((item, i) => ({ left: item, right: others[i]!, at: position }));
  const compare = (operator: string, pair: (typeof pairs)[number]) =>
    applyOperator(operator, pair.left, pair.right, context.binding, pair.at);
  const [first] = pairs;
  if (first !== undefined && !isRowOperator(name)) {
    // What does not exist at all is said first.
    compare(name, first);
    throw notRowOperator(name, position);
  }
  if (name === "=")
    return logic(
      "and",
      pairs.map((pair) => compare("=", pair)),
    );
  if (name === "<>")
    return logic(
      "or",
      pairs.map((pair) => compare("<>", pair)),
    );
  // a < c OR (a = c AND (b < d OR …))
  const strict = strictOperator(name);
  return pairs.reduceRight<Expr | null>((rest, pair) => {
    if (rest === null) return compare(name, pair);
    return logic("or", [compare(strict, pair), logic("and", [compare("=", pair), rest])]);
  }, null)!;
}

function not(input: Expr): Expr {
  return Object.freeze({ kind: "not", type: BOOL, input });
}

export function bindBetween(node: BetweenNode, context: ExprContext, bind: Bind): Expr {
  const { position, input } = node;
  const value = input.kind === "row" ? null : bind(input, context);
  const compare = (name: string, bound: ExprNode) =>
    value === null
      ? bindOperator({ ...OF_SYSTEM, name, left: input, right: bound, position }, context, bind)
      : applyOperator(name, value, bind(bound, context), context.binding, { position, left: input, right: bound });
  const within = (low: ExprNode, high: ExprNode) => logic("and", [compare(">=", low), compare("<=", high)]);
  const inside = node.symmetric
    ? logic("or", [within(node.low, node.high), within(node.high, node.low)])
    : within(node.low, node.high);
  return node.negated ? not(inside) : inside;
}

export function bindIn(node: InNode, context: ExprContext, bind: Bind): Expr {
  const { binding } = context;
  const { position, negated } = node;
  if (node.input.kind === "row" && node.items.some((item) => item.kind === "row")) {
    return inRows(node, node.input, context, bind);
  }
  const input = bind(node.input, context);
  const items = node.items.map((item) => bind(item, context));
  const isLoose = input.type === BOOL || isExtracted(input);
  const open = isLoose && items.some((item) => comparedAs("=", input, item, binding) !== null);
  const type = open ? null : commonOrNull([input, ...items], binding);
  if (type === null) {
    // No one type for all: a chain of comparisons, each by its own rules.
    const tests = items.map((item, i) =>
      applyOperator("=", input, item, binding, { position, left: node.input, right: node.items[i]! }),
    );
    const any = logic("or", tests);
    return negated ? not(any) : any;
  }
  const { fn, argTypes } = resolveOperator("=", isUnknown(input) ? type : input.type, type, position);
  const itemsAs = items.map((item, i) => {
    const at = node.items[i]!.position;
    return coerceImplicit(coerceCommon(item, type, "IN", binding, at), argTypes[1]!, binding, at);
  });
  const inputAs = coerceImplicit(input, argTypes[0]!, binding, node.input.position);
  if (itemsAs.length >= LONG_LIST) {
    const listed = inArray(inputAs, itemsAs, fn);
    if (listed !== null) return negated ? not(listed) : listed;
  }
  return Object.freeze({ kind: "in", type: BOOL, input: inputAs, items: itemsAs, equals: fn, negated });
}

/** Items from which on a list of constants is one array: rules and compilers need not go through it item by item. */
const LONG_LIST = 200;

/** `= ANY` of the constants; null when there are other items. */
function inArray(input: Expr, items: readonly Expr[], equals: ScalarFunction): Expr | null {
  const type = equals.args[1]!;
  const elements: Value[] = [];
  for (const item of items) {
    if (item.kind !== "const" || item.type !== type) return null;
    elements.push(item.value);
  }
  const args = [input, constant(arrayOf(type), sqlArray(elements))];
  return Object.freeze({ kind: "call", type: BOOL, fn: quantifiedOperator(equals, false), args });
}

function commonOrNull(exprs: readonly Expr[], binding: Binding): SqlType | null {
  const open = exprs.every(isUnknown);
  try {
    return commonType(
      exprs.map((expr) => (open ? (suggestedType(expr, binding) ?? expr.type) : expr.type)),
      "IN",
    );
  } catch (error) {
    if (error instanceof DbError) return null;
    throw error;
  }
}

function inRows(node: InNode, input: RowNode, context: ExprContext, bind: Bind): Expr {
  const tests = node.items.map((item) => {
    const { position } = node;
    if (item.kind === "row") return compareRows("=", input, item, context, bind, position);
    return bindOperator({ ...OF_SYSTEM, name: "=", left: input, right: item, position }, context, bind);
  });
  const any = logic("or", tests);
  return node.negated ? not(any) : any;
}

/** Never NULL: two NULLs are not distinct. */
export function bindDistinctFrom(node: DistinctFromNode, context: ExprContext, bind: Bind): Expr {
  const { binding } = context;
  const { position } = node;
  if (node.left.kind === "row" && node.right.kind === "row")
    return rowsDistinct(node, node.left, node.right, context, bind);
  const differs = applyOperator("<>", bind(node.left, context), bind(node.right, context), binding, node);
  const [left, right] = (differs as Extract<Expr, { kind: "call" }>).args as [Expr, Expr];
  const { fn } = resolveFunction("is distinct from", [left.type, right.type], position);
  const call: Expr = Object.freeze({ kind: "call", type: BOOL, fn, args: [left, right] });
  return node.negated ? not(call) : call;
}

/** Rows are distinct when some of their items are. */
function rowsDistinct(node: DistinctFromNode, left: RowNode, right: RowNode, context: ExprContext, bind: Bind): Expr {
  const { position } = node;
  if (left.items.length !== right.items.length) {
    throw sqlError("42601", "unequal number of entries in row expressions", { position });
  }
  if (left.items.length === 0) return constant(BOOL, node.negated);
  const tests = left.items.map((item, i) =>
    bindDistinctFrom({ ...node, left: item, right: right.items[i]!, negated: false }, context, bind),
  );
  const distinct = logic("or", tests);
  return node.negated ? not(distinct) : distinct;
}

/** The result has the first argument's type, as an `=` between the two takes it. */
export function bindNullIf(node: NullIfNode, context: ExprContext, bind: Bind): Expr {
  const { binding } = context;
  const equal = applyOperator("=", bind(node.left, context), bind(node.right, context), binding, node);
  const { fn: equals, args } = equal as Extract<Expr, { kind: "call" }>;
  const type = equals.args[0] === TEXT ? TEXT : args[0]!.type;
  return Object.freeze({ kind: "call", type, fn: nullIfFunction(equals, type), args });
}

/** What elements of a literal are, of which no type is known: what the operator takes on its right. */
function besideOperator(name: string, left: SqlType, position: number): SqlType {
  return COMPARING.has(name) ? left : resolveOperator(name, left, UNKNOWN, position).argTypes[1]!;
}

const COMPARING: ReadonlySet<string> = new Set(["=", "<>", "!=", "<", "<=", ">", ">="]);

/** `x = ANY (array)` */
export function bindQuantified(node: QuantifiedNode, context: ExprContext, bind: Bind): Expr {
  const { binding } = context;
  const { position } = node;
  const items = node.array.kind === "array" ? node.array.elements : [];
  const isList = items.length > 0 && items.every(({ kind }) => kind !== "array");
  if (isList && node.name === "=" && !node.all) {
    return bindIn({ kind: "in", input: node.left, items, negated: false, position }, context, bind);
  }
  const left = bind(node.left, context);
  let array = bind(node.array, context);
  if (isUnknown(array)) {
    const element = isUnknown(left)
      ? resolveUnknown(left, binding).type
      : besideOperator(node.name, left.type, position);
    array = coerceImplicit(array, arrayOf(element), binding, node.array.position);
  }
  const { element } = array.type;
  if (element === null) throw sqlError("42809", "op ANY/ALL (array) requires array on right side", { position });
  const leftType = isUnknown(left) ? element : left.type;
  const { fn, argTypes } =
    ownQuantified(node, leftType, element, binding) ?? resolveOperator(node.name, leftType, element, position);
  if (fn.returns !== BOOL)
    throw sqlError("42809", "op ANY/ALL (array) requires operator to yield boolean", { position });
  const args = [
    coerceImplicit(left, argTypes[0]!, binding, node.left.position),
    coerceImplicit(array, arrayOf(argTypes[1]!), binding, node.array.position),
  ];
  return Object.freeze({ kind: "call", type: BOOL, fn: quantifiedOperator(fn, node.all), args });
}
