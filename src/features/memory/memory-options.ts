/** Options of the functions of memories: JSON objects, and times in them. Pure. */
import { sqlError } from "../../protocol/errors.js";

/** A date, or a date with a time and perhaps its zone. */
const TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?$/;

/** Throws 22023. */
export function objectOf(text: string, what: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw sqlError("22023", `${what} must be a JSON object, not "${text.slice(0, 80)}"`);
}

/** As RFC 3339 in UTC; null: none is given. Without a zone the time is in UTC. Throws 22023. */
export function timeOption(value: unknown, name: string): string | null {
  if (value === null || value === undefined) return null;
  const time = typeof value === "string" && TIME.test(value) ? parsedTime(value) : null;
  if (time !== null) return time;
  const shown = JSON.stringify(value).slice(0, 60);
  throw sqlError("22023", `the option "${name}" must be a date or a time such as "2026-11-20T10:00:00Z", not ${shown}`);
}

function parsedTime(text: string): string | null {
  const [date, clock = "00:00"] = text.split(/[T ]/);
  const zone = /(?:Z|[+-]\d\d(?::?\d\d)?)$/.exec(clock)?.[0] ?? "";
  const bare = clock.slice(0, clock.length - zone.length);
  const offset = zone === "" ? "Z" : zone.length === 3 ? `${zone}:00` : zone.replace(/^([+-]\d\d)(\d\d)$/, "$1:$2");
  const parsed = new Date(`${date}T${bare}${offset}`);
  // Dates such as 30 February run over into the next month.
  const day = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(parsed.getTime()) || Number.isNaN(day.getTime())) return null;
  return day.toISOString().startsWith(date!) ? parsed.toISOString() : null;
}
