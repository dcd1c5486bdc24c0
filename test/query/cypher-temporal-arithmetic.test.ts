/** Cypher's temporal values added, subtracted, multiplied and compared, and their laws on random values. */
import fc from "fast-check";
import t from "tap";
import {
  addTemporal,
  divideTemporal,
  multiplyTemporal,
  subtractTemporal,
} from "../../src/query/expr/cypher/temporal-operators.js";
import { zonedAtInstant } from "../../src/query/expr/cypher/temporal-zone.js";
import {
  CypherDate,
  Duration,
  LocalDateTime,
  LocalTime,
  type Temporal,
  ZonedDateTime,
  ZonedTime,
} from "../../src/values/temporal.js";
import { compareTemporal, temporalKey } from "../../src/values/temporal-order.js";
import { Float } from "../../src/values/variant.js";
import { call, date, datetime, duration, errorOf, localdatetime, text } from "./temporal-calls.js";

t.test("arithmetic", async (t) => {
  const long = duration({ years: 12, months: 5, days: 14, hours: 16, minutes: 12, seconds: 70, nanoseconds: 2 });
  const sums: [Temporal, Duration, string, string][] = [
    [date("1984-10-11"), long, "1997-03-25", "1972-04-27"],
    [date("2011-01-31"), duration("P1M"), "2011-02-28", "2010-12-31"],
    // Only whole days of the clock move a date.
    [date("2011-01-31"), duration("PT47H"), "2011-02-01", "2011-01-30"],
    [date("2011-01-31"), duration("PT-23H-59M-59.5S"), "2011-01-31", "2011-01-31"],
    [call("localtime", "12:31:14.000000001") as Temporal, long, "04:44:24.000000003", "20:18:03.999999999"],
    [call("time", "12:31:14+01:00") as Temporal, long, "04:44:24.000000002+01:00", "20:18:03.999999998+01:00"],
    [localdatetime("1984-10-11T12:31:14"), long, "1997-03-26T04:44:24.000000002", "1972-04-26T20:18:03.999999998"],
    // A day is the calendar's, 24 hours the clock's.
    [
      datetime("2017-10-28T12:00[Europe/Stockholm]"),
      duration("P1D"),
      "2017-10-29T12:00+01:00[Europe/Stockholm]",
      "2017-10-27T12:00+02:00[Europe/Stockholm]",
    ],
    [
      datetime("2017-10-28T12:00[Europe/Stockholm]"),
      duration("PT24H"),
      "2017-10-29T11:00+01:00[Europe/Stockholm]",
      "2017-10-27T12:00+02:00[Europe/Stockholm]",
    ],
    [
      datetime("2017-10-29T02:30+01:00[Europe/Stockholm]"),
      duration("PT1H"),
      "2017-10-29T03:30+01:00[Europe/Stockholm]",
      "2017-10-29T02:30+02:00[Europe/Stockholm]",
    ],
    [long, long, "P24Y10M28DT32H26M20.000000004S", "PT0S"],
    [duration("PT0.5S"), duration("PT-0.7S"), "PT-0.2S", "PT1.2S"],
  ];
  for (const [value, by, sum, difference] of sums) {
    t.equal(text(addTemporal(value, by)), sum);
    t.equal(text(addTemporal(by, value)), sum);
    t.equal(text(subtractTemporal(value, by)), difference);
  }
  t.equal(text(multiplyTemporal(long, 2)), "P24Y10M28DT32H26M20.000000004S");
  t.equal(text(multiplyTemporal(0.5, long)), "P6Y2M22DT13H21M8.000000001S");
  t.equal(text(divideTemporal(long, 2)), "P6Y2M22DT13H21M8.000000001S");
  t.equal(text(divideTemporal(duration("PT1S"), -3)), "PT-0.333333333S");
  t.equal(text(divideTemporal(duration("PT3H16M"), new Float(2))), "PT1H38M");
  t.equal(
    errorOf(() => divideTemporal(long, 0)),
    "ArithmeticError DivisionByZero",
  );
  t.equal(
    errorOf(() => multiplyTemporal(long, Number.NaN)),
    "ArithmeticError NumberOutOfRange",
  );
  t.equal(
    errorOf(() => addTemporal(date("+999999999-12-31"), duration("P1D"))),
    "ArithmeticError NumberOutOfRange",
  );
  t.equal(
    errorOf(() => addTemporal(date("2024"), duration("P99999999999999Y"))),
    "ArithmeticError NumberOutOfRange",
  );
  t.equal(
    errorOf(() => subtractTemporal(date("2024"), date("2023"))),
    "TypeError InvalidArgumentType",
  );
  t.equal(
    errorOf(() => multiplyTemporal(date("2024"), 2)),
    "TypeError InvalidArgumentType",
  );
});

t.test("durations between", async (t) => {
  const between = (from: Temporal, to: Temporal) => text(call("duration.between", from, to));
  t.equal(between(date("2016-01-31"), date("2016-02-29")), "P29D");
  t.equal(between(date("2016-01-31"), date("2016-03-01")), "P1M1D");
  t.equal(between(date("2016-03-01"), date("2016-01-31")), "P-1M-1D");
  t.equal(between(localdatetime("2016-03-01T12:00"), date("2016-03-03")), "P1DT12H");
  t.equal(text(call("duration.inmonths", call("localtime", "12:00"), call("localtime", "13:00"))), "PT0S");
  t.equal(text(call("duration.indays", date("-999999999-01-01"), date("+999999999-12-31"))), "P730484999633D");
  t.equal(
    errorOf(() => call("duration.between", date("2016-01-31"), duration("P1D"))),
    "TypeError InvalidArgumentType",
  );
});

const DAY = 86_400e9;
const days = fc.oneof(fc.integer({ min: -800_000, max: 800_000 }), fc.integer({ min: -300e9, max: 300e9 }));
const nanos = fc.oneof(
  fc.integer({ min: 0, max: 86_399 }).map((s) => s * 1e9),
  fc.maxSafeInteger().map((n) => ((n % DAY) + DAY) % DAY),
);
const offset = fc.oneof(fc.constant(0), fc.integer({ min: -64_800, max: 64_800 }));
const zone = fc.constantFrom(
  "Europe/Stockholm",
  "America/New_York",
  "Asia/Kolkata",
  "Africa/Monrovia",
  "Australia/Lord_Howe",
);
const whole = fc.integer({ min: -1_000_000, max: 1_000_000 });
const dates = days.map((x) => new CypherDate(x));
const locals = fc.tuple(days, nanos).map((x) => new LocalDateTime(...x));
const zoned = fc.oneof(
  fc.tuple(days, nanos, offset).map(([d, n, o]) => new ZonedDateTime(d, n, o, null)),
  fc.tuple(days, nanos, zone).map(([d, n, z]) => zonedAtInstant(d, n, z)),
);
const durations = fc
  .tuple(whole, whole, fc.maxSafeInteger(), fc.integer({ min: 0, max: 999_999_999 }))
  .map((x) => new Duration(...x));
const anyTemporal = fc.oneof<fc.Arbitrary<Temporal>[]>(
  dates,
  nanos.map((x) => new LocalTime(x)),
  fc.tuple(nanos, offset).map((x) => new ZonedTime(...x)),
  locals,
  zoned,
  durations,
);

function functionOf(value: Temporal): string {
  if (value instanceof CypherDate) return "date";
  if (value instanceof LocalTime) return "localtime";
  if (value instanceof ZonedTime) return "time";
  if (value instanceof LocalDateTime) return "localdatetime";
  return value instanceof ZonedDateTime ? "datetime" : "duration";
}

t.test("what is printed is read back", async () => {
  fc.assert(
    fc.property(anyTemporal, (value) => {
      const read = call(functionOf(value), text(value)) as Temporal;
      return temporalKey(read) === temporalKey(value) && compareTemporal(read, value) === 0;
    }),
    { numRuns: 2000 },
  );
});

t.test("an instant is where the duration between leads, and less it where it came from", async () => {
  const clock = fc
    .tuple(fc.maxSafeInteger(), fc.integer({ min: 0, max: 999_999_999 }))
    .map(([s, n]) => new Duration(0, 0, s % 1e13, n));
  const near = fc.oneof(locals, zoned).filter((x) => Math.abs(x.days) < 200e9);
  fc.assert(
    fc.property(near, clock, (value, by) => {
      const there = addTemporal(value, by) as Temporal;
      const back = subtractTemporal(there, by) as Temporal;
      const between = call("duration.inseconds", value, there) as Temporal;
      return compareTemporal(back, value) === 0 && compareTemporal(between, by) === 0;
    }),
    { numRuns: 1000 },
  );
  const pairs = fc.oneof(fc.tuple(locals, locals), fc.tuple(dates, dates), fc.tuple(zoned, zoned));
  fc.assert(
    fc.property(pairs, ([from, to]) => {
      const there = addTemporal(from, call("duration.between", from, to)) as Temporal;
      if (!(there instanceof ZonedDateTime)) return compareTemporal(there, to) === 0;
      return text(call("duration.inseconds", there, to)) === "PT0S";
    }),
    { numRuns: 1000 },
  );
});

t.test("durations add as their parts do, and a product is divided back", async (t) => {
  const [far, near] = [new Duration(0, 0, -9_007_199_254_740_973, 15), new Duration(0, 0, -20, 999_999_985)];
  t.equal(
    temporalKey(subtractTemporal(addTemporal(far, near), near) as Temporal),
    temporalKey(far),
    "beyond exact sums",
  );
  fc.assert(
    fc.property(durations, durations, fc.integer({ min: 1, max: 1000 }), (a, b, n) => {
      const back = subtractTemporal(addTemporal(a, b), b) as Temporal;
      const same = divideTemporal(multiplyTemporal(a, n) as Temporal, n) as Temporal;
      return temporalKey(back) === temporalKey(a) && temporalKey(same) === temporalKey(a);
    }),
    { numRuns: 1000 },
  );
});
