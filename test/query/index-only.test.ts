/**
 * Index scans that read nothing but the index: the same values as the rows have, of every type whose keys are exact.
 */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";

const SETUP = [
  "CREATE TABLE r (a int, b text, id bigint PRIMARY KEY, ok bool, d date, ts timestamptz, u uuid, v varchar(9), y bytea, n numeric)",
  `INSERT INTO r SELECT i % 5, CASE WHEN i % 4 = 0 THEN NULL ELSE 'text ' || i END, i, i % 2 = 0, date '2024-01-01' + i,
     timestamptz '2024-01-01 12:00:00.123456+00' + i * interval '1 hour',
     ('00000000-0000-0000-0000-0000000000' || lpad(i::text, 2, '0'))::uuid, 'v''' || i || ' ', decode(lpad(i::text, 4, '0'), 'hex'),
     i / 4.0 FROM generate_series(1, 40) i`,
  "CREATE INDEX r_ab ON r (a, b DESC)",
  "CREATE INDEX r_all ON r (ok, d, ts DESC, u, v, y)",
  "CREATE UNIQUE INDEX r_v ON r (v)",
  "CREATE INDEX r_n ON r (n)",
];

/** Answered from an index; `+ 0`, `|| ''` and the like keep the same question from it. */
const SAME: readonly (readonly [string, string])[] = [
  ["SELECT a, b FROM r WHERE a = 3 ORDER BY a, b DESC", "SELECT a, b FROM r WHERE a + 0 = 3 ORDER BY a, b DESC"],
  ["SELECT b, id FROM r WHERE a = 3 ORDER BY b, id", "SELECT b, id FROM r WHERE a + 0 = 3 ORDER BY b, id"],
  ["SELECT count(*) FROM r WHERE a = 1 AND b > 'text 2'", "SELECT count(*) FROM r WHERE a + 0 = 1 AND b > 'text 2'"],
  [
    "SELECT id FROM r WHERE a IN (1, 4) AND b IS NULL ORDER BY id",
    "SELECT id FROM r WHERE a + 0 IN (1, 4) AND b IS NULL ORDER BY id",
  ],
  [
    "SELECT ok, d, ts, u, v, y FROM r WHERE ok = true AND d > '2024-01-10' ORDER BY ts",
    "SELECT ok, d, ts, u, v, y FROM r WHERE NOT (NOT ok) AND d + 0 > '2024-01-10' ORDER BY ts",
  ],
  ["SELECT v, id FROM r WHERE v LIKE 'v''1%' ORDER BY v", "SELECT v, id FROM r WHERE v || '' LIKE 'v''1%' ORDER BY v"],
  [
    "SELECT a FROM r x WHERE EXISTS (SELECT 1 FROM r WHERE a = x.a + 1 AND b = x.b || 'x') ORDER BY 1",
    "SELECT a FROM r WHERE false",
  ],
];

t.test("the same rows", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  for (const sql of SETUP) await database.exec(sql);
  const check = async (): Promise<void> => {
    for (const [sql, other] of SAME) t.same((await database.exec(sql)).rows, (await database.exec(other)).rows, sql);
  };
  for (const [sql] of SAME.slice(0, 6)) {
    const plan = (await database.exec(`EXPLAIN ${sql}`)).rows.join("\n");
    t.match(plan, /Index Only Scan/, sql);
  }
  await check();
  await database.exec("BEGIN");
  await database.exec("UPDATE r SET b = 'new', a = 3 WHERE id BETWEEN 10 AND 13");
  await database.exec("DELETE FROM r WHERE id IN (3, 8, 21)");
  await check();
  await database.exec("COMMIT");
  await check();
});

t.test("a key that has lost something needs the row", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  for (const sql of SETUP) await database.exec(sql);
  const sql = "SELECT n FROM r WHERE n = 2.5";
  t.notMatch((await database.exec(`EXPLAIN ${sql}`)).rows.join("\n"), /Only/);
  t.same((await database.exec(sql)).rows, [["2.5000000000000000"]]);
});

t.test("who needs few rows has few read", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("CREATE TABLE e (id int PRIMARY KEY, of int, at int)");
  await database.exec("INSERT INTO e SELECT i, i % 10, i * 7 % 1000 FROM generate_series(1, 1000) i");
  await database.exec("CREATE INDEX e_at ON e (of, at)");
  const read = async (sql: string): Promise<number[]> => {
    const plan = (await database.exec(`EXPLAIN (ANALYZE, COSTS OFF) ${sql}`)).rows.join("\n");
    return [...plan.matchAll(/Index Only Scan[^\n]*?rows=(\d+)/g)].map(([, rows]) => Number(rows));
  };
  const newest = "SELECT at FROM e WHERE of = g.i ORDER BY at DESC";
  t.same(await read(`SELECT * FROM generate_series(0, 9) g(i), LATERAL (${newest} LIMIT 3) x`), [3], "each time");
  t.same(await read("SELECT at FROM e WHERE of = 3 ORDER BY at LIMIT 4 OFFSET 2"), [4]);
  t.same(await read("SELECT at FROM e WHERE of = 3 ORDER BY at OFFSET 90"), [10]);
  t.same(await read("SELECT at FROM e WHERE of = 3 ORDER BY at LIMIT 0"), []);
});
