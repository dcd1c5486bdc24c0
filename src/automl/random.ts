/**
 * Random numbers that a seed repeats. Each purpose has a stream of its own, so that work which is skipped (because a
 * checkpoint has it) does not shift the numbers of what follows. Each generator is owned by its maker.
 */

/** The generator sfc32 (Chris Doty-Humphrey, PractRand), its 128 bits of state filled by a hash of seed and stream. */
export class Random {
  private a: number;
  private b: number;
  private c: number;
  private d = 1;

  /** `seed`: an integer from 0 to 2^32 - 1. */
  constructor(seed: number, stream: string) {
    let hash = (seed ^ 0x9e3779b9) >>> 0;
    const mixed = (text: string): number => {
      for (let i = 0; i < text.length; i++) {
        hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
        hash = (hash ^ (hash >>> 15)) >>> 0;
      }
      return hash;
    };
    this.a = mixed(`a${stream}`);
    this.b = mixed(`b${stream}`);
    this.c = mixed(`c${stream}`) ^ seed;
    for (let i = 0; i < 16; i++) this.bits();
  }

  private bits(): number {
    const sum = (((this.a + this.b) | 0) + this.d) | 0;
    this.d = (this.d + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (this.c << 21) | (this.c >>> 11);
    this.c = (this.c + sum) | 0;
    return sum >>> 0;
  }

  /** From 0 up to 1, which it never is. */
  next(): number {
    return this.bits() / 2 ** 32;
  }

  /** An integer from 0 up to `count`, which it never is. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  between(low: number, high: number): number {
    return low + (high - low) * this.next();
  }

  /** Evenly spread over the orders of magnitude. */
  logBetween(low: number, high: number): number {
    return Math.exp(this.between(Math.log(low), Math.log(high)));
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  /** Standard normal (Box and Muller 1958). */
  normal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    return radius * Math.cos(2 * Math.PI * this.next());
  }

  /** In place, by Fisher and Yates; only the first `count` places when given. */
  shuffle(items: Int32Array, count = items.length): Int32Array {
    for (let i = 0; i < count; i++) {
      const other = i + this.below(items.length - i);
      const item = items[i]!;
      items[i] = items[other]!;
      items[other] = item;
    }
    return items;
  }
}

export function indices(count: number): Int32Array {
  const all = new Int32Array(count);
  for (let i = 0; i < count; i++) all[i] = i;
  return all;
}
