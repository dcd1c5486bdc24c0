/**
 * Which of some categories a text is about, without examples: the categories' names and the text's sentences are
 * embedded, and the likeness of the two decides. Zero-shot classification by embeddings (Veeranna et al., ESANN 2016).
 */
import type { Turns } from "../protocol/turns.js";
import { cosine, type EmbedTexts } from "./likeness.js";
import { sentencesOf } from "./sentences.js";

export interface Classification {
  readonly category: string;
  /** 0 to 1; of one label they sum to 1. */
  readonly confidence: number;
}

/** Sharpens differences of cosines into shares. */
const TEMPERATURE = 0.06;
/** A cosine that is as likely as not, for several labels, and how fast that changes. */
const EVEN_COSINE = 0.2;
const SLOPE = 0.06;
/** Sentences that are looked at one by one, beside the whole. */
const SENTENCES_MAX = 50;

/** What texts may be about when nobody says. */
export const TOPICS: readonly string[] = [
  "business",
  "politics",
  "sports",
  "science",
  "technology",
  "health",
  "entertainment",
  "travel",
  "food",
  "education",
];

/** Surest first. */
export async function classify(
  text: string,
  categories: readonly string[],
  isMultiLabel: boolean,
  embed: EmbedTexts,
  turns: Turns,
): Promise<Classification[]> {
  const sentences = (await sentencesOf(text, turns)).slice(0, SENTENCES_MAX);
  const texts = [text, ...(sentences.length > 1 ? sentences.map((sentence) => sentence.text) : [])];
  const vectors = await embed([...categories.flatMap((name) => [name, `This text is about ${name}.`]), ...texts]);
  const ofTexts = vectors.slice(2 * categories.length);
  const likeness = categories.map((_, i) => {
    const near = (vector: Float32Array) => (cosine(vectors[2 * i]!, vector) + cosine(vectors[2 * i + 1]!, vector)) / 2;
    const [whole, ...parts] = ofTexts.map(near);
    const best = Math.max(whole!, ...parts);
    return (whole! + best) / 2;
  });
  const confidences = isMultiLabel ? likeness.map(even) : shares(likeness);
  return categories
    .map((category, i) => ({ category, confidence: Math.round(confidences[i]! * 10_000) / 10_000 }))
    .sort((a, b) => b.confidence - a.confidence);
}

function even(likeness: number): number {
  return 1 / (1 + Math.exp((EVEN_COSINE - likeness) / SLOPE));
}

function shares(likeness: readonly number[]): number[] {
  const highest = Math.max(...likeness);
  const weights = likeness.map((value) => Math.exp((value - highest) / TEMPERATURE));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}
