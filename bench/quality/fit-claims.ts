/**
 * Writes `src/ai/nli/claim-weights.ts`: how a model's outputs and what two texts share are weighed. Says what each
 * choice costs, on pairs that its weights were not fitted on (`docs/decisions/claims-by-fitted-weights.md`).
 * Run by `node dist/bench/quality/fit-claims.js`, with the training data at hand (`QUALITY_DATA`).
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_RULES } from "../../src/ai/nli/claim-requests.js";
import { TRAITS, WORD_TRAITS } from "../../src/ai/nli/pair-traits.js";
import { ROOT } from "../servers.js";
import { CLASSES, type ClaimExample, type Class, claimExamples } from "./claim-examples.js";
import { type Fitted, fitSoftmax, probabilities } from "./claim-fit.js";
import { numberOf } from "./public-sets.js";

const WEIGHTS = join(ROOT, "src/ai/nli/claim-weights.ts");
const FOLDS = 5;
/** How much a pair counts. Of SNLI there are many, and those of conj, MED and HELP are made to a pattern. */
const COUNTS: Readonly<Record<string, number>> = { litl: 0.5, conj: 0.3, help: 0.3, med: 0.3, breaking: 0.3, own: 3 };
/** Neutral and unrelated pairs outnumber entailments, more than claims do. */
const ENTAILMENT_COUNT = 1.6;
/** As much as these count, a pair of unrelated texts is tried with. */
const UNRELATED_COUNTS = [0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1];
/** Of each kind of unrelated pairs at most that share may be called contradictions. */
const UNRELATED_MAX = 0.02;
/** Where the texts are known to be about the same: as much as these count, a pair about a picture is tried with. */
const PICTURE_COUNTS = [1, 2, 3];
/** Of other facts about one thing at most that share may then be called contradictions. */
const FACTS_MAX = 0.02;
const { contradictionThreshold, entailmentThreshold } = DEFAULT_RULES;

const isUnrelated = ({ class: own }: ClaimExample) => own === "unrelated";
/** Facts about a thing are of one fold. */
const foldOf = ({ premise, kind }: ClaimExample) =>
  Math.floor(numberOf(kind.endsWith("facts") ? premise.split(" ").slice(0, 2).join(" ") : premise) / 50) % FOLDS;
const countOf = (one: ClaimExample, unrelatedCount: number) =>
  isUnrelated(one) ? unrelatedCount : (COUNTS[one.kind] ?? 1) * (one.class === "entailment" ? ENTAILMENT_COUNT : 1);

/** What words do not decide is weighed. */
const weighed = (all: readonly ClaimExample[]) => all.filter(({ told }) => told === null);

function fitJudged(all: readonly ClaimExample[], unrelatedCount: number): Fitted {
  return fitSoftmax(
    weighed(all).map((one) => ({
      traits: one.traits,
      class: CLASSES.indexOf(one.class),
      weight: countOf(one, unrelatedCount),
    })),
    CLASSES.length,
  );
}

const PICTURES = ["snli-dev", "cad"];
const SAME_CLASSES: readonly Class[] = CLASSES.filter((name) => name !== "unrelated");
/** What is known to be about the same: captions of two pictures are not. */
const aboutTheSame = (all: readonly ClaimExample[]) =>
  all.filter((one) => !isUnrelated(one) && one.kind !== "captions of one topic");

function fitSameSubject(all: readonly ClaimExample[], pictureCount: number): Fitted {
  return fitSoftmax(
    weighed(aboutTheSame(all)).map((one) => ({
      traits: one.traits,
      class: SAME_CLASSES.indexOf(one.class),
      weight: countOf(one, 0) * (PICTURES.includes(one.kind) ? pictureCount : 1),
    })),
    SAME_CLASSES.length,
  );
}

/** As weighScores answers, with the usual thresholds. */
function answerOf(one: ClaimExample, fitted: Fitted): Class {
  if (one.told !== null) return one.told;
  const [contradiction, entailment] = probabilities(fitted, one.traits);
  if (!one.isMeasured && contradiction! >= contradictionThreshold) return "contradiction";
  return !one.isOpen && entailment! >= entailmentThreshold ? "entailment" : "neutral";
}

type Answered = { readonly one: ClaimExample; readonly answer: Class };

/** Each fold by weights of the others. */
const heldOut = (all: readonly ClaimExample[], fit: (some: readonly ClaimExample[]) => Fitted): Answered[] =>
  Array.from({ length: FOLDS }, (_, fold) => {
    const fitted = fit(all.filter((one) => foldOf(one) !== fold));
    return all.filter((one) => foldOf(one) === fold).map((one) => ({ one, answer: answerOf(one, fitted) }));
  }).flat();

const share = <T>(some: readonly T[], fits: (one: T) => boolean) => some.filter(fits).length / some.length;
const figure = (value: number) => value.toFixed(3).replace(/^0/, "");
const isRight = ({ one, answer }: Answered) => answer === (isUnrelated(one) ? "neutral" : one.class);
const saysAgainst = ({ answer }: Answered) => answer === "contradiction";

const UNRELATED_KINDS = [
  "unrelated claims about pictures",
  "unrelated captions",
  "unrelated texts",
  "unrelated articles",
  "unrelated facts",
  "captions of one topic",
  "facts about the same",
  "other facts",
];
const FACT_KINDS = ["facts about the same", "other facts"];

const calledAgainst = (answered: readonly Answered[], fits: (one: ClaimExample) => boolean) =>
  share(
    answered.filter(({ one }) => fits(one)),
    saysAgainst,
  );

/** A line of a table: what a count keeps, and what it calls contradictions. */
function line(count: number, answered: readonly Answered[], kinds: readonly string[]): string {
  const ofSnli = answered.filter(({ one }) => one.kind === "snli-dev");
  const ofClass = (own: Class) => ofSnli.filter(({ one }) => one.class === own);
  const figures = [
    share(ofSnli, isRight),
    share(ofClass("contradiction"), isRight),
    share(ofClass("entailment"), isRight),
    ...kinds.map((kind) => calledAgainst(answered, (one) => one.kind === kind)),
    calledAgainst(answered, (one) => !isUnrelated(one) && one.class !== "contradiction"),
  ];
  return `| ${[String(count), ...figures.map(figure)].join(" | ")} |`;
}

const headOf = (kinds: readonly string[]) =>
  `| counts | SNLI dev right | contradictions kept | entailments kept | ${kinds.join(" | ")} | all that are none |`;

/** By source. */
function details(answered: readonly Answered[]): string {
  return [...new Set(answered.map(({ one }) => one.kind))]
    .map((kind) => {
      const some = answered.filter(({ one }) => one.kind === kind);
      const wrong = some.filter(({ one }) => one.class !== "contradiction");
      return `| ${kind} | ${some.length} | ${figure(share(some, isRight))} | ${figure(share(wrong, saysAgainst))} |`;
    })
    .join("\n");
}

/** Whether two texts are about different things, by their words alone: for models that are not weighed. */
function fitGate(all: readonly ClaimExample[]): Fitted {
  const wanted = WORD_TRAITS.map((trait) => TRAITS.indexOf(trait));
  const apart = weighed(all).filter(isUnrelated).length;
  const count = weighed(all).length;
  return fitSoftmax(
    weighed(all).map((one) => ({
      traits: wanted.map((at) => one.traits[at]!),
      class: isUnrelated(one) ? 0 : 1,
      // Both alike, whatever there is more of.
      weight: isUnrelated(one) ? count / apart / 2 : count / (count - apart) / 2,
    })),
    2,
  );
}

function reportGate(all: readonly ClaimExample[]): void {
  const wanted = WORD_TRAITS.map((trait) => TRAITS.indexOf(trait));
  const gated = Array.from({ length: FOLDS }, (_, fold) => {
    const fitted = fitGate(all.filter((one) => foldOf(one) !== fold));
    return all
      .filter((one) => foldOf(one) === fold)
      .map((one) => ({
        one,
        p: probabilities(
          fitted,
          wanted.map((at) => one.traits[at]!),
        )[0]!,
      }));
  }).flat();
  const isApart = ({ p, one }: (typeof gated)[number]) => one.told === null && p >= 0.5;
  for (const [name, some] of [
    ["unrelated", gated.filter(({ one }) => isUnrelated(one))],
    ["contradictions", gated.filter(({ one }) => one.class === "contradiction")],
    ["SNLI dev's contradictions", gated.filter(({ one }) => one.class === "contradiction" && one.kind === "snli-dev")],
    ["entailments", gated.filter(({ one }) => one.class === "entailment")],
  ] as const)
    console.log(`gate by words: of ${some.length} ${name} it takes ${figure(share(some, isApart))} for unrelated`);
}

const numberText = (value: number) => String(Number(value.toPrecision(4)));
const weightsText = (constant: number, weights: readonly number[], names: readonly string[], indent: string) =>
  `{\n${indent}  constant: ${numberText(constant)},\n${indent}  weights: {\n${names
    .map((name, i) => `${indent}    ${name}: ${numberText(weights[i]!)},\n`)
    .join("")}${indent}  },\n${indent}}`;

const answersText = ({ constants, weights }: Fitted, classes: readonly string[]) =>
  `{\n${classes
    .slice(0, -1)
    .map((name, a) => `  ${name}: ${weightsText(constants[a]!, weights[a]!, TRAITS, "  ")},\n`)
    .join("")}}`;

const all = await claimExamples();
console.log(`${all.length} pairs, of ${weighed(all).length} of which the words alone decide nothing`);

/** The least count with which no kind of unrelated pairs is called contradictions too often. */
function chooseUnrelatedCount(): number {
  console.log(headOf(UNRELATED_KINDS));
  let chosen: number | null = null;
  for (const count of UNRELATED_COUNTS) {
    const answered = heldOut(all, (some) => fitJudged(some, count));
    console.log(line(count, answered, UNRELATED_KINDS));
    const worst = Math.max(
      ...UNRELATED_KINDS.filter((kind) => kind.startsWith("unrelated")).map((kind) =>
        calledAgainst(answered, (one) => one.kind === kind),
      ),
    );
    if (worst > UNRELATED_MAX || chosen !== null) continue;
    chosen = count;
    console.log(details(answered));
  }
  if (chosen === null) throw new Error(`No count calls at most ${UNRELATED_MAX} of unrelated pairs contradictions.`);
  return chosen;
}

/** The count with most of SNLI dev right, of those that call few other facts contradictions. */
function choosePictureCount(): number {
  console.log(headOf(FACT_KINDS));
  let [chosen, most] = [0, 0];
  for (const count of PICTURE_COUNTS) {
    const answered = heldOut(aboutTheSame(all), (some) => fitSameSubject(some, count));
    console.log(line(count, answered, FACT_KINDS));
    const right = share(
      answered.filter(({ one }) => one.kind === "snli-dev"),
      isRight,
    );
    if (calledAgainst(answered, ({ kind }) => FACT_KINDS.includes(kind)) > FACTS_MAX || right <= most) continue;
    [chosen, most] = [count, right];
  }
  if (chosen === 0) throw new Error(`No count calls at most ${FACTS_MAX} of other facts contradictions.`);
  return chosen;
}

const unrelatedCount = chooseUnrelatedCount();
const pictureCount = choosePictureCount();
console.log(`chosen: ${unrelatedCount}, ${pictureCount}`);
reportGate(all);
const judged = fitJudged(all, unrelatedCount);
const same = fitSameSubject(all, pictureCount);
const gate = fitGate(all);
writeFileSync(
  WEIGHTS,
  `/** Written by bench/quality/fit-claims.ts: how a trait of a pair speaks for an answer beside neutral. Do not edit. */
import type { Trait } from "./pair-traits.js";

export interface Weights {
  readonly constant: number;
  readonly weights: Readonly<Partial<Record<Trait, number>>>;
}

/** For models whose manifest has judged_by_words. */
export const JUDGED = ${answersText(judged, CLASSES)} satisfies Readonly<Record<string, Weights>>;

/** For the same models, if it is known that the texts are about the same thing or scene. */
export const SAME_SUBJECT = ${answersText(same, SAME_CLASSES)} satisfies Readonly<Record<string, Weights>>;

/** That two texts are about different things, by their words alone: for other models. */
export const GATE: Weights = ${weightsText(gate.constants[0]!, gate.weights[0]!, WORD_TRAITS, "")};
`,
);
