/**
 * What words weigh and how alike they are, by the vectors of a static encoder: such an encoder gives words that occur
 * everywhere short vectors. Made by whoever weighs claims; remembers words.
 */
export interface WordMeanings {
  /** Above 0: how much the word tells. */
  weightOf(word: string): number;
  /** -1 to 1. */
  likeness(one: string, other: string): number;
}

/** The sum of a text's token vectors, not brought to length 1; null: there is no static encoder. */
export type SumOf = (text: string) => Float32Array | null;

const WORDS_MAX = 20_000;

export class EncodedMeanings implements WordMeanings {
  private readonly words = new Map<string, { readonly vector: Float32Array; readonly length: number } | null>();

  constructor(private readonly sumOf: SumOf) {}

  weightOf(word: string): number {
    return this.word(word)?.length || 1;
  }

  likeness(one: string, other: string): number {
    const [a, b] = [this.word(one), this.word(other)];
    return a === null || b === null || a.length === 0 || b.length === 0
      ? 0
      : dot(a.vector, b.vector) / (a.length * b.length);
  }

  private word(word: string) {
    const known = this.words.get(word);
    if (known !== undefined) return known;
    if (this.words.size >= WORDS_MAX) this.words.clear();
    const vector = this.sumOf(word);
    const made = vector === null ? null : { vector, length: Math.hypot(...vector) };
    this.words.set(word, made);
    return made;
  }
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
