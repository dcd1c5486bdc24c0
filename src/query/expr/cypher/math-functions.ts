/** Cypher's functions of numbers (openCypher 9, "Mathematical functions"). All but abs() and sign() give floats. */
import { randomUUID } from "node:crypto";
import { cypherError } from "../../../values/cypher-error.js";
import { BOOL } from "../../../values/values.js";
import { floatValue, isIntegerValue, type Variant } from "../../../values/variant.js";
import type { ScalarFunction } from "../expr.js";
import { numberOf } from "../variant-order.js";
import { isNumber, negate } from "./arithmetic.js";
import { cypherFn, cypherFns, wrongArgument } from "./define.js";

function numberArgument(name: string, value: Variant): number {
  if (isNumber(value)) return Number(numberOf(value));
  throw wrongArgument(`${name}()`, "a number", value);
}

const ofNumber = (name: string, compute: (x: number) => number): ScalarFunction =>
  cypherFn(name, 1, (value) => floatValue(compute(numberArgument(name, value))));

function abs(value: Variant): Variant {
  if (isIntegerValue(value)) return value < 0 ? negate(value) : value;
  return floatValue(Math.abs(numberArgument("abs", value)));
}

function sign(value: Variant): number {
  const x = numberArgument("sign", value);
  return x > 0 ? 1 : x < 0 ? -1 : 0;
}

type Rounding = (scaled: number) => number;

const awayFromZero = (x: number) => Math.sign(x) * Math.ceil(Math.abs(x));
const half = (x: number) => Math.abs(x) - Math.floor(Math.abs(x)) === 0.5;

/** How a number between two others is rounded, by the names of Java's RoundingMode. */
const ROUNDINGS: Readonly<Record<string, Rounding>> = {
  UP: awayFromZero,
  DOWN: Math.trunc,
  CEILING: Math.ceil,
  FLOOR: Math.floor,
  HALF_UP: (x) => Math.sign(x) * Math.round(Math.abs(x)),
  HALF_DOWN: (x) => (half(x) ? Math.trunc(x) : Math.round(x)),
  HALF_EVEN: (x) => (half(x) ? 2 * Math.round(x / 2) : Math.round(x)),
};

/** To a whole number halves go up (−1.5 gives −1.0), with a precision or a mode away from zero. */
function round(value: Variant, precision: Variant = null, mode?: Variant): Variant {
  const x = numberArgument("round", value);
  if (precision === null) return floatValue(Math.round(x));
  const digits = numberArgument("round", precision);
  const rounding = mode === undefined ? ROUNDINGS.HALF_UP : ROUNDINGS[String(mode).toUpperCase()];
  if (rounding === undefined || digits < 0) {
    throw cypherError("ArgumentError", "InvalidArgumentValue", "round() takes digits from 0 on and a mode of rounding");
  }
  if (!Number.isFinite(x) || digits > 300) return floatValue(x);
  if (digits === 0 && mode === undefined) return floatValue(Math.round(x));
  // By its decimal digits, so that 1.005 is as near to 1.01 as it looks.
  const scaled = Number(`${x}e${digits}`);
  const rounded = rounding(Number.isNaN(scaled) ? x * 10 ** digits : scaled);
  const back = Number(`${rounded}e-${digits}`);
  return floatValue(Number.isNaN(back) ? rounded / 10 ** digits : back);
}

const haversin = (x: number) => (1 - Math.cos(x)) / 2;
const DEGREES = 180 / Math.PI;

function atan2(y: Variant, x: Variant): Variant {
  return floatValue(Math.atan2(numberArgument("atan2", y), numberArgument("atan2", x)));
}

export const MATH_FUNCTIONS: readonly ScalarFunction[] = [
  cypherFn("abs", 1, abs),
  cypherFn("sign", 1, sign),
  ...cypherFns("round", [1, 2, 3], round),
  cypherFn("isNaN", 1, (value) => Number.isNaN(numberArgument("isNaN", value)), { returns: BOOL }),
  ofNumber("ceil", Math.ceil),
  ofNumber("ceiling", Math.ceil),
  ofNumber("floor", Math.floor),
  ofNumber("exp", Math.exp),
  ofNumber("log", Math.log),
  ofNumber("ln", Math.log),
  ofNumber("log10", Math.log10),
  ofNumber("sqrt", Math.sqrt),
  ofNumber("sin", Math.sin),
  ofNumber("cos", Math.cos),
  ofNumber("tan", Math.tan),
  ofNumber("cot", (x) => 1 / Math.tan(x)),
  ofNumber("asin", Math.asin),
  ofNumber("acos", Math.acos),
  ofNumber("atan", Math.atan),
  ofNumber("sinh", Math.sinh),
  ofNumber("cosh", Math.cosh),
  ofNumber("tanh", Math.tanh),
  ofNumber("coth", (x) => 1 / Math.tanh(x)),
  ofNumber("haversin", haversin),
  ofNumber("degrees", (x) => x * DEGREES),
  ofNumber("radians", (x) => x / DEGREES),
  cypherFn("atan2", 2, atan2),
  cypherFn("pi", 0, () => Math.PI),
  cypherFn("e", 0, () => Math.E),
  cypherFn("rand", 0, () => floatValue(Math.random()), { volatility: "volatile" }),
  cypherFn("randomUUID", 0, () => randomUUID(), { volatility: "volatile" }),
];
