/**
 * Settings of PostgreSQL that are durations or sizes: what a client may write, what SHOW prints, and the number in the
 * setting's own unit that pg_settings has.
 */
import { sqlError } from "./errors.js";

type Unit = "ms" | "kB" | "8kB";

export const SETTING_UNITS: Readonly<Record<string, Unit>> = {
  deadlock_timeout: "ms",
  effective_cache_size: "8kB",
  gin_pending_list_limit: "kB",
  idle_in_transaction_session_timeout: "ms",
  idle_session_timeout: "ms",
  lock_timeout: "ms",
  log_min_duration_statement: "ms",
  log_temp_files: "kB",
  maintenance_work_mem: "kB",
  min_parallel_index_scan_size: "8kB",
  min_parallel_table_scan_size: "8kB",
  statement_timeout: "ms",
  temp_buffers: "8kB",
  transaction_timeout: "ms",
  vacuum_cost_delay: "ms",
  work_mem: "kB",
};

/** In milliseconds and in kB, the largest last. */
const TIMES: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000, min: 60_000, h: 3_600_000, d: 86_400_000 };
const SIZES: Readonly<Record<string, number>> = { B: 1 / 1024, kB: 1, MB: 1024, GB: 1024 ** 2, TB: 1024 ** 3 };

const unitsOf = (unit: Unit) => (unit === "ms" ? TIMES : SIZES);
/** Of the setting's own unit, in milliseconds or kB. */
const measureOf = (unit: Unit) => (unit === "8kB" ? 8 : 1);
/** Of these a part of a millisecond counts. */
const FRACTIONS: ReadonlySet<string> = new Set(["vacuum_cost_delay"]);

const QUANTITY = /^\s*([+-]?\d{1,12}(?:\.\d{1,6})?)\s*([a-zA-Z]+)?\s*$/;

/** The number in the setting's own unit; null: the text is no such quantity. */
function numberOf(name: string, text: string): number | null {
  const unit = SETTING_UNITS[name]!;
  const [, digits, given] = QUANTITY.exec(text) ?? [];
  if (digits === undefined) return null;
  const measure = given === undefined ? measureOf(unit) : unitsOf(unit)[given];
  if (measure === undefined) return null;
  const number = (Number(digits) * measure) / measureOf(unit);
  return FRACTIONS.has(name) ? number : Math.round(number);
}

/** As SHOW prints it: with the largest unit that it is a whole number of. Throws 22023. */
export function shownQuantity(name: string, text: string): string {
  const unit = SETTING_UNITS[name]!;
  const number = numberOf(name, text);
  if (number === null) {
    const valid = unit === "ms" ? '"us", "ms", "s", "min", "h", and "d"' : '"B", "kB", "MB", "GB", and "TB"';
    throw sqlError("22023", `invalid value for parameter "${name}": "${text}"`, {
      hint: `Valid units for this parameter are ${valid}.`,
    });
  }
  if (number <= 0) return String(number);
  const total = number * measureOf(unit);
  const units = Object.entries(unitsOf(unit)).toReversed();
  const [largest, measure] = units.find(([, each]) => Number.isInteger(total / each)) ?? units.at(-1)!;
  return `${Math.round(total / measure)}${largest}`;
}

/** The shown value as pg_settings has it: a number of the setting's own unit. */
export const quantityInUnit = (name: string, shown: string): string => String(numberOf(name, shown) ?? shown);
