/** The words of a question or sentence that say what it is about, as stems. Used by the helpers beside it. */
import { englishStem } from "../values/stemmer.js";

const STOP = new Set(
  "a an the is are was were be been do does did of in on at to for from with by and or it its this that these those there what which who whom whose when where why how many much long far old has have had can could will would should i me my we us our you your he she him his her they them their there any some am may might must shall as so please".split(
    " ",
  ),
);

export function stemsOf(text: string): Set<string> {
  const words = wordsOf(text.toLowerCase());
  return new Set(words.filter((word) => !STOP.has(word)).map((word) => englishStem(word)));
}

/** What the question is about by name or number, as stems: "Munich" and "2019" in it. Its first word may be any. */
export function namesOf(question: string): Set<string> {
  const words = wordsOf(question);
  const isName = (word: string) => /^[\p{Lu}\p{N}]/u.test(word) && !STOP.has(word.toLowerCase());
  const names = words.slice(1).filter(isName);
  // In "HOW LONG IS THE WARRANTY" and "How Long Is The Warranty" nothing is told by capitals.
  const isTitle = names.length > 0 && words.slice(1).every((word) => isName(word) || STOP.has(word.toLowerCase()));
  const told = isTitle && words.some((word) => STOP.has(word.toLowerCase()) && /^\p{Lu}/u.test(word)) ? [] : names;
  return new Set(told.map((word) => englishStem(word.toLowerCase())));
}

/** 2.3 and 4,000 are one word each. */
function wordsOf(text: string): string[] {
  return (text.match(/\p{N}+(?:[.,]\p{N}+)+|[\p{L}\p{N}]+/gu) ?? []).map((word) =>
    /^\p{N}/u.test(word) ? word.replaceAll(",", "") : word,
  );
}
