/**
 * Repeatable random numbers for the generator: every table draws from a stream of its own, so scale changes no other.
 */

/** Mulberry32 (Tommy Ettinger, 2017): 32 bits of state, good enough for choosing rows. */
export class Random {
  private state: number;

  constructor(stream: string) {
    let hash = 2166136261;
    for (let i = 0; i < stream.length; i++) hash = Math.imul(hash ^ stream.charCodeAt(i), 16777619);
    this.state = hash >>> 0;
  }

  /** low ≤ result ≤ high, integers. */
  between(low: number, high: number): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    const unit = ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    return low + Math.floor(unit * (high - low + 1));
  }

  of<T>(items: readonly T[]): T {
    return items[this.between(0, items.length - 1)]!;
  }

  /** Letters, digits, blanks and commas, as addresses have them. */
  text(lengthMin: number, lengthMax: number): string {
    let text = "";
    for (let left = this.between(lengthMin, lengthMax); left > 0; left--) text += ALPHABET[this.between(0, 63)];
    return text;
  }
}

const ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ,";
