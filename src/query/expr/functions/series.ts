/** generate_series and generate_subscripts (chapter 9.25): rows are computed as they are asked for. */
import { sqlError } from "../../../protocol/errors.js";
import { Numeric } from "../../../values/numeric.js";
import type { Timestamp } from "../../../values/timestamp.js";
import {
  BOOL,
  INT4,
  INT8,
  INTERVAL,
  type Interval,
  NUMERIC,
  recordOf,
  type SqlArray,
  type SqlType,
  TEXT,
  TIMESTAMP,
  TIMESTAMPTZ,
  type Value,
} from "../../../values/values.js";
import type { EvalContext } from "../expr.js";
import { normalInt8 } from "../number-cast.js";
import { recordRows, type TableFunction, type TableRows, tableFn, valueRows } from "../table-function.js";
import { addToInstant, addToTimestamp } from "./datetime.js";
import { type Family, family } from "./define.js";

const zeroStep = () => sqlError("22023", "step size cannot equal zero");

/** Numbers while all of the series is exact in a double, bigints beyond. */
function integerSeries(start: number | bigint, stop: number | bigint, step: number | bigint = 1): TableRows {
  if (Number(step) === 0) throw zeroStep();
  if (typeof start !== "number" || typeof stop !== "number" || typeof step !== "number") {
    return valueRows(bigSeries(BigInt(start), BigInt(stop), BigInt(step)));
  }
  let current = start;
  return {
    next(out, at, max) {
      const left = Math.floor((stop - current) / step) + 1;
      const count = Math.max(0, Math.min(max, left));
      const column = out[0]!;
      for (let i = 0; i < count; i++) column[at + i] = current + i * step;
      current += count * step;
      return count;
    },
  };
}

function* bigSeries(start: bigint, stop: bigint, step: bigint): Generator<Value> {
  for (let x = start; step > 0n ? x <= stop : x >= stop; x += step) yield normalInt8(x);
}

function numericSeries(start: Numeric, stop: Numeric, step: Numeric = Numeric.ONE): TableRows {
  const parts = { "start value": start, "stop value": stop, "step size": step };
  for (const [what, value] of Object.entries(parts)) {
    if (!value.isFinite()) throw sqlError("22023", `${what} cannot be ${value.isNaN() ? "NaN" : "infinity"}`);
  }
  if (step.isZero()) throw zeroStep();
  const sign = step.signum();
  const within = (x: Numeric) => (sign > 0 ? x.compare(stop) <= 0 : x.compare(stop) >= 0);
  const rows = valueRows(stepping<Numeric>(start, (x) => x.add(step), within));
  const digits = Math.max(...Object.values(parts).map(({ unscaled, scale }) => unscaled.toString(16).length + scale));
  const rowsMax = Math.max(1, Math.floor(DIGITS_AT_ONCE / digits));
  return { ...rows, next: (out, at, max) => rows.next(out, at, Math.min(max, rowsMax)) };
}

/** Hexadecimal ones, of all the numbers that are made at a stretch. */
const DIGITS_AT_ONCE = 131_072;

function* stepping<T extends Value>(start: T, next: (value: T) => T, within: (value: T) => boolean): Generator<Value> {
  for (let x = start; within(x); x = next(x)) yield x;
}

/** The direction of an interval, by its largest part that is not zero. */
function direction({ months, days, micros }: Interval): number {
  return Math.sign(months * 30 + days + Number(micros) / 86_400_000_000);
}

function timeSeries(type: SqlType, argumentCount: number): TableFunction {
  const args = [type, type, INTERVAL, ...(argumentCount === 4 ? [TEXT] : [])];
  return Object.freeze({
    name: "generate_series",
    args,
    returns: type,
    strict: true,
    open(context: EvalContext, [start, stop, step, zone]: readonly Value[]) {
      const sign = direction(step as Interval);
      if (sign === 0) throw zeroStep();
      const end = stop as Timestamp;
      const within = (at: Timestamp) => (sign > 0 ? at <= end : at >= end);
      const zoned = zone === undefined ? context : { ...context, timeZone: zone as string };
      const next = (at: Timestamp) =>
        type === TIMESTAMP ? addToTimestamp(at, step as Interval) : addToInstant(zoned, at, step as Interval);
      return valueRows(stepping<Timestamp>(start as Timestamp, next, within));
    },
  });
}

export const SERIES: readonly TableFunction[] = [
  ...[INT4, INT8].flatMap((type) =>
    [[], [type]].map((more) => tableFn("generate_series", [type, type, ...more], type, integerSeries)),
  ),
  ...[[], [NUMERIC]].map((more) => tableFn("generate_series", [NUMERIC, NUMERIC, ...more], NUMERIC, numericSeries)),
  timeSeries(TIMESTAMP, 3),
  timeSeries(TIMESTAMPTZ, 3),
  timeSeries(TIMESTAMPTZ, 4),
];

function subscripts(array: SqlArray, dimension: number, reverse = false): TableRows {
  const size = array.dimensions[dimension - 1];
  if (size === undefined) return valueRows([]);
  const lower = array.lowerBounds[dimension - 1]!;
  const upper = lower + size - 1;
  return reverse ? integerSeries(upper, lower, -1) : integerSeries(lower, upper, 1);
}

/** information_schema's helper, by which clients number the columns of keys. */
export const EXPANDED_ARRAYS: Family<TableFunction> = family(
  "_pg_expandarray",
  "(anyarray) → setof record(x, n)",
  ([array]) => {
    if (array === undefined || array.element === null) return null;
    const fields = [
      { name: "x", type: array.element },
      { name: "n", type: INT4 },
    ];
    return tableFn("_pg_expandarray", [array], recordOf(fields), ({ elements }: SqlArray) =>
      recordRows(elements.map((element, i) => [element, i + 1])),
    );
  },
);

export const SUBSCRIPTS: Family<TableFunction> = family(
  "generate_subscripts",
  "(anyarray, integer[, boolean]) → setof integer",
  ([array, ...rest]) => {
    if (array === undefined || array.element === null || rest.length < 1 || rest.length > 2) return null;
    return tableFn("generate_subscripts", [array, INT4, ...(rest.length === 2 ? [BOOL] : [])], INT4, subscripts);
  },
);
