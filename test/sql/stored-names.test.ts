/**
 * What definitions call stays what it was when they were made, whoever makes nearer functions, or ones that come
 * earlier in the search path. All outcomes are PostgreSQL 15's.
 */
import t from "tap";
import { checkStatements } from "./run-sql.js";

const MADE = [
  ["create schema evil"],
  ["create function okay(text) returns boolean language sql immutable as $$ select $1 <> 'bad' $$"],
  ["create function twice(text) returns text language sql immutable as $$ select $1 || $1 $$"],
  ["create domain short as varchar check (okay(value))"],
  ["create type pair as (a int, b int)"],
  [
    `create table t (id int, v varchar check (okay(v)) check (upper(v) <> 'NO'), w text default twice('a'),
     g text generated always as (twice(v)) stored, s short, n int default ('(1,2)'::pair).a)`,
  ],
  ["create unique index t_i on t (twice(v)) where okay(v)"],
  ["create function fire() returns trigger language plpgsql as $$ begin new.w := new.w || '!'; return new; end $$"],
  ["create trigger tr before insert on t for each row when (okay(new.v)) execute function fire()"],
  ["create table p (v varchar) partition by list (twice(v))"],
  ["create table p1 partition of p for values in ('xx')"],
  ["create function outer_of(a text, b text default twice('z')) returns text language sql as 'select a || b'"],
] as const;

const HIJACKED = [
  ["create function okay(varchar) returns boolean language sql volatile as $$ select false $$"],
  ["create function twice(varchar) returns text language sql immutable as $$ select 'hijacked' $$"],
  ["create function upper(varchar) returns text language sql immutable as $$ select 'NO' $$"],
  ["create function evil.okay(text) returns boolean language sql volatile as $$ select false $$"],
  ["create function evil.twice(text) returns text language sql immutable as $$ select 'hijacked' $$"],
  ["create type evil.pair as (x int, a int)"],
  ["set search_path = evil, public"],
] as const;

t.test("nearer and earlier functions change nothing that is stored", (t) =>
  checkStatements(t, [
    ...MADE,
    ...HIJACKED,
    ["insert into t (id, v, s) values (1, 'x', 'y') returning *", ["1|x|aa!|xx|y|1"]],
    ["insert into t (id, v) values (2, 'bad')", '23514 new row for relation "t" violates check constraint "t_v_check"'],
    [
      "insert into t (id, v, s) values (3, 'u', 'bad')",
      '23514 value for domain short violates check constraint "short_check"',
    ],
    ["insert into p values ('x') returning tableoid::regclass", ["p1"]],
    ["select public.outer_of('a')", ["azz"]],
    ["update t set v = 'q' returning g", ["qq"]],
    ["alter table t validate constraint t_v_check1"],
    ["alter table t add check (public.okay(w::text)) not valid"],
    ["alter table t validate constraint t_w_check"],
    ["create table c (like t including all)"],
    ["insert into c (id, v) values (1, 'x') returning *", ["1|x|aa|xx|∅|1"]],
    ["create table k () inherits (t)"],
    ["insert into k (id, v) values (1, 'x') returning *", ["1|x|aa|xx|∅|1"]],
    ["insert into k (id, v) values (1, 'bad')", '23514 new row for relation "k" violates check constraint "t_v_check"'],
  ]),
);

t.test("what is shown has the names that the search path needs", (t) =>
  checkStatements(t, [
    ...MADE,
    ["select pg_get_expr(adbin, adrelid) from pg_attrdef where adnum = 4", ["twice((v)::text)"]],
    ["select pg_get_constraintdef(oid) from pg_constraint where conname = 't_v_check'", ["CHECK (okay((v)::text))"]],
    ["set search_path = evil"],
    ["select pg_get_expr(adbin, adrelid) from pg_attrdef where adnum = 4", ["public.twice((v)::text)"]],
    [
      "select pg_get_constraintdef(oid) from pg_constraint where conname = 't_v_check'",
      ["CHECK (public.okay((v)::text))"],
    ],
    [
      "select pg_get_indexdef('public.t_i'::regclass)",
      ["CREATE UNIQUE INDEX t_i ON public.t USING btree (public.twice((v)::text)) WHERE public.okay((v)::text)"],
    ],
    ["select pg_get_partkeydef('public.p'::regclass)", ["LIST (public.twice(v))"]],
    ["select pg_get_function_arguments('public.outer_of'::regproc)", ["a text, b text DEFAULT public.twice('z')"]],
    [
      "insert into public.t (id, v) values (1, 'q'), (2, 'q')",
      '23505 duplicate key value violates unique constraint "t_i"',
    ],
    ["insert into public.t (id, v) values (1, 'q')"],
    ["insert into public.t (id, v) values (2, 'q') on conflict (public.twice(v)) where public.okay(v) do nothing"],
    ["select count(*) from public.t", ["1"]],
  ]),
);

t.test("a function is followed when it gets another name, schema or body, and is needed", (t) =>
  checkStatements(t, [
    ...MADE,
    ...HIJACKED,
    ["set search_path = public"],
    ["drop function okay(text)", "2BP01 cannot drop function okay(text) because other objects depend on it"],
    ["drop function twice(text)", "2BP01 cannot drop function twice(text) because other objects depend on it"],
    ["alter function okay(text) rename to fine"],
    ["alter function twice(text) rename to dbl"],
    ["alter function dbl(text) set schema evil"],
    ["insert into t (id, v) values (1, 'x') returning w, g", ["aa!|xx"]],
    ["insert into t (id, v) values (2, 'bad')", '23514 new row for relation "t" violates check constraint "t_v_check"'],
    ["select pg_get_constraintdef(oid) from pg_constraint where conname = 't_v_check'", ["CHECK (fine((v)::text))"]],
    ["select pg_get_expr(adbin, adrelid) from pg_attrdef where adnum = 4", ["evil.dbl((v)::text)"]],
    ["create or replace function fine(text) returns boolean language sql immutable as $$ select $1 <> 'x' $$"],
    ["insert into t (id, v) values (3, 'x')", '23514 new row for relation "t" violates check constraint "t_v_check"'],
    ["alter table t drop column g, alter w drop default"],
    ["drop function fine(text) cascade"],
    ["select conname from pg_constraint where conrelid = 't'::regclass", ["t_v_check1"]],
    ["insert into t (id, v, s) values (4, 'bad', 'bad') returning w", ["∅"]],
  ]),
);

/** One of each place in which a query can name what statements made. */
const QUERIES = [
  ["create type feel as enum ('sad', 'glad')"],
  ["create function okv(text) returns text language sql as $$ select 'ok ' || $1 $$"],
  ["create function nums(int) returns setof int language sql as 'select generate_series(1, $1)'"],
  ["create function plus(int, int) returns int language sql immutable as 'select coalesce($1, 0) + $2'"],
  ["create aggregate total(int) (sfunc = plus, stype = int)"],
  ["create table t (id int, v varchar, f feel)"],
  ["insert into t values (1, 'a', 'sad'), (2, 'b', 'glad')"],
  // Another statement before it, and characters of two units: the places in the text are not those in the script.
  ["select '🎈'; create view v as select '🎈', /* don't */ okv(v) as o, (select okv('z')) as s from t order by okv(v)"],
  [
    `create view sets as with w as (select n from nums(2) n) select n, total(n), total(n) over () as s from w,
    lateral nums(n) group by n having total(n) > 0 union all select plus(1, n), 0, 0 from w`,
  ],
  [
    `create view types as select 'sad'::feel as a, cast('glad' as public.feel) as b, '{sad}'::feel[] as c,
    feel 'sad' as d, '(7,x,sad)'::t as e, case when f = 'sad'::feel then "plus"(1, 1) else public . plus(2, 2) end as g from t`,
  ],
  ["create materialized view m as select okv(v) as o from t"],
] as const;

const RENAMED = [
  ["create schema other"],
  ["alter function okv(text) rename to was_okv"],
  ["alter function plus(int, int) set schema other"],
  ["alter function nums(int) rename to numbers"],
  ['alter aggregate total(int) rename to "Sum"'],
  ["alter type feel rename to mood"],
  ["alter type mood set schema other"],
  // What takes their places, nearer and earlier.
  ["create function okv(text) returns text language sql as $$ select 'hijacked' $$"],
  ["create function okv(varchar) returns text language sql as $$ select 'hijacked' $$"],
  ["create function plus(int, int) returns int language sql as 'select 666'"],
  ["create function nums(int) returns setof int language sql as 'select 666'"],
  ["create domain feel as text check (value = 'hijacked')"],
] as const;

const ROWS = [
  ["select * from v", ["🎈|ok a|ok z", "🎈|ok b|ok z"]],
  ["select * from sets order by 1, 2", ["1|1|3", "2|0|0", "2|4|3", "3|0|0"]],
  ["select * from types", ["sad|glad|{sad}|sad|(7,x,sad)|2", "sad|glad|{sad}|sad|(7,x,sad)|4"]],
  ["refresh materialized view m"],
  ["select * from m", ["ok a", "ok b"]],
] as const;

t.test("queries of views follow renames and moves", (t) =>
  checkStatements(t, [
    ...QUERIES,
    ...ROWS,
    ...RENAMED,
    ...ROWS,
    ["select pg_get_viewdef('m'::regclass)", [" SELECT was_okv((t.v)::text) AS o\n   FROM t;"]],
    [
      "select pg_get_viewdef('v'::regclass)",
      [
        ` SELECT '🎈'::text AS "?column?",
    was_okv((t.v)::text) AS o,
    ( SELECT was_okv('z'::text) AS okv) AS s
   FROM t
  ORDER BY (was_okv((t.v)::text));`,
      ],
    ],
    [
      "select definition ~ 'other.plus' and definition ~ 'other.mood\\[\\]' from pg_views where viewname = 'types'",
      ["true"],
    ],
    ["drop function was_okv(text)", "2BP01 cannot drop function was_okv(text) because other objects depend on it"],
    ["drop function okv(text)"],
    ['drop aggregate "Sum"(int)', "2BP01 cannot drop aggregate Sum(integer) because other objects depend on it"],
    ["create view over as select * from v"],
    ["drop function was_okv(text) cascade"],
    ["select * from over", '42P01 relation "over" does not exist'],
    ["select * from m", '42P01 relation "m" does not exist'],
  ]),
);

t.test("conditions of policies follow renames and moves", (t) =>
  checkStatements(t, [
    ["create function seen(varchar) returns boolean language sql as $$ select $1 <> 'b' $$"],
    ["create table t (v varchar)"],
    ["insert into t values ('a'), ('b')"],
    ["create policy p on t using (/* don't */ seen(v)) with check (seen(v))"],
    ["alter table t enable row level security"],
    ["create role r"],
    ["grant select, insert on t to r"],
    ["alter function seen(varchar) rename to shown"],
    ["create function seen(varchar) returns boolean language sql as 'select true'"],
    ["set role r"],
    ["select * from t", ["a"]],
    ["insert into t values ('b')", '42501 new row violates row-level security policy for table "t"'],
    ["reset role"],
    ["select qual, with_check from pg_policies", ["shown(v)|shown(v)"]],
    [
      "drop function shown(varchar)",
      "2BP01 cannot drop function shown(character varying) because other objects depend on it",
    ],
  ]),
);

const BODIES = [
  ["create schema evil"],
  ["create type feel as enum ('sad', 'glad')"],
  ["create function okay(text) returns boolean language sql immutable as $$ select $1 <> 'bad' $$"],
  ["create table t (id int, v varchar, f feel default 'sad')"],
  ["create table log (what text, at int default 7)"],
  ["create function good(varchar) returns boolean return okay($1)"],
  [
    `create function put(n int, w varchar) returns varchar begin atomic
    insert into log select 'put ' || w where /* can't */ okay(w);
    insert into t values (n, w) returning v; end`,
  ],
  [
    "create function move(n int) returns int begin atomic update t set v = t.v || '!', f = 'glad'::feel from log where id = n and okay(t.v) returning t.id; end",
  ],
  ["create function gone(n int) returns setof varchar begin atomic delete from t where t.id = n returning v; end"],
  [
    "create function words() returns setof text begin atomic with w as (select v as y from t) select y || f from w, t where t.id < 9; end",
  ],
] as const;

t.test("bodies that are statements keep what they meant", (t) =>
  checkStatements(t, [
    ...BODIES,
    ["create function okay(varchar) returns boolean language sql as 'select false'"],
    ["create function evil.okay(text) returns boolean language sql as 'select false'"],
    ["create table evil.t (id int, v varchar, f text)"],
    ["create table evil.log (what text)"],
    ["create type evil.feel as enum ('glad')"],
    ["create temp table log (what text)"],
    ["set search_path = evil, public"],
    ["select good('x'), good('bad')", ["true|false"]],
    ["select put(1, 'x')", ["x"]],
    ["select move(1)", ["1"]],
    ["select words()", ["x!glad"]],
    ["select * from public.log", ["put x|7"]],
    ["select gone(1)", ["x!"]],
  ]),
);

t.test("bodies that are statements follow renames", (t) =>
  checkStatements(t, [
    ...BODIES,
    ["alter table t rename column v to w"],
    ["alter table t rename id to nr"],
    ["alter table t add x int default 5"],
    ["alter table t rename to tab"],
    ["alter table log set schema evil"],
    ["alter function okay(text) rename to okey"],
    ["alter type feel rename to mood"],
    ["select good('x'), good('bad')", ["true|false"]],
    ["select put(1, 'x')", ["x"]],
    ["select move(1)", ["1"]],
    ["select words()", ["x!glad"]],
    ["table evil.log", ["put x|7"]],
    ["table tab", ["1|x!|glad|5"]],
    ["select gone(1)", ["x!"]],
    ["select pg_get_function_sqlbody('good'::regproc)", ["return okey($1)"]],
    // By which pg_dump puts what is used first.
    [
      `select distinct coalesce(c.relname, p.proname) from pg_depend d left join pg_class c on c.oid = d.refobjid
       left join pg_proc p on p.oid = d.refobjid where d.objid = 'put'::regproc and d.refclassid <> 'pg_namespace'::regclass order by 1`,
      ["log", "okey", "tab"],
    ],
    [
      "select routine_definition ~ 'public.okey|okey', routine_definition ~ 'pg_object' from information_schema.routines where routine_name = 'put'",
      ["true|false"],
    ],
    [
      "select pg_get_function_sqlbody('put'::regproc)",
      [
        "begin atomic\n    insert into evil.log select 'put ' || w where okey(w);\n    insert into tab AS t values (n, w) returning w AS v; end",
      ],
    ],
  ]),
);

t.test("what bodies that are statements use cannot be dropped", (t) =>
  checkStatements(t, [
    ...BODIES,
    ["create view over as select good(v) from t"],
    ["create table held (v varchar check (good(v)))"],
    ["drop function okay(text)", "2BP01 cannot drop function okay(text) because other objects depend on it"],
    ["drop table log", "2BP01 cannot drop table log because other objects depend on it"],
    ["drop table t", "2BP01 cannot drop table t because other objects depend on it"],
    ["drop type feel", "2BP01 cannot drop type feel because other objects depend on it"],
    ["alter table t drop column v", "2BP01 cannot drop column v of table t because other objects depend on it"],
    ["alter table log drop column at"],
    [
      "alter table log drop column what",
      "2BP01 cannot drop column what of table log because other objects depend on it",
    ],
    ["alter table log alter what type varchar", "0A000 cannot alter type of a column used by a function or procedure"],
    ["drop table log cascade"],
    ["select move(1)", "42883 function move(integer) does not exist"],
    ["select put(1, 'x')", "42883 function put(integer, unknown) does not exist"],
    ["select good('x')", ["true"]],
    ["drop function okay(text) cascade"],
    ["select good('x')", "42883 function good(unknown) does not exist"],
    ["table over", '42P01 relation "over" does not exist'],
    ["insert into held values ('bad')"],
    ["drop schema public cascade"],
  ]),
);

t.test("what a body of statements may not be", (t) =>
  checkStatements(t, [
    [
      "create function f(anyelement) returns anyelement return $1",
      "42P13 SQL function with unquoted function body cannot have polymorphic arguments",
    ],
    ["create function f() returns int return f() + 1", "42883 function f() does not exist"],
    [
      "create procedure p() begin atomic create table x (a int); end",
      "0A000 CREATE TABLE is not yet supported in unquoted function body",
    ],
    ["create function f() returns int return 1"],
    ["create or replace function f() returns int return f() + 1"],
    ["drop function f()"],
  ]),
);

t.test("rules keep what their names meant, and follow renames", (t) =>
  checkStatements(t, [
    ...BODIES,
    [
      "create rule r as on insert to t where okay(new.v) do also /* can't */ insert into log select 'r ' || new.v where okay(new.v)",
    ],
    ["create rule q as on delete to t do instead update t set f = 'glad'::feel where id = old.id"],
    ["create function okay(varchar) returns boolean language sql as 'select false'"],
    ["create temp table log (what text)"],
    ["alter function okay(text) rename to okey"],
    ["alter type feel rename to mood"],
    ["alter table public.log rename what to word"],
    ["alter table public.log rename to logged"],
    ["insert into t values (1, 'x'), (2, 'bad')"],
    ["delete from t where id = 1"],
    ["select * from t order by 1", ["1|x|glad", "2|bad|sad"]],
    ["table logged", ["r x|7"]],
    [
      "select pg_get_ruledef(oid) from pg_rewrite where rulename = 'r'",
      [
        "create rule r AS\n    on insert to public.t where okey(new.v) do also insert into logged AS log select 'r ' || new.v where okey(new.v);",
      ],
    ],
    ["drop function put"],
    ["drop table logged", "2BP01 cannot drop table logged because other objects depend on it"],
    ["drop function good"],
    ["drop function move"],
    ["drop function okey(text)", "2BP01 cannot drop function okey(text) because other objects depend on it"],
    ["drop table logged cascade"],
    ["select rulename from pg_rules", ["q"]],
    ["insert into t values (3, 'y')"],
    ["drop table t cascade"],
  ]),
);

t.test("types that texts name, or functions take or give, cannot be dropped", (t) =>
  checkStatements(t, [
    ["create type feel as enum ('sad', 'glad')"],
    ["create domain short as varchar(3)"],
    ["create domain other as text check (value::short <> 'no')"],
    ["create table t (v text default 'sad'::feel::text, check (v::feel <> 'glad'))"],
    ["create function f(feel) returns int language sql as 'select 1'"],
    ["create function rows_of() returns setof t language sql as 'select * from t'"],
    ["create view v as select 'a'::short as s"],
    ["create view over as select * from v"],
    ["drop type feel", "2BP01 cannot drop type feel because other objects depend on it"],
    ["drop domain short", "2BP01 cannot drop type short because other objects depend on it"],
    ["drop table t", "2BP01 cannot drop table t because other objects depend on it"],
    ["drop domain short cascade"],
    ["select * from over", '42P01 relation "over" does not exist'],
    ["select 'no'::other", ["no"]],
    ["drop type feel cascade"],
    ["insert into t values ('glad'), (default)"],
    ["select * from t", ["glad", "∅"]],
    ["select f(null)", "42883 function f(unknown) does not exist"],
    ["drop table t cascade"],
    ["select rows_of()", "42883 function rows_of() does not exist"],
  ]),
);

t.test("names and literals that look like references are none", (t) =>
  checkStatements(t, [
    ["create function first(int) returns int language sql immutable as 'select $1'"],
    ["create function okay(text) returns text language sql immutable as $$ select $1 || '!' $$"],
    ["create table t (id int)"],
    ["insert into t values (1)"],
    ["create view v as select pg_object_1.id, PG_Object_2.id as two from t pg_object_1, t pg_object_2"],
    ["select * from v", ["1|1"]],
    [
      `create view w as select E'it\\'s pg_object_2.okay(1)' as a, $$pg_object_1.okay$$ as b, U&'\\0061 pg_object_1.x' as c,
      'pg_object_2.a' as d, E'\\\\' as e`,
    ],
    ["select * from w", ["it's pg_object_2.okay(1)|pg_object_1.okay|a pg_object_1.x|pg_object_2.a|\\"]],
    [
      "select pg_get_viewdef('w'::regclass)",
      [
        ` SELECT 'it''s pg_object_2.okay(1)'::text AS a,
    'pg_object_1.okay'::text AS b,
    'a pg_object_1.x'::text AS c,
    'pg_object_2.a'::text AS d,
    '\\'::text AS e;`,
      ],
    ],
    ["create table pg_object_2 (okay int, v text default E'\\'pg_object_2.okay(v)', check (pg_object_2.okay > 0))"],
    ["create view x as select pg_object_2.okay, okay('x') as y from pg_object_2"],
    ["create function b() returns int return (select pg_object_2.okay from pg_object_2)"],
    ["insert into pg_object_2 values (5)"],
    ["select *, b() from x", ["5|x!|5"]],
    ["drop function okay(text)", "2BP01 cannot drop function okay(text) because other objects depend on it"],
    ["drop view x"],
    ["drop function okay(text)"],
    ["drop function first(int)"],
    ["select * from v", ["1|1"]],
    ["select b()", ["5"]],
  ]),
);
