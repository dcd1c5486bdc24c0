/** Functions and procedures in LANGUAGE sql: definitions, overloads, notations, bodies. */
import t from "tap";
import { script } from "../session/sql-script.js";

t.test("arguments by position, by name, with defaults and as a list", async (t) => {
  const db = await script(t);
  await db.run(
    "create function f(a int, b int default 10, c text default 'x') returns text language sql as 'select a || c || b'",
    "create function total(variadic n int[]) returns bigint language sql as 'select sum(x) from unnest(n) x'",
  );
  t.same(await db.rows("select f(1), f(1, 2), f(1, c => 'y'), f(b => 3, a => 2)"), ["1x10|1x2|1y10|2x3"]);
  t.same(await db.rows("select total(1, 2, 3), total(variadic array[4, 5])"), ["6|9"]);
  t.equal(await db.fails("select f(a => 1, 2)"), "42601 positional argument cannot follow named argument");
  t.equal(await db.fails("select f(d => 1)"), "42883 function f(d => integer) does not exist");
});

t.test("overloads follow PostgreSQL's rules, with the functions of the system among them", async (t) => {
  const db = await script(t);
  await db.run(
    "create function g(int) returns text language sql as $$ select 'int' $$",
    "create function g(text) returns text language sql as $$ select 'text' $$",
    "create function g(numeric) returns text language sql as $$ select 'numeric' $$",
    "create function lower(int) returns text language sql as $$ select 'own' $$",
  );
  t.same(await db.rows("select g(1), g('a'), g(1.5), g(1::int8)"), ["int|text|numeric|numeric"]);
  t.same(await db.rows("select lower(1), lower('A'), public.lower(2)"), ["own|a|own"]);
  await db.run("create schema s", "create function s.g(int) returns text language sql as $$ select 's' $$");
  t.same(await db.rows("select s.g(1), g(1)"), ["s|int"]);
  await db.run("set search_path = s, public");
  t.same(await db.rows("select g(1), g('a')"), ["s|text"]);
});

t.test("pseudo-types stand for what a call gives", async (t) => {
  const db = await script(t);
  await db.run(
    "create function larger(a anyelement, b anyelement) returns anyelement language sql as 'select case when a > b then a else b end'",
    "create function first(anyarray) returns anyelement language sql as 'select $1[1]'",
    "create function pair(anycompatible, anycompatible) returns anycompatiblearray language sql as 'select array[$1, $2]'",
  );
  t.same(await db.rows("select larger(1, 2), larger('a'::text, 'b'), first(array['x', 'y'])"), ["2|b|x"]);
  t.same(await db.rows("select pair(1, 2.5), pg_typeof(pair(1, 2.5))"), ["{1,2.5}|numeric[]"]);
  t.match(await db.fails("select larger(1, 'a'::text)"), /^42883 function larger\(integer, text\) does not exist/);
});

t.test("rows: SETOF, TABLE, OUT parameters, record", async (t) => {
  const db = await script(t);
  await db.run(
    "create table t (id int primary key, x text)",
    "insert into t values (1, 'a'), (2, 'b')",
    "create function tab() returns table (i int, v text) language sql as 'select id, x from t order by id'",
    "create function rowsof() returns setof t language sql as 'select * from t order by id desc'",
    "create function outs(a int, out double int, out square int) language sql as 'select a * 2, a * a'",
    "create function bare() returns record language sql as $$ select 1, 'one'::text $$",
    "create function named(t) returns text language sql as $$ select $1.x || '!' $$",
  );
  t.same(await db.rows("select * from tab() where i > 1"), ["2|b"]);
  t.same(await db.rows("select tab()"), ["(1,a)", "(2,b)"]);
  t.same(await db.rows("select x from rowsof()"), ["b", "a"]);
  t.same(await db.rows("select * from outs(5)"), ["10|25"]);
  t.same(await db.rows("select (outs(3)).square"), ["9"]);
  t.same(await db.rows("select * from bare() as r(a int, b text)"), ["1|one"]);
  t.same(await db.rows("select named(t) from t order by id"), ["a!", "b!"]);
  t.same(await db.rows("select t.id, o.square from t, outs(t.id) o order by 1"), ["1|1", "2|4"]);
});

t.test("a body of statements changes data once per call and is undone with its statement", async (t) => {
  const db = await script(t);
  await db.run(
    "create table log (x int check (x < 10))",
    "create function put(x int) returns int language sql as 'insert into log values (x); select count(*)::int from log'",
    "create procedure twice(a int, inout b int) language sql as 'insert into log values (a), (a); select b + 1'",
  );
  t.same(await db.rows("select put(1), put(1)"), ["1|2"]);
  t.same(await db.rows("call twice(3, 4)"), ["5"]);
  t.match(await db.fails("select put(5), put(50)"), /^23514 /);
  t.same(await db.rows("select count(*) from log"), ["4"]);
  t.match(await db.fails("select twice(1, 2)"), /^42809 twice\(integer, integer\) is a procedure/);
  t.match(await db.fails("call put(1)"), /^42809 put\(integer\) is not a procedure/);
  await db.run("create function quiet() returns int stable language sql as 'insert into log values (1) returning x'");
  t.equal(await db.fails("select quiet()"), "0A000 INSERT is not allowed in a non-volatile function");
});

t.test("bodies are checked when the function is made", async (t) => {
  const db = await script(t);
  const mismatch = "42P13 return type mismatch in function declared to return integer";
  t.equal(await db.fails("create function b() returns int language sql as $$ select 'a'::text $$"), mismatch);
  t.equal(await db.fails("create function b() returns int language sql as 'select 1, 2'"), mismatch);
  t.equal(await db.fails("create function b() returns int language sql as ''"), mismatch);
  t.equal(
    await db.fails("create function b() returns int language sql as 'select y'"),
    '42703 column "y" does not exist',
  );
  t.equal(
    await db.fails("create function b() returns int language sql as 'select $1'"),
    "42P02 there is no parameter $1",
  );
  t.match(await db.fails("create function b() returns int language c as 'x'"), /^0A000 /);
  t.match(await db.fails("create function b() returns int language fortran as 'x'"), /^42704 /);
  t.match(
    await db.fails("create function b() language sql as 'select 1'"),
    /^42P13 function result type must be specified/,
  );
  t.match(
    await db.fails("create function b() returns anyelement language sql as 'select 1'"),
    /^42P13 cannot determine/,
  );
});

t.test("replacing and dropping", async (t) => {
  const db = await script(t);
  await db.run("create function r(a int) returns int language sql as 'select 1'");
  t.match(await db.fails("create function r(int) returns int language sql as 'select 2'"), /^42723 /);
  t.match(
    await db.fails("create or replace function r(int) returns text language sql as 'select 2'"),
    /^42P13 cannot change return type of existing function/,
  );
  t.match(
    await db.fails("create or replace function r(b int) returns int language sql as 'select 2'"),
    /^42P13 cannot change name/,
  );
  t.same(await db.rows("select r(1)"), ["1"]);
  await db.run("create or replace function r(a int) returns int language sql as 'select 2'");
  t.same(await db.rows("select r(1)"), ["2"], "plans made before are not used");
  await db.run("create function r(text) returns int language sql as 'select 3'", "create view v as select r(1) as x");
  t.match(await db.fails("drop function r"), /^42725 function name "r" is not unique/);
  t.match(await db.fails("drop function r(int)"), /^2BP01 cannot drop function r\(integer\)/);
  await db.run("drop function r(int) cascade", "drop function r(text)", "drop function if exists r(text), q");
  t.match(await db.fails("select * from v"), /^42P01 /);
  t.match(await db.fails("select r(1)"), /^42883 /);
});

t.test("STRICT, inlining and settings", async (t) => {
  const db = await script(t);
  await db.run(
    "create table k (id int primary key, v text)",
    "insert into k select i, 'v' || i from generate_series(1, 100) i",
    "create function same(int) returns int immutable language sql as 'select $1'",
    "create function strictly(a int, b int) returns int strict language sql as 'select coalesce(a, 0) + coalesce(b, 0)'",
    "create function path() returns text language sql set search_path = s1, s2 as $$ select current_setting('search_path') $$",
  );
  t.match((await db.rows("explain select v from k where id = same(7)")).join("\n"), /Point Get|Index/i);
  t.same(await db.rows("select v from k where id = same(7)"), ["v7"]);
  t.same(await db.rows("select strictly(1, 2), strictly(1, null), strictly(id, null) from k limit 1"), ["3|∅|∅"]);
  t.same(await db.rows("select path()"), ["s1, s2"]);
  t.same(await db.rows("show search_path"), ["public"]);
});

t.test("recursion ends", async (t) => {
  const db = await script(t);
  await db.run(
    "create function fac(n int8) returns int8 language sql as 'select case when n <= 1 then 1 else n * fac(n - 1) end'",
    "create function forever(n int) returns int language sql as 'select forever(n + 1)'",
  );
  t.same(await db.rows("select fac(10)"), ["3628800"]);
  t.equal(await db.fails("select forever(1)"), "54001 stack depth limit exceeded");
  t.same(await db.rows("select fac(3)"), ["6"]);
});

t.test("bodies of the standard keep the meaning of their names", async (t) => {
  const db = await script(t);
  await db.run(
    "create function three() returns int return 1 + 2",
    "create function steps(x int) returns setof int begin atomic select x; select x + 1 union all select 7; end",
  );
  t.same(await db.rows("select three()"), ["3"]);
  t.same(await db.rows("select * from steps(3)"), ["4", "7"]);
});

t.test("definitions can be read back", async (t) => {
  const db = await script(t);
  await db.run(
    "create function f(a int, b text default 'x') returns setof text language sql stable strict as 'select b'",
  );
  const text = [
    "CREATE OR REPLACE FUNCTION public.f(a integer, b text DEFAULT 'x')",
    " RETURNS SETOF text",
    " LANGUAGE sql",
    " STABLE STRICT",
    "AS $function$select b$function$",
    "",
  ].join("\n");
  const definition = "select pg_get_functiondef(oid) from pg_proc where proname = 'f'";
  t.same(await db.rows(definition), [text]);
  await db.run("drop function f", text);
  t.same(await db.rows(definition), [text]);
  t.same(await db.rows("select provolatile, proisstrict, pronargs, pronargdefaults from pg_proc where proname = 'f'"), [
    "s|true|2|1",
  ]);
  t.same(await db.rows("select routine_name, routine_type from information_schema.routines"), ["f|FUNCTION"]);
});

t.test("one column may be the whole record", async (t) => {
  const db = await script(t);
  await db.run(
    "create type pair as (l float8, r float8)",
    "create function make(l float8, r float8) returns pair language sql as 'select row(l, r)'",
  );
  t.same(await db.rows("select * from make(1, 2)"), ["1|2"]);
  t.same(await db.rows("select make(1, 2)"), ["(1,2)"]);
});
