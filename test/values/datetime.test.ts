/** The calendar, the spellings of dates and times that are read, and how they are printed. */
import fc from "fast-check";
import t from "tap";
import type { DbError } from "../../src/protocol/errors.js";
import {
  civilFromDays,
  DAY_MICROS,
  dateToText,
  dayOfWeek,
  daysFromCivil,
  isoWeek,
  timeToText,
} from "../../src/values/datetime.js";
import {
  parseDate,
  parseTime,
  parseTimestamp,
  parseTimestampTz,
  parseTimeTz,
} from "../../src/values/datetime-parse.js";
import { intervalToText, multiplyInterval, parseInterval } from "../../src/values/interval.js";
import { offsetOfLocal } from "../../src/values/time-zone.js";
import { timestampToText, timestampTzToText } from "../../src/values/timestamp-text.js";

const clock = { timeZone: "UTC", nowMicros: Date.UTC(2024, 1, 29, 13, 5) * 1000 };
const newYork = { ...clock, timeZone: "America/New_York" };

function sqlstate(run: () => unknown): string | undefined {
  try {
    run();
  } catch (error) {
    return (error as DbError).details?.sqlstate;
  }
  return undefined;
}

t.test("days and civil dates agree with Date over its whole range", async (t) => {
  fc.assert(
    fc.property(fc.integer({ min: -100_000_000, max: 100_000_000 }), (days) => {
      const { year, month, day } = civilFromDays(days);
      const date = new Date(days * 86_400_000);
      t.same([year, month, day], [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()]);
      t.equal(daysFromCivil(year, month, day), days);
      t.equal(dayOfWeek(days), date.getUTCDay());
    }),
    { numRuns: 300 },
  );
});

t.test("a zone right behind AM, PM or BC, months first, and how fractions are cut", async (t) => {
  const stamps: [string, string][] = [
    ["2020-01-01 03:00:00PM+02", "2020-01-01 13:00:00+00"],
    ["2020-01-01 03:00:00 pm+02:30", "2020-01-01 12:30:00+00"],
    ["2020-01-01 12:00 am+1", "2019-12-31 23:00:00+00"],
    ["Aug/01/2095 BC", "2095-08-01 00:00:00+00 BC"],
    ["Aug/2095/01", "2095-08-01 00:00:00+00"],
    ["Aug.01.2095", "2095-08-01 00:00:00+00"],
  ];
  for (const [text, expected] of stamps)
    t.equal(timestampTzToText(parseTimestampTz(text, clock), "UTC"), expected, text);
  t.equal(
    sqlstate(() => parseTimestampTz("2020-01-01 03:00:00 am+16", clock)),
    "22009",
  );
  // What is no time is none, although only the date is wanted.
  for (const text of ["2020-01-01 25:00", "2020-01-01T20:61", "2020-01-01 24:00:01"]) {
    t.equal(
      sqlstate(() => parseDate(text, clock)),
      "22008",
      text,
    );
  }
  t.equal(
    sqlstate(() => parseDate("2020-01-01T10:00:00+99", clock)),
    "22009",
  );
  // Half away from 2000, where PostgreSQL counts from.
  const cut: [string, string][] = [
    ["1999-12-31 23:59:58.5", "1999-12-31 23:59:58"],
    ["1970-01-01 00:00:00.5", "1970-01-01 00:00:00"],
    ["1969-12-31 23:59:58.5", "1969-12-31 23:59:58"],
    ["2000-01-01 00:00:00.5", "2000-01-01 00:00:01"],
  ];
  for (const [text, expected] of cut) {
    t.equal(timestampToText(parseTimestamp(text, clock, 0)), expected, text);
    t.equal(timestampTzToText(parseTimestampTz(text, clock, 0), "UTC"), `${expected}+00`, text);
  }
});

t.test("ISO weeks at the turn of a year", async (t) => {
  t.same(isoWeek(daysFromCivil(2024, 12, 31)), { year: 2025, week: 1 });
  t.same(isoWeek(daysFromCivil(2021, 1, 3)), { year: 2020, week: 53 });
  t.same(isoWeek(daysFromCivil(2016, 1, 4)), { year: 2016, week: 1 });
});

t.test("times after dates without separators, Julian dates and words", async (t) => {
  const cases: [string, string][] = [
    ["20011227 040506.789+08", "2001-12-26 20:05:06.789"],
    ["20011227T040506-08", "2001-12-27 12:05:06"],
    ["J2452271.5+08", "2001-12-27 04:00:00"],
    ["J2452271T040506.789+08", "2001-12-26 20:05:06.789"],
    ["tomorrow 16:00:00", "2024-03-01 16:00:00"],
    ["100000312 23:58:48 IST", "10000-03-12 21:58:48"],
    ["1999-01-08 7:9:59", "1999-01-08 07:09:59"],
  ];
  for (const [text, shown] of cases) t.equal(timestampToText(parseTimestampTz(text, clock)), shown, text);
  t.equal(timeToText(parseTime("040506.789", clock)), "04:05:06.789");
  t.equal(timeToText(parseTime("02:03 PST", clock)), "02:03:00");
  for (const text of ["15:36:39 America/New_York", "today"])
    t.equal(
      sqlstate(() => parseTime(text, clock)),
      "22007",
      text,
    );
  t.equal(
    sqlstate(() => parseTime("23:59:60.01", clock)),
    "22008",
  );
});

t.test("dates", async (t) => {
  const cases: [string, string][] = [
    ["2024-02-29", "2024-02-29"],
    ["January 8, 1999", "1999-01-08"],
    ["8-Jan-1999", "1999-01-08"],
    ["Jan-08-1999", "1999-01-08"],
    ["1/18/1999", "1999-01-18"],
    ["19990108", "1999-01-08"],
    ["990108", "1999-01-08"],
    ["1999.008", "1999-01-08"],
    ["J2451187", "1999-01-08"],
    ["January 8, 99 BC", "0099-01-08 BC"],
    ["0001-01-01 BC", "0001-01-01 BC"],
    ["5874897-12-31", "5874897-12-31"],
    ["infinity", "infinity"],
    ["-infinity", "-infinity"],
    ["epoch", "1970-01-01"],
    ["today", "2024-02-29"],
    ["tomorrow", "2024-03-01"],
    ["yesterday", "2024-02-28"],
    ["y2001m02d04", "2001-02-04"],
    ["2029-01-29 -00", "2029-01-29"],
    ["2024-01-02 10:00 GMT-3", "2024-01-02"],
  ];
  for (const [text, printed] of cases) t.equal(dateToText(parseDate(text, clock)), printed, text);
  const errors: [string, string][] = [
    ["abc", "22007"],
    ["", "22007"],
    ["2023-02-29", "22008"],
    ["1900-02-29", "22008"],
    ["2024-13-01", "22008"],
    ["5874898-01-01", "22008"],
    ["2029-01-29-00", "22007"],
    ["x-y-z today", "22007"],
    ["10:00 2001-02-03", "22007"],
    ["2001-02-03 foo2035", "22023"],
  ];
  for (const [text, code] of errors)
    t.equal(
      sqlstate(() => parseDate(text, clock)),
      code,
      text,
    );
});

t.test("times", async (t) => {
  const cases: [string, string][] = [
    ["04:05:06.789", "04:05:06.789"],
    ["040506", "04:05:06"],
    ["04:05 PM", "16:05:00"],
    ["12:00 AM", "00:00:00"],
    ["24:00:00", "24:00:00"],
    ["04:05:06.1234567", "04:05:06.123457"],
  ];
  for (const [text, printed] of cases) t.equal(timeToText(parseTime(text, clock)), printed, text);
  t.equal(
    sqlstate(() => parseTime("25:00", clock)),
    "22008",
  );
  t.same(parseTimeTz("est now", clock), { micros: 47_100_000_000, offset: -18_000 });
  t.same(parseTimeTz("04:05:06+05:30", clock), { micros: 14_706_000_000, offset: 19_800 });
});

t.test("timestamps", async (t) => {
  const cases: [string, string][] = [
    ["2024-01-02 03:04:05.123456", "2024-01-02 03:04:05.123456"],
    ["2024-01-02T03:04:05Z", "2024-01-02 03:04:05"],
    ["20240102T030405", "2024-01-02 03:04:05"],
    ["Mon Jan 02 03:04:05 2024", "2024-01-02 03:04:05"],
    ["2024-01-02 24:00:00", "2024-01-03 00:00:00"],
    ["1600-01-01 00:00:00.5", "1600-01-01 00:00:00.5"],
    ["0044-03-15 12:00 BC", "0044-03-15 12:00:00 BC"],
    ["infinity", "infinity"],
  ];
  for (const [text, printed] of cases) t.equal(timestampToText(parseTimestamp(text, clock)), printed, text);
  t.equal(timestampToText(parseTimestamp("2024-01-02 03:04:05.6", clock, 0)), "2024-01-02 03:04:06");
  t.equal(
    sqlstate(() => parseTimestamp("294277-01-01", clock)),
    "22008",
  );
  fc.assert(
    fc.property(fc.integer({ min: -8e15, max: 8e15 }), (micros) => {
      t.equal(parseTimestamp(timestampToText(micros), clock), micros);
    }),
    { numRuns: 300 },
  );
});

t.test("time zones", async (t) => {
  const utc = (text: string, at = clock) => timestampTzToText(parseTimestampTz(text, at));
  t.equal(utc("2024-01-02 03:04:05+02"), "2024-01-02 01:04:05+00");
  t.equal(utc("2024-07-02 03:04:05 America/New_York"), "2024-07-02 07:04:05+00");
  t.equal(utc("2024-07-02 03:04:05 EST"), "2024-07-02 08:04:05+00");
  t.equal(utc("2024-07-02 03:04:05", newYork), "2024-07-02 07:04:05+00");
  t.equal(utc("Wed Jul 11 10:51:14 GMT+4 2001"), "2001-07-11 14:51:14+00");
  t.equal(timestampTzToText(0, "America/New_York"), "1969-12-31 19:00:00-05");
  t.equal(timestampTzToText(0, "Asia/Kolkata"), "1970-01-01 05:30:00+05:30");
  t.equal(timestampTzToText(0, "UTC", "T"), "1970-01-01T00:00:00+00:00");
  t.equal(
    sqlstate(() => utc("2024-01-02 03:04 Foo/Bar")),
    "22023",
  );
  // Skipped by the change of the clock: taken by the rule before it. Twice there: by the rule after it.
  t.equal(utc("2024-03-10 02:30:00", newYork), "2024-03-10 07:30:00+00");
  t.equal(utc("2024-11-03 01:30:00", newYork), "2024-11-03 06:30:00+00");
  t.equal(offsetOfLocal("Europe/Berlin", daysFromCivil(2024, 7, 1) * DAY_MICROS), 7200);
});

t.test("intervals", async (t) => {
  const cases: [string, string][] = [
    ["1 year 2 months 3 days 04:05:06", "1 year 2 mons 3 days 04:05:06"],
    ["1-2", "1 year 2 mons"],
    ["3 4:05:06", "3 days 04:05:06"],
    ["1 day ago", "-1 days"],
    ["-1 day +2 hours", "-1 days +02:00:00"],
    ["1.5 months", "1 mon 15 days"],
    ["1.5 years", "1 year 6 mons"],
    ["1.5 weeks", "10 days 12:00:00"],
    ["P1Y2M3DT4H5M6S", "1 year 2 mons 3 days 04:05:06"],
    ["1", "00:00:01"],
    ["-1:02:03.5", "-01:02:03.5"],
    ["1d 2h 3m 4s", "1 day 02:03:04"],
    ["0", "00:00:00"],
    ["0.1 months", "3 days"],
  ];
  for (const [text, printed] of cases) t.equal(intervalToText(parseInterval(text)), printed, text);
  for (const text of ["", "1 xyz", "abc", "1 day day"])
    t.equal(
      sqlstate(() => parseInterval(text)),
      "22007",
      text,
    );
  t.equal(intervalToText(multiplyInterval(parseInterval("1 month 15 days"), 0.3)), "13 days 12:00:00");
  const parts = fc.integer({ min: -100_000, max: 100_000 });
  fc.assert(
    fc.property(parts, parts, fc.integer({ min: -1e13, max: 1e13 }), (months, days, micros) => {
      const interval = { months, days, micros };
      t.same(parseInterval(intervalToText(interval)), interval);
    }),
    { numRuns: 300 },
  );
});
