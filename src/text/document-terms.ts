/**
 * The terms of one document and where it has them, packed into one array of words:
 *
 *   length · count · terms, ascending (count) · where their positions begin (count) · positions, ascending within a term
 *
 * Positions go on through the document's columns, with a gap in between that no phrase bridges. Made by text-body.ts.
 */
import type { Analyzer } from "./analysis.js";

/** The texts of a row, one for each column of the index; null: the column has none. */
export type TextItem = readonly (string | null)[];

const HEAD = 2;
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

export function termsOf(item: TextItem, analyzer: Analyzer, numberOf: (term: string) => number): DocumentTerms {
  const positions = new Map<number, number[]>();
  let length = 0;
  let base = 0;
  for (const text of item) {
    if (text === null) continue;
    let last = 0;
    analyzer.each(text, (term, position) => {
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
  return packed(length, positions);
}

function packed(length: number, positions: ReadonlyMap<number, readonly number[]>): DocumentTerms {
  const terms = [...positions.keys()].sort((a, b) => a - b);
  const start = HEAD + 2 * terms.length;
  const words = new Uint32Array(start + length);
  words[0] = length;
  words[1] = terms.length;
  let at = start;
  terms.forEach((term, i) => {
    words[HEAD + i] = term;
    words[HEAD + terms.length + i] = at;
    const places = positions.get(term)!;
    words.set(places, at);
    at += places.length;
  });
  return new DocumentTerms(words);
}
