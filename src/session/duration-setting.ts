/** Durations as settings have them: `5s`, `2min`, milliseconds without a unit. */
import { sqlError } from "../protocol/errors.js";

const UNIT_MS: Readonly<Record<string, number>> = {
  us: 0.001,
  ms: 1,
  s: 1000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * Milliseconds, or a number with a unit, as PostgreSQL takes it; gives the largest unit that it is a whole number of.
 */
export function duration(text: string, name: string): string {
  const [, digits, unit = "ms"] = /^\s*(\d{1,12}(?:\.\d{1,6})?)\s*(us|ms|s|min|h|d)?\s*$/.exec(text) ?? [];
  if (digits === undefined) {
    throw sqlError("22023", `invalid value for parameter "${name}": "${text}"`, {
      hint: 'Valid units for this parameter are "us", "ms", "s", "min", "h", and "d".',
    });
  }
  const ms = Math.round(Number(digits) * UNIT_MS[unit]!);
  if (ms > 0x7fffffff) throw sqlError("22023", `${ms} ms is outside the valid range for parameter "${name}"`);
  if (ms === 0) return "0";
  const largest = ["d", "h", "min", "s", "ms"].find((each) => ms % UNIT_MS[each]! === 0)!;
  return `${ms / UNIT_MS[largest]!}${largest}`;
}

/** The milliseconds that such a setting's value means. */
export function durationMs(value: string): number {
  if (value === "0") return 0;
  const [, digits, unit = "ms"] = /^(\d+)(\w+)?$/.exec(value)!;
  return Number(digits) * UNIT_MS[unit]!;
}
