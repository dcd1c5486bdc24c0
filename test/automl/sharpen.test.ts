/** How bold probabilities are made, against what is known of them. */
import t from "tap";
import { Random } from "../../src/automl/random.js";
import { sharpened, sharpnessOf } from "../../src/automl/search/sharpen.js";

t.test("two classes: probabilities whose log-odds were halved get them back", async (t) => {
  const random = new Random(1, "sharpen");
  const truth = Float64Array.from({ length: 20_000 }, () => random.between(-4, 4));
  const target = truth.map((score) => (random.next() < 1 / (1 + Math.exp(-score)) ? 1 : 0));
  const timid = truth.map((score) => 1 / (1 + Math.exp(-score / 2)));
  const sharpness = sharpnessOf(timid, target, 1);
  t.ok(Math.abs(sharpness - 2) < 0.1, `${sharpness}`);
  const again = sharpened(timid, 1, 2);
  t.ok(again.every((p, row) => Math.abs(p - 1 / (1 + Math.exp(-truth[row]!))) < 1e-9));
});

t.test("several classes: rows sum to 1, and the order of a row's classes stays", async (t) => {
  const shares = Float64Array.of(0.5, 0.3, 0.2, 0.1, 0.1, 0.8, 0.4, 0, 0.6);
  for (const sharpness of [0.25, 1, 6]) {
    const made = sharpened(shares, 3, sharpness);
    for (let at = 0; at < 9; at += 3) {
      const row = [0, 1, 2].map((k) => made[at + k]!);
      t.ok(Math.abs(row.reduce((sum, share) => sum + share, 0) - 1) < 1e-9);
      for (const a of [0, 1, 2])
        for (const b of [0, 1, 2]) if (shares[at + a]! > shares[at + b]!) t.ok(row[a]! > row[b]!);
    }
  }
});

t.test("right answers are made bold and wrong ones timid, within bounds", async (t) => {
  const shares = Float64Array.of(0.8, 0.1, 0.1, 0.1, 0.8, 0.1, 0.1, 0.1, 0.8);
  t.ok(sharpnessOf(shares, Float64Array.of(0, 1, 2), 3) > 5);
  t.ok(sharpnessOf(shares, Float64Array.of(1, 2, 0), 3) < 0.3);
});
