/**
 * INCLUDE columns stored in index entries: scans that need no rows, changes of every kind, uniqueness, old definitions.
 */
import t, { type Test } from "tap";
import { catalogPrefix, prefixRange } from "../../src/storage/keys.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { open } from "../conformance/sql-adapter.js";

type Database = Awaited<ReturnType<typeof open>>;

async function opened(t: Test, ...setup: string[]): Promise<Database> {
  const database = await open();
  t.teardown(() => database.close());
  for (const sql of setup) await database.exec(sql);
  return database;
}

async function planOf(database: Database, sql: string): Promise<string> {
  return (await database.exec(`EXPLAIN ${sql}`)).rows.join("\n");
}

const TABLE = [
  "CREATE TYPE mood AS ENUM ('sad', 'ok')",
  `CREATE TABLE r (id bigint PRIMARY KEY, k int, t text, n numeric, f float8, j jsonb, a int[], m mood, v interval,
     g numeric GENERATED ALWAYS AS (n * 2) STORED, c char(4))`,
  `INSERT INTO r (id, k, t, n, f, j, a, m, v, c) SELECT i, i % 7, CASE WHEN i % 5 = 0 THEN NULL ELSE 'text ' || i END, i / 4.0, CASE WHEN i % 3 = 0 THEN 'NaN' ELSE '-0' END::float8,
     jsonb_build_object('i', i), ARRAY[i, NULL, i + 1], CASE WHEN i % 2 = 0 THEN 'sad' ELSE 'ok' END::mood,
     i * interval '1 month 90 minutes', 'c' || i % 3 FROM generate_series(1, 60) i`,
];
const INDEX = "CREATE INDEX r_k ON r (k, n DESC) INCLUDE (t, n, f, j, a, m, v, g, c)";

/** The same question to the entries and to the rows. */
const QUESTIONS = [
  "SELECT k, id, t, n, f, j, a, m, v, g, c FROM r WHERE k = 3 ORDER BY id",
  "SELECT n, g FROM r WHERE k IN (1, 4, 9) ORDER BY n",
  "SELECT t FROM r WHERE k = 5 AND n > 3 AND t LIKE 'text%' ORDER BY n DESC",
  "SELECT count(t), sum(n) FROM r WHERE k >= 5",
];

async function check(t: Test, database: Database): Promise<void> {
  for (const sql of QUESTIONS) {
    const { rows } = await database.exec(sql);
    const other = sql.replace(/k (=|IN|>=)/, "k + 0 $1");
    t.notMatch(await planOf(database, other), /Index Only/);
    t.same(rows, (await database.exec(other)).rows, sql);
  }
}

t.test("scans that read key and INCLUDE columns need no rows", async (t) => {
  const database = await opened(t, ...TABLE, INDEX);
  for (const sql of QUESTIONS) t.match(await planOf(database, sql), /Index Only Scan/, sql);
  await check(t, database);
  const { rows } = await database.exec("SELECT n, f FROM r WHERE k = 3 AND id = 3");
  t.same(rows, [["0.75000000000000000000", "NaN"]], "the numeric with its scale");
});

t.test("changes of INCLUDE columns in many rows at once", async (t) => {
  const database = await opened(
    t,
    "CREATE TABLE many (id int PRIMARY KEY, k int, t text)",
    "INSERT INTO many SELECT i, i % 7, 'old ' || i FROM generate_series(1, 3000) i",
    "CREATE INDEX many_k ON many (k) INCLUDE (t)",
    "CREATE INDEX many_lower ON many (lower(t)) INCLUDE (k)",
  );
  const question = "SELECT min(t), max(t), count(*), count(*) FILTER (WHERE t LIKE 'new%') FROM many WHERE k = 3";
  t.match(await planOf(database, question), /Index Only/);
  await database.exec("UPDATE many SET t = 'new ' || id WHERE id > 500");
  t.same((await database.exec(question)).rows, [["new 1004", "old 94", "429", "357"]]);
  await database.exec("UPDATE many SET k = 3 WHERE k = 4");
  t.same((await database.exec(question)).rows, [["new 1004", "old 95", "858", "715"]]);
  t.same((await database.exec("SELECT k, id FROM many WHERE lower(t) = 'new 2003'")).rows, [["1", "2003"]]);
  t.same((await database.exec("SELECT k, id FROM many WHERE lower(t) = 'new 2005'")).rows, [["3", "2005"]]);
  await database.exec("DELETE FROM many WHERE id % 2 = 1");
  t.same((await database.exec(question)).rows, [["new 1004", "old 94", "429", "357"]]);
});

t.test("changes of INCLUDE columns change the entries", async (t) => {
  const database = await opened(t, ...TABLE, INDEX);
  const CHANGES = [
    "UPDATE r SET t = 'new ' || id WHERE k = 3",
    "UPDATE r SET n = n + 1 WHERE id % 4 = 0",
    "UPDATE r SET c = 'x', j = NULL, a = '{}' WHERE k = 5",
    "UPDATE r SET id = id + 1000, t = NULL WHERE k = 1",
    "UPDATE r SET k = 3 WHERE k = 4",
    "DELETE FROM r WHERE id % 6 = 0",
    "INSERT INTO r (id, k, t, n) VALUES (7, 3, 'again', 1), (900, 3, 'more', 2.50) ON CONFLICT (id) DO UPDATE SET t = excluded.t, n = excluded.n",
    "MERGE INTO r USING (VALUES (2, 'm'), (901, 'n')) s(id, t) ON r.id = s.id WHEN MATCHED THEN UPDATE SET t = s.t WHEN NOT MATCHED THEN INSERT (id, k, t) VALUES (s.id, 3, s.t)",
    "ALTER TABLE r ALTER t TYPE varchar(30)",
    "ALTER TABLE r ALTER f TYPE text",
    "INSERT INTO r (id, k, t, n) SELECT i, i % 7, 'load ' || i, i FROM generate_series(2000, 4000) i",
    "DELETE FROM r WHERE id > 1999",
  ];
  for (const sql of CHANGES) {
    await database.exec("BEGIN");
    await database.exec(sql);
    await check(t, database);
    await database.exec("ROLLBACK");
    await check(t, database);
    await database.exec(sql);
    await check(t, database);
  }
  await database.exec("TRUNCATE r");
  t.same((await database.exec("SELECT t FROM r WHERE k = 3")).rows, []);
});

t.test("an index that is made of many rows, and of few", async (t) => {
  const many = "INSERT INTO r (id, k, t, n) SELECT i, i % 7, 'load ' || i, i FROM generate_series(2000, 4000) i";
  const database = await opened(t, ...TABLE, many, INDEX);
  await check(t, database);
});

t.test("uniqueness is that of the keys alone", async (t) => {
  const database = await opened(
    t,
    "CREATE TABLE u (id int PRIMARY KEY, e text, n text, CONSTRAINT u_e UNIQUE (e) INCLUDE (n))",
    "INSERT INTO u VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, NULL, 'y'), (4, NULL, 'y')",
  );
  await t.rejects(database.exec("INSERT INTO u VALUES (5, 'a', 'other')"), { code: "23505" });
  await t.rejects(database.exec("UPDATE u SET e = 'b', n = 'z' WHERE id = 1"), { code: "23505" });
  await database.exec("UPDATE u SET n = n || '!', e = CASE e WHEN 'a' THEN 'b' ELSE 'a' END WHERE e IS NOT NULL");
  await database.exec(
    "INSERT INTO u VALUES (9, 'a', 'n') ON CONFLICT (e) DO UPDATE SET n = 'taken by ' || excluded.id",
  );
  t.same((await database.exec("SELECT e, n, id FROM u WHERE e IN ('a', 'b') ORDER BY e")).rows, [
    ["a", "taken by 9", "2"],
    ["b", "x!", "1"],
  ]);
  t.same((await database.exec("SELECT id, n FROM u WHERE e = 'b'")).rows, [["1", "x!"]], "a point get");
  t.match(await planOf(database, "SELECT n FROM u WHERE e IN ('a', 'b')"), /Index Only Scan/);
  await database.exec("INSERT INTO u SELECT i, 'e' || i, 'n' || i FROM generate_series(10, 3000) i");
  await t.rejects(
    database.exec("INSERT INTO u SELECT i, 'e' || i - 2000, 'other' FROM generate_series(5000, 7000) i"),
    { code: "23505" },
    "a load",
  );
  await t.rejects(database.exec("CREATE UNIQUE INDEX ON u (n) INCLUDE (id); UPDATE u SET n = 'n11' WHERE id = 12"), {
    code: "23505",
  });
  await database.exec("UPDATE u SET n = 'n10' WHERE id = 1");
  await t.rejects(database.exec("CREATE UNIQUE INDEX u_n ON u (n) INCLUDE (e)"), { code: "23505" });
});

t.test("partitions store them, too", async (t) => {
  const database = await opened(
    t,
    "CREATE TABLE p (id int, k int, t text) PARTITION BY RANGE (id)",
    "CREATE INDEX ON p (k) INCLUDE (t)",
    "CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10)",
    "CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20)",
    "INSERT INTO p SELECT i, i % 3, 't' || i FROM generate_series(0, 19) i",
    "UPDATE p SET id = id + 10, t = t || '+' WHERE id = 4",
    "UPDATE p SET t = t || '-' WHERE k = 1",
  );
  const sql = "SELECT t FROM p WHERE k = 1 ORDER BY t";
  t.match(await planOf(database, sql), /Index Only Scan using p1_k_t_idx/);
  t.same((await database.exec(sql)).rows, (await database.exec("SELECT t FROM p WHERE k + 0 = 1 ORDER BY t")).rows);
});

t.test("an index from before they were stored goes on without them", async (t) => {
  const storage = { engine: new MemoryEngine(), log: new MemoryCommitLog() };
  const before = await open(storage);
  await before.exec("CREATE TABLE o (id int PRIMARY KEY, k int, t text); CREATE UNIQUE INDEX o_k ON o (k) INCLUDE (t)");
  const tx = before.shard.begin();
  const cursor = tx.scan(prefixRange(catalogPrefix(before.tenantNumber)));
  const { keys, values } = cursor.next(1000);
  cursor.close();
  let changed = 0;
  keys.forEach((key, i) => {
    const record = Buffer.from(values[i]!).toString("latin1");
    if (!record.includes('"storesIncluded":true')) return;
    changed++;
    tx.put(Buffer.from(key), Buffer.from(record.replace(',"storesIncluded":true', ""), "latin1"));
  });
  t.equal(changed, 1);
  before.tenant.commit(tx);
  before.shard.flush();
  await before.close();

  const database = await open(storage);
  t.teardown(() => database.close());
  await database.exec("INSERT INTO o SELECT i, i, 't' || i FROM generate_series(1, 20) i");
  await database.exec("UPDATE o SET t = 'new' WHERE k = 3; DELETE FROM o WHERE k = 4");
  await t.rejects(database.exec("INSERT INTO o VALUES (30, 5, 't')"), { code: "23505" });
  const sql = "SELECT t FROM o WHERE k BETWEEN 2 AND 5 ORDER BY k";
  t.notMatch(await planOf(database, sql), /Index Only/);
  t.same((await database.exec(sql)).rows, [["t2"], ["new"], ["t5"]]);
  await database.exec("DROP INDEX o_k; CREATE UNIQUE INDEX o_k ON o (k) INCLUDE (t)");
  t.match(await planOf(database, sql), /Index Only/);
  t.same((await database.exec(sql)).rows, [["t2"], ["new"], ["t5"]]);
});
