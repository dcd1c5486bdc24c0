/** pgvector's package with pg and postgres.js: vectors, halfvec and sparsevec, an HNSW index, nearest neighbours. */
import pg from "pg";
import pgvector from "pgvector/pg";
import { equal, step } from "./steps.mjs";

const client = new pg.Client();
await client.connect();
const neighbours = async (sql, values) => (await client.query(sql, values)).rows.map(({ id }) => id);

await step("CREATE EXTENSION, registerTypes", async () => {
  await client.query("CREATE EXTENSION IF NOT EXISTS vector");
  await pgvector.registerTypes(client);
});
await step("insert and read vectors", async () => {
  await client.query("CREATE TABLE items (id bigserial PRIMARY KEY, embedding vector(3))");
  const values = [
    [1, 1, 1],
    [2, 2, 2],
    [1, 1, 2],
  ].map(pgvector.toSql);
  await client.query("INSERT INTO items (embedding) VALUES ($1), ($2), ($3), (NULL)", values);
  equal((await client.query("SELECT embedding FROM items WHERE id = 1")).rows, [{ embedding: [1, 1, 1] }]);
});
await step("<->, <=>, <#> and <+> in ORDER BY", async () => {
  for (const operator of ["<->", "<+>"]) {
    const sql = `SELECT id FROM items WHERE embedding IS NOT NULL ORDER BY embedding ${operator} $1 LIMIT 5`;
    equal(await neighbours(sql, [pgvector.toSql([1, 1, 1])]), ["1", "3", "2"]);
  }
  equal(
    await neighbours("SELECT id FROM items WHERE embedding IS NOT NULL ORDER BY embedding <#> $1 LIMIT 1", [
      pgvector.toSql([1, 1, 1]),
    ]),
    ["2"],
  );
  const [{ d }] = (await client.query("SELECT embedding <=> '[1,1,2]' AS d FROM items WHERE id = 3")).rows;
  equal(Math.abs(d) < 1e-6, true);
});
await step("indexes: hnsw with options", async () => {
  await client.query("CREATE INDEX ON items USING hnsw (embedding vector_l2_ops) WITH (m = 16, ef_construction = 64)");
  await client.query("SET hnsw.ef_search = 100");
  equal(await neighbours("SELECT id FROM items ORDER BY embedding <-> $1 LIMIT 2", [pgvector.toSql([1, 1, 1])]), [
    "1",
    "3",
  ]);
});
await step("ivfflat", () =>
  client.query("CREATE INDEX ON items USING ivfflat (embedding vector_cosine_ops) WITH (lists = 10)"),
);
await step("avg, sum, vector_dims, l2_distance, l2_normalize", async () => {
  const sql =
    "SELECT avg(embedding) AS a, vector_dims(min(embedding)) AS n, l2_distance('[1,1]'::vector, '[1,2]') AS l FROM items";
  equal(
    (await client.query(sql)).rows,
    [{ a: [1.3333334, 1.3333334, 1.6666666], n: 3, l: 1 }].map((row) => row),
  );
});
await step("halfvec and sparsevec", async () => {
  await client.query(
    "CREATE TABLE others (id bigserial PRIMARY KEY, half halfvec(3), sparse sparsevec(3), bits bit(3))",
  );
  await client.query("INSERT INTO others (half, sparse, bits) VALUES ('[1,2,3]', '{1:1,3:2}/3', '101')");
  equal(await neighbours("SELECT id FROM others ORDER BY half <-> '[1,2,3]', sparse <-> '{1:1}/3', bits <~> '111'"), [
    "1",
  ]);
});
await client.end();
