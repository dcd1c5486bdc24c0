/** A bit per member tells vectors apart whose members are all positive, such as histograms, as well as others. */
import t from "tap";
import { VectorGraph } from "../../src/vector/vector-graph.js";

const COUNT = 1500;
const DIMENSIONS = 64;
const K = 10;
const QUERIES = 20;

let state = 1;
function random(): number {
  state = Math.imul(state, 1664525) + 1013904223;
  return (state >>> 0) / 2 ** 32;
}

const centres = Array.from({ length: 20 }, () => Array.from({ length: DIMENSIONS }, () => 200 * random()));
const near = () => {
  const centre = centres[Math.floor(20 * random())]!;
  return Float32Array.from(centre, (x) => Math.max(0, x + 40 * (random() - 0.5)));
};
const vectors = Array.from({ length: COUNT }, near);
const squared = (a: Float32Array, b: Float32Array) => a.reduce((sum, x, i) => sum + (x - b[i]!) ** 2, 0);

t.test("recall among vectors of positive members", async (t) => {
  const graph = new VectorGraph({
    dimensions: DIMENSIONS,
    metric: "l2",
    storage: "binary",
    originals: (slots) => slots.map((slot) => vectors[slot]),
  });
  for (const vector of vectors) graph.add(vector);
  let hits = 0;
  for (let i = 0; i < QUERIES; i++) {
    const query = near();
    const ranked = vectors.map((vector, slot) => ({ slot, far: squared(query, vector) }));
    ranked.sort((a, b) => a.far - b.far);
    const best = new Set(ranked.slice(0, K).map(({ slot }) => slot));
    hits += [...graph.search(query, K, 128).slots].filter((slot) => best.has(slot)).length;
  }
  const recall = hits / (K * QUERIES);
  t.ok(recall > 0.8, `recall ${recall}`);
});
