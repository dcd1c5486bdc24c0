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

t.test("subqueries in what is grouped, and above it", (t) => {
  const latest = "(select u.n from y u where u.x_id = x.id order by 1 limit 1)";
  const counted = "(select count(*) from y u where u.x_id = x.id)";
  const exists = "exists (select 1 from y u where u.x_id = x.id)";
  const found = "x.id in (select u.x_id from y u where u.n < x.price)";
  const rowFound = "(x.id, 1) in (select u.x_id, 1 from y u)";
  const deep = "(select u.n from y u where u.x_id = x.id and u.n in (select w.n from y w where w.x_id = x.id) limit 1)";
  return checkStatements(t, [
    ["create table x (id int primary key, name text, price int)"],
    ["create table y (id int primary key, x_id int, n int)"],
    ["insert into x values (1,'x',10),(2,'y',20),(3,'y',30)"],
    ["insert into y values (1,1,5),(2,2,7)"],
    [`select ${latest} as v, count(*) from x group by ${latest} order by 1`, ["5|1", "7|1", "∅|1"]],
    [`select ${latest} as v, count(*) from x group by v having ${latest} is not null order by 1`, ["5|1", "7|1"]],
    [`select ${exists}, count(*) from x group by ${exists} order by (${exists})`, ["false|1", "true|2"]],
    [
      `select case when ${exists} then 1 else 0 end, count(*) from x group by case when ${exists} then 1 else 0 end order by 1`,
      ["0|1", "1|2"],
    ],
    [`select ${found}, count(*) from x group by ${found} order by 1`, ["false|1", "true|2"]],
    [`select ${counted} + 1, max(price) from x group by ${counted} order by 1`, ["1|30", "2|20"]],
    [`select ${deep}, count(*) from x group by ${deep} order by 1`, ["5|1", "7|1", "∅|1"]],
    [`select distinct on (${latest}) id from x order by ${latest}, id`, ["1", "2", "3"]],
    [`select name, ${counted} from x group by id order by 1, 2`, ["x|1", "y|0", "y|1"]],
    [
      `select ${latest} from x group by (select u.n from y u where u.x_id = x.id order by 1 limit 2)`,
      '42803 subquery uses ungrouped column "x.id" from outer query',
    ],
    [
      `select ${latest.replace("x.id", "x.price")} from x group by ${latest}`,
      '42803 subquery uses ungrouped column "x.price" from outer query',
    ],
    [`select ${rowFound}, count(*) from x group by ${rowFound} order by ${rowFound}`, ["false|1", "true|2"]],
    [
      `select (x.price, 1) in (select u.x_id, 1 from y u) from x group by ${rowFound}`,
      '42803 column "x.price" must appear in the GROUP BY clause or be used in an aggregate function',
    ],
    [
      `select x.id in (select u.x_id from y u) from x group by x.price in (select u.x_id from y u)`,
      '42803 column "x.id" must appear in the GROUP BY clause or be used in an aggregate function',
    ],
  ]);
});

const SHUFFLED = "(select (i::bigint * 7919 % 50021)::int as v from generate_series(0, 50020) i) s";

t.test("ordered sets of more numbers than are sorted at once, and of special ones", (t) =>
  checkStatements(t, [
    [
      `select percentile_cont(array[0, 0.25, 0.9375, 1]) within group (order by v), percentile_disc(array[0.1, 0.5]) within group (order by v desc), percentile_disc(0.5) within group (order by v) filter (where v >= 40000), mode() within group (order by v / 10) from ${SHUFFLED}`,
      ["{0,12505,46893.75,50020}|{45018,25010}|45010|0"],
    ],
    [
      `select percentile_disc(array[0, 0.5, 0.9, 1]) within group (order by x), percentile_disc(array[0, 0.1, 1]) within group (order by x desc) from (select case when v < 20 then 'NaN' when v < 40 then '-Infinity' when v < 60 then null else v::float8 - 25000.5 end as x from ${SHUFFLED}) f`,
      ["{-Infinity,39.5,20039.5,NaN}|{NaN,20039.5,-Infinity}"],
    ],
    [
      `select v % 2 as half, percentile_disc(0.5) within group (order by v) from ${SHUFFLED} group by 1 order by 1`,
      ["0|25010", "1|25009"],
    ],
    [
      "select percentile_disc(0) within group (order by x), percentile_disc(1) within group (order by x desc) from (values ('-0'::float8), (0)) z(x)",
      ["-0|0"],
    ],
    [
      "select percentile_disc(array[0, 0.5, 1]) within group (order by x), mode() within group (order by x desc) from (values (9223372036854775807), (-9223372036854775807), (3), (9223372036854775806), (3)) b(x)",
      ["{-9223372036854775807,3,9223372036854775807}|3"],
    ],
    [
      "select percentile_cont(0.5) within group (order by null::float8), mode() within group (order by 1.50)",
      ["∅|1.50"],
    ],
  ]),
);

t.test("aggregates and windows over a small table", (t) =>
  checkStatements(t, [
    ["create table t (a int, b int, c text)"],
    ["insert into t values (1,1,'x'),(1,2,'y'),(2,1,'z'),(2,5,null),(3,null,'w'),(null,4,'q'),(3,3,'p')"],
    [
      "select bool_and(a > 0), bool_or(b > 4), every(a is null), bit_and(a), bit_or(b), bit_xor(a) from t",
      ["true|true|false|0|7|0"],
    ],
    [
      "select corr(a,b), covar_pop(a,b), covar_samp(a,b), regr_slope(a,b), regr_intercept(a,b), regr_r2(a,b), regr_count(a,b), regr_avgx(a,b), regr_avgy(a,b), regr_sxx(a,b), regr_syy(a,b), regr_sxy(a,b) from t",
      [
        "0.4285714285714286|0.48|0.6|0.21428571428571433|1.2857142857142858|0.18367346938775514|5|2.4|1.8|11.199999999999998|2.8|2.4",
      ],
    ],
    [
      "select var_pop(a), var_samp(a), stddev(a), stddev_pop(a::float8), variance(a::numeric) from t",
      ["0.66666666666666666667|0.80000000000000000000|0.89442719099991587856|0.816496580927726|0.80000000000000000000"],
    ],
    ["select var_pop(1.0::float8), var_samp('nan'::float8), stddev_pop('inf'::numeric) from t", ["0|NaN|NaN"]],
    ["select json_agg(x) from (values (1,'a')) x(p,q)", ['[{"p":1,"q":"a"}]']],
    ["select string_agg(c::bytea, '\\x2c'::bytea order by c) from t", ["\\x702c712c772c782c792c7a"]],
    [
      "select min(c), max(c), min(array[a]), max(array[b,a]), min(a::numeric), max(b::int2), min(date '2020-01-01'+a), max(interval '1 day'*a) from t",
      ["p|z|{1}|{NULL,3}|1|5|2020-01-02|3 days"],
    ],
    ["select max(true) from t", "42883 function max(boolean) does not exist"],
    ["select min('1.2.3.4'::uuid) from t", '22P02 invalid input syntax for type uuid: "1.2.3.4"'],
    ["select array_agg(array[a,b]) from t", ["{{1,1},{1,2},{2,1},{2,5},{3,NULL},{NULL,4},{3,3}}"]],
    ["select array_agg(c order by a desc, b) filter (where a is not null) from t", ["{p,w,z,NULL,x,y}"]],
    [
      "select sum(distinct a), avg(distinct b), count(distinct (a,b)), count(distinct c) from t",
      ["6|3.0000000000000000|7|6"],
    ],
    ["select sum(a) from t having count(*) > 100", []],
    ["select a, sum(b) from t group by a having sum(b) > 3 order by sum(b) desc", ["2|6", "∅|4"]],
    ["select sum(sum(a)) from t", "42803 aggregate function calls cannot be nested"],
    ["select a from t where sum(a) > 1", "42803 aggregate functions are not allowed in WHERE"],
    ["select sum(a) filter (where sum(b) > 1) from t", "42803 aggregate functions are not allowed in FILTER"],
    [
      "select a, b from t group by a",
      '42803 column "t.b" must appear in the GROUP BY clause or be used in an aggregate function',
    ],
    ["select count(*) from t group by count(*)", "42803 aggregate functions are not allowed in GROUP BY"],
    [
      "select avg(a::int8), sum(a::int8), sum(a::float4), avg(a::float4), sum(interval '1 h' * a), avg(interval '1 h' * b) from t",
      ["2.0000000000000000|12|12|2|12:00:00|02:40:00"],
    ],
    ["select array_agg(distinct a order by a desc nulls last) from t", ["{3,2,1,NULL}"]],
    [
      "select max(a) over (), sum(a) from t",
      '42803 column "t.a" must appear in the GROUP BY clause or be used in an aggregate function',
    ],
    ["select sum(sum(a)) over (order by b) from t group by b order by 1", ["3", "4", "7", "7", "9", "12"]],
    [
      "select count(*) over w, first_value(c) over w from t window w as (partition by a order by b rows between 1 preceding and 1 following) order by 1,2",
      ["1|q", "2|p", "2|p", "2|x", "2|x", "2|z", "2|z"],
    ],
    [
      "select lag(c, 1, 'none') over (order by a, b), lead(a, -1) over (order by a,b) from t",
      ["none|∅", "x|1", "y|1", "z|2", "∅|2", "p|3", "w|3"],
    ],
    ["select ntile(0) over () from t", "22014 argument of ntile must be greater than zero"],
    ["select nth_value(a, 0) over () from t", "22016 argument of nth_value must be greater than zero"],
    ["select sum(a) over (order by a rows -1 preceding) from t", "22013 frame starting offset must not be negative"],
    ["select sum(a) over (order by a rows null preceding) from t", "22004 frame starting offset must not be null"],
    [
      "select sum(a) over (order by a range -1 preceding) from t",
      "22013 invalid preceding or following size in window function",
    ],
    [
      "select avg(b::numeric(5,2)) over (order by a rows between 1 preceding and current row), stddev(b) over (order by a, b rows between 2 preceding and current row) from t order by a, b",
      [
        "1.00000000000000000000|∅",
        "1.5000000000000000|0.70710678118654752440",
        "1.5000000000000000|0.57735026918962576451",
        "3.0000000000000000|2.0816659994661327",
        "4.0000000000000000|2.0000000000000000",
        "3.0000000000000000|1.4142135623730950",
        "4.0000000000000000|0.70710678118654752440",
      ],
    ],
    [
      "select json_agg(b order by b), json_object_agg(b, c order by b, c), json_agg(array[a, b] order by a, b) from t where a = 1",
      ['[1, 2]|{ "1" : "x", "2" : "y" }|[[1,1], \n [1,2]]'],
    ],
  ]),
);
