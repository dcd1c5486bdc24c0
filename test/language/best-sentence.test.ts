/** Which sentence of passages answers a question, and when none does. */
import t from "tap";
import { hasKind } from "../../src/language/answer-kinds.js";
import { bestSentence } from "../../src/language/best-sentence.js";

const ALONE = { shouldYield: () => false, yieldTurn: async () => undefined };
/** "pay" and "salary" are alike; all other words are as unlike as can be. */
const AXES = new Map<string, number>();
const embed = async (texts: readonly string[]) =>
  texts.map((text) => {
    const word = text.toLowerCase() === "pay" ? "salary" : text.toLowerCase();
    if (!AXES.has(word)) AXES.set(word, AXES.size);
    return Float32Array.from({ length: 300 }, (_, i) => (i === AXES.get(word)! ? 1 : 0));
  });
const passage = (text: string, about = "") => ({ text, about, title: "", heading: "" });
const ask = async (question: string, ...texts: readonly string[]) => {
  const passages = texts.map((text) => passage(text));
  const best = await bestSentence(question, passages, embed, ALONE);
  return best === null ? null : passages[best.place]!.text.slice(best.start, best.end);
};

const DEPOT = "The depot in Lund opened in 2004. Mia Holm runs it. Behind the house there are 19 parking places.";
const OTHER = "The depot in Visby opened in 2011. Bo Ek runs it. Behind the house there are 70 parking places.";

t.test("the sentence that has what is asked, of the passage that is asked about", async (t) => {
  t.equal(
    await ask("How many parking places does the depot in Lund have?", OTHER, DEPOT),
    "Behind the house there are 19 parking places.",
  );
  t.equal(await ask("Who runs the depot in Lund?", DEPOT, OTHER), "Mia Holm runs it.");
  t.equal(await ask("When did the depot in Visby open?", DEPOT, OTHER), "The depot in Visby opened in 2011.");
  const rules = "The allowance within the country is 33 euros. Abroad it is 45 euros.";
  t.equal(await ask("How much is the allowance abroad?", rules), "Abroad it is 45 euros.");
  t.equal(
    await ask("When did the pump leave the works?", "The pump left the works in 1958."),
    "The pump left the works in 1958.",
  );
  const faq = "How long must a password be? At least fourteen characters.";
  t.equal(
    await ask("How long must a password be?", faq, "A wrong password locks you out for two days."),
    "At least fourteen characters.",
  );
});

t.test("rows of a table, prices in a list, and what only repeats a question that is answered by yes", async (t) => {
  const menu = "| Day | Soup | Dessert |\n|---|---|---|\n| Monday | Pea | Pears |\n| Thursday | Leek | Cake |";
  t.equal(await ask("Which soup is there on Thursday?", menu), "| Thursday | Leek | Cake |");
  t.equal(await ask("Which soup is there on Friday?", menu), null);
  const fees = "Fees of the choir\n\nMembership: 90 euros a year.\nStudents: 45 euros a year.";
  t.equal(await ask("What do students pay for the choir?", fees), "Students: 45 euros a year.");
  t.equal(await ask("What do students pay for the choir?", "Students of the choir wear blue."), null);
  const allergens = "The risotto is free of gluten. Ask the cook when in doubt.";
  t.equal(await ask("Is the risotto gluten-free?", allergens), "The risotto is free of gluten.");
});

t.test("what the passages do not say", async (t) => {
  t.equal(await ask("When was the depot in Lund renovated?", DEPOT), null);
  t.equal(await ask("How many parking places does the depot in Oslo have?", DEPOT, OTHER), null);
  t.equal(await ask("How much honey did hive four give?", "31 kilograms of honey were taken from hive three."), null);
  t.equal(
    await ask("How old is Clara Weiss?", "Its architect, Clara Weiss, had won the contest against eleven men."),
    null,
  );
  t.equal(await ask("What is 2+2?", "Each browser in its two latest versions."), null);
  t.equal(await ask("What is the salary of Mia Holm?", "Mia Holm has a room on deck two."), null);
  t.equal(await ask("What is the salary of Mia Holm?", "The pay of Mia Holm is high."), "The pay of Mia Holm is high.");
});

t.test("who did it, how many of what, and which one", async (t) => {
  const loan = "The drawings are insured for 840,000 euros. Transport is paid by the museum.";
  t.equal(await ask("Who insured the drawings?", loan), null, "nobody is named who did");
  t.equal(await ask("Who pays for the transport?", loan), "Transport is paid by the museum.");
  t.equal(await ask("Who painted the drawings?", "The drawings are hung by Mia Holm."), null, "another deed");
  t.equal(await ask("Who applied for it?", "We apply for it from Fridays on."), null, "a day is nobody");
  t.equal(await ask("Who keeps the keys?", "The caretaker keeps the keys."), "The caretaker keeps the keys.");
  const park = "Turbine 3 of the park stood still; turbine 5 was struck. In the park 14 bats were found.";
  t.equal(await ask("How many turbines does the park have?", park), null);
  t.equal(await ask("How many bats were found in the park?", park), "In the park 14 bats were found.");
  t.equal(
    await ask("How many pupils go on the trip?", "On the trip phones are handed in at ten in the evening."),
    null,
  );
  t.equal(await ask("How many books are lent?", "Lent books that are lost are paid by a new one."), null);
  const three = "Turbine 3 has a rotor of 112 metres.";
  const five = "Turbine 5 has a rotor of 90 metres. A bearing weighs 3 tons.";
  t.equal(await ask("How wide is the rotor of turbine 5?", three, five), "Turbine 5 has a rotor of 90 metres.");
  t.equal(await ask("How wide is the rotor of turbine 4?", three, five), null);
  t.equal(await ask("How wide is the rotor of turbine 3?", five), null, "3 tons are no turbine 3");
  const doctors = "Dr. Diallo sees children on Mondays. Dr. Kral is our surgeon.";
  t.equal(await ask("When does Dr. Kral see children?", doctors), null);
  t.equal(await ask("When does Dr. Diallo see children?", doctors), "Dr. Diallo sees children on Mondays.");
  t.equal(await ask("Which tram goes to the inn?", "Tram 7 stops at the inn."), "Tram 7 stops at the inn.");
});

t.test("kinds of answers", async (t) => {
  const cases: readonly (readonly [question: string, sentence: string, has: "yes" | "no" | "never"])[] = [
    ["How fast is the ferry?", "The ferry carries 420 passengers.", "never"],
    ["How fast is the ferry?", "The ferry makes 14 knots.", "yes"],
    ["How tall is the mast?", "The mast stood still for 19 days.", "no"],
    ["How tall is the mast?", "The mast is 31 metres tall.", "yes"],
    ["How high is the fee?", "The fee is 180 euros.", "yes"],
    ["How heavy is the pump?", "The pump draws 40 watts.", "never"],
    ["How many turbines are there?", "The park gave 41.7 gigawatt hours.", "never"],
    ["How many people live here?", "2.7 million people live here.", "yes"],
    ["How many turbines are there?", "In service since: October 2017", "never"],
    ["How long is the bridge?", "The bridge opens on 4 May 2024.", "no"],
    ["How long is the bridge?", "It is 86 metres long.", "yes"],
    ["How many books are there?", "Books may be kept for four weeks, until 20:00.", "never"],
    ["How many weeks may books be kept?", "Books may be kept for four weeks.", "yes"],
    ["How much does a tour cost?", "Tours last 50 minutes.", "never"],
    ["How much does a tour cost?", "Tours are free of charge.", "yes"],
    ["How much power does the LX-110 use?", "The LX-110 must not be used outdoors.", "no"],
    ["How much power does the LX-110 use?", "The LX-110 uses 110 watts.", "yes"],
    ["When does it open?", "There are 19 parking places.", "no"],
    ["When does it open?", "It opens at 7:30.", "yes"],
    ["Who runs the shop in Lund?", "The shop is in Lund.", "no"],
    ["Which colour has it?", "It is green.", "yes"],
    ["Where are the keys kept?", "The keys must be given back on Mondays, at ten.", "no"],
    ["Where are the keys kept?", "The keys hang behind the desk.", "yes"],
    ["In which town is the depot?", "The depot opened in 1987 and has 14 gates.", "no"],
    ["In which town is the depot?", "The depot in Lund has 14 gates.", "yes"],
  ];
  for (const [question, sentence, has] of cases) t.equal(hasKind(sentence, question), has, `${question} ${sentence}`);
});
