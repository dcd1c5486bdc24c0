/**
 * Rows of a load become columns from the commit log, while the engine takes them: what is read before, meanwhile and
 * afterwards must be the same as without columns. Over a shard on disk.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { Ending } from "../../src/query/exec/segments/stored/ending.js";
import { SPACE } from "../../src/storage/keys.js";
import { CHANGES, Loaded, range, STORED, SUMS, sums } from "./loaded-side.js";

t.test("a new table has columns as soon as the engine has its rows", async (t) => {
  const loaded = await Loaded.open(t);
  for (const rows of [3000, 20_000]) {
    await loaded.side.run(0, "TRUNCATE g");
    loaded.side.flush();
    await loaded.insert(1, rows);
    const before: string[] = [];
    await loaded.apply(async () => {
      if (before.length < 3) before.push(await loaded.side.run(1, SUMS));
    });
    await loaded.built();
    t.same(new Set(before), new Set([sums(range(1, rows))]), "read while the engine took them");
    t.same(loaded.sources.splice(0), ["load"]);
    t.same(loaded.held(), []);
    t.equal(loaded.table!.rows, rows);
    t.equal(loaded.table!.writesInGaps, 0);
    t.equal(loaded.table!.entries.size, 0, "its rows were not noted one by one");
    t.equal(await loaded.side.run(1, SUMS), sums(range(1, rows)));
  }
  await loaded.close();
  await loaded.open();
  t.equal(loaded.table!.rows, 20_000, "they are there after a start");
  t.equal(await loaded.side.run(1, SUMS), sums(range(1, 20_000)));
  await loaded.close();
});

t.test("others who follow what the engine takes see each row, and none is noted beside the columns", async (t) => {
  const loaded = await Loaded.open(t);
  let seen = 0;
  loaded.side.partition.followers.add({
    applied: (operations) => {
      seen += operations.filter(({ key }) => key[4] === SPACE.rows).length;
    },
  });
  await loaded.insert(1, 3000);
  await loaded.apply();
  await loaded.built();
  t.equal(seen, 3000);
  t.equal(loaded.table!.rows, 3000);
  t.equal(loaded.table!.entries.size, 0);
  await loaded.close();
});

t.test("loads behind one another make segments side by side, and a load among rows makes none", async (t) => {
  const loaded = await Loaded.open(t);
  await loaded.insert(10_001, 12_000);
  await loaded.apply();
  await loaded.built();
  await loaded.insert(12_001, 14_500, 2);
  await loaded.apply();
  await loaded.built();
  t.same(loaded.sources.splice(0), ["load", "load"]);
  const { segments, start } = loaded.table!;
  t.equal(loaded.table!.rows, 4500);
  t.equal(segments[0]!.from, start, "no gap is left before them");
  for (let i = 1; i < segments.length; i++) t.equal(segments[i]!.from, segments[i - 1]!.to);
  // Before all others, where a segment has the range.
  await loaded.insert(1, 1500, 3);
  await loaded.apply();
  await loaded.built();
  t.same(loaded.sources.splice(0), []);
  const all = [...range(1, 1500, 3), ...range(10_001, 12_000), ...range(12_001, 14_500, 2)];
  t.equal(await loaded.side.run(1, SUMS), sums(all));
  await loaded.close();
});

t.test("a load that comes before the columns of the one before are made has files of its own", async (t) => {
  const loaded = await Loaded.open(t);
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  loaded.onBuild = () => held;
  for (const [from, to] of [
    [1, 3000],
    [3001, 6000],
    [6001, 8500],
  ] as const) {
    await loaded.insert(from, to);
    await loaded.apply();
  }
  release();
  while (loaded.held().length > 0) await loaded.built();
  await loaded.built();
  t.same(loaded.sources, ["load", "load", "load"]);
  t.equal(loaded.table!.rows, 8500);
  t.same(
    readdirSync(join(loaded.path, "columns", `7-${loaded.table!.storageId}`)).sort(),
    ["1.columns", "2.columns", "3.columns", "manifest"],
    "no file took the place of another",
  );
  t.equal(await loaded.side.run(1, SUMS), sums(range(1, 8500)));
  await loaded.close();
  await loaded.open();
  t.equal(loaded.table!.rows, 8500, "all are there after a start");
  t.equal(await loaded.side.run(1, SUMS), sums(range(1, 8500)));
  await loaded.close();
});

t.test("a load into a hole of the one before, whose columns are not made yet, is counted once", async (t) => {
  const loaded = await Loaded.open(t);
  const gate = new Ending();
  loaded.onBuild = () => gate.given;
  await loaded.side.run(
    0,
    "INSERT INTO g SELECT i, 1, CASE WHEN i % 5 > 0 THEN 'text ' || i END FROM generate_series(1, 9000) i WHERE i NOT BETWEEN 4001 AND 6000",
  );
  await loaded.apply();
  await loaded.insert(4001, 6000);
  await loaded.apply();
  t.equal(await loaded.side.run(1, SUMS), sums(range(1, 9000)), "before");
  t.equal(await loaded.side.run(1, "SELECT count(*) FROM g"), "[9000]");
  gate.give();
  while (loaded.held().length > 0) await loaded.built();
  await loaded.built();
  t.equal(await loaded.side.run(1, "SELECT count(*) FROM g"), "[9000]");
  t.equal(await loaded.side.run(1, SUMS), sums(range(1, 9000)), "afterwards");
  await loaded.close();
});

t.test("what is written while the columns are made counts", async (t) => {
  const loaded = await Loaded.open(t);
  const old = loaded.side.session(2);
  await loaded.side.run(2, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  t.ok(old.inTransaction);
  t.equal(await loaded.side.run(2, "SELECT count(*) FROM g"), "[0]");
  await loaded.insert(1, 3000);
  let steps = 0;
  await loaded.apply(async () => {
    if (steps++ !== 1) return;
    // Committed now, taken by the engine after the load.
    await loaded.side.run(1, "UPDATE g SET b = 10 WHERE a <= 100");
    await loaded.side.run(1, "DELETE FROM g WHERE a BETWEEN 2901 AND 2950");
    await loaded.side.run(1, "INSERT INTO g VALUES (0, 5, NULL), (4001, 7, 'text 4001')");
    loaded.side.flush();
  });
  await loaded.built();
  t.ok(steps > 2);
  t.equal(loaded.table!.rows, 3000);
  const now = [[0, 5] as const, ...range(1, 100, 10), ...range(101, 2900), ...range(2951, 3000), [4001, 7] as const];
  t.equal(await loaded.side.run(1, SUMS), sums(now));
  t.equal(await loaded.side.run(2, SUMS), "[0,null,null,0,null,null]", "an old snapshot sees none of it");
  await loaded.side.run(2, "COMMIT");
  await loaded.close();
  await loaded.open();
  t.equal(await loaded.side.run(1, SUMS), sums(now), "after a start");
  await loaded.close();
});

t.test("long scans and ANALYZE wait for columns that are being made, short scans do not", async (t) => {
  const loaded = await Loaded.open(t, { ...STORED, awaitedRowsMin: 1000 });
  const start = (session: number, sql: string) => {
    const state = { isDone: false, answer: loaded.side.run(session, sql, true) };
    void state.answer.then(() => {
      state.isDone = true;
    });
    return state;
  };
  for (const [from, to] of [
    [1, 3000],
    [3001, 6000],
  ] as const) {
    const gate = new Ending();
    loaded.onBuild = () => gate.given;
    await loaded.insert(from, to);
    await loaded.apply();
    const long = start(1, SUMS);
    const analyzed = start(3, "ANALYZE g");
    const short = start(2, `SELECT a FROM g WHERE b = 1 AND a >= ${from} LIMIT 1`);
    t.equal(await short.answer, `[${from}]`);
    await new Promise((resolve) => setTimeout(resolve, 60));
    t.notOk(long.isDone, "it waits");
    t.notOk(analyzed.isDone, "ANALYZE reads columns, too");
    gate.give();
    t.match(await analyzed.answer, /ANALYZE/);
    loaded.side.flush();
    await loaded.built();
    t.equal(await long.answer, sums(range(1, to)));
  }
  t.same(loaded.sources, ["load", "load"]);
  await loaded.close();
});

t.test("CREATE INDEX waits for columns that are being made, and makes its entries of them", async (t) => {
  const loaded = await Loaded.open(t, { ...STORED, awaitedRowsMin: 1000 });
  const gate = new Ending();
  loaded.onBuild = () => gate.given;
  await loaded.insert(1, 3000);
  await loaded.apply();
  let isDone = false;
  const created = loaded.side.run(1, "CREATE INDEX g_b ON g (b)", true).finally(() => {
    isDone = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 60));
  t.notOk(isDone);
  gate.give();
  t.notMatch(await created, /error/);
  t.equal(await loaded.side.run(2, "SELECT a FROM g WHERE b = 1 ORDER BY a LIMIT 1"), "[1]");
  await loaded.close();
});

t.test("a stop waits for columns of loads, and a start makes those that are missing before it reads", async (t) => {
  const loaded = await Loaded.open(t, { ...STORED, awaitedRowsMin: 1000 });
  let gate = new Ending();
  loaded.onBuild = () => gate.given;
  await loaded.insert(1, 3000);
  loaded.side.flush();
  const closing = loaded.close(performance.now() + 10_000);
  while (loaded.sources.length === 0) await new Promise(setImmediate);
  gate.give();
  await closing;
  gate = new Ending();
  await loaded.open();
  t.same(loaded.sources.splice(0), ["load"]);
  t.equal(loaded.table!.rows, 3000, "they were made when the engine had taken the rows");

  // As after SIGKILL: the load of another table ends without columns.
  await loaded.side.run(0, "CREATE TABLE h (a int PRIMARY KEY, b int, c text)");
  loaded.side.flush();
  await loaded.side.run(0, "INSERT INTO h SELECT a, b, c FROM g");
  await loaded.apply();
  const stopped = loaded.close();
  const first = gate;
  setTimeout(() => first.give(), 20);
  await stopped;
  gate = new Ending();
  await loaded.open();
  const sql = SUMS.replace("FROM g", "FROM h");
  let isDone = false;
  const answer = loaded.side.run(1, sql, true).finally(() => {
    isDone = true;
  });
  t.equal(await loaded.side.run(2, "SELECT a FROM h WHERE b = 1 LIMIT 1"), "[1]", "a short scan does not wait");
  while (loaded.sources.length < 2) await new Promise(setImmediate);
  await new Promise((resolve) => setTimeout(resolve, 60));
  t.same(loaded.sources, ["load", "load"], "a start begins with them by itself, from the log's files");
  t.notOk(isDone, "a long scan waits for them");
  gate.give();
  t.equal(await answer, sums(range(1, 3000)));
  await loaded.built();
  t.equal(loaded.side.segments.tablesOf(7).filter(({ rows }) => rows === 3000).length, 2);
  await loaded.close();
});

t.test("rows of a load are counted before their columns are made, also after a stop or a crash", async (t) => {
  const count = "SELECT count(*) FROM g";
  for (const end of ["stop", "crash"] as const) {
    for (let changes = 0; changes <= CHANGES.length; changes++) {
      const loaded = await Loaded.open(t);
      let gate = new Ending();
      loaded.onBuild = () => gate.given;
      await loaded.side.run(2, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
      t.equal(await loaded.side.run(2, count), "[0]");
      await loaded.insert(1, 3000);
      t.equal(await loaded.side.run(1, count), "[3000]", "before the engine has them");
      t.equal(await loaded.side.run(1, count), "[3000]");
      await loaded.apply();
      while (loaded.sources.length === 0) await new Promise(setImmediate);
      t.equal(await loaded.side.run(2, count), "[0]", "an old snapshot sees none");
      await loaded.side.run(2, "COMMIT");
      const before = loaded.read;
      t.equal(await loaded.side.run(1, count), "[3000]");
      t.equal(loaded.read, before, "no record is read");
      let rows = 3000;
      for (const [sql, after] of CHANGES.slice(0, changes)) {
        await loaded.side.run(0, sql);
        t.equal(await loaded.side.run(1, count), `[${after}]`, `${sql}, uncommitted in the engine`);
        loaded.side.flush();
        rows = after;
      }
      t.equal(loaded.sources.length, 1);
      const then = end === "crash" ? loaded.crashed() : loaded;
      const stopped = loaded.close();
      const first = gate;
      setTimeout(() => first.give(), 20);
      await stopped;
      gate = new Ending();
      then.onBuild = () => gate.given;
      await then.open();
      await then.side.run(1, "SELECT 1 FROM g LIMIT 1");
      const begun = then.read;
      t.equal(await then.side.run(1, count), `[${rows}]`, `after a ${end} and ${changes} changes`);
      if (changes === 0) t.equal(then.read, begun, "no record is read");
      t.equal(await then.side.run(1, "SELECT count(*) FROM g WHERE b = 5"), `[${changes > 0 ? 1 : 0}]`);
      gate.give();
      while (then.held().length > 0) await then.built();
      t.equal(then.sources.at(-1), "load");
      t.ok(then.table!.rows >= 2990);
      t.equal(await then.side.run(1, count), `[${rows}]`, "with columns");
      await then.close();
    }
  }
});

t.test("of segments that a statement changes through and through, nothing is noted", async (t) => {
  const loaded = await Loaded.open(t);
  await loaded.insert(1, 20_000);
  await loaded.apply();
  await loaded.built();
  const { table } = loaded;
  t.equal(table!.segments.length, 20);
  await loaded.side.run(0, "DELETE FROM g WHERE a BETWEEN 3001 AND 9000");
  await loaded.apply();
  t.equal(table!.segments.length, 14, "those are given up that have lost their rows");
  t.equal(table!.entries.size, 0);
  t.equal(table!.writesInGaps, 0, "nothing is to be made of them");
  const left = [...range(1, 3000), ...range(9001, 20_000)];
  t.equal(await loaded.side.run(1, SUMS), sums(left));
  await loaded.side.run(0, "UPDATE g SET b = 2 WHERE a > 12000 OR a = 77");
  await loaded.apply();
  t.equal(table!.segments.length, 6);
  t.equal(table!.entries.size, 1, "of few changes each is");
  const now = left.map(([a, b]) => [a, a > 12_000 || a === 77 ? 2 : b] as const);
  t.equal(await loaded.side.run(1, SUMS), sums(now));
  await loaded.close();
  await loaded.open();
  t.equal(await loaded.side.run(1, SUMS), sums(now), "after a start");
  await loaded.close();
});

t.test("without the files the rows are in a gap, and become columns later", async (t) => {
  const loaded = await Loaded.open(t);
  loaded.onBuild = () => {
    if (loaded.sources.at(-1) !== "load") return;
    for (const name of loaded.held()) rmSync(join(loaded.path, "columns", name), { recursive: true });
  };
  await loaded.insert(1, 3000);
  await loaded.apply();
  await loaded.built();
  t.same(loaded.sources, ["load"]);
  t.equal(loaded.table, null);
  t.equal(await loaded.side.run(1, SUMS), sums(range(1, 3000)));
  t.equal(loaded.side.segments.tablesOf(7)[0]!.making.size, 0);
  for (let i = 0; i < 3; i++) {
    loaded.side.partition.columns!.sweep();
    await loaded.built();
  }
  t.same(loaded.sources, ["load", "engine"]);
  t.equal(loaded.table!.rows, 3000);
  t.equal(await loaded.side.run(1, SUMS), sums(range(1, 3000)));
  await loaded.close();
});

t.test("the log may drop its files before the columns are made", async (t) => {
  const loaded = await Loaded.open(t);
  loaded.onBuild = () => {
    for (const name of readdirSync(join(loaded.path, "log"))) rmSync(join(loaded.path, "log", name));
  };
  await loaded.insert(1, 3000);
  await loaded.apply();
  await loaded.built();
  t.equal(loaded.table!.rows, 3000);
  t.equal(await loaded.side.run(1, SUMS), sums(range(1, 3000)));
  await loaded.close();
});

t.test("of a table that is thrown out meanwhile no files are left", async (t) => {
  const loaded = await Loaded.open(t);
  await loaded.insert(1, 3000);
  await loaded.apply(async () => loaded.side.segments.dropTenant(7));
  await loaded.built();
  t.same(loaded.sources, ["load"]);
  t.equal(loaded.table, null);
  t.equal(await loaded.side.run(1, SUMS), sums(range(1, 3000)));
  const columns = join(loaded.path, "columns");
  t.same(
    readdirSync(columns, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".columns")),
    [],
  );
  await loaded.close();
});
