/** Dates, times and intervals: operators, the clock, fields, truncation, construction (chapter 9.9). */

import { sqlError } from "../../../protocol/errors.js";
import {
  checkedDate,
  civilFromDays,
  DAY_MICROS,
  daysFromCivil,
  daysInMonth,
  HOUR_MICROS,
  MINUTE_MICROS,
  roundHalfEven,
  roundMicros,
  SECOND_MICROS,
} from "../../../values/datetime.js";
import { parseDate, parseTimestamp } from "../../../values/datetime-parse.js";
import {
  addIntervals,
  intervalToText,
  justifyDays,
  justifyHours,
  justifyInterval,
  makeInterval,
  multiplyInterval,
  negateInterval,
  parseInterval,
} from "../../../values/interval.js";
import { plusMicros, splitMicros } from "../../../values/micros.js";
import { offsetAt } from "../../../values/time-zone.js";
import {
  addMicros,
  checkedTimestamp,
  isFiniteTimestamp,
  microsBetween,
  roundTimestamp,
  splitTimestamp,
  type Timestamp,
  timestampAt,
} from "../../../values/timestamp.js";
import {
  BOOL,
  DATE,
  FLOAT8,
  INT4,
  INTERVAL,
  type Interval,
  type SqlType,
  TEXT,
  TIME,
  TIMESTAMP,
  TIMESTAMPTZ,
  TIMETZ,
  type TimeTz,
  typeOf,
  type Value,
} from "../../../values/values.js";
import { clockOf, dateToTimestamp, instantOf, localReading, localTimestamp } from "../cast.js";
import type { EvalContext, ScalarFunction } from "../expr.js";
import { divisionByZero } from "./arithmetic.js";
import { DATETIME_FIELDS } from "./datetime-fields.js";
import { type Apply, contextFn, fn, op } from "./define.js";

/** Months move within the calendar, the day being cut to the month's length; then days, then microseconds. */
export function addToTimestamp(timestamp: Timestamp, interval: Interval): Timestamp {
  if (!isFiniteTimestamp(timestamp)) return timestamp;
  const { months, days, micros } = interval;
  let moved = timestamp;
  if (months !== 0) moved = addMonths(moved, months);
  if (days !== 0) moved = checkedTimestamp(addMicros(moved, days * DAY_MICROS));
  return checkedTimestamp(addMicros(moved, micros));
}

function addMonths(timestamp: Timestamp, count: number): Timestamp {
  const { days, micros } = splitTimestamp(timestamp);
  const date = civilFromDays(days);
  const months = date.year * 12 + date.month - 1 + count;
  const year = Math.floor(months / 12);
  const month = months - year * 12 + 1;
  const day = Math.min(date.day, daysInMonth(year, month));
  return checkedTimestamp(timestampAt(daysFromCivil(year, month, day), micros));
}

/** Months and days by the clock of the session's zone, microseconds in real time. */
export function addToInstant(context: EvalContext, instant: Timestamp, interval: Interval): Timestamp {
  if (!isFiniteTimestamp(instant)) return instant;
  let moved = instant;
  if (interval.months !== 0 || interval.days !== 0) {
    const local = addToTimestamp(localReading(instant, context.timeZone), { ...interval, micros: 0 });
    moved = instantOf(local, context.timeZone);
  }
  return checkedTimestamp(addMicros(moved, interval.micros));
}

/** Whole days and the rest, without months. */
function subtractTimestamps(a: Timestamp, b: Timestamp): Interval {
  if (!isFiniteTimestamp(a) || !isFiniteTimestamp(b)) throw sqlError("22008", "cannot subtract infinite timestamps");
  return justifyHours(makeInterval(0, 0, microsBetween(a, b)));
}

function subtractDates(a: number, b: number): number {
  if (!Number.isFinite(a) || !Number.isFinite(b)) throw sqlError("22008", "cannot subtract infinite dates");
  return a - b;
}

const shiftDate = (date: number, days: number) => (Number.isFinite(date) ? checkedDate(date + days) : date);

/** Times of day go round at midnight. */
export const wrapTime = (micros: number) => ((micros % DAY_MICROS) + DAY_MICROS) % DAY_MICROS;

/** What an interval moves a time of day by. */
const ofDay = ({ micros }: Interval) => splitMicros(micros, DAY_MICROS).rest;

export const addToTime = (time: number, interval: Interval) => wrapTime(time + ofDay(interval));

function divideInterval(interval: Interval, divisor: number): Interval {
  if (divisor === 0) throw divisionByZero();
  return multiplyInterval(interval, 1 / divisor);
}

/** Both orders of a commutative operator. */
function commutative(a: SqlType, b: SqlType, returns: SqlType, apply: Apply): ScalarFunction[] {
  return [op("+", [a, b], returns, apply), op("+", [b, a], returns, (y: Value, x: Value) => apply(x, y))];
}

function withContext(
  symbol: string,
  args: readonly SqlType[],
  returns: SqlType,
  apply: (context: EvalContext, ...values: never[]) => Value,
): ScalarFunction {
  return Object.freeze({ ...contextFn(symbol, args, returns, apply), operator: symbol });
}

const timeTzShift = (value: TimeTz, micros: number): TimeTz => ({ ...value, micros: wrapTime(value.micros + micros) });

function moment(date: number, micros: number): Timestamp {
  return checkedTimestamp(addMicros(dateToTimestamp(date), micros));
}

const zonedMoment = (date: number, { micros, offset }: TimeTz) => moment(date, micros - offset * SECOND_MICROS);

export const DATETIME_OPERATORS: readonly ScalarFunction[] = [
  ...commutative(DATE, INT4, DATE, shiftDate),
  op("-", [DATE, INT4], DATE, (date: number, days: number) => shiftDate(date, -days)),
  op("-", [DATE, DATE], INT4, subtractDates),
  ...commutative(DATE, INTERVAL, TIMESTAMP, (date: number, interval: Interval) =>
    addToTimestamp(dateToTimestamp(date), interval),
  ),
  op("-", [DATE, INTERVAL], TIMESTAMP, (date: number, interval: Interval) =>
    addToTimestamp(dateToTimestamp(date), negateInterval(interval)),
  ),
  ...commutative(DATE, TIME, TIMESTAMP, moment),
  ...commutative(DATE, TIMETZ, TIMESTAMPTZ, zonedMoment),
  ...commutative(TIMESTAMP, INTERVAL, TIMESTAMP, addToTimestamp),
  op("-", [TIMESTAMP, INTERVAL], TIMESTAMP, (timestamp: Timestamp, interval: Interval) =>
    addToTimestamp(timestamp, negateInterval(interval)),
  ),
  withContext("+", [TIMESTAMPTZ, INTERVAL], TIMESTAMPTZ, addToInstant),
  withContext("+", [INTERVAL, TIMESTAMPTZ], TIMESTAMPTZ, (context, interval: Interval, instant: Timestamp) =>
    addToInstant(context, instant, interval),
  ),
  withContext("-", [TIMESTAMPTZ, INTERVAL], TIMESTAMPTZ, (context, instant: Timestamp, interval: Interval) =>
    addToInstant(context, instant, negateInterval(interval)),
  ),
  op("-", [TIMESTAMP, TIMESTAMP], INTERVAL, subtractTimestamps),
  op("-", [TIMESTAMPTZ, TIMESTAMPTZ], INTERVAL, subtractTimestamps),
  ...commutative(TIME, INTERVAL, TIME, addToTime),
  op("-", [TIME, INTERVAL], TIME, (time: number, interval: Interval) => wrapTime(time - ofDay(interval))),
  op("-", [TIME, TIME], INTERVAL, (a: number, b: number) => makeInterval(0, 0, a - b)),
  ...commutative(TIMETZ, INTERVAL, TIMETZ, (time: TimeTz, interval: Interval) => timeTzShift(time, ofDay(interval))),
  op("-", [TIMETZ, INTERVAL], TIMETZ, (time: TimeTz, interval: Interval) => timeTzShift(time, -ofDay(interval))),
  op("+", [INTERVAL, INTERVAL], INTERVAL, addIntervals),
  op("-", [INTERVAL, INTERVAL], INTERVAL, (a: Interval, b: Interval) => addIntervals(a, negateInterval(b))),
  op("-", [INTERVAL], INTERVAL, negateInterval),
  op("*", [INTERVAL, FLOAT8], INTERVAL, multiplyInterval),
  op("*", [FLOAT8, INTERVAL], INTERVAL, (factor: number, interval: Interval) => multiplyInterval(interval, factor)),
  op("/", [INTERVAL, FLOAT8], INTERVAL, divideInterval),
];

const nowLocal = (context: EvalContext) => localReading(context.transactionMicros, context.timeZone);
const timeOfDay = (timestamp: Timestamp) => splitTimestamp(timestamp).micros;

/** A clock function, without and with a number of fractional digits. */
function clock<T extends Value>(
  name: string,
  returns: SqlType,
  read: (context: EvalContext) => T,
  rounded: (value: T, digits: number) => T,
): ScalarFunction[] {
  return [
    contextFn(name, [], returns, read),
    contextFn(name, [INT4], returns, (context, digits: number) => rounded(read(context), digits)),
  ];
}

const CLOCKS: readonly ScalarFunction[] = [
  ...["now", "transaction_timestamp"].map((name) =>
    contextFn(name, [], TIMESTAMPTZ, (context) => context.transactionMicros),
  ),
  contextFn("statement_timestamp", [], TIMESTAMPTZ, (context) => context.statementMicros),
  fn("clock_timestamp", [], TIMESTAMPTZ, () => Date.now() * 1000, { volatility: "volatile" }),
  ...["current_date", "curdate"].map((name) =>
    contextFn(name, [], DATE, (context) => splitTimestamp(nowLocal(context)).days),
  ),
  ...clock<Timestamp>("current_timestamp", TIMESTAMPTZ, (context) => context.transactionMicros, roundTimestamp),
  ...clock("localtimestamp", TIMESTAMP, nowLocal, roundTimestamp),
  ...clock("localtime", TIME, (context) => timeOfDay(nowLocal(context)), roundMicros),
  ...clock<TimeTz>(
    "current_time",
    TIMETZ,
    (context) => ({
      micros: timeOfDay(nowLocal(context)),
      offset: offsetAt(context.timeZone, context.transactionMicros),
    }),
    (time, digits) => ({ ...time, micros: roundMicros(time.micros, digits) }),
  ),
];

/** Whole seconds east of UTC of an interval used as a zone. */
function zoneOffset(interval: Interval): number {
  if (interval.months !== 0 || interval.days !== 0) {
    throw sqlError("22023", `interval time zone "${intervalToText(interval)}" must not include months or days`);
  }
  return splitMicros(interval.micros, SECOND_MICROS).whole;
}

/** Moved by so many times the offset of an interval used as a zone. */
function zoneMoved(timestamp: Timestamp, zone: Interval, times: 1 | -1): Timestamp {
  return checkedTimestamp(addMicros(timestamp, times * zoneOffset(zone) * SECOND_MICROS));
}

/** AT TIME ZONE, which the grammar gives as timezone(zone, value). */
function timeTzAt({ micros, offset: before }: TimeTz, offset: number): TimeTz {
  return { micros: wrapTime(micros + (offset - before) * SECOND_MICROS), offset };
}

const ZONES: readonly ScalarFunction[] = [
  fn("timezone", [TEXT, TIMESTAMPTZ], TIMESTAMP, (zone: string, instant: Timestamp) => localTimestamp(instant, zone)),
  fn("timezone", [TEXT, TIMESTAMP], TIMESTAMPTZ, (zone: string, local: Timestamp) => instantOf(local, zone)),
  fn("timezone", [INTERVAL, TIMESTAMPTZ], TIMESTAMP, (zone: Interval, instant: Timestamp) =>
    zoneMoved(instant, zone, 1),
  ),
  fn("timezone", [INTERVAL, TIMESTAMP], TIMESTAMPTZ, (zone: Interval, local: Timestamp) => zoneMoved(local, zone, -1)),
  contextFn("timezone", [TEXT, TIMETZ], TIMETZ, (context, zone: string, time: TimeTz) =>
    timeTzAt(time, offsetAt(zone, context.transactionMicros)),
  ),
  fn("timezone", [INTERVAL, TIMETZ], TIMETZ, (zone: Interval, time: TimeTz) => timeTzAt(time, zoneOffset(zone))),
];

const pad2 = (x: number) => String(x).padStart(2, "0");
const dateSpelled = (year: number, month: number, day: number) => `${year}-${pad2(month)}-${pad2(day)}`;
const timeSpelled = (hour: number, minute: number, seconds: number) => `${hour}:${pad2(minute)}:${pad2(seconds)}`;

function makeDate(year: number, month: number, day: number): number {
  const astronomical = year < 0 ? year + 1 : year;
  if (year === 0 || month < 1 || month > 12 || day < 1 || day > daysInMonth(astronomical, month)) {
    throw sqlError("22008", `date field value out of range: ${dateSpelled(year, month, day)}`);
  }
  return checkedDate(daysFromCivil(astronomical, month, day));
}

function makeTime(hour: number, minute: number, seconds: number): number {
  const past = hour === 24 && (minute > 0 || seconds > 0);
  if (hour < 0 || hour > 24 || minute < 0 || minute > 59 || !(seconds >= 0 && seconds <= 60) || past) {
    throw sqlError("22008", `time field value out of range: ${timeSpelled(hour, minute, seconds)}`);
  }
  return hour * HOUR_MICROS + minute * MINUTE_MICROS + roundHalfEven(seconds * SECOND_MICROS);
}

type Parts = [year: number, month: number, day: number, hour: number, minute: number, seconds: number];
const PARTS: readonly SqlType[] = [INT4, INT4, INT4, INT4, INT4, FLOAT8];

function makeTimestamp(...[year, month, day, hour, minute, seconds]: Parts): Timestamp {
  const timestamp = timestampAt(makeDate(year, month, day), makeTime(hour, minute, seconds));
  return inRange(timestamp, `${dateSpelled(year, month, day)} ${timeSpelled(hour, minute, seconds)}`);
}

/** Throws 22008 with what was given. */
function inRange(timestamp: Timestamp, given: string): Timestamp {
  try {
    return checkedTimestamp(timestamp);
  } catch {
    throw sqlError("22008", `timestamp out of range: ${given}`);
  }
}

/** PostgreSQL counts from 2000, which shows in the last digit. */
const SECONDS_TO_2000 = 946_684_800;

function fromSeconds(seconds: number): Timestamp {
  if (Number.isNaN(seconds)) throw sqlError("22008", "timestamp cannot be NaN");
  if (!Number.isFinite(seconds)) return seconds;
  const micros = roundHalfEven((seconds - SECONDS_TO_2000) * SECOND_MICROS);
  const timestamp = Number.isFinite(micros) ? addMicros(SECONDS_TO_2000 * SECOND_MICROS, micros) : Number.NaN;
  return inRange(timestamp, `"${Number(seconds.toPrecision(6)).toExponential()}"`);
}

/** make_interval(years, months, weeks, days, hours, mins, secs); later ones may be left out. */
function intervalOf(years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0): Interval {
  const rest = minutes * MINUTE_MICROS + roundHalfEven(seconds * SECOND_MICROS);
  const micros = Number.isFinite(rest) ? plusMicros(hours * HOUR_MICROS, rest) : Number.NaN;
  return makeInterval(years * 12 + months, weeks * 7 + days, micros);
}

/** A zone in numbers is an offset east of Greenwich here, as in times that are written. Throws 22023. */
function inZone(timestamp: Timestamp, zone: string): Timestamp {
  if (/^\d/.test(zone)) {
    throw sqlError("22023", `invalid input syntax for type numeric time zone: "${zone}"`, {
      hint: 'Numeric time zones must have "-" or "+" as first character.',
    });
  }
  const number = /^([+-])(\d+)(?::(\d*)(?::(\d*))?)?$/.exec(zone);
  if (number === null) return instantOf(timestamp, zone);
  const [, sign, digits, ...rest] = number;
  const isJoined = rest[0] === undefined && digits!.length > 2;
  const hours = isJoined ? Math.floor(Number(digits) / 100) : Number(digits);
  const [minutes, seconds] = [isJoined ? Number(digits) % 100 : Number(rest[0] ?? 0), Number(rest[1] ?? 0)];
  if (hours > 15 || minutes > 59 || seconds > 59) {
    throw sqlError("22023", `numeric time zone "${zone}" out of range`);
  }
  const east = (hours * 3600 + minutes * 60 + seconds) * SECOND_MICROS;
  return addMicros(timestamp, sign === "-" ? east : -east);
}

const INTERVAL_PARTS: readonly SqlType[] = [INT4, INT4, INT4, INT4, INT4, INT4, FLOAT8];

const MAKING: readonly ScalarFunction[] = [
  fn("make_date", [INT4, INT4, INT4], DATE, makeDate),
  fn("make_time", [INT4, INT4, FLOAT8], TIME, makeTime),
  fn("make_timestamp", PARTS, TIMESTAMP, makeTimestamp),
  contextFn("make_timestamptz", PARTS, TIMESTAMPTZ, (context, ...parts: Parts) =>
    instantOf(makeTimestamp(...parts), context.timeZone),
  ),
  fn("make_timestamptz", [...PARTS, TEXT], TIMESTAMPTZ, (...values: [...Parts, string]) => {
    const [year, month, day, hour, minute, seconds, zone] = values;
    return inZone(makeTimestamp(year, month, day, hour, minute, seconds), zone);
  }),
  ...INTERVAL_PARTS.map((_, i) => fn("make_interval", INTERVAL_PARTS.slice(0, i + 1), INTERVAL, intervalOf)),
  fn("make_interval", [], INTERVAL, () => intervalOf()),
  fn("to_timestamp", [FLOAT8], TIMESTAMPTZ, fromSeconds),
  fn("justify_hours", [INTERVAL], INTERVAL, justifyHours),
  fn("justify_days", [INTERVAL], INTERVAL, justifyDays),
  fn("justify_interval", [INTERVAL], INTERVAL, justifyInterval),
];

/** The difference in years, months, days and time, counting from the earlier point (timestamp.c, timestamp_age). */
function age(a: Timestamp, b: Timestamp): Interval {
  if (!isFiniteTimestamp(a) || !isFiniteTimestamp(b)) throw sqlError("22008", "timestamp out of range");
  if (a < b) return negateInterval(age(b, a));
  const later = splitTimestamp(a);
  const earlier = splitTimestamp(b);
  const to = civilFromDays(later.days);
  const from = civilFromDays(earlier.days);
  let months = (to.year - from.year) * 12 + to.month - from.month;
  let days = to.day - from.day;
  let micros = later.micros - earlier.micros;
  if (micros < 0) {
    micros += DAY_MICROS;
    days--;
  }
  if (days < 0) {
    days += daysInMonth(from.year, from.month);
    months--;
  }
  return makeInterval(months, days, micros);
}

const todayLocal = (context: EvalContext) => timestampAt(splitTimestamp(nowLocal(context)).days);

const AGES: readonly ScalarFunction[] = [
  fn("age", [TIMESTAMP, TIMESTAMP], INTERVAL, age),
  // Numbers of transactions do not wrap around here.
  fn("age", [typeOf("xid")], INT4, () => 0),
  contextFn("age", [TIMESTAMPTZ, TIMESTAMPTZ], INTERVAL, (context, a: Timestamp, b: Timestamp) =>
    age(localReading(a, context.timeZone), localReading(b, context.timeZone)),
  ),
  contextFn("age", [TIMESTAMP], INTERVAL, (context, timestamp: Timestamp) => age(todayLocal(context), timestamp)),
  contextFn("age", [TIMESTAMPTZ], INTERVAL, (context, instant: Timestamp) =>
    age(todayLocal(context), localReading(instant, context.timeZone)),
  ),
  ...[DATE, TIMESTAMP, TIMESTAMPTZ].map((type) => fn("isfinite", [type], BOOL, isFiniteTimestamp)),
  fn("isfinite", [INTERVAL], BOOL, () => true),
  contextFn("timestamptz", [DATE, TIME], TIMESTAMPTZ, (context, date: number, time: number) =>
    instantOf(moment(date, time), context.timeZone),
  ),
  fn("timestamptz", [DATE, TIMETZ], TIMESTAMPTZ, zonedMoment),
  fn("timestamp", [DATE, TIME], TIMESTAMP, moment),
];

/** SQLite's DATE('now', '-90 days') and DATETIME(…): a point in time and changes to it, in order. */
function modifiedPoint(context: EvalContext, point: string, changes: readonly string[]): Timestamp {
  return changes.reduce(
    (timestamp, change) => {
      const start = /^start of (day|month|year)$/i.exec(change.trim());
      if (start === null) return addToTimestamp(timestamp, parseInterval(change));
      const { days } = splitTimestamp(timestamp);
      const { year, month } = civilFromDays(days);
      const unit = (start[1] as string).toLowerCase();
      return timestampAt(unit === "day" ? days : daysFromCivil(year, unit === "month" ? month : 1, 1));
    },
    parseTimestamp(point, clockOf(context)),
  );
}

const SQLITE: readonly ScalarFunction[] = [
  contextFn("date", [TEXT], DATE, (context, text: string) => parseDate(text, clockOf(context))),
  contextFn(
    "date",
    [TEXT, TEXT],
    DATE,
    (context, point: string, ...changes: string[]) => splitTimestamp(modifiedPoint(context, point, changes)).days,
    { variadic: TEXT },
  ),
  contextFn(
    "datetime",
    [TEXT],
    TIMESTAMP,
    (context, point: string, ...changes: string[]) => modifiedPoint(context, point, changes),
    { variadic: TEXT },
  ),
];

export const DATETIME_FUNCTIONS: readonly ScalarFunction[] = [
  ...CLOCKS,
  ...ZONES,
  ...MAKING,
  ...AGES,
  ...SQLITE,
  ...DATETIME_FIELDS,
];
