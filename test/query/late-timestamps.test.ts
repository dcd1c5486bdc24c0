/**
 * A table of timestamps from all of PostgreSQL's range, to the microsecond: whatever path a statement takes, through
 * records, an index, column segments with changes beside them, or files after a restart, it gives what integers give.
 */
import t, { type Test } from "tap";
import { SegmentCache } from "../../src/query/exec/segments/segment-cache.js";
import { buildColumns } from "../../src/query/exec/segments/stored/build-columns.js";
import type { LongTasks } from "../../src/session/long-tasks.js";
import type { Shard } from "../../src/storage/shard.js";
import { openShardOnDisk } from "../../src/storage/shard-on-disk.js";
import { timestampOf } from "../../src/values/timestamp.js";
import { timestampToText } from "../../src/values/timestamp-text.js";
import { directory } from "../storage/shards.js";
import { Random } from "./random-plans.js";
import { SIZES, Side } from "./segment-histories.js";

const ROWS = 9000;
const SHARES = { ...SIZES, segmentRows: 1024, changesMax: 200, storedRowsMin: 1000 };
const SENTINEL = 253_402_300_799_999_999n;
const EXACT_SENTINEL = 253_402_214_400_000_000n;
const [FIRST, LAST] = [-210_866_803_200_000_000n, 9_224_318_015_999_999_999n];
const NOW = 1_700_000_000_000_000n;

type Row = { readonly id: number; readonly at: bigint | null };

/** The first third is recent, the next one late and early, the last has both and what occurs often. */
function micros(random: Random, id: number): bigint | null {
  const recent = () => NOW + BigInt(random.below(1_000_000_000));
  const any = () => FIRST + ((LAST - FIRST) / 1_000_000_007n) * BigInt(random.below(1_000_000_007)) + BigInt(id);
  if (id <= ROWS / 3) return recent();
  if (id <= (2 * ROWS) / 3) return any();
  switch (random.below(8)) {
    case 0:
      return null;
    case 1:
      return EXACT_SENTINEL;
    case 2:
    case 3:
      return SENTINEL;
    case 4:
      return SENTINEL - BigInt(random.below(4));
    case 5:
      return random.below(2) === 0 ? LAST - BigInt(random.below(4)) : 2n ** 63n - BigInt(random.below(4));
    case 6:
      return any();
    default:
      return recent();
  }
}

const text = (at: bigint) => timestampToText(timestampOf(at));
const literal = (at: bigint | null) => (at === null ? "NULL" : `'${text(at)}'`);
const byTime = (a: Row, b: Row) =>
  a.at === b.at ? a.id - b.id : a.at === null ? 1 : b.at === null ? -1 : a.at < b.at ? -1 : 1;

class Table {
  rows: Row[] = [];
  side!: Side;
  private shard!: Shard;

  constructor(
    private readonly t: Test,
    private readonly path: string,
  ) {}

  async open(): Promise<void> {
    this.shard = await openShardOnDisk(this.path, {
      onDurable: (sequence) => this.side.partition.onDisk(sequence),
    });
    const tasks = { buildColumns } as unknown as LongTasks;
    this.side = await Side.open(this.t, new SegmentCache(1e9, SHARES), this.shard, { tasks });
    await this.side.partition.keepColumns(this.path);
    // A long write goes on when what is before it is on disk.
    this.side.onTurn = async () => {
      this.side.flush();
      await new Promise((resolve) => setImmediate(resolve));
    };
  }

  async reopen(): Promise<void> {
    this.side.flush();
    await this.side.partition.close();
    await this.open();
  }

  async makeFiles(): Promise<void> {
    this.side.flush();
    for (let i = 0; i < 3; i++) {
      this.side.partition.sweep(Date.now(), new Set());
      await this.side.partition.columns!.idle();
    }
  }

  async run(sql: string): Promise<unknown[][]> {
    const answer = await this.side.run(0, sql, !sql.startsWith("SELECT"));
    this.side.flush();
    if (answer.startsWith("error")) throw new Error(`${answer}: ${sql}`);
    return answer === "" ? [] : answer.split("\n").map((row) => JSON.parse(row) as unknown[]);
  }

  private async gives(sql: string, want: readonly (readonly unknown[])[]): Promise<void> {
    this.t.same(await this.run(sql), want, sql);
  }

  /** Statements of every kind, with what the rows in memory give. */
  async check(table: string): Promise<void> {
    const { rows } = this;
    const known = rows.filter((row): row is Row & { at: bigint } => row.at !== null);
    const sorted = [...rows].sort(byTime);
    const where = (test: (at: bigint) => boolean) => known.filter(({ at }) => test(at)).length;
    const iso = (at: bigint | null) => (at === null ? null : text(at).replace(" ", "T"));
    for (const at of [SENTINEL, EXACT_SENTINEL, LAST - 2n, 2n ** 63n - 1n, NOW + 500_000_000n, 2n ** 53n, FIRST]) {
      const tests: Record<string, (x: bigint) => boolean> = {
        "=": (x) => x === at,
        "<>": (x) => x !== at,
        "<": (x) => x < at,
        "<=": (x) => x <= at,
        ">": (x) => x > at,
        ">=": (x) => x >= at,
      };
      for (const [operator, test] of Object.entries(tests)) {
        await this.gives(`SELECT count(*) FROM ${table} WHERE at ${operator} ${literal(at)}`, [[where(test)]]);
      }
      const next = sorted.filter((row) => row.at !== null && row.at >= at).slice(0, 5);
      await this.gives(
        `SELECT id, at FROM ${table} WHERE at >= ${literal(at)} ORDER BY at, id LIMIT 5`,
        next.map(({ id, at }) => [id, iso(at)]),
      );
    }
    const list = [SENTINEL, SENTINEL - 1n, NOW, LAST];
    await this.gives(`SELECT count(*) FROM ${table} WHERE at IN (${list.map(literal).join()})`, [
      [where((at) => list.includes(at))],
    ]);
    await this.gives(
      `SELECT id, at FROM ${table} ORDER BY at, id`,
      sorted.map(({ id, at }) => [id, iso(at)]),
    );
    const times = known.map(({ at }) => at);
    const [least, most] = times.reduce(
      ([low, high], at) => [at < low ? at : low, at > high ? at : high],
      [LAST, FIRST],
    );
    await this.gives(`SELECT min(at), max(at), count(at), count(DISTINCT at) FROM ${table}`, [
      [iso(least!), iso(most!), times.length, new Set(times).size],
    ]);
    const groups = new Map<bigint | null, number>();
    for (const { at } of rows) groups.set(at, (groups.get(at) ?? 0) + 1);
    const often = [...groups].filter(([, count]) => count > 1).map(([at, count]) => ({ id: count, at }));
    await this.gives(
      `SELECT at, count(*) FROM ${table} GROUP BY at HAVING count(*) > 1 ORDER BY at`,
      often.sort(byTime).map(({ id, at }) => [iso(at), id]),
    );
    const seconds = new Set(times.map((at) => at - (((at % 1_000_000n) + 1_000_000n) % 1_000_000n)));
    await this.gives(
      `SELECT count(*) FROM (SELECT DISTINCT date_trunc('second', at) FROM ${table} WHERE at IS NOT NULL)`,
      [[seconds.size]],
    );
    const pairs = [...groups].reduce((sum, [at, count]) => sum + (at === null ? 0 : count * count), 0);
    await this.gives(`SELECT count(*) FROM ${table} a JOIN ${table} b ON a.at = b.at`, [[pairs]]);
    await this.gives(`SELECT sum(extract(microsecond FROM at)) FROM ${table}`, [
      [Number(times.reduce((sum, at) => sum + (((at % 60_000_000n) + 60_000_000n) % 60_000_000n), 0n))],
    ]);
  }
}

t.test("records, an index, segments with changes, files after a restart, and partitions", async (t) => {
  const random = new Random(20_261_130);
  const table = new Table(t, directory(t));
  await table.open();
  await table.run("CREATE TABLE s (id int PRIMARY KEY, at timestamp)");
  await table.run("CREATE TABLE i (id int PRIMARY KEY, at timestamp, UNIQUE (at, id))");
  for (let from = 1; from <= ROWS; from += 300) {
    const some = Array.from({ length: 300 }, (_, i) => ({ id: from + i, at: micros(random, from + i) }));
    table.rows.push(...some);
    const values = some.map(({ id, at }) => `(${id}, ${literal(at)})`).join();
    for (const name of ["s", "i"]) await table.run(`INSERT INTO ${name} VALUES ${values}`);
  }
  await table.check("s");
  await table.check("i");
  await table.makeFiles();
  t.ok(table.side.segments.built > 0);
  for (const name of ["s", "i"]) await table.run(`ANALYZE ${name}`);
  await table.check("s");
  const changed = (id: number) => id % 97 === 0;
  const isGone = (id: number) => id % 101 === 0;
  table.rows = table.rows
    .map(({ id, at }) => ({ id, at: changed(id) && at !== null && at < LAST ? at + 1n : at }))
    .filter(({ id }) => !isGone(id));
  for (const name of ["s", "i"]) {
    await table.run(
      `UPDATE ${name} SET at = at + interval '1 microsecond' WHERE id % 97 = 0 AND at < ${literal(LAST)}`,
    );
    await table.run(`DELETE FROM ${name} WHERE id % 101 = 0`);
  }
  await table.check("s");
  await table.check("i");
  await table.makeFiles();
  await table.reopen();
  await table.check("s");
  await table.check("i");

  await table.run("CREATE TABLE p (id int, at timestamp) PARTITION BY RANGE (at)");
  const bounds = [FIRST, NOW + 500_000_000n, SENTINEL - 1n, SENTINEL, LAST];
  for (let i = 0; i + 1 < bounds.length; i++) {
    const [from, to] = [bounds[i]!, bounds[i + 1]!];
    await table.run(`CREATE TABLE p${i} PARTITION OF p FOR VALUES FROM (${literal(from)}) TO (${literal(to)})`);
  }
  await table.run("CREATE TABLE rest PARTITION OF p DEFAULT");
  await table.run("INSERT INTO p SELECT id, at FROM s");
  await table.check("p");
  for (let i = 0; i + 1 < bounds.length; i++) {
    const held = table.rows.filter(({ at }) => at !== null && at >= bounds[i]! && at < bounds[i + 1]!).length;
    t.same(await table.run(`SELECT count(*) FROM p${i}`), [[held]]);
  }
  await table.side.partition.close();
});
