/**
 * Columns in files are a cache, too: whatever is written, and whenever files are made, saved, lost or damaged, and the
 * partition is opened again, every statement must give the same rows as without them. Over a shard on disk, with tiny
 * sizes.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { SegmentCache, type SegmentSizes } from "../../src/query/exec/segments/segment-cache.js";
import { buildColumns } from "../../src/query/exec/segments/stored/build-columns.js";
import { catchUp } from "../../src/query/exec/segments/stored/open-stored.js";
import { StoredTable } from "../../src/query/exec/segments/stored/stored-table.js";
import { TableSegments } from "../../src/query/exec/segments/table-segments.js";
import type { LongTasks } from "../../src/session/long-tasks.js";
import { rowPrefix } from "../../src/storage/keys.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import type { Shard } from "../../src/storage/shard.js";
import { openShardOnDisk } from "../../src/storage/shard-on-disk.js";
import { tries } from "../lengths.js";
import { CountedReads } from "../storage/counted-reads.js";
import { directory } from "../storage/shards.js";
import { Random } from "./random-plans.js";
import { CREATE, query, SIZES, Side, write } from "./segment-histories.js";
import { ThreadsHere } from "./threads-here.js";

const STORED = { ...SIZES, storedRowsMin: 16, fileRowsMin: 16 };
/**
 * In this thread: who makes the files is no part of what is tested. Half of the partitions have other threads read
 * them.
 */
const alone = { buildColumns } as unknown as LongTasks;
const helped = { buildColumns, readThreads: new ThreadsHere(2) } as unknown as LongTasks;
let opened = 0;

/** A partition on disk with columns in files, that can be closed and opened again. */
class Stored {
  side!: Side;
  private shard!: Shard;
  built = 0;

  private constructor(
    private readonly t: Test,
    readonly path: string,
    private readonly bytesMax: number,
    private readonly sizes: SegmentSizes,
  ) {}

  static async open(t: Test, bytesMax = 1e9, sizes = STORED): Promise<Stored> {
    const stored = new Stored(t, directory(t), bytesMax, sizes);
    await stored.open();
    return stored;
  }

  private async open(): Promise<void> {
    this.shard = await openShardOnDisk(this.path, {
      onDurable: (sequence) => this.side.partition.onDisk(sequence),
    });
    const tasks = opened++ % 2 === 0 ? helped : alone;
    this.side = await Side.open(this.t, new SegmentCache(this.bytesMax, this.sizes), this.shard, { tasks });
    await this.side.partition.keepColumns(this.path);
  }

  /** "killed": nothing is written down about the columns. */
  async reopen(how: "closed" | "killed"): Promise<void> {
    this.side.flush();
    this.built += this.side.segments.built;
    const { partition } = this.side;
    if (how === "closed") await partition.close();
    else {
      partition.columns!.endWork();
      await partition.columns!.idle();
      await this.shard.close();
    }
    await this.open();
  }

  /** Looks twice, so that it sees that nobody writes. */
  async make(): Promise<void> {
    this.side.flush();
    for (let i = 0; i < 3; i++) {
      this.side.partition.sweep(Date.now(), new Set());
      await this.side.partition.columns!.idle();
    }
  }

  async close(): Promise<void> {
    this.built += this.side.segments.built;
    this.side.flush();
    await this.side.partition.close();
  }

  files(): string[] {
    const columns = join(this.path, "columns");
    if (!existsSync(columns)) return [];
    return readdirSync(columns, { recursive: true, encoding: "utf8" })
      .filter((name) => name.includes("/"))
      .map((name) => join(columns, name));
  }
}

function damage(path: string, random: Random): void {
  const bytes = readFileSync(path);
  const at = random.below(bytes.length);
  bytes[at] = bytes[at]! ^ (1 << random.below(8));
  // As a file of its own: the old one may be open.
  rmSync(path);
  writeFileSync(path, bytes);
}

async function fill(stored: Stored, rows: number): Promise<void> {
  await stored.side.run(0, "CREATE TABLE g (a int PRIMARY KEY, b int, c text, d timestamp)");
  await stored.side.run(
    0,
    `INSERT INTO g SELECT i, i % 7, 'text ' || i, timestamp '2026-01-01' + i * interval '1 s' FROM generate_series(1, ${rows}) i`,
  );
  await stored.make();
}

const SUMS = "SELECT count(*), sum(a), sum(b), count(c), min(d), max(c) FROM g";

t.test("a table that is not long gets files, too, and a short one does not", async (t) => {
  const sizes = { ...STORED, storedRowsMin: 1000, fileRowsMin: 100 };
  const stored = await Stored.open(t, 1e9, sizes);
  await fill(stored, 99);
  t.equal(stored.files().length, 0);
  await stored.side.run(
    0,
    "INSERT INTO g SELECT i, 1, 'more', timestamp '2026-01-01' FROM generate_series(100, 250) i",
  );
  await stored.make();
  t.ok(stored.files().length > 0);
  await stored.reopen("closed");
  t.equal(await stored.side.run(0, SUMS), await stored.side.run(0, `${SUMS} WHERE a % 2 >= 0`));
  await stored.close();
});

t.test("random histories give the same rows with and without columns in files", async (t) => {
  let built = 0;
  const runs = tries(3);
  for (let seed = 1; seed <= runs; seed++) {
    const random = new Random(seed * 104_729);
    const sizes = {
      ...{ ...STORED, segmentRows: seed % 2 === 0 ? 8 : 32, buildSegments: 2 },
      replayBytesMax: seed % 2 === 0 ? 3000 : 1e6,
    };
    const on = await Stored.open(t, seed % 3 === 0 ? 60_000 : 1e9, sizes);
    const off = await Side.open(t, new SegmentCache(0));
    const both = async (session: number, sql: string): Promise<void> => {
      const [found, expected] = [await on.side.run(session, sql, random.below(2) === 0), await off.run(session, sql)];
      if (found !== expected) t.equal(found, expected, `seed ${seed}: ${sql}`);
    };
    await both(0, CREATE);
    for (let step = 0; step < 80; step++) {
      const session = random.below(3);
      switch (random.below(14)) {
        case 0:
          await both(session, on.side.session(session).inTransaction ? "COMMIT" : "BEGIN");
          break;
        case 1:
          if (on.side.session(session).inTransaction) await both(session, "ROLLBACK");
          break;
        case 2:
          await on.make();
          break;
        case 3:
          // Goes on beside the next statements.
          on.side.partition.sweep(Date.now(), new Set());
          break;
        case 4:
          if (random.below(4) > 0) break;
          for (const each of [0, 1, 2]) if (on.side.session(each).inTransaction) await both(each, "ROLLBACK");
          if (random.below(3) === 0 && on.files().length > 0)
            damage(on.files()[random.below(on.files().length)]!, random);
          await on.reopen(random.below(2) === 0 ? "closed" : "killed");
          break;
        case 5:
        case 6:
        case 7:
        case 8:
          await both(session, write(random));
          break;
        default:
          await both(session, query(random));
      }
      if (random.below(3) > 0) {
        on.side.flush();
        off.flush();
      }
    }
    await on.close();
    built += on.built;
  }
  t.ok(built > runs, `columns were made ${built} times`);
});

t.test("after a start the columns are read from files, and what came after them from the log", async (t) => {
  const stored = await Stored.open(t);
  await fill(stored, 1000);
  t.equal(stored.side.segments.built, 1);
  const all = '[1000,500500,3003,1000,"2026-01-01T00:00:01","text 999"]';
  t.equal(await stored.side.run(0, SUMS), all);
  for (const how of ["closed", "killed"] as const) {
    await stored.reopen(how);
    t.equal(stored.side.segments.tables, 1, `the table is there after it was ${how}`);
    t.equal(await stored.side.run(0, SUMS), all);
    t.ok(stored.side.segments.pages.misses > 0, "pages of files were read");
    t.equal(stored.side.segments.built, 0, "nothing was made again");
  }
  await stored.side.run(0, "UPDATE g SET b = 0 WHERE a = 77");
  await stored.side.run(0, "DELETE FROM g WHERE a = 1000");
  await stored.side.run(0, "INSERT INTO g VALUES (5000, 1, 'zz', NULL)");
  const changed = '[1000,504500,2998,1000,"2026-01-01T00:00:01","zz"]';
  for (const how of ["killed", "closed", "closed"] as const) {
    await stored.reopen(how);
    t.equal(await stored.side.run(0, SUMS), changed, `what was changed is seen after it was ${how}`);
  }
  await stored.close();
});

t.test("the log is read in turns, however large a commit is", async (t) => {
  const log = new MemoryCommitLog();
  const prefix = rowPrefix(7, 3);
  const operations = Array.from({ length: 5000 }, (_, n) => ({
    key: Buffer.concat([prefix, Buffer.from(String(n))]),
    value: Buffer.from("x"),
  }));
  log.append([{ sequence: 1, micros: 1, operations }]);
  const reads = new CountedReads(log);
  const stored = new StoredTable(new TableSegments(7, 3, prefix), directory(t));
  const yieldTurn = async (): Promise<void> => reads.turn();
  const lost = await catchUp(
    { engine: new MemoryEngine(), log, appliedSequence: 1 },
    new SegmentCache(1e9, STORED),
    [{ stored, sequence: 0, changed: [], loads: [] }],
    1,
    { shouldYield: () => true, yieldTurn },
  );
  t.equal(lost.size, 0);
  t.equal(stored.table.writesInGaps, 5000);
  t.ok(reads.most <= 256, `${reads.most} operations are read in a turn`);
});

t.test("columns that a large commit has left behind are made again", async (t) => {
  const stored = await Stored.open(t, 1e9, { ...STORED, replayBytesMax: 100_000 });
  await fill(stored, 1000);
  await stored.side.run(0, "UPDATE g SET b = 1 WHERE a <= 200");
  await stored.reopen("killed");
  t.equal(stored.side.segments.tables, 1, "the log is enough for some");
  await stored.make();
  await stored.side.run(0, "UPDATE g SET b = 2");
  await stored.reopen("killed");
  const all = '[1000,500500,2000,1000,"2026-01-01T00:00:01","text 999"]';
  t.equal(await stored.side.run(0, SUMS), all);
  t.equal(stored.side.segments.tables, 0, "there are too many changes for memory");
  await stored.side.run(0, SUMS);
  await stored.make();
  t.equal(stored.side.segments.built, 1);
  t.equal(await stored.side.run(0, SUMS), all);
  await stored.reopen("closed");
  t.equal(stored.side.segments.tables, 1);
  t.equal(await stored.side.run(0, SUMS), all);
  await stored.close();
});

t.test("a damaged or lost file is noticed, and made again", async (t) => {
  const stored = await Stored.open(t);
  await fill(stored, 500);
  const all = await stored.side.run(0, SUMS);
  for (const file of ["manifest", "1.columns"]) {
    for (const how of ["damaged", "lost"]) {
      await stored.make();
      const path = stored.files().find((name) => name.endsWith(file === "manifest" ? "manifest" : ".columns"))!;
      if (how === "lost") rmSync(path);
      else {
        const bytes = readFileSync(path);
        bytes[bytes.length >> 1]! ^= 1;
        rmSync(path);
        writeFileSync(path, bytes);
      }
      await stored.reopen("killed");
      t.equal(await stored.side.run(0, SUMS), all, `${file} ${how}`);
      await stored.side.run(0, SUMS);
      await stored.make();
    }
  }
  t.equal(await stored.side.run(0, SUMS), all);
  await stored.close();
});

t.test("files go with their table, and follow its definition", async (t) => {
  const stored = await Stored.open(t);
  await fill(stored, 300);
  t.ok(stored.files().length >= 2);
  await stored.side.run(0, "ALTER TABLE g ADD COLUMN e int DEFAULT 3");
  t.equal(await stored.side.run(0, "SELECT sum(e), sum(a) FROM g"), "[900,45150]");
  await stored.make();
  t.equal(await stored.side.run(0, "SELECT sum(e), sum(a) FROM g"), "[900,45150]");
  await stored.side.run(0, "ALTER TABLE g ALTER COLUMN b TYPE text USING b || '!'");
  stored.side.flush();
  t.equal(await stored.side.run(0, "SELECT min(b), max(b) FROM g"), '["0!","6!"]');
  await stored.make();
  await stored.reopen("closed");
  t.equal(await stored.side.run(0, "SELECT min(b), max(b), sum(e) FROM g"), '["0!","6!",900]');
  stored.side.segments.dropTenant(7);
  await stored.side.partition.columns!.close();
  t.same(stored.files(), []);
  await stored.close();
});

t.test("what could not be made before a stop is made after the start", async (t) => {
  const stored = await Stored.open(t);
  await stored.side.run(0, "CREATE TABLE g (a int PRIMARY KEY, b int, c text, d timestamp)");
  await stored.side.run(0, "INSERT INTO g SELECT i, i % 7, 'x', NULL FROM generate_series(1, 100) i");
  await stored.reopen("closed");
  t.equal(stored.side.segments.tables, 0);
  await stored.make();
  t.equal(stored.side.segments.built, 1);
  t.equal(await stored.side.run(0, "SELECT count(*), sum(a) FROM g"), "[100,5050]");
  await stored.close();
});

t.test("right after a start, only a table that is scanned gets the files that it lacks", async (t) => {
  const stored = await Stored.open(t, 1e9, { ...STORED, startMs: 1e9 });
  for (const name of ["g", "h"]) {
    await stored.side.run(0, `CREATE TABLE ${name} (a int PRIMARY KEY, b int, c text, d timestamp)`);
    await stored.side.run(0, `INSERT INTO ${name} SELECT i, i % 7, 'x', NULL FROM generate_series(1, 100) i`);
  }
  await stored.reopen("closed");
  await stored.make();
  t.equal(stored.side.segments.built, 0);
  t.equal(await stored.side.run(0, "SELECT b FROM g WHERE a = 5"), "[5]");
  t.equal(await stored.side.run(0, "SELECT count(*), sum(a) FROM h"), "[100,5050]");
  await stored.side.partition.columns!.idle();
  t.equal(stored.side.segments.built, 1);
  t.equal(stored.side.segments.tablesOf(7).length, 1, "the other one waits");
  await stored.close();
});

t.test("ORDER BY … LIMIT reads the key, and other columns only where one of the first rows is", async (t) => {
  const stored = await Stored.open(t);
  await fill(stored, 500);
  await stored.side.run(0, SUMS);
  await stored.make();
  await stored.reopen("closed");
  const { pages } = stored.side.segments;
  const segments = Math.ceil(500 / STORED.segmentRows);
  const read = async (sql: string, expected: string): Promise<number> => {
    pages.shrinkTo(0);
    const before = pages.misses;
    t.equal(await stored.side.run(0, sql), expected);
    return pages.misses - before;
  };
  const all = await read(
    "SELECT count(a), sum(b), max(c), max(d) FROM g",
    '[500,1497,"text 99","2026-01-01T00:08:20"]',
  );
  t.ok(all >= 4 * segments, `${all} pages for all of it`);
  const last = '[500,3,"text 500"]\n[499,2,"text 499"]';
  for (const order of ["d DESC", "d DESC, b", "d DESC NULLS LAST, c"]) {
    const some = await read(`SELECT a, b, c FROM g ORDER BY ${order} LIMIT 2`, last);
    t.ok(some <= segments + 8, `${some} pages for ${order}`);
  }
  const byText = await read("SELECT a, b, c FROM g ORDER BY c LIMIT 2", '[1,1,"text 1"]\n[10,3,"text 10"]');
  t.ok(byText < 2 * segments + 8, `${byText} pages for the order of texts`);
  await stored.side.run(0, "DELETE FROM g WHERE a = 500");
  stored.side.flush();
  await read("SELECT a, b, c FROM g ORDER BY d DESC LIMIT 1", '[499,2,"text 499"]');
  await stored.close();
});

t.test("different values of a dictionary, and NULLs among them, are counted in each of its segments", async (t) => {
  const stored = await Stored.open(t);
  await stored.side.run(0, "CREATE TABLE g (a int PRIMARY KEY, b int, c text)");
  await stored.side.run(
    0,
    "INSERT INTO g SELECT i, i % 7, CASE WHEN i % 5 > 0 THEN 'text ' || i % 9 END FROM generate_series(1, 500) i",
  );
  await stored.make();
  t.ok(stored.side.segments.tablesOf(7)[0]!.segments.length > 3);
  const count = (rest: string) => stored.side.run(0, `SELECT count(DISTINCT b), count(DISTINCT c) FROM g ${rest}`);
  t.equal(await count(""), "[7,9]");
  t.equal(await count("WHERE a <= 5"), "[5,4]");
  t.equal(await count("WHERE b = 3 AND a > 250"), "[1,9]");
  t.equal(await count("WHERE a % 5 = 0"), "[7,0]");
  await stored.side.run(0, "UPDATE g SET b = 100, c = 'new' WHERE a IN (77, 401)");
  t.equal(await count(""), "[8,10]");
  await stored.close();
});

t.test("documents and lists are read from files, however long they are", async (t) => {
  const stored = await Stored.open(t);
  const { side } = stored;
  await side.run(0, "CREATE TABLE g (a int PRIMARY KEY, j jsonb, l int[])");
  await side.run(
    0,
    `INSERT INTO g SELECT i, jsonb_build_object('a', i % 3, 'b', repeat('é', CASE i WHEN 77 THEN 100000 ELSE i END)),
     CASE WHEN i % 50 = 0 THEN array_fill(i, ARRAY[20000]) WHEN i % 7 > 0 THEN ARRAY[i, NULL] END FROM generate_series(1, 300) i`,
  );
  await stored.make();
  const asked = async () => {
    const { misses } = side.segments.pages;
    t.equal(await side.run(0, "SELECT sum(length(j->>'b')) FROM g WHERE j @> '{\"a\": 2}'"), "[114973]");
    t.ok(side.segments.pages.misses > misses, "pages of files were read");
    t.equal(await side.run(0, "SELECT (max(l))[1], cardinality(max(l)), count(l) FROM g"), "[300,20000,258]");
    t.equal(
      await side.run(0, "SELECT a FROM g WHERE 120 = ANY (l) OR length(j->>'b') > 1000 ORDER BY a"),
      "[77]\n[120]",
    );
  };
  await asked();
  await side.run(0, "UPDATE g SET j = j - 'b' WHERE a = 5");
  await stored.make();
  t.equal(await side.run(0, "SELECT sum(length(j->>'b')) FROM g WHERE j @> '{\"a\": 2}'"), "[114968]");
  await stored.close();
});
