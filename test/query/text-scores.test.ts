/** MATCH … AGAINST that is no condition by itself: under OR and NOT, in the select list, on partitions, in changes. */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";

const TEXTS = "(ARRAY['red fox', 'blue bird', 'red bird runs', 'green tree', NULL])[1 + i % 5]";
const RED = "MATCH (t) AGAINST ('red')";

t.test("scores of rows that need not match", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const rows = async (sql: string, params: string[] = []) => (await database.exec(sql, params)).rows;
  const ids = async (where: string) => (await rows(`SELECT id FROM s WHERE ${where} ORDER BY id`)).flat().map(Number);
  await database.exec("CREATE TABLE s (id int PRIMARY KEY, k int, t text)");
  await database.exec(`INSERT INTO s SELECT i, i % 3, ${TEXTS} FROM generate_series(1, 40) i`);
  await database.exec("CREATE INDEX s_t ON s USING text (t)");
  const all = Array.from({ length: 40 }, (_, i) => i + 1);
  const red = all.filter((id) => id % 5 === 0 || id % 5 === 2);
  const bird = all.filter((id) => id % 5 === 1 || id % 5 === 2);
  for (const when of ["while the index is made", "when it is ready"]) {
    t.same(await ids(RED), red, when);
    t.same(await ids(`${RED} OR id = 1`), [1, ...red], `${when}: OR`);
    t.same(
      await ids(`NOT ${RED}`),
      all.filter((id) => !red.includes(id)),
      `${when}: NOT`,
    );
    t.same(await ids("NOT MATCH (t) AGAINST (NULL)"), [], `${when}: a query that is NULL`);
    t.same(
      await ids(`${RED} AND (MATCH (t) AGAINST ('bird') OR k = 0)`),
      red.filter((id) => bird.includes(id) || id % 3 === 0),
      `${when}: one as a condition, another beneath`,
    );
    t.same(
      await rows(`SELECT id, ${RED} FROM s ORDER BY id`),
      await rows(`SELECT id, coalesce((SELECT ${RED} FROM s o WHERE o.id = s.id AND ${RED}), 0) FROM s ORDER BY id`),
      `${when}: the scores that the condition gives`,
    );
    t.same(
      await rows(`SELECT id FROM s ORDER BY MATCH (t) AGAINST ($1) DESC, id LIMIT 3`, ["red fox"]),
      [["5"], ["10"], ["15"]],
      `${when}: the order alone`,
    );
    t.same(
      await rows(`SELECT k, count(*) FILTER (WHERE ${RED}) FROM s GROUP BY k ORDER BY k`),
      [0, 1, 2].map((k) => [String(k), String(red.filter((id) => id % 3 === k).length)]),
      `${when}: in an aggregate`,
    );
    t.same(
      (await rows(`SELECT id FROM (SELECT id, t FROM s) v WHERE ${RED} OR id = 1 ORDER BY id`)).flat().map(Number),
      [1, ...red],
      `${when}: through a subquery`,
    );
    for (let i = 0; i < 300; i++) await new Promise((resolve) => setImmediate(resolve));
  }
  const plan = (await rows(`EXPLAIN SELECT id FROM s WHERE ${RED} OR id = 1`)).flat().join("\n");
  t.match(plan, /Join[\s\S]*Text Search using s_t on s[\s\S]*without the rows/);
  await database.exec("BEGIN");
  await database.exec("INSERT INTO s VALUES (100, 1, 'a red one')");
  t.same(await ids(`${RED} OR id = 1`), [1, ...red, 100], "own rows");
  await database.exec("ROLLBACK");
  t.same(
    (await rows(`UPDATE s SET k = 9 WHERE ${RED} OR id = 1 RETURNING id`)).flat().length,
    red.length + 1,
    "of an UPDATE",
  );
  t.same((await rows(`DELETE FROM s WHERE NOT ${RED} RETURNING id`)).length, 40 - red.length, "of a DELETE");
  await t.rejects(rows("SELECT MATCH (t, t) AGAINST ('x') FROM s"), /text index of just these columns/);
});

t.test("tables without a primary key, and partitions", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const rows = async (sql: string) => (await database.exec(sql)).rows;
  await database.exec("CREATE TABLE bare (id int, t text)");
  await database.exec("CREATE INDEX ON bare USING text (t)");
  await database.exec("CREATE TABLE p (id int, k int, t text) PARTITION BY LIST (k)");
  await database.exec("CREATE TABLE p0 PARTITION OF p FOR VALUES IN (0)");
  await database.exec("CREATE TABLE p1 PARTITION OF p DEFAULT");
  await database.exec(`INSERT INTO bare SELECT i, ${TEXTS} FROM generate_series(1, 20) i`);
  await database.exec("INSERT INTO p SELECT id, id % 2, t FROM bare");
  await t.rejects(rows(`SELECT id FROM p WHERE ${RED}`), /on each of its partitions|text index of just these columns/);
  await database.exec("CREATE INDEX ON p0 USING text (t)");
  await database.exec("CREATE INDEX ON p1 USING text (t)");
  for (const where of [RED, `${RED} OR id = 1`, `NOT ${RED}`, `${RED} AND NOT MATCH (t) AGAINST ('fox')`]) {
    const sql = (table: string) => `SELECT id, ${RED} > 0 FROM ${table} WHERE ${where} ORDER BY id`;
    t.same(await rows(sql("p")), await rows(sql("bare")), where);
  }
  t.same(
    await rows(`SELECT tableoid::regclass::text, count(*) FROM p WHERE ${RED} OR id = 1 GROUP BY 1 ORDER BY 1`),
    [
      ["p0", "4"],
      ["p1", "5"],
    ],
    "beside the partition's name",
  );
});
