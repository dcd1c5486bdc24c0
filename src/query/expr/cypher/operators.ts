/**
 * Cypher's operators as functions of the algebra, by symbol. Comparisons and predicates give bool, others a variant.
 */
import { BOOL, VARIANT } from "../../../values/values.js";
import type { ScalarFunction } from "../expr.js";
import { fn, op } from "../functions/define.js";
import { itemAt, matches, sliceOf } from "./access.js";
import { add, concatenate, divide, modulo, multiply, negate, power, subtract } from "./arithmetic.js";
import {
  contains,
  differs,
  endsWith,
  equals,
  exclusiveOr,
  greater,
  greaterOrEqual,
  isIn,
  less,
  lessOrEqual,
  startsWith,
  truth,
} from "./comparison.js";
import { PROPERTY } from "./entities.js";

export type OperatorSymbol =
  | "+"
  | "-"
  | "*"
  | "/"
  | "%"
  | "^"
  | "||"
  | "negate"
  | "="
  | "<>"
  | "<"
  | "<="
  | ">"
  | ">="
  | "STARTS WITH"
  | "ENDS WITH"
  | "CONTAINS"
  | "=~"
  | "IN"
  | "XOR"
  | "index"
  | "slice"
  | "property";

const TWO = [VARIANT, VARIANT] as const;

const arithmetic = (symbol: string, apply: ScalarFunction["apply"]) => op(symbol, TWO, VARIANT, apply);
const predicate = (symbol: string, apply: ScalarFunction["apply"]) => op(symbol, TWO, BOOL, apply);

export const OPERATORS: Readonly<Record<OperatorSymbol, ScalarFunction>> = {
  "+": op("+", TWO, VARIANT, add, { nanosPerUnit: 2 }),
  "-": arithmetic("-", subtract),
  "*": arithmetic("*", multiply),
  "/": arithmetic("/", divide),
  "%": arithmetic("%", modulo),
  "^": arithmetic("^", power),
  "||": op("||", TWO, VARIANT, concatenate, { nanosPerUnit: 2 }),
  negate: op("-", [VARIANT], VARIANT, negate),
  "=": predicate("=", equals),
  "<>": predicate("<>", differs),
  "<": predicate("<", less),
  "<=": predicate("<=", lessOrEqual),
  ">": predicate(">", greater),
  ">=": predicate(">=", greaterOrEqual),
  "STARTS WITH": predicate("STARTS WITH", startsWith),
  "ENDS WITH": predicate("ENDS WITH", endsWith),
  CONTAINS: predicate("CONTAINS", contains),
  "=~": predicate("=~", matches),
  // null IN [] is false.
  IN: op("IN", TWO, BOOL, isIn, { strict: false, nanosPerUnit: 2 }),
  XOR: op("XOR", [BOOL, BOOL], BOOL, exclusiveOr),
  index: fn("item", TWO, VARIANT, itemAt, { nanosPerUnit: 0 }),
  slice: fn("slice", [VARIANT, VARIANT, VARIANT], VARIANT, sliceOf, { nanosPerUnit: 1 }),
  property: PROPERTY,
};

/** A variant as a condition; TypeError for what is no boolean. */
export const TRUTH: ScalarFunction = fn("truth", [VARIANT], BOOL, truth);
