/**
 * The second step of reading a date or a time: what each field says, by what was said before it, with the rules of
 * PostgreSQL. A part that is said twice is an error; so is a field whose part cannot be told.
 */

import { DAY_MICROS, daysFromCivil, daysInMonth, HOUR_MICROS, MINUTE_MICROS, SECOND_MICROS } from "./datetime.js";
import type { Field } from "./datetime-fields.js";
import { fail, fractionMicros, leadingInteger, offsetSeconds, ReadingFault } from "./datetime-numbers.js";
import { type Moment, type Unit, type Word, wordOf } from "./datetime-words.js";
import type { DateOrder } from "./text-style.js";
import { abbreviatedOffset, namedZone } from "./time-zone.js";

/** What was said, in bits. */
const YEAR = 1;
const MONTH = 2;
const DAY = 4;
const HOUR = 8;
const MINUTE = 16;
const SECOND = 32;
const FRACTION = 64;
const ZONE = 128;
const SUMMER = 256;
const WEEKDAY = 512;
const HALF = 1024;
const ERA = 2048;
const DAY_OF_YEAR = 4096;
const MOMENT = 8192;
const DATE = YEAR | MONTH | DAY;
const TIME = HOUR | MINUTE | SECOND | FRACTION;

const JULIAN_OF_1970 = 2_440_588;

export interface Fields {
  /** Days since the epoch, ±Infinity, or null when no date was given. */
  days: number | null;
  /** Microseconds since midnight; of a date alone: 0. */
  micros: number;
  /** Seconds east of UTC, the name of a zone whose offset changes, or null. */
  zone: number | string | null;
  /** An instant: "now" and "epoch". */
  instant: number | null;
}

export interface ReadingContext {
  /** A time of the day is read, and not a date. */
  readonly isTime: boolean;
  readonly order: DateOrder;
  readonly nowMicros: number;
  /** Days since the epoch, on the session's clock. */
  readonly today: number;
  /** Microseconds since midnight, on the session's clock. */
  readonly timeOfDay: number;
}

/** State of one reading: the parts that were met so far. */
class Reading {
  private said = 0;
  private year = 0;
  private month = 0;
  private day = 0;
  private dayOfYear = 0;
  private julian: number | null = null;
  private hours = 0;
  private minutes = 0;
  private seconds = 0;
  private fraction = 0;
  private zone: number | string | null = null;
  private instant: number | null = null;
  private endless: number | null = null;
  private isShortYear = false;
  private hasMonthName = false;
  private bc = false;
  private half: "am" | "pm" | null = null;
  /** What the word before said that this field is. */
  private announced: Unit | "time" | null = null;

  constructor(
    private readonly fields: readonly Field[],
    private readonly context: ReadingContext,
  ) {}

  read(): Fields {
    for (const [index, field] of this.fields.entries()) this.say(this.partsOf(field, index));
    return this.finish();
  }

  private say(parts: number): void {
    if ((this.said & parts) !== 0) fail();
    this.said |= parts;
  }

  private has(parts: number): boolean {
    return (this.said & parts) === parts;
  }

  /** Reads a field; the answer: the parts that it says. */
  private partsOf(field: Field, index: number): number {
    switch (field.kind) {
      case "time":
        return this.clock(field.text);
      case "offset":
        this.zone = offsetSeconds(field.text);
        return ZONE;
      case "date":
        return this.dateField(field.text, index);
      case "number":
        return this.announced === null ? this.numberField(field.text, index) : this.announcedNumber(field.text);
      default:
        return this.word(field.text, index);
    }
  }

  /** Of 04:05, 04:05:06, 04:05:06.7, and 05:06.7, which has minutes first. */
  private clock(text: string): number {
    if (!this.context.isTime && this.announced !== null) {
      if (this.announced !== "time") fail();
      this.announced = null;
    }
    let rest: string;
    this.fraction = 0;
    this.seconds = 0;
    [this.hours, rest] = leadingInteger(text);
    [this.minutes, rest] = leadingInteger(rest.slice(1));
    if (rest.startsWith(".")) {
      this.fraction = fractionMicros(rest);
      [this.hours, this.minutes, this.seconds] = [0, this.hours, this.minutes];
    } else if (rest.startsWith(":")) {
      [this.seconds, rest] = leadingInteger(rest.slice(1));
      if (rest !== "") this.fraction = fractionMicros(rest);
    }
    if (this.minutes > 59 || this.seconds > 60) fail("range");
    // A time of the day is looked at when it is whole.
    if (!this.context.isTime) this.requireWithinDay();
    return TIME;
  }

  private requireWithinDay(): void {
    const past = this.hours > 24 || this.minutes > 59 || this.seconds > 60;
    if (past || this.micros() > DAY_MICROS) fail("range");
  }

  private micros(): number {
    return this.hours * HOUR_MICROS + this.minutes * MINUTE_MICROS + this.seconds * SECOND_MICROS + this.fraction;
  }

  /** A date; or, where one cannot be, a zone's name, or digits of a time with an offset. */
  private dateField(text: string, index: number): number {
    const { isTime } = this.context;
    if (isTime) {
      const second = this.fields[1]?.kind;
      const dateMayBe =
        index === 0 && (second === "time" || (second !== undefined && this.fields.at(-1)?.kind === "date"));
      if (dateMayBe) return this.date(text);
      return /^\d/.test(text) ? this.clockWithOffset(text) : this.zoneName(text);
    }
    if (this.announced === "julian") {
      const [days, rest] = leadingInteger(text);
      this.julian = days;
      this.zone = offsetSeconds(rest);
      this.announced = null;
      return DATE | TIME | ZONE;
    }
    if (this.announced === null && !this.has(MONTH | DAY)) return this.date(text);
    if (this.announced === null && !/^\d/.test(text)) return this.zoneName(text);
    if (this.announced !== null && this.announced !== "time") fail();
    this.announced = null;
    return this.clockWithOffset(text);
  }

  private clockWithOffset(text: string): number {
    if (this.has(TIME)) fail();
    const at = text.indexOf("-");
    if (at < 0) fail();
    this.zone = offsetSeconds(text.slice(at));
    return this.joined(text.slice(0, at), this.said | (this.context.isTime ? DATE : 0)) | ZONE;
  }

  private zoneName(text: string): number {
    const zone = namedZone(text);
    if (zone === null) throw new ReadingFault("no such zone", text);
    this.zone = zone;
    return ZONE;
  }

  /** A date with separators: the name of its month first, then the numbers in their order. */
  private date(text: string): number {
    const parts: string[] = [];
    for (let rest = text; rest !== ""; ) {
      rest = rest.replace(/^[^a-z0-9]+/, "");
      if (rest === "") fail();
      const part = (/^(?:\d+|[a-z]+)/.exec(rest) as RegExpExecArray)[0];
      parts.push(part);
      // The separator, whatever it is.
      rest = rest.slice(part.length + 1);
    }
    let known = this.said;
    const add = (said: number) => {
      if ((known & said) !== 0) fail();
      known |= said;
    };
    for (const part of parts) {
      if (/^\d/.test(part)) continue;
      const word = wordOf(part);
      if (word?.says !== "month") fail();
      add(MONTH);
      this.month = word.month;
    }
    const isNamed = parts.some((part) => !/^\d/.test(part));
    for (const part of parts) if (/^\d/.test(part)) add(this.number(part, known, isNamed));
    if ((known & ~(DAY_OF_YEAR | ZONE)) !== DATE) fail();
    return known & ~this.said;
  }

  private numberField(text: string, index: number): number {
    const point = text.indexOf(".");
    if (this.context.isTime) {
      if (point < 0)
        return text.length > 4 ? this.joined(text, this.said | DATE) : this.number(text, this.said | DATE, false);
      if (index === 0 && this.fields.length > 1 && this.fields.at(-1)?.kind === "date") return this.date(text);
      return point > 2 ? this.joined(text, this.said | DATE) : fail();
    }
    if (point >= 0 && (this.said & DATE) === 0) return this.date(text);
    if (point > 2) return this.joined(text, this.said);
    if (text.length >= 6 && ((this.said & DATE) === 0 || (this.said & TIME) === 0)) return this.joined(text, this.said);
    return this.number(text, this.said, this.hasMonthName);
  }

  /** One number of a date, by what is known of the date already; after a whole date, of a time. */
  private number(text: string, known: number, isNamed: boolean): number {
    const [value, rest] = leadingInteger(text);
    if (rest.length === text.length) fail();
    if (rest !== "") {
      if (text.length - rest.length > 2) return this.joined(text, known | DATE);
      this.fraction = fractionMicros(rest);
    }
    const isLong = text.length > 2;
    if (text.length === 3 && (known & DATE) === YEAR && value >= 1 && value <= 366) {
      this.dayOfYear = value;
      return DAY_OF_YEAR | MONTH | DAY;
    }
    switch (known & DATE) {
      case 0:
        if (isLong || this.context.order === "YMD") return this.setYear(value, text);
        return this.context.order === "DMY" ? this.setDay(value) : this.setMonth(value);
      case YEAR:
      case DAY:
        return this.setMonth(value);
      case MONTH:
        if (isNamed && (isLong || this.context.order === "YMD")) return this.setYear(value, text);
        return this.setDay(value);
      case YEAR | MONTH:
        if (!isNamed || !isLong || !this.isShortYear) return this.setDay(value);
        // The first number was the day.
        this.day = this.year;
        this.setYear(value, text);
        return DAY;
      case MONTH | DAY:
        return this.setYear(value, text);
      case DATE:
        return this.joined(text, known);
      default:
        return fail();
    }
  }

  private setYear(year: number, text: string): number {
    this.year = year;
    this.isShortYear = text.length <= 2;
    return YEAR;
  }

  private setMonth(month: number): number {
    this.month = month;
    return MONTH;
  }

  private setDay(day: number): number {
    this.day = day;
    return DAY;
  }

  /** YYYYMMDD, YYMMDD, HHMMSS, HHMM: a time where the date is known already, or where there is a fraction. */
  private joined(text: string, known: number): number {
    const [digits = "", ...decimals] = text.split(".");
    const pair = (from: number) => Number(digits.slice(from, from === -2 ? undefined : from + 2));
    if (decimals.length > 0) this.fraction = fractionMicros(`.${decimals.join("")}`);
    else if ((known & DATE) !== DATE && digits.length >= 6) {
      this.setYear(Number(digits.slice(0, -4)), digits.slice(0, -4));
      this.month = pair(-4);
      this.day = pair(-2);
      return DATE;
    }
    if ((known & TIME) === TIME || (digits.length !== 6 && digits.length !== 4)) fail();
    this.hours = pair(0);
    this.minutes = pair(2);
    this.seconds = pair(4);
    return TIME;
  }

  /** The number after a word that says what it is: "y2001m02d04", "J2451187". */
  private announcedNumber(text: string): number {
    const unit = this.announced as Unit | "time";
    this.announced = null;
    const [value, rest] = leadingInteger(text);
    if (rest !== "" && unit !== "julian" && unit !== "time" && unit !== "second") fail();
    switch (unit) {
      case "year":
        this.year = value;
        return YEAR;
      case "month":
        if (!this.has(MONTH | HOUR)) return this.setMonth(value);
        this.minutes = value;
        return MINUTE;
      case "day":
        return this.setDay(value);
      case "hour":
        this.hours = value;
        return HOUR;
      case "minute":
        this.minutes = value;
        return MINUTE;
      case "second":
        this.seconds = value;
        if (rest === "") return SECOND;
        this.fraction = fractionMicros(rest);
        return SECOND | FRACTION;
      case "julian":
        this.julian = value;
        if (rest === "") return DATE;
        this.setTimeOfDay(Math.round(Number(`0${rest === "." ? "" : rest}`) * DAY_MICROS));
        return DATE | TIME;
      case "time": {
        const said = this.joined(text, this.said | DATE);
        return said === TIME ? said : fail();
      }
      default:
        return fail();
    }
  }

  private setTimeOfDay(micros: number): void {
    this.hours = Math.floor(micros / HOUR_MICROS);
    [this.minutes, this.seconds, this.fraction] = [0, 0, micros % HOUR_MICROS];
  }

  private word(text: string, index: number): number {
    const offset = abbreviatedOffset(text);
    if (offset !== null) {
      this.zone = offset;
      return ZONE;
    }
    const word = wordOf(text);
    if (word !== undefined) return this.knownWord(word, index);
    const zone = namedZone(text);
    if (zone === null) fail();
    this.zone = zone;
    return ZONE;
  }

  private knownWord(word: Word, index: number): number {
    const { isTime } = this.context;
    switch (word.says) {
      case "nothing":
        return 0;
      case "month":
        return isTime ? fail() : this.monthName(word.month);
      case "weekday":
        return isTime ? fail() : WEEKDAY;
      case "half":
        this.half = word.half;
        return HALF;
      case "era":
        this.bc = word.bc;
        return ERA;
      case "unit":
        this.announced = word.unit;
        return 0;
      case "summer time":
        this.zone = typeof this.zone === "number" ? this.zone + 3600 : this.zone;
        return SUMMER;
      case "iso time": {
        const next = this.fields[index + 1]?.kind;
        if ((!isTime && !this.has(DATE)) || (next !== "number" && next !== "time" && next !== "date")) fail();
        this.announced = "time";
        return 0;
      }
      case "moment":
        return this.moment(word.moment);
    }
  }

  /** A number before it that was taken for the month is the day. */
  private monthName(month: number): number {
    const wasDay = this.has(MONTH) && !this.hasMonthName && !this.has(DAY) && this.month >= 1 && this.month <= 31;
    if (wasDay) this.day = this.month;
    this.hasMonthName = true;
    this.month = month;
    return wasDay ? DAY : MONTH;
  }

  private moment(moment: Moment): number {
    switch (moment) {
      case "allballs":
        this.setTimeOfDay(0);
        this.zone = 0;
        return TIME | ZONE;
      case "now":
        if (this.context.isTime) {
          this.setTimeOfDay(this.context.timeOfDay);
          return TIME;
        }
        this.instant = this.context.nowMicros;
        return DATE | TIME | ZONE;
      case "epoch":
        this.instant = 0;
        break;
      case "infinity":
        this.endless = Number.POSITIVE_INFINITY;
        break;
      case "-infinity":
        this.endless = Number.NEGATIVE_INFINITY;
        break;
      default:
        this.julian = JULIAN_OF_1970 + this.context.today + (moment === "today" ? 0 : moment === "tomorrow" ? 1 : -1);
        if (this.context.isTime) fail();
        return DATE;
    }
    return this.context.isTime ? fail() : MOMENT;
  }

  private finish(): Fields {
    const { isTime } = this.context;
    const days = this.finishDate();
    this.applyHalf();
    if (isTime) this.requireWithinDay();
    if (this.has(SUMMER) && (!this.has(ZONE) || typeof this.zone === "string")) fail();
    if (isTime && !this.has(TIME)) fail();
    if (this.endless !== null) return { days: this.endless, micros: 0, zone: null, instant: null };
    if (!isTime && days === null && this.instant === null) fail();
    return { days, micros: this.micros(), zone: this.zone, instant: this.instant };
  }

  private finishDate(): number | null {
    let { year } = this;
    if (this.has(YEAR) && this.julian === null && this.instant === null) {
      if (this.bc) {
        if (year <= 0) fail("range");
        year = 1 - year;
      } else if (this.isShortYear) year += year < 70 ? 2000 : 1900;
      else if (year <= 0) fail("range");
    }
    if (this.julian !== null) return this.julian - JULIAN_OF_1970;
    if (this.has(DAY_OF_YEAR)) return daysFromCivil(year, 1, 1) + this.dayOfYear - 1;
    if (this.instant !== null && this.instant !== 0) return null;
    if (this.has(MONTH) && (this.month < 1 || this.month > 12)) fail("month or day");
    if (this.has(DAY) && (this.day < 1 || this.day > 31)) fail("month or day");
    if (!this.has(DATE)) return null;
    if (this.day > daysInMonth(year, this.month)) fail("range");
    return daysFromCivil(year, this.month, this.day);
  }

  private applyHalf(): void {
    if (this.half === null) return;
    if (this.hours > 12) fail("range");
    if (this.half === "pm" && this.hours !== 12) this.hours += 12;
    if (this.half === "am" && this.hours === 12) this.hours = 0;
  }
}

export const readFields = (fields: readonly Field[], context: ReadingContext): Fields =>
  new Reading(fields, context).read();
