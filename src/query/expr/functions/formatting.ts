/** to_char, to_number, to_date and to_timestamp (chapter 9.8); the templates are in the two *-format.ts files. */
import { SECOND_MICROS } from "../../../values/datetime.js";
import { Numeric } from "../../../values/numeric.js";
import { offsetAt } from "../../../values/time-zone.js";
import {
  addMicros,
  checkedTimestamp,
  isFiniteTimestamp,
  roundTimestamp,
  splitTimestamp,
  type Timestamp,
} from "../../../values/timestamp.js";
import {
  DATE,
  FLOAT4,
  FLOAT8,
  INT4,
  INT8,
  INTERVAL,
  NUMERIC,
  type SqlType,
  TEXT,
  TIMESTAMP,
  TIMESTAMPTZ,
  type Value,
} from "../../../values/values.js";
import { zoneAbbreviation } from "../../../values/zone-abbreviation.js";
import { instantOf, localReading } from "../cast.js";
import type { EvalContext, ScalarFunction } from "../expr.js";
import { numberConversion } from "../number-cast.js";
import { formatInterval, formatTimestamp } from "./datetime-format.js";
import { parseTimestampTemplate } from "./datetime-template.js";
import { contextFn, fn } from "./define.js";
import { formatNumber, parseNumber } from "./number-format.js";

/** Significant digits to which to_char prints a floating-point number, and those that tell any two apart. */
const FLOAT_DIGITS: Readonly<Record<string, number>> = { float4: 6, float8: 15 };
const EXACT_DIGITS = 17;

function numberToChar(type: SqlType): ScalarFunction {
  const precision = FLOAT_DIGITS[type.name];
  if (precision !== undefined) {
    return fn("to_char", [type, TEXT], TEXT, (value: number, format: string) =>
      formatNumber(Numeric.fromFloat(value, EXACT_DIGITS), format, {
        precision,
        isNegative: value < 0 || Object.is(value, -0),
      }),
    );
  }
  const toNumeric = numberConversion(type.name, "numeric") as (value: Value) => Value;
  return fn("to_char", [type, TEXT], TEXT, (value: Value, format: string) =>
    formatNumber(toNumeric(value) as Numeric, format),
  );
}

function toTimestamp(context: EvalContext, text: string, format: string): Timestamp {
  const { local, offset, precision } = parseTimestampTemplate(text, format);
  if (offset === null) return roundTimestamp(instantOf(local, context.timeZone), precision);
  return roundTimestamp(checkedTimestamp(addMicros(local, -offset * SECOND_MICROS)), precision);
}

function formatInZone(instant: Timestamp, format: string, timeZone: string): string | null {
  const zone = { name: zoneAbbreviation(timeZone, instant), offset: offsetAt(timeZone, instant) };
  return formatTimestamp(localReading(instant, timeZone), format, zone);
}

export const FORMATTING: readonly ScalarFunction[] = [
  ...[INT4, INT8, FLOAT4, FLOAT8, NUMERIC].map(numberToChar),
  contextFn(
    "timeofday",
    [],
    TEXT,
    ({ timeZone }) => formatInZone(Date.now() * 1000, "Dy Mon DD HH24:MI:SS.US YYYY TZ", timeZone),
    { volatility: "volatile" },
  ),
  fn("to_char", [TIMESTAMP, TEXT], TEXT, (value: Timestamp, format: string) => formatTimestamp(value, format)),
  fn("to_char", [INTERVAL, TEXT], TEXT, formatInterval),
  contextFn("to_char", [TIMESTAMPTZ, TEXT], TEXT, (context, instant: Timestamp, format: string) =>
    isFiniteTimestamp(instant) ? formatInZone(instant, format, context.timeZone) : null,
  ),
  fn("to_number", [TEXT, TEXT], NUMERIC, parseNumber),
  fn(
    "to_date",
    [TEXT, TEXT],
    DATE,
    (text: string, format: string) => splitTimestamp(parseTimestampTemplate(text, format).local).days,
  ),
  contextFn("to_timestamp", [TEXT, TEXT], TIMESTAMPTZ, toTimestamp),
];
