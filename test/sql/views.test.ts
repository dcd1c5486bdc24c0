/** Views run through a session: what they show, what they keep of names, and what depends on them. */
import t, { type Test } from "tap";
import { open } from "../conformance/sql-adapter.js";

type Database = Awaited<ReturnType<typeof open>>;

async function opened(t: Test): Promise<Database> {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("create table t (id int primary key, v text)");
  await database.exec("insert into t values (1, 'a'), (2, 'b'), (3, 'c')");
  return database;
}

const rows = async (database: Database, sql: string) => (await database.exec(sql)).rows.map((row) => row.join("|"));
const failure = (database: Database, sql: string) =>
  database.exec(sql).then(
    () => "none",
    (error) => `${(error as { code: string }).code} ${(error as Error).message}`,
  );

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
