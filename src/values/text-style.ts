/**
 * Dates, times and intervals as DateStyle and IntervalStyle have them written, besides ISO and postgres, which
 * datetime.ts and interval.ts write, bytes as bytea_output and floats as extra_float_digits has them. After
 * EncodeDateOnly, EncodeDateTime and EncodeInterval of PostgreSQL 15 (datetime.c).
 */
import { civilFromDays, dateToText, fractionText, offsetToText, SECOND_MICROS, timeToText } from "./datetime.js";
import { float4ToText, float8ToText, floatToDigits } from "./float-text.js";
import { intervalToText, negateInterval, parseInterval } from "./interval.js";
import { isTimeZone, offsetAt } from "./time-zone.js";
import { addMicros, isFiniteTimestamp, splitTimestamp, type Timestamp } from "./timestamp.js";
import { timestampToText, timestampTzToText } from "./timestamp-text.js";
import type { Interval } from "./values.js";
import { zoneAbbreviation } from "./zone-abbreviation.js";

export type DateOrder = "MDY" | "DMY" | "YMD";

export interface TextStyle {
  readonly dates: "ISO" | "SQL" | "Postgres" | "German";
  /** In which order the fields of a date are read, and written where the style leaves that open. */
  readonly order: DateOrder;
  readonly intervals: "postgres" | "postgres_verbose" | "sql_standard" | "iso_8601";
  readonly bytes: "hex" | "escape";
  /** extra_float_digits: above 0 floats have the fewest digits that read back. */
  readonly floatDigits: number;
}

export const PLAIN_STYLE: TextStyle = {
  dates: "ISO",
  order: "MDY",
  intervals: "postgres",
  bytes: "hex",
  floatDigits: 1,
};

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

interface Day {
  readonly year: string;
  readonly month: string;
  readonly day: string;
  readonly era: string;
  readonly monthName: string;
  readonly weekday: string;
}

function dayOf(days: number): Day {
  const { year, month, day } = civilFromDays(days);
  return {
    year: String(year > 0 ? year : 1 - year).padStart(4, "0"),
    month: String(month).padStart(2, "0"),
    day: String(day).padStart(2, "0"),
    era: year > 0 ? "" : " BC",
    monthName: MONTHS[month - 1]!,
    // 1970-01-01 was a Thursday.
    weekday: DAYS[(((days + 4) % 7) + 7) % 7]!,
  };
}

function numericDate({ year, month, day }: Day, { dates, order }: TextStyle): string {
  if (dates === "German") return `${day}.${month}.${year}`;
  const separator = dates === "SQL" ? "/" : "-";
  return (order === "DMY" ? [day, month, year] : [month, day, year]).join(separator);
}

export function dateInStyle(days: number, style: TextStyle): string {
  if (style.dates === "ISO" || !Number.isFinite(days)) return dateToText(days);
  const day = dayOf(days);
  return numericDate(day, style) + day.era;
}

export function timestampInStyle(timestamp: Timestamp, style: TextStyle): string {
  if (style.dates === "ISO" || !isFiniteTimestamp(timestamp)) return timestampToText(timestamp);
  return styled(timestamp, style, "");
}

export function timestampTzInStyle(instant: Timestamp, timeZone: string, style: TextStyle): string {
  if (style.dates === "ISO" || !isFiniteTimestamp(instant)) return timestampTzToText(instant, timeZone);
  const local = addMicros(instant, offsetAt(timeZone, instant) * SECOND_MICROS);
  return styled(local, style, zoneText(timeZone, instant));
}

/** The zone's abbreviation at that time, where it has one that can be read again, else its offset. */
function zoneText(timeZone: string, instant: Timestamp): string {
  if (timeZone === "UTC") return "UTC";
  const offset = offsetAt(timeZone, instant);
  const name = zoneAbbreviation(timeZone, instant);
  return isTimeZone(name) && /^[A-Z]+$/.test(name) && offsetAt(name, instant) === offset ? name : offsetToText(offset);
}

/** `zone`: of letters, or an offset. */
function styled(timestamp: Timestamp, style: TextStyle, zone: string): string {
  const { days, micros: time } = splitTimestamp(timestamp);
  const day = dayOf(days);
  const clock = timeToText(time);
  const after = /^[A-Za-z]/.test(zone) ? ` ${zone}` : zone;
  if (style.dates !== "Postgres") return `${numericDate(day, style)} ${clock}${after}${day.era}`;
  const date = style.order === "DMY" ? `${day.day} ${day.monthName}` : `${day.monthName} ${day.day}`;
  return `${day.weekday} ${date} ${clock} ${day.year}${zone === "" ? "" : ` ${zone}`}${day.era}`;
}

/** Printable ASCII as it is, all else as `\ooo`, a backslash twice. */
export function bytesInStyle(bytes: Uint8Array, style: TextStyle): string {
  if (style.bytes === "hex") return `\\x${Buffer.from(bytes).toString("hex")}`;
  const text = Buffer.from(bytes).toString("latin1");
  return text.replace(/[^ -[\]-~]/g, (byte) =>
    byte === "\\" ? "\\\\" : `\\${byte.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
}

const FLOAT4_DIGITS = 6;
const FLOAT8_DIGITS = 15;

export function float4InStyle(x: number, { floatDigits }: TextStyle): string {
  return floatDigits > 0 ? float4ToText(x) : floatToDigits(x, Math.max(FLOAT4_DIGITS + floatDigits, 1));
}

export function float8InStyle(x: number, { floatDigits }: TextStyle): string {
  return floatDigits > 0 ? float8ToText(x) : floatToDigits(x, Math.max(FLOAT8_DIGITS + floatDigits, 1));
}

/** All parts have the sign of their field. */
interface Parts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly fraction: number;
}

function partsOf({ months, days, micros }: Interval): Parts {
  const all = BigInt(micros);
  const seconds = Number(all / BigInt(SECOND_MICROS));
  return {
    year: Math.trunc(months / 12),
    month: months % 12,
    day: days,
    hour: Math.trunc(seconds / 3600),
    minute: Math.trunc(seconds / 60) % 60,
    second: seconds % 60,
    fraction: Number(all % BigInt(SECOND_MICROS)),
  };
}

export function intervalInStyle(interval: Interval, style: TextStyle): string {
  switch (style.intervals) {
    case "postgres":
      return intervalToText(interval);
    case "postgres_verbose":
      return verbose(partsOf(interval));
    case "sql_standard":
      return sqlStandard(partsOf(interval));
    case "iso_8601":
      return iso8601(partsOf(interval));
  }
}

/** Where only the first part has a sign, it is about all of them: "-1 2:03:04" is negative altogether. */
export function parseStandardInterval(text: string, modifier: number | null): Interval {
  const [first = "", ...rest] = text.trim().split(/\s+/);
  const isNegative = /^-\d/.test(first) && !rest.some((part) => /^[-+]/.test(part));
  return isNegative ? negateInterval(parseInterval(text.replace("-", ""), modifier)) : parseInterval(text, modifier);
}

/** Without a sign. */
function secondsText({ second, fraction }: Parts, digits = 1): string {
  const whole = String(Math.abs(second)).padStart(digits, "0");
  return fraction === 0 ? whole : `${whole}.${fractionText(Math.abs(fraction))}`;
}

/** "@ 1 year 2 mons 3 days ago": the first part is positive, and "ago" turns all signs. */
function verbose(parts: Parts): string {
  const { second, fraction } = parts;
  const units = [
    [parts.year, "year"],
    [parts.month, "mon"],
    [parts.day, "day"],
    [parts.hour, "hour"],
    [parts.minute, "min"],
  ] as const;
  const first = [...units.map(([value]) => value), second, fraction].find((value) => value !== 0);
  if (first === undefined) return "@ 0";
  const turn = first < 0 ? -1 : 1;
  let text = "@";
  for (const [value, unit] of units) {
    if (value !== 0) text += ` ${value * turn} ${unit}${value * turn === 1 ? "" : "s"}`;
  }
  if (second !== 0 || fraction !== 0) {
    const isNegative = (second + fraction) * turn < 0;
    const unit = Math.abs(second) !== 1 || fraction !== 0 ? "secs" : "sec";
    text += ` ${isNegative ? "-" : ""}${secondsText(parts)} ${unit}`;
  }
  return turn < 0 ? `${text} ago` : text;
}

/** "1-2", "3 4:05:06"; with signs of all parts where one sign before them would not do. */
function sqlStandard(parts: Parts): string {
  const { year, month, day, hour, minute, second, fraction } = parts;
  const all = [year, month, day, hour, minute, second, fraction];
  const hasNegative = all.some((value) => value < 0);
  const hasPositive = all.some((value) => value > 0);
  if (!hasNegative && !hasPositive) return "0";
  const hasMonths = year !== 0 || month !== 0;
  const hasTime = [hour, minute, second, fraction].some((value) => value !== 0);
  const months = `${Math.abs(year)}-${Math.abs(month)}`;
  const clock = `${Math.abs(hour)}:${String(Math.abs(minute)).padStart(2, "0")}:${secondsText(parts, 2)}`;
  if ((hasNegative && hasPositive) || (hasMonths && (day !== 0 || hasTime))) {
    const isTimeNegative = [hour, minute, second, fraction].some((value) => value < 0);
    const sign = (isNegative: boolean) => (isNegative ? "-" : "+");
    return `${sign(year < 0 || month < 0)}${months} ${sign(day < 0)}${Math.abs(day)} ${sign(isTimeNegative)}${clock}`;
  }
  const text = hasMonths ? months : day !== 0 ? `${Math.abs(day)} ${clock}` : clock;
  return hasNegative ? `-${text}` : text;
}

/** "P1Y2M3DT4H5M6.7S". */
function iso8601(parts: Parts): string {
  const { year, month, day, hour, minute, second, fraction } = parts;
  const part = (value: number, letter: string) => (value === 0 ? "" : `${value}${letter}`);
  const date = part(year, "Y") + part(month, "M") + part(day, "D");
  const sign = second < 0 || fraction < 0 ? "-" : "";
  const seconds = second === 0 && fraction === 0 ? "" : `${sign}${secondsText(parts)}S`;
  const time = part(hour, "H") + part(minute, "M") + seconds;
  if (date === "" && time === "") return "PT0S";
  return `P${date}${time === "" ? "" : `T${time}`}`;
}
