/** CREATE SCHEMA with what is made in it; checked against PostgreSQL 15. */
import t from "tap";
import { script } from "../session/sql-script.js";
import { checkStatements } from "./run-sql.js";

t.test("elements of every kind, in PostgreSQL's order", async (t) => {
  const db = await script(t);
  await db.run(
    "create role reader",
    "create function keep() returns trigger language plpgsql as 'begin new.b := 7; return new; end'",
    `create schema shop
       grant select on v to reader
       create trigger fill before insert on t for each row execute function keep()
       create view v as select a, b as "create" from t -- the goods
       create index by_b on t (b)
       create table t (a int primary key default nextval('s'), b int)
       create sequence s start 5`,
    "insert into shop.t (b) values (1)",
  );
  t.same(await db.rows("select * from shop.v"), ["5|7"]);
  t.same(await db.rows("select pg_get_viewdef('shop.v'::regclass) ~ 'shop.t'"), ["true"]);
  t.same(await db.rows("select has_table_privilege('reader', 'shop.v', 'select')"), ["true"]);
  t.same(await db.rows("select indexname from pg_indexes where schemaname = 'shop' order by 1"), ["by_b", "t_pkey"]);
  await db.run("set search_path = shop", "alter table t rename to goods", "create table t (x int)");
  t.same(await db.rows("select * from v"), ["5|7"], "the view keeps its table");
});

t.test("an element of another schema is refused, and nothing is made", (t) =>
  checkStatements(t, [
    [
      "create schema one create table t (a int) create view two.v as select 1 as a",
      "42P15 CREATE specifies a schema (two) different from the one being created (one)",
    ],
    ["select nspname from pg_namespace where nspname = 'one'", []],
    [
      "create schema one create table t (a int) create view v as select nope from t",
      '42703 column "nope" does not exist',
    ],
    ["select nspname from pg_namespace where nspname = 'one'", []],
  ]),
);
