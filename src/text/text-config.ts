/**
 * Text search configurations (chapter 12.6): which dictionary takes a token of which type. Words go to the language's
 * stemmer and stop words. Tokens that only the parser recognises (addresses, numbers, files) are taken as they are, in
 * lower case. Tags and blanks are passed over.
 */
import { LEXEME_BYTES_MAX } from "../values/ts-vector.js";
import { asciiLanguage, LANGUAGE_NAMES, type Stem, stemOf } from "./languages.js";
import { parseText, type TextToken, type TokenType } from "./text-parser.js";

/** "ascii": words of ASCII letters, for which some languages have another stemmer. */
type Dictionary = "ascii" | "word" | "simple" | null;

const DICTIONARY_OF: Readonly<Record<TokenType, Dictionary>> = {
  asciiword: "ascii",
  asciihword: "ascii",
  hword_asciipart: "ascii",
  word: "word",
  hword: "word",
  hword_part: "word",
  numword: "simple",
  numhword: "simple",
  hword_numpart: "simple",
  email: "simple",
  url: "simple",
  host: "simple",
  url_path: "simple",
  file: "simple",
  sfloat: "simple",
  version: "simple",
  float: "simple",
  int: "simple",
  uint: "simple",
  blank: null,
  tag: null,
  protocol: null,
  entity: null,
};

/** The dictionary of a configuration for tokens of a type, by PostgreSQL's name; null: they are passed over. */
export function dictionaryName(config: string, type: TokenType): string | null {
  const dictionary = DICTIONARY_OF[type];
  if (dictionary === null || dictionary === "simple" || config === "simple") return dictionary && "simple";
  return `${dictionary === "ascii" ? asciiLanguage(config) : config}_stem`;
}

/** What a dictionary makes of a word: its lexeme, "" for a stop word; null when there is no such dictionary. */
export function lexize(dictionary: string, word: string): string | null {
  const name = dictionary.toLowerCase().replace(/^pg_catalog\./, "");
  const lower = word.toLowerCase();
  if (name === "simple") return lower;
  const language = name.endsWith("_stem") ? name.slice(0, -"_stem".length) : "";
  return language !== "simple" && LANGUAGE_NAMES.includes(language) ? lexemeOf(lower, "word", stemOf(language)) : null;
}

export interface AnalyzedToken extends TextToken {
  /** The lexeme for searches; "" for a stop word, null for a token that is skipped. */
  readonly lexeme: string | null;
}

/** PostgreSQL passes words over that are longer than this. */
const isTooLong = (word: string) => word.length * 3 > LEXEME_BYTES_MAX && Buffer.byteLength(word) > LEXEME_BYTES_MAX;

/** Words longer than this are keys and encoded data: they are not stemmed. */
const STEMMED_LENGTH_MAX = 256;

/** The tokens of a text with what a configuration makes of them. Throws 42704. */
export function analyzeText(config: string, text: string, checkpoint?: () => void): AnalyzedToken[] {
  const stem = stemOf(config);
  return parseText(text, checkpoint).map(({ type, start, end }) => {
    const dictionary = DICTIONARY_OF[type];
    if (dictionary === null) return { type, start, end, lexeme: null };
    return { type, start, end, lexeme: lexemeOf(text.slice(start, end).toLowerCase(), dictionary, stem) };
  });
}

function lexemeOf(word: string, dictionary: Dictionary, stem: Stem): string | null {
  if (isTooLong(word)) return null;
  return dictionary === "simple" || word.length > STEMMED_LENGTH_MAX ? word : stem(word);
}

/**
 * Calls `visit` for each word that is searched by, with its place among the words: 1, 2, …; answers with the last
 * place.
 */
export function eachLexeme(
  config: string,
  text: string,
  checkpoint: () => void,
  visit: (lexeme: string, place: number) => void,
): number {
  let place = 0;
  for (const { lexeme } of analyzeText(config, text, checkpoint)) {
    if (lexeme === null) continue;
    place++;
    if (lexeme !== "") visit(lexeme, place);
  }
  return place;
}
