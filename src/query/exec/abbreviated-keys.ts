/**
 * Abbreviated sort keys: a number per row that tells most rows apart, so that the values themselves are compared only
 * where the numbers are too close (PostgreSQL's tuplesort.c has them under this name). Made for the first key, while
 * rows come; used by Sort.
 */
import type { Numeric } from "../../values/numeric.js";
import type { SqlType, Value } from "../../values/values.js";
import type { RowOrder } from "./sort-rows.js";

export interface Abbreviation {
  /** NaN: it tells nothing about the value. */
  of(value: NonNullable<Value>): number;
  /** Part of two numbers by which they must differ for their order to be that of the values. */
  readonly tolerance: number;
}

/** Two roundings to double precision: of the digits, and of the quotient. */
const NUMERIC: Abbreviation = { of: (value) => approximate(value as Numeric), tolerance: 1e-14 };

/** Null: values of this type are compared fast enough as they are. */
export function abbreviationOf(type: SqlType): Abbreviation | null {
  return type.name === "numeric" ? NUMERIC : null;
}

/** Appends the values' numbers. */
export function abbreviate(values: ArrayLike<Value>, length: number, { of }: Abbreviation, to: number[]): void {
  for (let row = 0; row < length; row++) {
    const value = values[row]!;
    to.push(value === null ? Number.NaN : of(value));
  }
}

/** The order of rows by their numbers, and where those do not decide by `full`. */
export function abbreviatedOrder(
  numbers: readonly number[],
  { tolerance }: Abbreviation,
  descending: boolean,
  full: RowOrder,
): RowOrder {
  const less = descending ? 1 : -1;
  return (a, b) => {
    const x = numbers[a]!;
    const y = numbers[b]!;
    // False when one of them is NaN or infinite.
    if (Math.abs(x - y) > tolerance * (Math.abs(x) + Math.abs(y))) return x < y ? less : -less;
    return full(a, b);
  };
}

function approximate({ unscaled, scale, special }: Numeric): number {
  return special === null ? Number(unscaled) / 10 ** scale : Number.NaN;
}
