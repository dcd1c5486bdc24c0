/**
 * Whether an English text is positive or negative, by the lexicon and rules of VADER (Hutto and Gilbert, ICWSM 2014:
 * negation, degree words, capitals, marks, emoticons), sentence by sentence. The package is loaded with the first text.
 */
import type { Turns } from "../protocol/turns.js";
import { forVader } from "./negations.js";
import { sentencesOf } from "./sentences.js";

export interface Sentiment {
  readonly sentiment: "positive" | "negative" | "neutral";
  /** Of the label, 0 to 1. */
  readonly confidence: number;
  /** Sum to 1. */
  readonly scores: { readonly positive: number; readonly negative: number; readonly neutral: number };
}

/** Of a text with more, as many evenly spread ones are judged. */
const SENTENCES_MAX = 2000;
/** VADER's own bounds of neutral texts. */
const NEUTRAL_COMPOUND = 0.05;

export async function sentimentOf(text: string, turns: Turns): Promise<Sentiment> {
  const { default: vader } = await import("vader-sentiment");
  let sum = 0;
  let weights = 0;
  const sentences = await sentencesOf(text, turns);
  const step = Math.max(1, sentences.length / SENTENCES_MAX);
  for (let i = 0; i < sentences.length; i += step) {
    const sentence = sentences[Math.floor(i)]!;
    const { compound } = vader.SentimentIntensityAnalyzer.polarity_scores(forVader(sentence.text));
    // Sentences with an opinion count more than neutral ones.
    const weight = 0.2 + Math.abs(compound);
    sum += weight * compound;
    weights += weight;
    if (turns.shouldYield()) await turns.yieldTurn();
  }
  return labelled(weights === 0 ? 0 : sum / weights);
}

/** −1 is as negative as can be, 1 as positive. */
function labelled(compound: number): Sentiment {
  const strength = Math.abs(compound);
  const leaning = round(Math.min(1, 0.5 + strength / 2) * Math.min(1, strength / NEUTRAL_COMPOUND / 2));
  const neutral = round(1 - leaning);
  const [positive, negative] = compound >= 0 ? [leaning, 0] : [0, leaning];
  const scores = { positive, negative, neutral };
  if (strength < NEUTRAL_COMPOUND) return { sentiment: "neutral", confidence: neutral, scores };
  return { sentiment: compound > 0 ? "positive" : "negative", confidence: Math.max(leaning, 0.5), scores };
}

const round = (value: number) => Math.round(value * 10_000) / 10_000;
