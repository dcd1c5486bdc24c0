/** UPDATE of many rows, and tables that definition statements fill: by loads, with what single rows give. */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";
import { contents } from "../features/placement/stored-entries.js";
import { script } from "./sql-script.js";

t.test("tables that a query fills, and rewritten ones", async (t) => {
  const { rows, run, fails } = await script(t);
  await run(
    "create table s as select g as id, g % 7 as k, 'name ' || g as name from generate_series(1, 3000) g",
    "create materialized view m as select k, name, count(*) as n from s group by k, name",
    "create unique index m_name on m (name)",
    "create index on m (k)",
  );
  t.same(await rows("select count(*), sum(k) from m where k > 5"), ["428|2568"]);
  await run(
    "insert into s select 3000 + g, 6, 'more ' || g from generate_series(1, 2000) g",
    "refresh materialized view m",
  );
  t.same(await rows("select count(*), min(n) from m where k = 6"), ["2428|1"]);
  t.same(await rows("select k from m where name = 'more 77'"), ["6"]);
  await run("insert into s values (9000, 5, 'more 77')");
  t.match(await fails("refresh materialized view m"), /^23505 could not create unique index "m_name"/);
  t.same(await rows("select count(*) from m"), ["5000"]);
  await run("begin", "delete from s where k = 5", "refresh materialized view m");
  t.same(await rows("select count(*), count(*) filter (where k = 5) from m"), ["4572|0"]);
  await run("rollback");
  t.same(await rows("select count(*), count(*) filter (where k = 5) from m"), ["5000|428"]);
  await run(
    "drop materialized view m",
    "create index on s (k)",
    "alter table s alter k type text using 'k' || k, add twice int generated always as (id * 2) stored",
  );
  t.same(await rows("select count(*), sum(twice) from s where k = 'k1'"), ["429|1286142"]);
  t.match(await fails("alter table s add unique (name)"), /^23505 could not create unique index "s_name_key"/);
  t.match(await fails("alter table s add primary key (twice, k), add unique (name)"), /^23505 .*"s_name_key"/);
  await run("alter table s add primary key (twice)");
  t.same(await rows("select id, name from s where twice = 154"), ["77|name 77"]);
  await run("begin", "alter table s alter name type varchar(40)", "rollback");
  t.same(await rows("select count(*), pg_typeof(min(name)) from s"), ["5001|text"]);
});

t.test("UPDATE of many rows stores what UPDATE of each stores", async (t) => {
  const changes = [
    "update t set k = k + 1",
    "update t set x = x + 1, name = upper(name)",
    "update t set id = id + 1, name = name || '!'",
    "update t set id = -id, k = 5 where id % 2 = 0",
    "update t set name = null where k = 5",
    "update t set k = 7",
  ];
  const schema = [
    "create table t (id int primary key, k int, name text unique, x int unique, twice int generated always as (k * 2) stored)",
    "create index on t (k desc, name)",
    "create index on t (twice) where k > 400",
    "insert into t (id, k, name, x) select g, g % 1000, 'name ' || g, g from generate_series(1, 2500) g",
  ];
  const [many, single] = [await open(), await open()];
  t.teardown(() => Promise.all([many.close(), single.close()]));
  for (const database of [many, single]) for (const sql of schema) await database.exec(sql);
  for (const sql of changes) {
    await many.exec(sql);
    // A statement that gives fewer rows goes the other way; keys are only checked between the two.
    for (const part of ["<", ">="]) {
      const isMoving = sql.includes("id = id + 1") || sql.includes("x = x + 1");
      if (isMoving && part === "<") await single.exec("begin");
      const where = sql.includes("where") ? " and" : " where";
      const order = isMoving ? (part === "<" ? ">=" : "<") : part;
      for (const third of [0, 1, 2]) {
        const edge = (n: number) => (n === 3 ? 100_000 : n === 0 ? -100_000 : n * 800);
        const steps = isMoving ? 2 - third : third;
        const half = order === "<" ? "x % 2 = 0" : "x % 2 <> 0";
        if (isMoving) {
          if (order === "<") continue;
          await single.exec(`${sql}${where} id > ${edge(steps)} and id <= ${edge(steps + 1)}`);
        } else await single.exec(`${sql}${where} ${half} and x > ${edge(third)} and x <= ${edge(third + 1)}`);
      }
      if (isMoving && part === ">=") await single.exec("commit");
    }
    t.strictSame(await contents(many), await contents(single), sql);
  }
});

t.test("UPDATE of many rows: keys that change hands, duplicates, rollback, savepoints, RETURNING", async (t) => {
  const { rows, run, fails } = await script(t);
  await run(
    "create table t (id int primary key, k int unique, name text)",
    "insert into t select g, g, 'name ' || g from generate_series(1, 3000) g",
    "create index on t (name)",
    "update t set id = id % 3000 + 1, k = 3001 - k",
  );
  t.same(await rows("select id, k, name from t where k in (1, 3000) order by k"), ["1|1|name 3000", "2|3000|name 1"]);
  t.same(await rows("select id from t where name = 'name 77'"), ["78"]);
  t.match(await fails("update t set k = k / 2"), /^23505 duplicate key value violates unique constraint "t_k_key"/);
  t.match(await fails("update t set id = 4000 where id > 1"), /^23505 .*"t_pkey"/);
  t.match(await fails("update t set k = 3000 where k < 2500"), /^23505 .*"t_k_key"/);
  t.match(await fails("update t set k = k + 1 where k < 2500"), /^23505 .*"t_k_key"/);
  t.match(await fails("update t set id = id + 1 where id < 2500"), /^23505 .*"t_pkey"/);
  t.same(await rows("select count(*), sum(k), sum(id) from t"), ["3000|4501500|4501500"]);
  await run(
    "begin",
    "update t set k = k + 1",
    "savepoint s",
    "update t set k = -k, name = 'x'",
    "delete from t where id < 5",
  );
  t.same(await rows("select count(*), max(k) from t where name = 'x'"), ["2996|-3"]);
  t.same(await rows("select id from t where k = -2000"), ["1003"]);
  await run("rollback to s");
  t.same(await rows("select count(*), max(k), min(k) from t"), ["3000|3001|2"]);
  await run("update t set k = k - 1", "insert into t values (9000, 3001, 'y')", "rollback");
  t.same(await rows("select count(*), max(k), min(k) from t"), ["3000|3000|1"]);
  t.equal((await rows("update t set k = k + 1 returning k, name")).length, 3000);
  t.same(await rows("with u as (update t set k = k - 1 returning k) select count(*), sum(k) from u"), ["3000|4501500"]);
});
