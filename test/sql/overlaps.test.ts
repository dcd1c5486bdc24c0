/** OVERLAPS with intervals, missing ends and the clock; checked against PostgreSQL 15. */
import t from "tap";
import { checkStatements } from "./run-sql.js";

t.test("periods overlap", (t) =>
  checkStatements(t, [
    [
      "select (timestamptz '2020-03-28 12:00', interval '1 day') overlaps (timestamptz '2020-03-29 11:00', interval '1 h')",
      ["true"],
    ],
    ["select (time '23:00', interval '2 hours') overlaps (time '01:00', interval '1 hour')", ["true"]],
    [
      "select (timestamp '2000-11-27', interval '12 h') overlaps (timestamp '2000-11-27 12:00', timestamp '2000-11-30')",
      ["false"],
    ],
    ["select (date '2020-01-01', null::date) overlaps (date '2020-01-01', date '2020-02-01')", ["∅"]],
    ["select (date '2020-01-01', date '2020-01-09') overlaps (date '2020-01-05', null)", ["true"]],
    ["select (date '2020-01-09', date '2020-01-02') overlaps (date '2020-01-05', null)", ["true"]],
    ["select (null::date, date '2020-01-09') overlaps (date '2020-01-05', date '2020-01-06')", ["∅"]],
    ["select (null::date, null::date) overlaps (date '2020-01-05', date '2020-01-06')", ["∅"]],
    ["select (timetz '10:00+00', timetz '12:00+00') overlaps (timetz '13:30+02', timetz '15:00+02')", ["true"]],
  ]),
);

t.test("a day and a time of the day are a moment", (t) =>
  checkStatements(t, [
    ["select timestamptz(date '2020-07-01', time '12:00') = '2020-07-01 12:00+00'", ["true"]],
    ["select timestamptz(date '2020-07-01', timetz '12:00+02') = '2020-07-01 10:00+00'", ["true"]],
    ["select timetz '12:00+02' at time zone interval '-07:09'", ["02:51:00-07:09"]],
  ]),
);
