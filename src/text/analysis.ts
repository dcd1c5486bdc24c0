/**
 * Turns text into terms: words are runs of letters, digits and marks (UAX #29 where a script writes nothing between
 * its words), in lower case, normalised (NFKC) and stemmed. Pure but for the stemmers' memories.
 *
 * Words are found within the smallest tokens of text-parser.ts: the parts of a compound, the words of an address. So
 * whatever to_tsvector makes of a token, the index has all words of that token.
 */

import { TRIGRAMS } from "../values/trigrams.js";
import { type Stem, stemOf } from "./languages.js";
import { parseInSteps, type TokenType } from "./text-parser.js";
import { trigramsInSteps } from "./trigram-analyzer.js";

/** Words longer than this are cut: they are keys, hashes, encoded data. */
const WORD_LENGTH_MAX = 128;
const WORD = /[\p{L}\p{M}\p{Nl}\p{Nd}]+/gu;
/** Their parts follow, or they carry no meaning. */
const PASSED_OVER: ReadonlySet<TokenType> = new Set([
  "blank",
  "url",
  "asciihword",
  "hword",
  "numhword",
  "protocol",
  "entity",
]);
/** Of a token of many words, in a step. */
const STEP_WORDS = 1024;
/** Scripts whose words stand side by side. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

export interface Token {
  /** "" for a stop word, which takes a position and is not indexed. */
  readonly term: string;
  /** Number of the word in its text, from 0. */
  readonly position: number;
  /** Where the word is in the text, UTF-16 code units. */
  readonly start: number;
  readonly end: number;
}

/** `term` is "" for a stop word; `start` and `end` are UTF-16 code units. */
type VisitWord = (term: string, position: number, start: number, end: number) => void;

export class Analyzer {
  private readonly stem: Stem;

  /** Throws 42704 for an unknown language. */
  constructor(readonly language: string) {
    this.stem = stemOf(language);
  }

  /** Calls `visit` for each word in order; cheaper than `tokens` where nothing is kept. */
  each(text: string, visit: VisitWord): void {
    atOnce(this.eachInSteps(text, visit));
  }

  /** The same, in short steps. */
  *eachInSteps(text: string, visit: VisitWord): Generator<undefined, void> {
    let position = 0;
    for (const tokens of parseInSteps(text)) {
      for (const { type, start, end } of tokens) {
        if (type === "asciiword" || type === "hword_asciipart") {
          visit(this.stemmed(text.slice(start, end).toLowerCase()), position++, start, end);
        } else if (!PASSED_OVER.has(type)) {
          for (const { word, start: at } of wordsWithin(text.slice(start, end))) {
            visit(this.termOf(word), position++, start + at, start + at + word.length);
            if (position % STEP_WORDS === 0) yield;
          }
        }
      }
      yield;
    }
  }

  tokens(text: string): Token[] {
    const tokens: Token[] = [];
    this.each(text, (term, position, start, end) => tokens.push({ term, position, start, end }));
    return tokens;
  }

  /** What is indexed of a word; "" for a stop word. */
  termOf(word: string): string {
    return this.stemmed(normalForm(word));
  }

  private stemmed(word: string): string {
    return this.stem(word.length > WORD_LENGTH_MAX ? word.slice(0, WORD_LENGTH_MAX) : word);
  }

  /** Of the beginning of a word, which is not stemmed. */
  prefixOf(word: string): string {
    return normalForm(word);
  }
}

/** What steps come to, without a pause. */
export function atOnce<Result>(steps: Iterator<undefined, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** As terms are compared: also what prefixes and lexemes of queries must be in to be looked up. */
export function normalForm(word: string): string {
  return word.normalize("NFKC").toLowerCase();
}

/** Words in a token that is more than a word, or of a script without blanks. */
export function* wordsWithin(token: string): Generator<{ readonly word: string; readonly start: number }> {
  for (const match of token.matchAll(WORD)) {
    if (!UNSPACED.test(match[0])) yield { word: match[0], start: match.index };
    else {
      for (const { segment, index, isWordLike } of segments(match[0])) {
        if (isWordLike) yield { word: segment, start: match.index + index };
      }
    }
  }
}

let segmenter: Intl.Segmenter | null = null;

function segments(text: string): Iterable<Intl.SegmentData> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
  return segmenter.segment(text);
}

/** Terms are trigrams, each once and without a place: no phrase is looked for among them. */
class TrigramAnalyzer extends Analyzer {
  constructor() {
    super("simple");
  }

  override *eachInSteps(text: string, visit: VisitWord): Generator<undefined, void> {
    for (const trigram of yield* trigramsInSteps(text)) visit(trigram, 0, 0, 0);
  }
}

const analyzers = new Map<string, Analyzer>();

/** One for each language. Throws 42704 for a language that there is not. */
export function analyzerOf(language: string): Analyzer {
  let analyzer = analyzers.get(language);
  if (analyzer === undefined) {
    analyzer = language === TRIGRAMS ? new TrigramAnalyzer() : new Analyzer(language);
    analyzers.set(language, analyzer);
  }
  return analyzer;
}
