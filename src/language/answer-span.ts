/**
 * The span of a sentence that answers a question, by the kind of answer that its words ask for. Run by task threads.
 */
import { type Chunk, chunksOf } from "../graph/extract/chunks.js";
import { taggedSentences } from "../graph/extract/tagged-text.js";
import { type EntityKind, entitiesOf } from "./entities.js";

export interface CandidateSentence {
  readonly text: string;
  /** Where it begins in the whole text, UTF-16 code units. */
  readonly start: number;
  /** How well it fits the question, 0 to 1. */
  readonly score: number;
}

export interface Span {
  readonly start: number;
  readonly end: number;
  readonly score: number;
}

interface Wanted {
  readonly kinds: readonly EntityKind[];
  /** Texts of that form are wanted as well. */
  readonly pattern: RegExp | null;
  /** Phrases of common nouns and other names will do. */
  readonly phrases: boolean;
}

const NUMBER_WORD =
  "(?:\\d[\\d,]*(?:\\.\\d+)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|hundred|thousand|million)";
const QUANTITY = new RegExp(
  String.raw`\b${NUMBER_WORD}(?:[\s-](?:${NUMBER_WORD}|hundred|thousand|million|billion))*(?:\s\p{L}+)?`,
  "giu",
);
const DURATION = new RegExp(
  String.raw`\b${NUMBER_WORD}(?:[\s-]${NUMBER_WORD})*[\s-](?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|decades?|centuries)\b`,
  "giu",
);
const REASON = /\b(?:because|since|due to|so that|in order to)\s[^.;]+/giu;
const TIME =
  /\b(?:\d{1,2}(?::\d{2})?\s?(?:am|pm|o'clock)|(?:1\d|20)\d{2}|noon|midnight|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|every \p{L}+|spring|summer|autumn|winter)\b/giu;

function wantedBy(question: string): Wanted {
  const text = question.toLowerCase();
  const wanted = (kinds: EntityKind[], pattern: RegExp | null = null, phrases = false): Wanted => ({
    kinds,
    pattern,
    phrases,
  });
  if (/\bwhy\b/.test(text)) return wanted([], REASON);
  if (/\bhow (long|often)\b/.test(text)) return wanted([], DURATION);
  if (/\bhow much\b|\bwhat (is|was) the (price|cost)\b/.test(text)) return wanted(["MONEY", "PERCENT"], QUANTITY);
  if (/\bwhat percent/.test(text)) return wanted(["PERCENT"]);
  if (/\bhow (many|far|old|tall|high|big|large|deep|heavy|fast)\b/.test(text)) return wanted(["PERCENT"], QUANTITY);
  if (/\bwho(m|se)?\b/.test(text)) return wanted(["PERSON", "ORGANIZATION", "MISC"], null, true);
  if (/\bwhere\b|\b(what|which) (city|country|place|town|state|river|continent)\b/.test(text)) {
    return wanted(["LOCATION", "ORGANIZATION", "MISC"], null, true);
  }
  if (/\bwhen\b|\b(what|which) (year|date|day|month|time)\b/.test(text)) return wanted(["DATE"], TIME);
  if (/\b(what|which) (company|organization|team|university|school|bank)\b/.test(text))
    return wanted(["ORGANIZATION", "MISC", "PERSON"]);
  return wanted([], null, true);
}

/** The best of all candidates; null: there are none. */
export function answerSpan(question: string, candidates: readonly CandidateSentence[]): Span | null {
  const wanted = wantedBy(question);
  const asked = new Set(question.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
  let best: Span | null = null;
  for (const sentence of candidates) {
    for (const span of spansIn(sentence, wanted, asked)) if (best === null || span.score > best.score) best = span;
  }
  if (best !== null || candidates.length === 0) return best;
  // Nothing of the kind: the sentence that fits best, whole.
  const [{ text, start, score }] = candidates as [CandidateSentence];
  return { start, end: start + text.length, score: score * 0.5 };
}

function spansIn(sentence: CandidateSentence, wanted: Wanted, asked: ReadonlySet<string>): Span[] {
  const { text, start: base, score } = sentence;
  const spans: Span[] = [];
  const add = (start: number, end: number, fit: number) => {
    const words =
      text
        .slice(start, end)
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu) ?? [];
    // What the question says itself is no answer.
    const isNew = words.length > 0 && words.some((word) => !asked.has(word));
    const repeated = words.filter((word) => asked.has(word)).length / Math.max(1, words.length);
    if (isNew)
      spans.push({ start: base + start, end: base + end, score: score * (0.35 + 0.65 * fit * (1 - 0.7 * repeated)) });
  };
  const distance = distances(text, asked);
  const near = (start: number, end: number) => 0.25 / (1 + distance(start, end) / 12);
  for (const { type, start, end, confidence } of entitiesOf(text)) {
    const rank = wanted.kinds.indexOf(type);
    if (rank >= 0) add(start, end, 0.75 * (1 - 0.12 * rank) * confidence + near(start, end));
  }
  if (wanted.pattern !== null) {
    for (const { index, 0: match } of text.matchAll(wanted.pattern)) {
      add(index, index + match.trimEnd().length, 0.65 + near(index, index + match.length));
    }
  }
  if (wanted.phrases) {
    for (const { start, end, fit } of phrasesIn(text)) add(start, end, fit + near(start, end));
  }
  return spans;
}

/** Nouns with what belongs to them; those after the verb rather answer than those before it. */
function phrasesIn(text: string): { start: number; end: number; fit: number }[] {
  const phrases: { start: number; end: number; fit: number }[] = [];
  for (const tagged of taggedSentences(text)) {
    const chunks: readonly Chunk[] = chunksOf(tagged, text);
    const verb = chunks.findIndex(({ kind }) => kind === "verb");
    chunks.forEach((chunk, i) => {
      if (chunk.kind !== "noun") return;
      phrases.push({ start: chunk.start, end: chunk.end, fit: i > verb && verb >= 0 ? 0.5 : 0.4 });
    });
  }
  return phrases;
}

/** Characters from a span to the nearest word of the question. */
function distances(text: string, asked: ReadonlySet<string>): (start: number, end: number) => number {
  const places = [...text.matchAll(/[\p{L}\p{N}]+/gu)].filter(
    ([word]) => word.length > 3 && asked.has(word.toLowerCase()),
  );
  return (start, end) => {
    let least = text.length;
    for (const { index, 0: word } of places) {
      const gap = Math.max(start - (index + word.length), index - end, 0);
      if (gap > 0) least = Math.min(least, gap);
    }
    return least;
  };
}
