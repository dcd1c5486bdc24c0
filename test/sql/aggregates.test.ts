/** GROUPING SETS, ordered-set and other aggregates; expectations are PostgreSQL 15's. */
import t from "tap";
import { checkStatements } from "./run-sql.js";

t.test("grouping sets and ordered sets", (t) =>
  checkStatements(t, [
    ["create table gstest1 (a int, b int, v int)"],
    [
      "insert into gstest1 values (1,1,10),(1,1,11),(1,2,12),(1,2,13),(1,3,14),(2,3,15),(3,3,16),(3,4,17),(4,1,18),(4,1,19)",
    ],
    [
      "select a, b, grouping(a,b), sum(v), count(*), max(v) from gstest1 group by rollup (a,b) order by a,b,3",
      [
        "1|1|0|21|2|11",
        "1|2|0|25|2|13",
        "1|3|0|14|1|14",
        "1|∅|1|60|5|14",
        "2|3|0|15|1|15",
        "2|∅|1|15|1|15",
        "3|3|0|16|1|16",
        "3|4|0|17|1|17",
        "3|∅|1|33|2|17",
        "4|1|0|37|2|19",
        "4|∅|1|37|2|19",
        "∅|∅|3|145|10|19",
      ],
    ],
    [
      "select a, b, grouping(a,b), sum(v) from gstest1 group by cube (a,b) order by 1,2,3",
      [
        "1|1|0|21",
        "1|2|0|25",
        "1|3|0|14",
        "1|∅|1|60",
        "2|3|0|15",
        "2|∅|1|15",
        "3|3|0|16",
        "3|4|0|17",
        "3|∅|1|33",
        "4|1|0|37",
        "4|∅|1|37",
        "∅|1|2|58",
        "∅|2|2|25",
        "∅|3|2|45",
        "∅|4|2|17",
        "∅|∅|3|145",
      ],
    ],
    [
      "select a, b, sum(v) from gstest1 group by grouping sets ((a,b),(),(a)) having sum(v) > 20 order by 1,2",
      ["1|1|21", "1|2|25", "1|∅|60", "3|∅|33", "4|1|37", "4|∅|37", "∅|∅|145"],
    ],
    ["select a, grouping(a) from gstest1 group by a order by a", ["1|0", "2|0", "3|0", "4|0"]],
    ["select count(*), grouping(a) from gstest1 where false group by grouping sets (a, ())", ["0|1"]],
    ["select count(*) from gstest1 where false group by grouping sets ((), ())", ["0", "0"]],
    [
      "select a, b, sum(v) over (order by sum(v)) from gstest1 group by rollup(a,b) order by 3,1,2",
      '42803 column "gstest1.v" must appear in the GROUP BY clause or be used in an aggregate function',
    ],
    [
      "select a, b from gstest1 group by distinct rollup(a,b), rollup(a) order by 1,2",
      ["1|1", "1|2", "1|3", "1|∅", "2|3", "2|∅", "3|3", "3|4", "3|∅", "4|1", "4|∅", "∅|∅"],
    ],
    [
      "select a, b, count(*) from gstest1 group by rollup(a), cube(b) order by 1,2,3",
      [
        "1|1|2",
        "1|2|2",
        "1|3|1",
        "1|∅|5",
        "2|3|1",
        "2|∅|1",
        "3|3|1",
        "3|4|1",
        "3|∅|2",
        "4|1|2",
        "4|∅|2",
        "∅|1|4",
        "∅|2|2",
        "∅|3|3",
        "∅|4|1",
        "∅|∅|10",
      ],
    ],
    [
      "select a+b, grouping(a+b) from gstest1 group by rollup(a+b) order by 1",
      ["2|0", "3|0", "4|0", "5|0", "6|0", "7|0", "∅|1"],
    ],
    [
      "select percentile_cont(0.5) within group (order by v), percentile_disc(0.5) within group (order by v), mode() within group (order by b) from gstest1",
      ["14.5|14|1"],
    ],
    [
      "select a, percentile_cont(array[0.25,0.5,null]) within group (order by v) , percentile_disc(array[0,0.5,1]) within group (order by v desc) from gstest1 group by a order by a",
      [
        "1|{11,12,NULL}|{14,12,10}",
        "2|{15,15,NULL}|{15,15,15}",
        "3|{16.25,16.5,NULL}|{17,17,16}",
        "4|{18.25,18.5,NULL}|{19,19,18}",
      ],
    ],
    ["select percentile_cont(0.5) within group (order by b * interval '1 hour') from gstest1", ["02:00:00"]],
    [
      "select rank(3) within group (order by b), dense_rank(3) within group (order by b), percent_rank(3) within group (order by b), cume_dist(3) within group (order by b) from gstest1",
      ["7|3|0.6|0.9090909090909091"],
    ],
    ["select rank(3, 15) within group (order by b desc, v) from gstest1", ["3"]],
    [
      "select percentile_cont(2) within group (order by v) from gstest1",
      "22003 percentile value 2 is not between 0 and 1",
    ],
    [
      "select percentile_cont(a) within group (order by v) from gstest1",
      '42803 column "gstest1.a" must appear in the GROUP BY clause or be used in an aggregate function',
    ],
    [
      "select a, percentile_cont(a::float8/10) within group (order by v) from gstest1 group by a order by 1",
      ["1|10.4", "2|15", "3|16.3", "4|18.4"],
    ],
    ["select sum(v) within group (order by v) from gstest1", "42883 function sum(integer, integer) does not exist"],
    ["select mode(v) from gstest1", "42809 WITHIN GROUP is required for ordered-set aggregate mode"],
    ["select rank(1) from gstest1", "42809 WITHIN GROUP is required for ordered-set aggregate rank"],
    [
      "select rank(1,2) within group (order by v) from gstest1",
      "42883 function rank(integer, integer, integer) does not exist",
    ],
    [
      "select percentile_cont(0.1) within group (order by v) over () from gstest1",
      "0A000 OVER is not supported for ordered-set aggregate percentile_cont",
    ],
    [
      "select grouping(v) from gstest1 group by a",
      "42803 arguments to GROUPING must be grouping expressions of the associated query level",
    ],
    ["select a from gstest1 where grouping(a) > 0 group by a", "42803 grouping operations are not allowed in WHERE"],
    [
      "select array_agg(distinct a order by v) from gstest1",
      "42P10 in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list",
    ],
    ["select array_agg(distinct a order by a desc) from gstest1", ["{4,3,2,1}"]],
    ["select string_agg(distinct a::text, ',' order by a::text) from gstest1", ["1,2,3,4"]],
    [
      "select count(*) filter (where v > 12), mode() within group (order by b) filter (where b < 3) from gstest1",
      ["7|1"],
    ],
    [
      "select a, (select count(*) from gstest1 g where g.a = o.a) from gstest1 o group by rollup(a) order by 1",
      ["1|5", "2|1", "3|2", "4|2", "∅|0"],
    ],
    ["select v from gstest1 group by rollup(v, v) order by 1 limit 3", ["10", "10", "11"]],
  ]),
);
