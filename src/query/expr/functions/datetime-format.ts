/** Date and time templates of to_char() (chapter 9.8, table 9.27); datetime-template.ts reads texts by them. */

import { sqlError } from "../../../protocol/errors.js";
import {
  civilFromDays,
  dayOfWeek,
  daysFromCivil,
  HOUR_MICROS,
  isoWeek,
  MINUTE_MICROS,
  offsetToText,
  SECOND_MICROS,
} from "../../../values/datetime.js";
import { splitMicros } from "../../../values/micros.js";
import { isFiniteTimestamp, splitTimestamp, type Timestamp } from "../../../values/timestamp.js";
import type { Interval } from "../../../values/values.js";
import { isoFields } from "./interval-calendar.js";
import { checkPicture, ordinalSuffix } from "./number-format.js";

export const MONTHS = "January February March April May June July August September October November December".split(
  " ",
);
export const DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");
export const ROMAN = "I II III IV V VI VII VIII IX X XI XII".split(" ");

/** Longest first, as in formatting.c. */
const KEYWORDS =
  "A.D. A.M. B.C. P.M. a.d. a.m. b.c. p.m. HH12 HH24 IDDD IYYY MONTH Month SSSSS SSSS Y,YYY YYYY month DDD DAY Day FF1 FF2 FF3 FF4 FF5 FF6 IYY MON Mon TZH TZM YYY day mon AD AM BC CC DD DY Dy FM FX HH ID IW IY MI MM MS OF PM Q RM SS TH TM TZ US WW YY ad am bc dy pm rm th tz D I J W Y".split(
    " ",
  );
/** Those that are the same in any case; names, eras and halves of the day keep theirs. */
const ANY_CASE = new Set(
  "HH12 HH24 IDDD IYYY SSSSS SSSS Y,YYY YYYY DDD FF1 FF2 FF3 FF4 FF5 FF6 IYY TZH TZM YYY CC DD FM FX HH ID IW IY MI MM MS OF Q SS TM US WW YY D I J W Y".split(
    " ",
  ),
);

export interface TemplateItem {
  /** A keyword, or null for literal text. */
  readonly key: string | null;
  readonly text: string;
  readonly fill: boolean;
  /** Of literal text: it stands in quotes. */
  readonly isQuoted?: true;
  /** "TH" or "th" after the keyword. */
  readonly suffix: string;
}

const CACHE_MAX = 200;
const cache = new Map<string, readonly TemplateItem[]>();

export function itemsOf(format: string): readonly TemplateItem[] {
  let items = cache.get(format);
  if (items === undefined) {
    checkPicture(format);
    items = parseTemplate(format);
    if (cache.size >= CACHE_MAX) cache.clear();
    cache.set(format, items);
  }
  return items;
}

function keywordAt(format: string, at: number): string | null {
  for (const keyword of KEYWORDS) {
    const spelled = format.slice(at, at + keyword.length);
    if (spelled === keyword || (ANY_CASE.has(keyword) && spelled.toUpperCase() === keyword)) return keyword;
  }
  return null;
}

function parseTemplate(format: string): TemplateItem[] {
  const items: TemplateItem[] = [];
  let fill = true;
  for (let at = 0; at < format.length; ) {
    if (format[at] === '"') {
      // A backslash keeps the next character as it is.
      const quoted = /^"((?:[^"\\]|\\[\s\S])*)"?/.exec(format.slice(at)) as RegExpExecArray;
      const text = (quoted[1] as string).replace(/\\([\s\S])/g, "$1");
      items.push({ key: null, text, fill: true, isQuoted: true, suffix: "" });
      at += quoted[0].length;
      continue;
    }
    const keyword = keywordAt(format, at);
    if (keyword === null) {
      if (format[at] === "\\" && format[at + 1] === '"') at++;
      items.push({ key: null, text: format[at] as string, fill: true, suffix: "" });
      at++;
      continue;
    }
    at += keyword.length;
    if (keyword === "FM") fill = false;
    else if (keyword === "TH" || keyword === "th") items.push({ key: null, text: keyword, fill: true, suffix: "" });
    else if (keyword === "FX") items.push({ key: keyword, text: "", fill: true, suffix: "" });
    else if (keyword !== "TM") {
      const suffix = /^th/i.test(format.slice(at)) ? format.slice(at, at + 2) : "";
      at += suffix.length;
      items.push({ key: keyword, text: "", fill, suffix });
      fill = true;
    }
  }
  return items;
}

/** What a template may ask for. */
interface Fields {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** Days since the epoch; null for an interval. */
  readonly days: number | null;
  readonly dayOfYear: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly micros: number;
  /** Zone name and seconds east of UTC; null without a zone. */
  readonly zone: { readonly name: string; readonly offset: number } | null;
}

/** A wall clock reading, with its zone where it has one. */
export function formatTimestamp(local: Timestamp, format: string, zone: Fields["zone"] = null): string | null {
  if (!isFiniteTimestamp(local)) return null;
  const { days, micros: time } = splitTimestamp(local);
  const { year, month, day } = civilFromDays(days);
  return print(itemsOf(format), {
    year,
    month,
    day,
    days,
    dayOfYear: days - daysFromCivil(year, 1, 1) + 1,
    hour: Math.floor(time / HOUR_MICROS),
    minute: Math.floor(time / MINUTE_MICROS) % 60,
    second: Math.floor(time / SECOND_MICROS) % 60,
    micros: time % SECOND_MICROS,
    zone,
  });
}

export function formatInterval(interval: Interval, format: string): string {
  const { months, days } = interval;
  const { whole: hour, rest } = splitMicros(interval.micros, HOUR_MICROS);
  return print(itemsOf(format), {
    year: Math.trunc(months / 12),
    month: months % 12,
    day: days,
    days: null,
    dayOfYear: months * 30 + days,
    hour,
    minute: Math.trunc(rest / MINUTE_MICROS),
    second: Math.trunc(rest / SECOND_MICROS) % 60,
    micros: rest % SECOND_MICROS,
    zone: null,
  });
}

function print(items: readonly TemplateItem[], fields: Fields): string {
  let out = "";
  for (const item of items) {
    if (item.key === null) out += item.text;
    if (item.key === null || item.key === "FX") continue;
    const text = printItem(item.key, item.fill, fields);
    out += text;
    if (item.suffix !== "") out += item.suffix === "TH" ? ordinalSuffix(text).toUpperCase() : ordinalSuffix(text);
  }
  return out;
}

function pad(value: number, width: number, fill: boolean): string {
  if (!fill) return String(value);
  return value < 0 ? `-${String(-value).padStart(width, "0")}` : String(value).padStart(width, "0");
}

/** As C's printf pads, which counts the sign; it makes room for one if `sign` is negative. */
function padSigned(value: number, width: number, fill: boolean, sign: number): string {
  if (!fill) return String(value);
  const digits = String(Math.abs(value)).padStart((sign < 0 ? width + 1 : width) - (value < 0 ? 1 : 0), "0");
  return value < 0 ? `-${digits}` : digits;
}

/** The name in the case of its keyword: DAY, Day, day. */
function cased(name: string, key: string): string {
  if (key === key.toUpperCase()) return name.toUpperCase();
  return key === key.toLowerCase() ? name.toLowerCase() : name;
}

/** Names of months and days, eras and zones. */
const OF_DATES = /^(?:MON|DAY|DY|TZ|OF|[AB]\.?[DC])/i;

function printItem(key: string, fill: boolean, fields: Fields): string {
  if (fields.days === null && OF_DATES.test(key)) throw noSuchField();
  const name = (text: string, width: number) => (fill ? cased(text, key).padEnd(width) : cased(text, key));
  switch (key) {
    case "MONTH":
    case "Month":
    case "month":
      return name(MONTHS[fields.month - 1] as string, 9);
    case "MON":
    case "Mon":
    case "mon":
      return cased((MONTHS[fields.month - 1] as string).slice(0, 3), key);
    case "DAY":
    case "Day":
    case "day":
      return name(DAYS[weekday(fields)] as string, 9);
    case "DY":
    case "Dy":
    case "dy":
      return cased((DAYS[weekday(fields)] as string).slice(0, 3), key);
    case "RM":
    case "rm": {
      const { month, year } = fields;
      // Of an interval: negative months count back from December, whole years are December or January.
      if (month === 0 && year === 0) return "";
      const index = month > 0 ? month - 1 : month < 0 ? 12 + month : year >= 0 ? 11 : 0;
      const numeral = ROMAN[index] as string;
      return fill ? cased(numeral, key).padEnd(4) : cased(numeral, key);
    }
    case "TZ":
    case "tz":
      return fields.zone === null ? "" : cased(fields.zone.name, key);
    default:
      return /^[ABP]\.?[DMC]/i.test(key) ? eraOrHalf(key, fields) : numberItem(key, fill, fields);
  }
}

function weekday({ days }: Fields): number {
  if (days === null) throw noSuchField();
  return dayOfWeek(days);
}

const noSuchField = () =>
  sqlError("22007", "invalid format specification for an interval value", {
    hint: "Intervals are not tied to specific calendar dates.",
  });

function eraOrHalf(key: string, { year, hour }: Fields): string {
  const half = /M/i.test(key);
  const letters = half ? (hour % 24 >= 12 ? "pm" : "am") : year > 0 ? "ad" : "bc";
  const dotted = key.includes(".") ? `${letters[0]}.${letters[1]}.` : letters;
  return key === key.toUpperCase() ? dotted.toUpperCase() : dotted;
}

function numberItem(key: string, fill: boolean, fields: Fields): string {
  const { hour, minute, second, micros } = fields;
  switch (key) {
    case "HH":
    case "HH12":
      return padSigned(hour % 12 === 0 ? 12 : hour % 12, 2, fill, hour);
    case "HH24":
      return pad(hour, 2, fill);
    case "MI":
      return pad(minute, 2, fill);
    case "SS":
      return pad(second, 2, fill);
    case "MS":
      return padSigned(Math.trunc(micros / 1000), 3, true, 0);
    case "US":
      return padSigned(micros, 6, true, 0);
    case "SSSS":
    case "SSSSS":
      return String(hour * 3600 + minute * 60 + second);
    case "OF":
      return fields.zone === null ? "+00" : offsetToText(fields.zone.offset);
    case "TZH":
      return fields.zone === null ? "+00" : offsetToText(fields.zone.offset).slice(0, 3);
    case "TZM":
      return pad(Math.floor(Math.abs(fields.zone?.offset ?? 0) / 60) % 60, 2, true);
    default:
      if (key.startsWith("FF")) {
        const digits = Number(key[2]);
        return padSigned(Math.trunc(micros / 10 ** (6 - digits)), digits, true, 0);
      }
      return dateItem(key, fill, fields);
  }
}

function dateItem(key: string, fill: boolean, fields: Fields): string {
  const { month, day, days, dayOfYear } = fields;
  const year = days === null || fields.year > 0 ? fields.year : 1 - fields.year;
  switch (key) {
    case "YYYY":
      return pad(year, 4, fill);
    case "Y,YYY":
      return `${Math.trunc(year / 1000)},${padSigned(year % 1000, 3, true, 0)}`;
    case "YYY":
      return pad(year % 1000, 3, fill);
    case "YY":
      return pad(year % 100, 2, fill);
    case "Y":
      return String(year % 10);
    case "MM":
      return pad(month, 2, fill);
    case "DD":
      return padSigned(day, 2, fill, 0);
    case "DDD":
      return padSigned(dayOfYear, 3, fill, 0);
    case "Q":
      return month === 0 ? "" : String(Math.trunc((month - 1) / 3) + 1);
    case "CC":
      if (days === null) return pad(Math.trunc(year / 100), 2, fill);
      return pad(fields.year > 0 ? Math.ceil(fields.year / 100) : Math.floor((fields.year - 1) / 100), 2, fill);
    case "WW":
      return pad(Math.trunc((dayOfYear - 1) / 7) + 1, 2, fill);
    case "W":
      return String(Math.trunc((day - 1) / 7) + 1);
    default:
      if (days === null) return intervalItem(key, fill, fields);
      return isoItem(key, fill, days);
  }
}

function intervalItem(key: string, fill: boolean, { year: sign, month, day }: Fields): string {
  const { year, week, dayOfYear, julian } = isoFields(sign, month, day);
  switch (key) {
    case "IYYY":
      return padSigned(year, 4, fill, sign);
    case "IYY":
      return padSigned(year % 1000, 3, fill, sign);
    case "IY":
      return padSigned(year % 100, 2, fill, sign);
    case "I":
      return String(year % 10);
    case "IW":
      return pad(week, 2, fill);
    case "IDDD":
      return pad(dayOfYear, 3, fill);
    case "J":
      return String(julian);
    default:
      throw noSuchField();
  }
}

function isoItem(key: string, fill: boolean, days: number): string {
  const { year: counted, week } = isoWeek(days);
  // Year 0 is 1 BC.
  const year = counted > 0 ? counted : 1 - counted;
  switch (key) {
    case "IYYY":
      return pad(year, 4, fill);
    case "IYY":
      return pad(year % 1000, 3, fill);
    case "IY":
      return pad(year % 100, 2, fill);
    case "I":
      return String(year % 10);
    case "IW":
      return pad(week, 2, fill);
    case "IDDD":
      return pad((week - 1) * 7 + ((dayOfWeek(days) + 6) % 7) + 1, 3, fill);
    case "ID":
      return String(((dayOfWeek(days) + 6) % 7) + 1);
    case "D":
      return String(dayOfWeek(days) + 1);
    default:
      return String(days + 2_440_588);
  }
}
