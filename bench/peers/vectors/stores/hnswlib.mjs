/** hnswlib in memory, float32, one thread. Its cosine distance is that of normalized vectors. */
import hnswlib from "hnswlib-node";

/** The graph needs room that is reserved before; it is doubled when it is full. */
const FIRST_ROOM = 16_384;

export async function open(_directory, { dimensions, m, efConstruction }) {
  const index = new hnswlib.HierarchicalNSW("cosine", dimensions);
  index.initIndex({ maxElements: FIRST_ROOM, m, efConstruction });
  let count = 0;
  return {
    versions: (versionOf) => ({ "hnswlib-node": versionOf("hnswlib-node") }),
    load: (vectors) => {
      while (count + vectors.length > index.getMaxElements()) index.resizeIndex(2 * index.getMaxElements());
      for (const vector of vectors) index.addPoint(vector, count++);
    },
    // It builds while it is loaded.
    build: () => undefined,
    setEf: (ef) => index.setEf(ef),
    search: (vector, k) => {
      const { neighbors, distances } = index.searchKnn(vector, k);
      return neighbors.map((id, i) => ({ id: String(id), distance: distances[i] }));
    },
  };
}
