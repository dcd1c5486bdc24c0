/**
 * Finds the sentence of several passages that answers a question best: by the question's words in it (rare ones count
 * more), by the words around it, and by how similar its embedding is to the question's. For answers that are quoted,
 * not written.
 */
import type { Turns } from "../protocol/turns.js";
import { englishStem } from "../values/stemmer.js";
import { hasKind, pricesSaid, saysWho } from "./answer-kinds.js";
import { cosine, type EmbedTexts } from "./likeness.js";
import {
  countedOf,
  deedOf,
  isOfStem,
  isPastForm,
  labelsOf,
  namesOf,
  stemLine,
  stemsOf,
  wordsByStem,
} from "./question-stems.js";
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
const SHARE_MIN = 0.72;
/** Words that are so alike say as much: "salary", "pay". Of what was done, less alike ones are other deeds. */
const ALIKE = 0.35;
const ALIKE_DEEDS = 0.4;
/** Of so many words of the question. Of two other ones the sentence tells something else. */
const ALIKE_MAX = 1;
/** Sentences of which the words are compared, and how near to the best they must be. */
const COMPARED_MAX = 3;
const COMPARED_SHARE = 0.85;
/**
 * The weight of words that are not in the sentence: names that are in its passage, words of what the passage is about,
 * others in the passage. Its subject is named once, and each of its sentences is about it.
 */
const NAMED = 1;
const TOPIC = 0.85;
const AROUND = 0.35;
/** The first sentence of so short a passage says what it is about. */
const SHORT_PASSAGE = 1500;
/** Of each passage behind the one before: searches put the best first. */
const PLACE_LOSS = 0.06;
/** What a sentence loses that has no number or no name, where the question asks for one. */
const KIND_LOSS = 0.4;
/** It must have so many of the question's words itself. */
const OWN_MIN = 0.5;
const WORDS_WEIGHT = 0.7;
/** Sentences that are embedded: those that have most words. */
const EMBEDDED_MAX = 60;

/** Words that a question can have and its answer need not. */
const GENERAL = new Set(
  "mean happen come go get give need use call say tell kind type people person thing exist find work"
    .split(" ")
    .map((word) => englishStem(word)),
);

/** "How often" asks for a number; "often" need not stand in the answer. */
const HOW =
  /\b(how) (?:many|much|long|old|often|far|tall|high|big|large|small|wide|deep|heavy|fast|soon|late|early|expensive)\b/gi;

/** Such a sentence goes on about what the one before was about: "abroad it is 45 euros". */
const GOES_ON = /^(?:[\p{L}\p{N}]+,? ){0,2}(?:he|she|it|they)\b|^(?:this|these|those)\b/iu;

interface Candidate extends Sentence {
  readonly place: number;
  /** The question that it answers in the text. */
  readonly asks: string;
  /** Share of the question's words by weight: in the sentence, and there or around it. */
  readonly own: number;
  readonly all: number;
  /** Words that neither of them has, by their stems, with their shares. */
  readonly missing: ReadonlyMap<string, number>;
  /** The share where each word counts by how near to the sentence it is. */
  readonly near: number;
  /** It speaks of what is to be counted, or nothing is. */
  readonly isCount: boolean;
}

/** Null: none of them says anything of it. `passages`: the best first. */
export async function bestSentence(
  question: string,
  passages: readonly Passage[],
  embed: EmbedTexts,
  turns: Turns,
): Promise<BestSentence | null> {
  const candidates = await candidatesOf(question, passages, turns);
  candidates.sort((a, b) => b.near - a.near || a.place - b.place);
  const few = candidates.slice(0, EMBEDDED_MAX);
  if (few.length === 0) return null;
  const [vector, ...vectors] = await embed([question, ...few.map(({ text, asks }) => `${asks}${text}`)]);
  const scored: { candidate: Candidate; score: number }[] = [];
  few.forEach((candidate, i) => {
    const { text, place, own, near, isCount } = candidate;
    const fit = WORDS_WEIGHT * near + (1 - WORDS_WEIGHT) * Math.max(0, cosine(vector!, vectors[i]!));
    const has = hasKind(text, question);
    if (has === "never" || (has === "no" && own < OWN_MIN)) return;
    const kind = has === "yes" && isCount ? 1 : 1 - KIND_LOSS;
    const score = fit * kind * (1 - PLACE_LOSS * Math.min(place, 5));
    if (score >= SCORE_MIN) scored.push({ candidate, score });
  });
  scored.sort((a, b) => b.score - a.score);
  const least = (scored[0]?.score ?? 0) * COMPARED_SHARE;
  for (const { candidate, score } of scored.slice(0, COMPARED_MAX).filter((each) => each.score >= least)) {
    const { place, start, end } = candidate;
    const passage = passages[place]!;
    if ((await saidShare(candidate, question, passage, embed)) < SHARE_MIN) continue;
    if (candidate.isCount || (await countsAlike(candidate, question, embed))) return { place, start, end, score };
  }
  return null;
}

/**
 * The share of the question's words by weight that the passage says, or that a word of the sentence is like. Where it
 * does not speak of pay, nothing in it tells a salary.
 */
async function saidShare(
  { missing, text }: Candidate,
  question: string,
  { about }: Passage,
  embed: EmbedTexts,
): Promise<number> {
  let share = 1;
  for (const weight of missing.values()) share -= weight;
  if (share >= SHARE_MIN) return share;
  const words = wordsByStem(question);
  const asked = [...words].filter(([stem]) => missing.has(stem));
  // A word that both have says nothing of another one.
  const said = [...wordsByStem(`${text} ${about}`)].flatMap(([stem, word]) => (words.has(stem) ? [] : word));
  const vectors = await embed([...asked.map(([, word]) => word), ...said]);
  let found = 0;
  asked.forEach(([stem, word], i) => {
    const least = isPastForm(word) ? ALIKE_DEEDS : ALIKE;
    const isAlike = vectors.slice(asked.length).some((vector) => cosine(vectors[i]!, vector) >= least);
    if (!isAlike || found === ALIKE_MAX) return;
    share += missing.get(stem)!;
    found++;
  });
  return share;
}

/** Whether it speaks of something like what is to be counted: "volumes", where books are. */
async function countsAlike({ text }: Candidate, question: string, embed: EmbedTexts): Promise<boolean> {
  const counted = countedOf(question);
  const asked = [...wordsByStem(question)].flatMap(([stem, word]) => (counted.has(stem) ? word : []));
  const vectors = await embed([...asked, ...wordsByStem(text).values()]);
  return asked.some((_, i) => vectors.slice(asked.length).some((vector) => cosine(vectors[i]!, vector) >= ALIKE));
}

interface Split {
  readonly sentence: Sentence;
  readonly stems: Set<string>;
  readonly place: number;
}

/** The sentences of all passages; the words of each passage, those of what it is about, and those of its tables. */
async function splitPassages(passages: readonly Passage[], turns: Turns) {
  const split: Split[] = [];
  const around: Set<string>[] = [];
  const topics: Set<string>[] = [];
  const tables: Set<string>[] = [];
  for (const [place, { text, about, title }] of passages.entries()) {
    const all = stemsOf(about);
    const topic = stemsOf(about);
    const table = new Set<string>();
    topics.push(topic);
    tables.push(table);
    for (const sentence of await sentencesOf(text, turns)) {
      if (isSame(sentence.text, title)) continue;
      const stems = stemsOf(sentence.text);
      const isFirst = split.at(-1)?.place !== place && text.length <= SHORT_PASSAGE;
      if (isFirst) for (const stem of stems) topic.add(stem);
      for (const stem of stems) all.add(stem);
      if (isRow(sentence.text)) for (const stem of stems) table.add(stem);
      split.push({ sentence, stems, place });
      if (turns.shouldYield()) await turns.yieldTurn();
    }
    around.push(all);
  }
  return { split, around, topics, tables };
}

async function candidatesOf(question: string, passages: readonly Passage[], turns: Turns): Promise<Candidate[]> {
  const asked = stemsOf(question.replaceAll(HOW, "$1"));
  // "What is 2+2?"
  if (![...asked].some((stem) => /\p{L}/u.test(stem))) return [];
  const names = namesOf(question);
  const deed = deedOf(question);
  const counted = [...countedOf(question)];
  const labels = labelsOf(question);
  const lines = labels.length === 0 ? [] : passages.map(({ text, about }) => stemLine(`${about}\n${text}`));
  const { split, around, topics, tables } = await splitPassages(passages, turns);
  // Words of few sentences tell more (inverse document frequency).
  const frequency = new Map<string, number>();
  for (const { stems } of split) for (const stem of stems) frequency.set(stem, (frequency.get(stem) ?? 0) + 1);
  const weight = (stem: string) => Math.log(1 + split.length / (frequency.get(stem) ?? 0.5));
  const total = [...asked].reduce((sum, stem) => sum + weight(stem), 0) || 1;
  const share = (stems: ReadonlySet<string>) =>
    [...asked].reduce((sum, stem) => sum + (stems.has(stem) ? weight(stem) : 0), 0) / total;
  /** How much of a word a sentence has that is about this and stands in that passage. */
  const creditOf = (stem: string, own: ReadonlySet<string>, place: number) => {
    if (own.has(stem)) return 1;
    if (!around[place]!.has(stem)) return 0;
    return names.has(stem) ? NAMED : topics[place]!.has(stem) ? TOPIC : AROUND;
  };
  const nearness = (own: ReadonlySet<string>, place: number) =>
    [...asked].reduce((sum, stem) => sum + creditOf(stem, own, place) * weight(stem), 0) / total;
  const candidates: Candidate[] = [];
  let lead: ReadonlySet<string> = new Set();
  /** The names of a table's columns, while its rows follow. */
  let columns: ReadonlySet<string> = new Set();
  let asks = "";
  split.forEach(({ sentence, stems, place }, i) => {
    const before = split[i - 1];
    if (before?.place !== place) {
      lead = new Set();
      asks = "";
    } else if (GOES_ON.test(sentence.text)) lead = new Set([...lead, ...before.stems]);
    if (before?.place !== place || !isRow(sentence.text)) columns = new Set();
    if (isHead(split, i)) columns = stems;
    if (isHead(split, i) || RULE.test(sentence.text)) return;
    const repeats = !YES_OR_NO.test(question) && [...stems].every((stem) => asked.has(stem));
    if (repeats || isSame(sentence.text, passages[place]!.heading) || isLead(sentence.text)) {
      lead = new Set([...lead, ...stems]);
      if (sentence.text.endsWith("?")) asks = `${sentence.text} `;
      return;
    }
    const said = new Set([...stems, ...lead, ...columns, ...pricesSaid(sentence.text, question)]);
    const own = share(said);
    // Of another town than the one that is asked for nothing is an answer.
    const isOther =
      [...names].some((name) => !around[place]!.has(name)) ||
      labels.some((label) => !lines[place]!.includes(` ${label} `)) ||
      (columns.size > 0 && isOfOtherRow(names, said, tables[place]!)) ||
      isOfAnother(sentence.text, question, names, said);
    const all = Math.max(own, share(around[place]!));
    const missing = new Map<string, number>();
    for (const stem of asked)
      if (!GENERAL.has(stem) && !said.has(stem) && !around[place]!.has(stem)) missing.set(stem, weight(stem) / total);
    // Who did one thing is not who did another.
    const isOtherDeed = deed !== null && !GENERAL.has(deed) && !tellsDeed(sentence.text, question, deed, said, asks);
    // A number of something else, perhaps.
    const isCount = counted.length === 0 || counted.some((stem) => said.has(stem) || GENERAL.has(stem));
    if (!isOther && !isOtherDeed)
      candidates.push({ ...sentence, place, asks, own, all, missing, near: nearness(said, place), isCount });
    lead = new Set();
    asks = "";
  });
  return candidates;
}

/** Who did it. A text that asks who itself answers with anybody. */
function tellsDeed(text: string, question: string, deed: string, said: ReadonlySet<string>, asks: string): boolean {
  if (!said.has(deed)) return false;
  return asks !== "" || saysWho(text, question, (word) => isOfStem(word, deed));
}

/** "Dr. Diallo sees …", where Dr. Kral is asked for. Who is asked for may have any name. */
function isOfAnother(text: string, question: string, names: ReadonlySet<string>, said: ReadonlySet<string>): boolean {
  if (names.size === 0 || /\bwho(?:m|se)?\b/i.test(question)) return false;
  const subject = SUBJECT.exec(text)?.[0];
  if (subject === undefined) return false;
  return (
    [...names].some((name) => !said.has(name)) &&
    ![...namesOf(`x ${subject}`)].some((name) => names.has(name) && !TITLES.has(name))
  );
}

const SUBJECT = /^(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? (?:\p{Lu}\p{Ll}+ ?)+|\p{Lu}\p{Ll}+ \p{Lu}\p{Ll}+)/u;
const TITLES = new Set("dr mr mrs ms prof".split(" ").map((word) => englishStem(word)));

const plain = (text: string) =>
  text
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .toLowerCase();
const isSame = (text: string, name: string) => name !== "" && plain(text) === plain(name);

/** A heading, a question, or a sentence that ends in a colon: the next sentence is the answer. */
function isLead(text: string): boolean {
  return /[?:]\W*$|^#+\s/.test(text);
}

/** What repeats the question answers these. */
const YES_OR_NO = /^\W*(?:is|are|was|were|do|does|did|can|may|must|has|have|had|will|should)\b/i;

/** Of a Markdown table: a row, and the line below its head. */
const isRow = (text: string) => /^\|.*\|$/.test(text);
const RULE = /^\|(?:\s*:?-+:?\s*\|)+$/;

function isHead(split: readonly Split[], i: number): boolean {
  const next = split[i + 1];
  return isRow(split[i]!.sentence.text) && next?.place === split[i]!.place && RULE.test(next.sentence.text);
}

/** Monday's row tells nothing of Thursday. */
function isOfOtherRow(names: ReadonlySet<string>, said: ReadonlySet<string>, table: ReadonlySet<string>): boolean {
  return [...names].some((name) => !said.has(name) && table.has(name));
}
