/** Durations as settings have them: `5s`, `2min`, milliseconds without a unit. */
import { sqlError } from "../protocol/errors.js";
import { quantityInUnit, shownQuantity } from "../protocol/setting-units.js";

const MS_MAX = 0x7fffffff;

/**
 * Milliseconds, or a number with a unit, as PostgreSQL takes it; gives the largest unit that it is a whole number of.
 */
export function duration(text: string, name: string): string {
  const shown = shownQuantity(name, text);
  const ms = durationMs(shown);
  if (ms >= 0 && ms <= MS_MAX) return shown;
  throw sqlError("22023", `${ms} ms is outside the valid range for parameter "${name}" (0 .. ${MS_MAX})`);
}

/** The milliseconds that such a setting's value means. */
export function durationMs(value: string): number {
  return Number(quantityInUnit("statement_timeout", value));
}
