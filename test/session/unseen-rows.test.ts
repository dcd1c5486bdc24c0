/**
 * Rows of CREATE TABLE AS and REFRESH that are stored ahead of the commit: nobody sees them, and none stays without it.
 */
import t, { type Test } from "tap";
import { removeRetired } from "../../src/actor/remove-retired.js";
import { DbError } from "../../src/protocol/errors.js";
import { SegmentCache } from "../../src/query/exec/segments/segment-cache.js";
import { type BuildJob, buildColumns } from "../../src/query/exec/segments/stored/build-columns.js";
import type { LongTasks } from "../../src/session/long-tasks.js";
import { prefixRange, retiredPrefix, tenantPrefix } from "../../src/storage/keys.js";
import { Load } from "../../src/storage/load.js";
import type { Shard } from "../../src/storage/shard.js";
import { openShardOnDisk } from "../../src/storage/shard-on-disk.js";
import { ShardTransaction } from "../../src/storage/transaction.js";
import { SIZES, Side } from "../query/segment-histories.js";
import { directory } from "../storage/shards.js";

const ROWS = 12_000;
/** Some 2,000 rows. */
const UNSEEN_BYTES = 150_000;
const SELECT = `SELECT i AS a, i % 7 AS b, 'text ' || i AS c FROM generate_series(1, ${ROWS}) i`;
const SUMS = (table: string) => `SELECT count(*), sum(a), sum(b), count(DISTINCT c), min(a), max(a) FROM ${table}`;
const ALL = `[${ROWS},${(ROWS * (ROWS + 1)) / 2},${sumOfRemainders()},${ROWS},1,${ROWS}]`;

function sumOfRemainders(): number {
  let sum = 0;
  for (let i = 1; i <= ROWS; i++) sum += i % 7;
  return sum;
}

class Unseen {
  side!: Side;
  shard!: Shard;
  /** The engine takes large commits. */
  takes = true;
  private timer: NodeJS.Timeout | null = null;

  private constructor(
    private readonly t: Test,
    private readonly path: string,
  ) {}

  static async open(t: Test): Promise<Unseen> {
    const unseen = new Unseen(t, directory(t));
    await unseen.open();
    return unseen;
  }

  async open(): Promise<void> {
    this.shard = await openShardOnDisk(this.path, {
      unseenBytes: UNSEEN_BYTES,
      onDurable: (sequence) => this.side.partition.onDisk(sequence),
    });
    const tasks = { buildColumns: (job: BuildJob) => Promise.resolve(buildColumns(job)) } as unknown as LongTasks;
    const sizes = { ...SIZES, segmentRows: 1000, storedRowsMin: 1000, fileRowsMin: 1000 };
    this.side = await Side.open(this.t, new SegmentCache(1e9, sizes), this.shard, { tasks });
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

  /** Keys of the tenant's rows and of marks of retired storages. */
  keys(): { readonly rows: number; readonly retired: number } {
    const count = (prefix: Uint8Array): number => {
      const cursor = this.shard.engine.cursor(prefixRange(prefix));
      let found = 0;
      for (let keys = cursor.next(1000).keys; keys.length > 0; keys = cursor.next(1000).keys) found += keys.length;
      cursor.close();
      return found;
    };
    return { rows: count(Buffer.concat([tenantPrefix(7), Buffer.of(2)])), retired: count(retiredPrefix(7)) };
  }

  async removeRetired(): Promise<void> {
    const scheduler = { yieldTurn: () => this.settled() };
    await removeRetired(this.side.partition.tenant(7), scheduler, () => false);
    await this.settled();
  }

  async close(): Promise<void> {
    await this.settled();
    clearInterval(this.timer!);
    await this.side.partition.close();
  }
}

t.test("a table is filled in several commits, and seen from the last one on", async (t) => {
  const unseen = await Unseen.open(t);
  const before = unseen.shard.metrics.commits;
  let seen = "";
  unseen.side.onTurn = async () => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (unseen.shard.metrics.commits > before + 1 && seen === "") seen = await unseen.side.run(1, SUMS("made"));
  };
  t.equal(await unseen.run(`CREATE TABLE made AS ${SELECT}`), `["CREATE TABLE AS"]`);
  unseen.side.onTurn = () => Promise.resolve();
  t.match(seen, /does not exist/, "another session does not see it before");
  t.ok(unseen.shard.metrics.commits - before > 4, `${unseen.shard.metrics.commits - before} commits`);
  t.equal(await unseen.run(SUMS("made")), ALL);
  await unseen.settled();
  t.same(unseen.keys(), { rows: ROWS, retired: 0 });
  t.equal(await unseen.run(SUMS("made")), ALL);
  await unseen.run("INSERT INTO made VALUES (0, 0, 'more')");
  t.equal(await unseen.run("SELECT count(*) FROM made"), `[${ROWS + 1}]`, "a further row has a number of its own");
  await unseen.removeRetired();
  t.equal(await unseen.run("SELECT count(*) FROM made"), `[${ROWS + 1}]`);
  await unseen.close();
  await unseen.open();
  t.equal(await unseen.run("SELECT count(*), sum(a) FROM made"), `[${ROWS + 1},${(ROWS * (ROWS + 1)) / 2}]`);
  await unseen.run("DROP TABLE made");
  await unseen.settled();
  await unseen.removeRetired();
  t.same(unseen.keys(), { rows: 0, retired: 0 });
  await unseen.close();
});

t.test("its own transaction reads and changes it at once", async (t) => {
  const unseen = await Unseen.open(t);
  await unseen.run("BEGIN");
  await unseen.run(`CREATE TABLE made AS ${SELECT}`);
  t.equal(await unseen.run(SUMS("made")), ALL);
  await unseen.run(`INSERT INTO made VALUES (${ROWS + 1}, 0, 'more'), (${ROWS + 2}, 0, 'still more')`);
  await unseen.run("DELETE FROM made WHERE a <= 10");
  await unseen.run("UPDATE made SET b = 100 WHERE a = 11");
  const own = await unseen.run(SUMS("made"));
  t.equal(await unseen.run("SELECT count(*), max(b) FROM made"), `[${ROWS - 8},100]`);
  t.match(await unseen.run(SUMS("made"), 1), /does not exist/);
  await unseen.removeRetired();
  t.equal(await unseen.run("COMMIT"), `["COMMIT"]`);
  await unseen.settled();
  t.equal(await unseen.run(SUMS("made"), 1), own);
  await unseen.removeRetired();
  t.equal(await unseen.run(SUMS("made"), 1), own);
  t.same(unseen.keys(), { rows: ROWS - 8, retired: 0 });
  await unseen.close();
});

t.test("nothing is left of a transaction that did not commit", async (t) => {
  const unseen = await Unseen.open(t);
  await unseen.run("CREATE TABLE kept (a int)");
  const nothingLeft = async (how: string): Promise<void> => {
    await unseen.settled();
    await unseen.removeRetired();
    t.same(unseen.keys(), { rows: 0, retired: 0 }, how);
  };
  await unseen.run("BEGIN");
  await unseen.run(`CREATE TABLE made AS ${SELECT}`);
  await unseen.run("ROLLBACK");
  t.ok(unseen.keys().rows > 1000, "rows had been stored");
  await nothingLeft("rolled back");

  const failed = await unseen.run(
    `CREATE TABLE made AS SELECT i AS a, 1 / (${ROWS - 100} - i) AS b FROM generate_series(1, ${ROWS}) i`,
  );
  t.match(failed, /division by zero/);
  t.ok(unseen.keys().rows > 1000, "rows had been stored");
  await nothingLeft("failed");

  await unseen.run("BEGIN");
  await unseen.run("SAVEPOINT s");
  await unseen.run(`CREATE TABLE made AS ${SELECT}`);
  await unseen.run("ROLLBACK TO s");
  await unseen.run(`CREATE TABLE other AS SELECT a + 1 AS a, b, c FROM (${SELECT}) s`);
  await unseen.run("COMMIT");
  await unseen.settled();
  await unseen.removeRetired();
  t.same(unseen.keys(), { rows: ROWS, retired: 0 }, "rolled back to a savepoint");
  t.equal(await unseen.run("SELECT count(*), min(a) FROM other"), `[${ROWS},2]`);
  await unseen.run("DROP TABLE other");
  await nothingLeft("dropped");

  await unseen.run("BEGIN");
  await unseen.run(`CREATE TABLE made AS ${SELECT}`);
  await unseen.run("DROP TABLE made");
  await unseen.run("COMMIT");
  await nothingLeft("made and dropped");

  // The process ends in the middle: another one finds the marks.
  await unseen.run("BEGIN");
  await unseen.run(`CREATE TABLE made AS ${SELECT}`);
  await unseen.settled();
  await unseen.close();
  await unseen.open();
  t.ok(unseen.keys().rows > 1000);
  t.equal(await unseen.run("SELECT count(*) FROM kept"), "[0]");
  await unseen.run(`CREATE TABLE made AS SELECT i AS a FROM generate_series(1, ${ROWS}) i`);
  t.equal(await unseen.run("SELECT count(*), sum(a) FROM made"), `[${ROWS},${(ROWS * (ROWS + 1)) / 2}]`);
  await unseen.run("DROP TABLE made");
  await nothingLeft("after a start");
  await unseen.close();
});

t.test("rows that the log had no room for are not forgotten", async (t) => {
  const unseen = await Unseen.open(t);
  const { log } = unseen.shard;
  const append = log.append.bind(log);
  const before = unseen.shard.metrics.commits;
  let refused = 0;
  log.append = (commits) => {
    // The second of the statement's commits.
    if (unseen.shard.metrics.commits - before === 2 && refused++ === 0) throw new DbError("disk_full");
    append(commits);
  };
  t.match(await unseen.run(`CREATE TABLE made AS ${SELECT}`), /error: The disk is full/);
  t.equal(refused, 1);
  t.ok(unseen.keys().rows > 1000, "the first was stored");
  await unseen.settled();
  await unseen.removeRetired();
  t.same(unseen.keys(), { rows: 0, retired: 0 });
  t.equal(await unseen.run(`CREATE TABLE made AS ${SELECT}`), `["CREATE TABLE AS"]`);
  t.equal(await unseen.run(SUMS("made")), ALL);
  await unseen.close();
});

t.test("unique keys are looked for among rows that were stored before", async (t) => {
  const unseen = await Unseen.open(t);
  await unseen.run("CREATE TABLE bounds (n int)");
  await unseen.run("INSERT INTO bounds VALUES (100)");
  await unseen.run(
    `CREATE MATERIALIZED VIEW v AS SELECT CASE WHEN i = ${ROWS - 5} AND n > 100 THEN 17 ELSE i END AS a, i % 7 AS b,
     'text ' || i AS c FROM generate_series(1, (SELECT CASE WHEN n > 50 THEN ${ROWS} ELSE 10 END FROM bounds)) i, bounds`,
  );
  t.equal(await unseen.run(SUMS("v")), ALL);
  await unseen.run("CREATE UNIQUE INDEX v_a ON v (a)");
  await unseen.run("CREATE INDEX v_b ON v (b, a)");
  t.equal(await unseen.run("REFRESH MATERIALIZED VIEW v"), `["REFRESH MATERIALIZED VIEW"]`);
  t.equal(await unseen.run(SUMS("v")), ALL);
  t.equal(await unseen.run(`SELECT c FROM v WHERE a = ${ROWS - 9}`), `["text ${ROWS - 9}"]`);
  t.equal(await unseen.run("SELECT min(a), count(*) FROM v WHERE b = 3 AND a < 60"), "[3,9]");
  await unseen.run("UPDATE bounds SET n = 101");
  t.match(await unseen.run("REFRESH MATERIALIZED VIEW v"), /could not create unique index "v_a"/);
  t.equal(await unseen.run(SUMS("v")), ALL, "it has what it had");
  await unseen.settled();
  await unseen.removeRetired();
  t.equal(await unseen.run(SUMS("v")), ALL);
  const { rows } = unseen.keys();
  t.equal(rows, ROWS + 1);
  await unseen.close();
});

t.test("nothing is left of a failed statement of which the engine gets the rows only later", async (t) => {
  const unseen = await Unseen.open(t);
  await unseen.run("CREATE TABLE kept (a int)");
  await unseen.settled();
  await unseen.removeRetired();
  unseen.takes = false;
  // The second part would wait for the engine.
  const failed = await unseen.run(
    "CREATE TABLE made AS SELECT i AS a, 1 / (3500 - i) AS b, 'text ' || i AS c FROM generate_series(1, 12000) i",
  );
  t.match(failed, /division by zero/);
  t.same(unseen.keys(), { rows: 0, retired: 0 }, "the engine has nothing");
  await unseen.removeRetired();
  unseen.takes = true;
  await unseen.settled();
  const { rows, retired } = unseen.keys();
  t.ok(rows > 1000 && retired === 1, `the engine has ${rows} rows`);
  await unseen.removeRetired();
  t.same(unseen.keys(), { rows: 0, retired: 0 });
  await unseen.close();
});

t.test("a transaction that takes no further load stores rows ahead, too", async (t) => {
  const unseen = await Unseen.open(t);
  await unseen.run("CREATE TABLE loaded (a int)");
  await unseen.run("BEGIN");
  for (let i = 0; i < 16; i++) await unseen.run("INSERT INTO loaded SELECT i FROM generate_series(1, 1500) i");
  const before = unseen.shard.metrics.commits;
  t.equal(await unseen.run(`CREATE TABLE made AS ${SELECT}`), `["CREATE TABLE AS"]`);
  t.ok(unseen.shard.metrics.commits - before > 3, `${unseen.shard.metrics.commits - before} commits`);
  t.equal(await unseen.run(SUMS("made")), ALL);
  t.equal(await unseen.run("COMMIT"), `["COMMIT"]`);
  await unseen.settled();
  t.equal(await unseen.run(SUMS("made"), 1), ALL);
  t.equal(await unseen.run("SELECT count(*) FROM loaded", 1), "[24000]");
  await unseen.removeRetired();
  t.same(unseen.keys(), { rows: ROWS + 24_000, retired: 0 });
  await unseen.close();
});

for (const room of [1000, 100_000]) {
  t.test(`a transaction that has room for ${room} bytes is no bound of rows that are stored ahead`, async (t) => {
    const unseen = await Unseen.open(t);
    const { beginLoad } = ShardTransaction.prototype;
    ShardTransaction.prototype.beginLoad = function (this: ShardTransaction) {
      return new Load(this.snapshot, room);
    };
    t.teardown(() => {
      ShardTransaction.prototype.beginLoad = beginLoad;
    });
    // What is left at the end of 12,000 rows and of 1,100 has more than 1,000 bytes.
    t.equal(await unseen.run(`CREATE TABLE made AS ${SELECT}`), `["CREATE TABLE AS"]`);
    t.equal(await unseen.run(SUMS("made")), ALL);
    t.equal(
      await unseen.run("CREATE TABLE few AS SELECT i AS a FROM generate_series(1, 1100) i"),
      `["CREATE TABLE AS"]`,
    );
    await unseen.settled();
    await unseen.removeRetired();
    t.equal(await unseen.run(SUMS("made")), ALL);
    t.equal(await unseen.run("SELECT count(*), sum(a) FROM few"), `[1100,${(1100 * 1101) / 2}]`);
    t.same(unseen.keys(), { rows: ROWS + 1100, retired: 0 });
    await unseen.close();
  });
}
