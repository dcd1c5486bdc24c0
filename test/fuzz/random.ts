/** Random choices that a seed repeats (mulberry32). */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed | 0;
  }

  /** 0 to 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let x = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  }

  /** 0 to n - 1. */
  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  one<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  many<T>(max: number, make: () => T): T[] {
    return Array.from({ length: this.below(max + 1) }, make);
  }
}

/** Its numbers from 0 to 1. */
export function randomFrom(seed: number): () => number {
  const random = new Random(seed);
  return () => random.next();
}
