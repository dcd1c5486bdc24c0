/** to_char, to_number, to_date and to_timestamp (chapter 9.8); the templates are in the two *-format.ts files. */
import { checkedTimestamp, SECOND_MICROS, splitTimestamp } from "../../../values/datetime.js";
import { Numeric } from "../../../values/numeric.js";
import { offsetAt } from "../../../values/time-zone.js";
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
import { instantOf, localMicros } from "../cast.js";
import type { EvalContext, ScalarFunction } from "../expr.js";
import { numberConversion } from "../number-cast.js";
import { formatInterval, formatTimestamp, parseTimestampTemplate } from "./datetime-format.js";
import { contextFn, fn } from "./define.js";
import { formatNumber, parseNumber } from "./number-format.js";

/** Significant digits to which to_char prints a floating-point number, and those that tell any two apart. */
const FLOAT_DIGITS: Readonly<Record<string, number>> = { float4: 6, float8: 15 };
const EXACT_DIGITS = 17;

function numberToChar(type: SqlType): ScalarFunction {
  const precision = FLOAT_DIGITS[type.name];
  if (precision !== undefined) {
    return fn("to_char", [type, TEXT], TEXT, (value: number, format: string) =>
      formatNumber(Numeric.fromFloat(value, EXACT_DIGITS), format, precision),
    );
  }
  const toNumeric = numberConversion(type.name, "numeric") as (value: Value) => Value;
  return fn("to_char", [type, TEXT], TEXT, (value: Value, format: string) =>
    formatNumber(toNumeric(value) as Numeric, format),
  );
}

function toTimestamp(context: EvalContext, text: string, format: string): number {
  const { micros, offset } = parseTimestampTemplate(text, format);
  return offset === null ? instantOf(micros, context.timeZone) : checkedTimestamp(micros - offset * SECOND_MICROS);
}

function formatInZone(micros: number, format: string, timeZone: string): string | null {
  const zone = { name: timeZone, offset: offsetAt(timeZone, micros) };
  return formatTimestamp(localMicros(micros, timeZone), format, zone);
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
  fn("to_char", [TIMESTAMP, TEXT], TEXT, (micros: number, format: string) => formatTimestamp(micros, format)),
  fn("to_char", [INTERVAL, TEXT], TEXT, formatInterval),
  contextFn("to_char", [TIMESTAMPTZ, TEXT], TEXT, (context, micros: number, format: string) =>
    Number.isFinite(micros) ? formatInZone(micros, format, context.timeZone) : null,
  ),
  fn("to_number", [TEXT, TEXT], NUMERIC, parseNumber),
  fn(
    "to_date",
    [TEXT, TEXT],
    DATE,
    (text: string, format: string) => splitTimestamp(parseTimestampTemplate(text, format).micros).days,
  ),
  contextFn("to_timestamp", [TEXT, TEXT], TIMESTAMPTZ, toTimestamp),
];
