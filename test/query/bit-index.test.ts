/** An hnsw index on bits: the nearest rows are those that reading all rows gives, with filters and after changes. */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";

type Database = Awaited<ReturnType<typeof open>>;

const DISTANCES = ["b <~> $1::bit(24)", "$1::bit(24) <~> b", "hamming_distance(b, $1::bit(24))"];
const FILTERS = ["true", "id % 3 = 0", "id % 40 = 1"];
const QUERIES = ["101100111000111100001010", "000000000000000000000000", "111111111111111111111111"];

/** Many rows are equally far away: which of them come is open, how far they are is not. */
async function compare(t: Pick<typeof import("tap"), "same">, database: Database, when: string): Promise<void> {
  for (const distance of DISTANCES) {
    for (const filter of FILTERS) {
      for (const query of QUERIES) {
        const sql = (order: string) => `SELECT ${distance} FROM item WHERE ${filter} ORDER BY ${order} LIMIT 9`;
        const found = await database.exec(sql(distance), [query]);
        const expected = await database.exec(sql(`(${distance}) + 0`), [query]);
        t.same(found.rows, expected.rows, `${when}: ${distance} where ${filter} of ${query}`);
      }
    }
  }
}

t.test("the same rows as without the index", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  for (const sql of [
    "CREATE TABLE item (id int PRIMARY KEY, b bit(24))",
    `INSERT INTO item SELECT i, CASE WHEN i % 50 = 0 THEN NULL ELSE (i * 7919 % 16777216)::bit(24) END
     FROM generate_series(1, 600) i`,
    "INSERT INTO item VALUES (601, repeat('0', 24)::bit(24)), (602, repeat('1', 24)::bit(24))",
    "CREATE INDEX near ON item USING hnsw (b bit_hamming_ops)",
  ])
    await database.exec(sql);
  await compare(t, database, "while it is made");
  for (let i = 0; i < 500; i++) await new Promise((resolve) => setImmediate(resolve));
  for (const distance of DISTANCES) {
    const plan = await database.exec(`EXPLAIN SELECT id FROM item ORDER BY ${distance} LIMIT 5`, [QUERIES[0]!]);
    t.match(plan.rows.join("\n"), /Vector Search/, distance);
  }
  await compare(t, database, "when it is ready");
  await database.exec(`UPDATE item SET b = B'${QUERIES[0]}' WHERE id % 10 = 4`);
  await database.exec("DELETE FROM item WHERE id % 10 = 7");
  await compare(t, database, "after changes");
  const { rows } = await database.exec(
    `SELECT (b <~> B'${QUERIES[2]}')::real FROM item ORDER BY (b <~> B'${QUERIES[2]}')::real LIMIT 1 OFFSET 1`,
  );
  t.notSame(rows, [["0"]], "the distance is a number of bits, in single precision, too");
});

t.test("definitions", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("CREATE TABLE item (b bit(8), long bit(64001), v vector(3), open bit varying)");
  await database.exec("CREATE INDEX near ON item USING hnsw (b bit_hamming_ops)");
  const { rows } = await database.exec("SELECT indexdef FROM pg_indexes WHERE indexname = 'near'");
  t.same(rows, [
    ["CREATE INDEX near ON public.item USING hnsw (b bit_hamming_ops) WITH (m='16', ef_construction='64')"],
  ]);
  for (const [key, message] of [
    ["b", 'data type bit(8) has no default operator class for access method "hnsw"'],
    ["b vector_l2_ops", 'operator class "vector_l2_ops" does not accept data type bit'],
    ["v bit_hamming_ops", 'operator class "bit_hamming_ops" does not accept data type vector'],
    ["long bit_hamming_ops", "column cannot have more than 64000 dimensions for hnsw index"],
    ["open bit_hamming_ops", "type not supported for hnsw index"],
    ["open", 'data type bit varying has no default operator class for access method "hnsw"'],
  ]) {
    await t.rejects(database.exec(`CREATE INDEX ON item USING hnsw (${key})`), { message }, key);
  }
});
