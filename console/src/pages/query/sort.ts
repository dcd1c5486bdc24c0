/** The order of a result's rows by a column. Pure. */
import { cellText, numberOf } from "../../lib/format.js";
import type { List } from "./run.js";

/** Numbers by their size, everything else as text; NULL comes last. */
export function sortedOrder(rows: readonly List[], column: number, isDown: boolean): Uint32Array {
  const order = Uint32Array.from(rows, (_, i) => i);
  const values = rows.map((row) => row[column]);
  const isNull = (value: unknown): boolean => value === null || value === undefined;
  const numbers = Float64Array.from(values, (value) => (isNull(value) ? Number.NaN : numberOf(value)));
  const areNumbers = values.every((value, i) => isNull(value) || !Number.isNaN(numbers[i]!));
  const texts = areNumbers ? [] : values.map((value) => (isNull(value) ? "" : cellText(value)));
  const sign = isDown ? -1 : 1;
  return order.sort((a, b) => {
    const nulls = Number(isNull(values[a])) - Number(isNull(values[b]));
    if (nulls !== 0) return nulls;
    const difference = areNumbers
      ? numbers[a]! - numbers[b]!
      : texts[a]! < texts[b]!
        ? -1
        : Number(texts[a]! > texts[b]!);
    return difference === 0 ? a - b : sign * difference;
  });
}
