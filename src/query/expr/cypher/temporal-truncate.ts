/** X.truncate(unit, value, fields): the start of the unit that a temporal value lies in, with smaller fields set. */
import { civilFromDays, daysFromCivil, isoWeek } from "../../../values/datetime.js";
import {
  CypherDate,
  LocalDateTime,
  LocalTime,
  type Temporal,
  ZonedDateTime,
  ZonedTime,
} from "../../../values/temporal.js";
import type { VariantMap } from "../../../values/variant.js";
import type { EvalContext } from "../expr.js";
import { described } from "./define.js";
import { type InstantKind, instantAt, ownZone } from "./temporal-build.js";
import { isoDayOfWeek, quarterOfMonth, weekYearStart } from "./temporal-calendar.js";
import {
  DATE_FIELDS,
  dateOfFields,
  type FieldName,
  fractionOfFields,
  isDated,
  isTimed,
  TemporalFields,
  TIME_FIELDS,
  timeOfFields,
} from "./temporal-fields.js";
import { checkedDays, invalidArgument, SECOND_NANOS } from "./temporal-range.js";
import { offsetAtInstant, sessionZone, zonedOfLocal } from "./temporal-zone.js";

/** From the largest to the smallest. */
const UNITS = [
  "millennium",
  "century",
  "decade",
  "year",
  "weekyear",
  "quarter",
  "month",
  "week",
  "day",
  "hour",
  "minute",
  "second",
  "millisecond",
  "microsecond",
];
const DAY = UNITS.indexOf("day");

const TIME_UNIT_NANOS: Readonly<Record<string, number>> = {
  hour: 3600 * SECOND_NANOS,
  minute: 60 * SECOND_NANOS,
  second: SECOND_NANOS,
  millisecond: 1_000_000,
  microsecond: 1000,
};

const FIELDS: Readonly<Record<InstantKind, readonly FieldName[]>> = {
  date: DATE_FIELDS,
  localtime: TIME_FIELDS,
  time: [...TIME_FIELDS, "timezone"],
  localdatetime: [...DATE_FIELDS, ...TIME_FIELDS],
  datetime: [...DATE_FIELDS, ...TIME_FIELDS, "timezone"],
};

const NO_FIELDS: VariantMap = new Map();

/** Throws ArgumentError for units and fields that the kind or the value does not have. */
export function truncateInstant(
  kind: InstantKind,
  unitName: string,
  value: Temporal,
  map: VariantMap | null,
  context: EvalContext,
): Temporal {
  const unit = UNITS.indexOf(unitName.toLowerCase());
  if (unit < 0) throw invalidArgument(`"${unitName}" is not a unit to truncate to`);
  const withDate = kind !== "time" && kind !== "localtime";
  if (withDate ? kind === "date" && unit > DAY : unit < DAY) {
    throw invalidArgument(`${kind}.truncate() has no unit "${unitName}"`);
  }
  const dated = isDated(value) ? value : null;
  const timed = isTimed(value) ? value : null;
  if ((withDate && dated === null) || (timed === null && (unit > DAY || !withDate))) {
    throw invalidArgument(`${described(value)} cannot be truncated to a ${unitName} by ${kind}.truncate()`);
  }
  const fields = new TemporalFields(map ?? NO_FIELDS, FIELDS[kind], `${kind}.truncate()`);
  checkSmaller(fields, unit);
  const days = withDate ? checkedDays(dateOfFields(fields, truncatedDays(unit, dated?.days ?? 0))) : 0;
  const nanos = kind === "date" ? 0 : truncatedTime(fields, unit, timed?.nanos ?? 0);
  const zone = () => fields.timezone ?? ownZone(timed) ?? sessionZone(context);
  switch (kind) {
    case "date":
      return new CypherDate(days);
    case "localtime":
      return new LocalTime(nanos);
    case "time":
      return new ZonedTime(nanos, truncatedOffset(fields, timed, context));
    case "localdatetime":
      return new LocalDateTime(days, nanos);
    case "datetime":
      return zonedOfLocal(days, nanos, zone(), value instanceof ZonedDateTime ? value.offset : null);
  }
}

/** A time keeps the offset of its value, also where that has a zone. */
function truncatedOffset(fields: TemporalFields, value: Temporal | null, context: EvalContext): number {
  if (fields.timezone === null && (value instanceof ZonedTime || value instanceof ZonedDateTime)) return value.offset;
  const zone = fields.timezone ?? sessionZone(context);
  if (typeof zone === "number") return zone;
  const now = instantAt("datetime", context.statementMicros, 0) as ZonedDateTime;
  return offsetAtInstant(zone, now.days, Math.floor(now.nanos / SECOND_NANOS));
}

/** Ranks of the fields that are no units themselves. */
const FIELD_RANKS: Readonly<Record<string, number>> = {
  dayOfQuarter: DAY,
  dayOfWeek: DAY,
  ordinalDay: DAY,
  nanosecond: UNITS.length,
};

function checkSmaller(fields: TemporalFields, unit: number): void {
  for (const name of fields.integers.keys()) {
    if ((FIELD_RANKS[name] ?? UNITS.indexOf(name)) > unit) continue;
    throw invalidArgument(`${name} is not smaller than the unit to truncate to, ${UNITS[unit]}`);
  }
}

function truncatedDays(unit: number, days: number): number {
  const { year, month } = civilFromDays(days);
  switch (UNITS[unit]) {
    case "millennium":
      return daysFromCivil(Math.floor(year / 1000) * 1000, 1, 1);
    case "century":
      return daysFromCivil(Math.floor(year / 100) * 100, 1, 1);
    case "decade":
      return daysFromCivil(Math.floor(year / 10) * 10, 1, 1);
    case "year":
      return daysFromCivil(year, 1, 1);
    case "weekyear":
      return weekYearStart(isoWeek(days).year);
    case "quarter":
      return daysFromCivil(year, quarterOfMonth(month) * 3 - 2, 1);
    case "month":
      return daysFromCivil(year, month, 1);
    case "week":
      return days - isoDayOfWeek(days) + 1;
    default:
      return days;
  }
}

/** Where the unit is a part of a second, smaller fields are added to what is left of it. */
function truncatedTime(fields: TemporalFields, unit: number, nanos: number): number {
  const size = TIME_UNIT_NANOS[UNITS[unit] as string];
  const start = size === undefined ? 0 : nanos - (nanos % size);
  if (size === undefined || size >= SECOND_NANOS) return timeOfFields(fields, start);
  const fraction = fractionOfFields(fields);
  if (fraction >= size) throw invalidArgument(`the fraction must be less than a ${UNITS[unit]}`);
  return start + fraction;
}
