/** MIN and MAX, one or several, of an outer row's part of an index: each reads one end of it. */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";

const SELECTED = [
  "(SELECT max(at) FROM event e WHERE e.k = p.k)",
  "(SELECT min(at) FROM event e WHERE e.k = p.k)",
  "(SELECT max(at) - min(at) FROM event e WHERE e.k = p.k)",
  "(SELECT ARRAY[min(at), max(at), min(at)]::text FROM event e WHERE e.k = p.k)",
];

t.test("the same values as without the index", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const exec = (sql: string) => database.exec(sql);
  await exec("CREATE TABLE event (id int PRIMARY KEY, k int, at int)");
  await exec("CREATE TABLE part (k int)");
  await exec("INSERT INTO part SELECT nullif(i, 3) FROM generate_series(1, 12) i");
  await exec(`INSERT INTO event SELECT i, i % 10, CASE WHEN i % 10 = 4 OR i % 13 = 0 THEN NULL ELSE i * 37 % 900 END
    FROM generate_series(1, 1200) i`);
  const without = await Promise.all(
    SELECTED.map((one) => exec(`SELECT p.k, ${one} FROM part p ORDER BY p.k LIMIT 100`)),
  );
  await exec("CREATE INDEX ON event (k, at)");
  await exec("ANALYZE event");
  for (const [i, one] of SELECTED.entries()) {
    const sql = `SELECT p.k, ${one} FROM part p ORDER BY p.k LIMIT 100`;
    t.same((await exec(sql)).rows, without[i]!.rows, sql);
    const plan = (await exec(`EXPLAIN ${sql}`)).rows.join("\n");
    const ends = new Set(one.match(/min|max/g)!).size;
    t.ok(plan.match(/Limit: 1\b/g)!.length >= ends, plan);
  }
});
