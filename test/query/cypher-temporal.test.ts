import t from "tap";
import { temporalComponent } from "../../src/query/expr/cypher/temporal-components.js";
import type { Temporal } from "../../src/values/temporal.js";
import { regionOffsetAt } from "../../src/values/time-zone.js";
import { Float, type Variant } from "../../src/values/variant.js";
import { call, callIn, date, datetime, duration, errorOf, localdatetime, text, UTC } from "./temporal-calls.js";

t.test("instants from text", async (t) => {
  const cases: Record<string, Record<string, string>> = {
    date: {
      "2015-07-21": "2015-07-21",
      "20150721": "2015-07-21",
      "2015-07": "2015-07-01",
      "201507": "2015-07-01",
      "2015-W30-2": "2015-07-21",
      "2015W302": "2015-07-21",
      "2015-W30": "2015-07-20",
      "2015W30": "2015-07-20",
      "2015-202": "2015-07-21",
      "2015202": "2015-07-21",
      "2015-Q2-60": "2015-05-30",
      "2015Q260": "2015-05-30",
      "2015-Q3": "2015-07-01",
      "2015": "2015-01-01",
      "2020-W53-7": "2021-01-03",
      "+2015-W13-4": "2015-03-26",
      "+12345-02": "+12345-02-01",
      "-0044-03-15": "-0044-03-15",
      "0000-02-29": "0000-02-29",
      "-999999999-01-01": "-999999999-01-01",
      "+999999999-12-31": "+999999999-12-31",
    },
    localtime: {
      "21:40:32.142": "21:40:32.142",
      "214032,142": "21:40:32.142",
      T21: "21:00",
      "2140": "21:40",
      "21:40:32.000000001": "21:40:32.000000001",
    },
    time: {
      "21:40:32.142+0100": "21:40:32.142+01:00",
      "214032.142Z": "21:40:32.142Z",
      "21:40-01:30": "21:40-01:30",
      "2140-00:00": "21:40Z",
      "22+18:00": "22:00+18:00",
      "12:34:56-02:05:07": "12:34:56-02:05:07",
      "21:40": "21:40Z",
    },
    localdatetime: {
      "2015-W30-2T214032.142": "2015-07-21T21:40:32.142",
      "2015T21": "2015-01-01T21:00",
      "2015-07-21": "2015-07-21T00:00",
    },
    datetime: {
      "2015-07-21T21:40:32.142+0100": "2015-07-21T21:40:32.142+01:00",
      "2015-202T21:40:32": "2015-07-21T21:40:32Z",
      "2015-07-21T21:40[Europe/London]": "2015-07-21T21:40+01:00[Europe/London]",
      "2015-07-21T21:40:32.142-04[America/New_York]": "2015-07-21T21:40:32.142-04:00[America/New_York]",
      "2015-07-21T21:40+0845[australia/eucla]": "2015-07-21T21:40+08:45[Australia/Eucla]",
      // A clock that is set back shows both; without an offset, the first is meant.
      "2017-10-29T02:30[Europe/Stockholm]": "2017-10-29T02:30+02:00[Europe/Stockholm]",
      "2017-10-29T02:30+01:00[Europe/Stockholm]": "2017-10-29T02:30+01:00[Europe/Stockholm]",
      // One that is set forward never shows it.
      "2017-03-26T02:30[Europe/Stockholm]": "2017-03-26T03:30+02:00[Europe/Stockholm]",
    },
  };
  for (const [name, texts] of Object.entries(cases)) {
    for (const [given, wanted] of Object.entries(texts))
      t.equal(text(call(name, given)), wanted, `${name}('${given}')`);
  }
  // Before there were zones, a place kept its own mean time.
  const offset = regionOffsetAt("Europe/Stockholm", Date.UTC(1818, 6, 21) / 1000);
  t.ok(offset % 60 !== 0);
  t.equal(datetime("1818-07-21T21:40:32.142[Europe/Stockholm]").offset, offset);
});

t.test("text that is no instant", async (t) => {
  const wrong: Record<string, string[]> = {
    date: [
      "",
      "15-07-21",
      "2015-13-01",
      "2015-02-29",
      "2015-W54",
      "2014-W53",
      "2015-366",
      "2015-Q5",
      "12015-01",
      "2015-7-1",
      "+1234567890-01-01",
    ],
    localtime: ["24:00", "12:60", "12:00:60", "1", "12:3", "12:30:00.0000000001", "12:3000", "12:30Z"],
    time: ["12:00+19:00", "12:00+01:60", "12:00 +01:00", "12:00[Europe/London]"],
    localdatetime: ["2015-07-21T", "2015-07-21 12:00", "2015-07-21T12:00Z"],
    datetime: [
      "2015-07-21T12:00[Europe/Atlantis]",
      "2015-07-21T12:00+05:00[Europe/London]",
      "2017-03-26T02:30+01:00[Europe/Stockholm]",
    ],
    duration: ["", "P", "PT", "P1", "P1DT", "1D", "P1H", "PT1D", "P2012-13-02T14:37:21", "P1.D", "P--1D"],
  };
  for (const [name, texts] of Object.entries(wrong)) {
    for (const given of texts) {
      t.equal(
        errorOf(() => call(name, given)),
        "ArgumentError InvalidArgumentValue",
        `${name}('${given}')`,
      );
    }
  }
});

t.test("durations", async (t) => {
  const texts: Record<string, string> = {
    P14DT16H12M: "P14DT16H12M",
    "P5M1.5D": "P5M1DT12H",
    "P0.75M": "P22DT19H51M49.5S",
    "PT0.75M": "PT45S",
    "P2.5W": "P17DT12H",
    P12Y5M14DT16H12M70S: "P12Y5M14DT16H13M10S",
    "P2012-02-02T14:37:21.545": "P2012Y2M2DT14H37M21.545S",
    P20120202T143721: "P2012Y2M2DT14H37M21S",
    "-P1Y2DT3H": "P-1Y-2DT-3H",
    "P1Y-14M": "P-2M",
    "PT-0.000000001S": "PT-0.000000001S",
    PT63113903968377599S: "PT17531639991215H59M59S",
  };
  for (const [given, wanted] of Object.entries(texts)) t.equal(text(duration(given)), wanted, given);
  const maps: [object, string][] = [
    [{ months: -0.75 }, "P-22DT-19H-51M-49.5S"],
    [
      { years: 12.5, months: 5.5, days: 14.5, hours: 16.5, minutes: 12.5, seconds: 70.5, nanoseconds: 3 },
      "P12Y11M29DT33H58M13.500000003S",
    ],
    // Decimal fractions are what they say, to the last digit.
    [{ seconds: 1.001, milliseconds: 0.3 }, "PT1.0013S"],
    [{ days: new Float(2), quarters: 1, weeks: 1, microseconds: 1 }, "P3M9DT0.000001S"],
    [{ nanoseconds: 1.9 }, "PT0.000000001S"],
    [{ seconds: 9_007_199_254_740_993n, nanoseconds: -1 }, "PT2501999792983H36M32.999999999S"],
  ];
  for (const [given, wanted] of maps) t.equal(text(duration(given)), wanted, wanted);
  t.equal(
    errorOf(() => duration({})),
    "ArgumentError InvalidArgumentValue",
  );
  t.equal(
    errorOf(() => duration({ fortnights: 1 })),
    "ArgumentError InvalidArgumentValue",
  );
  t.equal(
    errorOf(() => duration({ days: "1" })),
    "ArgumentError InvalidArgumentValue",
  );
  t.equal(
    errorOf(() => duration({ seconds: 2n ** 62n, minutes: 2n ** 60n })),
    "ArithmeticError NumberOutOfRange",
  );
});

t.test("instants from fields", async (t) => {
  const other = {
    date: date("1984-11-11"),
    time: call("time", "12:31:14.645876+01:00"),
    local: localdatetime("1984-03-07T12:31:14.645"),
    zoned: datetime("1984-10-11T12:00+01:00[Europe/Stockholm]"),
  };
  const cases: [string, object, string][] = [
    ["date", { year: 1984, quarter: 3, dayOfQuarter: 45 }, "1984-08-14"],
    ["date", { date: other.date, year: 28 }, "0028-11-11"],
    ["date", { date: other.date, day: 28 }, "1984-11-28"],
    ["date", { date: other.date, week: 1 }, "1984-01-08"],
    ["date", { date: other.date, ordinalDay: 28 }, "1984-01-28"],
    ["date", { date: other.date, quarter: 3 }, "1984-08-11"],
    ["date", { date: date("1984-05-31"), quarter: 1 }, "1984-02-29"],
    ["date", { date: date("1984-02-29"), year: 1985 }, "1985-02-28"],
    ["date", { date: other.zoned, month: 2 }, "1984-02-11"],
    ["localtime", { time: other.zoned, second: 42 }, "12:00:42"],
    ["localtime", { time: other.time, millisecond: 2 }, "12:31:14.002"],
    ["time", { time: other.time, timezone: "+05:00" }, "16:31:14.645876+05:00"],
    ["time", { time: other.time, second: 42, timezone: "-13:00" }, "22:31:42.645876-13:00"],
    ["time", { time: other.local, timezone: "+05:00" }, "12:31:14.645+05:00"],
    ["time", { time: other.zoned }, "12:00+01:00"],
    ["localdatetime", { date: other.date, time: other.time }, "1984-11-11T12:31:14.645876"],
    ["localdatetime", { datetime: other.zoned, day: 28, second: 42 }, "1984-10-28T12:00:42"],
    ["localdatetime", { year: 1984, time: other.time }, "1984-01-01T12:31:14.645876"],
    ["datetime", { date: other.zoned, hour: 10, minute: 10 }, "1984-10-11T10:10Z"],
    ["datetime", { date: other.date, time: other.zoned }, "1984-11-11T12:00+01:00[Europe/Stockholm]"],
    ["datetime", { datetime: other.zoned, timezone: "Pacific/Honolulu" }, "1984-10-11T01:00-10:00[Pacific/Honolulu]"],
    [
      "datetime",
      { datetime: other.local, timezone: "Pacific/Honolulu" },
      "1984-03-07T12:31:14.645-10:00[Pacific/Honolulu]",
    ],
    [
      "datetime",
      { year: 1984, month: 7, timezone: "America/Los Angeles" },
      "1984-07-01T00:00-07:00[America/Los_Angeles]",
    ],
    ["datetime", { epochSeconds: 416_779, nanosecond: 1 }, "1970-01-05T19:46:19.000000001Z"],
    ["datetime", { epochMillis: -1, timezone: "+01:00" }, "1970-01-01T00:59:59.999+01:00"],
  ];
  for (const [name, map, wanted] of cases) t.equal(text(call(name, map)), wanted, `${name} ${wanted}`);
});

t.test("fields that do not fit", async (t) => {
  const zoned = datetime("1984-10-11T12:00Z");
  const wrong: [string, object][] = [
    ["date", {}],
    ["date", { month: 1 }],
    ["date", { year: 1984, day: 1 }],
    ["date", { year: 1984, dayOfWeek: 1 }],
    ["date", { year: 1984, month: 1, week: 1 }],
    ["date", { year: 1984, month: 13 }],
    ["date", { year: 1983, month: 2, day: 29 }],
    ["date", { year: 1984, hour: 1 }],
    ["date", { year: new Float(1984) }],
    ["date", { year: null }],
    ["date", { year: 1_000_000_000 }],
    ["date", { date: call("localtime", "12:00") }],
    ["localtime", { minute: 1 }],
    ["localtime", { hour: 1, second: 1 }],
    ["localtime", { hour: 24 }],
    ["localtime", { hour: 1, minute: 1, second: 1, millisecond: 1, microsecond: 1000 }],
    ["localtime", { hour: 1, timezone: "Z" }],
    ["datetime", { year: 1984, hour: 1 }],
    ["datetime", { datetime: zoned, time: zoned }],
    ["datetime", { epochSeconds: 1, year: 1984 }],
    ["datetime", { year: 1984, timezone: "Nowhere" }],
  ];
  for (const [name, map] of wrong) {
    t.equal(
      errorOf(() => call(name, map)),
      "ArgumentError InvalidArgumentValue",
      `${name} ${JSON.stringify(map)}`,
    );
  }
  t.equal(
    errorOf(() => date(5)),
    "TypeError InvalidArgumentType",
  );
  t.equal(
    errorOf(() => date(call("time", "12:00"))),
    "ArgumentError InvalidArgumentValue",
  );
});

t.test("the present", async (t) => {
  t.equal(text(call("datetime")), "2024-02-29T23:30:08.123456Z");
  t.equal(text(call("date.transaction")), "2024-02-29");
  t.equal(text(call("localtime.transaction")), "13:05:07");
  t.equal(text(call("date.statement", "Asia/Tokyo")), "2024-03-01");
  t.equal(text(call("time", { timezone: "Asia/Tokyo" })), "08:30:08.123456+09:00");
  const session = { ...UTC, timeZone: "America/New_York" };
  t.equal(text(callIn(session, "datetime")), "2024-02-29T18:30:08.123456-05:00[America/New_York]");
  t.equal(text(callIn(session, "datetime", "2024-07-01T12:00")), "2024-07-01T12:00-04:00[America/New_York]");
  t.equal(text(callIn(session, "time", "12:00")), "12:00-05:00");
  t.equal(text(callIn({ ...UTC, timeZone: "PST8" }, "localdatetime")), "2024-02-29T15:30:08.123456");
  t.ok(Math.abs(Number(temporalComponent(call("datetime.realtime") as Temporal, "epochMillis")) - Date.now()) < 5000);
});

t.test("truncation", async (t) => {
  const local = localdatetime("-0001-11-11T12:31:14.645876123");
  const wanted: Record<string, string> = {
    millennium: "-1000-01-01T00:00",
    century: "-0100-01-01T00:00",
    decade: "-0010-01-01T00:00",
    year: "-0001-01-01T00:00",
    quarter: "-0001-10-01T00:00",
    month: "-0001-11-01T00:00",
    day: "-0001-11-11T00:00",
    minute: "-0001-11-11T12:31",
    millisecond: "-0001-11-11T12:31:14.645",
  };
  for (const [unit, text_] of Object.entries(wanted)) t.equal(text(call("localdatetime.truncate", unit, local)), text_);
  t.equal(text(call("localtime.truncate", "microsecond", local, { nanosecond: 7 })), "12:31:14.645876007");
  t.equal(text(call("localtime.truncate", "millisecond", local, { microsecond: 7 })), "12:31:14.645007");
  t.equal(text(call("date.truncate", "week", date("2024-02-29"), { dayOfWeek: 7 })), "2024-03-03");
  t.equal(text(call("date.truncate", "month")), "2024-02-01");
  const summer = datetime("2017-10-29T02:30+01:00[Europe/Stockholm]");
  t.equal(text(call("datetime.truncate", "hour", summer)), "2017-10-29T02:00+01:00[Europe/Stockholm]");
  t.equal(text(call("datetime.truncate", "day", summer)), "2017-10-29T00:00+02:00[Europe/Stockholm]");
  for (const [name, ...args] of [
    ["date.truncate", "hour", local],
    ["localtime.truncate", "month", local],
    ["datetime.truncate", "hour", date("2024-02-29")],
    ["time.truncate", "day", date("2024-02-29")],
    ["date.truncate", "day", call("localtime", "12:00")],
    ["date.truncate", "fortnight", local],
    ["date.truncate", "month", local, { month: 2 }],
    ["localtime.truncate", "millisecond", local, { microsecond: 1000 }],
  ] as [string, ...unknown[]][]) {
    t.equal(
      errorOf(() => call(name, ...args)),
      "ArgumentError InvalidArgumentValue",
      `${name} ${args[0]}`,
    );
  }
});

t.test("components", async (t) => {
  const cases: [Temporal, Record<string, Variant>][] = [
    [
      date("1984-10-11"),
      {
        year: 1984,
        quarter: 4,
        month: 10,
        week: 41,
        weekYear: 1984,
        day: 11,
        ordinalDay: 285,
        weekDay: 4,
        dayOfQuarter: 11,
      },
    ],
    [date("1984-01-01"), { week: 52, weekYear: 1983, weekday: 7, year: 1984 }],
    [
      call("time", "12:31:14.645876123-01:30") as Temporal,
      {
        hour: 12,
        minute: 31,
        second: 14,
        millisecond: 645,
        microsecond: 645_876,
        nanosecond: 645_876_123,
        timezone: "-01:30",
        offset: "-01:30",
        offsetMinutes: -90,
        offsetSeconds: -5400,
      },
    ],
    [
      datetime("1984-11-11T12:31:14.645876123+01:00[Europe/Stockholm]"),
      { timezone: "Europe/Stockholm", offset: "+01:00", epochSeconds: 469_020_674, epochMillis: 469_020_674_645 },
    ],
    [datetime("1969-12-31T23:59:59.999Z"), { epochSeconds: -1, epochMillis: -1, timezone: "Z" }],
    [
      datetime("+999999999-12-31T23:59:59.999Z"),
      { epochSeconds: 31_556_889_832_780_799n, epochMillis: 31_556_889_832_780_799_999n },
    ],
    [
      duration({ years: 1, months: 4, days: 10, hours: 1, minutes: 1, seconds: 1, nanoseconds: 111_111_111 }),
      {
        years: 1,
        quarters: 5,
        months: 16,
        weeks: 1,
        days: 10,
        hours: 1,
        minutes: 61,
        seconds: 3661,
        milliseconds: 3_661_111,
        microseconds: 3_661_111_111,
        nanoseconds: 3_661_111_111_111,
        quartersOfYear: 1,
        monthsOfYear: 4,
        monthsOfQuarter: 1,
        daysOfWeek: 3,
        minutesOfHour: 1,
        secondsOfMinute: 1,
        millisecondsOfSecond: 111,
        microsecondsOfSecond: 111_111,
        nanosecondsOfSecond: 111_111_111,
      },
    ],
    // No part is −0, which would be a float.
    [
      duration("P-5M-3DT-1.5S"),
      { years: 0, monthsOfYear: -5, weeks: 0, hours: 0, seconds: -2, nanosecondsOfSecond: 500_000_000 },
    ],
  ];
  for (const [value, components] of cases) {
    for (const [name, wanted] of Object.entries(components)) {
      const found = temporalComponent(value, name);
      t.ok(Object.is(found, wanted), `${text(value)}.${name} is ${wanted}, found ${found}`);
    }
  }
  t.equal(
    errorOf(() => temporalComponent(date("1984-10-11"), "hour")),
    "ArgumentError InvalidArgumentValue",
  );
  t.equal(
    errorOf(() => temporalComponent(date("1984-10-11"), "constructor")),
    "ArgumentError InvalidArgumentValue",
  );
});
