/** Statements whose segments threads of their own read, as in a server. */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { readPool } from "../../workers/read-pool.js";
import { Read } from "../query/read-side.js";

const READS = [
  "SELECT count(*), sum(x), min(k), max(n) FROM g",
  "SELECT k, count(*), sum(x), sum(y), avg(n), max(k) FROM g GROUP BY k",
  "SELECT a, k, n FROM g WHERE k LIKE '%1%' ORDER BY n DESC LIMIT 5",
  "SELECT DISTINCT k FROM g",
];

t.test("threads start with the first long read, and give what the statement gives by itself", async (t) => {
  const pool = readPool(2);
  const read = await Read.open(t);
  t.teardown(() => pool.end());
  read.others = pool.threads;
  await read.run("CREATE TABLE g (a int PRIMARY KEY, k text, n numeric(9,2), x float8, y float8)");
  await read.run(
    "INSERT INTO g SELECT i, 'kind ' || i * 7 % 23, i / 8.0, i / 4.0, i / 3.0 FROM generate_series(1, 600) i",
  );
  await read.makeColumns();
  const expected: string[] = [];
  for (const sql of READS) expected.push(await read.alone(sql));
  t.equal(await read.run(READS[1]!), expected[1], "while they start, the statement reads by itself");
  while (!pool.threads.areReady()) await sleep(5);
  for (const [i, sql] of READS.entries()) {
    t.equal(await read.run(sql), expected[i], sql);
    t.match(await read.run(`EXPLAIN ANALYZE ${sql}`), /threads=[12]/, sql);
  }
  await pool.end();
  for (const [i, sql] of READS.entries()) t.equal(await read.run(sql), expected[i], `without threads: ${sql}`);
});
