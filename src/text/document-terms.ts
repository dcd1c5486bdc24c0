/**
 * The terms of one document and where it has them, packed into one array of words:
 *
 *   length · count · terms, ascending (count) · where their positions begin (count) · positions, ascending within a
 *   term
 *
 * Positions go on through the document's columns, with a gap in between that no phrase bridges. Made by text-body.ts.
 */
import { type Analyzer, atOnce } from "./analysis.js";

/** The texts of a row, one for each column of the index; null: the column has none. */
export type TextItem = readonly (string | null)[];

const HEAD = 2;
/** Packed in a step. */
const STEP_TERMS = 4096;
const SORTED_PIECE = 16_384;
/** Positions between two columns. */
const COLUMN_GAP = 1000;

export class DocumentTerms {
  constructor(readonly words: Uint32Array) {}

  /** Words that were indexed. */
  get length(): number {
    return this.words[0]!;
  }

  /** Different terms. */
  get count(): number {
    return this.words[1]!;
  }

  get bytes(): number {
    return this.words.byteLength;
  }

  /** The number of its i-th term. */
  term(i: number): number {
    return this.words[HEAD + i]!;
  }

  occurrences(i: number): number {
    return this.end(i) - this.start(i);
  }

  /** Positions of the term with this number, ascending; none when it has no such term. */
  positionsOf(term: number): Uint32Array {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.term(middle) < term) low = middle + 1;
      else high = middle;
    }
    if (low === this.count || this.term(low) !== term) return NONE;
    return this.words.subarray(this.start(low), this.end(low));
  }

  equals(other: DocumentTerms): boolean {
    return this.words.length === other.words.length && this.words.every((word, i) => word === other.words[i]);
  }

  private start(i: number): number {
    return this.words[HEAD + this.count + i]!;
  }

  private end(i: number): number {
    return i + 1 < this.count ? this.start(i + 1) : this.words.length;
  }
}

const NONE = new Uint32Array(0);

/** In short steps. */
export function* termsInSteps(
  item: TextItem,
  analyzer: Analyzer,
  numberOf: (term: string) => number,
): Generator<undefined, DocumentTerms> {
  const positions = new Map<number, number[]>();
  let length = 0;
  let base = 0;
  for (const text of item) {
    if (text === null) continue;
    let last = 0;
    yield* analyzer.eachInSteps(text, (term, position) => {
      last = position;
      if (term === "") return;
      length++;
      const number = numberOf(term);
      const places = positions.get(number);
      if (places === undefined) positions.set(number, [base + position]);
      else places.push(base + position);
    });
    base += last + COLUMN_GAP;
  }
  return yield* packed(length, positions);
}

export function termsOf(item: TextItem, analyzer: Analyzer, numberOf: (term: string) => number): DocumentTerms {
  return atOnce(termsInSteps(item, analyzer, numberOf));
}

function* packed(
  length: number,
  positions: ReadonlyMap<number, readonly number[]>,
): Generator<undefined, DocumentTerms> {
  const terms = yield* sorted(Uint32Array.from(positions.keys()));
  const start = HEAD + 2 * terms.length;
  const words = new Uint32Array(start + length);
  words[0] = length;
  words[1] = terms.length;
  let at = start;
  for (let i = 0; i < terms.length; i++) {
    const term = terms[i]!;
    words[HEAD + i] = term;
    words[HEAD + terms.length + i] = at;
    const places = positions.get(term)!;
    words.set(places, at);
    at += places.length;
    if (i % STEP_TERMS === STEP_TERMS - 1) yield;
  }
  return new DocumentTerms(words);
}

/** Ascending; many are sorted piece by piece, and the pieces merged two by two. */
function* sorted(numbers: Uint32Array): Generator<undefined, Uint32Array> {
  const { length } = numbers;
  for (let at = 0; at < length; at += SORTED_PIECE) {
    numbers.subarray(at, at + SORTED_PIECE).sort();
    if (length > SORTED_PIECE) yield;
  }
  let from = numbers;
  for (let width = SORTED_PIECE; width < length; width *= 2) {
    const to = new Uint32Array(length);
    for (let start = 0; start < length; start += 2 * width) {
      const middle = Math.min(start + width, length);
      const end = Math.min(start + 2 * width, length);
      let a = start;
      let b = middle;
      for (let at = start; at < end; at++) {
        to[at] = b === end || (a < middle && from[a]! <= from[b]!) ? from[a++]! : from[b++]!;
        if (at % SORTED_PIECE === 0) yield;
      }
    }
    from = to;
  }
  return from;
}
