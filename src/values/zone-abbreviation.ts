/** What people call the time of a zone, as to_char's TZ and pg_timezone_names have it: EST, CEST, or +04. */
import { offsetToText } from "./datetime.js";
import { offsetAt } from "./time-zone.js";
import { type Timestamp, wholeUnits } from "./timestamp.js";

/** Each knows the abbreviations of its own part of the world. */
const LOCALES = ["en-US", "en-GB", "en-CA", "en-AU", "en-IN", "en-ZA", "en-HK", "ja-JP", "id-ID"];

/** Of zones that no locale abbreviates: in winter, and in summer where that differs. */
const OTHERS: Readonly<Record<string, readonly [winter: string, summer?: string]>> = {
  "Asia/Shanghai": ["CST"],
  "Asia/Taipei": ["CST"],
  "Asia/Macau": ["CST"],
  "Asia/Seoul": ["KST"],
  "Asia/Pyongyang": ["KST"],
  "Asia/Manila": ["PST"],
  "Asia/Karachi": ["PKT"],
  "Asia/Jerusalem": ["IST", "IDT"],
  "Europe/Moscow": ["MSK"],
  "Europe/Simferopol": ["MSK"],
};

/** Locales' own, which the database of zones has not. */
const UNUSUAL: ReadonlySet<string> = new Set(["GST"]);

const ZONES_MAX = 100;
const DATE_MILLISECONDS_MAX = 8.64e15;
const SUMMER_MONTH = 6;

/** By zone: made when they are asked for, since each takes some 50 µs. */
const formats = new Map<string, Intl.DateTimeFormat[]>();

export function zoneAbbreviation(timeZone: string, instant: Timestamp): string {
  if (/^utc$/i.test(timeZone)) return "UTC";
  const posix = /^(?:<([^<>]*)>|([a-z]*))[+-]?\d[\d:]*$/i.exec(timeZone);
  if (posix !== null) return posix[1] ?? posix[2]!;
  for (let i = 0; i < LOCALES.length; i++) {
    const format = formatOf(timeZone, i);
    if (format === null) break;
    const name = nameIn(format, instant);
    if (/^[A-Z]{3,5}$/.test(name) && !UNUSUAL.has(name)) return name;
  }
  const [winter, summer] = OTHERS[timeZone] ?? [];
  if (winter !== undefined) return summer !== undefined && isSummer(timeZone, instant) ? summer : winter;
  return offsetToText(offsetAt(timeZone, instant)).replace(":", "");
}

function nameIn(format: Intl.DateTimeFormat, instant: Timestamp): string {
  const parts = format.formatToParts(shownMilliseconds(instant));
  return parts.find(({ type }) => type === "timeZoneName")?.value ?? "";
}

/** Beyond what Date can hold the rules of zones stay. */
function shownMilliseconds(instant: Timestamp): number {
  return Math.min(Math.max(wholeUnits(instant, 1000), -DATE_MILLISECONDS_MAX), DATE_MILLISECONDS_MAX);
}

/** North of the equator. */
function isSummer(timeZone: string, instant: Timestamp): boolean {
  const year = new Date(shownMilliseconds(instant)).getUTCFullYear();
  const offset = offsetAt(timeZone, instant);
  const inWinter = offsetAt(timeZone, Date.UTC(year, 0, 1) * 1000);
  return offset > inWinter && offset === offsetAt(timeZone, Date.UTC(year, SUMMER_MONTH, 1) * 1000);
}

/** In the i-th locale; null: a zone by rules of POSIX, which Intl does not know. */
function formatOf(timeZone: string, i: number): Intl.DateTimeFormat | null {
  let made = formats.get(timeZone);
  if (made === undefined) {
    if (formats.size >= ZONES_MAX) formats.clear();
    made = [];
    formats.set(timeZone, made);
  }
  try {
    made[i] ??= new Intl.DateTimeFormat(LOCALES[i], { timeZone, timeZoneName: "short" });
    return made[i];
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
