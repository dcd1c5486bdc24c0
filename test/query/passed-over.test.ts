/** OFFSET over an index: the rows that it passes over are not fetched, and those behind them come all the same. */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";

t.test("the rows behind an offset", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const exec = (sql: string) => database.exec(sql);
  await exec("CREATE TABLE item (id int PRIMARY KEY, n int, note text, doc jsonb)");
  await exec(
    "INSERT INTO item SELECT i, i * 7 % 500, 'note ' || i, jsonb_build_object('i', i) FROM generate_series(1, 700) i",
  );
  await exec("CREATE INDEX ON item (n, id)");
  await exec("UPDATE item SET n = n + 3 WHERE id % 5 = 0");
  await exec("DELETE FROM item WHERE id % 9 = 0");
  const rest = ["n", "n DESC, id DESC"].flatMap((order) =>
    ["*", "id", "n, id", "note", "doc -> 'i', n"].flatMap((columns) =>
      ["", "WHERE n > 100", "WHERE n > 100 AND note LIKE '%1%'", "WHERE n IN (5, 7, 9, 100, 340)"].map((where) => ({
        select: `SELECT ${columns} FROM item ${where}`,
        order: order === "n" ? "n, id" : order,
      })),
    ),
  );
  for (const { select, order } of rest) {
    const all = (await exec(`${select} ORDER BY ${order.replace("n,", "n + 0,").replace("n DESC", "n + 0 DESC")}`))
      .rows;
    for (const [offset, limit] of [
      [0, 5],
      [1, 3],
      [64, 10],
      [300, 1000],
      [2000, 5],
    ] as const) {
      const sql = `${select} ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`;
      t.same((await exec(sql)).rows, all.slice(offset, offset + limit), sql);
    }
  }
  const plan = (await exec("EXPLAIN SELECT * FROM item ORDER BY n, id LIMIT 3 OFFSET 50")).rows.join("\n");
  t.match(plan, /Index Scan using item_n_id_idx/);
});

t.test("records that are passed over are not read", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("CREATE TABLE item (id int PRIMARY KEY, n int, note text)");
  await database.exec("INSERT INTO item SELECT i, i, 'note' FROM generate_series(1, 400) i");
  await database.exec("CREATE INDEX ON item (n)");
  const analyzed = await database.exec("EXPLAIN ANALYZE SELECT * FROM item ORDER BY n LIMIT 2 OFFSET 200");
  t.match(analyzed.rows.join("\n"), /Index Scan using item_n_idx on item .*rows=2 loops=1/);
});
