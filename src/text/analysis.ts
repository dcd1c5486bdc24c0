/**
 * From text to terms: words as Unicode's letters, digits and marks in a row (UAX #29 where a script writes none between
 * its words), in lower case, without accents that only compatibility tells apart (NFKC), stemmed. Pure but for the
 * stemmers' memories.
 */
import { type Stem, stemOf } from "./languages.js";

/** Words longer than this are cut: they are keys, hashes, encoded data. */
const WORD_LENGTH_MAX = 128;
/** An apostrophe inside a word belongs to it. */
const WORD = /[\p{L}\p{N}\p{M}_]+(?:['’][\p{L}\p{N}\p{M}]+)*/gu;
/** Scripts whose words stand side by side. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const POSSESSIVE = /['’]s$/;

export interface Token {
  /** "" for a stop word, which takes a position and is not indexed. */
  readonly term: string;
  /** Number of the word in its text, from 0. */
  readonly position: number;
  /** Where the word is in the text, UTF-16 code units. */
  readonly start: number;
  readonly end: number;
}

export class Analyzer {
  private readonly stem: Stem;

  /** Throws 42704 for a language that there is not. */
  constructor(readonly language: string) {
    this.stem = stemOf(language);
  }

  /** Calls `visit` for each word in order; cheaper than `tokens` where nothing is kept. */
  each(text: string, visit: (term: string, position: number, start: number, end: number) => void): void {
    let position = 0;
    const word = (raw: string, start: number) => visit(this.termOf(raw), position++, start, start + raw.length);
    WORD.lastIndex = 0;
    // The expression is shared; `visit` must not analyse another text meanwhile.
    for (const match of text.matchAll(WORD)) {
      if (!UNSPACED.test(match[0])) word(match[0], match.index);
      else
        for (const { segment, index, isWordLike } of segments(match[0]))
          if (isWordLike) word(segment, match.index + index);
    }
  }

  tokens(text: string): Token[] {
    const tokens: Token[] = [];
    this.each(text, (term, position, start, end) => tokens.push({ term, position, start, end }));
    return tokens;
  }

  /** What is indexed of a word; "" for a stop word. */
  termOf(word: string): string {
    const normal = normalForm(word);
    return this.stem(normal.length > WORD_LENGTH_MAX ? normal.slice(0, WORD_LENGTH_MAX) : normal);
  }

  /** Of the beginning of a word, which is not stemmed. */
  prefixOf(word: string): string {
    return normalForm(word);
  }
}

function normalForm(word: string): string {
  return word.normalize("NFKC").toLowerCase().replace(POSSESSIVE, "").replaceAll("’", "'");
}

let segmenter: Intl.Segmenter | null = null;

function segments(text: string): Iterable<Intl.SegmentData> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
  return segmenter.segment(text);
}

const analyzers = new Map<string, Analyzer>();

/** One for each language. Throws 42704 for a language that there is not. */
export function analyzerOf(language: string): Analyzer {
  let analyzer = analyzers.get(language);
  if (analyzer === undefined) {
    analyzer = new Analyzer(language);
    analyzers.set(language, analyzer);
  }
  return analyzer;
}
