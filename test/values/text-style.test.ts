/** DateStyle and IntervalStyle: the texts that PostgreSQL 15 gives, and what it reads. */
import t from "tap";
import { dateStyle, intervalStyle, textStyleOf } from "../../src/session/date-style.js";
import { fromText, toText } from "../../src/values/text-format.js";
import type { SqlType } from "../../src/values/values.js";
import * as V from "../../src/values/values.js";

const BERLIN = "Europe/Berlin";
const VALUES: readonly (readonly [SqlType, string])[] = [
  [V.DATE, "2026-01-02"],
  [V.DATE, "0044-03-15 BC"],
  [V.DATE, "infinity"],
  [V.TIMESTAMP, "1997-12-17 07:37:16.25"],
  [V.TIMESTAMP, "0044-03-15 00:00:00 BC"],
  [V.TIMESTAMPTZ, "2026-07-01 12:00:00.5+00"],
  [V.TIMESTAMPTZ, "2026-01-01 12:00:00+00"],
  [V.typeOf("daterange"), "[2026-01-02,2026-02-03)"],
  [V.typeOf("tstzrange"), '["2026-01-01 12:00:00+00",)'],
];
/** By style: the values' texts in Berlin. */
const DATES: Readonly<Record<string, string>> = {
  "ISO, YMD":
    '2026-01-02|0044-03-15 BC|infinity|1997-12-17 07:37:16.25|0044-03-15 00:00:00 BC|2026-07-01 14:00:00.5+02|2026-01-01 13:00:00+01|[2026-01-02,2026-02-03)|["2026-01-01 13:00:00+01",)',
  "SQL, MDY":
    '01/02/2026|03/15/0044 BC|infinity|12/17/1997 07:37:16.25|03/15/0044 00:00:00 BC|07/01/2026 14:00:00.5 CEST|01/01/2026 13:00:00 CET|[01/02/2026,02/03/2026)|["01/01/2026 13:00:00 CET",)',
  "SQL, DMY":
    '02/01/2026|15/03/0044 BC|infinity|17/12/1997 07:37:16.25|15/03/0044 00:00:00 BC|01/07/2026 14:00:00.5 CEST|01/01/2026 13:00:00 CET|[02/01/2026,03/02/2026)|["01/01/2026 13:00:00 CET",)',
  "Postgres, MDY":
    '01-02-2026|03-15-0044 BC|infinity|Wed Dec 17 07:37:16.25 1997|Fri Mar 15 00:00:00 0044 BC|Wed Jul 01 14:00:00.5 2026 CEST|Thu Jan 01 13:00:00 2026 CET|[01-02-2026,02-03-2026)|["Thu Jan 01 13:00:00 2026 CET",)',
  "Postgres, DMY":
    '02-01-2026|15-03-0044 BC|infinity|Wed 17 Dec 07:37:16.25 1997|Fri 15 Mar 00:00:00 0044 BC|Wed 01 Jul 14:00:00.5 2026 CEST|Thu 01 Jan 13:00:00 2026 CET|[02-01-2026,03-02-2026)|["Thu 01 Jan 13:00:00 2026 CET",)',
  "German, DMY":
    '02.01.2026|15.03.0044 BC|infinity|17.12.1997 07:37:16.25|15.03.0044 00:00:00 BC|01.07.2026 14:00:00.5 CEST|01.01.2026 13:00:00 CET|[02.01.2026,03.02.2026)|["01.01.2026 13:00:00 CET",)',
};

t.test("dates and times in each DateStyle, and back", async (t) => {
  for (const [name, texts] of Object.entries(DATES)) {
    const style = textStyleOf(name, undefined);
    const clock = { timeZone: BERLIN, nowMicros: 0, ...style };
    for (const [i, [type, plain]] of VALUES.entries()) {
      const value = fromText(type, plain);
      const text = texts.split("|")[i]!;
      t.equal(toText(type, value, BERLIN, style), text, `${name}: ${plain}`);
      t.same(fromText(type, text, clock), value, `${name}: ${text} is read`);
    }
  }
  const eastern = textStyleOf("SQL, MDY", undefined);
  const noon = fromText(V.TIMESTAMPTZ, "2026-07-01 12:00:00+00");
  t.equal(toText(V.TIMESTAMPTZ, noon, "America/New_York", eastern), "07/01/2026 08:00:00 EDT");
  t.equal(toText(V.TIMESTAMPTZ, noon, "UTC", eastern), "07/01/2026 12:00:00 UTC");
  t.equal(
    toText(V.TIMESTAMPTZ, noon, "Asia/Kolkata", eastern),
    "07/01/2026 17:30:00+05:30",
    "no abbreviation is known",
  );
});

/** By interval: in `postgres_verbose`, `sql_standard` and `iso_8601`. */
const INTERVALS: readonly (readonly [string, string, string, string])[] = [
  [
    "1 year 2 mons 3 days 04:05:06.7",
    "@ 1 year 2 mons 3 days 4 hours 5 mins 6.7 secs",
    "+1-2 +3 +4:05:06.7",
    "P1Y2M3DT4H5M6.7S",
  ],
  ["-1 years -2 mons", "@ 1 year 2 mons ago", "-1-2", "P-1Y-2M"],
  ["1 year 2 mons", "@ 1 year 2 mons", "1-2", "P1Y2M"],
  ["3 days 04:05:06", "@ 3 days 4 hours 5 mins 6 secs", "3 4:05:06", "P3DT4H5M6S"],
  ["-3 days -04:05:06", "@ 3 days 4 hours 5 mins 6 secs ago", "-3 4:05:06", "P-3DT-4H-5M-6S"],
  ["-3 days +04:05:06", "@ 3 days -4 hours -5 mins -6 secs ago", "+0-0 -3 +4:05:06", "P-3DT4H5M6S"],
  ["00:00:00", "@ 0", "0", "PT0S"],
  ["-00:00:00.5", "@ 0.5 secs ago", "-0:00:00.5", "PT-0.5S"],
  ["00:00:01", "@ 1 sec", "0:00:01", "PT1S"],
  ["1 mon -1 days", "@ 1 mon -1 days", "+0-1 -1 +0:00:00", "P1M-1D"],
  ["-04:05:06.07", "@ 4 hours 5 mins 6.07 secs ago", "-4:05:06.07", "PT-4H-5M-6.07S"],
  ["1 day -00:00:00.25", "@ 1 day -0.25 secs", "+0-0 +1 -0:00:00.25", "P1DT-0.25S"],
];

t.test("intervals in each IntervalStyle, and back", async (t) => {
  for (const [plain, ...texts] of INTERVALS) {
    const value = fromText(V.INTERVAL, plain);
    t.equal(toText(V.INTERVAL, value), plain);
    for (const [i, name] of ["postgres_verbose", "sql_standard", "iso_8601"].entries()) {
      const style = textStyleOf(undefined, name);
      t.equal(toText(V.INTERVAL, value, "UTC", style), texts[i], `${name}: ${plain}`);
      t.same(
        fromText(V.INTERVAL, texts[i]!, { timeZone: "UTC", nowMicros: 0, ...style }),
        value,
        `${texts[i]} is read`,
      );
    }
  }
});

t.test("SET takes a style, an order or both", async (t) => {
  const set = (text: string, current = "ISO, MDY") => dateStyle(text, "datestyle", current);
  t.equal(set("German"), "German, DMY");
  t.equal(set("German, MDY"), "German, MDY");
  t.equal(set("US", "German, DMY"), "German, MDY");
  t.equal(set("european", "SQL, MDY"), "SQL, DMY");
  t.equal(set("postgres", "ISO, YMD"), "Postgres, YMD");
  t.equal(set("default", "German, DMY"), "ISO, MDY");
  for (const wrong of ["iso, german", "mdy, dmy", "French", ""]) {
    t.throws(() => set(wrong), { message: `invalid value for parameter "DateStyle": "${wrong}"` });
  }
  t.equal(intervalStyle("ISO_8601"), "iso_8601");
  t.throws(() => intervalStyle("iso"), { message: 'invalid value for parameter "IntervalStyle": "iso"' });
  t.equal(textStyleOf("ISO, MDY", "postgres"), undefined);
});
