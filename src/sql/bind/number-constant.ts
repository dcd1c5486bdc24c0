/** The value of a number as a statement writes it. */
import type { ConstExpr } from "../../query/expr/expr.js";
import { fromText } from "../../values/text-format.js";
import { INT4, INT8, NUMERIC } from "../../values/values.js";
import { constant } from "./coerce.js";

/** A whole number has the smallest of int4, int8 and numeric that holds it; the grammar has taken in the minus sign. */
export function numberConstant(text: string): ConstExpr {
  if (/^-?\d+$/.test(text)) {
    const value = BigInt(text);
    if (value === BigInt.asIntN(32, value)) return constant(INT4, Number(value));
    if (value === BigInt.asIntN(64, value)) {
      const exact = Number.isSafeInteger(Number(value));
      return constant(INT8, exact ? Number(value) : value);
    }
  }
  return constant(NUMERIC, fromText(NUMERIC, text));
}
