/**
 * Tests of a column of texts that run on its bytes: LIKE and ILIKE, equality, IN, order, NULL. They give what the
 * functions of expressions give for the texts: the order of UTF-8 is that of code points, and what LIKE looks for
 * begins and ends where characters do. Used by vector-filter.ts.
 */
import type { SqlArray, SqlType, Value } from "../../../values/values.js";
import { compileExpr } from "../../expr/compile.js";
import type { CallExpr, EvalContext, Expr } from "../../expr/expr.js";
import { likeParts } from "../../expr/functions/like.js";
import { EMPTY_ROW, NO_SLOTS } from "../slots.js";
import type { Kernel } from "./kernel.js";
import type { TextColumn } from "./text-column.js";
import {
  compareBytesOf,
  complementOf,
  containing,
  equalTo,
  likeKernel,
  type OrderTest,
  oneOf,
  whereNull,
} from "./text-kernels.js";

/** The kernel of a test on a column, or one result for all rows. Null: by the predicate only. */
export type TextTest = (column: TextColumn, context: EvalContext) => Kernel | "all" | "none" | null;

/** Types whose values compare as their texts do; character(n) passes over blanks at the end. */
const TEXTS: ReadonlySet<string> = new Set(["text", "varchar", "name", "uuid"]);

const ORDERS: Readonly<Record<string, OrderTest>> = {
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
};
const PATTERNS: ReadonlySet<string> = new Set(["~~", "!~~", "~~*", "!~~*"]);
const FLIPPED: Readonly<Record<string, string>> = { "=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<=" };

/** Null if the test of one column is of another kind. */
export function textTestOf(expr: Expr): TextTest | null {
  switch (expr.kind) {
    case "isnull":
      if (!isTextColumn(expr.input)) return null;
      return (column) => whereNull(column, !expr.negated);
    case "in":
      if (expr.negated || !isTextColumn(expr.input) || !expr.equals.args.every(isText)) return null;
      return membershipOf(expr.items);
    case "call":
      if (expr.fn.anyOf?.operator === "=") return listedOf(expr);
      if (expr.fn.operator === undefined || expr.args.length !== 2) return null;
      return PATTERNS.has(expr.fn.operator) ? patternTestOf(expr) : comparisonOf(expr);
    default:
      return null;
  }
}

const isText = ({ name }: SqlType) => TEXTS.has(name);
const isFixed = ({ kind }: Expr) => kind === "const" || kind === "param";

/** A column of texts, or one behind a cast that leaves its texts as they are. */
function isTextColumn(expr: Expr): boolean {
  if (expr.kind === "cast")
    return expr.type.name === "text" && expr.input.type.name !== "uuid" && isTextColumn(expr.input);
  return expr.kind === "column" && isText(expr.type);
}

function comparisonOf({ fn, args }: CallExpr): TextTest | null {
  const [left, right] = args as [Expr, Expr];
  const isFlipped = isFixed(left);
  const [tested, other] = isFlipped ? [right, left] : [left, right];
  if (!isTextColumn(tested) || !isFixed(other) || !isText(other.type) || !fn.args.every(isText)) return null;
  if (FLIPPED[fn.operator!] === undefined) return null;
  const operator = isFlipped ? FLIPPED[fn.operator!]! : fn.operator!;
  const value = compileExpr(other, NO_SLOTS);
  return (column, context) => {
    const text = value(EMPTY_ROW, 0, context);
    if (text === null) return "none";
    const bytes = bytesOf(text);
    if (bytes === null) return null;
    if (operator === "=") return equalTo(column, bytes);
    if (operator === "<>") return complementOf(column, equalTo(column, bytes));
    return compareBytesOf(column, bytes, ORDERS[operator]!);
  };
}

/** Null when UTF-8 has no form for it. */
function bytesOf(text: Value): Uint8Array | null {
  if (typeof text !== "string") return null;
  const bytes = Buffer.from(text);
  return bytes.toString() === text ? bytes : null;
}

/** IN: of a list of constants and parameters. */
function membershipOf(list: readonly Expr[]): TextTest | null {
  if (!list.every((item) => isFixed(item) && isText(item.type))) return null;
  const items = list.map((item) => compileExpr(item, NO_SLOTS));
  return (column, context) =>
    memberKernel(
      column,
      items.map((item) => item(EMPTY_ROW, 0, context)),
    );
}

/** The same of `= ANY` of a constant array, as long lists are. */
function listedOf({ fn, args }: CallExpr): TextTest | null {
  const [tested, array] = args as [Expr, Expr];
  if (!isTextColumn(tested) || !fn.anyOf!.args.every(isText) || array.kind !== "const" || array.value === null)
    return null;
  const { elements } = array.value as SqlArray;
  return (column) => memberKernel(column, elements);
}

function memberKernel(column: TextColumn, values: readonly Value[]): Kernel | "none" | null {
  const items: Uint8Array[] = [];
  for (const value of values) {
    // No row passes because of a NULL.
    if (value === null) continue;
    const bytes = bytesOf(value);
    if (bytes === null) return null;
    items.push(bytes);
  }
  return items.length === 0 ? "none" : oneOf(column, items);
}

function patternTestOf({ fn, args }: CallExpr): TextTest | null {
  const [tested, other] = args as [Expr, Expr];
  if (!isTextColumn(tested) || !isFixed(other) || fn.args[0]!.name !== "text") return null;
  const isNegated = fn.operator!.startsWith("!");
  const ignoresCase = fn.operator!.endsWith("*");
  const pattern = compileExpr(other, NO_SLOTS);
  return (column, context) => {
    // Only of ASCII are the lower-case forms as long as the texts.
    if (ignoresCase && !column.isAscii) return null;
    const text = pattern(EMPTY_ROW, 0, context);
    if (text === null) return "none";
    const kernel = patternKernel(column, ignoresCase ? (text as string).toLowerCase() : (text as string), ignoresCase);
    if (kernel === null || !isNegated) return kernel;
    return complementOf(column, kernel);
  };
}

function patternKernel(column: TextColumn, pattern: string, ignoresCase: boolean): Kernel | null {
  const parts = likeParts(pattern);
  if (parts === null || bytesOf(pattern) === null) return null;
  const [first, second, third] = parts;
  const isWithin = parts.length === 3 && first === "any" && third === "any" && typeof second === "object";
  return isWithin ? containing(column, Buffer.from(second.text), ignoresCase) : likeKernel(column, parts, ignoresCase);
}
