/**
 * INSERT of more rows than memory is to hold, into a table that exists: they wait in a file for the commit. As a whole
 * or not at all, each row once, with the constraints that few rows have.
 */
import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { importRows } from "../../src/features/import/import-rows.js";
import type { DbError } from "../../src/protocol/errors.js";
import { SegmentCache } from "../../src/query/exec/segments/segment-cache.js";
import { type BuildJob, buildColumns } from "../../src/query/exec/segments/stored/build-columns.js";
import { SpillArea } from "../../src/query/exec/spill/spill-area.js";
import type { LongTasks } from "../../src/session/long-tasks.js";
import { watchKey } from "../../src/storage/keys.js";
import type { Shard } from "../../src/storage/shard.js";
import { openShardOnDisk } from "../../src/storage/shard-on-disk.js";
import { SIZES, Side } from "../query/segment-histories.js";
import { directory } from "../storage/shards.js";

const ROWS = 5000;
/** Some 1,000 rows. */
const LOAD_BYTES = 100_000;

class Aside {
  side!: Side;
  shard!: Shard;
  spill!: SpillArea;
  /** The engine takes large commits. */
  takes = true;
  private timer: NodeJS.Timeout | null = null;

  private constructor(
    private readonly t: Test,
    readonly path: string,
    private readonly loadBytes: number,
  ) {}

  static async open(t: Test, loadBytes = LOAD_BYTES, path = directory(t)): Promise<Aside> {
    const aside = new Aside(t, path, loadBytes);
    await aside.open();
    return aside;
  }

  async open(): Promise<void> {
    this.shard = await openShardOnDisk(this.path, {
      unseenBytes: this.loadBytes,
      onDurable: (sequence) => this.side.partition.onDisk(sequence),
    });
    this.spill = new SpillArea(join(this.path, "spill"), 1 << 30, this.loadBytes);
    const tasks = { buildColumns: (job: BuildJob) => Promise.resolve(buildColumns(job)) } as unknown as LongTasks;
    const sizes = { ...SIZES, segmentRows: 1000, storedRowsMin: 1000, fileRowsMin: 1000 };
    this.side = await Side.open(this.t, new SegmentCache(1e9, sizes), this.shard, { tasks, spill: this.spill });
    await this.side.partition.keepColumns(this.path);
    // What the actor does between its turns.
    this.timer = setInterval(() => {
      this.shard.flush();
      while (this.takes && this.shard.canApplySome) this.shard.applySome();
    }, 1);
  }

  run(sql: string, session = 0): Promise<string> {
    return this.side.run(session, sql, true);
  }

  async settled(): Promise<void> {
    do await new Promise((resolve) => setTimeout(resolve, 5));
    while (this.takes && this.shard.hasBacklog);
    await this.side.partition.columns!.idle();
  }

  async close(): Promise<void> {
    this.takes = true;
    await this.settled();
    clearInterval(this.timer!);
    await this.side.partition.close();
    this.t.equal(this.spill.bytes, 0, "no file is left");
  }

  /** The process ends here: nothing more is written. */
  stop(): void {
    clearInterval(this.timer!);
  }
}

const SUMS = (table: string) =>
  `SELECT count(*), sum(id), sum(k), count(DISTINCT name), min(id), max(id) FROM ${table}`;
const TABLE = "CREATE TABLE t (id integer PRIMARY KEY, k integer, name text NOT NULL DEFAULT 'none')";
/** Ids in no order, so that each load has some of all ranges. */
const MIXED = `SELECT i * 2999 % 5003 AS id, i % 7, 'name of ' || i FROM generate_series(1, ${ROWS}) i`;

t.test("rows come in several loads and are there as a whole, once, also after a start", async (t) => {
  for (const [order, select] of [
    ["rising keys", `SELECT i, i % 7, 'name of ' || i FROM generate_series(1, ${ROWS}) i`],
    ["mixed keys", MIXED],
  ] as const) {
    const aside = await Aside.open(t);
    const plain = await Aside.open(t, 1e9);
    for (const each of [aside, plain]) {
      await each.run(TABLE);
      await each.run("CREATE INDEX t_k ON t (k)");
      await each.run("CREATE UNIQUE INDEX t_name ON t (name)");
      await each.run("INSERT INTO t VALUES (100000, 1, 'before'), (-5, 2, 'also before')");
      const commits = each.shard.metrics.commits;
      await each.run(`INSERT INTO t ${select}`);
      t.equal(each.shard.metrics.commits, commits + 1, "one commit");
    }
    t.ok(aside.spill.bytesWritten > 3 * LOAD_BYTES, `${aside.spill.bytesWritten} bytes aside`);
    t.equal(plain.spill.bytesWritten, 0);
    const all = await plain.run(SUMS("t"));
    t.match(all, new RegExp(`^\\[${ROWS + 2},`), order);
    t.equal(await aside.run(SUMS("t")), all, order);
    const byIndex = "SELECT count(*), sum(id) FROM t WHERE k = 3";
    t.equal(await aside.run(byIndex), await plain.run(byIndex));
    await aside.settled();
    t.equal(await aside.run(SUMS("t")), all, "once the engine has them");
    t.equal(
      await aside.run("SELECT id FROM t WHERE name = 'name of 4711'"),
      await plain.run("SELECT id FROM t WHERE name = 'name of 4711'"),
    );
    await aside.close();
    await aside.open();
    t.equal(await aside.run(SUMS("t")), all, "after a start");
    await aside.close();
    await plain.close();
  }
});

t.test(
  "a new table's rows go into the log as they come, and more of them are stored ahead of the commit",
  async (t) => {
    for (const rows of [ROWS, 7 * ROWS]) {
      const aside = await Aside.open(t);
      const series = `generate_series(1, ${rows}) i`;
      const create = `CREATE TABLE made AS SELECT i AS id, i % 7 AS k, 'name of ' || i AS name FROM ${series}`;
      const commits = aside.shard.metrics.commits;
      // The engine takes nothing before the end, so who waits for it waits for ever.
      aside.takes = rows > ROWS;
      t.equal(await aside.run(create), `["CREATE TABLE AS"]`);
      const made = aside.shard.metrics.commits - commits;
      t.ok(rows === ROWS ? made === 1 : made > 2, `${made} commits`);
      t.equal(aside.spill.bytesWritten, 0, "in no other file");
      const sum = (rows * (rows + 1)) / 2;
      const all = await aside.run(`SELECT count(*), sum(i), sum(i % 7), count(DISTINCT i), 1, ${rows} FROM ${series}`);
      t.match(all, new RegExp(`^\\[${rows},${sum},`));
      t.equal(await aside.run(SUMS("made")), all);
      t.equal(await aside.run("SELECT array_agg(id) FROM (SELECT id FROM made LIMIT 3) s"), "[[1,2,3]]");
      aside.takes = true;
      await aside.settled();
      t.equal(await aside.run(SUMS("made"), 1), all);
      await aside.run("INSERT INTO made VALUES (0, 0, 'more')");
      t.equal(await aside.run("SELECT count(*) FROM made"), `[${rows + 1}]`, "a further row has a number of its own");

      await aside.run("BEGIN");
      await aside.run(create.replace("made", "other"));
      await aside.run("DELETE FROM other WHERE id <= 10 OR id > 4990");
      t.equal(await aside.run("SELECT count(*) FROM other WHERE id < 5000"), "[4980]");
      t.match(await aside.run(SUMS("other"), 1), /does not exist/);
      await aside.run("ROLLBACK");
      const logged = aside.shard.log.bytesAppended;
      t.match(await aside.run(create.replace("i % 7", "1 / (4900 - i)").replace("made", "other")), /division by zero/);
      const { bytesAppended } = aside.shard.log;
      t.ok(bytesAppended - logged > 1.5 * LOAD_BYTES, `${bytesAppended - logged} bytes before there was a commit`);
      await aside.close();
      await aside.open();
      t.equal(await aside.run("SELECT count(*), sum(id) FROM made"), `[${rows + 1},${sum}]`);
      t.match(await aside.run(SUMS("other")), /does not exist/);
      await aside.close();
    }
  },
);

t.test("the engine has none of it yet: others read it, the next start finds it", async (t) => {
  const aside = await Aside.open(t);
  await aside.run(TABLE);
  await aside.run("INSERT INTO t VALUES (100000, 1, 'before')");
  await aside.settled();
  aside.takes = false;
  await aside.run(`INSERT INTO t ${MIXED}`);
  const all = await aside.run(SUMS("t"), 1);
  t.match(all, new RegExp(`^\\[${ROWS + 1},`));
  t.equal(await aside.run("SELECT count(*) FROM t WHERE id = 4999", 1), "[1]", "by key");
  t.equal(await aside.run("SELECT id FROM t ORDER BY id DESC LIMIT 2", 1), "[100000]\n[5002]");
  await aside.run("UPDATE t SET k = 1000 WHERE id = 4999", 1);
  t.equal(await aside.run("SELECT max(k) FROM t"), "[1000]");
  await killed(t, aside, await aside.run(SUMS("t"), 1));
});

/** As after kill -9: the next start finds in the directory as it is now what the table had. */
async function killed(t: Test, aside: Aside, sums: string): Promise<void> {
  aside.stop();
  aside.shard.flush();
  await aside.shard.log.sync();
  const copy = directory(t);
  cpSync(aside.path, copy, { recursive: true });
  const next = await Aside.open(t, LOAD_BYTES, copy);
  t.equal(await next.run(SUMS("t")), sums);
  await next.close();
  aside.takes = true;
  while (aside.shard.canApplySome) aside.shard.applySome();
  await aside.side.partition.close();
}

const rising = (from: number, count = ROWS) =>
  `INSERT INTO t SELECT i, i % 7, 'name of ' || i FROM generate_series(${from}, ${from + count - 1}) i`;

t.test("rows in the log are readable before the engine has them, and after a start", async (t) => {
  const aside = await Aside.open(t);
  await aside.run(TABLE);
  await aside.run("INSERT INTO t VALUES (100000, 1, 'before')");
  await aside.settled();
  aside.takes = false;
  const logged = aside.shard.log.bytesAppended;
  t.equal(await aside.run(rising(1)), "");
  t.equal(aside.spill.bytesWritten, 0);
  const { bytesAppended } = aside.shard.log;
  t.ok(bytesAppended - logged < 300_000, `${bytesAppended - logged} bytes, once each`);
  t.equal(await aside.run("SELECT count(*), sum(id) FROM t WHERE id = 4999 OR id = 1", 1), "[2,5000]", "by key");
  t.equal(await aside.run("SELECT id FROM t ORDER BY id DESC LIMIT 2", 1), "[100000]\n[5000]");
  await aside.run("UPDATE t SET k = 1000 WHERE id = 4999", 1);
  await killed(t, aside, await aside.run(SUMS("t"), 1));
});

t.test("rows in the log that are rolled back to a savepoint do not come with the commit", async (t) => {
  const aside = await Aside.open(t);
  await aside.run(TABLE);
  await aside.run("INSERT INTO t VALUES (100000, 1, 'before')");
  await aside.settled();
  aside.takes = false;
  await aside.run("BEGIN");
  await aside.run(rising(1));
  await aside.run("SAVEPOINT s");
  await aside.run(rising(10_001));
  await aside.run("ROLLBACK TO s");
  await aside.run(rising(20_001));
  const own = await aside.run(SUMS("t"));
  t.match(own, new RegExp(`^\\[${2 * ROWS + 1},`));
  await aside.run("COMMIT");
  t.equal(await aside.run(SUMS("t"), 1), own);
  await killed(t, aside, own);
});

t.test("rows under keys that the transaction has deleted stay behind the deletion", async (t) => {
  const aside = await Aside.open(t);
  await aside.run(TABLE);
  await aside.run("INSERT INTO t VALUES (100000, 1, 'before')");
  await aside.run(rising(1, 3000));
  await aside.settled();
  aside.takes = false;
  await aside.run("BEGIN");
  await aside.run(rising(5001));
  await aside.run("DELETE FROM t WHERE id < 2500 OR id BETWEEN 6001 AND 8000");
  await aside.run(`${rising(1, 2000)} UNION ALL SELECT i, 1, 'again' FROM generate_series(6001, 8000) i`);
  const own = await aside.run(SUMS("t"));
  t.match(own, new RegExp(`^\\[${1 + 501 + ROWS + 2000},`));
  await aside.run("COMMIT");
  t.equal(await aside.run(SUMS("t"), 1), own);
  await killed(t, aside, own);
});

t.test("rows that cease to rise are merged with those in the log", async (t) => {
  const aside = await Aside.open(t);
  await aside.run(TABLE);
  const falling = `${rising(1)} UNION ALL SELECT 20000 - i, 1, 'falling' FROM generate_series(1, ${ROWS}) i`;
  t.equal(await aside.run(falling), "");
  t.ok(aside.spill.bytesWritten > 4 * LOAD_BYTES);
  t.match(await aside.run(SUMS("t")), new RegExp(`^\\[${2 * ROWS},`));
  t.match(
    await aside.run(`${falling} UNION ALL SELECT 7, 1, 'twice'`),
    /duplicate key value violates unique constraint "t_pkey"/,
  );
  await aside.run("TRUNCATE t");
  t.match(
    await aside.run(`${falling} UNION ALL SELECT 7, 1, 'twice'`),
    /duplicate key value violates unique constraint "t_pkey"/,
  );
  t.equal(await aside.run("SELECT count(*) FROM t"), "[0]");
  await aside.close();
});

t.test("rows in the log are bounded as those in files are", async (t) => {
  const aside = await Aside.open(t);
  await aside.run(TABLE);
  Object.assign(aside.spill, { statementBytesMax: 2 * LOAD_BYTES });
  t.match(await aside.run(rising(1)), /temporary file size exceeds spill_bytes_max/);
  t.equal(await aside.run(rising(1, 2000)), "");
  t.equal(await aside.run("SELECT count(*) FROM t"), "[2000]");
  await aside.close();
});

t.test("what ends in the middle leaves nothing", async (t) => {
  const aside = await Aside.open(t);
  await aside.run(TABLE);
  await aside.run("INSERT INTO t VALUES (100000, 1, 'before')");
  const before = await aside.run(SUMS("t"));
  const commits = aside.shard.metrics.commits;
  for (const key of ["i", "i * 2999 % 5003"]) {
    const failing = `INSERT INTO t SELECT ${key}, 1 / (${ROWS} - i), 'x' FROM generate_series(1, ${ROWS}) i`;
    t.match(await aside.run(failing), /division by zero/);
    t.equal(await aside.run(SUMS("t")), before);
    t.equal(aside.shard.metrics.commits, commits);
    t.equal(aside.spill.bytes, 0, "the file is closed");
  }
  t.same(readdirSync(join(aside.path, "spill")), []);
  await aside.run("BEGIN");
  await aside.run("SAVEPOINT s");
  await aside.run(`INSERT INTO t ${MIXED}`);
  t.match(await aside.run(SUMS("t")), new RegExp(`^\\[${ROWS + 1},`), "its own transaction sees them");
  await aside.run("ROLLBACK TO s");
  t.equal(await aside.run(SUMS("t")), before);
  await aside.run(`INSERT INTO t SELECT id + 20000, 1, 'again' FROM t`);
  await aside.run(`INSERT INTO t ${MIXED}`);
  await aside.run("DELETE FROM t WHERE id <= 10");
  await aside.run("UPDATE t SET k = 77 WHERE id = 11");
  const own = await aside.run(SUMS("t"));
  t.equal(await aside.run(SUMS("t"), 1), before, "another session sees none");
  await aside.run("COMMIT");
  t.equal(await aside.run(SUMS("t"), 1), own);
  await aside.settled();
  t.equal(await aside.run(SUMS("t"), 1), own);
  t.match(own, new RegExp(`^\\[${ROWS + 2 - 10},`));
  await aside.close();
});

t.test("rows that were rolled back leave their file, and a transaction's files are bounded", async (t) => {
  const aside = await Aside.open(t);
  await aside.run(TABLE);
  await aside.run("BEGIN");
  await aside.run("SAVEPOINT s");
  for (let i = 0; i < 3; i++) {
    await aside.run(`INSERT INTO t ${MIXED}`);
    t.ok(aside.spill.bytes > LOAD_BYTES);
    await aside.run("ROLLBACK TO s");
    t.equal(aside.spill.bytes, 0);
  }
  // A cursor that may read the rows is in the way until the end.
  await aside.run(`INSERT INTO t ${MIXED}`);
  await aside.run("DECLARE c CURSOR FOR SELECT count(*) OVER (), id FROM t");
  await aside.run("ROLLBACK TO s");
  await aside.run("ROLLBACK");
  t.equal(aside.spill.bytes, 0);
  const insert = (from: number) => `INSERT INTO t SELECT id + ${from}, k, name FROM (${MIXED}) s(id, k, name)`;
  await aside.run("BEGIN");
  t.equal(await aside.run(insert(0)), "");
  const used = aside.spill.bytes;
  Object.assign(aside.spill, { statementBytesMax: 1.5 * used });
  t.match(await aside.run(insert(10_000)), /temporary file size exceeds spill_bytes_max/);
  await aside.run("ROLLBACK");
  t.equal(aside.spill.bytes, 0);
  t.equal(await aside.run(insert(0)), "", "each by itself has room");
  t.equal(await aside.run(insert(10_000)), "");
  t.equal(await aside.run("SELECT count(*) FROM t"), `[${2 * ROWS}]`);
  await aside.close();
});

t.test("INSERT … SELECT of the table itself does not meet its own rows", async (t) => {
  const aside = await Aside.open(t);
  await aside.run("CREATE TABLE own (id integer, name text)");
  await aside.run("INSERT INTO own SELECT i, 'name of ' || i FROM generate_series(1, 4000) i");
  await aside.settled();
  await aside.run("INSERT INTO own SELECT id + 4000, name FROM own");
  t.equal(await aside.run("SELECT count(*), count(DISTINCT id), max(id) FROM own"), "[8000,8000,8000]");
  await aside.close();
});

t.test("keys that are there twice", async (t) => {
  const aside = await Aside.open(t);
  const plain = await Aside.open(t, 1e9);
  for (const each of [aside, plain]) {
    await each.run(TABLE);
    await each.run("CREATE UNIQUE INDEX t_name ON t (lower(name))");
    await each.run("INSERT INTO t VALUES (100000, 1, 'before')");
  }
  const cases = [
    // In one load, in two, and with a row that is stored.
    `SELECT CASE i WHEN 20 THEN 10 ELSE i END, 1, 'n' || i FROM generate_series(1, ${ROWS}) i`,
    `SELECT CASE i WHEN 4500 THEN 10 WHEN 4700 THEN 5 ELSE i END, 1, 'n' || i FROM generate_series(1, ${ROWS}) i`,
    `SELECT i, 1, CASE i WHEN 4500 THEN 'N10' WHEN 4200 THEN 'N40' ELSE 'n' || i END FROM generate_series(1, ${ROWS}) i`,
    `SELECT CASE i WHEN 4500 THEN 100000 ELSE i END, 1, 'n' || i FROM generate_series(1, ${ROWS}) i`,
    `SELECT i, 1, CASE i WHEN 4500 THEN 'BEFORE' ELSE 'n' || i END FROM generate_series(1, ${ROWS}) i`,
    `SELECT i, 1, CASE i WHEN 4500 THEN NULL ELSE 'n' || i END FROM generate_series(1, ${ROWS}) i`,
  ];
  for (const select of cases) {
    const wanted = await plain.run(`INSERT INTO t ${select}`);
    t.match(wanted, /duplicate key|violates not-null/);
    t.equal(await aside.run(`INSERT INTO t ${select}`), wanted);
    t.equal(await aside.run("SELECT count(*) FROM t"), "[1]");
  }
  await aside.close();
  await plain.close();
});

t.test("foreign keys, among them those to rows of the same statement", async (t) => {
  const aside = await Aside.open(t);
  await aside.run("CREATE TABLE parent (id integer PRIMARY KEY)");
  await aside.run("INSERT INTO parent SELECT i FROM generate_series(0, 99) i");
  await aside.run("CREATE TABLE child (id integer PRIMARY KEY, p integer REFERENCES parent, name text)");
  const children = (p: string) =>
    `INSERT INTO child SELECT i, ${p}, 'name of ' || i FROM generate_series(1, ${ROWS}) i`;
  for (const row of [100, 4500]) {
    const wrong = await aside.run(children(`CASE i WHEN ${row} THEN 1000 ELSE i % 100 END`));
    t.match(wrong, /violates foreign key constraint/);
    t.equal(await aside.run("SELECT count(*) FROM child"), "[0]");
  }
  await aside.run(children("i % 100"));
  t.equal(await aside.run("SELECT count(*), sum(p) FROM child"), `[${ROWS},${(ROWS / 100) * 4950}]`);
  await aside.run("CREATE TABLE tree (id integer PRIMARY KEY, up integer REFERENCES tree, name text)");
  const tree = (up: string) => `INSERT INTO tree SELECT i, ${up}, 'name of ' || i FROM generate_series(1, ${ROWS}) i`;
  for (const up of ["CASE i WHEN 5 THEN 9000 ELSE i END", "CASE i WHEN 4900 THEN 9000 ELSE 1 END"]) {
    t.match(await aside.run(tree(up)), /violates foreign key constraint "tree_up_fkey"/);
  }
  await aside.run(tree(`CASE WHEN i < 1000 THEN ${ROWS} - i ELSE i - 500 END`));
  t.equal(await aside.run("SELECT count(*) FROM tree"), `[${ROWS}]`, "earlier and later rows");
  await aside.close();
});

t.test("two large inserts at once: the second one finds the first one's keys", async (t) => {
  const aside = await Aside.open(t);
  await aside.run(TABLE);
  const both = await Promise.all([aside.run(`INSERT INTO t ${MIXED}`, 0), aside.run(`INSERT INTO t ${MIXED}`, 1)]);
  t.match(both.sort().join(";"), /^;error: (duplicate key|could not serialize)/);
  t.match(await aside.run(SUMS("t")), new RegExp(`^\\[${ROWS},`));
  await aside.close();
});

t.test("imports: the line at fault is told, whatever load it is in", async (t) => {
  const aside = await Aside.open(t);
  await aside.run(TABLE);
  const tenant = aside.side.partition.tenant(7);
  const client = { checkpoint: () => undefined, shouldYield: () => false, yieldTurn: () => Promise.resolve() };
  const request = { ...client, tenant, signal: () => new AbortController().signal };
  async function* body(idOf: (i: number) => number): AsyncIterable<Uint8Array> {
    for (let i = 1; i <= ROWS; i++) yield Buffer.from(`{"id":${idOf(i)},"k":${i % 7},"name":"name of ${i}"}\n`);
  }
  const options = {
    ...{ schema: null, table: "t", columns: null, conflict: { action: "error" as const, columns: [] }, csv: null },
    session: { isolation: null, readOnly: false, user: "u", tenantName: "t", control: "routes" as const },
    create: false,
  };
  const imported = (idOf: (i: number) => number) =>
    importRows(
      request,
      body(idOf),
      options,
      () => undefined,
      (tx) => tenant.commit(tx),
    );
  for (const [line, idOf] of [
    [4500, (i: number) => (i === 4500 ? 10 : i)],
    [4500, (i: number) => (i === 4500 ? 4400 : i)],
    [20, (i: number) => (i === 20 ? 10 : i)],
  ] as const) {
    const failure = await imported(idOf).then(
      () => null,
      (error: unknown) => error as DbError,
    );
    t.match(failure?.details, { sqlstate: "23505", line });
    t.equal(await aside.run("SELECT count(*) FROM t"), "[0]");
    t.equal(aside.spill.bytes, 0);
  }
  const written = aside.spill.bytesWritten;
  await imported((i) => (i * 2999) % 5003);
  t.ok(aside.spill.bytesWritten > written + 3 * LOAD_BYTES);
  t.match(await aside.run(SUMS("t")), new RegExp(`^\\[${ROWS},`));
  await aside.close();
});

t.test("a table that somebody follows keeps its rows in memory", async (t) => {
  const aside = await Aside.open(t);
  await aside.run(TABLE);
  const tx = aside.shard.begin();
  const [table] = aside.side.partition.tenant(7).catalog.view(tx).tables();
  tx.put(watchKey(7, table!.id), Buffer.from("{}"));
  tx.commit();
  await aside.run(`INSERT INTO t ${MIXED}`);
  t.match(await aside.run(SUMS("t")), new RegExp(`^\\[${ROWS},`));
  t.equal(aside.spill.bytesWritten, 0);
  await aside.close();
});
