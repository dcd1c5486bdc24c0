/**
 * An hnsw index on an expression over a column of vectors, or on sparsevec: the nearest rows are those that reading all
 * rows gives.
 */
import t from "tap";
import { open } from "../conformance/sql-adapter.js";

const ROWS = 400;
const FORMS: readonly (readonly [key: string, operatorClass: string, distance: string, query: string])[] = [
  ["(v::halfvec(4))", "halfvec_l2_ops", "v::halfvec(4) <-> $1", "[0.3,0.1,-0.2,0.9]"],
  ["(v::vector(4))", "vector_cosine_ops", "v::vector(4) <=> $1", "[-0.7,0.01,0.4,0.2]"],
  ["(binary_quantize(v)::bit(4))", "bit_hamming_ops", "binary_quantize(v)::bit(4) <~> $1", "1011"],
  ["(subvector(v, 2, 2)::vector(2))", "vector_l2_ops", "subvector(v, 2, 2)::vector(2) <-> $1", "[0.1,0.2]"],
  ["s", "sparsevec_l2_ops", "s <-> $1", "{1:0.4,3:1}/6"],
  ["s", "sparsevec_ip_ops", "s <#> $1", "{1:0.4,3:1}/6"],
];

t.test("the same rows as without the index", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  const exec = (sql: string, params: readonly string[] = []) => database.exec(sql, [...params]);
  await exec("CREATE TABLE item (id int PRIMARY KEY, v vector, s sparsevec(6))");
  await exec(`INSERT INTO item SELECT i, CASE WHEN i % 50 = 0 THEN NULL ELSE
      ARRAY[sin(i), cos(i * 3), sin(i * 7), i / 400.0]::real[]::vector END,
      ARRAY[sin(i), 0, cos(i), 0, 0, i / 400.0]::real[]::sparsevec FROM generate_series(1, ${ROWS}) i`);
  for (const [key, operatorClass] of FORMS) await exec(`CREATE INDEX ON item USING hnsw (${key} ${operatorClass})`);
  for (let i = 0; i < 500; i++) await new Promise((resolve) => setImmediate(resolve));
  const compare = async (when: string) => {
    for (const [, , distance, query] of FORMS) {
      const plan = await exec(`EXPLAIN SELECT id FROM item ORDER BY ${distance} LIMIT 5`, [query]);
      t.match(plan.rows.join("\n"), /Vector Search/, distance);
      const sql = (order: string) =>
        `SELECT round((${distance})::numeric, 4) FROM item WHERE id % 3 < 2 ORDER BY ${order} LIMIT 9`;
      const found = await exec(sql(distance), [query]);
      t.same(found.rows, (await exec(sql(`(${distance}) + 0`), [query])).rows, `${when}: ${distance}`);
    }
  };
  await compare("when it is ready");
  await exec("UPDATE item SET v = '[0.3,0.1,-0.2,0.8]', s = '{1:0.4,3:0.9}/6' WHERE id % 10 = 4");
  await exec("DELETE FROM item WHERE id % 10 = 7");
  await compare("after changes");
  await exec("ALTER TABLE item RENAME COLUMN v TO w");
  t.same(
    (await exec("SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'item'::regclass ORDER BY 1"))
      .rows[0],
    ["CREATE INDEX item_s_idx ON public.item USING hnsw (s sparsevec_l2_ops) WITH (m='16', ef_construction='64')"],
  );
  const texts = await exec(
    "SELECT indexdef FROM pg_indexes WHERE indexdef LIKE '%(((w)::halfvec(4)) halfvec_l2_ops)%'",
  );
  t.equal(texts.rows.length, 1);
});

t.test("bits of vectors that have more or fewer members are cut and filled up as the cast does", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("CREATE TABLE item (id int PRIMARY KEY, v vector)");
  await database.exec("INSERT INTO item SELECT i, '[-1,1,1,1]' FROM generate_series(1, 300) i");
  await database.exec("INSERT INTO item VALUES (1000, '[1,1]'), (1001, '[1,1,0,0,1]'), (1002, '[1,1,0,1]')");
  await database.exec("CREATE INDEX ON item USING hnsw ((binary_quantize(v)::bit(4)) bit_hamming_ops)");
  for (let i = 0; i < 500; i++) await new Promise((resolve) => setImmediate(resolve));
  const sql = "SELECT id FROM item ORDER BY binary_quantize(v)::bit(4) <~> B'1100', id LIMIT 3";
  const nearest = sql.replace(", id LIMIT", " LIMIT");
  t.match((await database.exec(`EXPLAIN ${nearest}`)).rows.join(), "Vector Se");
  const found = async (sql: string) => (await database.exec(sql)).rows.map(([id]) => id).sort();
  t.same(await found(nearest), ["1000", "1001", "1002"]);
  t.same(await found(sql), ["1000", "1001", "1002"]);
});

t.test("a cast that keeps all members takes the index on the column, and an index on it the column", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("CREATE TABLE item (h halfvec(3), s sparsevec(3), v vector(3))");
  await database.exec("CREATE INDEX ON item USING hnsw (h halfvec_l2_ops)");
  await database.exec("CREATE INDEX ON item USING hnsw ((s::vector(3)) vector_l2_ops)");
  await database.exec("CREATE INDEX ON item USING hnsw (v vector_l2_ops)");
  const plan = async (distance: string) =>
    (await database.exec(`EXPLAIN SELECT 1 FROM item ORDER BY ${distance} LIMIT 5`)).rows.join("\n");
  for (const stored of ["h::vector(3)", "h::halfvec(3)", "s", "s::vector(3)", "v::vector(3)"]) {
    const query = stored === "s" ? "'{1:1}/3'" : "'[1,2,3]'";
    t.match(await plan(`${stored} <-> ${query}`), /Vector Search/, stored);
  }
  for (const stored of ["v::halfvec(3)", "subvector(v, 1, 2)::vector(2)"]) {
    const query = stored.endsWith("(2)") ? "'[1,2]'" : "'[1,2,3]'";
    t.notMatch(await plan(`${stored} <-> ${query}`), /Vector Search/, `${stored} is something else`);
  }
});

t.test("vectors that do not fit the cast are left out, and a check refuses them", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("CREATE TABLE item (v vector)");
  await database.exec("CREATE INDEX ON item USING hnsw ((v::vector(3)) vector_l2_ops)");
  await database.exec("INSERT INTO item VALUES ('[1,2]')");
  await database.exec("DELETE FROM item");
  await database.exec("ALTER TABLE item ADD CHECK (v IS NULL OR (v::vector(3)) IS NOT NULL)");
  await database.exec("INSERT INTO item VALUES ('[1,2,3]'), (NULL)");
  await t.rejects(database.exec("INSERT INTO item VALUES ('[1,2]')"), { message: "expected 3 dimensions, not 2" });
});

t.test("what such an index cannot be on", async (t) => {
  const database = await open();
  t.teardown(() => database.close());
  await database.exec("CREATE TABLE item (v vector, b bit(4), s sparsevec(30000))");
  const refused = database.exec("CREATE INDEX ON item USING hnsw ((v + v) vector_l2_ops)");
  await t.rejects(refused, { message: "an index of the kind hnsw cannot be on such an expression" });
  await database.exec("CREATE INDEX ON item USING hnsw (b bit_jaccard_ops)");
  await database.exec("CREATE INDEX ON item USING hnsw (s sparsevec_l2_ops)");
  t.same((await database.exec("SELECT count(*) FROM pg_indexes WHERE tablename = 'item'")).rows, [["2"]]);
});
