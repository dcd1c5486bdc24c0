/** PREPARE, EXECUTE and DEALLOCATE run through a session. */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";

t.test("prepared statements live with the session", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const rows = async (sql: string) => (await database.exec(sql)).rows.map((row) => row.join("|"));
  const code = (sql: string) =>
    database.exec(sql).then(
      () => "none",
      (error) => (error as { code: string }).code,
    );
  await database.exec("create table t (id int primary key, v text)");
  await database.exec("prepare put (int, text) as insert into t values ($1, $2) returning *");
  t.same(await rows("execute put (1, 'a')"), ["1|a"]);
  t.same(await rows("execute put (1 + 1, upper('b'))"), ["2|B"]);
  t.equal(await code("execute put (1)"), "42601");
  t.equal(await code("execute put (true, 'x')"), "42804");
  t.equal(await code("prepare put as select 1"), "42P05");
  t.equal(await code("prepare wrong as select missing from t"), "42703");
  await database.exec("prepare find as select * from t where id = $1");
  await database.exec("alter table t add column w int default 9");
  t.same(await rows("execute find ('2')"), ["2|B|9"], "planned anew after a change of definitions");
  await database.exec("deallocate find");
  t.equal(await code("execute find (2)"), "26000");
  await database.exec("deallocate all");
  t.equal(await code("execute put (3, 'c')"), "26000");
});
