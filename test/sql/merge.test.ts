/** MERGE run through a session: each kind of match, conditions in order, RETURNING, and its errors. */
import t, { type Test } from "tap";
import { open } from "../conformance/sql-adapter.js";
import { type Database, failure, rows } from "./statements.js";

async function opened(t: Test): Promise<Database> {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("create table t (id int primary key, v int, check (v < 1000))");
  await database.exec("create index t_v on t (v)");
  await database.exec("create table s (id int, d int)");
  await database.exec("insert into t values (1, 10), (2, 20), (3, 30)");
  await database.exec("insert into s values (2, 5), (3, -30), (4, 40)");
  return database;
}

t.test("the first action that fits is taken", async (t) => {
  const database = await opened(t);
  await database.exec(`merge into t using s on t.id = s.id
    when matched and t.v + s.d = 0 then delete
    when matched then update set v = t.v + s.d
    when not matched and s.d > 100 then do nothing
    when not matched then insert (id, v) values (s.id, s.d)`);
  t.same(await rows(database, "select * from t order by id"), ["1|10", "2|25", "4|40"]);
  t.same(await rows(database, "select id from t where v = 25"), ["2"], "the index follows");
});

t.test("rows that the source lacks, and RETURNING", async (t) => {
  const database = await opened(t);
  const merged = `merge into t as x using (select 1 as id union all select 99) q on x.id = q.id
    when not matched by source then delete
    when matched then update set v = x.v + 1
    when not matched then insert values (q.id, default)
    returning x.id, x.v, q.id`;
  t.same((await rows(database, merged)).sort(), ["1|11|1", "2|20|", "3|30|", "99||99"]);
  t.same(await rows(database, "select * from t order by id"), ["1|11", "99|"]);
});

t.test("inside of WITH it shares the snapshot", async (t) => {
  const database = await opened(t);
  const merged = `with m as (
      merge into t using s on t.id = s.id when not matched then insert values (s.id, s.d) returning t.id)
    select m.id, (select count(*) from t) from m`;
  t.same(await rows(database, merged), ["4|3"]);
  t.same(await rows(database, "select count(*) from t"), ["4"]);
});

t.test("errors leave no trace", async (t) => {
  const database = await opened(t);
  const twice = "merge into t using (values (1), (1)) q (id) on t.id = q.id when matched then update set v = 1";
  t.match(await failure(database, twice), /^21000 MERGE command cannot affect row a second time/);
  t.match(
    await failure(
      database,
      "merge into t using s on true when not matched by source then delete when matched then update set v = 5000",
    ),
    /^23514/,
  );
  t.match(
    await failure(
      database,
      "merge into t using s on t.id = s.id when matched then do nothing when matched then delete",
    ),
    /^42601 unreachable/,
  );
  t.match(
    await failure(database, "merge into t using s on t.id = s.id when not matched then insert values (1, t.v)"),
    /^42P01/,
  );
  t.same(await rows(database, "select * from t order by id"), ["1|10", "2|20", "3|30"]);
});
