/** Values as texts for people; those that may be absent give "" then. Pure. */

const COUNT = new Intl.NumberFormat("en");
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const MEASURE = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });

type Perhaps<T> = T | null | undefined;

export function countText(count: number): string {
  return COUNT.format(count);
}

export function shortCount(count: number): string {
  return SHORT.format(count);
}

/** Very large and very small numbers have an exponent: their zeros say nothing. */
export function measureText(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e15 || size < 1e-6)) return String(Number(value.toPrecision(6)));
  return MEASURE.format(value);
}

/** With so many significant digits. */
export function roundedText(value: Perhaps<number>, digits = 3): string {
  return value == null ? "" : measureText(Number(value.toPrecision(digits)));
}

/** Of a score between 0 and 1. */
export function scoreText(score: Perhaps<number>): string {
  return score == null ? "" : measureText(Number(score.toFixed(3)));
}

export function percentText(share: Perhaps<number>): string {
  return share == null ? "" : `${Math.round(share * 100)}%`;
}

const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"];

export function bytesText(bytes: Perhaps<number>): string {
  if (bytes == null) return "";
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${unit === 0 ? value : value.toPrecision(3)} ${UNITS[unit]}`;
}

export function durationText(ms: Perhaps<number>): string {
  if (ms == null) return "";
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 1000) return `${ms.toPrecision(3)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toPrecision(3)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1000)} s`;
  if (ms < 172_800_000) return `${(ms / 3_600_000).toFixed(1)} h`;
  return `${(ms / 86_400_000).toFixed(1)} days`;
}

export function plural(count: number, one: string, several = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : several}`;
}

export function timeText(iso: Perhaps<string>): string {
  if (iso == null) return "";
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  return date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}

/** The time of the day. */
export function clockText(at: Date | number | string): string {
  return new Date(at).toLocaleTimeString("en-GB");
}

/** A value of a result in one line. */
export function cellText(value: unknown): string {
  if (value === null || value === undefined) return "NULL";
  if (typeof value === "string") return value;
  if (typeof value === "object") return JSON.stringify(value);
  return String(value);
}

const NUMERIC = /^(?:smallint|integer|bigint|numeric|real|double precision|oid|int\d?|float\d?)/;

/** By the column's type in SQL: numbers stand on the right. */
export function isNumeric(type: string): boolean {
  return NUMERIC.test(type) && !type.endsWith("[]");
}

/** The number that a value is or spells; NaN for others. Large integers and numerics come as texts. */
export function numberOf(value: unknown): number {
  if (typeof value === "number") return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "string" || value.trim() === "") return Number.NaN;
  return Number(value);
}
