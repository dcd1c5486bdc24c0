/** usearch in memory, float32. What a walk keeps is fixed when an index is made, so another one loads its file. */
import { join } from "node:path";
import usearch from "usearch";

export async function open(directory, { dimensions, m, efConstruction }) {
  const path = join(directory, "graph.usearch");
  const make = (ef) =>
    new usearch.Index({
      metric: "cos",
      dimensions,
      quantization: "f32",
      connectivity: m,
      expansion_add: efConstruction,
      expansion_search: ef,
    });
  let index = make(efConstruction);
  let count = 0;
  return {
    versions: (versionOf) => ({ usearch: versionOf("usearch") }),
    load: (vectors) => {
      const keys = BigUint64Array.from(vectors, (_, i) => BigInt(count + i));
      const all = new Float32Array(vectors.length * dimensions);
      for (const [i, vector] of vectors.entries()) all.set(vector, i * dimensions);
      index.add(keys, all, 1);
      count += vectors.length;
    },
    build: () => index.save(path),
    setEf: (ef) => {
      index = make(ef);
      index.load(path);
    },
    search: (vector, k) => {
      const { keys, distances } = index.search(new Float32Array(vector), k, 1);
      return Array.from(keys, (key, i) => ({ id: String(key), distance: distances[i] }));
    },
  };
}
