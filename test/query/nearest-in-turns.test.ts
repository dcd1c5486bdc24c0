/**
 * Searches by a vector index that measure or ask many rows go on in later turns, and find what reading all rows finds.
 */
import t from "tap";
import { DerivedIndex } from "../../src/derived/derived-index.js";
import { VectorBody } from "../../src/vector/vector-body.js";
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

t.test("rows that are not in the index yet, and rows that it still has", async (t) => {
  const database = await open();
  const { fold } = DerivedIndex.prototype;
  t.teardown(async () => {
    DerivedIndex.prototype.fold = fold;
    await database.close();
  });
  await database.exec("CREATE TABLE item (id int PRIMARY KEY, odd bool, v vector(4))");
  const rows = (from: number, to: number) =>
    `SELECT i, i % 2 = 1, ARRAY[sin(i), cos(i * 3), sin(i * 7), cos(i)]::real[]::vector(4)
       FROM generate_series(${from}, ${to}) i`;
  await database.exec(`INSERT INTO item ${rows(1, 2000)}`);
  await database.exec("CREATE INDEX ON item USING hnsw (v vector_l2_ops)");
  const query = "[0.5,0.1,-0.2,0.9]";
  const same = async (when: string) => {
    for (const filter of ["true", "odd", "id % 50 < 2", "v <-> $1 < 0.4"]) {
      const sql = (order: string) =>
        `SELECT id, round((v <-> $1)::numeric, 5) FROM item WHERE ${filter} ORDER BY ${order} LIMIT 20`;
      const found = await database.exec(sql("v <-> $1"), [query]);
      const expected = await database.exec(sql("(v <-> $1) + 0"), [query]);
      t.same(found.rows, expected.rows, `${filter}, ${when}`);
    }
  };
  await same("all are in it");
  // Searches find what they wait for done, and nothing is put into the index.
  DerivedIndex.prototype.fold = (_isOver, until) => until !== undefined;
  await database.exec(`INSERT INTO item ${rows(2001, 2300)}`);
  await database.exec(`UPDATE item SET v = '${query}', odd = NOT odd WHERE id % 100 = 3`);
  const nearest = await database.exec("SELECT id FROM item ORDER BY v <-> $1 LIMIT 60", [query]);
  await database.exec(`DELETE FROM item WHERE id IN (${nearest.rows.map(([id]) => id).join()}) AND id % 3 < 2`);
  await same("none of the last is in it");
  DerivedIndex.prototype.fold = fold;
  await same("they are put in");
});

t.test("where all are compared, few are asked and read, beside thousands of other rows, too", async (t) => {
  const database = await open();
  const { candidatesFor } = VectorBody.prototype;
  const { keyOf } = DerivedIndex.prototype;
  t.teardown(async () => {
    VectorBody.prototype.candidatesFor = candidatesFor;
    DerivedIndex.prototype.keyOf = keyOf;
    await database.close();
  });
  VectorBody.prototype.candidatesFor = () => Number.POSITIVE_INFINITY;
  await database.exec("CREATE TABLE item (id int PRIMARY KEY, odd bool, v vector(8))");
  await database.exec(
    `INSERT INTO item SELECT i, i % 2 = 1, ARRAY[sin(i), cos(i * 3), sin(i * 7), cos(i), sin(i * 5), cos(i * 11),
       sin(i * 13), i / ${ROWS}.0]::real[]::vector(8) FROM generate_series(1, ${ROWS}) i`,
  );
  await database.exec("CREATE INDEX ON item USING hnsw (v vector_l2_ops)");
  await database.exec("SELECT id FROM item ORDER BY v <-> $1 LIMIT 1", [QUERY]);
  let read = 0;
  DerivedIndex.prototype.keyOf = function (slot) {
    read++;
    return keyOf.call(this, slot);
  };
  const same = async (filter: string, most: number) => {
    const sql = (order: string) => `SELECT id FROM item WHERE ${filter} ORDER BY ${order} LIMIT 12`;
    read = 0;
    const { rows } = await database.exec(sql("v <-> $1"), [QUERY]);
    t.ok(read <= most, `${filter}: ${read} were asked or read`);
    t.same(rows, (await database.exec(sql("(v <-> $1) + 0"), [QUERY])).rows, filter);
  };
  await same("true", 60);
  await same("id % 10 > 2", 400);
  await same("v <-> $1 > 1.2", 8000);
  await same("v <-> $1 > 1.2", 200);
  await database.exec("BEGIN");
  await database.exec("UPDATE item SET odd = NOT odd WHERE id < 2000");
  await same("true", 100);
  await same("odd", 400);
  await same("id % 7 < 5", 400);
  await database.exec("DELETE FROM item WHERE id % 3 = 0");
  await same("true", 100);
  await database.exec("ROLLBACK");
});
