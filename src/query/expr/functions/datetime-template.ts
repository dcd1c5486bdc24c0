/**
 * to_timestamp() and to_date(): reads a text by a template, after DCH_from_char and do_to_timestamp of PostgreSQL 15
 * (formatting.c). Called by formatting.ts; datetime-format.ts reads the template.
 */
import { sqlError } from "../../../protocol/errors.js";
import {
  civilFromDays,
  dayOfWeek,
  daysFromCivil,
  daysInMonth,
  isLeapYear,
  SECOND_MICROS,
} from "../../../values/datetime.js";
import { checkedTimestamp, type Timestamp, timestampAt } from "../../../values/timestamp.js";
import { DAYS, itemsOf, MONTHS, ROMAN, type TemplateItem } from "./datetime-format.js";

interface TemplateReading {
  readonly local: Timestamp;
  /** Seconds east of UTC. */
  readonly offset: number | null;
  /** Digits of the seconds' fraction, which to_timestamp rounds to; null: all. */
  readonly precision: number | null;
}

/**
 * A wall clock reading and, where the text gives one, an offset in seconds. Throws 22007 for text that does not fit,
 * 22008 and 22009 for fields out of range.
 */
export function parseTimestampTemplate(text: string, format: string): TemplateReading {
  const reader = new TemplateReader(text, itemsOf(format));
  reader.read();
  return assemble(reader.found, text);
}

/** Fields that the text gives, by the names that PostgreSQL has for them; 0 is as good as none. */
type Field =
  | "hh"
  | "mi"
  | "ss"
  | "ssss"
  | "ms"
  | "us"
  | "pm"
  | "bc"
  | "year"
  | "cc"
  | "mm"
  | "dd"
  | "ddd"
  | "d"
  | "ww"
  | "w"
  | "j"
  | "tzh"
  | "tzm";

interface Found extends Partial<Record<Field, number>> {
  isTwelveHours?: true;
  /** Digits of the year's field. */
  yearDigits?: number;
  isIsoWeek?: boolean;
  /** Digits of the seconds' fraction that count. */
  precision?: number;
  /** Of the offset. */
  sign?: 1 | -1;
}

const INTEGERS: Readonly<Record<string, Field>> = {
  HH: "hh",
  HH12: "hh",
  HH24: "hh",
  MI: "mi",
  SS: "ss",
  SSSS: "ssss",
  SSSSS: "ssss",
  MM: "mm",
  DDD: "ddd",
  IDDD: "ddd",
  DD: "dd",
  D: "d",
  WW: "ww",
  IW: "ww",
  CC: "cc",
  YYYY: "year",
  IYYY: "year",
  W: "w",
  J: "j",
};
const PARTIAL_YEARS: ReadonlySet<string> = new Set(["YYY", "IYY", "YY", "IY", "Y", "I"]);
/** Of fields that are as long as their names, all but these. */
const WIDTHS: Readonly<Record<string, number>> = { HH12: 2, HH24: 2, IDDD: 3 };
const FRACTION = /^(?:MS|US|FF\d)$/;
const GREGORIAN = /^(?:D{1,3}|MM|MON|MONTH|RM|WW?|Y,YYY|Y{1,4})$/i;
const ISO_WEEK = /^I(?:DDD|D|W|Y{0,3})$/;
/** Fields that are no digits: a number before them takes as many as there are. */
const NO_DIGITS = /^(?:[ABP]\.?[DMC]\.?|MONTH|MON|DAY|DY|RM|TZH|TZM|TZ|OF)$/i;
const INTEGER_MAX = 2 ** 31 - 1;

const isSpace = (character: string | undefined) => character !== undefined && /[ \t\n\v\f\r]/.test(character);
const isSeparator = (character: string | undefined) => character !== undefined && /[!-/:-@[-`{-~]/.test(character);

class TemplateReader {
  readonly found: Found = {};
  private at = 0;
  /** FX: as many characters as the template has. */
  private isFixed = false;
  /** Characters passed over beyond those that the template has. */
  private extra = 0;

  constructor(
    private readonly text: string,
    private readonly items: readonly TemplateItem[],
  ) {}

  read(): void {
    const { items, text } = this;
    for (let i = 0; i < items.length && this.at < text.length; i++) {
      const item = items[i]!;
      if (!this.isFixed && item.key !== "FX" && (item.key !== null || i === 0)) this.skipSpaces();
      if (item.key === null) {
        this.passLiteral(item);
        continue;
      }
      if (item.key === "FX") this.isFixed = true;
      else this.field(item.key, item, items[i + 1]);
      if (!this.isFixed) {
        this.extra = 0;
        this.skipSpaces();
      }
    }
  }

  private skipSpaces(): void {
    for (; isSpace(this.text[this.at]); this.at++) this.extra++;
  }

  /** A separator stands for one separator or none, another character for any, unless more were passed over before. */
  private passLiteral({ text, isQuoted }: TemplateItem): void {
    for (const character of text) {
      if (this.isFixed) this.skipOne();
      else if (isQuoted || !(isSpace(character) || isSeparator(character))) {
        if (this.extra > 0) this.extra--;
        else this.skipOne();
      } else if (isSpace(this.text[this.at]) || isSeparator(this.text[this.at])) this.at++;
      else this.extra--;
    }
  }

  private skipOne(): void {
    this.at += (this.text.codePointAt(this.at) ?? 0) > 0xffff ? 2 : 1;
  }

  private field(key: string, item: TemplateItem, next: TemplateItem | undefined): void {
    const { found } = this;
    this.setConvention(key);
    const integer = INTEGERS[key];
    if (integer !== undefined) {
      this.set(integer, this.integer(key, item, next, WIDTHS[key] ?? key.length).value, key);
      if (key === "HH" || key === "HH12") found.isTwelveHours = true;
      if (integer === "year") found.yearDigits = 4;
    } else if (PARTIAL_YEARS.has(key)) {
      const { value, length } = this.integer(key, item, next, key.length);
      this.set("year", length < 4 ? nearestYear(value) : value, key);
      found.yearDigits = key.length;
    } else if (FRACTION.test(key)) this.fraction(key, item, next);
    else if (this.word(key) || !this.other(key, item, next)) return;
    if (item.suffix !== "") this.at += 2;
  }

  private fraction(key: string, item: TemplateItem, next: TemplateItem | undefined): void {
    const digits = key === "MS" ? 3 : key === "US" ? 6 : Number(key.slice(2));
    const { value, length } = this.integer(key, item, next, digits);
    const [field, places] = key === "MS" ? (["ms", 3] as const) : (["us", 6] as const);
    if (key.startsWith("FF")) this.found.precision = digits;
    this.set(field, value, key);
    this.found[field] = value * 10 ** Math.max(places - length, 0);
  }

  /** True where an ordinal suffix is passed over. */
  private other(key: string, item: TemplateItem, next: TemplateItem | undefined): boolean {
    const { found, text } = this;
    switch (key) {
      case "Q":
        // Which date of the quarter is meant is not known.
        this.integer(key, item, next, 1);
        return true;
      case "ID": {
        const { value } = this.integer(key, item, next, 1);
        this.set("d", value, key);
        found.d = (value % 7) + 1;
        return true;
      }
      case "Y,YYY": {
        const years = /^\s*([+-]?\d+),(\d{1,3})/.exec(text.slice(this.at));
        if (years === null) throw sqlError("22007", 'invalid input string for "Y,YYY"');
        this.set("year", Number(years[1]) * 1000 + Number(years[2]), key);
        found.yearDigits = 4;
        this.at += years[0].length;
        return true;
      }
      case "TZH":
      case "OF": {
        const sign = text[this.at]!;
        // A minus sign may have been taken for a separator.
        if (/[-+ ]/.test(sign)) this.at++;
        found.sign = sign === "-" || (!/[-+ ]/.test(sign) && this.extra > 0 && text[this.at - 1] === "-") ? -1 : 1;
        this.set("tzh", this.integer(key, item, next, 2).value, key);
        if (key === "OF" && text[this.at] === ":") {
          this.at++;
          this.set("tzm", this.integer(key, item, next, 2).value, key);
        }
        return false;
      }
      case "TZM":
        found.sign ??= 1;
        this.set("tzm", this.integer(key, item, next, 2).value, key);
        return false;
      default:
        throw sqlError("0A000", `formatting field "${key}" is only supported in to_char`);
    }
  }

  /** Names of months and days, eras and halves of a day. False: the key stands for something else. */
  private word(key: string): boolean {
    const short = (names: readonly string[]) => names.map((name) => name.slice(0, 3));
    const plain = key.toUpperCase();
    switch (plain) {
      case "MONTH":
      case "MON":
        this.set("mm", this.search(key, plain === "MON" ? short(MONTHS) : MONTHS) + 1, key);
        return true;
      case "DAY":
      case "DY":
        this.set("d", this.search(key, plain === "DY" ? short(DAYS) : DAYS) + 1, key);
        return true;
      case "RM": {
        // The longest first: "I" begins other ones.
        const longest = [...ROMAN].sort((a, b) => b.length - a.length);
        this.set("mm", ROMAN.indexOf(longest[this.search(key, longest)]!) + 1, key);
        return true;
      }
      case "A.M.":
      case "P.M.":
      case "AM":
      case "PM":
        this.set("pm", this.search(key, plain.includes(".") ? ["A.M.", "P.M."] : ["AM", "PM"]), key);
        this.found.isTwelveHours = true;
        return true;
      case "A.D.":
      case "B.C.":
      case "AD":
      case "BC":
        this.set("bc", this.search(key, plain.includes(".") ? ["A.D.", "B.C."] : ["AD", "BC"]), key);
        return true;
      default:
        return false;
    }
  }

  private search(key: string, names: readonly string[]): number {
    const rest = this.text.slice(this.at);
    const index = names.findIndex((name) => rest.slice(0, name.length).toLowerCase() === name.toLowerCase());
    if (index < 0) {
      throw sqlError("22007", `invalid value "${/^\S*/.exec(rest)![0]}" for "${key}"`, {
        detail: "The given value did not match any of the allowed values for this field.",
      });
    }
    this.at += names[index]!.length;
    return index;
  }

  /** A number of `width` characters; of any length where what follows in the template are no digits. */
  private integer(key: string, item: TemplateItem, next: TemplateItem | undefined, width: number) {
    while (isSpace(this.text[this.at])) this.at++;
    const rest = this.text.slice(this.at);
    const isFree = !item.fill || item.suffix !== "" || next === undefined || !isDigits(next);
    const given = isFree ? rest : rest.slice(0, width);
    if (given.length < width && !isFree) {
      throw sqlError("22007", `source string too short for "${key}" formatting field`, {
        detail: `Field requires ${width} characters, but only ${given.length} remain.`,
        hint: FIXED_HINT,
      });
    }
    const number = /^\s*[+-]?\d+/.exec(given)?.[0] ?? "";
    if (number !== "" && number.length < width && !isFree) {
      throw sqlError("22007", `invalid value "${given}" for "${key}"`, {
        detail: `Field requires ${width} characters, but only ${number.length} could be parsed.`,
        hint: FIXED_HINT,
      });
    }
    if (number === "") {
      throw sqlError("22007", `invalid value "${rest.slice(0, width)}" for "${key}"`, {
        detail: "Value must be an integer.",
      });
    }
    const value = Number(number);
    if (Math.abs(value) > INTEGER_MAX) {
      throw sqlError("22008", `value for "${key}" in source string is out of range`, {
        detail: `Value must be in the range ${-INTEGER_MAX - 1} to ${INTEGER_MAX}.`,
      });
    }
    this.at += number.length;
    return { value: value + 0, length: number.length };
  }

  private set(field: Field, value: number, key: string): void {
    const { found } = this;
    if ((found[field] ?? 0) !== 0 && found[field] !== value) {
      throw sqlError("22007", `conflicting values for "${key}" field in formatting string`, {
        detail: "This value contradicts a previous setting for the same field type.",
      });
    }
    found[field] = value;
  }

  private setConvention(key: string): void {
    const isIsoWeek = ISO_WEEK.test(key);
    if (!isIsoWeek && !GREGORIAN.test(key)) return;
    this.found.isIsoWeek ??= isIsoWeek;
    if (this.found.isIsoWeek === isIsoWeek) return;
    throw sqlError("22007", "invalid combination of date conventions", {
      hint: "Do not mix Gregorian and ISO week date conventions in a formatting template.",
    });
  }
}

const FIXED_HINT = 'If your source string is not fixed-width, try using the "FM" modifier.';

/** Whether what stands there in the template begins with a digit. */
function isDigits({ key, text }: TemplateItem): boolean {
  return key === null ? /^\d/.test(text) : key !== "FX" && !NO_DIGITS.test(key);
}

/** Years given with fewer digits lie nearest to 2020. */
function nearestYear(value: number): number {
  if (value < 70) return value + 2000;
  if (value < 100) return value + 1900;
  return value < 520 ? value + 2000 : value < 1000 ? value + 1000 : value;
}

const outOfRange = (text: string) => sqlError("22008", `date/time field value out of range: "${text}"`);

function assemble(found: Found, text: string): TemplateReading {
  const ofDay = found.ssss ?? 0;
  let hour = found.hh || Math.trunc(ofDay / 3600);
  const minute = found.mi || Math.trunc(ofDay / 60) % 60;
  const second = found.ss || ofDay % 60;
  if (found.isTwelveHours) {
    if (hour < 1 || hour > 12) {
      throw sqlError("22007", `hour "${hour}" is invalid for the 12-hour clock`, {
        hint: "Use the 24-hour clock, or give an hour between 1 and 12.",
      });
    }
    hour = (hour % 12) + (found.pm ? 12 : 0);
  }
  const days = assembleDate(found, text);
  const micros = (found.ms ?? 0) * 1000 + (found.us ?? 0);
  const isWithin = (value: number, most: number) => value >= 0 && value < most;
  if (!isWithin(hour, 24) || !isWithin(minute, 60) || !isWithin(second, 60) || !isWithin(micros, SECOND_MICROS)) {
    throw outOfRange(text);
  }
  const local = checkedTimestamp(timestampAt(days, (hour * 3600 + minute * 60 + second) * SECOND_MICROS + micros));
  const precision = found.precision ?? null;
  if (found.sign === undefined) return { local, offset: null, precision };
  const [hours, minutes] = [found.tzh ?? 0, found.tzm ?? 0];
  if (!isWithin(hours, 16) || !isWithin(minutes, 60)) {
    throw sqlError("22009", `time zone displacement out of range: "${text}"`);
  }
  return { local, offset: found.sign * (hours * 3600 + minutes * 60), precision };
}

/** The year of a number in a century; the 21st goes from 2001 to 2100, and centuries before Christ count backwards. */
function yearOf({ year = 0, cc = 0, bc = 0, yearDigits = 4 }: Found): number {
  const century = bc ? -cc : cc;
  if (year === 0) return cc === 0 ? 0 : century >= 0 ? (century - 1) * 100 + 1 : century * 100 + 1;
  if (cc === 0 || yearDigits > 2) {
    const signed = bc ? -year : year;
    return signed < 0 ? signed + 1 : signed;
  }
  const inCentury = year % 100;
  if (inCentury === 0) return century * 100 + (century >= 0 ? 0 : 1);
  return century >= 0 ? inCentury + (century - 1) * 100 : (century + 1) * 100 - inCentury + 1;
}

/** Days since the epoch. */
function assembleDate(found: Found, text: string): number {
  const { ww = 0, isIsoWeek = false } = found;
  let dayOfYear = found.ddd ?? 0;
  let whole: number | null = found.j ? found.j - JULIAN_EPOCH : null;
  let { year, month, day } = whole === null ? { year: yearOf(found), month: 1, day: 1 } : civilFromDays(whole);
  if (ww !== 0 && isIsoWeek) {
    // Sunday is the first day of a week, and the last one of an ISO week.
    whole = isoWeekStart(year, ww) + (found.d ? (found.d + 5) % 7 : 0);
    ({ year, month, day } = civilFromDays(whole));
  } else if (ww !== 0) dayOfYear = (ww - 1) * 7 + 1;
  const givenDay = found.w ? (found.w - 1) * 7 + 1 : found.dd || null;
  const givenMonth = found.mm || null;
  day = givenDay ?? day;
  month = givenMonth ?? month;
  if (dayOfYear !== 0 && (month <= 1 || day <= 1)) {
    if (year === 0 && !found.bc) {
      throw sqlError("22007", "cannot calculate day of year without year information");
    }
    if (isIsoWeek) return isoWeekStart(year, 1) + dayOfYear - 1;
    if (dayOfYear < 1 || dayOfYear > (isLeapYear(year) ? 366 : 365)) throw outOfRange(text);
    const counted = civilFromDays(daysFromCivil(year, 1, 1) + dayOfYear - 1);
    if (month <= 1) month = counted.month;
    if (day <= 1) day = counted.day;
  }
  if (month < 1 || month > 12 || day < 1 || day > 31) throw outOfRange(text);
  const hasYear = whole !== null || Boolean(found.year || found.cc);
  const hasDay = whole !== null || dayOfYear !== 0 || (givenDay !== null && givenMonth !== null);
  if (hasYear && hasDay && day > daysInMonth(year, month)) throw outOfRange(text);
  return daysFromCivil(year, month, 1) + day - 1;
}

const JULIAN_EPOCH = 2_440_588;

/** The Monday with which a week of an ISO year begins. */
function isoWeekStart(year: number, week: number): number {
  const fourth = daysFromCivil(year, 1, 4);
  return fourth - ((dayOfWeek(fourth) + 6) % 7) + (week - 1) * 7;
}
