/** Functions of anyrange, anymultirange and their kin; checked against PostgreSQL 15. */
import t from "tap";
import { checkStatements } from "./run-sql.js";

t.test("a range says what its bounds are, and the other way round it does not", (t) =>
  checkStatements(t, [
    ["create type floatrange as range (subtype = float8)"],
    ["create function lo(anyrange) returns anyelement language sql as 'select lower($1)'"],
    ["select lo(int4range(3, 5)), lo(daterange('2020-01-01', null)), lo(floatrange(1.5, 2))", ["3|2020-01-01|1.5"]],
    ["select pg_typeof(lo(floatrange(1.5, 2)))", ["double precision"]],
    ["create function has(anyrange, anyelement) returns bool language sql as 'select $1 @> $2'"],
    ["select has(int4range(1, 5), 3)", ["true"]],
    ["select has(int4range(1, 5), 3.5)", "42883 function has(int4range, numeric) does not exist"],
    ["select lo('[1,2)')", "42883 function lo(unknown) does not exist"],
    ["select lo(3)", "42883 function lo(integer) does not exist"],
    ["create function whole(anymultirange) returns anyrange language sql as 'select range_merge($1)'"],
    ["select whole('{[1,3),[5,8)}'::int4multirange), pg_typeof(whole('{}'::floatmultirange))", ["[1,8)|floatrange"]],
    ["create function many(anyrange) returns anymultirange language sql as 'select multirange($1)'"],
    ["select many(numrange(1, 2)), pg_typeof(many(floatrange(1, 2)))", ["{[1,2)}|floatmultirange"]],
    [
      "create function made(a anyelement) returns anyrange language sql as 'select null'",
      "42P13 cannot determine result data type",
    ],
    ["create function wide(anycompatiblerange, anycompatible) returns bool language sql as 'select $1 @> $2'"],
    ["select wide(numrange(1, 5), 3), wide(int4range(1, 5), 3::int2)", ["true|true"]],
    ["select wide(int4range(1, 5), 3.5)", "42883 function wide(int4range, numeric) does not exist"],
    [
      "select oid::regprocedure from pg_proc where proname in ('lo', 'wide', 'whole') order by proname",
      ["lo(anyrange)", "whole(anymultirange)", "wide(anycompatiblerange,anycompatible)"],
    ],
    [
      "create function width(r anyrange) returns anyelement language plpgsql as 'begin return upper(r) - lower(r); end'",
    ],
    ["select width(int8range(2, 9))", ["7"]],
  ]),
);
