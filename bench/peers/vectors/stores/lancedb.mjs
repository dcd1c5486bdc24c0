/**
 * LanceDB on files: one HNSW graph over scalar-quantised vectors, whose nearest are ranked again by the whole vectors.
 */
import { connect, Index } from "@lancedb/lancedb";

/** Candidates whose whole vectors are compared, for each one wanted. */
const REFINED = 2;

export async function open(directory, { m, efConstruction }) {
  const database = await connect(directory);
  let table = null;
  let count = 0;
  let ef = 64;
  return {
    versions: (versionOf) => ({ "@lancedb/lancedb": versionOf("@lancedb/lancedb") }),
    load: async (vectors) => {
      const rows = vectors.map((vector, i) => ({ id: String(count + i), vector }));
      count += rows.length;
      if (table === null) table = await database.createTable("item", rows);
      else await table.add(rows);
    },
    build: async () => {
      const config = Index.hnswSq({ distanceType: "cosine", numPartitions: 1, m, efConstruction });
      await table.optimize();
      await table.createIndex("vector", { config });
    },
    setEf: (value) => {
      ef = value;
    },
    search: async (vector, k) => {
      const query = table
        .query()
        .nearestTo(vector)
        .distanceType("cosine")
        .nprobes(1)
        .ef(Math.max(ef, REFINED * k));
      const rows = await query.refineFactor(REFINED).select(["id", "_distance"]).limit(k).toArray();
      return rows.map(({ id, _distance }) => ({ id, distance: _distance }));
    },
  };
}
