/**
 * Snowball's stemmers and the lists of words that say nothing. The two packages are a megabyte of source, which takes
 * each thread a twentieth of its start: they are loaded when the first word asks for them.
 */
import { createRequire } from "node:module";

export interface Stemmer {
  stem(word: string): string;
}

let stemmers: typeof import("snowball-stemmers") | undefined;
let lists: typeof import("stopword") | undefined;

export function newStemmer(language: string): Stemmer {
  stemmers ??= createRequire(import.meta.url)("snowball-stemmers") as typeof import("snowball-stemmers");
  return stemmers.newStemmer(language);
}

/** Languages with a list, by the package's name for them: ISO 639-3 codes. */
export type StopWordList = keyof typeof import("stopword");

export function stopWordsOf(language: StopWordList): readonly string[] {
  lists ??= createRequire(import.meta.url)("stopword") as typeof import("stopword");
  return lists[language];
}

let english: Stemmer | undefined;

export function englishStem(word: string): string {
  english ??= newStemmer("english");
  return english.stem(word);
}
