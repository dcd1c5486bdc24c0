/**
 * Writes `src/ai/nl2sql/confidence-weights.ts`, and says how good the weights are for schemas that they were not fitted
 * on. Run by `node dist/bench/quality/fit-confidence.js`.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { TRAITS } from "../../src/ai/nl2sql/traits.js";
import { ROOT } from "../servers.js";
import { type Example, examples, fit, heldOut, likely, sureFrom, WRONG_MAX } from "./confidence-fit.js";

const PERCENT = Number((WRONG_MAX * 100).toPrecision(2));
const WEIGHTS = join(ROOT, "src/ai/nl2sql/confidence-weights.ts");

function report(name: string, some: readonly { readonly p: number; readonly example: Example }[]): void {
  const clipped = (p: number) => Math.min(0.999, Math.max(0.001, p));
  const loss =
    some.reduce((sum, { p, example }) => sum - Math.log(clipped(example.right === 1 ? p : 1 - p)), 0) / some.length;
  const brier = some.reduce((sum, { p, example }) => sum + (p - example.right) ** 2, 0) / some.length;
  console.log(`${name}: log-loss ${loss.toFixed(4)}, Brier ${brier.toFixed(4)}`);
  for (const [low, high] of [
    [0, 0.5],
    [0.5, 0.6],
    [0.6, 0.7],
    [0.7, 0.8],
    [0.8, 0.9],
    [0.9, 0.95],
    [0.95, 1.01],
  ] as const) {
    const these = some.filter(({ p }) => p > low && p <= high);
    console.log(
      `  ${low} to ${Math.min(1, high)}: ${these.length} answers, ${these.filter(({ example }) => example.right === 0).length} wrong`,
    );
  }
}

const all = examples();
console.log(
  `${all.length} answers over ${new Set(all.map(({ schema }) => schema)).size} schemas, ${all.filter(({ right }) => right === 0).length} wrong`,
);
report(
  "the rules' own",
  all.map((example) => ({ p: example.certainty, example })),
);
const apart = heldOut(all);
report("held out by schema", apart);
const sure = sureFrom(apart);
console.log(`sure from ${sure}`);
const weights = fit(all);
report(
  "fitted on all",
  all.map((example) => ({ p: likely(weights, example), example })),
);
const lines = TRAITS.map((trait, i) => `  ${trait}: ${Number(weights.weights[i]!.toPrecision(4))},`);
for (const line of lines) console.log(line);
writeFileSync(
  WEIGHTS,
  `/** Written by bench/quality/fit-confidence.ts: how each trait of an answer speaks for it. Do not edit. */
import type { Trait } from "./traits.js";

export const CONSTANT = ${Number(weights.constant.toPrecision(4))};

/** Of other schemas than it was fitted on, at most ${PERCENT} % of the answers from here up were wrong. */
export const SURE_FROM = ${sure};

export const WEIGHTS: Readonly<Record<Trait, number>> = {
${lines.join("\n")}
};
`,
);
