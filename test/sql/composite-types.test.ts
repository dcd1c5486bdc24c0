/**
 * Columns of composite types and of tables' rows, ALTER TYPE of their fields, domains over them. Expectations are
 * PostgreSQL 15's.
 */
import t from "tap";
import { checkStatements } from "./run-sql.js";

t.test("ALTER TYPE over stored values", (t) =>
  checkStatements(t, [
    ["create type pair as (a int, b text)"],
    ["create table t (id int primary key, p pair)"],
    ["insert into t values (1, row(1,'x')), (2, row(2,'y'))"],
    ["alter type pair add attribute c date"],
    ["insert into t values (3, row(3,'z','2020-01-01'))"],
    ["alter type pair drop attribute a, add attribute d int"],
    ["insert into t values (4, row('w','2021-01-01',7))"],
    ["select p from t order by id", ["(x,,)", "(y,,)", "(z,2020-01-01,)", "(w,2021-01-01,7)"]],
    ["alter type pair rename attribute b to label"],
    ["select (p).label, (p).d from t where id = 4", ["w|7"]],
    ["alter type pair rename attribute b to e", '42703 column "b" does not exist'],
    ["alter type pair add attribute d int", '42701 column "d" of relation "pair" already exists'],
    ["alter type pair drop attribute x", '42703 column "x" of relation "pair" does not exist'],
    ["alter type pair drop attribute if exists x"],
    ["alter type pair alter attribute d type text", '0A000 cannot alter type "pair" because column "t.p" uses it'],
    ["alter type nowhere add attribute d int", '42P01 relation "nowhere" does not exist'],
    ["create table typed of pair"],
    ["alter type pair add attribute f int", '2BP01 cannot alter type "pair" because it is the type of a typed table'],
    ["insert into typed values ('l', '2020-02-02', 5)"],
    ["alter type pair add attribute f int cascade"],
    ["alter type pair drop attribute c cascade"],
    ["alter type pair rename attribute d to g cascade"],
    ["select * from typed", ["l|5|∅"]],
    ["select p from t where id = 4", ["(w,7,)"]],
  ]),
);

t.test("keys of composite values, and domains over them", (t) =>
  checkStatements(t, [
    ["create type pair as (a int, b text)"],
    ["create domain ordered as pair check ((value).a > 0)"],
    ["create table t (p ordered unique)"],
    ["insert into t values (row(2,'b')), (row(1,null)), (row(1,'z')), (null)"],
    ["insert into t values (row(1,'z')::pair)", '23505 duplicate key value violates unique constraint "t_p_key"'],
    ["select p from t order by p", ["(1,z)", "(1,)", "(2,b)", "∅"]],
    ["select p from t where p > row(1,'zz')::pair order by p desc", ["(2,b)", "(1,)"]],
    ["insert into t (p.a) values (-1)", '23514 value for domain ordered violates check constraint "ordered_check"'],
    ["insert into t (p.b, p.a) values ('n', 9)"],
    [
      "update t set p.a = (p).a - 9 where (p).a = 9",
      '23514 value for domain ordered violates check constraint "ordered_check"',
    ],
    ["alter type pair drop attribute a", '0A000 altering type "pair", of which "t.p" is a key, is not supported'],
    ["create domain small as int"],
    ["create table numbers (n small)"],
    ["insert into numbers values (50)"],
    [
      "alter domain small add constraint few check (value < 10)",
      '23514 column "n" of table "numbers" contains values that violate the new constraint',
    ],
    ["alter domain small add constraint few check (value < 10) not valid"],
    ["insert into numbers values (50)", '23514 value for domain small violates check constraint "few"'],
    [
      "alter domain small validate constraint few",
      '23514 column "n" of table "numbers" contains values that violate the new constraint',
    ],
    ["update numbers set n = 5"],
    ["alter domain small validate constraint few"],
  ]),
);

t.test("columns of the row type of a table follow the table", (t) =>
  checkStatements(t, [
    ["create table city (name text, size int)"],
    ["create table visit (id int primary key, at city, others city[])"],
    ["insert into visit values (1, row('Rome', 3), array[row('Oslo', 1)::city])"],
    ["alter table city add column country text"],
    ["alter table city drop column size"],
    ["insert into visit values (2, '(Bonn,DE)', null)"],
    ["insert into city values ('Lima', 'PE')"],
    ["insert into visit select 3, city, array[city] from city"],
    ["select * from visit order by id", ['1|(Rome,)|{"(Oslo,)"}', "2|(Bonn,DE)|∅", '3|(Lima,PE)|{"(Lima,PE)"}']],
    ["update visit set at.country = 'IT' where (at).name = 'Rome'"],
    ["select (at).*, others[1].name from visit where id = 1", ["Rome|IT|Oslo"]],
    [
      "alter table city add column since date default '2000-01-01'",
      '0A000 cannot alter table "city" because column "visit.at" uses its row type',
    ],
    ["drop type city", "2BP01 cannot drop type city because table city requires it"],
    ["alter table city rename to town"],
    ["select pg_typeof(at) from visit where id = 1", ["town"]],
    ["drop table town", "2BP01 cannot drop table town because other objects depend on it"],
    ["drop table town cascade"],
    ["select * from visit order by id", ["1", "2", "3"]],
  ]),
);

t.test("domains over arrays", (t) =>
  checkStatements(t, [
    ["create domain rising as int[] check (value[1] < value[2])"],
    ["select array[2,1]::rising", '23514 value for domain rising violates check constraint "rising_check"'],
    ["create table t (f rising, g rising[])"],
    ["insert into t values (array[1,2], array[array[3,4]::rising])"],
    ["update t set f[2] = 0", '23514 value for domain rising violates check constraint "rising_check"'],
    ["update t set f[2] = 5, g[2] = array[7,8]"],
    ["select f, g, g[2], (g[1])[2] from t", ['{1,5}|{"{3,4}","{7,8}"}|{7,8}|4']],
    [
      "do $$ declare x rising := '{1,2}'; begin x[2] := -1; end $$",
      '23514 value for domain rising violates check constraint "rising_check"',
    ],
    ["create domain named as text not null"],
    ["alter table t add column n named", "23502 domain named does not allow null values"],
    ["create domain greeting as text default 'hello' check (value <> 'bye')"],
    ["alter table t add column w greeting"],
    ["select w from t", ["hello"]],
  ]),
);
