/** PREPARE, EXECUTE and DEALLOCATE run through a session. */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";
import { checkStatements } from "./run-sql.js";

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
  await database.exec("prepare find as select id, v from t where id = $1");
  await database.exec("prepare whole as select * from t");
  await database.exec("alter table t add column w int default 9");
  t.same(await rows("execute find ('2')"), ["2|B"], "planned anew after a change of definitions");
  t.equal(await code("execute whole"), "0A000", "its columns were others");
  await database.exec("deallocate find");
  t.equal(await code("execute find (2)"), "26000");
  await database.exec("deallocate all");
  t.equal(await code("execute put (3, 'c')"), "26000");
});

t.test("EXPLAIN of a prepared statement", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const rows = async (sql: string) => (await database.exec(sql)).rows.map((row) => row.join("|"));
  await database.exec("create table t (id int primary key, v text)");
  await database.exec("insert into t values (1, 'a'), (2, 'b')");
  await database.exec("prepare one(int) as select v from t where id = $1");
  t.same(await rows("explain (costs off) execute one(2)"), ["Point Get using t_pkey on t", "  Index Cond: (id = $1)"]);
  t.match(JSON.parse((await rows("explain (format json) execute one(2)"))[0]!), [{ Plan: {} }]);
  t.match((await rows("explain (format xml) execute one(2)"))[0], /^<explain .*<Node-Type>Point Get<.*<\/explain>$/s);
  t.match(
    (await rows("explain (analyze, format yaml) execute one(2)"))[0],
    /^- Plan:\n {4}Node Type: "Point Get"\n.*\n {2}Execution Time: [\d.]+/s,
  );
  await t.rejects(database.exec("explain (format csv) execute one(2)"), {
    code: "22023",
    message: 'unrecognized value for EXPLAIN option "format": "csv"',
  });
  await t.rejects(database.exec("explain execute one(1, 2)"), { code: "42601" });
  await t.rejects(database.exec("explain execute missing"), { code: "26000" });
  await database.exec("prepare naming(int, text) as update t set v = $2 where id = $1");
  await database.exec("explain execute naming(1, 'z')");
  t.same(await rows("select v from t order by id"), ["a", "b"], "it did not run");
  t.match((await rows("explain analyze execute naming(1, 'z')")).at(-1), /Execution Time/);
  t.same(await rows("select v from t order by id"), ["z", "b"], "it ran");
});

t.test("a table filled by a prepared statement", (t) =>
  checkStatements(t, [
    ["create table t (id int, v text)"],
    ["insert into t values (1, 'a'), (2, 'b'), (3, 'c')"],
    ["prepare q(int) as select * from t where id > $1"],
    ["create table f (x) as execute q(0 + 1)"],
    ["select x, v from f order by x", ["2|b", "3|c"]],
    ["create temp table n as execute q(0) with no data"],
    ["select count(*) from n", ["0"]],
    ["create table g as execute missing(1)", '26000 prepared statement "missing" does not exist'],
    ["prepare d as delete from t"],
    ["create table g as execute d", "42809 prepared statement is not a SELECT"],
  ]),
);

t.test("values of a sequence are not used up by a row whose literals are wrong", (t) =>
  checkStatements(t, [
    ["create table s (id serial, n smallint)"],
    ["insert into s (n) values (99999)", "22003 smallint out of range"],
    ["insert into s (n) values (1) returning id", ["1"]],
  ]),
);
