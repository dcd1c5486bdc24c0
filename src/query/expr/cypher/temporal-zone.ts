/**
 * Time zones of Cypher's temporal values: an offset in seconds east of UTC, or a zone of the IANA database by its name,
 * whose rules the runtime's Intl knows (values/time-zone.ts).
 */
import { ZonedDateTime } from "../../../values/temporal.js";
import { offsetAt, regionName, regionOffsetAt } from "../../../values/time-zone.js";
import type { EvalContext } from "../expr.js";
import { carried, checkedDays, DAY_SECONDS, invalidArgument, SECOND_NANOS } from "./temporal-range.js";

export type Zone = number | string;

const OFFSET = /^(?:Z|([+-])(\d\d)(?::?(\d\d)(?::?(\d\d))?)?)$/;
/** 18 hours, as ISO 8601's users have it. */
const OFFSET_MAX = 18 * 3600;

/** An offset as ISO 8601 writes it ("Z", "+01", "-0130", "+02:05:59"), or null when the text is none. */
export function parseOffset(text: string): number | null {
  const match = OFFSET.exec(text);
  if (match === null) return null;
  const [hours, minutes, seconds] = [Number(match[2] ?? 0), Number(match[3] ?? 0), Number(match[4] ?? 0)];
  const offset = hours * 3600 + minutes * 60 + seconds;
  if (offset > OFFSET_MAX || minutes > 59 || seconds > 59)
    throw invalidArgument(`time zone offset ${text} out of range`);
  return match[1] === "-" && offset !== 0 ? -offset : offset;
}

/** A zone by its offset or name; a name may have spaces for its underscores. Throws ArgumentError. */
export function parseZone(text: string): Zone {
  const zone = parseOffset(text) ?? regionName(text.replaceAll(" ", "_"));
  if (zone === null) throw invalidArgument(`time zone "${text}" not recognized`);
  return zone;
}

export const zoneOf = (value: ZonedDateTime): Zone => value.zone ?? value.offset;

/**
 * What the session keeps its time by. A zone of PostgreSQL's that has no IANA name is its offset at the statement's
 * start.
 */
export function sessionZone(context: EvalContext): Zone {
  const name = context.timeZone;
  if (name === "UTC" || name === "Etc/UTC" || name === "GMT") return 0;
  return regionName(name) ?? offsetAt(name, context.statementMicros);
}

/** Seconds east of UTC that a zone keeps at an instant: days since the epoch and seconds since midnight, in UTC. */
export function offsetAtInstant(zone: Zone, days: number, seconds: number): number {
  return typeof zone === "number" ? zone : regionOffsetAt(zone, days * DAY_SECONDS + seconds);
}

/** A point in time, in UTC, as `zone` shows it. `nanos` may lie some days outside of the day. */
export function zonedAtInstant(days: number, nanos: number, zone: Zone): ZonedDateTime {
  const utc = carried(days, nanos);
  const offset = offsetAtInstant(zone, utc.days, Math.floor(utc.nanos / SECOND_NANOS));
  const local = carried(utc.days, utc.nanos + offset * SECOND_NANOS);
  return new ZonedDateTime(checkedDays(local.days), local.nanos, offset, typeof zone === "number" ? null : zone);
}

/**
 * What a clock in `zone` reads. A reading that occurs twice is the one at the offset `preferred`, else the first; one
 * that the clock skips is as much later as it skipped (as java.time's ZonedDateTime.ofLocal has it).
 */
export function zonedOfLocal(days: number, nanos: number, zone: Zone, preferred: number | null = null): ZonedDateTime {
  checkedDays(days);
  if (typeof zone === "number") return new ZonedDateTime(days, nanos, zone, null);
  const local = days * DAY_SECONDS + Math.floor(nanos / SECOND_NANOS);
  const before = regionOffsetAt(zone, local - DAY_SECONDS);
  const after = regionOffsetAt(zone, local + DAY_SECONDS);
  if (before === after) return new ZonedDateTime(days, nanos, before, zone);
  for (const offset of preferred === after ? [after, before] : [before, after]) {
    if (regionOffsetAt(zone, local - offset) === offset) return new ZonedDateTime(days, nanos, offset, zone);
  }
  return zonedAtInstant(days, nanos - before * SECOND_NANOS, zone);
}

/** The same instant as another zone shows it. */
export function inZone(value: ZonedDateTime, zone: Zone): ZonedDateTime {
  return zonedAtInstant(value.days, value.nanos - value.offset * SECOND_NANOS, zone);
}
