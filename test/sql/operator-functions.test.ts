/**
 * Functions behind operators and aggregates, bit strings' aggregates, intervals through to_char. Expectations are
 * PostgreSQL 15's.
 */
import t from "tap";
import { checkStatements } from "./run-sql.js";

t.test("functions behind operators and aggregates", (t) =>
  checkStatements(t, [
    [
      "select int4pl(1, 2), booleq(true, false), int48pl(1, 2::int8), text_lt('a', 'b'), textlike('abc', 'a%'), float8mul(2, 3), int4um(3)",
      ["3|false|3|true|true|6|-3"],
    ],
    [
      "select numeric_add(1, 2.5), date_pli('2020-01-01', 3), interval_pl('1 day', '2 hours')",
      ["3.5|2020-01-04|1 day 02:00:00"],
    ],
    [
      "select range_adjacent('[1,2)'::int4range, '[2,3)'), range_minus(numrange(1, 5), numrange(3, 9)), range_lt(numrange(1, 2), numrange(2, 3))",
      ["true|[1,3)|true"],
    ],
    [
      "select range_contains_elem(int4range(1, 5), 4), elem_contained_by_multirange(7, '{[1,5)}'::int4multirange), multirange_overlaps_range('{[1,5)}'::int4multirange, int4range(4, 6)), multirange_union('{[1,2)}'::int4multirange, '{[2,3)}')",
      ["true|false|true|{[1,3)}"],
    ],
    ["select int4div(1, 0)", "22012 division by zero"],
    ["select booland_statefunc(true, null), boolor_statefunc(false, true), numeric_inc(4.2)", ["∅|true|5.2"]],
    [
      "select float8_accum('{4,140,2900}', 100), float8_combine('{3,60,200}', '{2,180,200}')",
      ["{5,240,6280}|{5,240,6280}"],
    ],
    [
      "select float8_regr_combine('{3,60,200,750,20000,2000}', '{2,180,200,740,57800,-3400}')",
      ["{5,240,6280,1490,95080,8680}"],
    ],
    ["select bit_and(b), bit_or(b), bit_xor(b) from (values (B'0101'), (B'0110'), (null)) v(b)", ["0100|0111|0011"]],
    ["select bit_or(b) from (values (B'01'), (B'1')) v(b)", "22026 cannot OR bit strings of different sizes"],
  ]),
);

t.test("intervals at the ends of their range", (t) =>
  checkStatements(t, [
    ["create table span (i interval primary key)"],
    [
      "insert into span values ('9223372036854775807 us'), ('-9223372036854775808 us'), ('9223372036854775806 us'), ('1:')",
    ],
    [
      "select i from span order by i",
      ["-2562047788:00:54.775808", "01:00:00", "2562047788:00:54.775806", "2562047788:00:54.775807"],
    ],
    ["select i - interval '1 us' from span where i = '2562047788:00:54.775807'", ["2562047788:00:54.775806"]],
    ["select max(i) + interval '1 us' from span", "22008 interval out of range"],
    ["select interval '9223372036854775808 us'", '22015 interval field value out of range: "9223372036854775808 us"'],
    ["select interval '- 1 year -1 months - 1 days 4 hours'", ["-1 years -1 mons -1 days +04:00:00"]],
    ["select extract(epoch from interval '9223372036854775807 us')", ["9223372036854.775807"]],
  ]),
);

t.test("to_char of intervals", (t) =>
  checkStatements(t, [
    [
      "select to_char(interval '-15 mons -1 day -26:05:06.007', 'IYYY IY Q WW DDD J IW HH12 DD Y,YYY MS FF2 AM')",
      ["-0002 -02 0 -63 -451 1720571 35 -02 -1 0,-01 -07 00 AM"],
    ],
    ["select to_char(interval '1 day', 'Day')", "22007 invalid format specification for an interval value"],
    ["select to_char(interval '1 day', 'TZH')", "22007 invalid format specification for an interval value"],
  ]),
);

t.test("rows out of jsonb keep what their base has", (t) =>
  checkStatements(t, [
    ["create type inner_row as (a text, b int)"],
    ["create type outer_row as (i inner_row, j json[])"],
    [
      `select jsonb_populate_record(row(row('x', 3), null)::outer_row, '{"i": {"a": "y"}, "j": [{"k" : [1,2]}]}')`,
      [String.raw`("(y,3)","{""{\\""k\\"": [1, 2]}""}")`],
    ],
    ["select '[]'::jsonb #- '{a}'", ["[]"]],
  ]),
);
