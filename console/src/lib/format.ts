/** Values as texts for people. Pure. */

const COUNT = new Intl.NumberFormat("en");
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const MEASURE = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });

export function countText(count: number): string {
  return COUNT.format(count);
}

export function shortCount(count: number): string {
  return SHORT.format(count);
}

export function measureText(value: number): string {
  return Number.isFinite(value) ? MEASURE.format(value) : String(value);
}

const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"];

export function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < UNITS.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${unit === 0 ? value : value.toPrecision(3)} ${UNITS[unit]}`;
}

export function durationText(ms: number): string {
  if (ms < 1) return `${ms.toFixed(2)} ms`;
  if (ms < 1000) return `${ms.toPrecision(3)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toPrecision(3)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
  if (ms < 172_800_000) return `${(ms / 3_600_000).toFixed(1)} h`;
  return `${(ms / 86_400_000).toFixed(1)} days`;
}

export function plural(count: number, one: string, several = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : several}`;
}

export function timeText(iso: string | null | undefined): string {
  if (iso === null || iso === undefined) return "";
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return iso;
  return date.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
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
