/**
 * What is found wrong with a PL/pgSQL body when its function is made, and cursors. Expectations are PostgreSQL 15's.
 */
import t from "tap";
import { checkStatements } from "./run-sql.js";

const made = (head: string, body: string) => `create function ${head} as $$ ${body} $$ language plpgsql`;

t.test("bodies that are refused when the function is made", (t) =>
  checkStatements(t, [
    [
      made("f(in i int, out j int)", "begin return i + 1; end"),
      "42804 RETURN cannot have a parameter in function with OUT parameters",
    ],
    [made("f() returns int", "begin if true then return; end if; end"), '42601 missing expression at or near ";"'],
    [
      made("f() returns void", "begin return 5; end"),
      "42804 RETURN cannot have a parameter in function returning void",
    ],
    [
      made("f() returns setof int", "begin loop return 5; end loop; end"),
      "42804 RETURN cannot have a parameter in function returning set",
    ],
    [
      made("f() returns void", "declare c cursor (p int, q int) for select p + q; begin open c(q := 2, q := 1); end"),
      '42601 value for parameter "q" of cursor "c" specified more than once',
    ],
    [
      made("f() returns void", "declare c cursor (p int) for select p; begin open c; end"),
      '42601 cursor "c" has arguments',
    ],
    [
      made("f() returns void", "declare c refcursor; begin for r in c loop null; end loop; end"),
      "42601 cursor FOR loop must use a bound cursor variable",
    ],
    ["create type pair as (x int, y varchar)"],
    [made("f(x pair) returns void", "begin get diagnostics x = row_count; end"), '42601 "x" is not a scalar variable'],
  ]),
);

t.test("what is found when the function runs", (t) =>
  checkStatements(t, [
    ["do $$ declare y int := x + 1; x int := 42; begin end $$", '42703 column "x" does not exist'],
    ["create type pair as (x int, y varchar)"],
    [made("f() returns pair", "begin return (1, 'a'); end")],
    ["select f()", "42804 returned record type does not match expected record type"],
    ["drop function f"],
    [made("f() returns pair", "begin return (1, 'a'::varchar); end")],
    ["select f()", ["(1,a)"]],
    [
      made(
        "back() returns int",
        "declare c no scroll cursor for select 1; x int; begin open c; fetch c into x; fetch prior from c into x; return x; end",
      ),
    ],
    ["select back()", "55000 cursor can only scan forward"],
    [made("fixed() returns void", "declare c constant refcursor; begin open c for select 1; end")],
    ["select fixed()", '22005 variable "c" is declared CONSTANT'],
    [
      made(
        "left_open() returns int",
        "declare c cursor for select 7; x int; begin open c; fetch c into x; return x; end",
      ),
    ],
    ["select left_open()", ["7"]],
    ["select left_open()", ["7"]],
    ["create table two (a int)"],
    [
      made(
        "several() returns int",
        "declare x int; begin execute 'insert into two values (1), (2) returning a' into x; return x; end",
      ),
    ],
    ["select several()", ["1"]],
  ]),
);

t.test("checks that wait", (t) =>
  checkStatements(t, [
    ["create table parent (id int primary key)"],
    ["create table child (id int primary key, p int references parent deferrable initially deferred)"],
    ["begin"],
    ["insert into child values (0, 20)"],
    ["update child set id = id + 1"],
    ["commit", '23503 insert or update on table "child" violates foreign key constraint "child_p_fkey"'],
    ["begin"],
    ["insert into child values (0, 20)"],
    ["alter table child drop column p", '55006 cannot ALTER TABLE "child" because it has pending trigger events'],
    ["rollback"],
    ["alter table child drop column p", ["ALTER TABLE"]],
  ]),
);
