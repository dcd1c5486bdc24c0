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
const UNRELATED_COUNTS = [0.05, 0.07, 0.1, 0.2, 0.5, 1];
/** Of unrelated pairs at most that share may be called contradictions. */
const UNRELATED_MAX = 0.02;
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

/** As weighScores answers, with the usual thresholds. */
function answerOf(one: ClaimExample, fitted: Fitted): Class {
  if (one.told !== null) return one.told;
  const [contradiction, entailment] = probabilities(fitted, one.traits);
  if (!one.isMeasured && contradiction! >= contradictionThreshold) return "contradiction";
  return !one.isOpen && entailment! >= entailmentThreshold ? "entailment" : "neutral";
}

type Answered = { readonly one: ClaimExample; readonly answer: Class };

/** Each fold by weights of the others. */
const heldOut = (all: readonly ClaimExample[], unrelatedCount: number): Answered[] =>
  Array.from({ length: FOLDS }, (_, fold) => {
    const fitted = fitJudged(
      all.filter((one) => foldOf(one) !== fold),
      unrelatedCount,
    );
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

/** A line of the table: what a count keeps, and what it calls contradictions. */
function line(count: number, answered: readonly Answered[]): string {
  const ofSnli = answered.filter(({ one }) => one.kind === "snli-dev");
  const ofClass = (own: Class) => ofSnli.filter(({ one }) => one.class === own);
  const others = answered.filter(({ one }) => !isUnrelated(one) && one.class !== "contradiction");
  const figures = [
    share(ofSnli, isRight),
    share(ofClass("contradiction"), isRight),
    share(ofClass("entailment"), isRight),
    share(
      answered.filter(({ one }) => isUnrelated(one)),
      saysAgainst,
    ),
    ...UNRELATED_KINDS.map((kind) =>
      share(
        answered.filter(({ one }) => one.kind === kind),
        saysAgainst,
      ),
    ),
    share(others, saysAgainst),
  ];
  return `| ${[String(count), ...figures.map(figure)].join(" | ")} |`;
}

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

const all = await claimExamples();
console.log(`${all.length} pairs, of ${weighed(all).length} of which the words alone decide nothing`);
let chosen: number | null = null;
console.log(
  `| counts | SNLI dev right | contradictions kept | entailments kept | unrelated called contradictions | ${UNRELATED_KINDS.join(" | ")} | others that are none |`,
);
for (const count of UNRELATED_COUNTS) {
  const answered = heldOut(all, count);
  console.log(line(count, answered));
  const called = share(
    answered.filter(({ one }) => isUnrelated(one)),
    saysAgainst,
  );
  if (called > UNRELATED_MAX || chosen !== null) continue;
  chosen = count;
  console.log(details(answered));
}
if (chosen === null) throw new Error(`No count calls at most ${UNRELATED_MAX} of unrelated pairs contradictions.`);
console.log(`chosen: ${chosen}`);
reportGate(all);
const judged = fitJudged(all, chosen);
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
export const JUDGED = {
${CLASSES.slice(0, -1)
  .map((name, a) => `  ${name}: ${weightsText(judged.constants[a]!, judged.weights[a]!, TRAITS, "  ")},\n`)
  .join("")}} satisfies Readonly<Record<string, Weights>>;

/** That two texts are about different things, by their words alone: for other models. */
export const GATE: Weights = ${weightsText(gate.constants[0]!, gate.weights[0]!, WORD_TRAITS, "")};
`,
);
