/**
 * Time zones by name, abbreviation or fixed offset. Names are those of the IANA database as the runtime's Intl knows
 * them. The caches here hold only facts of that database.
 */
import { sqlError } from "../protocol/errors.js";
import { ruledOffset } from "./posix-zone.js";
import { addMicros, type Timestamp, wholeUnits } from "./timestamp.js";
import { ABBREVIATED_HOURS, ABBREVIATED_REGIONS } from "./zone-abbreviations.js";

interface Zone {
  /** Seconds east of UTC; null: depends on the instant. */
  readonly fixed: number | null;
  /** Seconds east of UTC at an instant in seconds, of one that is not fixed. */
  readonly compute: ((seconds: number) => number) | null;
  /** Of a zone of the IANA database: the name that the runtime has for it. */
  readonly canonical: string;
  /** Offsets by quarter of an hour since 1970, at which clocks change; null: they may change at any time. */
  readonly offsets: Map<number, number> | null;
}

/** No zone has a longer name, and Intl takes long to see that. */
const NAME_LENGTH_MAX = 100;
const ZONES_MAX = 1000;
const OFFSETS_MAX = 10_000;
const zones = new Map<string, Zone>();
/** Of the IANA database only: "CET" is a zone there that changes its clock, and no offset. */
const regions = new Map<string, Zone>();

const fixedZone = (seconds: number): Zone => ({ fixed: seconds, compute: null, canonical: "", offsets: null });

/** The zone of that name, or null. */
function findZone(name: string): Zone | null {
  return kept(zones, name, makeZone);
}

function kept(cache: Map<string, Zone>, name: string, make: (name: string) => Zone | null): Zone | null {
  let zone = cache.get(name);
  if (zone === undefined) {
    if (name.length > NAME_LENGTH_MAX) return null;
    const made = make(name);
    if (made === null) return null;
    if (cache.size >= ZONES_MAX) cache.clear();
    zone = made;
    cache.set(name, zone);
  }
  return zone;
}

function makeZone(name: string): Zone | null {
  const offset = abbreviatedOffset(name.toLowerCase());
  if (offset !== null) return fixedZone(offset);
  const region = ABBREVIATED_REGIONS.get(name.toLowerCase());
  if (region !== undefined) return makeRegion(region);
  return posixZone(name) ?? makeRegion(name) ?? ruledZone(name);
}

function ruledZone(name: string): Zone | null {
  const compute = ruledOffset(name);
  return compute === null ? null : { fixed: null, compute, canonical: "", offsets: null };
}

/** POSIX's zones, with a name or without, have their offset west of Greenwich: `UTC+3`, `<+05:30>-05:30`, `+02:00`. */
function posixZone(name: string): Zone | null {
  const match = /^(?:<[^<>]*>|[^\d,+<-]*)([+-]?)(\d{1,3})(?::(\d{1,2})(?::(\d{1,2}))?)?$/.exec(name);
  if (match === null) return null;
  if (Number(match[2]) > 167 || Number(match[3] ?? 0) > 59 || Number(match[4] ?? 0) > 59) return null;
  const seconds = Number(match[2]) * 3600 + Number(match[3] ?? 0) * 60 + Number(match[4] ?? 0);
  return fixedZone(match[1] === "-" ? seconds : -seconds);
}

/** A zone as SET TIME ZONE takes it, in its own spelling; null: there is none. A number is of hours east. */
export function settableZone(text: string): string | null {
  if (/^[+-]?\d{1,3}(?:\.\d{1,9})?$/.test(text)) return Math.abs(Number(text)) > 167 ? null : zoneOfHours(Number(text));
  if (/^utc$/i.test(text)) return "UTC";
  if (text.length > NAME_LENGTH_MAX) return null;
  if (posixZone(text) !== null) return text;
  return regionName(text) ?? (ruledZone(text) === null ? null : text);
}

/** As PostgreSQL names it: the hours with their sign, and what POSIX makes of them. */
function zoneOfHours(hours: number): string {
  const seconds = Math.round(Math.abs(hours) * 3600);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  while (parts.length > 1 && parts.at(-1) === 0) parts.pop();
  const size = parts.map((part) => String(part).padStart(2, "0")).join(":");
  return hours < 0 ? `<-${size}>+${size}` : `<+${size}>-${size}`;
}

function makeRegion(name: string): Zone | null {
  try {
    const format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      hourCycle: "h23",
      era: "short",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
    const compute = (seconds: number) => computeOffset(format, seconds);
    return { fixed: null, compute, canonical: format.resolvedOptions().timeZone, offsets: new Map() };
  } catch {
    return null;
  }
}

/** Seconds east of UTC of an abbreviation that stands for one offset, or null. */
export function abbreviatedOffset(name: string): number | null {
  const hours = ABBREVIATED_HOURS.get(name);
  return hours === undefined ? null : hours * 3600;
}

/** What a zone's name stands for: one offset (seconds east of UTC), itself, or null where there is no such zone. */
export function namedZone(name: string): number | string | null {
  const zone = findZone(name);
  return zone === null ? null : (zone.fixed ?? name);
}

export function isTimeZone(name: string): boolean {
  return findZone(name) !== null;
}

function zoneOf(name: string): Zone {
  const zone = findZone(name);
  if (zone === null) throw sqlError("22023", `time zone "${name}" not recognized`);
  return zone;
}

/** Seconds east of UTC that `timeZone` keeps at an instant. Throws 22023. */
export function offsetAt(timeZone: string, instant: Timestamp): number {
  if (timeZone === "UTC") return 0;
  const zone = zoneOf(timeZone);
  return zone.fixed ?? changingOffset(zone, instant);
}

/** Until then a clock may have changed within a quarter of an hour (Liberia's was the last to, on 1972-01-07). */
const QUARTERS_SINCE_MICROS = Date.UTC(1972, 0, 8) * 1000;

function changingOffset(zone: Zone, instant: Timestamp): number {
  const { compute, offsets } = zone;
  if (offsets === null) return compute!(wholeUnits(instant, 1e6));
  const quarter = wholeUnits(instant, 900e6);
  const offset = offsetAtQuarter(compute!, offsets, quarter);
  if (instant >= QUARTERS_SINCE_MICROS || offsetAtQuarter(compute!, offsets, quarter + 1) === offset) return offset;
  return compute!(wholeUnits(instant, 1e6));
}

function offsetAtQuarter(compute: (seconds: number) => number, offsets: Map<number, number>, quarter: number): number {
  let offset = offsets.get(quarter);
  if (offset === undefined) {
    offset = compute(quarter * 900);
    if (offsets.size >= OFFSETS_MAX) offsets.clear();
    offsets.set(quarter, offset);
  }
  return offset;
}

/**
 * How a zone of the IANA database is written, or null when it has none of that name: letters of another case are set
 * right where the runtime does not put the zone's present name for an older one.
 */
export function regionName(name: string): string | null {
  const zone = kept(regions, name, makeRegion);
  if (zone === null) return null;
  return zone.canonical.toLowerCase() === name.toLowerCase() ? zone.canonical : name;
}

/** Seconds east of UTC that a zone of the IANA database keeps at an instant (seconds since the epoch). Throws 22023. */
export function regionOffsetAt(region: string, seconds: number): number {
  const zone = kept(regions, region, makeRegion);
  if (zone === null) throw sqlError("22023", `time zone "${region}" not recognized`);
  return changingOffset(zone, seconds * 1e6);
}

/** `instant`: in seconds. */
function computeOffset(format: Intl.DateTimeFormat, instant: number): number {
  // Beyond what Date can hold no rule of a zone is known: the last one stays.
  const seconds = Math.min(Math.max(instant, -8.6e12), 8.6e12);
  const fields: Record<string, string> = {};
  for (const { type, value } of format.formatToParts(seconds * 1000)) fields[type] = value;
  const shown = new Date(0);
  const year = fields.era === "BC" ? 1 - Number(fields.year) : Number(fields.year);
  shown.setUTCFullYear(year, Number(fields.month) - 1, Number(fields.day));
  shown.setUTCHours(Number(fields.hour), Number(fields.minute), Number(fields.second));
  return shown.getTime() / 1000 - seconds;
}

/**
 * Seconds east of UTC for a wall clock reading. A reading that a change of the clock skips
 * is taken by the rule before the change, one that occurs twice by the rule after it, as PostgreSQL does.
 */
export function offsetOfLocal(timeZone: string, local: Timestamp): number {
  if (timeZone === "UTC") return 0;
  const zone = zoneOf(timeZone);
  if (zone.fixed !== null) return zone.fixed;
  const before = offsetAt(timeZone, addMicros(local, -86_400e6));
  const after = offsetAt(timeZone, addMicros(local, 86_400e6));
  if (before === after) return before;
  return offsetAt(timeZone, addMicros(local, -after * 1e6)) === after ? after : before;
}
