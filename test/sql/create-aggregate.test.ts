/** CREATE AGGREGATE: states, strictness, windows over aggregates that statements made, and what depends on them. */
import t from "tap";
import { loadParser } from "../../src/sql/parse/parse.js";
import { checkStatements } from "./run-sql.js";

t.before(loadParser);

t.test("states and results", async (t) => {
  await checkStatements(t, [
    ["create function times(numeric, numeric) returns numeric language sql immutable strict as 'select $1 * $2'"],
    ["create aggregate product(numeric) (sfunc = times, stype = numeric, initcond = '1')"],
    ["create aggregate product_or_null(numeric) (sfunc = times, stype = numeric)"],
    ["create table n (x int)"],
    ["insert into n values (2), (3), (3), (null), (4)"],
    [
      "select product(x), product_or_null(x), product(x) filter (where x > 2), product(distinct x) from n",
      ["72|72|36|24"],
    ],
    ["select product(x), product_or_null(x) from n where x > 9", ["1|∅"]],
    [
      "select x, product(x) from n where x is not null group by rollup (x) having product(x) > 2 order by 1",
      ["3|9", "4|4", "∅|72"],
    ],
    ["select x, (select product(y.x) from n y where y.x < n.x) from n where x < 4 order by 1", ["2|1", "3|2", "3|2"]],
    [
      "create function joined(text, text) returns text language plpgsql as $$ begin return coalesce($1, '') || coalesce($2, '~'); end $$",
    ],
    ["create aggregate joins(text) (sfunc = joined, stype = text)"],
    ["select joins(x::text order by x desc), joins(x::text order by x) filter (where x <> 3) from n", ["~4332|24"]],
    ["create aggregate listed(anyelement) (sfunc = array_append, stype = anyarray, initcond = '{}')"],
    [
      "select listed(x order by x), pg_typeof(listed(x)), listed(distinct x::text) from n",
      ["{2,3,3,4,NULL}|integer[]|{2,3,4,NULL}"],
    ],
    ["create aggregate counted(*) (sfunc = int8inc, stype = int8, initcond = '0')"],
    ["select counted(*) from n", ["5"]],
    ["select counted() from n", "42809 counted(*) must be used to call a parameterless aggregate function"],
    [
      "create aggregate average(int4) (sfunc = int4_avg_accum, stype = int8[], finalfunc = int8_avg, initcond = '{0,0}')",
    ],
    ["select average(x) from n", ["3.0000000000000000"]],
    ["create aggregate largest(basetype = int4, sfunc = int4larger, stype = int4)"],
    ["select largest(x) from n", ["4"]],
    ["create function with_extra(bigint, int) returns text language sql as $$ select $1 || ' ' || ($2 is null) $$"],
    ["create aggregate extra(int) (sfunc = int4_sum, stype = int8, finalfunc = with_extra, finalfunc_extra)"],
    ["select extra(x) from n", ["12 true"]],
    ["create aggregate sum(text) (sfunc = joined, stype = text)"],
    ["select sum(x::text order by x), sum(x) from n where x < 4", ["233|8"]],
    ["select product(product(x)) from n", "42803 aggregate function calls cannot be nested"],
    [
      "select product(x) within group (order by x) from n",
      "42809 product is not an ordered-set aggregate, so it cannot have WITHIN GROUP",
    ],
  ]);
});

t.test("frames that rows leave again", async (t) => {
  await checkStatements(t, [
    ["create table n (x int)"],
    ["insert into n values (1), (2), (null), (4)"],
    [
      "create function plus(text, int) returns text language sql immutable as $$ select $1 || '+' || coalesce($2::text, '∅') $$",
    ],
    [
      "create function minus(text, int) returns text language sql immutable as $$ select $1 || '-' || coalesce($2::text, '∅') $$",
    ],
    [
      "create aggregate track(int) (sfunc = plus, stype = text, initcond = 'P', msfunc = plus, minvfunc = minus, mstype = text, minitcond = 'M')",
    ],
    [
      "select track(x) over (order by x rows between 1 preceding and current row) from n",
      ["M+1", "M+1+2", "M+1+2-1+4", "M+1+2-1+4-2+∅"],
    ],
    ["select track(x) over (order by x) from n", ["P+1", "P+1+2", "P+1+2+4", "P+1+2+4+∅"]],
    // Of a frame with nothing left of the one before, the state is the first again.
    ["select track(x) over (order by x rows between current row and current row) from n", ["M+1", "M+2", "M+4", "M+∅"]],
    ["create function never(text, int) returns text language sql immutable as 'select null::text'"],
    [
      "create aggregate restart(int) (sfunc = plus, stype = text, initcond = 'P', msfunc = plus, minvfunc = never, mstype = text, minitcond = 'M')",
    ],
    [
      "select restart(x) over (order by x rows between 1 preceding and current row) from n",
      ["M+1", "M+1+2", "M+2+4", "M+4+∅"],
    ],
    [
      "create aggregate void(int) (sfunc = plus, stype = text, initcond = 'P', msfunc = never, minvfunc = minus, mstype = text, minitcond = 'M')",
    ],
    [
      "select void(x) over (order by x rows between 1 preceding and current row) from n",
      "22004 moving-aggregate transition function must not return null",
    ],
  ]);
});

t.test("what is refused", async (t) => {
  await checkStatements(t, [
    ["create function times(numeric, numeric) returns numeric language sql immutable strict as 'select $1 * $2'"],
    ["create function lax(numeric, numeric) returns numeric language sql immutable as 'select $1'"],
    ["create aggregate a(numeric) (sfunc = times)", "42P13 aggregate stype must be specified"],
    ["create aggregate a(numeric) (stype = numeric)", "42P13 aggregate sfunc must be specified"],
    [
      "create aggregate a(numeric) (sfunc = times, stype = int)",
      "42804 return type of transition function times is not integer",
    ],
    [
      "create aggregate a(anyelement) (sfunc = times, stype = numeric)",
      "42883 function times(numeric, anyelement) does not exist",
    ],
    [
      "create aggregate a(numeric) (sfunc = array_append, stype = anyarray)",
      "42P13 cannot determine transition data type",
    ],
    [
      "create aggregate a(numeric) (sfunc = times, stype = numeric, minitcond = '1')",
      "42P13 aggregate minitcond must not be specified without mstype",
    ],
    [
      "create aggregate a(numeric) (sfunc = times, stype = numeric, mstype = numeric, msfunc = times, minvfunc = lax)",
      "42P13 strictness of aggregate's forward and inverse transition functions must match",
    ],
    [
      "create aggregate a(numeric) (sfunc = times, stype = numeric, initcond = 'x')",
      '22P02 invalid input syntax for type numeric: "x"',
    ],
    [
      "create aggregate a(numeric) (sfunc = times, stype = numeric, parallel = maybe)",
      '42601 parameter "parallel" must be SAFE, RESTRICTED, or UNSAFE',
    ],
    ["create aggregate a(numeric) (sfunc = times, stype = numeric)"],
    [
      "create aggregate a(numeric) (sfunc = times, stype = numeric)",
      '42723 function "a" already exists with same argument types',
    ],
    ["create or replace aggregate a(numeric) (sfunc = times, stype = numeric, initcond = '2')"],
    ["select a(x) from (values (3)) t(x)", ["6"]],
    ["create view v as select a(x) from (values (3)) t(x)"],
    [
      "drop function times(numeric, numeric)",
      "2BP01 cannot drop function times(numeric, numeric) because other objects depend on it",
    ],
    ["drop aggregate a(numeric)", "2BP01 cannot drop aggregate a(numeric) because other objects depend on it"],
    ["drop function a(numeric)", '42809 "a" is an aggregate function'],
    ["drop aggregate lax(numeric, numeric)", "42809 function lax(numeric, numeric) is not an aggregate"],
    ["comment on aggregate a(numeric) is 'twice as much'"],
    ["alter aggregate a(numeric) rename to b"],
    ["select b(x) from (values (3)) t(x)", ["6"]],
    ["drop aggregate if exists a(numeric), c(*)"],
    ["drop function times(numeric, numeric) cascade"],
    ["select b(x) from (values (3)) t(x)", "42883 function b(integer) does not exist"],
  ]);
});
