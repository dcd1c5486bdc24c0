/** instant ± duration. Months come first, then days, both by the calendar; hours and what is smaller by the clock. */
import {
  CypherDate,
  type Duration,
  LocalDateTime,
  LocalTime,
  type Temporal,
  ZonedDateTime,
  ZonedTime,
} from "../../../values/temporal.js";
import { wrapped } from "./temporal-build.js";
import { plusMonths } from "./temporal-calendar.js";
import { addDurations } from "./temporal-duration.js";
import { carried, checkedDays, DAY_SECONDS, SECOND_NANOS } from "./temporal-range.js";
import { zonedAtInstant, zonedOfLocal, zoneOf } from "./temporal-zone.js";

/**
 * `value` + sign · duration. A day that the month does not have becomes its last one. Dates pass over what is less than
 * a whole day of the clock, times over months and days. Throws ArithmeticError outside of the years that dates have.
 */
export function addDuration(value: Temporal, duration: Duration, sign: 1 | -1): Temporal {
  if (value instanceof CypherDate) {
    const days = moved(value.days, duration, sign);
    return new CypherDate(checkedDays(days + sign * wholeDays(duration)));
  }
  const clock = clockOf(duration, sign);
  if (value instanceof LocalTime) return new LocalTime(wrapped(value.nanos + clock.nanos));
  if (value instanceof ZonedTime) return new ZonedTime(wrapped(value.nanos + clock.nanos), value.offset);
  if (value instanceof LocalDateTime) {
    const { days, nanos } = carried(moved(value.days, duration, sign) + clock.days, value.nanos + clock.nanos);
    return new LocalDateTime(checkedDays(days), nanos);
  }
  if (value instanceof ZonedDateTime) {
    const zone = zoneOf(value);
    const local =
      duration.months === 0 && duration.days === 0
        ? value
        : zonedOfLocal(moved(value.days, duration, sign), value.nanos, zone, value.offset);
    if (clock.days === 0 && clock.nanos === 0) return local;
    return zonedAtInstant(local.days + clock.days, local.nanos - local.offset * SECOND_NANOS + clock.nanos, zone);
  }
  return addDurations(value, duration, sign);
}

const moved = (days: number, duration: Duration, sign: 1 | -1) =>
  checkedDays(plusMonths(days, sign * duration.months) + sign * duration.days);

/** The seconds and nanoseconds of a duration as days and nanoseconds of less than a day, of one sign or not. */
function clockOf(duration: Duration, sign: 1 | -1): { days: number; nanos: number } {
  const { seconds, nanos } = duration;
  const days = Number(typeof seconds === "bigint" ? seconds / BigInt(DAY_SECONDS) : Math.trunc(seconds / DAY_SECONDS));
  const left = Number(typeof seconds === "bigint" ? seconds % BigInt(DAY_SECONDS) : seconds % DAY_SECONDS);
  return { days: sign * days, nanos: sign * (left * SECOND_NANOS + nanos) };
}

/** Towards zero. */
function wholeDays({ seconds, nanos }: Duration): number {
  if (typeof seconds === "bigint")
    return Number((seconds < 0n && nanos > 0 ? seconds + 1n : seconds) / BigInt(DAY_SECONDS));
  return Math.trunc((seconds < 0 && nanos > 0 ? seconds + 1 : seconds) / DAY_SECONDS);
}
