/** Sentences of an answer with what they cite, and what is counted of them. */
import t from "tap";
import { answerSentences } from "../../../src/features/evaluation/answer-sentences.js";
import { type JudgedSentence, measuresOfAnswer } from "../../../src/features/evaluation/judge-answers.js";

const ALONE = { shouldYield: () => false, yieldTurn: () => Promise.resolve() };

t.test("sentences", async (t) => {
  const found = await answerSentences(
    "The sea is deep [1]. Dr. Miller swims in it [2, 3][1]. It is cold.[4] And salty. [5] [6]\n\n- - -",
    ALONE,
  );
  t.same(found, [
    { text: "The sea is deep.", cites: [1] },
    { text: "Dr. Miller swims in it.", cites: [2, 3, 1] },
    { text: "It is cold.", cites: [4] },
    { text: "And salty.", cites: [5, 6] },
  ]);
  t.same(await answerSentences("[1]", ALONE), [], "a mark alone says nothing");
  t.same(await answerSentences("See array[x] and [a].", ALONE), [{ text: "See array[x] and [a].", cites: [] }]);
});

t.test("figures of an answer", async (t) => {
  const sentence = (
    supportedBy: readonly boolean[],
    cites: readonly number[],
    isContradicted = false,
  ): JudgedSentence => ({
    ...{ text: "", cites, supportedBy, isSupported: supportedBy.includes(true), isContradicted },
    ...{ entailment: 0, contradiction: 0, against: null },
  });
  t.same(
    measuresOfAnswer([
      sentence([true, false], [1]),
      sentence([true, false], [2]),
      sentence([false, false], [1, 9], true),
      sentence([false, true], []),
    ]),
    { faithfulness: 3 / 4, contradicted: 1 / 4, citation_precision: 1 / 4, citation_recall: 1 / 4 },
  );
  t.same(measuresOfAnswer([sentence([true], [])]), {
    ...{ faithfulness: 1, contradicted: 0, citation_precision: null, citation_recall: null },
  });
  t.same(measuresOfAnswer([]), {
    ...{ faithfulness: null, contradicted: null, citation_precision: null, citation_recall: null },
  });
});
