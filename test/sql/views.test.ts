/** Views run through a session: what they show, what they keep of names, and what depends on them. */
import t, { type Test } from "tap";
import { open } from "../conformance/sql-adapter.js";
import { type Database, failure, rows } from "./statements.js";

async function opened(t: Test): Promise<Database> {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("create table t (id int primary key, v text)");
  await database.exec("insert into t values (1, 'a'), (2, 'b'), (3, 'c')");
  return database;
}

t.test("a view shows the rows of now, under its own names", async (t) => {
  const database = await opened(t);
  await database.exec("create view late (number, letter) as select * from t where id > 1");
  await database.exec(
    "create view later as with w as (select letter, number from late) select * from w order by 2 desc",
  );
  t.same(await rows(database, "select letter from later"), ["c", "b"]);
  await database.exec("insert into t values (4, 'd')");
  t.same(await rows(database, "select l.number from late l join t on t.id = l.number where t.v = 'd'"), ["4"]);
  t.same(await rows(database, "explain (costs off) select * from late where number = 3"), [
    "Point Get using t_pkey on t",
    "  Index Cond: (id = 3)",
    "  Filter: (id > 1)",
  ]);
});

t.test("columns of views and of the system's relations are named with their schema, too", async (t) => {
  const database = await opened(t);
  await database.exec("create schema s");
  await database.exec("create view s.late as select * from t where id > 1");
  t.same(await rows(database, "select s.late.v from s.late where s.late.id = 2"), ["b"]);
  t.same(
    await rows(
      database,
      `select pg_catalog.pg_namespace.nspname from pg_catalog.pg_class
       join pg_catalog.pg_namespace on pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace
       where pg_catalog.pg_class.relname = 'late'`,
    ),
    ["s"],
  );
  t.same(
    await rows(
      database,
      "select information_schema.tables.table_name from information_schema.tables where table_schema = 's'",
    ),
    ["late"],
  );
  const other = "select s.pg_class.relname from pg_catalog.pg_class";
  t.match(await failure(database, other), /^42P01 missing FROM-clause entry for table "s.pg_class"/);
  const renamed = "select s.late.v from s.late as l";
  t.match(await failure(database, renamed), /^42P01 /);
});

t.test("CREATE OR REPLACE keeps the columns", async (t) => {
  const database = await opened(t);
  await database.exec("create view v as select id, v from t");
  await database.exec("create or replace view v as select id, upper(v) as v, 1 as more from t");
  t.same(await rows(database, "select * from v where id = 1"), ["1|A|1"]);
  t.match(await failure(database, "create or replace view v as select id from t"), /^42P16 cannot drop columns/);
  t.match(
    await failure(database, "create or replace view v as select id as n, v, 1 as more from t"),
    /^42P16 .*change name/,
  );
  t.match(await failure(database, "create or replace view t as select 1 as a"), /^42809 "t" is not a view/);
  t.match(await failure(database, "create view v as select 1"), /^42P07/);
  t.match(await failure(database, "create view d as select 1 as a, 2 as a"), /^42701/);
});

t.test("what depends on a relation keeps it, or goes with it", async (t) => {
  const database = await opened(t);
  await database.exec("create view a as select id from t");
  await database.exec("create view b as select * from a");
  t.match(await failure(database, "drop table t"), /^2BP01 cannot drop table t because other objects depend on it/);
  t.match(await failure(database, "drop view a"), /^2BP01 cannot drop view a/);
  await database.exec("drop view b, a");
  await database.exec("create view a as select id from t");
  await database.exec("drop table t cascade");
  t.match(await failure(database, "select * from a"), /^42P01/);
});

t.test("a view keeps names that its tables have lost", async (t) => {
  const database = await opened(t);
  await database.exec("create view a as select * from t where v > 'a'");
  await database.exec("alter table t rename column v to letter");
  await database.exec("alter table t rename to letters");
  await database.exec("alter table letters add column more int default 7");
  t.same(await rows(database, "select * from a"), ["2|b", "3|c"]);
  t.match(await failure(database, "alter table letters drop column letter"), /^2BP01/);
  t.match(await failure(database, "alter table letters alter column letter type varchar(9)"), /^0A000/);
  await database.exec("alter table letters drop column more");
  await database.exec("alter table letters drop column letter cascade");
  t.match(await failure(database, "select * from a"), /^42P01/);
});

t.test("tables that a query fills", async (t) => {
  const database = await opened(t);
  await database.exec(
    "create table twice (n) as with w as (select id from t) select a.id * 2, b.id from w a join w b using (id)",
  );
  t.same(await rows(database, "select n, id from twice order by n"), ["2|1", "4|2", "6|3"]);
  await database.exec("select v into last from t order by id desc limit 1");
  t.same(await rows(database, "select * from last"), ["c"]);
  await database.exec("create table none as select * from t with no data");
  t.same(await rows(database, "select count(*) from none"), ["0"]);
  await database.exec("create table if not exists none as select 1 as other");
  t.match(await failure(database, "create table none as select 1 as other"), /^42P07/);
});

t.test("a materialized view shows the rows of its last refresh", async (t) => {
  const database = await opened(t);
  await database.exec("create materialized view m as select count(*) as n from t with no data");
  t.match(await failure(database, "select * from m"), /^55000/);
  await database.exec("refresh materialized view m");
  await database.exec("insert into t values (4, 'd')");
  t.same(await rows(database, "select n from m"), ["3"]);
  await database.exec("refresh materialized view m");
  t.same(await rows(database, "select n from m"), ["4"]);
  t.match(await failure(database, "insert into m values (1)"), /^42809/);
  t.match(await failure(database, "drop table m"), /^42809/);
  t.match(await failure(database, "drop table t"), /^2BP01/);
  await database.exec("drop table t cascade");
  t.match(await failure(database, "select * from m"), /^42P01/);
});
