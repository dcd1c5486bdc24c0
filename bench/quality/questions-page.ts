/** The part of docs/reference/quality.md on questions as SQL. Called by `run-quality.ts`. */
import { confidenceOf, LIKELY } from "../../src/ai/nl2sql/confidence.js";
import { type Interval, intervalOfShare } from "../../src/features/evaluation/intervals.js";
import { examples, heldOut } from "./confidence-fit.js";
import { type AskedQuestion, HELD_BACK_SETS, QUESTION_SETS, SEEN_SETS } from "./questions.js";

const CALIBRATION = [0, 0.5, 0.7, 0.8, 0.9, 1];

const figure = (value: number) => value.toFixed(3).replace(/^0/, "");
const between = ([low, high]: Interval) => `${figure(low)} to ${figure(high)}`;
const table = (head: string, aligned: string, lines: readonly string[]) => [head, aligned, ...lines].join("\n");

type Counts = readonly [
  all: number,
  right: number,
  rightly: number,
  refused: number,
  wrong: number,
  sure: number,
  sureWrong: number,
];

/** How sets were answered when they were first asked, before the rules were changed for them. */
const FIRST_ASKED: Readonly<Record<string, Counts>> = {
  sixth: [120, 56, 6, 50, 8, 47, 3],
  seventh: [80, 25, 4, 48, 3, 16, 2],
  eighth: [122, 70, 4, 43, 5, 60, 4],
  ninth: [57, 41, 2, 11, 3, 37, 2],
  tenth: [124, 78, 0, 36, 10, 65, 6],
  eleventh: [40, 30, 0, 10, 0, 27, 0],
  twelfth: [120, 55, 2, 53, 10, 37, 2],
  thirteenth: [40, 31, 0, 7, 2, 20, 2],
  fourteenth: [120, 60, 3, 49, 8, 47, 4],
  fifteenth: [60, 42, 1, 15, 2, 26, 0],
  sixteenth: [60, 26, 0, 31, 3, 11, 1],
  seventeenth: [60, 37, 3, 19, 1, 18, 0],
  eighteenth: [120, 53, 6, 51, 10, 29, 2],
  nineteenth: [120, 60, 3, 54, 3, 13, 0],
  twentieth: [60, 24, 3, 33, 0, 4, 0],
  "twenty-first": [44, 9, 2, 33, 0, 2, 0],
};

/** Answers by told confidence, with how many of them were wrong. */
function byConfidence(answers: readonly { readonly confidence: number; readonly isWrong: boolean }[]): string {
  const lines = CALIBRATION.slice(0, -1).map((low, i) => {
    const some = answers.filter(({ confidence }) => confidence > low && confidence <= CALIBRATION[i + 1]!);
    const wrong = some.filter(({ isWrong }) => isWrong).length;
    return `| ${low} to ${CALIBRATION[i + 1]} | ${some.length} | ${wrong} |`;
  });
  return table("| confidence | answers | wrong |", "|---|--:|--:|", lines);
}

/** What the fit gives for schemas that it was not made with. */
function fitPage(): string {
  const apart = heldOut(examples());
  const isWrong = ({ example }: (typeof apart)[number]) => example.right === 0;
  const kept = apart.filter(({ p }) => p >= LIKELY);
  const refused = apart.filter(({ p }) => p < LIKELY);
  const told = kept.map((one) => ({ confidence: confidenceOf(one.p), isWrong: isWrong(one) }));
  const own = apart.map((one) => ({ confidence: one.example.certainty, isWrong: isWrong(one) }));
  return `The confidence is a logistic regression over what can be read from an answer: how much of the question its SQL
says, how much it says that the question does not, and how much there was to misread (\`src/ai/nl2sql/traits.ts\`). It is
fitted on ${apart.length} answers, ${apart.filter(isWrong).length} of them wrong, that earlier rules gave to sets when they were first asked, and today's
to the halves of the first five sets that were never looked at (\`bench/quality/first-asked.json\`;
\`node dist/bench/quality/fit-confidence.js\` fits it anew). Each schema by weights that were fitted on all others:
${refused.length} answers, ${refused.filter(isWrong).length} of them wrong, are less likely than ${LIKELY}: counts by things some of which have none become readings then. The others:

${byConfidence(told)}

The same ${own.length} answers by the numbers that rules were given by hand:

${byConfidence(own)}`;
}

export function questionsPage(asked: readonly AskedQuestion[]): string {
  const count = (some: readonly AskedQuestion[], outcome: string) =>
    some.filter((one) => one.outcome === outcome).length;
  const line = (name: string, some: readonly AskedQuestion[]) => {
    const [right, rightly, refused, wrong] = ["right", "refused rightly", "refused", "wrong"].map((outcome) =>
      count(some, outcome),
    );
    const interval = between(intervalOfShare(right! + rightly!, some.length));
    return `| ${name} | ${some.length} | ${right} | ${rightly} | ${refused} | ${wrong} | ${interval} |`;
  };
  const sets = Object.keys(QUESTION_SETS) as (keyof typeof QUESTION_SETS)[];
  const halves = sets.flatMap((set) => {
    const ofSet = asked.filter((one) => one.set === set);
    const half = (isHeldBack: boolean) => ofSet.filter((one) => one.isHeldBack === isHeldBack);
    return [
      ...(HELD_BACK_SETS.has(set) ? [] : [line(`${set} set, looked at while the rules were made`, half(false))]),
      ...(SEEN_SETS.has(set) ? [] : [line(`${set} set, never looked at`, half(true))]),
    ];
  });
  const heldBack = asked.flatMap(({ isHeldBack, confidence, outcome }) =>
    isHeldBack && confidence !== null ? [{ confidence, isWrong: outcome === "wrong" }] : [],
  );
  const first = Object.entries(FIRST_ASKED).map(([set, counts]) => `| ${set} | ${counts.join(" | ")} |`);
  return `## Questions as SQL

By rules, without a provider: ${asked.length} questions over ${new Set(asked.map(({ schema }) => schema)).size} schemas (\`test/quality/questions\`) in ${sets.length} sets, each
written before the rules were changed for it. The second has other naming habits: words of other languages, prefixes,
links that no foreign key declares. The third has abbreviations, many tables, names that several columns share, misspelt
words, and questions that the tables do not answer or that mean several things: those are rightly refused. The fourth
has new domains, keys that end in fk, views, codes and mixed plurals. The fifth asks for joins, groups, superlatives,
comparisons, dates and what there is not. The sixth has six more domains; its counts alone were seen. The seventh has
abbreviated names, lookup tables of codes, dates as text and no keys. The others ask plain questions over ordinary
schemas; the twelfth asks what earlier rules refused, and the fourteenth has quoted names, folded names and prefixes.

The sixteenth and the seventeenth have six more domains between them, with prefixes, abbreviated, German and quoted names
and no keys. Of the seventeenth its counts alone were seen. The eighteenth has rides, a pharmacy and auctions: quoted
names in camel case, prefixes and abbreviations without keys, rows that refer to rows of their own table, money in cents. The nineteenth is
like public benchmarks: concerts, expeditions in tables without any key and with short names, creatures with lookup tables.
The twentieth was asked once the rules had been changed for the nineteenth: card players and real estate.
The twenty-first has museums and cars, in tables with short names, asked as such benchmarks ask.

What counts for schemas that nobody here has seen is how a set was answered when it was first asked. From the seventh
to the sixteenth each set was looked at afterwards, of the eighteenth 51 questions, of the nineteenth 59, of the twentieth 32 and of the twenty-first 25, and the rules were changed for what was refused or wrong in it:

${table(
  "| set, first asked | all | right | rightly refused | refused | wrong | above .9 | of these wrong |",
  "|---|--:|--:|--:|--:|--:|--:|--:|",
  first,
)}

One of the eight wrong ones of the fourteenth was the year of a gold answer that was written as a date. By today's
rules; the interval is that of right answers and right refusals together. The wrong answers of all sets were read once,
for their causes, when the seventh was added (of the sixth, which then had 69 right and 7 wrong, too).
\`node dist/bench/quality/run-quality.js questions\` renews this part.

${table("| questions | all | right | rightly refused | refused | wrong | right, 95 % |", "|---|--:|--:|--:|--:|--:|--:|", halves)}

Of the halves that were never looked at, by confidence:

${byConfidence(heldBack)}

${fitPage()}
`;
}
