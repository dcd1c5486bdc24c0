/**
 * Reads whose segments other threads read: they give what the statement gives by itself, in the same order, whatever is
 * in files, in gaps, newer, in the transaction or committed meanwhile; and errors, damage and threads that die change
 * nothing.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import t, { type Test } from "tap";
import { StatementState } from "../../src/query/exec/context.js";
import { sized, tries } from "../lengths.js";
import { Random } from "./random-plans.js";
import { Read } from "./read-side.js";
import { CREATE, query, write } from "./segment-histories.js";

const ROWS = `INSERT INTO m (a, b, t, n, d, f, l, o, v, u) SELECT i, i % 50, CASE WHEN i % 5 = 0 THEN NULL ELSE 't' || i % 9 END,
  i / 4.0, DATE '2020-01-01' + i % 60, i / 3.0, i * 3, i % 2 = 0, i, 'u' || i % 70 FROM generate_series(1000, 1300) i`;

t.test("random tables, with newer entries, gaps, own writes and others' commits meanwhile", async (t) => {
  let taken = 0;
  for (let seed = 1; seed <= tries(1); seed++) {
    const random = new Random(seed * 7919);
    const read = await Read.open(t, 1 + random.below(3), 100 * random.below(20));
    await read.run(CREATE);
    await read.run(ROWS);
    for (let round = 0; round < sized(8, 16); round++) {
      for (let i = random.below(10); i > 0; i--) await read.run(write(random));
      if (random.below(3) > 0) await read.makeColumns();
      for (let i = random.below(3); i > 0; i--) await read.run(write(random));
      const isOwn = random.below(3) === 0;
      if (isOwn) {
        await read.run("BEGIN");
        for (let i = 0; i < 3; i++) {
          const answer = await read.run(write(random));
          // Two rows with one key: the block is of no use any more.
          if (answer.startsWith("error")) await read.run("ROLLBACK AND CHAIN");
        }
      }
      for (let i = 0; i < 8; i++) {
        const sql = query(random);
        const expected = await read.alone(sql);
        let others = 0;
        read.side.onTurn = async () => {
          if (isOwn || others++ > 4) return;
          await read.side.run(1, write(random));
          read.side.flush();
        };
        const first = await read.run(sql);
        if (first !== expected) t.equal(first, expected, `seed ${seed}, round ${round}: ${sql}`);
        // What others write meanwhile is not seen, and what they wrote before is.
        const before = await read.alone(sql);
        const second = await read.run(sql, true);
        if (second !== before) t.equal(second, before, `seed ${seed}, round ${round}, with turns: ${sql}`);
        if (random.below(10) === 0) await read.makeColumns();
      }
      read.side.onTurn = () => Promise.resolve();
      if (isOwn) await read.run(random.below(2) === 0 ? "COMMIT" : "ROLLBACK");
    }
    taken += read.threads.taken;
  }
  t.ok(taken > 50, `${taken} results of threads`);
});

t.test("commits after the snapshot that the engine takes only while threads work are never seen", async (t) => {
  const read = await filled(t);
  const sql = "SELECT count(*), sum(b), sum(a) FROM g";
  const expected = await read.alone(sql);
  await read.run("BEGIN");
  t.equal(await read.run("SELECT a FROM g WHERE a = 1"), "[1]");
  // A correction before and one behind, and in between one that comes while the segment is read elsewhere.
  await read.side.run(1, "UPDATE g SET b = b + 1 WHERE a IN (40, 300)");
  read.side.flush();
  await read.side.run(1, "UPDATE g SET b = b + 1 WHERE a IN (150, 151, 152)");
  read.threads.beforeWork = () => read.side.flush();
  t.equal(await read.side.run(0, sql), expected);
  t.ok(read.threads.taken > 0);
  await read.run("ROLLBACK");
  let taken = 0;
  for (let seed = 1; seed <= tries(1); seed++) {
    const random = new Random(seed * 104_729);
    const read = await Read.open(t, 1 + random.below(3), 100 * random.below(20));
    await read.run(CREATE);
    await read.run(ROWS);
    for (let round = 0; round < 8; round++) {
      await read.makeColumns();
      await read.run("BEGIN");
      await read.run("SELECT a FROM m LIMIT 1");
      for (let i = 0; i < 6; i++) {
        const whole = ["count(*), sum(b)", "t, count(*)", "o, sum(l), min(u)"][random.below(3)]!;
        const group = whole.startsWith("count") ? "" : `GROUP BY ${whole[0]}`;
        const sql = random.below(2) === 0 ? query(random) : `SELECT ${whole} FROM m ${group}`;
        // Near the rows that stay in files, too.
        const change = async () => {
          const at = 1000 + random.below(300);
          await read.side.run(1, `UPDATE m SET l = l + 1 WHERE a BETWEEN ${at} AND ${at + random.below(4)}`);
          if (random.below(2) === 0) await read.side.run(1, write(random));
        };
        for (let n = random.below(3); n > 0; n--) await change();
        if (random.below(2) === 0) read.side.flush();
        for (let n = random.below(3); n > 0; n--) await change();
        read.threads.beforeWork = async () => {
          if (random.below(2) === 0) read.side.flush();
          if (random.below(3) === 0) await change();
        };
        const answer = await read.side.run(0, sql);
        read.threads.beforeWork = () => undefined;
        const expected = await read.alone(sql);
        if (answer !== expected) t.equal(answer, expected, `seed ${seed}, round ${round}: ${sql}`);
      }
      await read.run("ROLLBACK");
    }
    taken += read.threads.taken;
  }
  t.ok(taken > 100, `${taken} results of threads`);
});

async function filled(t: Test, rows = 400): Promise<Read> {
  const read = await Read.open(t);
  await read.run("CREATE TABLE g (a int PRIMARY KEY, b int, c text, x float8, d timestamp, e numeric(8,2), k text)");
  await read.run(
    `INSERT INTO g SELECT i, i * 37 % 401, 'text ' || i, i / 7.0, timestamp '2026-01-01' + i % 50 * interval '1 day', i / 8.0,
     'kind ' || i * 31 % 17 FROM generate_series(1, ${rows}) i`,
  );
  await read.makeColumns();
  return read;
}

/** Statements that threads read for, each in a way of its own. */
const READS = [
  "SELECT count(*) FROM g",
  "SELECT count(*), count(c), sum(b), avg(b), min(d), max(d), min(e), max(c), min(k) FROM g",
  "SELECT sum(x), avg(x), sum(e), avg(e) FROM g WHERE b > 100",
  "SELECT b % 10, count(*), sum(x) FROM g GROUP BY b % 10",
  "SELECT k, count(*), sum(b), sum(x), max(d), min(c) FROM g GROUP BY k",
  "SELECT d, count(*) FROM g GROUP BY d",
  "SELECT k, d, sum(e) FROM g WHERE c LIKE '%7%' GROUP BY k, d",
  "SELECT a, c FROM g ORDER BY b DESC LIMIT 7",
  "SELECT a FROM g WHERE b % 3 = 1 ORDER BY d, k DESC LIMIT 9 OFFSET 3",
  "SELECT DISTINCT k FROM g",
  "SELECT DISTINCT k, d FROM g WHERE b > 20",
  "SELECT count(*) FROM g WHERE c LIKE '%3%' OR k = 'kind 4' OR b IS NULL",
  "SELECT count(*) FROM g WHERE CASE WHEN b > 200 THEN k ELSE c END IN ('kind 3', 'text 17')",
  "SELECT date_trunc('week', d), count(*) FROM g GROUP BY 1",
];

t.test("each kind of read is done by threads, and gives the same rows in the same order", async (t) => {
  const read = await filled(t);
  for (const sql of READS) {
    const expected = await read.alone(sql);
    const before = read.threads.taken;
    t.equal(await read.run(sql), expected, sql);
    t.ok(read.threads.taken > before, `threads have read for ${sql}: ${read.threads.reasons.join()}`);
  }
  t.equal(
    await read.run("SELECT count(*), sum(x) FROM g WHERE b > $1 AND k = $2", false, [100, "kind 4"]),
    await read.alone("SELECT count(*), sum(x) FROM g WHERE b > $1 AND k = $2", [100, "kind 4"]),
  );
  await read.run("UPDATE g SET x = -x WHERE a % 90 = 5");
  await read.run("INSERT INTO g SELECT i + 1000, b, c, x, d, e, k FROM g, generate_series(1, 1) i WHERE a = 4");
  await read.run("DELETE FROM g WHERE a = 200");
  for (const sql of READS) {
    const expected = await read.alone(sql);
    const before = read.threads.taken;
    t.equal(await read.run(sql), expected, `after changes: ${sql}`);
    t.ok(read.threads.taken > before, `threads have read beside changes for ${sql}`);
  }
});

t.test("sums of floats are the same bit by bit, whatever can be added up exactly", async (t) => {
  const read = await Read.open(t);
  await read.run("CREATE TABLE s (a int PRIMARY KEY, q float8, r float8, m float8, h float8, g int)");
  await read.run(
    `INSERT INTO s SELECT i, i / 4.0, i / 3.0, CASE WHEN i % 100 = 50 THEN i / 7.0 ELSE -i / 8.0 END,
     CASE WHEN i % 90 = 0 THEN 1e300 ELSE i * 1e12 END, i % 5 FROM generate_series(1, 400) i`,
  );
  await read.makeColumns();
  for (const sql of ["q", "r", "m", "h", "q * 3"].flatMap((x) => [
    `SELECT sum(${x}), avg(${x}) FROM s`,
    `SELECT g, sum(${x}), avg(${x}) FROM s GROUP BY g`,
    `SELECT sum(${x}) FROM s WHERE a > 3 AND g <> 2`,
  ])) {
    t.equal(await read.run(sql), await read.alone(sql), sql);
  }
  const sent = read.threads.answers.flatMap(({ result }) => (result.kind === "groups" ? result.groups.states : []));
  const numbers = sent.flatMap((state) => (state.kind === "numbers" ? [state] : []));
  t.ok(
    numbers.some((state) => state.total > 0 && state.numbers.length === 0),
    "some were added up",
  );
  t.ok(
    numbers.some((state) => state.total > 0 && state.numbers.length > 0),
    "some in part",
  );
  t.ok(
    numbers.some((state) => state.total === 0 && state.numbers.length > 0),
    "some not at all",
  );
});

t.test("what is not certain to be the same elsewhere is done by the statement", async (t) => {
  const read = await filled(t);
  for (const sql of [
    "SELECT count(*) FROM g WHERE random() < 2",
    "SELECT count(*) FROM g WHERE d < now()",
    "SELECT count(DISTINCT k) FROM g",
    "SELECT string_agg(k, ',') FROM g",
    "SELECT count(*) FROM g WHERE b > (SELECT 7)",
    "SELECT a FROM g WHERE b < 5",
  ]) {
    t.equal(await read.run(sql), await read.alone(sql), sql);
    t.equal(read.threads.jobs.length, 0, sql);
  }
});

t.test("what must not wait, such as a subquery that is asked for each row, has no threads", async (t) => {
  const read = await filled(t);
  const sql = "SELECT a, (SELECT sum(b) FROM g y WHERE y.b % 5 < x.b % 3 AND y.a <> x.a) FROM g x WHERE a < 40";
  const expected = await read.alone(sql);
  t.notMatch(expected, /error/);
  t.equal(await read.run(sql), expected);
  await read.run("CREATE FUNCTION total(int) RETURNS bigint LANGUAGE sql AS 'SELECT sum(b) FROM g WHERE b > $1'");
  const called = "SELECT a FROM g WHERE a < 9 AND total(a) > 5";
  t.equal(await read.run(called), await read.alone(called));
  t.notMatch(await read.run(called), /error/);
});

t.test("an error of a row is the one that the statement finds by itself", async (t) => {
  const read = await filled(t);
  const sql = "SELECT sum(100 / (a - 150)) FROM g";
  const expected = await read.alone(sql);
  t.match(expected, /^error: division by zero/);
  t.equal(await read.run(sql), expected);
  t.match(read.threads.reasons, ["query_error"]);
  // No row that the transaction sees has it.
  await read.run("DELETE FROM g WHERE a = 150");
  t.equal(await read.run(sql), await read.alone(sql));
  const filter = "SELECT count(*) FROM g WHERE 7 / (b - 3) > 0";
  t.equal(await read.run(filter), await read.alone(filter));
});

t.test("without a file, with a damaged one and without threads, the rows are the same", async (t) => {
  const read = await filled(t);
  const sql = READS[4]!;
  const expected = await read.alone(sql);
  read.threads.beforeWork = () => {
    throw new Error("the thread has died");
  };
  t.equal(await read.run(sql), expected, "threads that die");
  t.equal(read.threads.taken, 0);
  read.threads.beforeWork = () => undefined;
  read.threads.isReady = false;
  t.equal(await read.run(sql), expected, "threads that are not there yet");
  t.ok(read.threads.started > 0);
  t.equal(read.threads.taken, 0);
  read.threads.isReady = true;
  read.side.segments.pages.shrinkTo(0);
  const damages: string[] = [];
  read.side.segments.onDamage = ({ message }) => damages.push(message);
  for (const path of read.files()) {
    const bytes = readFileSync(path);
    // A byte of each page, in the file that is open.
    for (let at = 16; at < bytes.length / 2; at += 40) bytes[at] = bytes[at]! ^ 1;
    writeFileSync(path, bytes);
  }
  t.equal(await read.run(sql), expected, "damaged pages");
  t.match(read.threads.reasons, ["unreadable"]);
  t.match(damages[0], /checksum/, "the statement finds the damage and tells it");
});

t.test("another file in the place of one is not read", async (t) => {
  const read = await filled(t);
  const sql = READS[0]!;
  const other = await filled(t, 300);
  const [path] = read.files();
  const bytes = readFileSync(other.files()[0]!);
  rmSync(path!);
  writeFileSync(path!, bytes);
  t.equal(await read.run("SELECT sum(a) FROM g"), await read.alone("SELECT sum(a) FROM g"));
  t.equal(await read.run(sql), "[400]");
});

t.test("a statement that is cancelled ends, and its threads soon do", async (t) => {
  const read = await filled(t);
  const { partition } = read.side;
  const reason = new Error("cancelled");
  const control = new AbortController();
  let workNow = (): void => undefined;
  read.threads.beforeWork = () => {
    control.abort(reason);
    return new Promise((resolve) => {
      workNow = resolve;
    });
  };
  const request = {
    checkpoint: () => control.signal.throwIfAborted(),
    shouldYield: () => false,
    yieldTurn: () => Promise.resolve(),
    signal: () => control.signal,
  };
  const statement = { sql: READS[4]!, params: [], maxRows: 1, collector: () => ({ append: () => 0 }), request };
  const tenant = partition.tenant(7);
  await t.rejects((async () => read.side.session(2).execute(statement, (tx) => tenant.commit(tx)))(), reason);
  t.equal(Atomics.load(read.threads.jobs[0]!.stop, 0), 1);
  read.threads.beforeWork = () => undefined;
  workNow();
  t.equal(await read.run(READS[4]!), await read.alone(READS[4]!));
});

t.test("columns that a thread has read are shared: the next read opens no page", async (t) => {
  const read = await filled(t);
  read.side.segments.pages.shrinkTo(0);
  await read.run(READS[2]!);
  const { pages } = read.side.segments;
  const { misses } = pages;
  t.ok(pages.bytes > 0);
  await read.run(READS[2]!);
  t.equal(pages.misses, misses);
  const last = read.threads.answers.at(-1)!;
  t.same(last.shared.flat(), [], "the thread has got all of them");
});

t.test("EXPLAIN ANALYZE tells how many threads took part", async (t) => {
  const read = await filled(t);
  t.match(await read.run(`EXPLAIN ANALYZE ${READS[4]}`), /threads=1/);
  t.notMatch(await read.alone(`EXPLAIN ANALYZE ${READS[4]}`), /threads=/);
});

t.test("what takes long for each row is not sent: it would hold the threads for everybody", async (t) => {
  const read = await filled(t);
  for (const condition of [
    "similarity(c, 'text 7') > 0.5",
    "c ~ '^t.*7$'",
    "regexp_replace(c, 'e+', 'x') = 'y'",
    "substring(c, 'x.') = 'y'",
    "md5(c) = 'y'",
  ]) {
    const sql = `SELECT count(*) FROM g WHERE ${condition}`;
    const expected = await read.alone(sql);
    t.notMatch(expected, /error/, sql);
    t.equal(await read.run(sql), expected, sql);
  }
  t.equal(await read.run("SELECT max(similarity(c, 'text 7')) FROM g"), "[1]");
  t.equal(read.threads.jobs.length, 0);
});

t.test("a job that takes longer than it may is left to the statement, and the others are sent", async (t) => {
  const read = await filled(t);
  const expected = await read.alone(READS[4]!);
  const { threads } = read;
  threads.millisMax = 0;
  threads.beforeWork = () => {
    if (threads.jobs.length > 2) threads.millisMax = 1e9;
  };
  t.equal(await read.run(READS[4]!), expected);
  t.same([...new Set(threads.reasons)], ["late"]);
  t.ok(threads.taken > 1, `${threads.taken} results of threads`);
  t.ok(threads.jobs.every(({ millisMax }) => millisMax <= 100));
});

t.test("when job after job takes longer, the statement reads by itself", async (t) => {
  const read = await filled(t);
  const expected = await read.alone(READS[4]!);
  read.threads.millisMax = 0;
  t.equal(await read.run(READS[4]!), expected);
  t.equal(read.threads.taken, 0);
  t.ok(read.threads.reasons.filter((why) => why === "late").length <= 5 + read.threads.count * 2);
  t.ok(read.threads.jobs.length < 20, `${read.threads.jobs.length} jobs`);
});

t.test("a job that no thread has begun when its turn comes is done by the statement", async (t) => {
  const read = await filled(t);
  const expected = await read.alone(READS[4]!);
  read.threads.begins = false;
  t.equal(await read.run(READS[4]!), expected);
  t.ok(read.threads.withdrawn > 0);
  t.equal(read.threads.withdrawn, read.threads.jobs.length, "none stays in the queue");
  // A thread has time again: the rest is sent.
  read.threads.jobs.length = 0;
  let asked = 0;
  const { threads } = read;
  const { read: send } = threads;
  threads.read = (job) => {
    threads.begins = ++asked > 4;
    return send.call(threads, job);
  };
  t.equal(await read.run(READS[4]!), expected);
  t.ok(threads.taken > 1, `${threads.taken} results of threads`);
});

t.test("while too many jobs wait, the statement reads on, and sends what is left later", async (t) => {
  const read = await filled(t);
  const { threads } = read;
  const expected = await read.alone(READS[4]!);
  threads.isFull = true;
  t.equal(await read.run(READS[4]!), expected);
  t.equal(threads.taken, 0);
  const { read: send } = threads;
  let asked = 0;
  threads.read = (job) => {
    threads.isFull = ++asked === 2;
    return send.call(threads, job);
  };
  t.equal(await read.run(READS[4]!), expected);
  t.ok(threads.taken > 5, `${threads.taken} results of threads, although one was refused`);
});

t.test("a statement that fits into its memory does so with threads, too", async (t) => {
  const read = await filled(t);
  for (let from = 1000; from < 8000; from += 1000) {
    await read.run(`INSERT INTO g SELECT i, i, 'text ' || i, i / 7.0 FROM generate_series(${from}, ${from + 999}) i`);
    await read.makeColumns();
  }
  const sql = "SELECT count(*), sum(s) FROM (SELECT c, b, sum(x) s FROM g GROUP BY c, b) q";
  const { partition } = read.side;
  const { config } = partition;
  const bound = (kilobytes: number): void => {
    const value = { ...config, query: { ...config.query, memoryBytesMax: kilobytes * 1024 } };
    Object.defineProperty(partition, "config", { value, configurable: true });
  };
  // The least bound in which it fits.
  let [low, high] = [100, 10_000];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    bound(middle);
    if ((await read.alone(sql)).startsWith("error")) low = middle;
    else high = middle;
  }
  let taken = 0;
  for (let kilobytes = high + 12; kilobytes < high + 60; kilobytes += 4) {
    bound(kilobytes);
    const expected = await read.alone(sql);
    t.notMatch(expected, /error/);
    const before = read.threads.taken;
    const answer = await read.run(sql);
    taken += read.threads.taken - before;
    if (answer !== expected) t.equal(answer, expected, `${kilobytes} kB`);
  }
  t.ok(taken > 0, `${taken} results of threads from ${high} kB on`);
});

t.test("memory that somebody can do without is released before a statement fails", async (t) => {
  const state = new StatementState(100);
  let spare = 40;
  const release = () => {
    state.release(spare);
    spare = 0;
    state.canRelease.delete(release);
  };
  state.canRelease.add(release);
  state.reserve(spare);
  state.reserve(60);
  t.equal(spare, 40, "it fits");
  state.reserve(30);
  t.same([spare, state.memoryBytes], [0, 90]);
  t.throws(() => state.reserve(30), /out of memory/);
});
