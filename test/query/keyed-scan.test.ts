/** UPDATE and DELETE find their rows in column segments where those have the filter's columns, and look up the rest. */
import t, { type Test } from "tap";
import { open } from "../conformance/sql-adapter.js";

const ROWS = 5000;

async function opened(t: Test) {
  const database = await open();
  t.teardown(() => database.close());
  const { exec } = database;
  await exec("create table t (a text, b int, k int, v numeric(8,2), j json, primary key (b, a))");
  await exec("create index on t (v)");
  await exec(
    `insert into t select 'ä' || i % 3, i, i % 10, i / 4.0, json_build_object('i', i) from generate_series(1, ${ROWS}) g(i)`,
  );
  const { segments } = database.tenant.partition;
  return {
    exec,
    segments,
    /** As text, in the order of their keys. */
    rows: async (sql: string) => (await exec(sql)).rows.map((row) => row.join("|")),
    /** All that is stored: rows, entries, definitions. */
    async entries(): Promise<number> {
      const tx = database.shard.begin({ readOnly: true });
      const cursor = tx.scan({ gte: Buffer.alloc(0), lt: Buffer.alloc(1, 0xff), only: "keys" });
      let count = 0;
      for (let { length } = cursor.next(1000).keys; length > 0; { length } = cursor.next(1000).keys) count += length;
      cursor.close();
      tx.rollback();
      return count;
    },
    /** Records that are read by key. */
    async lookups(run: () => Promise<unknown>): Promise<number> {
      const { engine } = database.shard;
      const getMany = engine.getMany.bind(engine);
      let read = 0;
      engine.getMany = (keys) => {
        read += keys.length;
        return getMany(keys);
      };
      await run();
      engine.getMany = getMany;
      return read;
    },
    /** Records that are read in the order of their keys. */
    async recordsRead(run: () => Promise<unknown>): Promise<number> {
      const { engine } = database.shard;
      const open = engine.cursor.bind(engine);
      let read = 0;
      engine.cursor = (range) => {
        const cursor = open(range);
        const next = cursor.next.bind(cursor);
        cursor.next = (count) => {
          const entries = next(count);
          read += entries.keys.length;
          return entries;
        };
        return cursor;
      };
      await run();
      engine.cursor = open;
      return read;
    },
  };
}

const held = "select sum(k), max(a), sum(b) from t";

t.test("the records of rows that pass are looked up, others are not", async (t) => {
  const { exec, rows, segments, lookups } = await opened(t);
  await exec(held);
  t.equal(segments.tables, 1);
  const read = await lookups(() => exec("update t set v = v + 1, k = 77 where k = 3"));
  t.ok(read >= ROWS / 10 && read < ROWS / 4, `${read} lookups`);
  t.same(await rows("select count(*), min(b), max(b), count(distinct j::text) from t where k = 77"), [
    "500|3|4993|500",
  ]);
  t.same(await rows("select b, v, j from t where b in (13, 14)"), ['13|4.25|{"i" : 13}', '14|3.50|{"i" : 14}']);
  t.same(await rows("select b from t where v = 4.25"), ["13", "17"], "the index");
  await exec("delete from t where k between 4 and 6");
  t.same(await rows("select count(*), count(*) filter (where k in (4, 5, 6)) from t"), ["3500|0"]);
  t.same(await rows("select count(*) from t where v > 0"), ["3500"]);
});

t.test("the transaction's own changes count", async (t) => {
  const { exec, rows } = await opened(t);
  await exec(held);
  await exec("begin");
  await exec("update t set k = 1000 where b % 2 = 0");
  await exec("delete from t where b > 4000");
  await exec("insert into t values ('new', 9000, 1000, 5, null), ('new', 0, 1000, 6, '[1]')");
  await exec("update t set v = -1 where k = 1000");
  await exec("commit");
  t.same(await rows("select count(*), count(*) filter (where b % 2 = 0), min(b), max(b) from t where v = -1"), [
    "2002|2002|0|9000",
  ]);
  t.same(await rows("select count(*) from t"), ["4002"]);
});

t.test("without segments, and with those of all columns", async (t) => {
  const { exec, rows, segments, lookups } = await opened(t);
  await exec("update t set v = 0 where k = 2 and b > 10");
  t.equal(segments.tables, 0, "none are made of a table that changes");
  t.same(await rows("select count(*) from t where v = 0"), ["499"]);
  await exec("alter table t drop column j");
  await exec("select sum(k), max(a), sum(b), sum(v) from t");
  const read = await lookups(() => exec("delete from t where k = 9"));
  t.equal(read, 0, "all that the indexes need is in the segments");
  t.same(await rows("select count(*) from t"), ["4500"]);
});

t.test("a row that joins several others is changed once", async (t) => {
  const { exec, rows } = await opened(t);
  await exec(held);
  await exec("create table pairs (k int, n int)");
  await exec("insert into pairs select i % 10, i from generate_series(1, 3000) g(i)");
  await exec("update t set v = v + 1 from pairs p where p.k = t.k and t.k < 8");
  t.same(await rows("select count(*) from t where v = b / 4.0 + 1"), ["4000"]);
  await exec("delete from t using pairs p where p.k = t.k and t.k > 4");
  t.same(await rows("select count(*) from t"), ["2500"]);
});

t.test("keys that move, checks, and keys that are taken", async (t) => {
  const { exec, rows } = await opened(t);
  await exec("alter table t add check (v >= 0)");
  await exec(held);
  await exec("update t set b = b + 1");
  t.same(await rows("select min(b), max(b), count(*) from t"), [`2|${ROWS + 1}|${ROWS}`]);
  t.same(await rows("select b, k from t where b = 4"), ["4|3"]);
  await t.rejects(exec("update t set v = v - 100"), { code: "23514" });
  await t.rejects(exec("update t set b = 1, a = 'x' where k = 3"), { code: "23505" });
  t.same(await rows("select min(v), count(distinct b) from t"), [`0.25|${ROWS}`]);
});

t.test("rows without a primary key are found in segments, too", async (t) => {
  const { exec, rows, lookups, recordsRead } = await opened(t);
  await exec("create table n (b int, k int, v numeric(8,2), j json)");
  await exec("create index on n (v)");
  await exec("insert into n select b, k, v, j from t");
  const heldOfN = "select sum(b), sum(k), sum(v) from n";
  await exec(heldOfN);

  const read = await lookups(() => exec("update n set k = 77 where k = 3"));
  t.equal(read, ROWS / 10, "their records are looked up for the column that segments have not");
  t.same(await rows("select count(*), min(b), max(b), count(distinct j::text) from n where k = 77"), [
    "500|3|4993|500",
  ]);
  t.equal(await recordsRead(() => exec("delete from n where k = 4")), 0, "no record is read for its key");
  t.same(await rows("select count(*), count(*) filter (where k = 4), sum(k) from n"), ["4500|0|57500"]);
  t.same(await rows("select b from n where v between 1 and 2 order by b"), ["5", "6", "7", "8"], "the index");

  await exec("begin");
  await exec("update n set k = 1000 where b % 2 = 0");
  await exec("insert into n values (9000, 1000, 5, null), (0, 1000, 6, '[1]')");
  await exec("delete from n where k = 1000 and b % 3 = 0");
  t.same(await rows("select count(*) from n where k = 1000"), ["1333"]);
  await exec("update n set v = -1 where k = 1000");
  await exec("commit");
  t.same(await rows("select count(*), min(b), max(b), sum(b % 3) from n where v = -1"), ["1333|2|5000|2000"]);
  const [place] = (await exec("select ctid from n where b = 5")).rows as [[string]];
  t.same(await rows(`update n set k = 5000 where ctid = '${place[0]}' returning b, k`), ["5|5000"]);
});

t.test("a DELETE of many rows makes the keys of rows and entries of values in segments", async (t) => {
  const { exec, rows, lookups, recordsRead, entries } = await opened(t);
  await exec("create table u (a text, b int, c int unique, d int, primary key (b, a))");
  await exec("create index on u ((d + 1))");
  await exec("create index on u (d) where d > 100");
  await exec("create index on u (d desc, a) include (c)");
  const fill = `insert into u select 'ä' || i % 3, i, nullif(i, i / 2 * 2), i % 200 from generate_series(1, ${ROWS}) g(i)`;
  const empty = await entries();
  const refill = async () => {
    await exec(fill);
    await exec("select max(a), sum(b), sum(c), sum(d) from u");
  };

  await refill();
  const lookedUp = lookups(async () => {
    t.equal(await recordsRead(() => exec("delete from u where d % 1000 >= 0")), 0);
  });
  t.equal(await lookedUp, 0, "all of it is in the segments");
  t.equal(await entries(), empty, "no entry is left");

  await refill();
  await exec("delete from u where d >= 190 and b > 10");
  t.same(await rows("select count(*), count(c), sum(b), max(d) from u"), ["4750|2375|11853875|189"]);
  t.same(await rows("select count(*) from u where d between 180 and 195"), ["250"], "an index");
  t.same(await rows("select count(*) from u where d + 1 = 195"), ["0"], "the index of an expression");
  t.same(await rows("select b from u where c = 4389"), ["4389"], "the unique key");
  t.same(await rows("select b from u where c = 4391"), []);

  await exec("begin");
  await exec("update u set d = 500 where b % 2 = 0");
  await exec("insert into u values ('new', 9000, 9001, 500), ('new', 9001, 4391, 3)");
  await exec("delete from u where d = 500");
  await exec("commit");
  t.same(await rows("select count(*), count(*) filter (where b % 2 = 0) from u"), ["2376|0"]);

  await exec("create table child (a text, b int, foreign key (b, a) references u)");
  await exec("insert into child values ('new', 9001)");
  await t.rejects(exec("delete from u where b > 0"), { code: "23503" });
  await exec("drop table child");
  await exec("delete from u where b > 0");
  t.equal(await entries(), empty);
});
