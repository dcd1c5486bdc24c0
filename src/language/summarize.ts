/**
 * Summarizes a text by its own sentences: TextRank (Mihalcea and Tarau, EMNLP 2004), with the cosine of embeddings as
 * the similarity of sentences. Sentences that repeat a chosen one are put back (maximal marginal relevance, Carbonell
 * and Goldstein 1998). Of Markdown the prose is read (plain-markdown.ts).
 */
import type { Turns } from "../protocol/turns.js";
import { cosine, type EmbedTexts } from "./likeness.js";
import { plainMarkdown } from "./plain-markdown.js";
import { type Sentence, sentencesOf } from "./sentences.js";

/** Sentences that are compared; those of a longer text are the first of each of as many parts. */
const SENTENCES_MAX = 400;
const DAMPING = 0.85;
const ROUNDS = 30;
/** How much likeness to what is chosen counts against a sentence. */
const REPETITION = 0.4;
/** The beginning of a text tells what it is about. */
const LEAD_BONUS = 0.15;

/**
 * At most the given number of characters: sentences in their order; if none is that short, the beginning of the best
 * one.
 */
export async function summarize(text: string, charactersMax: number, embed: EmbedTexts, turns: Turns): Promise<string> {
  const all = await sentencesOf(plainMarkdown(text), turns);
  const whole = all.map((sentence) => sentence.text).join(" ");
  if (whole.length <= charactersMax) return whole;
  const step = Math.max(1, all.length / SENTENCES_MAX);
  const sentences = Array.from({ length: Math.min(all.length, SENTENCES_MAX) }, (_, i) => all[Math.floor(i * step)]!);
  const vectors = await embed(sentences.map((sentence) => sentence.text));
  const scores = await textRank(vectors, turns);
  const leads = scores.map((score, i) => score * (1 + (i === 0 ? LEAD_BONUS : 0)));
  const chosen = await choose(sentences, vectors, leads, charactersMax, turns);
  if (chosen.length > 0) return chosen.map((i) => sentences[i]!.text).join(" ");
  const best = leads.indexOf(Math.max(...leads));
  return cut(sentences[best]!.text, charactersMax);
}

/** The stationary weights of a random walk from sentence to like sentence; the highest is 1. */
async function textRank(vectors: readonly Float32Array[], turns: Turns): Promise<number[]> {
  const count = vectors.length;
  const likeness: Float64Array[] = [];
  for (let i = 0; i < count; i++) {
    const row = new Float64Array(count);
    for (let j = 0; j < count; j++) row[j] = i === j ? 0 : Math.max(0, cosine(vectors[i]!, vectors[j]!));
    const sum = row.reduce((total, value) => total + value, 0);
    if (sum > 0) for (let j = 0; j < count; j++) row[j]! /= sum;
    likeness.push(row);
    if (turns.shouldYield()) await turns.yieldTurn();
  }
  let weights = new Array<number>(count).fill(1 / count);
  for (let round = 0; round < ROUNDS; round++) {
    const next = new Array<number>(count).fill((1 - DAMPING) / count);
    for (let i = 0; i < count; i++)
      for (let j = 0; j < count; j++) next[j]! += DAMPING * weights[i]! * likeness[i]![j]!;
    weights = next;
    if (turns.shouldYield()) await turns.yieldTurn();
  }
  const highest = Math.max(...weights);
  return weights.map((weight) => weight / highest);
}

/** Numbers of sentences, in their order. */
async function choose(
  sentences: readonly Sentence[],
  vectors: readonly Float32Array[],
  scores: readonly number[],
  charactersMax: number,
  turns: Turns,
): Promise<number[]> {
  const chosen: number[] = [];
  /** For each sentence, its similarity to the most similar chosen one. */
  const repeated = new Float64Array(sentences.length);
  const isChosen = new Array<boolean>(sentences.length).fill(false);
  let left = charactersMax + 1;
  for (;;) {
    let best = -1;
    let bestScore = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < sentences.length; i++) {
      if (isChosen[i] || sentences[i]!.text.length + 1 > left) continue;
      const score = scores[i]! - REPETITION * repeated[i]!;
      if (score > bestScore) [best, bestScore] = [i, score];
    }
    if (best < 0) return chosen.sort((a, b) => a - b);
    chosen.push(best);
    isChosen[best] = true;
    for (let i = 0; i < repeated.length; i++) repeated[i] = Math.max(repeated[i]!, cosine(vectors[i]!, vectors[best]!));
    if (turns.shouldYield()) await turns.yieldTurn();
    left -= sentences[best]!.text.length + 1;
  }
}

/** After a word, and not within a character. */
export function cut(text: string, charactersMax: number): string {
  const room = text.slice(0, Math.max(0, charactersMax - 1));
  const space = room.lastIndexOf(" ");
  const kept = (space > room.length / 2 ? room.slice(0, space) : room).replace(/[\uD800-\uDBFF]$/, "");
  return charactersMax < 1 ? "" : `${kept.replace(/[\s,;:.]+$/, "")}…`;
}
