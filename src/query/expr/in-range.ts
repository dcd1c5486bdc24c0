/**
 * Frames of RANGE with an offset: whether a row's sort key lies within the offset of the current row's. These are the
 * in_range support functions of PostgreSQL's B-tree operator classes (chapter 38.16.3 of its manual). The binder
 * chooses one by type, the window operator calls it.
 */
import { sqlError } from "../../protocol/errors.js";
import { Numeric } from "../../values/numeric.js";
import { timestampAt } from "../../values/timestamp.js";
import {
  FLOAT8,
  INT2,
  INT4,
  INT8,
  INTERVAL,
  type Interval,
  NUMERIC,
  type SqlType,
  type TimeTz,
  type Value,
} from "../../values/values.js";
import { type Comparator, comparatorOf } from "./compare.js";
import type { EvalContext, ScalarFunction } from "./expr.js";
import { resolveOperator } from "./resolve.js";
import { baseType } from "./types.js";

export interface InRange {
  /** The offset is converted to this type. */
  readonly offset: SqlType;
  /** Throws 22013 for a negative offset. */
  check(offset: Value): void;
  /** `value <= base ± offset` when `less`, else `value >= base ± offset`; minus when `subtract`. None is null. */
  test(value: Value, base: Value, offset: Value, subtract: boolean, less: boolean, context: EvalContext): boolean;
}

/** The offsets that a sort key of that type can take; none: RANGE with an offset is not possible. */
export function inRangesOf(type: SqlType): readonly InRange[] {
  switch (type.name) {
    case "int8":
      return [integers(INT8)];
    case "int4":
    case "int2":
      return [integers(INT8), integers(INT4), integers(INT2)];
    case "float4":
    case "float8":
      return [FLOATS];
    case "numeric":
      return [NUMERICS];
    case "date":
    case "timestamp":
    case "timestamptz":
    case "interval":
      return [shifted(baseType(type))];
    case "time":
    case "timetz":
      return [clock(type)];
    default:
      return [];
  }
}

function refuse(negative: boolean): void {
  if (negative) throw sqlError("22013", "invalid preceding or following size in window function");
}

function integers(offset: SqlType): InRange {
  return {
    offset,
    check: (given) => refuse((given as number) < 0),
    test(value, base, given, subtract, less) {
      let bound: number | bigint = Number(base) + (subtract ? -Number(given) : Number(given));
      if (!Number.isSafeInteger(bound)) {
        bound = BigInt(base as number) + (subtract ? -BigInt(given as number) : BigInt(given as number));
      }
      return less ? (value as number) <= bound : (value as number) >= bound;
    },
  };
}

/** NaN lies above everything and within any offset of itself; infinity less infinity is taken for equal. */
const FLOATS: InRange = {
  offset: FLOAT8,
  check: (given) => refuse(Number.isNaN(given) || (given as number) < 0),
  test(value, base, given, subtract, less) {
    const [x, y, by] = [value, base, given] as [number, number, number];
    if (Number.isNaN(x)) return Number.isNaN(y) || !less;
    if (Number.isNaN(y)) return less;
    if (by === Number.POSITIVE_INFINITY && y === (subtract ? by : -by)) return true;
    const bound = subtract ? y - by : y + by;
    return less ? x <= bound : x >= bound;
  },
};

const NUMERICS: InRange = {
  offset: NUMERIC,
  check: (given) => refuse((given as Numeric).isNaN() || (given as Numeric).signum() < 0),
  test(value, base, given, subtract, less) {
    const [x, y, by] = [value, base, given] as [Numeric, Numeric, Numeric];
    if (x.isNaN()) return y.isNaN() || !less;
    if (y.isNaN()) return less;
    const infinite = subtract ? Numeric.INFINITY : Numeric.NEGATIVE_INFINITY;
    if (!by.isFinite() && y.equals(infinite)) return true;
    const order = x.compare(subtract ? y.sub(by) : y.add(by));
    return less ? order <= 0 : order >= 0;
  },
};

const ZERO: Interval = { months: 0, days: 0, micros: 0 };

/** Types to which an interval is added by their own + and −. */
function shifted(type: SqlType): InRange {
  const plus = resolveOperator("+", type, INTERVAL).fn;
  const minus = resolveOperator("-", type, INTERVAL).fn;
  const compare: Comparator = comparatorOf(plus.returns);
  // A date plus an interval is a timestamp.
  const isDate = type.name === "date";
  const sizes = comparatorOf(INTERVAL);
  return {
    offset: INTERVAL,
    check: (given) => refuse(sizes(given, ZERO) < 0),
    test(value, base, given, subtract, less, context) {
      const bound = apply(subtract ? minus : plus, context, base, given);
      const order = compare(isDate ? timestampAt(value as number) : value, bound);
      return less ? order <= 0 : order >= 0;
    },
  };
}

function apply(fn: ScalarFunction, context: EvalContext, a: Value, b: Value): Value {
  return fn.needsContext === true ? fn.apply(context, a, b) : fn.apply(a, b);
}

const laterBy = (time: TimeTz, micros: number): TimeTz => ({ ...time, micros: time.micros + micros });

/** Times of day do not go round at midnight here; an offset's months and days do not count. */
function clock(type: SqlType): InRange {
  const compare = comparatorOf(type);
  return {
    offset: INTERVAL,
    check: (given) => refuse((given as Interval).micros < 0),
    test(value, base, given, subtract, less) {
      const by = Number((given as Interval).micros) * (subtract ? -1 : 1);
      const bound = typeof base === "number" ? base + by : laterBy(base as TimeTz, by);
      const order = compare(value, bound);
      return less ? order <= 0 : order >= 0;
    },
  };
}
