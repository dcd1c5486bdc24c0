/**
 * Judges answers by the passages that they rest on: each sentence against each passage, by the claim model. A passage
 * supports a sentence, contradicts it, or says nothing of it; several passages are not put together. Holds no state.
 */
import type { Request } from "../../actor/request.js";
import type { ClassifiedPair } from "../../ai/nli/claim-verifier.js";
import { DbError } from "../../protocol/errors.js";
import { EVALUATION_JUDGEMENTS_MAX, NLI_PAIRS_MAX } from "../../protocol/limits.js";
import { type AnswerSentence, answerSentences } from "./answer-sentences.js";

export interface AnswerItem {
  readonly question: string | null;
  readonly answer: string;
  readonly passages: readonly string[];
}

export interface JudgedSentence extends AnswerSentence {
  /** By passage. */
  readonly supportedBy: readonly boolean[];
  readonly isSupported: boolean;
  readonly isContradicted: boolean;
  /** The best of all passages. */
  readonly entailment: number;
  readonly contradiction: number;
  /** The piece of a passage that contradicts it; null: none does. */
  readonly against: string | null;
}

export interface Judged {
  /** By item. */
  readonly items: readonly (readonly JudgedSentence[])[];
  /** The claim model; null: there was no sentence. */
  readonly model: string | null;
}

/** `field`: where the items come from. Throws what a classification of pairs throws, and payload_too_large. */
export async function judgeAnswers(
  request: Request,
  items: readonly AnswerItem[],
  {
    model = null,
    threshold,
    field,
  }: { readonly model?: string | null; readonly threshold: number; readonly field: string },
): Promise<Judged> {
  const { claims } = request.partition;
  claims.requireUsable(model ?? claims.defaultModel);
  const sentences: AnswerSentence[][] = [];
  let judgements = 0;
  for (const { answer, passages } of items) {
    const own = await answerSentences(answer, request);
    sentences.push(own);
    judgements += own.length * passages.length;
    if (judgements <= EVALUATION_JUDGEMENTS_MAX) continue;
    const why = `${field}: sentences times passages are more than ${EVALUATION_JUDGEMENTS_MAX} in all. Send fewer answers or passages at a time.`;
    throw new DbError("payload_too_large", why, { field });
  }
  const judged: JudgedSentence[][] = [];
  let used: string | null = null;
  for (const [i, { passages }] of items.entries()) {
    const pairs = sentences[i]!.flatMap(({ text }) => passages.map((premise) => ({ premise, hypothesis: text })));
    const scores: ClassifiedPair[] = [];
    for (let at = 0; at < pairs.length; at += NLI_PAIRS_MAX) {
      const asker = { user: request.modelUser, signal: request.signal() };
      const answered = await claims.classify({ model, pairs: pairs.slice(at, at + NLI_PAIRS_MAX) }, asker);
      scores.push(...answered.scores);
      used = answered.model;
      await request.yieldTurn();
    }
    judged.push(
      sentences[i]!.map((sentence, n) =>
        judgementOf(sentence, scores.slice(n * passages.length, (n + 1) * passages.length), threshold),
      ),
    );
  }
  return { items: judged, model: used };
}

function judgementOf(sentence: AnswerSentence, scores: readonly ClassifiedPair[], threshold: number): JudgedSentence {
  const supportedBy = scores.map(({ entailment }) => entailment >= threshold);
  const isSupported = supportedBy.includes(true);
  const [worst] = scores.toSorted((a, b) => b.contradiction - a.contradiction);
  const isContradicted = !isSupported && worst !== undefined && worst.contradiction >= threshold;
  return {
    ...sentence,
    supportedBy,
    isSupported,
    isContradicted,
    entailment: Math.max(0, ...scores.map(({ entailment }) => entailment)),
    contradiction: worst?.contradiction ?? 0,
    against: isContradicted ? (worst.evidence?.text ?? null) : null,
  };
}

/** Of one answer; null: it has no sentence, or none that cites. */
export interface AnswerMeasures {
  /** Shares of its sentences. */
  readonly faithfulness: number | null;
  readonly contradicted: number | null;
  /** The share of its citations whose passage supports the sentence. */
  readonly citation_precision: number | null;
  /** The share of its sentences that a passage supports which they cite. */
  readonly citation_recall: number | null;
}

export const ANSWER_METRICS = ["faithfulness", "contradicted", "citation_precision", "citation_recall"] as const;

export function measuresOfAnswer(sentences: readonly JudgedSentence[]): AnswerMeasures {
  const share = (count: number) => (sentences.length === 0 ? null : count / sentences.length);
  const count = (is: (sentence: JudgedSentence) => boolean) => sentences.filter(is).length;
  const citations = sentences.flatMap(({ cites, supportedBy }) =>
    cites.map((number) => supportedBy[number - 1] === true),
  );
  const right = citations.filter(Boolean).length;
  const citesRightly = ({ cites, supportedBy }: JudgedSentence) =>
    cites.some((number) => supportedBy[number - 1] === true);
  return {
    faithfulness: share(count(({ isSupported }) => isSupported)),
    contradicted: share(count(({ isContradicted }) => isContradicted)),
    citation_precision: citations.length === 0 ? null : right / citations.length,
    citation_recall: citations.length === 0 ? null : share(count(citesRightly)),
  };
}
