/** The words of a text, as the comparisons of claims read them. Holds stems, which cost more to make than to keep. */
import { englishStem } from "../../values/stemmer.js";

const stems = new Map<string, string>();
const STEMS_MAX = 20_000;

const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  (
    "a an the this that these those it its he him his she her hers they them their theirs we us our ours you your yours i me my mine " +
    "am is are was were be been being do does did done has have had having will would shall should can could may might must " +
    "and or but if then so as than too also of in on at by for from to into onto with without about over under above below " +
    "between through during before after up down out off again there here where when while who whom whose which what how why " +
    "not no nor never neither cannot only just very more most some any all each every both few many much other such own same s t"
  ).split(" "),
);
const NUMBER_WORDS =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");

export interface Word {
  /** In lower case, numbers in digits. */
  readonly word: string;
  readonly stem: string;
  readonly isNumber: boolean;
  /** With a capital where a sentence does not begin. */
  readonly isName: boolean;
  readonly isContent: boolean;
}

/**
 * A sign of money or percent is a word of its own; a minus before a number and the marks of "C++" and "C#" belong to
 * theirs.
 */
const WORD = /(?<![^\s(])[-−]?\d+(?:[.,:]\d+)*|\d+(?:[.,:]\d+)*|\p{Sc}|%|[\p{L}\p{M}]+(?:\+\+|#)?/gu;

export function wordsOf(text: string): Word[] {
  const plain = text
    .normalize("NFKC")
    .replaceAll("’", "'")
    .replaceAll(/\bcan't\b/gi, "can not")
    .replaceAll(/\bwon't\b/gi, "will not")
    .replaceAll(/n't\b/gi, " not")
    .replaceAll(/\bcannot\b/gi, "can not");
  const words: Word[] = [];
  let end = 0;
  for (const { 0: found, index } of plain.matchAll(WORD)) {
    const isFirst = words.length === 0 || /[.!?]\s/.test(plain.slice(end, index));
    end = index + found.length;
    const lower = found.toLowerCase();
    const spelled = spelledNumber(lower);
    const isNumber = spelled !== null || /\d$/.test(found);
    const word = spelled !== null ? String(spelled) : isNumber ? withoutSeparators(lower.replace("−", "-")) : lower;
    const isName = !isNumber && !isFirst && /^\p{Lu}/u.test(found);
    words.push({ word, stem: isNumber ? word : stemOf(word), isNumber, isName, isContent: !FUNCTION_WORDS.has(word) });
  }
  return words;
}

function spelledNumber(word: string): number | null {
  const [small, tens] = [NUMBER_WORDS.indexOf(word), TENS.indexOf(word)];
  return small >= 0 ? small : tens >= 0 ? 10 * (tens + 2) : null;
}

/** "300,000" is 300000. */
const withoutSeparators = (number: string) =>
  /^-?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(number) ? number.replaceAll(",", "") : number;

export function stemOf(word: string): string {
  let stem = stems.get(word);
  if (stem === undefined) {
    if (stems.size >= STEMS_MAX) stems.clear();
    stem = englishStem(word);
    stems.set(word, stem);
  }
  return stem;
}

/** Whether a text has English words of grammar; a short one without any counts if its letters are plain. */
export function readsAsEnglish(text: string): boolean {
  const words = wordsOf(text);
  return (
    words.some(({ word, isContent }) => !isContent && word.length > 1) ||
    (words.length <= 3 && /^[\p{ASCII}’]*$/u.test(text))
  );
}
