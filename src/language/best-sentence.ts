/**
 * Finds the sentence of several passages that answers a question best: by the question's words in it (rare ones count
 * more), by the words around it, and by how similar its embedding is to the question's. For answers that are quoted,
 * not written.
 */
import type { Turns } from "../protocol/turns.js";
import { cosine, type EmbedTexts } from "./likeness.js";
import { namesOf, stemsOf } from "./question-stems.js";
import { type Sentence, sentencesOf } from "./sentences.js";

export interface Passage {
  readonly text: string;
  /** Further facts about it: its heading, the file's title and name. */
  readonly about: string;
  /** Of the document. As a line of the text it answers nothing. */
  readonly title: string;
  /** Of the section that the passage stands in. */
  readonly heading: string;
}

export interface BestSentence {
  /** The passage's number, from 0. */
  readonly place: number;
  /** UTF-16 code units of the passage's text. */
  readonly start: number;
  readonly end: number;
  /** 0 to 1. */
  readonly score: number;
}

/** Below these nothing was found: of the score, and of the question's words by weight in the sentence and around it. */
const SCORE_MIN = 0.3;
const SHARE_MIN = 0.5;
/** The weight of words that are in the passage but not in the sentence. */
const AROUND = 0.35;
/** Of each passage behind the one before: searches put the best first. */
const PLACE_LOSS = 0.06;
/** What a sentence loses that has no number or no name, where the question asks for one. */
const KIND_LOSS = 0.25;
const WORDS_WEIGHT = 0.7;
/** Sentences that are embedded: those that have most words. */
const EMBEDDED_MAX = 60;

const ASKS_NUMBER =
  /\b(?:how (?:many|much|long|old|often|far|tall|high|big|large|deep|heavy|fast|soon|late)|when|what (?:time|year|date|day|percentage|price|number))\b/i;
const HAS_NUMBER =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|million|once|twice|daily|weekly|monthly|yearly|every|never|always|free|no|noon|midnight|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|november|december)\b/i;

const ASKS_NAME = /\bwho(?:m|se)?\b/i;
/** A capital within a sentence. */
const HAS_NAME = /[\p{L},] \p{Lu}\p{Ll}/u;

/** "How often" asks for a number; "often" need not stand in the answer. */
const HOW =
  /\b(how) (?:many|much|long|old|often|far|tall|high|big|large|small|wide|deep|heavy|fast|soon|late|early|expensive)\b/gi;

/** Such a sentence goes on about what the one before was about. */
const GOES_ON = /^(?:he|she|it|they|this|these|those)\b/i;

interface Candidate extends Sentence {
  readonly place: number;
  /** Share of the question's words by weight: in the sentence, and there or around it. */
  readonly own: number;
  readonly all: number;
}

/** Null: none of them says anything of it. `passages`: the best first. */
export async function bestSentence(
  question: string,
  passages: readonly Passage[],
  embed: EmbedTexts,
  turns: Turns,
): Promise<BestSentence | null> {
  const candidates = await candidatesOf(question, passages, turns);
  candidates.sort((a, b) => b.own + AROUND * b.all - (a.own + AROUND * a.all) || a.place - b.place);
  const few = candidates.slice(0, EMBEDDED_MAX);
  if (few.length === 0) return null;
  const [vector, ...vectors] = await embed([question, ...few.map(({ text }) => text)]);
  const [asksNumber, asksName] = [ASKS_NUMBER.test(question), ASKS_NAME.test(question)];
  let best: BestSentence | null = null;
  few.forEach(({ text, place, start, end, own, all }, i) => {
    const words = own + AROUND * (all - own);
    const fit = WORDS_WEIGHT * words + (1 - WORDS_WEIGHT) * Math.max(0, cosine(vector!, vectors[i]!));
    const lacksKind = (asksNumber && !HAS_NUMBER.test(text)) || (asksName && !HAS_NAME.test(text));
    const kind = lacksKind ? 1 - KIND_LOSS : 1;
    const score = fit * kind * (1 - PLACE_LOSS * Math.min(place, 5));
    if (all < SHARE_MIN || score < SCORE_MIN || score <= (best?.score ?? 0)) return;
    best = { place, start, end, score };
  });
  return best;
}

async function candidatesOf(question: string, passages: readonly Passage[], turns: Turns): Promise<Candidate[]> {
  const asked = stemsOf(question.replaceAll(HOW, "$1"));
  const names = namesOf(question);
  const split: { sentence: Sentence; stems: Set<string>; place: number }[] = [];
  const around: Set<string>[] = [];
  for (const [place, { text, about, title }] of passages.entries()) {
    const all = stemsOf(about);
    for (const sentence of await sentencesOf(text, turns)) {
      if (isSame(sentence.text, title)) continue;
      const stems = stemsOf(sentence.text);
      for (const stem of stems) all.add(stem);
      split.push({ sentence, stems, place });
      if (turns.shouldYield()) await turns.yieldTurn();
    }
    around.push(all);
  }
  // Words of few sentences tell more (inverse document frequency).
  const frequency = new Map<string, number>();
  for (const { stems } of split) for (const stem of stems) frequency.set(stem, (frequency.get(stem) ?? 0) + 1);
  const weight = (stem: string) => Math.log(1 + split.length / (frequency.get(stem) ?? 0.5));
  const total = [...asked].reduce((sum, stem) => sum + weight(stem), 0) || 1;
  const share = (stems: ReadonlySet<string>) =>
    [...asked].reduce((sum, stem) => sum + (stems.has(stem) ? weight(stem) : 0), 0) / total;
  const candidates: Candidate[] = [];
  let lead: ReadonlySet<string> = new Set();
  split.forEach(({ sentence, stems, place }, i) => {
    const before = split[i - 1];
    if (before?.place !== place) lead = new Set();
    else if (GOES_ON.test(sentence.text)) lead = new Set([...lead, ...before.stems]);
    if (isSame(sentence.text, passages[place]!.heading) || isLead(sentence.text, stems, asked)) {
      lead = new Set([...lead, ...stems]);
      return;
    }
    const own = share(new Set([...stems, ...lead]));
    // Of another town than the one that is asked for nothing is an answer.
    const isOther = [...names].some((name) => !around[place]!.has(name));
    if (!isOther) candidates.push({ ...sentence, place, own, all: Math.max(own, share(around[place]!)) });
    lead = new Set();
  });
  return candidates;
}

const plain = (text: string) =>
  text
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .toLowerCase();
const isSame = (text: string, name: string) => name !== "" && plain(text) === plain(name);

/**
 * A heading, a question, a sentence that ends in a colon, or one that only repeats the question: the next sentence is
 * the answer.
 */
function isLead(text: string, stems: ReadonlySet<string>, asked: ReadonlySet<string>): boolean {
  return /[?:]\W*$|^#+\s/.test(text) || [...stems].every((stem) => asked.has(stem));
}
