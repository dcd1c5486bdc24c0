/** min and max without GROUP BY: files of columns know both, and the answer is that of reading all rows. */
import t, { type Test } from "tap";
import { tries } from "../lengths.js";
import { Random } from "./random-plans.js";
import { Read } from "./read-side.js";

/** Of the same rows, read one by one: a test that all pass and that no file decides. */
const ALL = "WHERE a % 1 = 0";

const COLUMNS = ["a", "b", "d", "e", "x", "z", "l", "c"];

const values = (from: number, to: number) => `SELECT i, i * 37 % 401, timestamp '2026-01-01' + i * interval '1 hour',
  i / 8.0, i / 7.0, CASE WHEN i % 50 = 7 THEN '-0'::float8 ELSE (i % 40)::float8 END,
  CASE WHEN i % 30 < 20 THEN NULL ELSE i::bigint * 1000000007 END, 'text ' || i FROM generate_series(${from}, ${to}) i`;

async function filled(t: Test): Promise<Read> {
  const read = await Read.open(t);
  await read.run(
    "CREATE TABLE g (a int PRIMARY KEY, b int, d timestamp, e numeric(8,2), x float8, z float8, l bigint, c text)",
  );
  t.notMatch(await read.run(`INSERT INTO g ${values(1, 400)}`), /error/);
  await read.makeColumns();
  return read;
}

t.test("no page is read for columns whose least and greatest values are known", async (t) => {
  const read = await filled(t);
  const { pages } = read.side.segments;
  pages.shrinkTo(0);
  const before = pages.misses;
  for (const column of ["b", "d", "e", "x", "l"]) {
    const sql = `SELECT max(${column}), min(${column}) FROM g`;
    t.notMatch(await read.run(sql), /error|null/);
    t.equal(pages.misses, before, sql);
  }
  t.equal(await read.run("SELECT min(b), max(b), min(a), max(a) FROM g"), "[1,400,1,400]");
  t.equal(pages.misses, before);
  t.same([read.threads.started, read.threads.jobs.length], [0, 0], "nor is a thread asked");
  await read.run("UPDATE g SET b = 7000 WHERE a = 200");
  t.equal(await read.run("SELECT max(b) FROM g"), "[7000]");
  await read.run("DELETE FROM g WHERE b >= 399");
  t.equal(await read.run("SELECT max(b) FROM g"), "[398]");
  const pagesRead = pages.misses - before;
  t.ok(pagesRead > 0 && pagesRead < 12, `${pagesRead} pages of the changed segments are read`);
});

t.test("the same answer as by reading all rows, beside changes and gaps, of -0, NaN and NULL too", async (t) => {
  for (let seed = 1; seed <= tries(4); seed++) {
    const random = new Random(seed * 15_485_863);
    const read = await filled(t);
    const same = async (when: string): Promise<void> => {
      for (let i = 0; i < 6; i++) {
        const list = Array.from({ length: 1 + random.below(3) }, () => {
          const column = COLUMNS[random.below(COLUMNS.length)]!;
          return random.below(2) === 0 ? `min(${column})` : `max(${column})`;
        });
        const sql = `SELECT ${list.join(", ")} FROM g`;
        const expected = await read.alone(`${sql} ${ALL}`);
        const answer = await read.run(sql, random.below(2) === 0);
        if (answer !== expected) t.equal(answer, expected, `seed ${seed}, ${when}: ${sql}`);
      }
    };
    await same("as loaded");
    for (let round = 0; round < 6; round++) {
      const at = 1 + random.below(400);
      const change = [
        `UPDATE g SET b = b - 1000, x = -x, z = z - 20 WHERE a BETWEEN ${at} AND ${at + random.below(40)}`,
        `UPDATE g SET x = 'NaN', l = NULL WHERE a = ${at}`,
        `DELETE FROM g WHERE a BETWEEN ${at} AND ${at + random.below(60)}`,
        `INSERT INTO g ${values(1000 * (round + 1), 1000 * (round + 1) + random.below(50))}`,
      ][random.below(4)]!;
      const isOwn = random.below(3) === 0;
      if (isOwn) await read.run("BEGIN");
      t.notMatch(await read.run(change), /error/);
      await same(change);
      if (isOwn) await read.run(random.below(2) === 0 ? "COMMIT" : "ROLLBACK");
      if (random.below(2) === 0) await read.makeColumns();
      await same(`after ${change}`);
    }
    await read.run("DELETE FROM g");
    await same("empty");
  }
});
