/** JSON text of values of Arrow and Parquet, in the forms that SQL reads. Pure. */
import { dateToText, timeToText } from "../../values/datetime.js";
import { type Timestamp, timestampOf } from "../../values/timestamp.js";
import { timestampToText, timestampTzToText } from "../../values/timestamp-text.js";

/** Writes the value of a row. Not called for NULL. */
export type JsonOf = (value: never) => string;

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** Numbers that not every reader of JSON can keep are strings. */
export function jsonInteger(value: number | bigint): string {
  return typeof value === "bigint" && (value > SAFE || value < -SAFE) ? `"${value}"` : String(value);
}

export function jsonFloat(value: number): string {
  return Number.isFinite(value) ? String(value) : `"${value}"`;
}

/** unscaled × 10^−scale. */
export function jsonDecimal(unscaled: bigint, scale: number): string {
  if (scale <= 0) return `"${unscaled}${"0".repeat(unscaled === 0n ? 0 : -scale)}"`;
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, "0");
  return `"${unscaled < 0n ? "-" : ""}${digits.slice(0, -scale)}.${digits.slice(-scale)}"`;
}

/** DuckDB writes infinity so. */
const DAY_MAX = 2 ** 31 - 1;
const LONG_MAX = 2n ** 63n - 1n;

export function jsonDate(days: number): string {
  return `"${dateToText(Math.abs(days) === DAY_MAX ? Math.sign(days) * Number.POSITIVE_INFINITY : days)}"`;
}

/** `perSecond`: units of the value in a second. */
export function jsonTimestamp(value: number | bigint, perSecond: number, isZoned: boolean): string {
  const micros = timestampIn(value, perSecond);
  return `"${isZoned ? timestampTzToText(micros, "UTC", "T") : timestampToText(micros, "T")}"`;
}

export function jsonTime(value: number | bigint, perSecond: number): string {
  return `"${timeToText(Number(microsOf(value, perSecond)))}"`;
}

function timestampIn(value: number | bigint, perSecond: number): Timestamp {
  if (value === LONG_MAX) return Number.POSITIVE_INFINITY;
  return value === -LONG_MAX ? Number.NEGATIVE_INFINITY : timestampOf(microsOf(value, perSecond));
}

/** Nanoseconds are cut. */
function microsOf(value: number | bigint, perSecond: number): bigint {
  const units = BigInt(value);
  return perSecond > 1e6 ? units / BigInt(perSecond / 1e6) : units * BigInt(1e6 / perSecond);
}

export function jsonBytes(bytes: Uint8Array): string {
  return `"\\\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex")}"`;
}

export function jsonUuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
  return `"${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}"`;
}

/** On one line, with all digits. Text that is no JSON stays text. */
export function jsonDocument(text: string): string {
  try {
    JSON.parse(text);
  } catch {
    return JSON.stringify(text);
  }
  // Strings of JSON have no line breaks: these stand between values.
  return text.replaceAll(/[\r\n]/g, " ");
}

/** A signed number of any length. */
export function bigEndian(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n;
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
  return BigInt.asIntN(8 * bytes.length, BigInt(`0x${hex}`));
}
