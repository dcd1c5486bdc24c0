/**
 * Searches by a vector index that measure or ask many rows go on in later turns, and find what reading all rows finds.
 */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";

const ROWS = 3000;
const QUERY = "[0.9,0.1,-0.2,0.9,0.4,0.3,-0.5,0.2]";

t.test("all that pass are compared in turns, and all are asked", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("CREATE TABLE item (id int PRIMARY KEY, far bool, v vector(8))");
  // Half of the rows lie on the other side: of those near the query none passes.
  await database.exec(
    `INSERT INTO item SELECT i, i % 2 = 0, ARRAY[CASE WHEN i % 2 = 0 THEN -3 ELSE 1 END, sin(i), cos(i * 3), sin(i * 7),
       cos(i), sin(i * 5), cos(i * 11), i / ${ROWS}.0]::real[]::vector(8) FROM generate_series(1, ${ROWS}) i`,
  );
  await database.exec("CREATE INDEX ON item USING hnsw (v vector_l2_ops) WITH (storage = 'binary')");
  const found = (filter: string) =>
    database.exec(`SELECT id FROM item WHERE ${filter} ORDER BY v <-> $1 LIMIT 12`, [QUERY]);
  const truth = (filter: string) =>
    database.exec(`SELECT id FROM item WHERE ${filter} ORDER BY (v <-> $1) + 0 LIMIT 12`, [QUERY]);
  t.match(
    (await database.exec("EXPLAIN SELECT id FROM item ORDER BY v <-> $1 LIMIT 12", [QUERY])).rows.join(),
    /Vector/,
  );
  for (const mode of ["auto", "pre"]) {
    if (mode === "pre") await database.exec("SET hnsw.filter_mode = 'pre'");
    for (const filter of ["far", "id > 200", "id % 3 = 0"]) {
      const { rows } = await found(filter);
      t.equal(rows.length, 12);
      if (mode === "pre") t.same(rows, (await truth(filter)).rows, `${mode}: ${filter}`);
    }
  }
  await database.exec("BEGIN");
  await database.exec("DELETE FROM item WHERE id % 3 = 0 AND id < 1500");
  t.same((await found("id % 3 < 2")).rows, (await truth("id % 3 < 2")).rows, "in a transaction that sees other rows");
  await database.exec("ROLLBACK");
});
