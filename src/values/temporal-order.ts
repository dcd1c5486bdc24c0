/**
 * The order of Cypher's temporal values (openCypher 9, "Temporal types": comparing, ORDER BY) and what makes two of
 * them the same: a total order, in which only values that print alike are equal.
 */
import {
  CypherDate,
  Duration,
  LocalDateTime,
  LocalTime,
  type Temporal,
  ZonedDateTime,
  type ZonedTime,
} from "./temporal.js";

const SECOND_NANOS = 1_000_000_000;
const DAY_NANOS = 86_400 * SECOND_NANOS;
/** A month's average length: 365.2425 / 12 days. */
export const AVERAGE_MONTH_SECONDS = 2_629_746;

/** Where a type stands among the temporal ones when values of several are ordered. */
export function temporalRank(value: Temporal): number {
  if (value instanceof ZonedDateTime) return 0;
  if (value instanceof LocalDateTime) return 1;
  if (value instanceof CypherDate) return 2;
  if (value instanceof LocalTime) return 4;
  return value instanceof Duration ? 5 : 3;
}

/**
 * Negative, 0 or positive. Times and datetimes go by their instant, those of one instant by their offset and zone;
 * durations by their average length, those of one length by their parts. Values of different types go by temporalRank.
 */
export function compareTemporal(a: Temporal, b: Temporal): number {
  const rank = temporalRank(a);
  if (rank !== temporalRank(b)) return rank - temporalRank(b);
  switch (rank) {
    case 0:
      return compareZoned(a as ZonedDateTime, b as ZonedDateTime);
    case 1: {
      const [x, y] = [a as LocalDateTime, b as LocalDateTime];
      return x.days - y.days || x.nanos - y.nanos;
    }
    case 2:
      return (a as CypherDate).days - (b as CypherDate).days;
    case 3: {
      const [x, y] = [a as ZonedTime, b as ZonedTime];
      return x.nanos - x.offset * SECOND_NANOS - (y.nanos - y.offset * SECOND_NANOS) || x.offset - y.offset;
    }
    case 4:
      return (a as LocalTime).nanos - (b as LocalTime).nanos;
    default:
      return compareDurations(a as Duration, b as Duration);
  }
}

function compareZoned(a: ZonedDateTime, b: ZonedDateTime): number {
  // A day apart at most counts in nanoseconds without loss; more than three days, and no offset matters.
  const days = a.days - b.days;
  if (Math.abs(days) > 3) return days;
  const nanos = days * DAY_NANOS + (a.nanos - a.offset * SECOND_NANOS) - (b.nanos - b.offset * SECOND_NANOS);
  return nanos || a.offset - b.offset || compareZones(a.zone, b.zone);
}

function compareZones(a: string | null, b: string | null): number {
  if (a === b) return 0;
  if (a === null) return -1;
  return b === null || a > b ? 1 : -1;
}

function compareDurations(a: Duration, b: Duration): number {
  const x = averageSeconds(a);
  const y = averageSeconds(b);
  if (x !== y) return x < y ? -1 : 1;
  return (
    a.nanos - b.nanos ||
    a.months - b.months ||
    a.days - b.days ||
    (a.seconds < b.seconds ? -1 : Number(a.seconds > b.seconds))
  );
}

/** A duration's average length, nanoseconds apart. A number when it is exact, else a bigint; the two compare. */
export function averageSeconds({ months, days, seconds }: Duration): number | bigint {
  if (typeof seconds === "number") {
    const sum = months * AVERAGE_MONTH_SECONDS + days * 86_400 + seconds;
    const size = Math.abs(months) * AVERAGE_MONTH_SECONDS + Math.abs(days) * 86_400 + Math.abs(seconds);
    if (size <= Number.MAX_SAFE_INTEGER) return sum;
  }
  return BigInt(months) * BigInt(AVERAGE_MONTH_SECONDS) + BigInt(days) * 86_400n + BigInt(seconds);
}

/** Equal for two values exactly when compareTemporal gives 0: a key for hashing, grouping and DISTINCT. */
export function temporalKey(value: Temporal): string {
  if (value instanceof ZonedDateTime) return `Z${value.days},${value.nanos},${value.offset},${value.zone ?? ""}`;
  if (value instanceof LocalDateTime) return `L${value.days},${value.nanos}`;
  if (value instanceof CypherDate) return `D${value.days}`;
  if (value instanceof LocalTime) return `T${value.nanos}`;
  if (value instanceof Duration) return `P${value.months},${value.days},${value.seconds},${value.nanos}`;
  return `O${value.nanos},${value.offset}`;
}
