/** `= ANY (array)` and `<> ALL (array)`: by a set, by keys and one by one the same rows. */
import t from "tap";
import { loadParser } from "../../src/sql/parse/parse.js";
import { checkStatements } from "./run-sql.js";

t.before(loadParser);

t.test("long arrays, keys, NULLs", async (t) => {
  const long = "(select array_agg(i) from generate_series(1, 90, 3) i)::int[]";
  const withNull = `array_append(${long}, null)`;
  await checkStatements(t, [
    ["create table k (id int primary key, g smallint, s text)"],
    ["create index on k (g desc)"],
    ["insert into k select i, i % 40, 'v' || i from generate_series(1, 100) i"],
    ["insert into k values (101, null, null)"],
    [`select count(*) from k where id = any (${long})`, ["30"]],
    [`select count(*) from k where id + 0 = any (${long})`, ["30"]],
    [`select count(*) from k where g = any (${long})`, ["33"]],
    [`select count(*) from k where (g + 0) = any (${long})`, ["33"]],
    [`select count(*) from k where (g + 0) = any (${withNull})`, ["33"]],
    [`select count(*) from k where g <> all (${long})`, ["67"]],
    [`select count(*) from k where g <> all (${withNull})`, ["0"]],
    [`select count(*), count(g = any (${withNull})), count(g = any (${long})) from k`, ["101|33|100"]],
    ["select count(*) from k where id = any ('{}')", ["0"]],
    ["select count(*) from k where id <> all ('{}')", ["101"]],
    ["select count(*) from k where id = any (null::int[])", ["0"]],
    ["select id from k where id = any ('{7, 3, 7, null, 3, 1000}') order by id desc", ["7", "3"]],
    ["select id from k where id = any ('{{7, 3}, {5, 99999999999}}'::bigint[]) order by id", ["3", "5", "7"]],
    ["select id from k where g = any ('{70000, 39}'::int[]) order by id", ["39", "79"]],
    ["select count(*) from k where s = any (select 'v' || i from generate_series(1, 50) i)", ["50"]],
    ["select count(*) from k where s = any (array(select 'v' || i from generate_series(1, 50) i))", ["50"]],
    ["select id from k where id in (values (3), (4), (null)) order by id", ["3", "4"]],
    ["select id from k where id not in (values (3), (null))", []],
    ["select id from k join unnest('{5, 6, 6}'::int[]) u on u = id order by id", ["5", "6", "6"]],
  ]);
});
