/** ALTER TABLE, generated columns, LIKE, TRUNCATE and indexes with expressions, end to end. */
import t from "tap";
import { script } from "./sql-script.js";

t.test("columns come and go", async (t) => {
  const { rows, run, fails } = await script(t);
  await run(
    "create table t (id int primary key, a int)",
    "insert into t values (1, 10), (2, 20)",
    "alter table t add column b int default 3 + 4, add c text not null default 'x', add if not exists a text",
    "alter table t add column d serial, add e int generated always as (a * 2) stored",
  );
  t.same(await rows("select * from t order by id"), ["1|10|7|x|1|20", "2|20|7|x|2|40"]);
  t.match(await fails("alter table t add f int not null"), /^23502 column "f" of relation "t" contains null values/);
  t.match(await fails("alter table t drop column a"), /^2BP01/);
  await run("alter table t drop column a cascade", "insert into t (id) values (3)");
  t.same(await rows("select * from t where id = 3"), ["3|7|x|3"]);
  await run("alter table t drop column id", "insert into t (b) values (8)");
  t.same(await rows("select b from t order by d"), ["7", "7", "7", "8"]);
  t.match(await fails("alter table t drop column nosuch"), /^42703/);
  await run("alter table if exists nosuch drop column x", "alter table t drop column if exists nosuch");
});

t.test("types change with rows, keys and indexes", async (t) => {
  const { rows, run, fails } = await script(t);
  await run(
    "create table t (id text primary key, n int unique default 3 check (n > 0))",
    "insert into t values ('10', 1), ('9', 2)",
  );
  t.match(await fails("alter table t alter id type int"), /^42804 column "id" cannot be cast automatically/);
  await run("alter table t alter id type int using id::int, alter n type numeric(5,1)");
  t.same(await rows("select * from t order by id"), ["9|2.0", "10|1.0"]);
  t.same(await rows("select id from t where n = 2.0"), ["9"]);
  t.match(await fails("insert into t values (11, 2)"), /^23505/);
  t.match(await fails("alter table t alter n type text"), /^42883/, "a check that does not bind any more");
  await run("insert into t values (12)");
  t.same(await rows("select * from t where id = 12"), ["12|3.0"]);
});

t.test("types of many rows change as they are read", async (t) => {
  const { rows, run, fails } = await script(t);
  await run(
    "create table p (id int primary key)",
    "insert into p select generate_series(0, 9)",
    `create table t (id int primary key, n int not null unique, p int references p, x text,
      twice int generated always as (id * 2) stored)`,
    "create table k (n int, x text)",
    "insert into t (id, n, p, x) select i, 5000 - i, i % 10, nullif(i % 7, 0)::text from generate_series(1, 3000) i",
    "insert into k select n, x from t order by id",
    "create function fired() returns trigger language plpgsql as 'begin raise exception $$fired$$; end'",
    "create trigger b before insert or update on k for each row execute function fired()",
    "create function rows_of_k(int) returns int language sql as 'select count(*)::int from k'",
  );
  const all = "select count(*), sum(n), sum(p), count(x), sum(twice), min(pg_typeof(n)::text) from t";
  await run("alter table t alter n type bigint");
  t.same(await rows(all), ["3000|10498500|13500|2572|9003000|bigint"]);
  t.same(await rows("select id from t where n = 4000"), ["1000"], "the index is of the new rows");
  t.match(await fails("insert into t (id, n) values (4000, 4000)"), /^23505/);
  t.match(
    await fails("alter table t alter n type int using nullif(n, 4321)::int"),
    /^23502 column "n" .* contains null/,
  );
  t.match(await fails("alter table t alter n type int using 7"), /^23505/);
  t.match(await fails("alter table t alter n type smallint using n::int * 100"), /^22003/);
  t.same(await rows(all), ["3000|10498500|13500|2572|9003000|bigint"], "nothing has changed");
  await run(
    "begin",
    "delete from t where id > 2900",
    "alter table t alter n type text using 'n' || n",
    "insert into t (id, n) values (5000, 'new')",
  );
  t.same(await rows("select count(*), min(n), max(n) from t"), ["2901|n2100|new"]);
  await run("rollback");
  t.same(await rows(all), ["3000|10498500|13500|2572|9003000|bigint"]);
  t.match(await fails("insert into t (id, n, p) values (4001, 1, 77)"), /^23503/);
  await run("alter table k alter n type bigint");
  t.same(await rows("select n from k limit 3"), ["4999", "4998", "4997"], "without a key they stay in their order");
  await run("alter table k alter x type int using rows_of_k(n::int)");
  t.same(await rows("select min(x), max(x) from k"), ["3000|3000"], "a function sees the table as it was");
});

t.test("constraints are checked against the rows that are there", async (t) => {
  const { rows, run, fails } = await script(t);
  await run("create table t (a int, b int)", "insert into t values (1, 1), (1, 2), (null, 3)");
  t.match(await fails("alter table t add primary key (a)"), /^(23502|23505)/);
  t.match(await fails("alter table t add unique (a)"), /^23505 could not create unique index "t_a_key"/);
  t.match(await fails("alter table t add check (b < 3)"), /^23514 check constraint "t_b_check" of relation "t"/);
  t.match(await fails("alter table t alter a set not null"), /^23502 column "a" of relation "t" contains null/);
  await run("alter table t add constraint small check (b < 3) not valid");
  t.match(await fails("alter table t validate constraint small"), /^23514/);
  t.match(await fails("insert into t values (4, 4)"), /^23514/);
  await run(
    "delete from t where b = 3",
    "alter table t validate constraint small",
    "alter table t add primary key (b)",
  );
  t.match(await fails("insert into t values (9, 1)"), /^23505/);
  await run("alter table t drop constraint t_pkey", "insert into t values (9, 1)");
  t.same(await rows("select a, b from t order by a, b"), ["1|1", "1|2", "9|1"]);
  t.match(await fails("alter table t drop constraint nosuch"), /^42704/);
});

t.test("names change everywhere", async (t) => {
  const { rows, run, fails } = await script(t);
  await run(
    "create table t (a int primary key, b int check (t.b > a), c int generated always as (a + b) stored)",
    "create index i on t ((b * 2)) where c > 0",
    "alter table t rename a to x",
    "alter table t rename to u",
    "alter index i rename to j",
    "alter table u rename constraint t_b_check to positive",
    "insert into u values (1, 2)",
  );
  t.same(await rows("select x, b, c from u"), ["1|2|3"]);
  t.equal(
    await fails("insert into u values (5, 2)"),
    '23514 new row for relation "u" violates check constraint "positive"',
  );
  await run("drop index j");
});

t.test("several actions run in PostgreSQL's order, and all or none", async (t) => {
  const { rows, run, fails } = await script(t);
  await run("create table t (a int)", "insert into t values (1)");
  await run("alter table t add constraint c check (b > 1), add column b int default 2, drop column a");
  t.same(await rows("select * from t"), ["2"]);
  t.match(await fails("alter table t add column d int, add check (b > 5)"), /^23514/);
  t.same(await rows("select * from t"), ["2"]);
});

t.test("identity columns", async (t) => {
  const { rows, run, fails } = await script(t);
  await run("create table t (id int not null, a text)", "alter table t alter id add generated always as identity");
  await run("insert into t (a) values ('x')");
  t.match(await fails("insert into t values (5, 'y')"), /^428C9/);
  await run("alter table t alter id set generated by default set increment by 10 restart with 100");
  await run("insert into t (a) values ('y')", "insert into t (a) values ('z')", "truncate t restart identity");
  await run("insert into t (a) values ('again')", "alter table t alter id drop identity");
  t.match(await fails("insert into t (a) values ('w')"), /^23502/);
  t.same(await rows("select a from t"), ["again"]);
});

t.test("like", async (t) => {
  const { rows, run, fails } = await script(t);
  await run(
    "create table a (id int primary key, b int default 5 check (b > 0), c int generated always as (b + 1) stored)",
    "create table plain (like a)",
    "create table whole (x text, like a including all, y text default 'z')",
    "insert into plain values (1)",
    "insert into whole (id) values (1)",
  );
  t.same(await rows("select * from plain"), ["1|∅|∅"]);
  t.same(await rows("select * from whole"), ["∅|1|5|6|z"]);
  t.match(await fails("insert into whole (id) values (1)"), /^23505/);
  t.match(await fails("insert into whole (id, b) values (2, -1)"), /^23514/);
});

t.test("indexes with expressions and predicates", async (t) => {
  const { rows, run, fails } = await script(t);
  await run(
    "create table t (id int primary key, name text, state text)",
    "create unique index on t (lower(name)) where state = 'live'",
    "create index on t (state) include (name)",
    "insert into t values (1, 'Ann', 'live'), (2, 'ANN', 'dead'), (3, null, 'live'), (4, null, 'live')",
  );
  t.match(await fails("insert into t values (5, 'ann', 'live')"), /^23505/);
  t.match(await fails("update t set state = 'live' where id = 2"), /^23505/);
  await run("update t set state = 'dead' where id = 1", "update t set state = 'live' where id = 2");
  const byName = "select id from t where lower(name) = 'ann' and state = 'live'";
  const plan = async (sql: string) => (await rows(`explain ${sql}`)).join();
  t.match(await plan(byName), /Point Get using t_lower_idx/);
  t.same(await rows(byName), ["2"]);
  t.match(await plan("select id from t where lower(name) = 'ann'"), /Seq Scan/);
  t.match(await plan("select id from t where name is null and state like 'li%'"), /Index Only Scan using t_state/);
  await run("delete from t where id = 2", "insert into t values (5, 'ann', 'live')");
  t.same(await rows(byName), ["5"]);
  t.match(await fails("create index on t ((now()))"), /^42P17/);
  t.match(await fails("create unique index on t (state)"), /^23505/);
});
