/**
 * DateStyle and IntervalStyle of a session: casts, functions, literals, stored values, plans. Checked against
 * PostgreSQL 15.
 */
import t from "tap";
import { checkStatements } from "../sql/run-sql.js";

t.test("a session's DateStyle", (t) =>
  checkStatements(t, [
    ["create table days (d date, i interval)"],
    ["insert into days values ('2026-02-01', '-1 day -2 hours')"],
    ["select '01/02/2026'::date = '2026-01-02', date '2026-01-02'::text", ["true|2026-01-02"]],
    ["set datestyle = 'SQL, DMY'"],
    ["show datestyle", ["SQL, DMY"]],
    ["select '01/02/2026'::date = '2026-02-01', date '2026-01-02'::text", ["true|02/01/2026"]],
    [
      "select d::text, concat(d, '!'), format('%s', d), quote_literal(d), array[d]::text from days",
      ["01/02/2026|01/02/2026!|01/02/2026|'01/02/2026'|{01/02/2026}"],
    ],
    ["select to_json(d), to_char(d, 'YYYY-MM-DD') from days", ['"2026-02-01"|2026-02-01']],
    ["insert into days values ('03/04/2026')"],
    ["select d = '2026-04-03' from days where i is null", ["true"]],
    ["set datestyle = 'YMD'"],
    [
      "select date '99 01 08', date '99-Jan-08', date '99 Jan 08', date '08 Jan 1999', date '08 01 09'",
      ["1999-01-08|1999-01-08|1999-01-08|1999-01-08|2008-01-09"],
    ],
    ["select date '08-Jan-99'", '22008 date/time field value out of range: "08-Jan-99"'],
    ["set datestyle = 'MDY'"],
    ["select date '08 01 99', date '08 Jan 99', date 'Jan 08 99'", ["1999-08-01|1999-01-08|1999-01-08"]],
    ["set datestyle = 'DMY'"],
    ["select date '08 01 99', date '8 1 1999'", ["1999-01-08|1999-01-08"]],
    ["set datestyle = 'German'"],
    ["select d::text from days order by d", ["01.02.2026", "03.04.2026"]],
    [
      "select '<' || d, d || '>', '<' || row(d, null) from days where i is not null",
      ["<01.02.2026|01.02.2026>|<(01.02.2026,)"],
    ],
    ["set intervalstyle = 'sql_standard'"],
    ["select 'after ' || i from days where i is not null", ["after -1 2:00:00"]],
    ["set timezone = 'Europe/Berlin'"],
    ["select 'at ' || timestamptz '2026-02-01 12:00+00'", ["at 01.02.2026 13:00:00 CET"]],
    ["set timezone = 'UTC'"],
    [
      "select i::text, extract(epoch from interval '-1 2:00:00')::int from days where i is not null",
      ["-1 2:00:00|-93600"],
    ],
    ["set intervalstyle = 'iso_8601'"],
    ["select i::text, (interval '1 day')::text from days where i is not null", ["P-1DT-2H|P1D"]],
    ["reset all"],
    ["select d::text, i::text from days where i is not null", ["2026-02-01|-1 days -02:00:00"]],
    ["set datestyle = 'french'", '22023 invalid value for parameter "DateStyle": "french"'],
    ["create table texts (v text)"],
    ["create index on texts ((v::date))", "42P17 functions in index expression must be marked IMMUTABLE"],
    ["create index on days ((d::text))", "42P17 functions in index expression must be marked IMMUTABLE"],
    [
      "create table made (d date, s text generated always as (d::text) stored)",
      "42P17 generation expression is not immutable",
    ],
  ]),
);
