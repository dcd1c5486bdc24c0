/** What texts have in common by their words, and what that makes of a model's scores. */
import t from "tap";
import { type Comparison, compareTexts } from "../../../src/ai/nli/compare-texts.js";
import { weighScores } from "../../../src/ai/nli/weigh-scores.js";

const cases: readonly (readonly [Comparison, string, string])[] = [
  ["same", "Paris is the capital of France.", "paris is the capital of France"],
  ["same", "The shop doesn’t open at two.", "The shop does not open at 2!"],
  ["same", "A house was sold for 300,000 euros", "The house was sold for 300000 euros."],
  ["same", "桜は春に咲く。", "桜は春に咲く"],
  ["same", "…", "…"],
  ["same", "Paris lies on the Seine. Paris is the capital of France. It is old.", "Paris is the capital of France."],
  ["same", "It is 5 °C (or 41 °F).", "It is 5 °C or 41 °F"],
  ["opposite", "A ticket costs 6 euros.", "A ticket costs 5 euros."],
  ["opposite", "Mars has three moons.", "Mars has two moons."],
  ["opposite", "It was built in 1958.", "It was built in 1932."],
  ["opposite", "The order was not cancelled.", "The order was cancelled."],
  ["opposite", "The user did not delete the file.", "The user deleted the file."],
  ["opposite", "The user deletes the file.", "The user doesn't delete the file."],
  ["opposite", "The museum is open on Mondays.", "The museum is closed on Mondays."],
  ["opposite", "The door is unlocked.", "The door is locked."],
  ["opposite", "Take it without food.", "Take it with food."],
  ["opposite", "It is -5 degrees.", "It is 5 degrees."],
  ["opposite", "The shop sells bread. The shop is closed on Mondays.", "The shop is open on Mondays."],
  ["other", "The server listens on port 9090.", "The server listens on port 8080."],
  ["other", "The code is written in Java.", "The code is written in Rust."],
  ["other", "Anna is older than Maria.", "Maria is older than Anna."],
  ["other", "It is written in C++.", "It is written in C."],
  ["related", "A ticket costs $5.", "A ticket costs €5."],
  ["other", "We chose plan A today.", "We chose plan B today."],
  ["related", "The door is open. Night falls. The door is closed.", "The door is closed."],
  ["related", "The contract, signed in May, ends in March.", "The contract ends in March and is renewed."],
  ["related", "The tower stands in Paris. It is 120 metres tall.", "The tower is 324 metres tall."],
  ["distant", "Paris has about two million inhabitants.", "Paris is the capital of France."],
  ["distant", "The door is made of oak.", "The door is locked."],
  ["unrelated", "A dog is running through the garden.", "Paris is the capital of France."],
  ["unrelated", "Invoice 17 is due on 3 May.", "The lake is frozen."],
];

t.test("what two texts have in common", async (t) => {
  for (const [expected, premise, hypothesis] of cases) {
    t.equal(compareTexts(premise, hypothesis), expected, `${premise} → ${hypothesis}`);
  }
});

t.test("scores add up, and each comparison moves them its way", async (t) => {
  const model = [0.5, 0.3, 0.2] as const;
  const expected: Readonly<Record<Comparison, readonly number[]>> = {
    same: [0, 1, 0],
    opposite: [0.95, 0, 0.05],
    other: [0.5, 0, 0.5],
    related: model,
    distant: [0, 0.3, 0.7],
    unrelated: [0, 0, 1],
  };
  for (const [comparison, premise, hypothesis] of cases) {
    const scores = weighScores({ premise, hypothesis }, model, true);
    t.same(scores, expected[comparison], comparison);
    t.ok(Math.abs(scores[0] + scores[1] + scores[2] - 1) < 1e-12);
    const plain = weighScores({ premise, hypothesis }, model, false);
    t.same(plain, comparison === "same" ? expected.same : model, "a model that knows more is asked alone");
  }
});
