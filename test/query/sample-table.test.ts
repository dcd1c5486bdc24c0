/** The sample that ANALYZE draws: from column segments without reading the table, and what it estimates from it. */
import t, { type Test } from "tap";
import type { ColumnDef } from "../../src/catalog/table.js";
import { analyzeTable } from "../../src/query/exec/analyze-table.js";
import { SAMPLE_ROWS } from "../../src/query/exec/sample-table.js";
import { SampledColumn } from "../../src/query/exec/sampled-column.js";
import { Segment } from "../../src/query/exec/segments/segment.js";
import { SEGMENT_SIZES, SegmentCache } from "../../src/query/exec/segments/segment-cache.js";
import type { Transaction } from "../../src/storage/store.js";
import { TEXT } from "../../src/values/values.js";
import { open } from "../conformance/sql-adapter.js";
import { applyBacklog } from "../storage/apply-backlog.js";
import { Side } from "./segment-histories.js";

const ROWS = 60_000;
const COLUMN: ColumnDef = {
  ...{ id: 1, name: "c", type: TEXT, notNull: false },
  ...{ defaultSql: null, missingSql: null, identity: null },
};

async function opened(t: { teardown(done: () => unknown): void }) {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("create table t (id int primary key, few int, many int, word text, extra json)");
  await database.exec(
    `insert into t select i, i % 10, i / 3, case when i % 4 = 0 then null else 'w' || i % 500 end from generate_series(1, ${ROWS}) g(i)`,
  );
  const { shard, tenant } = database;
  return {
    exec: (sql: string) => database.exec(sql),
    /** `watch`: sees what is done with the transaction. */
    async analyze(segments: SegmentCache | null, watch = (tx: Transaction): Transaction => tx) {
      const tx = shard.begin();
      const table = tenant.catalog.view(tx).tables()[0]!;
      const work = {
        tx: watch(tx),
        segments,
        tenantNumber: tenant.number,
        checkpoint: () => undefined,
        shouldYield: () => true,
        yieldTurn: () => Promise.resolve(),
      };
      const { rows, columns } = await analyzeTable(work, table);
      const ids = new Map(table.columns.map(({ name, id }) => [name, id]));
      return { rows, of: (name: string) => columns[ids.get(name)!] };
    },
    segments: tenant.partition.segments,
  };
}

t.test("a segment that lost all its rows that were drawn does not end the count of the others", async (t) => {
  const work = {
    checkpoint: () => undefined,
    shouldYield: () => false,
    yieldTurn: () => Promise.resolve(),
  };
  const spreadOf = async (values: readonly (string | number)[], starts: readonly number[]) => {
    const column = new SampledColumn(COLUMN);
    for (const [row, value] of values.entries()) column.put(row, value);
    return (await column.count(work, values.length, starts)).spread;
  };
  // Row 0 is of no segment; the second and the last one have no rows.
  const rows = [0, 0, 1, 0, 1, 2, 2];
  const starts = [1, 3, 3, 5, 7];
  const texts = rows.map((row) => `t${row}`);
  t.same(await spreadOf(rows, starts), { items: 6, single: 1 }, "numbers");
  t.same(await spreadOf(texts, starts), { items: 6, single: 1 }, "texts");
  t.same(await spreadOf([5, 3, 5, 4], [0, 2]), { items: 4, single: 2 }, "once in each segment");
  t.same(await spreadOf([5, 3, 6, 4], [0, 2]), { items: 4, single: 4 }, "once in all");
  t.same(await spreadOf(rows, []), { items: 7, single: 0 }, "numbers of no segment");
  t.same(await spreadOf(texts, []), { items: 7, single: 0 }, "texts of no segment");
});

type Analyzed = Awaited<ReturnType<Awaited<ReturnType<typeof opened>>["analyze"]>>;

function isAbout(t: Test, found: number, expected: number, what: string) {
  t.ok(found > expected * 0.85 && found < expected * 1.15, `${what}: ${found}, about ${expected}`);
}

function checkEstimates(t: Test, { of }: Analyzed) {
  t.equal(of("few")!.distinct, 10);
  t.equal(of("few")!.common.length, 10);
  isAbout(t, of("few")!.common[0]!.fraction, 0.1, "a common value");
  isAbout(t, of("many")!.distinct, ROWS / 3, "different values");
  isAbout(t, of("id")!.distinct, ROWS, "a key");
  isAbout(t, of("word")!.nullFraction, 0.25, "NULLs");
  isAbout(t, of("word")!.distinct, 375, "different texts");
  const { histogram } = of("id")!;
  t.equal(histogram.length, 65);
  isAbout(t, histogram[32] as number, ROWS / 2, "the middle of a histogram");
  t.same(
    histogram,
    histogram.toSorted((a, b) => (a as number) - (b as number)),
  );
  t.equal(of("extra"), undefined, "a type without order");
}

t.test("records and segments give the same estimates", async (t) => {
  const { exec, analyze, segments } = await opened(t);
  const fromRecords = await analyze(null);
  t.equal(fromRecords.rows, ROWS);
  checkEstimates(t, fromRecords);
  await exec("select sum(id), sum(few), sum(many), max(word) from t");
  t.equal(segments.tables, 1);
  const fromSegments = await analyze(segments);
  t.equal(fromSegments.rows, ROWS);
  checkEstimates(t, fromSegments);
});

t.test("a table with segments is not read", async (t) => {
  const { exec, analyze, segments } = await opened(t);
  await exec("select sum(few) from t");
  let read = 0;
  const watched = (tx: Transaction): Transaction => {
    const getMany = tx.getMany.bind(tx);
    tx.getMany = (keys) => {
      read += keys.length;
      return getMany(keys);
    };
    tx.scan = () => {
      throw new Error("the table is read");
    };
    return tx;
  };
  const found = await analyze(segments, watched);
  t.equal(found.rows, ROWS);
  t.equal(read, SAMPLE_ROWS, "records of the sample, for the columns that segments lack");
  checkEstimates(t, found);
});

t.test("rows that changed since the segments were made", async (t) => {
  const { exec, analyze, segments } = await opened(t);
  await exec("select sum(few), sum(many), max(word) from t");
  await exec("delete from t where id % 4 = 1");
  await exec("update t set few = 77 where id % 4 = 2");
  await exec(`insert into t select ${ROWS} + i, 88, -i, 'new', null from generate_series(1, 15000) g(i)`);
  t.equal(segments.tables, 1, "the segments are still there");
  const { rows, of } = await analyze(segments);
  t.equal(rows, ROWS);
  const fractions = new Map(of("few")!.common.map(({ value, fraction }) => [value, fraction]));
  isAbout(t, fractions.get(77)!, 0.25, "updated rows");
  isAbout(t, fractions.get(88)!, 0.25, "new rows");
  t.same([...fractions.keys()].filter((value) => (value as number) % 2 === 1).length, 6, "77 and five odd ones");
});

t.test("what the transaction itself wrote counts", async (t) => {
  const { exec } = await opened(t);
  await exec("select sum(few), sum(many), max(word), max(id) from t");
  await exec("begin");
  await exec("delete from t where id > 100");
  await exec("analyze t");
  const [[plan]] = (await exec("explain select * from t")).rows as [[string]];
  await exec("rollback");
  t.match(plan, /rows=100\)/);
});

const LONG_ROWS = 96_000;
const LONG_SIZES = { ...SEGMENT_SIZES, changesMax: LONG_ROWS };

async function longTable(t: Test, segmentRows = 400) {
  const segments = new SegmentCache(1e9, { ...LONG_SIZES, segmentRows });
  const side = await Side.open(t, segments);
  const run = async (sql: string) => {
    t.notMatch(await side.run(0, sql), /error/);
    side.flush();
    await applyBacklog(side.partition.shard);
  };
  await run(
    "create table t (id int primary key, few int, near int, apart int, runs int, word text, own text, gone int)",
  );
  await run(
    `insert into t select 2 * i, i % 10, i / 4, (i * 7919) % 24000, i / 2400, 'w' || i % 500, 'o' || i / 4, nullif(i % 4, 0)
     from generate_series(1, ${LONG_ROWS}) g(i)`,
  );
  const all = ["id", "few", "near", "apart", "runs", "word", "own", "gone"].map((name) => `count(${name})`);
  await side.run(0, `select ${all.join()} from t`);
  const tenant = side.partition.tenant(7);
  return {
    run,
    async analyze() {
      const tx = side.partition.shard.begin();
      const table = tenant.catalog.view(tx).tables()[0]!;
      const work = {
        tx,
        segments,
        tenantNumber: tenant.number,
        checkpoint: () => undefined,
        shouldYield: () => true,
        yieldTurn: () => Promise.resolve(),
      };
      let corrections = 0;
      const correctionsUnread = tx.correctionsUnread.bind(tx);
      tx.correctionsUnread = (range, newer) => {
        const made = correctionsUnread(range, newer);
        const advance = made.advance.bind(made);
        made.advance = () => {
          corrections++;
          advance();
        };
        return made;
      };
      const seen = new Set<Segment>();
      const { someRows } = Segment.prototype;
      Segment.prototype.someRows = function (this: Segment, id, rows) {
        seen.add(this);
        return someRows.call(this, id, rows);
      };
      try {
        const { rows, columns } = await analyzeTable(work, table);
        const of = (name: string) => columns[table.columns.find((one) => one.name === name)!.id]!;
        return { rows, of, seen: seen.size, corrections };
      } finally {
        Segment.prototype.someRows = someRows;
      }
    },
  };
}

t.test("of a long table some segments are looked at", async (t) => {
  const { run, analyze } = await longTable(t);
  const { rows, of, seen } = await analyze();
  t.equal(rows, LONG_ROWS);
  t.equal(seen, 64);
  t.equal(of("few").distinct, 10);
  isAbout(t, of("few").common[0]!.fraction, 0.1, "a common value");
  isAbout(t, of("id").distinct, LONG_ROWS, "a key");
  isAbout(t, of("near").distinct, LONG_ROWS / 4, "different values among neighbours");
  isAbout(t, of("own").distinct, LONG_ROWS / 4, "different texts among neighbours");
  isAbout(t, of("apart").distinct, 24_000, "different values that are spread");
  isAbout(t, of("word").distinct, 500, "different texts that are spread");
  t.ok(of("runs").distinct >= 35 && of("runs").distinct <= 60, `${of("runs").distinct} of 41 long runs`);
  isAbout(t, of("gone").nullFraction, 0.25, "NULLs");
  isAbout(t, of("near").histogram[32] as number, LONG_ROWS / 8, "the middle of a histogram");

  await run("delete from t where few = 3");
  await run("update t set few = 77 where few = 4");
  await run("insert into t select id + 1, 88, -id, 0, 0, 'new', null, 1 from t where id % 20 = 0");
  const changed = await analyze();
  isAbout(t, changed.rows, LONG_ROWS, "rows after as many came as went");
  t.equal(changed.seen, 64);
  const fractions = new Map(changed.of("few").common.map(({ value, fraction }) => [value, fraction]));
  isAbout(t, fractions.get(77)!, 0.1, "updated rows");
  isAbout(t, fractions.get(88)!, 0.1, "new rows");
  t.notOk(fractions.has(3) || fractions.has(4), "values that are gone");

  await run("update t set gone = 9 where few in (0, 1, 2, 5, 6, 77, 88)");
  const often = await analyze();
  t.ok(often.seen === 16 || often.seen === 32, `${often.seen} segments where most rows were changed`);
  isAbout(t, often.rows, LONG_ROWS, "rows");
  isAbout(t, often.of("gone").common[0]!.fraction, 0.75, "updated rows");
});

t.test("of segments all of whose rows were changed, some changes are read", async (t) => {
  const { run, analyze } = await longTable(t, 4000);
  await run("delete from t where id % 8 = 2");
  await run("update t set few = 77 where id % 3 <> 0");
  await run("update t set few = 78 where id % 3 = 0");
  const { rows, of, corrections } = await analyze();
  t.ok(corrections < LONG_ROWS / 3, `${corrections} of ${LONG_ROWS} changes were read`);
  isAbout(t, rows, 0.75 * LONG_ROWS, "rows");
  const fractions = new Map(of("few").common.map(({ value, fraction }) => [value, fraction]));
  isAbout(t, fractions.get(77)!, 2 / 3, "updated rows");
  isAbout(t, fractions.get(78)!, 1 / 3, "other updated rows");
  t.equal(fractions.size, 2);
});
