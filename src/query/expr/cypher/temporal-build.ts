/**
 * Makes Cypher's temporal instants: what date(), localtime(), time(), localdatetime() and datetime() give for nothing
 * (the present), for text, for a map of fields and for another temporal value.
 */
import { cypherError } from "../../../values/cypher-error.js";
import {
  CypherDate,
  LocalDateTime,
  LocalTime,
  type Temporal,
  ZonedDateTime,
  ZonedTime,
} from "../../../values/temporal.js";
import { splitTimestamp } from "../../../values/timestamp.js";
import type { Variant } from "../../../values/variant.js";
import type { EvalContext } from "../expr.js";
import { described } from "./define.js";
import {
  DATE_FIELDS,
  dateOfFields,
  type FieldName,
  fractionOfFields,
  isDated,
  isTimed,
  TemporalFields,
  TIME_FIELDS,
  type Timed,
  timeOfFields,
} from "./temporal-fields.js";
import { parseDate, parseDateTime, parseLocalDateTime, parseLocalTime, parseTime } from "./temporal-parse.js";
import { carried, checkedDays, DAY_NANOS, DAY_SECONDS, invalidArgument, SECOND_NANOS } from "./temporal-range.js";
import {
  inZone,
  offsetAtInstant,
  parseZone,
  sessionZone,
  type Zone,
  zonedAtInstant,
  zonedOfLocal,
  zoneOf,
} from "./temporal-zone.js";

export type InstantKind = "date" | "localtime" | "time" | "localdatetime" | "datetime";

const FIELDS: Readonly<Record<InstantKind, readonly FieldName[]>> = {
  date: [...DATE_FIELDS, "date", "timezone"],
  localtime: [...TIME_FIELDS, "time", "timezone"],
  time: [...TIME_FIELDS, "time", "timezone"],
  localdatetime: [...DATE_FIELDS, ...TIME_FIELDS, "date", "time", "datetime", "timezone"],
  datetime: [...DATE_FIELDS, ...TIME_FIELDS, "date", "time", "datetime", "timezone", "epochSeconds", "epochMillis"],
};

/** The instant of a clock (microseconds since the epoch) as a value of the kind shows it in `zone`. */
export function instantAt(kind: InstantKind, micros: number, zone: Zone): Temporal {
  const utc = splitTimestamp(micros);
  const now = zonedAtInstant(utc.days, utc.micros * 1000, zone);
  switch (kind) {
    case "date":
      return new CypherDate(now.days);
    case "localtime":
      return new LocalTime(now.nanos);
    case "time":
      return new ZonedTime(now.nanos, now.offset);
    case "localdatetime":
      return new LocalDateTime(now.days, now.nanos);
    case "datetime":
      return now;
  }
}

/** The present of `micros` for an argument that names a zone: "Europe/Paris" or {timezone: "Europe/Paris"}. */
export function instantInZone(kind: InstantKind, micros: number, argument: Variant): Temporal {
  if (typeof argument === "string") return instantAt(kind, micros, parseZone(argument));
  if (!(argument instanceof Map)) throw wrongType(kind, "the name of a time zone");
  const { timezone } = new TemporalFields(argument, ["timezone"], kind);
  if (timezone === null) throw invalidArgument("timezone must be given");
  return instantAt(kind, micros, timezone);
}

const wrongType = (kind: string, wanted: string) =>
  cypherError("TypeError", "InvalidArgumentType", `${kind}() takes ${wanted}`);

/** Throws ArgumentError and TypeError. */
export function makeInstant(kind: InstantKind, argument: Variant, context: EvalContext): Temporal {
  if (typeof argument === "string") return parseInstant(kind, argument, context);
  if (argument instanceof Map) return instantOfMap(kind, argument as ReadonlyMap<string, Variant>, context);
  if (isDated(argument) || isTimed(argument)) return converted(kind, argument, context);
  throw wrongType(kind, "a string, a map or a temporal value");
}

function parseInstant(kind: InstantKind, text: string, context: EvalContext): Temporal {
  switch (kind) {
    case "date":
      return parseDate(text);
    case "localtime":
      return parseLocalTime(text);
    case "time":
      return parseTime(text, () => offsetNow(sessionZone(context), context));
    case "localdatetime":
      return parseLocalDateTime(text);
    case "datetime":
      return parseDateTime(text, () => sessionZone(context));
  }
}

/** A time has no day whose offset it could have: a zone gives it that of the statement's start. */
function offsetNow(zone: Zone, context: EvalContext): number {
  const utc = splitTimestamp(context.statementMicros);
  return offsetAtInstant(zone, utc.days, Math.floor(utc.micros / 1e6));
}

/** Another kind of the same instant, as far as `value` has what that needs. */
function converted(kind: InstantKind, value: Temporal, context: EvalContext): Temporal {
  const dated = isDated(value) ? value : null;
  const timed = isTimed(value) ? value : null;
  if ((kind !== "localtime" && kind !== "time" && dated === null) || (kind !== "date" && timed === null)) {
    throw invalidArgument(`${kind}() needs what ${described(value)} does not have`);
  }
  const days = dated?.days ?? 0;
  const nanos = timed?.nanos ?? 0;
  switch (kind) {
    case "date":
      return new CypherDate(days);
    case "localtime":
      return new LocalTime(nanos);
    case "time":
      return new ZonedTime(nanos, ownOffset(timed) ?? offsetNow(sessionZone(context), context));
    case "localdatetime":
      return new LocalDateTime(days, nanos);
    case "datetime":
      return value instanceof ZonedDateTime ? value : zonedOfLocal(days, nanos, sessionZone(context));
  }
}

const ownOffset = (value: Timed | null): number | null =>
  value instanceof ZonedTime || value instanceof ZonedDateTime ? value.offset : null;

export function ownZone(value: Timed | null): Zone | null {
  return value instanceof ZonedDateTime ? zoneOf(value) : ownOffset(value);
}

function instantOfMap(kind: InstantKind, map: ReadonlyMap<string, Variant>, context: EvalContext): Temporal {
  const fields = new TemporalFields(map, FIELDS[kind], kind);
  if (fields.size === 0) throw invalidArgument(`${kind}({}) has no fields`);
  if (fields.size === 1 && fields.timezone !== null) return instantAt(kind, context.statementMicros, fields.timezone);
  if (fields.timezone !== null && kind !== "time" && kind !== "datetime") {
    throw invalidArgument(`timezone cannot be given together with fields of ${kind}`);
  }
  if (fields.datetime !== null && (fields.date !== null || fields.time !== null)) {
    throw invalidArgument("datetime cannot be given together with date or time");
  }
  switch (kind) {
    case "date":
      return new CypherDate(dateOfFields(fields, fields.date?.days ?? null));
    case "localtime":
      return new LocalTime(timeOfFields(fields, fields.time?.nanos ?? null));
    case "time":
      return timeOfMap(fields, context);
    case "localdatetime":
      return new LocalDateTime(
        daysOfMap(fields),
        timeOfFields(fields, (fields.datetime ?? fields.time)?.nanos ?? null),
      );
    case "datetime":
      return dateTimeOfMap(fields, context);
  }
}

/** The date of a datetime. Fields of a time may follow only on a date that is complete. */
function daysOfMap(fields: TemporalFields): number {
  const base = fields.datetime ?? fields.date;
  if (base === null && fields.has(...TIME_FIELDS) && !fields.has("day", "dayOfWeek", "dayOfQuarter", "ordinalDay")) {
    throw invalidArgument("the day must be given");
  }
  return dateOfFields(fields, base?.days ?? null);
}

/** A time that has an offset already is the same instant in the zone given; any other is read there. */
function timeOfMap(fields: TemporalFields, context: EvalContext): ZonedTime {
  const source = fields.time;
  const nanos = timeOfFields(fields, source?.nanos ?? null);
  const offset = ownOffset(source);
  if (offset === null) return new ZonedTime(nanos, offsetNow(fields.timezone ?? sessionZone(context), context));
  if (fields.timezone === null) return new ZonedTime(nanos, offset);
  const target =
    source instanceof ZonedDateTime ? inZone(source, fields.timezone).offset : offsetNow(fields.timezone, context);
  return new ZonedTime(wrapped(nanos + (target - offset) * SECOND_NANOS), target);
}

/** Nanoseconds since midnight, whatever the day. */
export const wrapped = (nanos: number): number => carried(0, nanos).nanos;

function dateTimeOfMap(fields: TemporalFields, context: EvalContext): ZonedDateTime {
  if (fields.epochSeconds !== null || fields.epochMillis !== null) return dateTimeOfEpoch(fields);
  const source = fields.datetime ?? fields.time;
  const zone = ownZone(source);
  const days = daysOfMap(fields);
  const nanos = timeOfFields(fields, source?.nanos ?? null);
  const value = zonedOfLocal(days, nanos, zone ?? fields.timezone ?? sessionZone(context), ownOffset(source));
  return zone !== null && fields.timezone !== null ? inZone(value, fields.timezone) : value;
}

/** Only the fraction of a second (of a millisecond, after epochMillis) may be given besides. */
function dateTimeOfEpoch(fields: TemporalFields): ZonedDateTime {
  const { epochSeconds, epochMillis } = fields;
  const fractions =
    epochSeconds === null ? ["microsecond", "nanosecond"] : ["millisecond", "microsecond", "nanosecond"];
  const bases = [epochSeconds, epochMillis, fields.date, fields.time, fields.datetime].filter((x) => x !== null);
  if (bases.length > 1 || [...fields.integers.keys()].some((name) => !fractions.includes(name))) {
    throw invalidArgument("a time since the epoch takes only fractions of a second and a time zone");
  }
  const fraction = fractionOfFields(fields);
  if (epochSeconds !== null) return epochInstant(epochSeconds, fraction, fields.timezone ?? 0);
  if (fraction > 999_999) throw invalidArgument("the fraction must be less than a millisecond");
  const seconds = (epochMillis as bigint) / 1000n;
  const millis = Number((epochMillis as bigint) % 1000n);
  return epochInstant(seconds, millis * 1_000_000 + fraction, fields.timezone ?? 0);
}

/** Seconds and nanoseconds since the epoch. Throws ArithmeticError when that is too far out. */
export function epochInstant(seconds: bigint, nanos: number, zone: Zone): ZonedDateTime {
  const day = BigInt(DAY_SECONDS);
  const days = checkedDays(Number(seconds / day));
  const left = Number(seconds % day) * SECOND_NANOS;
  // Far outside of the day, nanoseconds alone may be more than a number holds exactly next to it.
  const over = Math.floor(nanos / DAY_NANOS);
  return zonedAtInstant(days + over, left + (nanos - over * DAY_NANOS), zone);
}
