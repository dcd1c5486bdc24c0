/**
 * Cypher's arithmetic (openCypher 9, "Mathematical operators"): integers of 64 bits that overflow with an error, floats
 * where one operand is a float; `+` also joins strings and lists, and works with temporal values.
 */

import { type DbError, sqlError } from "../../../protocol/errors.js";
import { LIST_ITEMS_MAX, TEXT_CHARACTERS_MAX } from "../../../protocol/limits.js";
import { cypherError } from "../../../values/cypher-error.js";
import { Float, floatValue, type Variant } from "../../../values/variant.js";
import { integerValue, isList, isTemporal, variantToText } from "../../../values/variant-format.js";
import { withParts } from "../value-parts.js";
import { numberOf } from "../variant-order.js";
import { described } from "./define.js";
import { addTemporal, divideTemporal, multiplyTemporal, subtractTemporal } from "./temporal-operators.js";

const overflow = (): DbError =>
  cypherError("ArithmeticError", "IntegerOverflow", "the result is out of the range of an integer");

const divisionByZero = (): DbError => cypherError("ArithmeticError", "DivisionByZero", "division by zero");

/** An INTEGER out of any bigint. Throws ArithmeticError. */
function exact(value: bigint): number | bigint {
  if (BigInt.asIntN(64, value) !== value) throw overflow();
  return integerValue(value);
}

export const isNumber = (value: Variant): value is number | bigint | Float =>
  typeof value === "number" || typeof value === "bigint" || value instanceof Float;

const isInteger = (value: Variant): value is number | bigint =>
  typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value));

/** Floats print as variants do: 1.0 keeps its point. */
function refused(symbol: string, a: Variant, b: Variant): DbError {
  const message = `the operator ${symbol} does not take ${described(a)} and ${described(b)}`;
  return cypherError("TypeError", "InvalidArgumentType", message);
}

/** Of two numbers one of which is boxed, large or a float. */
function numeric(
  symbol: string,
  a: Variant,
  b: Variant,
  ofIntegers: (a: bigint, b: bigint) => bigint,
  ofFloats: (a: number, b: number) => number,
): Variant {
  if (!isNumber(a) || !isNumber(b)) throw refused(symbol, a, b);
  if (isInteger(a) && isInteger(b)) return exact(ofIntegers(BigInt(a), BigInt(b)));
  return floatValue(ofFloats(Number(numberOf(a)), Number(numberOf(b))));
}

export function add(a: Variant, b: Variant): Variant {
  if (typeof a === "number" && typeof b === "number") {
    const sum = a + b;
    if (Number.isInteger(a) && Number.isInteger(b))
      return Number.isSafeInteger(sum) ? sum : exact(BigInt(a) + BigInt(b));
    return floatValue(sum);
  }
  if (typeof a === "string" && typeof b === "string") return checkedText(a + b);
  if (isList(a)) return joined(a, isList(b) ? b : [b]);
  if (isList(b)) return joined([a], b);
  if (typeof a === "string" && (isScalar(b) || isTemporal(b))) return checkedText(a + variantToText(b));
  if (typeof b === "string" && (isScalar(a) || isTemporal(a))) return checkedText(variantToText(a) + b);
  if (isTemporal(a) || isTemporal(b)) return addTemporal(a, b);
  return numeric(
    "+",
    a,
    b,
    (x, y) => x + y,
    (x, y) => x + y,
  );
}

/** `||`: of two strings or two lists. */
export function concatenate(a: Variant, b: Variant): Variant {
  if (typeof a === "string" && typeof b === "string") return checkedText(a + b);
  if (isList(a) && isList(b)) return joined(a, b);
  throw refused("||", a, b);
}

function checkedText(text: string): string {
  checkTextLength(text.length);
  return text;
}

/** Throws 54000 for the length of a text that nothing could hold. */
export function checkTextLength(length: number): void {
  if (length > TEXT_CHARACTERS_MAX) throw sqlError("54000", "requested length too large");
}

function joined(a: readonly Variant[], b: readonly Variant[]): readonly Variant[] {
  if (a.length + b.length > LIST_ITEMS_MAX) throw sqlError("54000", `a list has at most ${LIST_ITEMS_MAX} items`);
  return withParts(a.concat(b));
}

const isScalar = (value: Variant): boolean => isNumber(value) || typeof value === "boolean";

export function subtract(a: Variant, b: Variant): Variant {
  if (typeof a === "number" && typeof b === "number") {
    const difference = a - b;
    if (Number.isInteger(a) && Number.isInteger(b)) {
      return Number.isSafeInteger(difference) ? difference : exact(BigInt(a) - BigInt(b));
    }
    return floatValue(difference);
  }
  if (isTemporal(a) || isTemporal(b)) return subtractTemporal(a, b);
  return numeric(
    "-",
    a,
    b,
    (x, y) => x - y,
    (x, y) => x - y,
  );
}

export function multiply(a: Variant, b: Variant): Variant {
  if (typeof a === "number" && typeof b === "number") {
    const product = a * b;
    if (Number.isInteger(a) && Number.isInteger(b)) {
      // 0 · −1 is the integer 0.
      return Number.isSafeInteger(product) ? product + 0 : exact(BigInt(a) * BigInt(b));
    }
    return floatValue(product);
  }
  if (isTemporal(a) || isTemporal(b)) return multiplyTemporal(a, b);
  return numeric(
    "*",
    a,
    b,
    (x, y) => x * y,
    (x, y) => x * y,
  );
}

/** Integers divide towards zero. */
export function divide(a: Variant, b: Variant): Variant {
  if (typeof a === "number" && typeof b === "number") {
    if (!Number.isInteger(a) || !Number.isInteger(b)) return floatValue(a / b);
    if (b === 0) throw divisionByZero();
    return Math.trunc(a / b) + 0;
  }
  if (isTemporal(a)) return divideTemporal(a, b);
  if (isInteger(a) && b === 0) throw divisionByZero();
  return numeric(
    "/",
    a,
    b,
    (x, y) => x / y,
    (x, y) => x / y,
  );
}

/** The sign is that of the dividend. */
export function modulo(a: Variant, b: Variant): Variant {
  if (isInteger(a) && b === 0) throw divisionByZero();
  if (typeof a === "number" && typeof b === "number") {
    const rest = a % b;
    return Number.isInteger(a) && Number.isInteger(b) ? rest + 0 : floatValue(rest);
  }
  return numeric(
    "%",
    a,
    b,
    (x, y) => x % y,
    (x, y) => x % y,
  );
}

/** Always a float. */
export function power(a: Variant, b: Variant): Variant {
  if (!isNumber(a) || !isNumber(b)) throw refused("^", a, b);
  return floatValue(Number(numberOf(a)) ** Number(numberOf(b)));
}

export function negate(a: Variant): Variant {
  if (typeof a === "number" && Number.isInteger(a)) return 0 - a;
  if (typeof a === "bigint") return exact(-a);
  if (isNumber(a)) return floatValue(-Number(numberOf(a)));
  if (isTemporal(a)) return multiplyTemporal(a, -1);
  throw cypherError("TypeError", "InvalidArgumentType", `the operator - does not take ${described(a)}`);
}
