/**
 * Entries of indexes made in threads from columns in files: they are those that the statement makes by itself, whatever
 * is in files, in gaps, newer, in the transaction or committed meanwhile. The threads' work is done in this thread, of
 * copies.
 */
import t, { type Test } from "tap";
import { storageOf } from "../../src/catalog/table.js";
import { makeIndexRun, mergeIndexRuns } from "../../src/query/exec/index-run.js";
import type { IndexMergeJob, IndexRunJob } from "../../src/query/exec/index-threads.js";
import { SegmentCache } from "../../src/query/exec/segments/segment-cache.js";
import { buildColumns } from "../../src/query/exec/segments/stored/build-columns.js";
import { StoredSegment } from "../../src/query/exec/segments/stored/column-file.js";
import type { LongTasks } from "../../src/session/long-tasks.js";
import { indexPrefix, prefixRange } from "../../src/storage/keys.js";
import { openShardOnDisk } from "../../src/storage/shard-on-disk.js";
import { tries } from "../lengths.js";
import { directory } from "../storage/shards.js";
import { Random } from "./random-plans.js";
import { CREATE, SIZES, Side, write } from "./segment-histories.js";

const TENANT = 7;

class Built {
  side!: Side;
  runs = 0;
  isOn = true;
  /** Before a thread answers. */
  beforeAnswer: () => Promise<void> = () => Promise.resolve();
  jobs: IndexRunJob[] = [];
  /** Of their answers: whether the entries were made in their order. */
  inOrder: boolean[] = [];

  static async open(t: Test, threads: number): Promise<Built> {
    const built = new Built();
    const path = directory(t);
    const shard = await openShardOnDisk(path, { onDurable: (sequence) => built.side.partition.onDisk(sequence) });
    const make = async (job: IndexRunJob) => {
      built.runs++;
      built.jobs.push(job);
      await built.beforeAnswer();
      const copy = structuredClone({ ...job, stop: null, rows: null });
      const answer = await makeIndexRun({ ...copy, stop: job.stop, rows: job.rows });
      if (answer.run !== null) built.inOrder.push(answer.run.order === null);
      return answer;
    };
    const merge = async (job: IndexMergeJob) =>
      mergeIndexRuns({ ...job, prefix: new Uint8Array(job.prefix), parts: structuredClone(job.parts) });
    const tasks = {
      buildColumns,
      get indexThreads() {
        return built.isOn ? { count: threads, make, merge } : undefined;
      },
    } as unknown as LongTasks;
    const sizes = { ...SIZES, storedRowsMin: 16, fileRowsMin: 16 };
    built.side = await Side.open(t, new SegmentCache(1e9, sizes), shard, { tasks });
    await built.side.partition.keepColumns(path);
    t.teardown(() => built.side.partition.close());
    return built;
  }

  async run(sql: string, yields = false): Promise<string> {
    const answer = await this.side.run(0, sql, yields);
    this.side.flush();
    return answer;
  }

  async makeColumns(): Promise<void> {
    this.side.flush();
    for (let i = 0; i < 3; i++) {
      this.side.partition.sweep(Date.now(), new Set());
      await this.side.partition.columns!.idle();
    }
  }

  /** Keys behind the index's prefix, and values. */
  entries(index: string): string[] {
    const tenant = this.side.partition.tenant(TENANT);
    const tx = this.side.partition.shard.begin({ readOnly: true });
    const table = tenant.catalog
      .view(tx)
      .tables()
      .find(({ indexes }) => indexes.some(({ name }) => name === index))!;
    const prefix = indexPrefix(TENANT, storageOf(table), table.indexes.find(({ name }) => name === index)!.id);
    const cursor = tx.scan(prefixRange(prefix));
    const found: string[] = [];
    for (;;) {
      const { keys, values } = cursor.next(1000);
      if (keys.length === 0) break;
      keys.forEach((key, i) => {
        found.push(`${Buffer.from(key).toString("hex", prefix.length)} ${Buffer.from(values[i]!).toString("hex")}`);
      });
    }
    cursor.close();
    tx.rollback();
    return found;
  }

  /** Makes the index again without threads. */
  async isSame(t: Test, definition: (name: string) => string, note: string): Promise<void> {
    this.isOn = false;
    const answer = await this.run(definition("again"));
    this.isOn = true;
    t.notMatch(answer, /error/, `${note}: ${answer}`);
    t.same(this.entries("made"), this.entries("again"), note);
    await this.run("DROP INDEX made");
    await this.run("DROP INDEX again");
  }
}

const DEFINITIONS = [
  (name: string) => `CREATE INDEX ${name} ON m (b)`,
  (name: string) => `CREATE INDEX ${name} ON m (t, n DESC)`,
  (name: string) => `CREATE INDEX ${name} ON m (u)`,
  (name: string) => `CREATE INDEX ${name} ON m (u DESC)`,
  (name: string) => `CREATE INDEX ${name} ON m (t DESC NULLS LAST)`,
  (name: string) => `CREATE INDEX ${name} ON m (f DESC, d)`,
  (name: string) => `CREATE INDEX ${name} ON m (d DESC NULLS LAST, f NULLS FIRST, b)`,
  (name: string) => `CREATE UNIQUE INDEX ${name} ON m (b, a)`,
  (name: string) => `CREATE INDEX ${name} ON m (u) INCLUDE (f, a)`,
  (name: string) => `CREATE INDEX ${name} ON m (l DESC NULLS LAST, d)`,
  (name: string) => `CREATE INDEX ${name} ON m (f, o, v)`,
  (name: string) => `CREATE UNIQUE INDEX ${name} ON m (b, a) INCLUDE (u)`,
  (name: string) => `CREATE UNIQUE INDEX ${name} ON m (a, t, b) NULLS NOT DISTINCT`,
];

t.test("random tables, with newer entries, gaps, own writes and others' commits meanwhile", async (t) => {
  let runs = 0;
  for (let seed = 1; seed <= tries(3); seed++) {
    const random = new Random(seed * 7919);
    const built = await Built.open(t, 1 + random.below(4));
    await built.run(CREATE);
    const some = async (count: number) => {
      for (let i = 0; i < count; i++) await built.run(write(random));
    };
    await built.run(
      `INSERT INTO m (a, b, t, n, d, f, l, o, v, u) SELECT i, i % 50, CASE WHEN i % 5 = 0 THEN NULL ELSE 't' || i % 9 END,
       i / 4.0, DATE '2020-01-01' + i % 60, i / 3.0, i * 3, i % 2 = 0, i, 'u' || i FROM generate_series(1000, 1200) i`,
    );
    for (let round = 0; round < 6; round++) {
      await some(random.below(10));
      if (random.below(3) > 0) await built.makeColumns();
      await some(random.below(12));
      const definition = DEFINITIONS[random.below(DEFINITIONS.length)]!;
      const note = `seed ${seed}, round ${round}: ${definition("made")}`;
      const isOwn = random.below(3) === 0;
      let others = 0;
      built.side.onTurn = async () => {
        if (isOwn || others++ > 10) return;
        await built.side.run(1, write(random));
        built.side.flush();
      };
      if (isOwn) {
        await built.run("BEGIN");
        for (let i = 0; i < 5; i++) {
          const answer = await built.run(write(random));
          // Two rows with one key: the block is of no use any more.
          if (answer.startsWith("error")) await built.run("ROLLBACK AND CHAIN");
        }
      }
      const answer = await built.run(definition("made"), true);
      t.notMatch(answer, /error/, `${note}: ${answer}`);
      if (isOwn) await built.run("COMMIT");
      await built.isSame(t, definition, note);
    }
    runs += built.runs;
  }
  t.ok(runs > 10, `${runs} runs in threads`);
});

async function filled(t: Test, threads = 3): Promise<Built> {
  const built = await Built.open(t, threads);
  await built.run("CREATE TABLE g (a int PRIMARY KEY, b int, c text)");
  await built.run("INSERT INTO g SELECT i, i % 7, 'text ' || i FROM generate_series(1, 400) i");
  await built.makeColumns();
  return built;
}

t.test("entries over texts are made of their bytes", async (t) => {
  const built = await Built.open(t, 3);
  await built.run("CREATE TABLE g (a int PRIMARY KEY, c text)");
  await built.run(`INSERT INTO g SELECT i, CASE WHEN i % 11 = 0 THEN NULL WHEN i % 7 = 0 THEN 'ünï 😀' || i WHEN i % 5 = 0 THEN ''
    ELSE 'text ' || i END FROM generate_series(1, 400) i`);
  await built.makeColumns();
  for (const columns of ["(c)", "(c DESC)", "(c NULLS FIRST)"]) {
    const definition = (name: string) => `CREATE INDEX ${name} ON g ${columns}`;
    await built.run(definition("made"));
    await built.isSame(t, definition, columns);
  }
  await built.run("DELETE FROM g WHERE c = ''");
  await built.makeColumns();
  const unique = (name: string) => `CREATE UNIQUE INDEX ${name} ON g (c)`;
  t.notMatch(await built.run(unique("made")), /error/);
  await built.isSame(t, unique, "unique");
  t.ok(built.runs >= 12);
});

t.test("entries over numbers are made in their order, and need no sort", async (t) => {
  const built = await filled(t);
  await built.run("UPDATE g SET b = NULL WHERE a % 9 = 0");
  await built.makeColumns();
  // Of unique ones: runs of others are put in order in any case, because nobody merges them.
  for (const columns of ["(b, a)", "(b DESC NULLS LAST, a)", "(a DESC)"]) {
    const definition = (name: string) => `CREATE UNIQUE INDEX ${name} ON g ${columns}`;
    await built.run(definition("made"));
    t.same(built.inOrder.splice(0), [true, true, true], columns);
    await built.isSame(t, definition, columns);
  }
  await built.run("CREATE UNIQUE INDEX made ON g (c, b)");
  t.ok(built.inOrder.splice(0).includes(false), "texts are sorted");
  const plain = (name: string) => `CREATE INDEX ${name} ON g (c, b)`;
  await built.run("DROP INDEX made");
  await built.run(plain("made"));
  t.same(built.inOrder.splice(0), [true, true, true], "their bytes are in order");
  await built.isSame(t, plain, "texts");
});

t.test("too many rows are refused before they are read", async (t) => {
  const built = await filled(t);
  await built.run("DELETE FROM g WHERE a % 7 = 0");
  for (const definition of ["INDEX made ON g (b)", "UNIQUE INDEX made ON g (b, a)"]) {
    await built.run(`CREATE ${definition}`);
    await built.run("DROP INDEX made");
    const [job] = built.jobs.splice(0) as [IndexRunJob];
    t.ok(job.segments.some(({ without }) => without.length > 0));
    const made = (bytesMax: number) => {
      const rows = new Int32Array(new SharedArrayBuffer(4));
      const stop = new Int32Array(new SharedArrayBuffer(4));
      return makeIndexRun({ ...job, bytesMax, rows, stop }).then((answer) => ({ ...answer, read: rows[0]! }));
    };
    const { bytes, read, error } = await made(job.bytesMax);
    t.equal(error, null);
    t.ok(read > 0);
    const exact = await made(bytes);
    t.same([exact.error, exact.bytes], [null, bytes], "as many as fit are taken");
    const refused = await made(Math.floor(bytes / 2));
    t.match(refused.error, { details: { sqlstate: "54000" } });
    t.equal(refused.read, 0, "nothing was read");
  }
  const { runs } = built;
  const bytes = Object.getOwnPropertyDescriptor(StoredSegment.prototype, "keyBytes")!;
  t.teardown(() => Object.defineProperty(StoredSegment.prototype, "keyBytes", bytes));
  Object.defineProperty(StoredSegment.prototype, "keyBytes", { ...bytes, get: () => 1e9 });
  t.match(await built.run("CREATE INDEX made ON g (b)"), /54000|exceed/);
  t.equal(built.runs, runs, "for all threads together: none began");
});

t.test("a duplicate is found, between threads and against what is newer", async (t) => {
  const built = await filled(t);
  const unique = "CREATE UNIQUE INDEX made ON g (c)";
  await built.run("UPDATE g SET c = 'text 3' WHERE a = 390");
  t.match(await built.run(unique), /error: could not create unique index "made"/);
  await built.makeColumns();
  t.match(await built.run(unique), /error: could not create unique index "made"/);
  await built.run("UPDATE g SET c = 'text' WHERE a = 3");
  t.notMatch(await built.run(unique), /error/);
  t.equal(built.entries("made").length, 400);
  t.equal(built.runs, 9);
  const long = `UPDATE g SET c = repeat('x', 20000) WHERE a = 5`;
  await built.run("DROP INDEX made");
  await built.run(long);
  await built.makeColumns();
  built.isOn = false;
  const expected = await built.run("CREATE INDEX made ON g (c)");
  t.match(expected, /^error/);
  built.isOn = true;
  t.equal(await built.run("CREATE INDEX made ON g (c)"), expected);
});

t.test("without a file, or with a damaged one, the rows are read from records", async (t) => {
  const built = await filled(t);
  const real = built.jobs;
  await built.run("CREATE INDEX made ON g (b)");
  const paths = new Set(real.flatMap(({ segments }) => segments.map(({ path }) => path)));
  const { renameSync } = await import("node:fs");
  for (const path of paths) renameSync(path, `${path}.gone`);
  const before = built.runs;
  t.notMatch(await built.run("CREATE INDEX again ON g (b)"), /error/);
  t.ok(built.runs > before);
  t.same(built.entries("again"), built.entries("made"));
});

t.test("a statement that is cancelled ends, and its threads soon do", async (t) => {
  const built = await filled(t);
  const { partition } = built.side;
  const reason = new Error("cancelled");
  const control = new AbortController();
  let answerNow = (): void => undefined;
  built.beforeAnswer = () => {
    control.abort(reason);
    return new Promise((resolve) => {
      answerNow = resolve;
    });
  };
  const request = {
    checkpoint: () => control.signal.throwIfAborted(),
    shouldYield: () => false,
    yieldTurn: () => Promise.resolve(),
    signal: () => control.signal,
  };
  const statement = { sql: "CREATE INDEX made ON g (b)", params: [], maxRows: 1, collector: () => NO_ROWS, request };
  const tenant = partition.tenant(TENANT);
  await t.rejects((async () => built.side.session(2).execute(statement, (tx) => tenant.commit(tx)))(), reason);
  t.equal(Atomics.load(built.jobs[0]!.stop, 0), 1);
  answerNow();
  built.beforeAnswer = () => Promise.resolve();
  t.notMatch(await built.run("CREATE INDEX made ON g (b)"), /error/);
  t.equal(built.entries("made").length, 400);
});

const NO_ROWS = { append: () => 0 };

t.test("DELETE of all counts rows of columns, newer entries and gaps", async (t) => {
  const built = await Built.open(t, 2);
  await built.run("CREATE TABLE g (a int PRIMARY KEY, b int)");
  await built.run("INSERT INTO g SELECT i, i FROM generate_series(1, 12000) i");
  await built.makeColumns();
  await built.run("DELETE FROM g WHERE a IN (5, 77)");
  await built.run("INSERT INTO g SELECT i, i FROM generate_series(20001, 20030) i");
  const tenant = built.side.partition.tenant(TENANT);
  const request = { checkpoint: () => undefined, shouldYield: () => false, yieldTurn: () => Promise.resolve() };
  const statement = { sql: "DELETE FROM g", params: [], maxRows: 1, collector: () => NO_ROWS, request };
  const { rowsAffected } = await built.side.session(0).execute(statement, (tx) => tenant.commit(tx));
  t.equal(rowsAffected, 12_028);
  t.equal(await built.run("SELECT count(*) FROM g"), "[0]");
});
