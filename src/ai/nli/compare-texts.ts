/**
 * Compares two texts by their words, before any model is asked: whether they say the same, differ in one word that
 * reverses the meaning, or have nothing to do with each other. If a premise has several sentences, one is enough for
 * `same` or `opposite`. For English; in other languages only `same` is certain. Called by weigh-scores.ts; pure.
 *
 *   same       the same words, but for case, marks, articles, contractions and how numbers are written
 *   opposite   the same but for a word that denies, a pair of opposites, or another number of the same thing
 *   other      the same but for a number or a name that may belong to something else ("port 80", "port 90"), or with
 *              two words in each other's place ("Ann pays Bob")
 *   related    they share most of what the hypothesis is about
 *   distant    they share a word of content, and no more
 *   unrelated  not even that
 */
import { type Word, wordsOf } from "./claim-words.js";
import { AUXILIARIES, DENYING_WORDS, isOpposite } from "./opposites.js";

export type Comparison = "same" | "opposite" | "other" | "related" | "distant" | "unrelated";

/** Sentences of the premise that are read together: a pronoun's noun often stands in the one before. */
const SENTENCES_TOGETHER = 2;
/**
 * Of the hypothesis's words of content, the share that the premise must have: more than that, or so many and little
 * else.
 */
const SHARE_MIN = 1 / 2;
const REST_MAX = 1;

const ARTICLES: ReadonlySet<string> = new Set(["a", "an", "the"]);
export function compareTexts(premise: string, hypothesis: string): Comparison {
  const one = wordsOf(premise);
  const other = wordsOf(hypothesis);
  if (one.length === 0 || other.length === 0) return premise.trim() === hypothesis.trim() ? "same" : "related";
  const told = difference(one, other);
  if (told !== null) return told;
  if (isExchanged(one, other)) return "other";
  const sentences = premise.split(SENTENCE_END);
  return toldBySentence(sentences, other) ?? relation(sentences, other);
}

/** Null unless the text contains exactly one of them: a text with both counts as neither. */
function toldBySentence(sentences: readonly string[], hypothesis: readonly Word[]): "same" | "opposite" | null {
  if (sentences.length < 2) return null;
  const told = new Set(sentences.map((sentence) => difference(wordsOf(sentence), hypothesis)));
  if (told.has("same") === told.has("opposite")) return null;
  return told.has("same") ? "same" : "opposite";
}

/** Null: the texts differ by more than a word. */
function difference(one: readonly Word[], other: readonly Word[]): Comparison | null {
  const [plain, plainOther] = [withoutArticles(one), withoutArticles(other)];
  const head = commonLength(plain, plainOther, false);
  const tail = commonLength(plain.slice(head), plainOther.slice(head), true);
  const left = plain.slice(head, plain.length - tail);
  const right = plainOther.slice(head, plainOther.length - tail);
  if (left.length === 0 && right.length === 0) return "same";
  // A text of two words that differ in one has too little in common.
  if (head + tail < 2) return null;
  if (left.length + right.length === 1) return isDenying([...left, ...right]) ? "opposite" : null;
  if (isDenial(left, right) || isDenial(right, left)) return "opposite";
  if (left.length !== 1 || right.length !== 1) return null;
  const [was, is] = [left[0]!, right[0]!];
  if (was.isNumber && is.isNumber) return isQuantity(plain, head) ? "opposite" : "other";
  if (isOpposite(was.word, is.word)) return "opposite";
  return was.isName && is.isName ? "other" : null;
}

function isExchanged(one: readonly Word[], other: readonly Word[]): boolean {
  if (one.length !== other.length) return false;
  const apart = one.flatMap(({ word }, i) => (word === other[i]!.word ? [] : [i]));
  const [first, second] = apart as [number, number];
  return apart.length === 2 && one[first]!.word === other[second]!.word && one[second]!.word === other[first]!.word;
}

/** "does not delete" beside "deletes", "is not" beside "is", "no moons" beside "moons". */
function isDenial(longer: readonly Word[], shorter: readonly Word[]): boolean {
  if (!longer.some(({ word }) => DENYING_WORDS.has(word)) || shorter.some(({ word }) => DENYING_WORDS.has(word)))
    return false;
  const rest = longer.filter(({ word }) => !DENYING_WORDS.has(word) && !AUXILIARIES.has(word));
  const other = shorter.filter(({ word }) => !AUXILIARIES.has(word));
  return rest.length === other.length && rest.every(({ stem }, i) => stem === other[i]!.stem);
}

const isDenying = (words: readonly Word[]) => words.every(({ word }) => DENYING_WORDS.has(word));

/** Whether the number counts or dates something: "5 euros", "in 1932". One behind a noun may be its name: "port 80". */
function isQuantity(words: readonly Word[], at: number): boolean {
  const [before, after] = [words[at - 1], words[at + 1]];
  if (after?.isContent === true && !after.isNumber) return true;
  return before !== undefined && /^(?:in|on|at|by|since|until|before|after|for|costs?|than)$/.test(before.word);
}

function relation(texts: readonly string[], hypothesis: readonly Word[]): Comparison {
  const wanted = new Set(hypothesis.filter(({ isContent }) => isContent).map(({ stem }) => stem));
  if (wanted.size === 0) return "related";
  const sentences = texts.map((sentence) => new Set(contentStems(sentence)));
  let nearest: Comparison = "unrelated";
  for (const [i, sentence] of sentences.entries()) {
    const together = new Set(
      sentences.slice(Math.max(0, i + 1 - SENTENCES_TOGETHER), i + 1).flatMap((some) => [...some]),
    );
    const shared = [...wanted].filter((stem) => together.has(stem)).length;
    const share = shared / wanted.size;
    if (share > SHARE_MIN || (share === SHARE_MIN && sentence.size - shared <= REST_MAX)) return "related";
    if (shared > 0) nearest = "distant";
  }
  return nearest;
}

const contentStems = (text: string) => wordsOf(text).flatMap(({ isContent, stem }) => (isContent ? [stem] : []));

/** "Plan A" has none. */
const withoutArticles = (words: readonly Word[]) => words.filter(({ word, isName }) => isName || !ARTICLES.has(word));

function commonLength(one: readonly Word[], other: readonly Word[], isFromEnd: boolean): number {
  const most = Math.min(one.length, other.length);
  for (let i = 0; i < most; i++) {
    const [a, b] = isFromEnd ? [one[one.length - 1 - i]!, other[other.length - 1 - i]!] : [one[i]!, other[i]!];
    if (a.word !== b.word) return i;
  }
  return most;
}

const SENTENCE_END = /(?<=[.!?])\s+/;
