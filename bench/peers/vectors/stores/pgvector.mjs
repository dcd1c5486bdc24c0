/** PGlite with pgvector, in memory: one session, one statement at a time. */
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";

export async function open(_directory, { dimensions, m, efConstruction }) {
  const database = await PGlite.create({ extensions: { vector } });
  await database.exec("CREATE EXTENSION vector");
  await database.exec(`CREATE TABLE item (id integer PRIMARY KEY, vector vector(${dimensions}))`);
  let count = 0;
  return {
    versions: (versionOf) => ({
      PGlite: versionOf("@electric-sql/pglite"),
      pgvector: versionOf("@electric-sql/pglite-pgvector"),
    }),
    load: async (vectors) => {
      const rows = vectors.map((vector, i) => `(${count + i}, '[${vector.join()}]')`);
      count += rows.length;
      await database.exec(`INSERT INTO item VALUES ${rows.join()}`);
    },
    build: async () => {
      await database.exec("SET maintenance_work_mem = '512MB'");
      const options = `WITH (m = ${m}, ef_construction = ${efConstruction})`;
      await database.exec(`CREATE INDEX ON item USING hnsw (vector vector_cosine_ops) ${options}`);
    },
    setEf: (ef) => database.exec(`SET hnsw.ef_search = ${ef}`),
    search: async (vector, k) => {
      const sql = "SELECT id::text, vector <=> $1 AS distance FROM item ORDER BY vector <=> $1 LIMIT $2";
      return (await database.query(sql, [`[${vector.join()}]`, k])).rows;
    },
  };
}
