/**
 * Column segments are a cache: whatever is written, in whatever transactions, every statement must give the same rows
 * with segments as without. Random histories of writes, savepoints and old snapshots against both.
 */

import t from "tap";
import { SegmentCache } from "../../src/query/exec/segments/segment-cache.js";
import { plainRows } from "../../src/session/sql-result.js";
import { tries } from "../lengths.js";
import { applyBacklog } from "../storage/apply-backlog.js";
import { Random } from "./random-plans.js";
import { CREATE, query, SIZES, Side, write } from "./segment-histories.js";

const RUNS = tries(3);

t.test("random histories give the same rows with and without segments", async (t) => {
  let built = 0;
  let failed = 0;
  let statements = 0;
  for (let seed = 1; seed <= RUNS; seed++) {
    const random = new Random(seed * 7919);
    const bytes = seed % 4 === 0 ? 40_000 : 1e9;
    const on = await Side.open(t, new SegmentCache(bytes, SIZES));
    const off = await Side.open(t, new SegmentCache(0));
    const both = async (session: number, sql: string): Promise<void> => {
      const yields = random.below(2) === 0;
      const [found, expected] = [await on.run(session, sql, yields), await off.run(session, sql)];
      statements++;
      if (expected.startsWith("error")) failed++;
      if (found !== expected) t.equal(found, expected, `seed ${seed}: ${sql}`);
    };
    await both(0, CREATE);
    for (let step = 0; step < 60; step++) {
      const session = random.below(3);
      switch (random.below(10)) {
        case 0:
          await both(session, on.session(session).inTransaction ? "COMMIT" : "BEGIN");
          break;
        case 1:
          if (on.session(session).inTransaction)
            await both(session, ["SAVEPOINT s", "ROLLBACK TO s", "ROLLBACK"][random.below(3)]!);
          break;
        case 2:
        case 3:
        case 4:
        case 5:
          await both(session, write(random));
          break;
        default:
          await both(session, query(random));
      }
      if (random.below(3) > 0) {
        on.flush();
        off.flush();
      }
    }
    built += on.segments.built;
  }
  t.ok(built > RUNS, `segments were made ${built} times`);
  t.ok(failed < statements / 3, `${failed} of ${statements} statements failed`);
});

t.test("columns are added to segments as they are asked for", async (t) => {
  const on = await Side.open(t, new SegmentCache(1e9, SIZES));
  const rows = Array.from({ length: 200 }, (_, i) => `(${i}, ${i % 7}, 5)`).join();
  await on.run(0, "CREATE TABLE g (a int PRIMARY KEY, b int, c int)");
  await on.run(0, `INSERT INTO g VALUES ${rows}`);
  on.flush();
  t.equal(await on.run(0, "SELECT sum(b) FROM g"), "[594]");
  t.equal(on.segments.tables, 1);
  await on.run(0, "UPDATE g SET c = 6 WHERE a < 10");
  await on.run(0, "DELETE FROM g WHERE a = 100");
  on.flush();
  t.equal(await on.run(0, "SELECT sum(b), sum(c) FROM g"), "[592,1005]");
  t.equal(on.segments.built, 2);
  await on.run(0, "DELETE FROM g");
  t.equal(await on.run(0, "SELECT count(*) FROM g"), "[0]");
  on.flush();
  t.equal(await on.run(0, "SELECT count(*), sum(c) FROM g"), "[0,null]");
});

t.test("vectors are held unless they take most of the memory", async (t) => {
  // 200 rows of 4 and of 1,000 numbers.
  for (const [bytesMax, built] of [
    [2_000_000, 2],
    [1_000_000, 1],
  ] as const) {
    const on = await Side.open(t, new SegmentCache(bytesMax, SIZES));
    await on.run(0, "CREATE TABLE g (a int PRIMARY KEY, v vector(4), w vector(1000))");
    await on.run(
      0,
      "INSERT INTO g SELECT i, ARRAY[i, 0, 0, 0], array_fill(i, ARRAY[1000]) FROM generate_series(1, 200) i",
    );
    on.flush();
    const nearest = (column: string) => `SELECT a FROM g ORDER BY ${column} <=> ${column}, abs(a - 3), a LIMIT 3`;
    t.equal(await on.run(0, "SELECT a FROM g ORDER BY v <-> '[3.2,0,0,0]' LIMIT 3"), "[3]\n[4]\n[2]");
    t.equal(on.segments.built, 1);
    for (let i = 0; i < 3; i++) t.equal(await on.run(0, nearest("w")), "[3]\n[2]\n[4]");
    t.equal(on.segments.built, built);
    await on.run(0, "UPDATE g SET v = '[9,9,9,9]' WHERE a = 3");
    t.equal(await on.run(0, "SELECT a FROM g ORDER BY v <-> '[3.2,0,0,0]' LIMIT 3"), "[4]\n[2]\n[5]");
    t.equal(await on.run(0, "SELECT sum(v), count(*) FROM g WHERE a < 4"), "[[12,9,9,9],3]");
    t.ok(on.segments.bytes <= bytesMax);
  }
});

t.test("a join that looks up many rows makes segments, but not of a table that is too long for that", async (t) => {
  const sizes = { ...SIZES, recordsBefore: 1e6 };
  const lookups = `SELECT sum(y.c) FROM generate_series(0, 29) AS s (n),
    LATERAL (SELECT c FROM g WHERE g.a = s.n AND g.b >= 1 ORDER BY g.b LIMIT 1) y`;
  for (const [rows, built] of [
    [200, 1],
    [6000, 0],
  ] as const) {
    const on = await Side.open(t, new SegmentCache(1e9, sizes));
    await on.run(0, "CREATE TABLE g (a int, b int, c int, PRIMARY KEY (a, b))");
    await on.run(0, `INSERT INTO g SELECT i / 4, i % 4, i FROM generate_series(0, ${rows - 1}) i`);
    on.flush();
    t.equal(await on.run(0, lookups), "[1770]");
    t.equal(on.segments.built, built);
    t.equal(on.segments.tables, built);
    t.equal(await on.run(0, lookups), "[1770]");
  }
});

t.test("a long range of the primary key goes over to segments, with what was changed in it", async (t) => {
  const on = await Side.open(t, new SegmentCache(1e9, { ...SIZES, storedRowsMin: 1e6 }));
  const off = await Side.open(t, new SegmentCache(0));
  const both = async (session: number, sql: string): Promise<string> => {
    const found = await on.run(session, sql, true);
    t.equal(found, await off.run(session, sql), sql);
    return found;
  };
  await both(0, "CREATE TABLE g (a int, b int, c text, PRIMARY KEY (a, b))");
  await both(0, "INSERT INTO g SELECT i % 3, i, 'c' || i % 5 FROM generate_series(0, 899) i");
  on.flush();
  await both(0, "SELECT count(c), sum(b) FROM g");
  t.equal(on.segments.tables, 1);
  const random = new Random(11);
  const ranges = async (session: number): Promise<void> => {
    const low = random.below(900);
    const high = low + random.below(900);
    await both(session, `SELECT count(*), sum(b), min(b), max(c) FROM g WHERE a = 1 AND b > ${low} AND b <= ${high}`);
    await both(session, `SELECT c, count(*), max(b) FROM g WHERE a IN (0, 2) AND b >= ${low} GROUP BY c ORDER BY c`);
    await both(session, `SELECT a, b FROM g WHERE a >= 1 AND c <> 'c1' ORDER BY a, b LIMIT ${1 + random.below(300)}`);
  };
  await both(1, "BEGIN");
  await ranges(1);
  for (let round = 0; round < 12; round++) {
    const b = random.below(900);
    await both(
      round % 2,
      `UPDATE g SET c = 'new' WHERE b BETWEEN ${b} AND ${b + random.below(60)} AND b % 2 = ${round % 2}`,
    );
    await both(round % 2, `DELETE FROM g WHERE b = ${2 * random.below(450) + (round % 2)}`);
    await both(0, `INSERT INTO g VALUES (1, ${5000 + round}, 'late')`);
    if (round % 3 === 0) for (const side of [on, off]) side.flush();
    for (const session of [0, 1]) await ranges(session);
  }
  await both(1, "ROLLBACK");
  await ranges(0);
});

t.test("a statement that changes a long range of the primary key reads few of its records", async (t) => {
  const on = await Side.open(t, new SegmentCache(1e9, { ...SIZES, changesMax: 1e6, storedRowsMin: 1e6 }));
  const off = await Side.open(t, new SegmentCache(0));
  const both = async (session: number, sql: string): Promise<string> => {
    const found = await on.run(session, sql, true);
    t.equal(found, await off.run(session, sql), sql);
    return found;
  };
  let read = 0;
  const { engine } = on.partition.shard;
  const open = engine.cursor.bind(engine);
  engine.cursor = (range) => {
    const cursor = open(range);
    const next = cursor.next.bind(cursor);
    cursor.next = (count) => {
      const entries = next(count);
      if (range.only !== "keys" && range.only !== "count") read += entries.keys.length;
      return entries;
    };
    return cursor;
  };
  await both(0, "CREATE TABLE g (a text, b int, c int, j json, PRIMARY KEY (b, a))");
  await both(0, "CREATE INDEX ON g (a)");
  await both(0, `INSERT INTO g SELECT 'ä' || i % 3, i, i % 5, '{"a": 1}' FROM generate_series(1, 950) i`);
  on.flush();
  await applyBacklog(on.partition.shard);
  await both(0, "SELECT sum(c), max(a), sum(b) FROM g");
  t.equal(on.segments.tables, 1);
  read = 0;
  await both(0, "DELETE FROM g WHERE b > 750 AND c = 2");
  t.ok(read < 100, `${read} of 200 records are read for DELETE`);
  read = 0;
  await both(0, "UPDATE g SET c = 7 WHERE b BETWEEN 100 AND 700 AND c < 3");
  t.ok(read < 100, `${read} records are read for UPDATE`);
  await both(0, "SELECT count(*) FROM g WHERE c = 7");
  await both(1, "BEGIN");
  await both(1, "UPDATE g SET b = b + 5000, j = '[]' WHERE b > 500 AND c = 4");
  await both(1, "DELETE FROM g WHERE b >= 5 AND c = 3 RETURNING *");
  await both(0, "DELETE FROM g WHERE b > 20 AND c = 0 RETURNING a, b, j");
  await both(1, "UPDATE g SET c = c + 1 WHERE b > 3 AND ctid IS NOT NULL AND c = 7 RETURNING b, c");
  await both(1, "SELECT a, b, c, j FROM g ORDER BY b, a");
  await both(1, "ROLLBACK");
  await both(0, "SELECT a, b, c, j FROM g ORDER BY b, a");
});

t.test("ranges that were read often enough make segments, of a table that is not too long for that", async (t) => {
  const sizes = { ...SIZES, recordsBefore: 1e6 };
  for (const [rows, built] of [
    [400, 1],
    [6000, 0],
  ] as const) {
    const on = await Side.open(t, new SegmentCache(1e9, sizes));
    await on.run(0, "CREATE TABLE g (a int PRIMARY KEY, b int)");
    await on.run(0, `INSERT INTO g SELECT i, i % 7 FROM generate_series(0, ${rows - 1}) i`);
    on.flush();
    const range = "SELECT count(b), min(a), max(a) FROM g WHERE a BETWEEN 100 AND 299";
    for (let i = 0; i < 6; i++) t.equal(await on.run(0, range), "[200,100,299]");
    t.equal(on.segments.built, built);
    await on.run(0, "DELETE FROM g WHERE a IN (100, 150, 299, 300)");
    await on.run(0, "INSERT INTO g VALUES (-1, 1)");
    t.equal(await on.run(0, range), "[197,101,298]", "before the engine has it");
    on.flush();
    t.equal(await on.run(0, range), "[197,101,298]");
    t.equal(await on.run(0, "SELECT count(b), min(a), max(a) FROM g WHERE a BETWEEN 500 AND 499"), "[0,null,null]");
    t.equal(
      await on.run(0, `SELECT count(b), min(a), max(a) FROM g WHERE a >= ${rows - 2}`),
      `[2,${rows - 2},${rows - 1}]`,
    );
  }
});

t.test("a table whose definition changes", async (t) => {
  const on = await Side.open(t, new SegmentCache(1e9, SIZES));
  await on.run(0, "CREATE TABLE g (a int PRIMARY KEY, b int)");
  await on.run(0, `INSERT INTO g VALUES ${Array.from({ length: 200 }, (_, i) => `(${i}, ${i % 7})`).join()}`);
  on.flush();
  t.equal(await on.run(0, "SELECT sum(b) FROM g"), "[594]");
  await on.run(1, "BEGIN");
  t.equal(await on.run(1, "SELECT max(b) FROM g"), "[6]");
  t.equal(await on.run(0, "ALTER TABLE g ADD COLUMN c int DEFAULT 5"), `["ALTER TABLE"]`);
  on.flush();
  t.equal(await on.run(0, "SELECT sum(b), sum(c) FROM g"), "[594,1000]");
  t.equal(await on.run(0, "ALTER TABLE g ALTER COLUMN b TYPE text USING 'b' || b"), `["ALTER TABLE"]`);
  t.equal(await on.run(0, "SELECT max(b), sum(c) FROM g"), `["b6",1000]`);
  on.flush();
  t.equal(await on.run(0, "SELECT max(b), sum(c) FROM g"), `["b6",1000]`);
  t.equal(await on.run(1, "SELECT max(b), sum(b) FROM g"), "[6,594]", "the older snapshot");
});

t.test("memory stays within its bound", async (t) => {
  const on = await Side.open(t, new SegmentCache(30_000, SIZES));
  const rows = Array.from({ length: 400 }, (_, i) => `(${i}, 'text number ${i}')`).join();
  for (const name of ["p", "q", "r"]) {
    await on.run(0, `CREATE TABLE ${name} (a int PRIMARY KEY, b text)`);
    await on.run(0, `INSERT INTO ${name} VALUES ${rows}`);
    on.flush();
    t.equal(await on.run(0, `SELECT count(*), max(b) FROM ${name}`), `[400,"text number 99"]`);
    t.ok(on.segments.bytes <= 30_000, `${on.segments.bytes} bytes`);
  }
  t.ok(on.segments.evicted > 0);
});

t.test("segments are made anew in turns, while others write", async (t) => {
  const on = await Side.open(t, new SegmentCache(1e9, { ...SIZES, segmentRows: 1500, changesMax: 100 }));
  const off = await Side.open(t, new SegmentCache(0));
  const both = async (sql: string): Promise<void> => {
    for (const side of [on, off]) {
      t.notMatch(await side.run(1, sql), /^error/);
      side.flush();
    }
  };
  const rows = (from: number, to: number) =>
    `SELECT i, i % 7, 'text ' || i % 50 FROM generate_series(${from}, ${to}) i`;
  await both("CREATE TABLE g (a int PRIMARY KEY, b int, c text)");
  await both(`INSERT INTO g ${rows(1, 4000)}`);
  const query = "SELECT a, b, c FROM g ORDER BY a";
  await on.run(0, query);
  const random = new Random(5);
  for (let round = 0; round < 6; round++) {
    await both(`UPDATE g SET b = b + 10, c = 'round ${round}' WHERE a % 11 = ${round}`);
    await both(`DELETE FROM g WHERE a % 13 = ${round}`);
    await both(`INSERT INTO g ${rows(10_000 + 700 * round, 10_699 + 700 * round)}`);
    const expected = await off.run(0, query);
    let writes = 0;
    let writing = false;
    on.onTurn = async () => {
      if (writing || writes === 12) return;
      writing = true;
      writes++;
      await both(`UPDATE g SET b = ${random.below(1000)} WHERE a % 97 = ${random.below(97)}`);
      writing = false;
    };
    t.equal(await on.run(0, query, true), expected, `round ${round}, as the statement began`);
    t.ok(writes > 0, `${writes} writes meanwhile`);
    t.equal(await on.run(0, query), await off.run(0, query), `round ${round}, afterwards`);
  }
});

t.test("a statement that ends while it makes segments leaves none", async (t) => {
  const on = await Side.open(t, new SegmentCache(1e9, SIZES));
  await on.run(0, "CREATE TABLE g (a int PRIMARY KEY)");
  await on.run(0, `INSERT INTO g VALUES ${Array.from({ length: 3000 }, (_, i) => `(${i})`).join()}`);
  on.flush();
  const tenant = on.session(0);
  let turns = 0;
  const request = {
    checkpoint: () => undefined,
    shouldYield: () => true,
    yieldTurn: () => (++turns > 2 ? Promise.reject(new Error("cancelled")) : Promise.resolve()),
  };
  const run = { sql: "SELECT sum(a) FROM g", params: [], maxRows: 10, collector: plainRows, request };
  await t.rejects(async () => tenant.execute(run, () => undefined), /cancelled/);
  t.equal(on.segments.tables, 0);
  t.equal(on.segments.bytes, 0);
  t.equal(await on.run(0, "SELECT sum(a) FROM g"), "[4498500]");
});

t.test("sums leave the range of doubles while they are made", async (t) => {
  const on = await Side.open(t, new SegmentCache(1e9, SIZES));
  await on.run(0, "CREATE TABLE g (a int PRIMARY KEY, n bigint NOT NULL, k int NOT NULL)");
  const rows = Array.from({ length: 500 }, (_, i) => `(${i}, ${i % 5 === 0 ? -3 : 4_000_000_000_000_001n}, ${i % 3})`);
  await on.run(0, `INSERT INTO g VALUES ${rows.join()}`);
  on.flush();
  // The second time it reads segments.
  for (const round of [1, 2]) {
    const total = await on.run(0, "SELECT sum(n)::text, avg(n)::text, count(n), sum(n + 1)::text FROM g");
    t.equal(total, '["1600000000000000100","3200000000000000.2000",500,"1600000000000000600"]', `round ${round}`);
    const groups = "SELECT k, sum(n)::text, count(n) FROM g GROUP BY k ORDER BY k";
    const expected = [0, 1, 2].map((k) => {
      const members = Array.from({ length: 500 }, (_, i) => i).filter((i) => i % 3 === k);
      const sum = members.reduce((so, i) => so + (i % 5 === 0 ? -3n : 4_000_000_000_000_001n), 0n);
      return JSON.stringify([k, String(sum), members.length]);
    });
    t.equal(await on.run(0, groups), expected.join("\n"), `groups, round ${round}`);
  }
  t.ok(on.segments.tables > 0, "there are segments");
});

t.test("filters compare what is computed from columns", async (t) => {
  const on = await Side.open(t, new SegmentCache(1e9, SIZES));
  const off = await Side.open(t, new SegmentCache(0));
  const values = (i: number): string => {
    const whole = ["NULL", "4503599627370496", "-4503599627370496", "9007199254740991", "0"][i % 11] ?? (i - 250) * 37;
    return `(${i}, ${whole}, ${(i % 41) - 20}, ${i % 13 === 0 ? "NULL" : `${(i % 90) - 45}.25`})`;
  };
  for (const side of [on, off]) {
    await side.run(0, "CREATE TABLE g (a int PRIMARY KEY, l bigint, b int NOT NULL, n numeric(10,2))");
    await side.run(0, `INSERT INTO g VALUES ${Array.from({ length: 500 }, (_, i) => values(i)).join()}`);
    side.flush();
    await side.run(0, "SELECT sum(a), sum(l), sum(b), sum(n) FROM g");
  }
  t.equal(on.segments.tables, 1);
  const compared = [
    "l % 10 = 7",
    "l % -10 = -7",
    "b % 3 <> 0",
    "a - b > 100 - b * b",
    "n + b <= 3.5",
    "n * 2 >= n + 7.125",
  ];
  const empty = ["a % 1 <> 0", "b % 50 > 20", "l % 2 = 2"];
  const failing = ["a % (b - b) = 0", "a * 2147483647 > 5", "l * l > 0"];
  for (const condition of [...compared, ...empty, ...failing]) {
    const sql = `SELECT a FROM g WHERE ${condition} ORDER BY a`;
    const found = await on.run(0, sql);
    t.equal(found, await off.run(0, sql), condition);
    t.equal(found.startsWith("error"), failing.includes(condition), condition);
    if (!failing.includes(condition)) t.equal(found === "", empty.includes(condition), condition);
  }
  // What is computed is an integer's value, too, where it is handed out.
  t.equal(await on.run(0, "SELECT b % 20 AS r FROM g WHERE a = 0"), "[0]");
  t.equal(
    await on.run(0, "SELECT l % 37, count(*) FROM g WHERE l < 0 GROUP BY 1"),
    await off.run(0, "SELECT l % 37, count(*) FROM g WHERE l < 0 GROUP BY 1"),
  );
});
