/** An hnsw index on halfvec: the nearest rows are those that reading all rows gives, with filters and after changes. */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";

type Test = typeof t;
type Database = Awaited<ReturnType<typeof open>>;

const ROWS = 400;
const DISTANCES = [
  "h <-> $1",
  "h <=> $1",
  "h <#> $1",
  "h <+> $1",
  "$1 <-> h",
  "l2_distance(h, $1)",
  "l1_distance(h, $1)",
  "h::vector <-> $1",
];
const FILTERS = ["true", "id % 3 = 0", "id % 40 = 1"];
const QUERIES = ["[0.3,0.1,-0.2,0.9]", "[-0.7,0.01,0.4,0.2]", "[0.5,-0.5,0.25,0.1]"];

async function compare(t: Pick<Test, "same">, database: Database, when: string): Promise<void> {
  for (const distance of DISTANCES) {
    for (const filter of FILTERS) {
      for (const query of QUERIES) {
        const sql = (order: string) =>
          `SELECT id, round((${distance})::numeric, 5) FROM item WHERE ${filter} ORDER BY ${order} LIMIT 9`;
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
    "CREATE TABLE item (id int PRIMARY KEY, h halfvec(4))",
    `INSERT INTO item SELECT i, CASE WHEN i % 50 = 0 THEN NULL ELSE
       ARRAY[sin(i), cos(i * 3), sin(i * 7), i / 400.0]::real[]::vector(4)::halfvec(4) END
     FROM generate_series(1, ${ROWS}) i`,
    "CREATE INDEX item_l2 ON item USING hnsw (h halfvec_l2_ops)",
    "CREATE INDEX item_cosine ON item USING hnsw (h halfvec_cosine_ops)",
    "CREATE INDEX item_l1 ON item USING hnsw (h halfvec_l1_ops)",
    "CREATE INDEX item_ip ON item USING hnsw (h halfvec_ip_ops)",
  ])
    await database.exec(sql);
  await compare(t, database, "while it is made");
  for (let i = 0; i < 500; i++) await new Promise((resolve) => setImmediate(resolve));
  for (const distance of DISTANCES) {
    const plan = await database.exec(`EXPLAIN SELECT id FROM item ORDER BY ${distance} LIMIT 5`, [QUERIES[0]!]);
    t.match(plan.rows.join("\n"), /Vector Search/, distance);
  }
  await compare(t, database, "when it is ready");
  await database.exec("UPDATE item SET h = '[0.3,0.1,-0.2,0.8]' WHERE id % 10 = 4");
  await database.exec("DELETE FROM item WHERE id % 10 = 7");
  await compare(t, database, "after changes");
});

t.test("definitions", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("CREATE TABLE item (h halfvec(3), v vector(3), open halfvec)");
  await database.exec("CREATE INDEX near ON item USING hnsw (h halfvec_ip_ops) WITH (m = 8)");
  const { rows } = await database.exec("SELECT indexdef FROM pg_indexes WHERE indexname = 'near'");
  t.same(rows, [["CREATE INDEX near ON public.item USING hnsw (h halfvec_ip_ops) WITH (m='8', ef_construction='64')"]]);
  for (const [key, message] of [
    ["h vector_l2_ops", 'operator class "vector_l2_ops" does not accept data type halfvec'],
    ["v halfvec_l2_ops", 'operator class "halfvec_l2_ops" does not accept data type vector'],
    ["v vector_l3_ops", 'operator class "vector_l3_ops" does not exist for access method "hnsw"'],
    ["open halfvec_l2_ops", "column does not have dimensions"],
  ]) {
    await t.rejects(database.exec(`CREATE INDEX ON item USING hnsw (${key})`), { message }, key);
  }
  // As in pgvector, lists are not for this distance.
  await t.rejects(database.exec("CREATE INDEX ON item USING ivfflat (v vector_l1_ops)"), {
    message: 'operator class "vector_l1_ops" does not exist for access method "ivfflat"',
  });
  await database.exec("CREATE INDEX ON item USING hnsw (v vector_l1_ops) WITH (storage = 'int8')");
  const byGaps = await database.exec("EXPLAIN SELECT v FROM item ORDER BY v <+> '[1,2,3]' LIMIT 2");
  t.match(byGaps.rows.join("\n"), /Vector Search/);
  // Members are rounded before they are compared: the index on whole numbers does not say how far those are.
  await database.exec("CREATE INDEX ON item USING hnsw (v vector_l2_ops)");
  const plan = await database.exec("EXPLAIN SELECT v FROM item ORDER BY v::halfvec <-> '[1,2,3]'::halfvec LIMIT 2");
  t.notMatch(plan.rows.join("\n"), /Vector Search/);
});
