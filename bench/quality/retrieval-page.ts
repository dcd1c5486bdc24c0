/** The parts of docs/reference/quality.md about searches and about likeness (STS-B). */
import { join } from "node:path";
import { findBundles } from "../../src/ai/bundle.js";
import { type Interval, intervalOfMean } from "../../src/features/evaluation/intervals.js";
import type { TestServer } from "../../test/e2e/server.js";
import { ROOT } from "../servers.js";
import { captionSet, type Found, glossSet, type ScoredPair, similarPairs } from "./public-sets.js";
import {
  DESCRIPTION_SETS,
  type DescriptionSet,
  descriptionSet,
  gains,
  searchBy,
  storeDescriptions,
} from "./retrieval.js";

const EMBEDDING = "tessera-embed-384";
const TEXTS_AT_ONCE = 100;
const MODES = [
  ["words", "text"],
  ["vectors", "vector"],
  ["both", null],
] as const;

const figure = (value: number) => value.toFixed(3).replace(/^0/, "");
const between = ([low, high]: Interval) => `${figure(low)} to ${figure(high)}`;

export async function retrievalPage(server: TestServer): Promise<string> {
  const own = DESCRIPTION_SETS.map((name) => [`${name}s`, { set: descriptionSet(name) }] as const);
  const sets: (readonly [string, Found<DescriptionSet>])[] = [
    ...own,
    ["glosses", glossSet()],
    ["captions", captionSet()],
  ];
  const lines: string[] = [];
  const skipped: string[] = [];
  for (const [name, found] of sets) {
    if ("missing" in found) skipped.push(`- Of ${name}: not measured here, for ${found.missing}.`);
    else lines.push(...(await linesOf(server, name, found.set)));
  }
  const digest = findBundles(join(ROOT, "models")).find(({ manifest }) => manifest?.id === EMBEDDING)!.digest;
  return `## Retrieval

nDCG@10 with ${EMBEDDING} (\`${digest}\`): descriptions of packages and of metrics by questions; records by names and
numbers; the lemmas of WordNet's synsets by their glosses; captions by another caption of the same picture. No step of
the model's training saw the glosses and captions. What a machine has no data of is skipped (\`bench/quality/public-sets.ts\`).
\`node dist/bench/quality/run-quality.js retrieval\` renews this part.

| set | search by | nDCG@10 | 95 % |
|---|---|--:|--:|
${lines.join("\n")}

${[...skipped, await likeness(server)].join("\n")}
`;
}

async function linesOf(server: TestServer, name: string, set: DescriptionSet): Promise<string[]> {
  await storeDescriptions(server, name, set);
  const lines: string[] = [];
  for (const [kind, mode] of MODES) {
    const found = await gains(set, searchBy(server, name, mode));
    const mean = found.reduce((sum, gain) => sum + gain, 0) / found.length;
    const all = Object.keys(set.descriptions).length;
    lines.push(
      `| ${name}, ${found.length} questions, ${all} texts | ${kind} | ${figure(mean)} | ${between(intervalOfMean(found))} |`,
    );
  }
  return lines;
}

async function likeness(server: TestServer): Promise<string> {
  const found = similarPairs();
  if ("missing" in found) return `- STS-B test: not measured here, for ${found.missing}.`;
  const [first, second] = [await vectorsOf(server, found.set, 0), await vectorsOf(server, found.set, 1)];
  const cosines = first.map((vector, i) => vector.reduce((sum, value, d) => sum + value * second[i]![d]!, 0));
  const scores = found.set.map(([, , score]) => score);
  return `- STS-B test, ${scores.length} pairs: Spearman **${figure(correlation(ranks(cosines), ranks(scores)))}**.`;
}

async function vectorsOf(server: TestServer, pairs: readonly ScoredPair[], side: 0 | 1): Promise<number[][]> {
  const vectors: number[][] = [];
  for (let at = 0; at < pairs.length; at += TEXTS_AT_ONCE) {
    const texts = pairs.slice(at, at + TEXTS_AT_ONCE).map((pair) => pair[side]);
    const { body } = await server.expect(200, "POST", "/v1/ai/embeddings/batch", { texts, model: EMBEDDING });
    vectors.push(...body.data.embeddings);
  }
  return vectors;
}

/** Equal values share the mean of their ranks. */
function ranks(values: readonly number[]): number[] {
  const order = values.map((_, i) => i).sort((a, b) => values[a]! - values[b]!);
  const ranked = new Array<number>(values.length);
  for (let at = 0; at < order.length; ) {
    let end = at + 1;
    while (end < order.length && values[order[end]!] === values[order[at]!]) end++;
    for (let i = at; i < end; i++) ranked[order[i]!] = (at + end - 1) / 2;
    at = end;
  }
  return ranked;
}

function correlation(first: readonly number[], second: readonly number[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [a, b] = [mean(first), mean(second)];
  let [both, ofFirst, ofSecond] = [0, 0, 0];
  for (const [i, value] of first.entries()) {
    both += (value - a) * (second[i]! - b);
    ofFirst += (value - a) ** 2;
    ofSecond += (second[i]! - b) ** 2;
  }
  return both / Math.sqrt(ofFirst * ofSecond);
}
