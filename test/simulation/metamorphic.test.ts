/**
 * The same history gives the same answers, however it is run. METAMORPHIC_SEEDS makes it longer, METAMORPHIC_FROM
 * begins elsewhere.
 */
import t from "tap";
import { answersOf, differenceOf, historyOf, WAYS } from "./metamorphic.js";
import { answersOnNode } from "./partitions.js";

const SEEDS = Number(process.env.METAMORPHIC_SEEDS ?? 1);
const FROM = Number(process.env.METAMORPHIC_FROM ?? 1);

t.setTimeout(0);

t.test("engine, rules, batches and restarts change no answer", async (t) => {
  let failed = 0;
  for (let seed = FROM; seed < FROM + SEEDS; seed++) {
    const history = historyOf(seed);
    const expected = await answersOf(history, { name: "as usual" });
    failed += expected.filter((answer) => answer.startsWith("error")).length;
    for (const way of WAYS) {
      const difference = differenceOf(history, expected, await answersOf(history, way), way);
      t.equal(difference, null, `seed ${seed} ${way.name}`);
    }
  }
  t.ok(failed < SEEDS * 20, "most statements succeed");
});

t.test("neither does the number of partitions", async (t) => {
  for (let seed = FROM; seed < FROM + Math.ceil(SEEDS / 4); seed++) {
    const histories = [0, 1, 2, 3].map((i) => historyOf(seed * 1000 + i));
    const one = await answersOnNode(seed, histories, { actors: 1, partitions: 1 }, false);
    for (const restarts of [false, true]) {
      const four = await answersOnNode(seed, histories, { actors: 2, partitions: 4 }, restarts);
      for (const [i, history] of histories.entries()) {
        const difference = differenceOf(history, one[i]!, four[i]!, {});
        t.equal(difference, null, `seed ${seed}, tenant ${i}${restarts ? ", with restarts" : ""}`);
      }
    }
  }
});
