/** ANALYZE and what follows from it, as a client sees it: estimates in EXPLAIN, measurements of EXPLAIN ANALYZE. */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";
import { checkStatements } from "../sql/run-sql.js";

async function opened(t: { teardown(done: () => unknown): void }) {
  const database = await open();
  t.teardown(() => database.close());
  const lines = async (sql: string) => (await database.exec(sql)).rows.map(([line]) => String(line));
  await database.exec("create table t (id int primary key, kind text, n int)");
  await database.exec("insert into t select i, 'k' || i % 4, i % 100 from generate_series(1, 4000) g(i)");
  return { database, lines };
}

const rowsIn = (line: string) => Number(/ rows=(\d+)\)/.exec(line)![1]);

t.test("ANALYZE makes the estimates good", async (t) => {
  const { database, lines } = await opened(t);
  await database.exec("analyze t");
  t.equal(rowsIn((await lines("explain select * from t"))[0]!), 4000);
  t.equal(rowsIn((await lines("explain select * from t where kind = 'k1'"))[0]!), 1000, "a common value");
  const range = rowsIn((await lines("explain select * from t where n < 25"))[0]!);
  t.ok(range > 800 && range < 1200, "a quarter of a range");
  const groups = await lines("explain select kind, count(*) from t group by kind");
  t.equal(rowsIn(groups[0]!), 4, "groups");
  t.same(await lines("vacuum"), ["VACUUM"]);
  await t.rejects(database.exec("analyze nowhere"), { code: "42P01" });
});

t.test("a table that was just filled is said to have as many rows as it has", async (t) => {
  const { database, lines } = await opened(t);
  const told = async () => Number((await lines("select n_live_tup from pg_stat_user_tables where relname = 't'"))[0]);
  t.equal(await told(), 4000, "before anything was analyzed");
  await database.exec("insert into t select i, 'more', i from generate_series(4001, 7000) g(i)");
  t.equal(await told(), 7000);
  await database.exec("analyze t");
  t.equal(await told(), 7000);
});

t.test("EXPLAIN ANALYZE counts what each operator did", async (t) => {
  const { lines } = await opened(t);
  const plan = await lines("explain (analyze, costs off) select kind, count(*) from t where id <= 10 group by kind");
  t.match(plan[0], /^HashAggregate {2}\(actual time=[\d.]+ rows=4 loops=1/);
  t.match(
    plan.find((line) => line.includes("Index Scan")),
    /rows=10 loops=1/,
  );
  t.match(plan.at(-1), /^Execution Time: [\d.]+ ms$/);
  const [json] = await lines("explain (analyze, format json) select * from t where id = 1");
  t.match(JSON.parse(json!), [
    { Plan: { "Node Type": "Point Get", "Plan Rows": 1, "Actual Rows": 1, "Actual Loops": 1 } },
  ]);
});

t.test("a correlated subquery runs once for equal outer values", async (t) => {
  const { lines } = await opened(t);
  // LIMIT keeps it a subquery.
  const sql = "select (select u.id from t u where u.n = o.n + 1 order by u.id limit 1) from t o where o.id % 100 = 5";
  t.same(new Set(await lines(sql)), new Set(["6"]));
  const plan = await lines(`explain (analyze, costs off) ${sql}`);
  const inner = plan.find((line) => line.includes(" u ") && line.includes("loops="));
  t.match(inner, /loops=1\b/, "40 outer rows, one value");
});

t.test("ANALYZE by a function that an index calls is refused, and does not go on after its statement", async (t) => {
  await checkStatements(t, [
    ["create table clustered (i int primary key)"],
    ["create function measured() returns void language sql as 'analyze clustered'"],
    ["create function wrapped(c int) returns int immutable language sql as 'select $1 from measured()'"],
    ["create index on clustered (wrapped(i))"],
    [
      "insert into clustered values (1), (2)",
      "0A000 a function that is called here would have to wait for another one in its FROM",
    ],
    ["select count(*) from clustered", ["0"]],
  ]);
});
