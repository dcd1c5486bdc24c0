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
    ["select pg_get_expr(adbin, adrelid) from pg_attrdef where adnum = 4", ["twice(v)"]],
    ["select pg_get_constraintdef(oid) from pg_constraint where conname = 't_v_check'", ["CHECK (okay(v))"]],
    ["set search_path = evil"],
    ["select pg_get_expr(adbin, adrelid) from pg_attrdef where adnum = 4", ["public.twice(v)"]],
    ["select pg_get_constraintdef(oid) from pg_constraint where conname = 't_v_check'", ["CHECK (public.okay(v))"]],
    [
      "select pg_get_indexdef('public.t_i'::regclass)",
      ["CREATE UNIQUE INDEX t_i ON public.t USING btree (public.twice(v)) WHERE (public.okay(v))"],
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
    ["select pg_get_constraintdef(oid) from pg_constraint where conname = 't_v_check'", ["CHECK (fine(v))"]],
    ["select pg_get_expr(adbin, adrelid) from pg_attrdef where adnum = 4", ["evil.dbl(v)"]],
    ["create or replace function fine(text) returns boolean language sql immutable as $$ select $1 <> 'x' $$"],
    ["insert into t (id, v) values (3, 'x')", '23514 new row for relation "t" violates check constraint "t_v_check"'],
    ["alter table t drop column g, alter w drop default"],
    ["drop function fine(text) cascade"],
    ["select conname from pg_constraint where conrelid = 't'::regclass", ["t_v_check1"]],
    ["insert into t (id, v, s) values (4, 'bad', 'bad') returning w", ["∅"]],
  ]),
);
