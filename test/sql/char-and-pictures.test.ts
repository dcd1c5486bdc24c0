/**
 * The type "char", number pictures of to_char, SUBSTRING … SIMILAR and empty sub-arrays. Expectations are PostgreSQL
 * 15's.
 */
import t from "tap";
import { checkStatements } from "./run-sql.js";

t.test('type "char"', (t) =>
  checkStatements(t, [
    [
      `select '\\101'::"char", '\\377'::"char"::text, 'abc'::text::"char", '\\000'::"char"::text, ''::"char"`,
      ["A|\\377|a||"],
    ],
    [
      `select 'a'::"char" = 'b', pg_typeof('a'::"char"), 97::"char", 'a'::"char"::int, (-1)::"char"`,
      ['false|"char"|a|97|\\377'],
    ],
    [`select 'char'::regtype, '"char"'::regtype, 'char(3)'::regtype`, ['character|"char"|character']],
    [`select 1000::"char"`, '22003 "char" out of range'],
    [`create table letter (a "char" primary key, b "char"[])`],
    [`insert into letter values ('x', '{a,b}'), ('y', '{"\\377"}'), ('\\377', null)`],
    ["select a, b from letter order by a", ["x|{a,b}", "y|{3}", "\\377|∅"]],
    ["select min(a), max(a) from letter where a > 'x'", ["y|\\377"]],
    [`select coalesce('a'::"char", 'b'::text)`, '42804 COALESCE types "char" and text cannot be matched'],
  ]),
);

t.test("number pictures", (t) =>
  checkStatements(t, [
    [
      "select to_char('inf'::numeric, 'MI99.99'), to_char('nan'::numeric, '999.99'), to_char('-inf'::numeric, 'S9999999999')",
      [" ##.##| NaN|  -Infinity"],
    ],
    [
      "select to_char(123456.789::float4, '999999.999'), to_char(1234567::float4, '9999999.999'), to_char(12.5, '99.')",
      [" 123457| 1234567| 13"],
    ],
    ["select to_char('12345678901'::float8, 'FM9999999999D99999')", ["##########.####"]],
    [`select to_char(100, 'f"ool\\\\"999')`, ["fool\\ 100"]],
    ["select to_char(1, repeat('9', 100000))", "54000 format is longer than 65536 characters"],
    ["select to_char(now(), repeat('Y', 100000))", "54000 format is longer than 65536 characters"],
    ["select 0.9999999999 ^ 23300000000000 = 0, 1.0000000001 ^ 100000000000.5", ["true|22026.465784894807"]],
  ]),
);

t.test("patterns and arrays", (t) =>
  checkStatements(t, [
    [
      `select substring('abcdefg' similar 'a*#"%#"g*' escape '#'), substring('abcdefg' similar 'a#"%#"g*' escape '#')`,
      ["abcdefg|bcdefg"],
    ],
    [
      `select substring('abcdefg' similar 'a*#"%#"g*#"x' escape '#')`,
      "2200C SQL regular expression may not contain more than two escape-double-quote separators",
    ],
    ["select '{{},{}}'::text[]", '22P02 malformed array literal: "{{},{}}"'],
    ["select unnest('11 22'::int2vector), pg_typeof(unnest('1 2'::oidvector))", ["11|oid", "22|oid"]],
    ["select width_bucket(5, array[array[1, 2], array[3, 4]])", "2202E thresholds must be one-dimensional array"],
    [
      "select date_bin('15 minutes', timestamp '294276-12-30', timestamp '4000-12-20 BC')",
      "22008 interval out of range",
    ],
  ]),
);

t.test("years before Christ", (t) =>
  checkStatements(t, [
    [
      "select to_date('-0001-12-25', 'YYYY-MM-DD'), to_date('-2022-12-25', 'YYYY-MM-DD'), to_date('0000-12-25', 'YYYY-MM-DD')",
      ["0001-12-25 BC|2022-12-25 BC|0001-12-25 BC"],
    ],
    [
      "select to_date('44-03-15 BC', 'YYYY-MM-DD BC'), to_date('-44-03-15 BC', 'YYYY-MM-DD BC'), to_date('2020-01-01', 'YYYY-MM-DD')",
      ["0044-03-15 BC|0044-03-15|2020-01-01"],
    ],
  ]),
);
