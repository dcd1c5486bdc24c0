/** Variants in SQL: casts to and from SQL's types, comparisons, order, properties, and indexes over them. */
import t from "tap";
import { checkStatements } from "./run-sql.js";

t.test("casts to variant and back", (t) =>
  checkStatements(t, [
    ["create table v (id int primary key, p variant)"],
    [
      `insert into v values (1, '{"a": 1, "b": [1,2.5,"x"], "age": 30}'::jsonb), (2, 5), (3, 2.5::float8), (4, 'text'),
       (5, null), (6, timestamp '2020-01-01 10:00:00.5'), (7, true), (8, array[1,2,3]), (9, interval '1 month 2 days'),
       (10, 9007199254740993), (11, 3::float8), (12, 1.50), (13, date '2020-02-29'), (14, interval '-1.5 s'),
       (15, timestamptz '2020-01-01 10:00:00+02'), (16, vector '[1,2]')`,
    ],
    [
      "select id, p from v order by id",
      [
        '1|{"a":1,"b":[1,2.5,"x"],"age":30}',
        "2|5",
        "3|2.5",
        "4|text",
        "5|∅",
        "6|2020-01-01T10:00:00.5",
        "7|true",
        "8|[1,2,3]",
        "9|P1M2D",
        "10|9007199254740993",
        "11|3.0",
        "12|1.5",
        "13|2020-02-29",
        "14|PT-1.5S",
        "15|2020-01-01T08:00Z",
        "16|[1.0,2.0]",
      ],
    ],
    ["select p::int, p::float8, p::numeric, p::text from v where id = 2", ["5|5|5|5"]],
    ["select p::int from v where id = 3", ["2"]],
    ["select p::int from v where id = 4", '22P02 invalid input syntax for type integer: "text"'],
    ["select p::int from v where id = 13", "22023 cannot cast variant date to type integer"],
    ["select p::int[], p::jsonb, p::vector from v where id = 8", ["{1,2,3}|[1, 2, 3]|[1,2,3]"]],
    [
      "select p::timestamptz from v where id in (6, 15) order by id",
      ["2020-01-01 10:00:00.5+00", "2020-01-01 08:00:00+00"],
    ],
    ["select p::interval from v where id in (9, 14) order by id", ["1 mon 2 days", "-00:00:01.5"]],
    [
      "select p::jsonb, to_json(p) from v where id in (1, 10) order by id",
      ['{"a": 1, "b": [1, 2.5, "x"], "age": 30}|{"a":1,"b":[1,2.5,"x"],"age":30}', "9007199254740993|9007199254740993"],
    ],
    ["select '\\x00'::bytea::variant", ["\\x00"]],
    ["select timestamp 'infinity'::variant", "22008 cannot convert infinity to variant"],
  ]),
);

t.test("comparisons, order and grouping", (t) =>
  checkStatements(t, [
    ["create table v (id int, p variant)"],
    [
      `insert into v values (1, 5), (2, 5::float8), (3, '5'), (4, true), (5, null), (6, 'NaN'::float8), (7, array[5]),
       (8, '{}'::jsonb), (9, 'NaN'::float8), (10, -1), (11, date '2020-01-01')`,
    ],
    ["select id from v order by p, id", ["8", "7", "11", "3", "4", "10", "1", "2", "6", "9", "5"]],
    ["select id from v where p = 5 order by id", ["1", "2"]],
    ["select id from v where p = 5.0::numeric order by id", ["1", "2"]],
    ["select id from v where p = '5'", ["3"]],
    ["select id from v where 0 > p", ["10"]],
    ["select id from v where p > 'NaN'::float8", []],
    ["select id from v where p <> 5 order by id", ["3", "4", "6", "7", "8", "9", "10", "11"]],
    ["select count(*), count(distinct p) from v", ["11|8"]],
    // NaN is equivalent to NaN, but not equal.
    ["select a.id, b.id from v a join v b on a.p = b.p where a.id <> b.id order by a.id", ["1|2", "2|1"]],
    ["select p = 1, 2 = p from (values (2::variant)) w(p)", ["false|true"]],
    ["select 1 = true", "42883 operator does not exist: integer = boolean"],
  ]),
);

t.test("properties and labels, and an index over a property", (t) =>
  checkStatements(t, [
    ["create table n (id int primary key, labels text not null, properties variant not null)"],
    [
      `insert into n select g, case when g % 2 = 0 then E'\\x1fA\\x1f' else E'\\x1fA\\x1fBee\\x1f' end,
       jsonb_build_object('name', 'n' || g, 'age', g % 50) from generate_series(1, 2000) g`,
    ],
    ["create index on n (property(properties, 'name')) where has_label(labels, 'Bee')"],
    [
      "explain (costs off) select id from n where property(properties, 'name') = 'n7' and has_label(labels, 'Bee')",
      [
        "Project",
        "  Output: id",
        "  ->  Index Scan using n_property_idx on n",
        "        Index Cond: (property(properties, 'name') = 'n7'::variant)",
        "        Filter: has_label(labels, 'Bee'::text)",
      ],
    ],
    ["select id from n where property(properties, 'name') = 'n7' and has_label(labels, 'Bee')", ["7"]],
    ["select id from n where property(properties, 'name') = 'n8' and has_label(labels, 'Bee')", []],
    ['update n set properties = \'{"name": "n8"}\' ::jsonb where id = 7'],
    ["select id from n where property(properties, 'name') = 'n8' and has_label(labels, 'Bee')", ["7"]],
    ["select property(properties, 'age') from n where id in (7, 8) order by id", ["∅", "8"]],
    [
      "select has_label(labels, 'Be'), has_label(labels, 'A'), has_label('', '') from n where id = 9",
      ["false|true|false"],
    ],
    [
      "select properties->>'name', properties->'age', properties->>'x', properties->1 from n where id = 8",
      ["n8|8|∅|∅"],
    ],
    [
      `select v->1, v->-1, v->2->>'a', v->'a' from (values ('[1, "b", {"a": 2.5}]'::jsonb::variant)) w(v)`,
      ['b|{"a":2.5}|2.5|∅'],
    ],
    ["select property(5::variant, 'x')", "42804 a number has no properties"],
  ]),
);
