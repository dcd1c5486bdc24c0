/**
 * What words weigh and how alike they are, by the vectors of a static encoder: such an encoder gives words that occur
 * everywhere short vectors. Made by whoever weighs claims; remembers words.
 */
export interface WordMeanings {
  /** Above 0: how much the word tells. */
  weightOf(word: string): number;
  /** -1 to 1. */
  likeness(one: string, other: string): number;
  /** -1 to 1: how alike two texts are as a whole; null: there is no static encoder. */
  nearness(one: string, other: string): number | null;
}

/** The sum of a text's token vectors, not brought to length 1; null: there is no static encoder. */
export type SumOf = (text: string) => Float32Array | null;

interface Meaning {
  readonly vector: Float32Array;
  readonly length: number;
}

const WORDS_MAX = 20_000;

export class EncodedMeanings implements WordMeanings {
  private readonly words = new Map<string, Meaning | null>();

  constructor(private readonly sumOf: SumOf) {}

  weightOf(word: string): number {
    return this.word(word)?.length || 1;
  }

  likeness(one: string, other: string): number {
    return cosine(this.word(one), this.word(other));
  }

  nearness(one: string, other: string): number | null {
    const [a, b] = [this.made(one), this.made(other)];
    return a === null || b === null ? null : cosine(a, b);
  }

  private word(word: string) {
    const known = this.words.get(word);
    if (known !== undefined) return known;
    if (this.words.size >= WORDS_MAX) this.words.clear();
    const made = this.made(word);
    this.words.set(word, made);
    return made;
  }

  private made(text: string): Meaning | null {
    const vector = this.sumOf(text);
    return vector === null ? null : { vector, length: Math.hypot(...vector) };
  }
}

function cosine(one: Meaning | null, other: Meaning | null): number {
  if (one === null || other === null || one.length === 0 || other.length === 0) return 0;
  return dot(one.vector, other.vector) / (one.length * other.length);
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
