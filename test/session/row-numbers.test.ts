/**
 * Numbers of rows without a primary key: none is given out twice while transactions that have taken some are open,
 * whatever ends beside them.
 */
import t from "tap";
import { DbError } from "../../src/protocol/errors.js";
import { SegmentCache } from "../../src/query/exec/segments/segment-cache.js";
import type { Shard } from "../../src/storage/shard.js";
import { SIZES, Side } from "../query/segment-histories.js";
import { openShard } from "../storage/shards.js";

async function open(t: Parameters<typeof openShard>[0]): Promise<{ side: Side; shard: Shard }> {
  let side: Side | null = null;
  const shard = await openShard(t, { onFlushFailed: (first, _last, error) => side!.partition.undo(first, error) });
  side = await Side.open(t, new SegmentCache(1e9, SIZES), shard);
  await side.run(0, "CREATE TABLE line (n int)");
  await side.run(0, "CREATE TABLE other (id int PRIMARY KEY)");
  side.flush();
  return { side, shard };
}

for (const rows of [10, 5000]) {
  t.test(`commits that the disk refuses beside a transaction of ${rows} rows`, async (t) => {
    const { side, shard } = await open(t);
    await side.run(0, "BEGIN");
    await side.run(0, `INSERT INTO line SELECT i FROM generate_series(1, ${rows}) i`);
    await side.run(1, "INSERT INTO other VALUES (1)");
    const append = shard.log.append.bind(shard.log);
    shard.log.append = () => {
      shard.log.append = append;
      throw new DbError("disk_full");
    };
    side.flush();
    t.equal(await side.run(2, "SELECT count(*) FROM other"), "[0]", "it was undone");
    await side.run(0, `INSERT INTO line SELECT i FROM generate_series(${rows + 1}, ${2 * rows}) i`);
    t.equal(await side.run(0, "COMMIT"), '["COMMIT"]');
    t.equal(await side.run(2, "SELECT count(*), min(n) FROM line"), `[${2 * rows},1]`);
  });
}

t.test("rows that were committed with numbers of their own", async (t) => {
  const { side } = await open(t);
  const { rowNumbers } = side.partition;
  await side.run(0, "BEGIN");
  await side.run(0, "INSERT INTO line SELECT i FROM generate_series(1, 3) i");
  // A session that counts for itself, as a branch does, and is then merged.
  rowNumbers.forget(7);
  await side.run(1, "INSERT INTO line SELECT i FROM generate_series(101, 105) i");
  rowNumbers.lookAgain(7);
  await side.run(1, "INSERT INTO line VALUES (6)");
  t.equal(await side.run(2, "SELECT count(*) FROM line"), "[6]", "they come after those that are there");
  rowNumbers.lookAgain(7);
  await side.run(1, "BEGIN");
  await side.run(1, "INSERT INTO line SELECT i FROM generate_series(7, 9) i");
  rowNumbers.lookAgain(7);
  await side.run(1, "INSERT INTO line SELECT i FROM generate_series(10, 12) i");
  await side.run(1, "COMMIT");
  t.equal(await side.run(2, "SELECT count(*), max(n) FROM line"), "[12,105]", "and after those of open transactions");
});

t.test("a table that loses its primary key counts from 1, whatever its keys look like", async (t) => {
  const { side } = await open(t);
  await side.run(0, "CREATE TABLE keyed (id int8 PRIMARY KEY)");
  await side.run(0, "INSERT INTO keyed VALUES (5), (-9223372036854775000)");
  await side.run(0, "BEGIN");
  await side.run(0, "ALTER TABLE keyed DROP CONSTRAINT keyed_pkey");
  side.partition.rowNumbers.lookAgain(7);
  await side.run(0, "INSERT INTO keyed VALUES (6), (7)");
  t.equal(await side.run(0, "COMMIT"), '["COMMIT"]');
  t.equal(await side.run(1, "SELECT count(*), max(id) FROM keyed"), "[4,7]");
});

t.test("nobody looks for the last row of a table that was just made", async (t) => {
  const { side, shard } = await open(t);
  // RocksDB would go through the rows of tables that were dropped before, in one turn.
  let backwards = 0;
  const cursor = shard.engine.cursor.bind(shard.engine);
  shard.engine.cursor = (range) => {
    if (range.reverse === true) backwards++;
    return cursor(range);
  };
  await side.run(0, "CREATE TABLE made (n int)");
  await side.run(0, "INSERT INTO made SELECT i FROM generate_series(1, 3000) i");
  side.flush();
  await side.run(0, "TRUNCATE made");
  await side.run(0, "INSERT INTO made VALUES (1)");
  t.equal(backwards, 0);
  t.equal(await side.run(0, "SELECT count(*) FROM made"), "[1]");
});
