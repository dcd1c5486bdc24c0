/** DROP … CASCADE takes whole columns, tables and types with it, as PostgreSQL 15 does. */
import t from "tap";
import { script } from "../session/sql-script.js";

const COLUMNS =
  "select string_agg(attname, ',' order by attnum) from pg_attribute where attnum > 0 and not attisdropped and attrelid = ";

t.test("a function takes generated columns, partitioned tables, domains and indexes", async (t) => {
  const db = await script(t);
  await db.run(
    "create function f(i int) returns int immutable language sql as 'select i + 1'",
    "create table g (id int primary key, x int generated always as (f(id)) stored, y int)",
    "create index gx on g (x)",
    "create view gv as select x from g",
    "create view gy as select y from g",
    "insert into g (id, y) values (1, 2)",
    "create table p (id int, v int) partition by list (f(id))",
    "create table p1 partition of p for values in (2)",
    "create view pv as select * from p1",
    "insert into p values (1, 1)",
    "create domain d as int default f(3)",
    "create domain d2 as int check (value > f(0))",
    "create domain dd as d",
    "create table ud (id int, c d, e d2, a d[], z dd)",
    "insert into ud (id, e) values (1, 9)",
    "create table i (id int, w int)",
    "create index iw on i (f(w))",
    "create index ip on i (id) where f(w) > 3",
    "create table inh (id int, x int generated always as (f(id)) stored)",
    "create table inhc () inherits (inh)",
    "insert into inhc values (7)",
  );
  t.match(
    await db.fails("drop function f(int)"),
    /^2BP01 cannot drop function f\(integer\) because other objects depend on it/,
  );
  await db.run("drop function f(int) cascade");
  t.same(await db.rows("select * from g"), ["1|2"]);
  t.same(await db.rows("select * from gy"), ["2"]);
  t.same(await db.rows(`${COLUMNS} 'ud'::regclass`), ["id,e"]);
  t.same(await db.rows("select * from ud"), ["1|9"]);
  await db.run("insert into ud values (2, -1)");
  t.same(await db.rows("select * from inh"), ["7"]);
  t.same(await db.rows(`${COLUMNS} 'inhc'::regclass`), ["id"]);
  t.same(await db.rows("select relname from pg_class where relname in ('p', 'p1', 'pv', 'gv', 'gx', 'iw', 'ip')"), []);
  t.same(await db.rows("select typname from pg_type where typname in ('d', 'd2', 'dd')"), ["d2"]);
  await db.run("create table p (id int)", "create domain d as int", "insert into i values (1, 1)");
});

t.test("a type takes its columns with what reads them", async (t) => {
  const db = await script(t);
  await db.run(
    "create type en as enum ('a', 'b')",
    "create domain de as en",
    "create table te (id int, c en, g text generated always as (case when c = 'a' then 'x' else 'y' end) stored, k de, check (c <> 'b'))",
    "create view vte as select c from te",
    "create view vid as select id from te",
    "create index ie on te ((c = 'a'))",
    "create index iw on te (id) where c = 'a'",
    "insert into te values (1, 'a', default, 'b')",
    "create table keyed (k en, n int, v int, primary key (k, n))",
    "insert into keyed values ('a', 1, 10), ('b', 1, 20)",
    "create table refers (k en, n int, foreign key (k, n) references keyed)",
    "create table parts (k en, v int) partition by list (k)",
    "create table parts_a partition of parts for values in ('a')",
  );
  t.match(await db.fails("drop type en"), /^2BP01 /);
  await db.run("drop type en cascade");
  t.same(await db.rows("select * from te"), ["1"]);
  t.same(await db.rows("select * from vid"), ["1"]);
  await db.run("insert into te values (2)");
  t.same(await db.rows("select * from keyed order by v"), ["1|10", "1|20"]);
  await db.run("insert into keyed values (1, 30)", "insert into refers values (5)");
  t.same(
    await db.rows(
      "select relname from pg_class where relname in ('vte', 'ie', 'iw', 'parts', 'parts_a', 'keyed_pkey')",
    ),
    [],
  );
  t.same(await db.rows("select typname from pg_type where typname in ('en', 'de')"), []);
});

t.test("a table takes columns that hold its rows, an extension those of its types", async (t) => {
  const db = await script(t);
  await db.run(
    "create table part (a int)",
    "create domain whole as part",
    "create table holds (id int, p part, w whole)",
    "create view shown as select id, p from holds",
    "insert into holds values (1, row(1), row(2))",
  );
  t.match(await db.fails("drop table part"), /^2BP01 cannot drop table part/);
  await db.run("drop table part cascade");
  t.same(await db.rows("select * from holds"), ["1"]);
  t.match(await db.fails("select * from shown"), /^42P01 /);
  await db.run("create table part (b text)", "create domain whole as int");

  await db.run(
    "create extension vector",
    "create table v (id int primary key, e vector(2), n int)",
    "create index on v using hnsw (e vector_l2_ops)",
    "create view near as select e from v",
    "insert into v values (1, '[1,2]', 3)",
  );
  t.match(await db.fails("drop extension vector"), /^2BP01 cannot drop extension vector/);
  await db.run("drop extension vector cascade");
  t.same(await db.rows("select * from v"), ["1|3"]);
  t.match(await db.fails("select * from near"), /^42P01 /);
});

t.test("what was dropped is back when the transaction is not committed", async (t) => {
  const db = await script(t);
  await db.run(
    "create type en as enum ('a', 'b')",
    "create table keyed (k en primary key, v int)",
    "insert into keyed values ('a', 1), ('b', 2)",
    "begin",
    "drop type en cascade",
  );
  t.same(await db.rows("select * from keyed order by v"), ["1", "2"]);
  await db.run("rollback");
  t.same(await db.rows("select v from keyed where k = 'b'"), ["2"]);
});

t.test("a schema takes its range types, and those whose multirange is in it", async (t) => {
  const db = await script(t);
  await db.run(
    "create schema shop",
    "create schema store",
    "create type shop.weights as range (subtype = numeric)",
    "create table shop.t (w shop.weights, m shop.weights_multirange)",
    "create type store.span as range (subtype = int, multirange_type_name = shop.spans)",
    "create table store.u (id int, s store.span)",
    "drop schema shop cascade",
  );
  t.same(await db.rows("select typname from pg_type where typname ~ '^_?(weights|span)'"), []);
  t.same(await db.rows(`${COLUMNS} 'store.u'::regclass`), ["id"]);
});
