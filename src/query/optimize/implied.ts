/**
 * Whether a scan's conditions imply the predicate of a partial index, so that the index has every row that is wanted.
 * Simple implication, after PostgreSQL's predtest.c: the same condition, a narrower comparison with a constant of the
 * same expression, IS NOT NULL by any comparison, an OR of which one arm is implied.
 */
import type { Value } from "../../values/values.js";
import { comparatorOf } from "../expr/compare.js";
import type { CallExpr, Expr, InListExpr } from "../expr/expr.js";
import { isSessionCast } from "../expr/fold.js";
import { conjuncts, exprEquals, someExpr } from "../expr/walk.js";

/**
 * False whenever it is not plain to see, and where the session has a say in the predicate: the index has the rows that
 * satisfied it for whoever wrote them (of indexes that are older than sql/bind/fixed-times.ts).
 */
export function implies(conditions: readonly Expr[], predicate: Expr): boolean {
  if (someExpr(predicate, isSessionCast)) return false;
  return conjuncts(predicate).every((wanted) => conditions.some((given) => impliesOne(given, wanted)));
}

function impliesOne(given: Expr, wanted: Expr): boolean {
  if (exprEquals(given, wanted)) return true;
  if (wanted.kind === "or") return wanted.args.some((arm) => impliesOne(given, arm));
  if (given.kind === "or") return given.args.every((arm) => impliesOne(arm, wanted));
  if (given.kind === "and") return given.args.some((arm) => impliesOne(arm, wanted));
  if (wanted.kind === "isnull" && wanted.negated) return isStrictIn(given, wanted.input);
  const narrow = comparisonOf(given);
  const wide = comparisonOf(wanted);
  return narrow !== null && wide !== null && exprEquals(narrow.subject, wide.subject) && isWithin(narrow, wide);
}

/** A comparison is true only of values that are not NULL. */
function isStrictIn(given: Expr, input: Expr): boolean {
  if (given.kind === "in") return !given.negated && exprEquals(given.input, input);
  if (given.kind === "call" && given.fn.anyOf?.strict) return exprEquals(given.args[0]!, input);
  if (given.kind !== "call" || !given.fn.strict || given.type.name !== "bool") return false;
  return given.args.some((arg) => exprEquals(arg, input));
}

interface Comparison {
  readonly subject: Expr;
  readonly op: "=" | "<" | "<=" | ">" | ">=";
  readonly value: Value;
  readonly call: CallExpr;
}

const FLIPPED = { "=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<=" } as const;

function comparisonOf(expr: Expr): Comparison | null {
  if (expr.kind === "in") return singleItem(expr);
  if (expr.kind !== "call" || expr.args.length !== 2) return null;
  const op = expr.fn.operator as Comparison["op"] | undefined;
  if (op === undefined || !Object.hasOwn(FLIPPED, op)) return null;
  const [left, right] = expr.args as [Expr, Expr];
  if (right.kind === "const" && right.value !== null) return { subject: left, op, value: right.value, call: expr };
  if (left.kind !== "const" || left.value === null) return null;
  return { subject: right, op: FLIPPED[op], value: left.value, call: expr };
}

/** A list of one constant as a comparison with it. */
function singleItem({ input, items, equals, negated, type }: InListExpr): Comparison | null {
  const [item] = items;
  if (negated || items.length !== 1 || item?.kind !== "const" || item.value === null || equals.operator !== "=")
    return null;
  return { subject: input, op: "=", value: item.value, call: { kind: "call", type, fn: equals, args: [input, item] } };
}

/** Whether every value that satisfies `narrow` satisfies `wide`; both compare the same subject. */
function isWithin(narrow: Comparison, wide: Comparison): boolean {
  const type = constantType(narrow.call);
  if (type !== constantType(wide.call)) return false;
  const order = comparatorOf(type)(narrow.value, wide.value);
  switch (wide.op) {
    case "=":
      return narrow.op === "=" && order === 0;
    case "<":
      return (narrow.op === "<" && order <= 0) || (isAtMost(narrow) && order < 0);
    case "<=":
      return (narrow.op === "<" || isAtMost(narrow)) && order <= 0;
    case ">":
      return (narrow.op === ">" && order >= 0) || (isAtLeast(narrow) && order > 0);
    case ">=":
      return (narrow.op === ">" || isAtLeast(narrow)) && order >= 0;
  }
}

const isAtMost = ({ op }: Comparison) => op === "<=" || op === "=";
const isAtLeast = ({ op }: Comparison) => op === ">=" || op === "=";

function constantType(call: CallExpr) {
  return call.args.find((arg) => arg.kind === "const")!.type;
}
