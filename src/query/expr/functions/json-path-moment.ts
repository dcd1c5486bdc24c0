/**
 * Dates and times inside of SQL/JSON paths: what the method datetime() and its kin make of strings, how such values
 * compare and print. Called by the path executor and its methods.
 */

import { sqlError } from "../../../protocol/errors.js";
import { dateToText, offsetToText, SECOND_MICROS, timeToText, timeTzToText } from "../../../values/datetime.js";
import { offsetAt } from "../../../values/time-zone.js";
import { addMicros, checkedTimestamp, splitTimestamp, type Timestamp, timestampAt } from "../../../values/timestamp.js";
import { timestampToText } from "../../../values/timestamp-text.js";
import type { TimeTz } from "../../../values/values.js";
import { instantOf, localReading } from "../cast.js";

export type MomentKind = "date" | "time" | "timetz" | "timestamp" | "timestamptz";

const DISPLAY: Readonly<Record<MomentKind, string>> = {
  date: "date",
  time: "time without time zone",
  timetz: "time with time zone",
  timestamp: "timestamp without time zone",
  timestamptz: "timestamp with time zone",
};

/** A date or time of a path. `value`: days of a date, microseconds of a time, else a timestamp (with a zone in UTC). */
export class Moment {
  constructor(
    readonly kind: MomentKind,
    readonly value: Timestamp,
    /** Seconds east of UTC, of the kinds with a zone. */
    readonly offset: number = 0,
  ) {}

  /** Of a date or a time. */
  get number(): number {
    return Number(this.value);
  }

  private get local(): Timestamp {
    return addMicros(this.value, this.offset * SECOND_MICROS);
  }

  get display(): string {
    return DISPLAY[this.kind];
  }

  /** As it appears in jsonb: ISO 8601. */
  toString(): string {
    switch (this.kind) {
      case "date":
        return dateToText(this.number);
      case "time":
        return timeToText(this.number);
      case "timetz":
        return timeTzToText({ micros: this.number, offset: this.offset } satisfies TimeTz).replace(
          /[+-][\d:]+$/,
          offsetToText(this.offset, true),
        );
      case "timestamp":
        return timestampToText(this.value, "T");
      case "timestamptz":
        return timestampToText(this.local, "T") + offsetToText(this.offset, true);
    }
  }
}

const isZoned = (moment: Moment) => moment.kind === "timetz" || moment.kind === "timestamptz";
const isTime = (moment: Moment) => moment.kind === "time" || moment.kind === "timetz";

/**
 * The order of two moments; null when they cannot be compared. Throws 0A000 when one has a zone and the other has
 * none, unless `withZone`.
 */
export function compareMoments(a: Moment, b: Moment, withZone: boolean, timeZone: string): number | null {
  if (isTime(a) !== isTime(b)) return null;
  const zoned = isZoned(a) || isZoned(b);
  if (zoned && isZoned(a) !== isZoned(b) && !withZone) throw needsZone(isZoned(a) ? b : a, isZoned(a) ? a : b);
  if (isTime(a)) {
    if (!zoned) return a.number - b.number;
    const [x, y] = [zonedTime(a, timeZone), zonedTime(b, timeZone)];
    const difference = x.number - x.offset * SECOND_MICROS - (y.number - y.offset * SECOND_MICROS);
    return difference !== 0 ? difference : y.offset - x.offset;
  }
  const [x, y] = [instant(a, zoned, timeZone), instant(b, zoned, timeZone)];
  return x < y ? -1 : x > y ? 1 : 0;
}

function needsZone(from: Moment, to: Moment): Error {
  const name = (moment: Moment) => moment.kind;
  return sqlError("0A000", `cannot convert value from ${name(from)} to ${name(to)} without time zone usage`, {
    hint: "Use *_tz() function for time zone support.",
  });
}

function zonedTime(moment: Moment, timeZone: string): Moment {
  return moment.kind === "timetz" ? moment : new Moment("timetz", moment.value, offsetAt(timeZone, 0));
}

function instant(moment: Moment, zoned: boolean, timeZone: string): Timestamp {
  if (moment.kind === "timestamptz") return moment.value;
  const local = moment.kind === "date" ? timestampAt(moment.number) : moment.value;
  return zoned ? instantOf(local, timeZone) : local;
}

/**
 * A moment as another kind, for the methods date(), time() and so on; null when there is no such conversion. Throws
 * 0A000 where the session's zone would be needed, unless `withZone`.
 */
export function convertMoment(moment: Moment, to: MomentKind, withZone: boolean, timeZone: string): Moment | null {
  if (moment.kind === to) return moment;
  const target = new Moment(to, 0);
  const zoneMatters = isZoned(moment) !== isZoned(target) && !(moment.kind === "timetz" && to === "time");
  if (isTime(moment) && !isTime(target)) return null;
  if (moment.kind === "date" && isTime(target)) return null;
  if (zoneMatters && !withZone) throw needsZone(moment, target);
  const local =
    moment.kind === "date"
      ? checkedTimestamp(timestampAt(moment.number))
      : moment.kind === "timestamptz"
        ? localReading(moment.value, timeZone)
        : moment.value;
  switch (to) {
    case "date":
      return new Moment(to, splitTimestamp(local).days);
    case "time":
      return new Moment(to, splitTimestamp(local).micros);
    case "timetz": {
      const offset = moment.kind === "timestamptz" ? offsetAt(timeZone, moment.value) : offsetAt(timeZone, 0);
      return new Moment(to, splitTimestamp(local).micros, offset);
    }
    case "timestamp":
      return new Moment(to, checkedTimestamp(local));
    case "timestamptz": {
      const micros = instantOf(local, timeZone);
      return new Moment(to, micros, offsetAt(timeZone, micros));
    }
  }
}
