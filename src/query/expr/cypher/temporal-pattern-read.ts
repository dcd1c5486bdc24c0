/** Reading temporal values from texts by a pattern of letters: `date('24.12.2024', 'dd.MM.yyyy')`. */

import { CypherDate, LocalDateTime, LocalTime, type Temporal, ZonedTime } from "../../../values/temporal.js";
import { splitTimestamp } from "../../../values/timestamp.js";
import type { EvalContext } from "../expr.js";
import type { InstantKind } from "./temporal-build.js";
import { calendarDate, isoDayOfWeek, ordinalDate } from "./temporal-calendar.js";
import { MONTHS, patternParts, unknownLetter, WEEKDAYS } from "./temporal-pattern.js";
import { DAY_NANOS, invalidArgument, SECOND_NANOS } from "./temporal-range.js";
import { offsetAtInstant, parseOffset, parseZone, sessionZone, type Zone, zonedOfLocal } from "./temporal-zone.js";

/** What the letters of a pattern have read; null: the pattern has no letter for it. */
interface Fields {
  year: number | null;
  month: number | null;
  day: number | null;
  dayOfYear: number | null;
  weekday: number | null;
  hour: number | null;
  afternoon: boolean | null;
  minute: number | null;
  second: number | null;
  nano: number | null;
  offset: number | null;
  zone: string | null;
}

const NOTHING: Fields = {
  ...{ year: null, month: null, day: null, dayOfYear: null, weekday: null },
  ...{ hour: null, afternoon: null, minute: null, second: null, nano: null, offset: null, zone: null },
};

/** Reads a text from its beginning to its end. */
class Reader {
  private at = 0;
  readonly fields: Fields = { ...NOTHING };

  constructor(
    private readonly text: string,
    private readonly pattern: string,
  ) {}

  read(): Fields {
    for (const part of patternParts(this.pattern)) {
      if ("text" in part) this.literal(part.text);
      else this.letters(part.letter, part.width);
    }
    if (this.at < this.text.length) throw this.unlike();
    return this.fields;
  }

  private unlike(): Error {
    return invalidArgument(`"${this.text.slice(0, 100)}" is not like ${this.pattern}`);
  }

  private literal(text: string): void {
    if (!this.text.startsWith(text, this.at)) throw this.unlike();
    this.at += text.length;
  }

  private matched(regex: RegExp): RegExpExecArray {
    const found = regex.exec(this.text.slice(this.at, this.at + 100));
    if (found === null) throw this.unlike();
    this.at += found[0].length;
    return found;
  }

  private digits(most: number): string {
    return this.matched(new RegExp(`^\\d{1,${most}}`))[0];
  }

  /** Of as many digits as the letter stands there, or one or two. */
  private number(width: number): number {
    return Number(this.digits(width === 1 ? 2 : width));
  }

  /** Which of the names stands here, whole or its first three letters. */
  private name(names: readonly string[], width: number): number {
    const cut = names.map((name) => (width > 3 ? name : name.slice(0, 3)).toLowerCase());
    const rest = this.text.slice(this.at, this.at + 10).toLowerCase();
    const found = cut.findIndex((name) => rest.startsWith(name));
    if (found < 0) throw this.unlike();
    this.at += cut[found]!.length;
    return found + 1;
  }

  private letters(letter: string, width: number): void {
    const { fields } = this;
    switch (letter) {
      case "y":
      case "u":
        fields.year = width === 2 ? 2000 + Number(this.digits(2)) : Number(this.digits(Math.max(width, 4)));
        return;
      case "M":
      case "L":
        fields.month = width < 3 ? this.number(width) : this.name(MONTHS, width);
        return;
      case "D":
        fields.dayOfYear = Number(this.digits(3));
        return;
      case "d":
        fields.day = this.number(width);
        return;
      case "E":
        fields.weekday = this.name(WEEKDAYS, width);
        return;
      case "a":
        fields.afternoon = /^p/i.test(this.matched(/^[ap]m/i)[0]);
        return;
      default:
        this.clock(letter, width);
    }
  }

  private clock(letter: string, width: number): void {
    const { fields } = this;
    switch (letter) {
      case "H":
      case "h":
        fields.hour = this.number(width);
        return;
      case "m":
        fields.minute = this.number(width);
        return;
      case "s":
        fields.second = this.number(width);
        return;
      case "S":
        fields.nano = Number(this.digits(Math.min(width, 9)).padEnd(9, "0"));
        return;
      case "n":
        fields.nano = Number(this.digits(9));
        return;
      case "X":
      case "x":
      case "Z":
        fields.offset = parseOffset(this.matched(/^(?:Z|[+-]\d\d(?::?\d\d){0,2})/)[0]);
        return;
      case "V":
      case "z":
        fields.zone = this.matched(/^[A-Za-z0-9_+\-/:]+/)[0];
        return;
      default:
        throw unknownLetter(letter);
    }
  }
}

/** Since the epoch. What a pattern does not read has its least value, but for the year. */
function daysOf(fields: Fields, unlike: () => Error): number {
  const { year, month, day, dayOfYear, weekday } = fields;
  if (year === null) throw invalidArgument("a pattern of a date has a year (y)");
  const days = dayOfYear === null ? calendarDate(year, month ?? 1, day ?? 1) : ordinalDate(year, dayOfYear);
  if (weekday !== null && weekday !== isoDayOfWeek(days)) throw unlike();
  return days;
}

/** Since midnight. */
function nanosOf({ hour, afternoon, minute, second, nano }: Fields, unlike: () => Error): number {
  const hours = afternoon === null ? (hour ?? 0) : ((hour ?? 0) % 12) + (afternoon ? 12 : 0);
  if (hours > 23 || (minute ?? 0) > 59 || (second ?? 0) > 59) throw unlike();
  return ((hours * 60 + (minute ?? 0)) * 60 + (second ?? 0)) * SECOND_NANOS + (nano ?? 0);
}

function zoneOfFields({ zone, offset }: Fields): Zone | null {
  return zone === null ? offset : parseZone(zone.replace(/^(?:UTC|GMT)$/, "Z"));
}

/** Days and nanoseconds since the epoch and midnight in the text's own zone, and that zone. */
export function readByPattern(text: string, pattern: string): { days: number; nanos: number; zone: Zone | null } {
  const fields = new Reader(text, pattern).read();
  const unlike = () => invalidArgument(`"${text.slice(0, 100)}" is not like ${pattern}`);
  const dated = fields.year === null ? { ...fields, year: 1970 } : fields;
  return { days: daysOf(dated, unlike), nanos: nanosOf(fields, unlike), zone: zoneOfFields(fields) };
}

/** `date(text, pattern)` and the same of the other instants. Throws ArgumentError. */
export function instantByPattern(kind: InstantKind, text: string, pattern: string, context: EvalContext): Temporal {
  const fields = new Reader(text, pattern).read();
  const unlike = () => invalidArgument(`"${text.slice(0, 100)}" is not like ${pattern}`);
  if ((kind === "localtime" || kind === "time") && fields.hour === null) {
    throw invalidArgument("a pattern of a time has an hour (H)");
  }
  const nanos = nanosOf(fields, unlike);
  const zone = zoneOfFields(fields);
  switch (kind) {
    case "date":
      return new CypherDate(daysOf(fields, unlike));
    case "localtime":
      return new LocalTime(nanos);
    case "time": {
      const now = splitTimestamp(context.statementMicros);
      const offset = offsetAtInstant(zone ?? sessionZone(context), now.days, Math.floor(now.micros / 1e6));
      return new ZonedTime(nanos % DAY_NANOS, offset);
    }
    case "localdatetime":
      return new LocalDateTime(daysOf(fields, unlike), nanos);
    case "datetime":
      return zonedOfLocal(daysOf(fields, unlike), nanos, zone ?? sessionZone(context), fields.offset);
  }
}
