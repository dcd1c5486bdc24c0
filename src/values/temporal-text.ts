/**
 * Cypher's temporal values as ISO 8601 text, as toString() gives them and answers show them. Reading such text is in
 * query/expr/cypher/temporal-parse.ts, and gives the value back.
 */
import { civilFromDays } from "./datetime.js";
import {
  CypherDate,
  type Duration,
  LocalDateTime,
  LocalTime,
  type Temporal,
  ZonedDateTime,
  ZonedTime,
} from "./temporal.js";

/** Seconds and their fraction are printed as far as they say something: "12:31", "12:31:14.645". */
export function temporalToText(value: Temporal): string {
  if (value instanceof CypherDate) return dateText(value.days);
  if (value instanceof LocalTime) return timeText(value.nanos);
  if (value instanceof ZonedTime) return timeText(value.nanos) + offsetToText(value.offset);
  if (value instanceof LocalDateTime) return `${dateText(value.days)}T${timeText(value.nanos)}`;
  if (value instanceof ZonedDateTime) {
    const zone = value.zone === null ? "" : `[${value.zone}]`;
    return `${dateText(value.days)}T${timeText(value.nanos)}${offsetToText(value.offset)}${zone}`;
  }
  return durationText(value);
}

/** "Z", "+01:00", "-02:05:07" for seconds east of UTC. */
export function offsetToText(offset: number): string {
  if (offset === 0) return "Z";
  const size = Math.abs(offset);
  const seconds = size % 60;
  const minutes = `${pad2(Math.floor(size / 3600))}:${pad2(Math.floor(size / 60) % 60)}`;
  return `${offset < 0 ? "-" : "+"}${minutes}${seconds === 0 ? "" : `:${pad2(seconds)}`}`;
}

const pad2 = (n: number) => (n < 10 ? `0${n}` : String(n));

/** Years that have more or less than four digits, or are before the year 0, have a sign. */
function dateText(days: number): string {
  const { year, month, day } = civilFromDays(days);
  const digits = String(Math.abs(year)).padStart(4, "0");
  const sign = year < 0 ? "-" : year > 9999 ? "+" : "";
  return `${sign}${digits}-${pad2(month)}-${pad2(day)}`;
}

function timeText(nanos: number): string {
  const seconds = Math.floor(nanos / 1e9);
  const fraction = nanos - seconds * 1e9;
  const minutes = `${pad2(Math.floor(seconds / 3600))}:${pad2(Math.floor(seconds / 60) % 60)}`;
  if (seconds % 60 === 0 && fraction === 0) return minutes;
  return `${minutes}:${pad2(seconds % 60)}${fractionText(fraction)}`;
}

/** ".000000001", "" for none; without trailing zeros. */
function fractionText(nanos: number): string {
  return nanos === 0 ? "" : `.${String(nanos).padStart(9, "0").replace(/0+$/, "")}`;
}

/** Each part has its own sign; the fraction has that of the seconds: -1 s and 999,999,999 ns is "PT-0.000000001S". */
function durationText(value: Duration): string {
  let text = "P";
  const months = value.months;
  const years = Math.trunc(months / 12);
  if (years !== 0) text += `${years}Y`;
  if (months % 12 !== 0) text += `${months % 12}M`;
  if (value.days !== 0) text += `${value.days}D`;
  const time = clockText(value.seconds, value.nanos);
  if (time !== "") text += `T${time}`;
  return text === "P" ? "PT0S" : text;
}

function clockText(seconds: number | bigint, nanos: number): string {
  const negative = seconds < 0;
  // Towards zero, so that all parts have one sign.
  const borrow = negative && nanos !== 0;
  const whole = typeof seconds === "bigint" ? seconds + (borrow ? 1n : 0n) : seconds + (borrow ? 1 : 0);
  const fraction = borrow ? 1_000_000_000 - nanos : nanos;
  const [hours, rest] =
    typeof whole === "bigint"
      ? [whole / 3600n, Number(whole % 3600n)]
      : [Math.trunc(whole / 3600), whole - Math.trunc(whole / 3600) * 3600];
  const minutes = Math.trunc(rest / 60);
  const left = rest - minutes * 60;
  let text = "";
  if (hours !== 0n && hours !== 0) text += `${hours}H`;
  if (minutes !== 0) text += `${minutes}M`;
  if (left !== 0 || fraction !== 0) text += `${negative ? "-" : ""}${Math.abs(left)}${fractionText(fraction)}S`;
  return text;
}
