/** What texts have in common by their words, and what that makes of a model's scores. */
import t, { type Test } from "tap";
import { type Comparison, compareTexts } from "../../../src/ai/nli/compare-texts.js";
import { WINDOWS_MAX, windowsOf } from "../../../src/ai/nli/evidence-windows.js";
import { type WeighedScores, weighScores } from "../../../src/ai/nli/weigh-scores.js";
import { decidingWindow, nearestWindows } from "../../../src/ai/nli/weigh-windows.js";
import { bundledMeanings } from "./bundled-meanings.js";

function close(t: Test, found: WeighedScores, wanted: WeighedScores): void {
  t.equal(found.isRelated, wanted.isRelated);
  for (const [i, score] of found.scores.entries()) t.ok(Math.abs(score - wanted.scores[i]!) < 1e-9, `${found.scores}`);
}

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

const meanings = bundledMeanings();
const weighed = (premise: string, hypothesis: string, judgesByWords = true) =>
  weighScores({ premise, hypothesis }, logitsOf(...MODEL), judgesByWords, meanings);
const MODEL = [0.5, 0.3, 0.2] as const;
/** Outputs of a model with these probabilities, and how much it takes the texts for unrelated. */
const logitsOf = (contradiction: number, entailment: number, neutral: number, apart = -4) => [
  Math.log(contradiction),
  Math.log(entailment),
  Math.log(neutral),
  apart,
];
const AGAINST = [0.95, 0, 0.05];
const FOR = [0, 0.95, 0.05];

t.test("what words tell of a pair decides before the model does", async (t) => {
  const told: readonly (readonly [scores: readonly number[], premise: string, hypothesis: string])[] = [
    [[0, 1, 0], "A ticket costs 5 euros.", "a ticket costs 5 euros"],
    [AGAINST, "Bob died in 1990.", "Bob is alive."],
    [AGAINST, "The ferry, built in 1970, does not run in winter.", "The ferry runs in winter."],
    [AGAINST, "The bag weighs 12 kilos.", "The bag weighs more than 20 kilos."],
    [AGAINST, "The desk is 70 cm deep.", "The desk is 90 cm deep."],
    [AGAINST, "The theatre was opened in 1872.", "The theatre was opened in the 20th century."],
    [AGAINST, "The shop closes at 6 pm.", "The shop closes at 19:30."],
    [AGAINST, "They ate before they left.", "They left before they ate."],
    [AGAINST, "The ticket costs 5 dollars.", "The ticket costs 6 dollars."],
    [AGAINST, "The ticket costs 5 euros; 50 cents are for the hall.", "The ticket costs 7 euros."],
    [AGAINST, "The coat costs 50 pounds.", "The coat costs £60."],
    [AGAINST, "The bag weighs 20 pounds.", "The bag weighs 5 kilos."],
    [AGAINST, "The ticket costs $5.", "The ticket costs more than $6."],
    [AGAINST, "The ticket costs 5 euros and 50 cents.", "The ticket costs 5 euros."],
    [FOR, "The ticket costs 5 euros and 50 cents.", "The ticket costs €5.50."],
    [FOR, "The ticket costs 5 dollars today.", "The ticket costs $5."],
    [FOR, "The coat costs 50 pounds today.", "The coat costs £50."],
    [FOR, "The bag weighs 20 pounds.", "The bag weighs more than 9 kilos."],
    [FOR, "The stamp costs 50 cents, not one euro.", "The stamp costs 0.5 euros."],
    [FOR, "The bag weighs 12 kilos and is green.", "The bag weighs more than 10 kilos."],
    [FOR, "The theatre was opened in 1872.", "The theatre was opened in the 19th century."],
    [FOR, "The shop closes at 6 pm.", "The shop closes at 18:00."],
    [FOR, "The hut isn't open in winter.", "The hut is closed in winter."],
    [FOR, "The clinic is open from Tuesday to Saturday.", "The clinic is open on Friday."],
  ];
  for (const [scores, premise, hypothesis] of told)
    t.same(weighed(premise, hypothesis).scores, scores, `${premise} ${hypothesis}`);
});

t.test("words between those of the claim leave it to the model", async (t) => {
  /** By a model that takes it for neutral, and by one that takes it for an entailment. */
  const entailments = (premise: string, hypothesis: string) =>
    [logitsOf(0.05, 0.05, 0.9), logitsOf(0.01, 0.98, 0.01)].map(
      (logits) => weighScores({ premise, hypothesis }, logits, true, meanings).scores[1] >= 0.6,
    );
  const left: readonly (readonly [string, string])[] = [
    ["The dog chased by the cat ran away.", "The dog ran away."],
    ["The bakery on Mill Street sells fresh bread.", "The bakery sells bread."],
    ["Nora plays the grand piano.", "Nora plays the piano."],
  ];
  for (const [premise, hypothesis] of left)
    t.same(entailments(premise, hypothesis), [false, true], `${premise} ${hypothesis}`);
  const said: readonly (readonly [string, string])[] = [
    ["Bob, who was born in Riga, wrote the book.", "Bob was born in Riga."],
    ["The brother of Ann won the race in the rain.", "The brother of Ann won the race."],
    ["Ann's brother won the race in the rain.", "Ann's brother won the race."],
    ["The city of Paris lies on the Seine.", "Paris lies on the Seine."],
    ["The report shows that the river is clean.", "The river is clean."],
  ];
  for (const [premise, hypothesis] of said) t.same(weighed(premise, hypothesis).scores, FOR, premise);
});

t.test("comparisons turned round, parts of a number, two denials", async (t) => {
  const undecided = logitsOf(0.3, 0.3, 0.4);
  for (const [premise, hypothesis, label] of [
    ["The Elbe is longer than the Weser.", "The Weser is shorter than the Elbe.", 1],
    ["The Elbe is longer than the Weser.", "The Weser is longer than the Elbe.", 0],
    ["The flight takes an hour and a half.", "The flight takes 90 minutes.", 1],
    ["A quarter of the 80 seats were empty.", "20 seats were empty.", 1],
    ["A quarter of the 80 seats were empty.", "30 seats were empty.", 0],
    ["She never fails to answer letters.", "She does not answer letters.", 0],
  ] as const) {
    const { scores } = weighScores({ premise, hypothesis }, undecided, true, meanings);
    t.ok(scores[label] >= 0.6, `${premise} ${hypothesis} ${scores}`);
  }
});

t.test("what is open is neither", async (t) => {
  const certain = logitsOf(0.05, 0.9, 0.05);
  const open: readonly (readonly [string, string])[] = [
    ["The cook hopes that the oven is clean.", "The oven is clean."],
    ["The ticket costs 5 dollars.", "The ticket costs 5 euros."],
    ["The ticket costs 5 dollars.", "The ticket costs less than 6 euros."],
    ["The ticket costs 5 cents.", "The ticket costs 5 dollars."],
    ["The ticket costs $5.", "The ticket costs 9 euros."],
    ["The parcel weighs 5 pounds.", "The parcel costs £5."],
    ["She bought 5 pounds of flour.", "She bought £5 of flour."],
    ["Ann's brother won the race.", "Ann won the race."],
    ["The brother of Ann won the race.", "Ann won the race."],
    ["The director of the museum resigned.", "The museum resigned."],
    ["The man who shot Bob died.", "Bob died."],
    ["The firm that bought Acme is bankrupt.", "Acme is bankrupt."],
    ["The book which praises the mayor is banned.", "The mayor is banned."],
    ["Ann's brother died.", "Ann is alive."],
    ["The man who shot Bob died.", "Bob is alive."],
    ["The brother of Ann weighs 90 kilos.", "Ann weighs 60 kilos."],
    ["At least 12 ships were lost.", "15 ships were lost."],
    ["Lisa was in Prague in 2010.", "Lisa was in Prague in 2014."],
    ["Leo does not like brown bread.", "Leo does not like bread."],
    ["The first edition sold 300 copies.", "The second edition sold 900 copies."],
    ["Ann pays Bob.", "Bob pays Ann."],
    ["Acme was bought by Nordlys.", "Acme bought Nordlys."],
    ["If it rains, the fair is moved to the hall.", "The fair is moved to the hall."],
    ["According to the owner, the dog is harmless.", "The dog is harmless."],
    ["Critics say the plan is too expensive.", "The plan is not too expensive."],
    ["Pets other than dogs are allowed.", "Dogs are allowed."],
    ["Lea is not taller than Tom.", "Tom is taller than Lea."],
  ];
  for (const [premise, hypothesis] of open) {
    const { scores, isRelated } = weighScores({ premise, hypothesis }, certain, true, meanings);
    t.ok(isRelated);
    t.ok(Math.max(scores[0], scores[1]) < 0.6, `${premise} ${hypothesis} ${scores}`);
  }
});

t.test("what one clause says of one thing is not said of the thing of another clause", async (t) => {
  const certain = logitsOf(0.05, 0.9, 0.05);
  const elsewhere: readonly (readonly [string, string])[] = [
    ["Tim washed the car while Rita cut the hedge.", "Rita washed the car."],
    ["Jon studied in Oslo and teaches in Bergen.", "Jon studied in Bergen."],
    ["Vera gave the lamp to Udo, who reads at night.", "Vera reads at night."],
  ];
  for (const [premise, hypothesis] of elsewhere) {
    const { scores } = weighScores({ premise, hypothesis }, certain, true, meanings);
    t.ok(Math.max(scores[0], scores[1]) < 0.6, `${premise} ${hypothesis} ${scores}`);
  }
  for (const [premise, hypothesis] of [
    ["The mill, built in 1810, burned down.", "The mill burned down."],
    ["Olga lives in Graz, a town in Austria.", "Olga lives in Austria."],
    ["Ida met Max and lost her ring.", "Ida lost her ring."],
  ] as const) {
    t.ok(weighScores({ premise, hypothesis }, certain, true, meanings).scores[1] >= 0.6, `${premise} ${hypothesis}`);
  }
});

t.test("what is possible, told or denied twice stands against nothing", async (t) => {
  const against = logitsOf(0.95, 0.01, 0.04);
  for (const [premise, hypothesis] of [
    ["Members may use the pool.", "The members filled the pool with sand."],
    ["Some say the bridge is unsafe.", "The bridge is not unsafe."],
    ["There is no street without a tree.", "Each street has a tree."],
  ] as const) {
    const { scores } = weighScores({ premise, hypothesis }, against, true, meanings);
    t.ok(scores[0] < 0.6, `${premise} ${hypothesis} ${scores}`);
  }
});

t.test("other names, shades of colours, shares of a number, every one and one of them", async (t) => {
  const undecided = logitsOf(0.3, 0.3, 0.4);
  for (const [premise, hypothesis, label] of [
    ["Their boat is called Sea Rose.", "Their boat is named Old Crow.", 0],
    ["Our cat's name is Minka.", "Our cat is called Tiger.", 0],
    ["The gate is dark green.", "The gate is bright red.", 0],
    ["Nine of the twenty lamps are broken.", "Twelve of the twenty lamps are broken.", 0],
    ["Nine of the twenty lamps are broken.", "Nine lamps are broken.", 1],
    ["Nine of the twenty lamps are broken.", "Fewer than ten lamps are broken.", 1],
    ["Nine of the twenty lamps are broken.", "Twenty lamps are broken.", 0],
    ["Few of the guests danced.", "Most of the guests danced.", 0],
    ["Every cabin has a stove.", "Cabin 7 has no stove.", 0],
    ["Every cabin has a stove.", "Cabin 7 has a stove.", 1],
    ["It is not true that the bakery moved.", "The bakery moved.", 0],
    ["It is impossible that she did not see it.", "She did not see it.", 0],
    ["The lift is out of order.", "The lift works.", 0],
  ] as const) {
    const { scores } = weighScores({ premise, hypothesis }, undecided, true, meanings);
    t.ok(scores[label] >= 0.6, `${premise} ${hypothesis} ${scores}`);
  }
  for (const [premise, hypothesis] of [
    ["Their boat is called Sea Rose.", "Their neighbour is called Tom."],
    ["A few of the guests danced.", "Many of the guests danced."],
    ["The school has twenty lamps.", "Nine of the twenty lamps are broken."],
  ] as const) {
    const { scores } = weighScores({ premise, hypothesis }, undecided, true, meanings);
    t.ok(Math.max(scores[0], scores[1]) < 0.6, `${premise} ${hypothesis} ${scores}`);
  }
});

t.test("an unrelated text neither entails nor contradicts, and does not count against any model", async (t) => {
  const [premise, hypothesis] = ["It rains in Berlin.", "The cat is on the mat."];
  const sure = weighScores({ premise, hypothesis }, logitsOf(0.98, 0.01, 0.01, 4), true, meanings);
  t.notOk(sure.isRelated);
  t.ok(Math.max(sure.scores[0], sure.scores[1]) < 0.1, "whatever the model says");
  close(t, weighed(premise, hypothesis, false), { scores: [0, 0.3, 0.7], isRelated: false });
  close(t, weighed("桜は春に咲く", "犬が走る", false), { scores: MODEL, isRelated: true });
  close(t, weighed("The cat sleeps on the mat.", "The cat is on the sofa.", false), { scores: MODEL, isRelated: true });
});

t.test("another scene contradicts if both texts are about one, another topic does not", async (t) => {
  const scene = ["A man in a red shirt is playing the guitar on a stage.", "The man is asleep in his bed."] as const;
  const topic = ["A ferry leaves the harbour at dawn.", "Two children eat ice cream in a park."] as const;
  const scores = ([premise, hypothesis]: readonly [string, string], apart: number, isSameSubject = false) =>
    weighScores({ premise, hypothesis }, logitsOf(0.95, 0.01, 0.04, apart), true, meanings, isSameSubject).scores;
  // By default it may be another man: then it is the likeliest answer, and no more.
  const [contradiction, entailment, neutral] = scores(scene, -4);
  t.ok(contradiction > Math.max(entailment, neutral), `${scores(scene, -4)}`);
  t.ok(scores(scene, -4, true)[0] >= 0.6, `${scores(scene, -4, true)}`);
  t.ok(scores(topic, 2)[0] < 0.2, `${scores(topic, 2)}`);
});

t.test("of texts that are known to be about the same, none is unrelated", async (t) => {
  const [premise, hypothesis] = ["A boy is fishing from a bridge.", "A woman is cooking dinner."];
  const judged = (judgesByWords: boolean, isSameSubject: boolean) =>
    weighScores({ premise, hypothesis }, logitsOf(0.9, 0.02, 0.08, 2), judgesByWords, meanings, isSameSubject);
  for (const judgesByWords of [true, false]) {
    const [apart, together] = [judged(judgesByWords, false), judged(judgesByWords, true)];
    t.notOk(apart.isRelated);
    t.ok(apart.scores[0] < 0.6, `${apart.scores}`);
    t.ok(together.isRelated);
    t.ok(together.scores[0] >= 0.6, `${together.scores}`);
  }
  const told = weighScores(
    { premise: "A ticket costs 6 euros.", hypothesis: "A ticket costs 5 euros." },
    logitsOf(...MODEL),
    true,
    meanings,
    true,
  );
  t.same(told.scores, AGAINST, "the words decide first, as always");
});

t.test("a count that the text does not give is left to the model", async (t) => {
  const [premise, hypothesis] = ["A man and a woman are walking along the beach.", "Two people are walking."];
  const by = (...logits: Parameters<typeof logitsOf>) =>
    weighScores({ premise, hypothesis }, logitsOf(...logits), true, meanings).scores[1];
  t.ok(by(0.01, 0.98, 0.01) >= 0.6, "it says so");
  t.ok(by(0.05, 0.1, 0.85) < 0.6, "it does not");
});

t.test("scores add up", async (t) => {
  for (const [, premise, hypothesis] of cases) {
    const { scores } = weighed(premise, hypothesis);
    t.ok(Math.abs(scores[0] + scores[1] + scores[2] - 1) < 1e-12);
    t.ok(scores.every((score) => score >= 0));
  }
});

t.test("the pieces of an anchor", async (t) => {
  const anchor = "Dr. Webb built the tower in 1901. It is 120 metres tall. The café is closed.";
  const windows = windowsOf(anchor);
  t.same(
    windows.map(({ text }) => text),
    [
      "Dr. Webb built the tower in 1901.",
      "Dr. Webb built the tower in 1901. It is 120 metres tall.",
      "The café is closed.",
    ],
  );
  for (const { text, start, end } of windows) t.equal(anchor.slice(start, end), text);
  const long = `${"The weather was mild that day. ".repeat(40)}The bridge is closed. ${"Nobody came. ".repeat(40)}`;
  const near = nearestWindows({ premise: long, hypothesis: "The bridge is open." }, meanings);
  t.equal(near.length, WINDOWS_MAX);
  t.ok(near.some(({ text }) => text === "The bridge is closed."));
  const window = near[0]!;
  const piece = (contradiction: number, entailment: number, isRelated = true) => ({
    window,
    isRelated,
    scores: [contradiction, entailment, 1 - contradiction - entailment] as const,
  });
  t.same(decidingWindow([piece(0.7, 0.1), piece(0.1, 0.9)]).scores[1], 0.9);
  t.same(decidingWindow([piece(0.9, 0, false), piece(0.2, 0.3)]).scores[0], 0.2, "what is not related does not count");
  t.same(decidingWindow([piece(0.95, 0), piece(0, 0.95)]).scores, [0, 0, 1], "it says both");
});
