/** Figures of questions, as they are stored and read again. */
import t from "tap";
import { keysOf, readScores, storedScores } from "../../../src/features/evaluation/question-scores.js";

const ALONE = { shouldYield: () => false, yieldTurn: () => Promise.resolve() };
const texts = ["why?", "where?", "why?", "why?", "who?"];

t.test("stored and read", async (t) => {
  const keys = await keysOf(ALONE, texts.length, (i) => texts[i]!);
  t.equal(new Set(keys).size, texts.length, "each question has its own key, also one that comes again");
  const others = await keysOf(ALONE, 2, (i) => ["who?", "why?"][i]!);
  t.same(others, [keys[4], keys[0]], "the same in other evaluations");
  const scores = { keys, series: { text: { mrr: Float64Array.of(1, 0, 0.5, Number.NaN, 0.25) }, vector: {} } };
  t.same(readScores(JSON.parse(JSON.stringify(storedScores(scores)))), scores);
  t.same(readScores(storedScores({ keys: [], series: {} })), { keys: [], series: {} });
});
