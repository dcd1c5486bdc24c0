/**
 * Answers a question with a span of a text, without a model that was trained for it. Sentences that share words with
 * the question, or whose embeddings are similar to it, are searched for a span of the kind that is asked for (who: a
 * person, when: a date, how many: a number …). The ranking gives way to others; spans are found in a task thread
 * (`answer-span.ts`).
 */
import type { Turns } from "../protocol/turns.js";
import type { CandidateSentence, Span } from "./answer-span.js";
import { cosine, type EmbedTexts } from "./likeness.js";
import { stemsOf } from "./question-stems.js";
import { sentencesOf } from "./sentences.js";

export interface TextAnswer {
  /** "" where the text has no answer. */
  readonly answer: string;
  /** 0 to 1. */
  readonly score: number;
  /** UTF-16 code units, as in `context.slice(start, end)`. */
  readonly start: number;
  readonly end: number;
}

export type FindSpan = (question: string, candidates: readonly CandidateSentence[]) => Promise<Span | null>;

const CANDIDATES = 3;
/** A sentence with a lower score does not concern the question. */
const SCORE_MIN = 0.22;
/** Sentences that are embedded: those that share most words. */
const EMBEDDED_MAX = 100;

export async function answerQuestion(
  question: string,
  context: string,
  embed: EmbedTexts,
  findSpan: FindSpan,
  turns: Turns,
): Promise<TextAnswer> {
  const none = { answer: "", score: 0, start: 0, end: 0 };
  const sentences = await sentencesOf(context, turns);
  const asked = stemsOf(question);
  const stems: Set<string>[] = [];
  const frequency = new Map<string, number>();
  for (const { text } of sentences) {
    const own = stemsOf(text);
    for (const stem of own) frequency.set(stem, (frequency.get(stem) ?? 0) + 1);
    stems.push(own);
    if (turns.shouldYield()) await turns.yieldTurn();
  }
  // Words of few sentences tell more (inverse document frequency).
  const weight = (stem: string) => Math.log(1 + sentences.length / (frequency.get(stem) ?? 0.5));
  const total = [...asked].reduce((sum, stem) => sum + weight(stem), 0) || 1;
  const shared = stems.map(
    (own) => [...asked].filter((stem) => own.has(stem)).reduce((sum, s) => sum + weight(s), 0) / total,
  );
  const order = sentences
    .map((_, i) => i)
    .sort((a, b) => shared[b]! - shared[a]! || a - b)
    .slice(0, EMBEDDED_MAX);
  const [vector, ...vectors] = await embed([question, ...order.map((i) => sentences[i]!.text)]);
  const ranked = order
    .map((i, n) => ({ i, score: 0.6 * shared[i]! + 0.4 * Math.max(0, cosine(vector!, vectors[n]!)) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, CANDIDATES)
    .filter(({ score }) => score >= SCORE_MIN);
  if (ranked.length === 0) return none;
  const span = await findSpan(
    question,
    ranked.map(({ i, score }) => ({ text: sentences[i]!.text, start: sentences[i]!.start, score })),
  );
  if (span === null) return none;
  const { start, end, score } = span;
  return { answer: context.slice(start, end), score: Math.round(score * 10_000) / 10_000, start, end };
}
