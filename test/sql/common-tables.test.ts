/** WITH run through a session: what is shared, what changes data, and how recursion ends. */
import t, { type Test } from "tap";
import { open } from "../conformance/sql-adapter.js";
import { type Database, rows } from "./statements.js";

async function opened(t: Test): Promise<Database> {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("create table t (id int primary key, v text)");
  await database.exec("insert into t values (1, 'a'), (2, 'b'), (3, 'c')");
  return database;
}

t.test("recursion: UNION ALL, UNION, and as many rows as are read", async (t) => {
  const database = await opened(t);
  const count = "with recursive r(n) as (select 1 union all select n + 1 from r where n < 100) select sum(n) from r";
  t.same(await rows(database, count), ["5050"]);
  const ring = "with recursive r(n) as (select 1 union select (n + 1) % 4 from r) select n from r order by n";
  t.same(await rows(database, ring), ["0", "1", "2", "3"]);
  const endless = "with recursive r(n) as (select 1 union all select n + 1 from r) select n from r limit 3";
  t.same(await rows(database, endless), ["1", "2", "3"]);
  const perRow = `select t.id, l.n from t, lateral (
    with recursive r as (select t.id as n union all select n - 1 from r where n > 1) select sum(n) as n from r) l
    order by t.id`;
  t.same(await rows(database, perRow), ["1|1", "2|3", "3|6"]);
});

t.test("a volatile table is computed once", async (t) => {
  const database = await opened(t);
  t.same(await rows(database, "with x as (select random() as r) select a.r = b.r from x a, x b"), ["true"]);
});

t.test("changes in WITH: one snapshot, made exactly once, read or not", async (t) => {
  const database = await opened(t);
  const moved = "with d as (delete from t where id = 1 returning *) select (select count(*) from t), d.v from d";
  t.same(await rows(database, moved), ["3|a"]);
  t.same(await rows(database, "with i as (insert into t values (9, 'x')) select count(*) from t"), ["2"]);
  t.same(await rows(database, "select id from t order by id"), ["2", "3", "9"]);
  const twice = "with d as (delete from t where id = 2) update t set v = 'new' where id = 2 returning v";
  t.same(await rows(database, twice), ["new"], "the statement's own change comes first");
  t.same(await rows(database, "select id, v from t order by id"), ["2|new", "3|c", "9|x"]);
});

t.test("errors of recursion", async (t) => {
  const database = await opened(t);
  const code = async (sql: string) =>
    database.exec(sql).then(
      () => "none",
      (error) => (error as { code: string }).code,
    );
  t.equal(await code("with recursive r as (select n from r union all select 1) select * from r"), "42P19");
  t.equal(await code("with recursive r as (select 1 as n union all select n + 1.5 from r) select * from r"), "42804");
  t.equal(await code("with recursive a as (select * from b), b as (select * from a) select * from a"), "0A000");
  t.equal(await code("select * from (with d as (delete from t returning 1) select * from d) x"), "0A000");
  t.equal(
    await code(
      "with recursive r(s) as (select repeat('x', 9999) union all select s || 'y' from r) select count(*) from r",
    ),
    "53200",
  );
});
