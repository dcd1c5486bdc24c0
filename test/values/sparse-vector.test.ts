/** The order of sparse vectors is that of the dense ones which they stand for. */
import t from "tap";
import { compareSparse, sparseToText, sparseWith } from "../../src/values/sparse-vector.js";
import { SeededRandom } from "../simulation/seeded-random.js";

function compareDense(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    if (a[i] !== b[i]) return a[i]! - b[i]!;
  }
  return a.length - b.length;
}

t.test("compareSparse", async (t) => {
  const random = new SeededRandom(11);
  const vectors = Array.from({ length: 150 }, () =>
    Array.from({ length: random.between(1, 6) }, () => (random.chance(0.5) ? 0 : random.between(-2, 12))),
  );
  const texts = vectors.map((members) => sparseToText(sparseWith(members.length, [...members.entries()])));
  const wrong: string[] = [];
  for (const [i, a] of vectors.entries()) {
    for (const [j, b] of vectors.entries()) {
      if (Math.sign(compareSparse(texts[i]!, texts[j]!)) !== Math.sign(compareDense(a, b))) {
        wrong.push(`${texts[i]} ${texts[j]}`);
      }
    }
  }
  t.strictSame(wrong, []);
});
