/**
 * Reads dates and times from strings in SQL/JSON paths: in ISO 8601, or by a template of the SQL standard. Such a
 * template is stricter than to_timestamp's: separators must be equal, and nothing may be left over (formatting.c,
 * parse_datetime).
 */

import { sqlError } from "../../../protocol/errors.js";
import {
  DAY_MICROS,
  daysFromCivil,
  daysInMonth,
  HOUR_MICROS,
  MINUTE_MICROS,
  roundMicros,
  SECOND_MICROS,
} from "../../../values/datetime.js";
import { offsetAt } from "../../../values/time-zone.js";
import { addMicros, checkedTimestamp, roundTimestamp, timestampAt } from "../../../values/timestamp.js";
import { instantOf } from "../cast.js";
import { Moment, type MomentKind } from "./json-path-moment.js";

export interface ZoneOf {
  readonly timeZone: string;
  readonly nowMicros: number;
}

const ISO =
  /^(?:(\d{4,7})-(\d{1,2})-(\d{1,2}))?(?:(?:^|[ T])(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,6}))?\s*([+-]\d{1,2}(?::?\d{2})?(?::\d{2})?|[zZ])?)?$/;

/** What a string of ISO 8601's form means; null for another string or a date that does not exist. */
export function parseIsoMoment(text: string, zone: ZoneOf): Moment | null {
  const match = ISO.exec(text);
  if (match === null || text === "") return null;
  const [, year, month, day, hour, minute, second, fraction, offset] = match;
  if (/^\d{4,7}-.*T/.test(text) === false && text.includes("T")) return null;
  const found: Fields = { zoned: offset !== undefined };
  if (year !== undefined) Object.assign(found, { year: Number(year), month: Number(month), day: Number(day) });
  if (hour !== undefined) {
    Object.assign(found, { hour: Number(hour), minute: Number(minute), second: Number(second) });
    found.micros = Number((fraction ?? "").padEnd(6, "0"));
  }
  if (offset !== undefined) found.offset = /z/i.test(offset) ? 0 : offsetSeconds(offset);
  try {
    return momentOf(found, text, zone);
  } catch {
    return null;
  }
}

function offsetSeconds(text: string): number {
  const [, sign, hours, minutes = "0", seconds = "0"] = /^([+-])(\d{1,2}):?(\d{2})?(?::(\d{2}))?$/.exec(
    text,
  ) as string[];
  const size = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  return sign === "-" ? -size : size;
}

interface Fields {
  year?: number;
  month?: number;
  day?: number;
  hour?: number;
  minute?: number;
  second?: number;
  micros?: number;
  half?: "am" | "pm";
  offset?: number;
  offsetSign?: number;
  zoned: boolean;
}

const DATE_FIELDS = ["year", "month", "day"] as const;
const TIME_FIELDS = ["hour", "minute", "second", "micros"] as const;

const outOfRange = (text: string) => sqlError("22008", `date/time field value out of range: "${text}"`);

function momentOf(found: Fields, text: string, zone: ZoneOf): Moment {
  const dated = DATE_FIELDS.some((field) => found[field] !== undefined);
  const timed = TIME_FIELDS.some((field) => found[field] !== undefined);
  if (!dated && !timed) {
    if (found.zoned) throw sqlError("22007", "datetime format is zoned but not timed");
    throw sqlError("22007", "datetime format is not dated and not timed");
  }
  if (found.zoned && !timed) throw sqlError("22007", "datetime format is zoned but not timed");
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0, micros = 0 } = found;
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) throw outOfRange(text);
  if (hour > 24 || minute > 59 || second > 59 || Math.abs(found.offset ?? 0) >= 16 * 3600) throw outOfRange(text);
  const days = daysFromCivil(year, month, day);
  const time = hour * HOUR_MICROS + minute * MINUTE_MICROS + second * SECOND_MICROS + micros;
  if (time > DAY_MICROS) throw outOfRange(text);
  if (!timed) return new Moment("date", days);
  const local = checkedTimestamp(timestampAt(dated ? days : 0, time));
  const kind: MomentKind = dated ? (found.zoned ? "timestamptz" : "timestamp") : found.zoned ? "timetz" : "time";
  if (!found.zoned) return new Moment(kind, local);
  const offset = found.offset ?? offsetAt(zone.timeZone, dated ? instantOf(local, zone.timeZone) : zone.nowMicros);
  return new Moment(kind, dated ? checkedTimestamp(addMicros(local, -offset * SECOND_MICROS)) : local, offset);
}

/** The moment with the given number of fractional digits of its seconds. */
export function roundMoment(moment: Moment, digits: number): Moment {
  if (moment.kind === "date") return moment;
  const isTime = moment.kind === "time" || moment.kind === "timetz";
  const value = isTime ? roundMicros(moment.number, digits) : roundTimestamp(moment.value, digits);
  return new Moment(moment.kind, value, moment.offset);
}

const FIELD =
  /^(?:YYYY|YYY|YY|Y|RRRR|RR|MM|DD|HH24|HH12|HH|MI|SSSSS|SSSS|SS|MS|US|FF[1-6]|TZH|TZM|TZ|AM|PM|A\.M\.|P\.M\.)/i;
const WIDTHS: Readonly<Record<string, number>> = {
  YYYY: 4,
  YYY: 3,
  YY: 2,
  Y: 1,
  RRRR: 4,
  RR: 2,
  SSSSS: 5,
  SSSS: 5,
  MS: 3,
  US: 6,
};

/** What `text` means by a template. Throws 22007 where they do not fit, 22008 for a date that does not exist. */
export function parseMomentTemplate(text: string, template: string, zone: ZoneOf): Moment {
  const found: Fields = { zoned: false };
  let at = 0;
  for (let i = 0; i < template.length; ) {
    const rest = template.slice(i);
    const quoted = /^"((?:[^"\\]|\\.)*)"/.exec(rest);
    const field = FIELD.exec(rest);
    if (field === null || quoted !== null) {
      const literal = quoted === null ? (template[i] as string) : (quoted[1] as string).replace(/\\(.)/g, "$1");
      i += quoted === null ? 1 : quoted[0].length;
      if (quoted === null && !/[-./,';: ]/.test(literal)) {
        throw sqlError("22007", `invalid datetime format separator: "${literal}"`);
      }
      at = expectLiteral(text, at, literal);
      continue;
    }
    i += field[0].length;
    const separated = i >= template.length || /[-./,';: "]/.test(template[i] as string);
    at = readField(text, at, field[0].toUpperCase(), separated, found);
  }
  if (text.slice(at).trim() !== "") {
    throw sqlError("22007", "trailing characters remain in input string after datetime format");
  }
  return momentOf(found, text, zone);
}

function expectLiteral(text: string, start: number, literal: string): number {
  let at = start;
  for (const character of literal) {
    if (at >= text.length) throw tooShort();
    if (text[at] !== character) {
      throw sqlError("22007", `unmatched format separator "${character}"`);
    }
    at++;
  }
  return at;
}

const tooShort = () => sqlError("22007", "input string is too short for datetime format");

function readField(text: string, start: number, name: string, separated: boolean, found: Fields): number {
  let at = start;
  while (text[at] === " ") at++;
  if (at >= text.length) throw tooShort();
  const rest = text.slice(at);
  if (/^[AP]/.test(name)) {
    const word = /^([ap])\.?m\.?/i.exec(rest);
    if (word === null) throw badValue(rest.slice(0, name.length), name);
    found.half = (word[1] as string).toLowerCase() === "p" ? "pm" : "am";
    if (found.hour !== undefined) found.hour = (found.hour % 12) + (found.half === "pm" ? 12 : 0);
    return at + word[0].length;
  }
  if (name.startsWith("TZ")) return readZone(rest, at, name, found);
  const fraction = name === "US" || name === "MS" || name.startsWith("FF");
  const width = name.startsWith("FF") ? Number(name[2]) : (WIDTHS[name] ?? 2);
  const most = separated && !fraction ? 9 : width;
  const digits = new RegExp(`^[+-]?\\d{1,${most}}`).exec(rest);
  if (digits === null) throw badValue(rest.slice(0, width), name);
  assign(found, name, Number(digits[0]), digits[0], fraction);
  return at + digits[0].length;
}

const badValue = (value: string, name: string) =>
  sqlError("22007", `invalid value "${value}" for "${name}"`, { detail: "Value must be an integer." });

function assign(found: Fields, name: string, value: number, digits: string, fraction: boolean): void {
  if (fraction) found.micros = Number(digits.padEnd(6, "0").slice(0, 6));
  else if (name === "MM") found.month = value;
  else if (name === "DD") found.day = value;
  else if (name === "MI") found.minute = value;
  else if (name === "SS") found.second = value;
  else if (name.startsWith("SSSS")) {
    found.hour = Math.floor(value / 3600);
    found.minute = Math.floor(value / 60) % 60;
    found.second = value % 60;
  } else if (name.startsWith("HH")) found.hour = hourOf(name, value, found.half);
  else found.year = yearOf(name, value, digits.length);
}

function hourOf(name: string, value: number, half: Fields["half"]): number {
  if (name === "HH24") return value;
  if (value < 1 || value > 12) {
    throw sqlError("22007", `hour "${value}" is invalid for the 12-hour clock`, {
      hint: "Use the 24-hour clock, or give an hour between 1 and 12.",
    });
  }
  return half === undefined ? value : (value % 12) + (half === "pm" ? 12 : 0);
}

/** Years of fewer digits than four lie nearest to 2020. */
function yearOf(name: string, value: number, length: number): number {
  if (name === "YYYY" || name === "RRRR" || length > 3) return value;
  if (value < 70) return value + 2000;
  return value < 100 ? value + 1900 : value < 520 ? value + 2000 : value + 1000;
}

function readZone(rest: string, at: number, name: string, found: Fields): number {
  found.zoned = true;
  const match = (
    name === "TZM" ? /^\d{1,2}/ : name === "TZ" ? /^([+-]\d{1,2})(?::?(\d{2}))?|^[zZ]/ : /^[ +-]?\d{1,2}/
  ).exec(rest);
  if (match === null) throw badValue(rest.slice(0, 2), name);
  if (name === "TZM") {
    found.offset = (found.offset ?? 0) + (found.offsetSign ?? 1) * Number(match[0]) * 60;
  } else if (/^z$/i.test(match[0])) {
    found.offset = 0;
  } else {
    found.offsetSign = match[0].startsWith("-") ? -1 : 1;
    const hours = Math.abs(Number(name === "TZ" ? match[1] : match[0]));
    found.offset = found.offsetSign * (hours * 3600 + Number(match[2] ?? 0) * 60);
  }
  return at + match[0].length;
}
