/**
 * Which keys commits have replaced since the process started, as Bloom filters of some thousand keys each: of most keys
 * they say at once that no commit has, where a look at what was replaced would cost an iterator. Owned by
 * layered-engine.ts, which notes every key whose past it keeps.
 *
 * Bloom, Space/Time Trade-offs in Hash Coding (1970); the places of a key from two hashes as in Kirsch and
 * Mitzenmacher, Less Hashing, Same Performance (2006).
 */
import { keyHash } from "../values/row-place.js";

/** Of one filter: 64 KiB, in which one key in 200 that is not there seems to be. */
const KEYS_MAX = 2 ** 15;
const BITS = 16 * KEYS_MAX;
const PLACES = 3;
const FILTERS_MAX = 16;

interface Filter {
  readonly bits: Uint32Array;
  keys: number;
  /** The newest commit that it knows of. */
  upTo: number;
}

export class ReplacedFilter {
  /** Those of older commits come first. */
  private readonly filters: Filter[] = [];

  /** `from`: it is told of all later commits. */
  constructor(private from: number) {}

  note(key: Uint8Array, sequence: number): void {
    let filter = this.filters.at(-1);
    if (filter === undefined || filter.keys === KEYS_MAX) {
      filter = { bits: new Uint32Array(BITS / 32), keys: 0, upTo: sequence };
      this.filters.push(filter);
      if (this.filters.length > FILTERS_MAX) this.from = this.filters.shift()!.upTo;
    }
    filter.keys++;
    filter.upTo = sequence;
    const hash = keyHash(key);
    const step = stepOf(hash);
    for (let i = 0; i < PLACES; i++) {
      const bit = ((hash + Math.imul(i, step)) >>> 0) % BITS;
      filter.bits[bit >>> 5]! |= 1 << (bit & 31);
    }
  }

  /** False: no later commit than that one has replaced the key. */
  mayHave(key: Uint8Array, sequence: number): boolean {
    if (sequence < this.from) return true;
    const hash = keyHash(key);
    const step = stepOf(hash);
    for (let i = this.filters.length - 1; i >= 0; i--) {
      const filter = this.filters[i]!;
      if (filter.upTo <= sequence) return false;
      if (isIn(filter.bits, hash, step)) return true;
    }
    return false;
  }
}

function isIn(bits: Uint32Array, hash: number, step: number): boolean {
  for (let i = 0; i < PLACES; i++) {
    const bit = ((hash + Math.imul(i, step)) >>> 0) % BITS;
    if ((bits[bit >>> 5]! & (1 << (bit & 31))) === 0) return false;
  }
  return true;
}

/** Odd, so that the places of a key differ. */
function stepOf(hash: number): number {
  return (Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) | 1) >>> 0;
}
