/** The next write of a sorted run that is being merged with others. Owned by the merge. */
import { compareKeys } from "./compare-keys.js";
import { allocateMemory, type Memory } from "./copy-bytes.js";
import { wordOf } from "./sort-keys.js";

const NOTHING = allocateMemory(0);
/** Of `high` and `low`. */
const WORDS_BYTES = 8;

export abstract class RunHead {
  slab: Memory = NOTHING;
  /** Of the key; its frame's head is before it. */
  start = 0;
  keyLength = 0;
  valueLength = 0;
  /** Eight bytes of the key from `alike` on; zeros where it has ended. */
  high = 0;
  low = 0;

  /** `alike`: bytes in which all keys are alike. */
  constructor(protected readonly alike: number) {}

  /** False: there is no further one. */
  abstract advance(): boolean;

  protected stand(slab: Memory, start: number, keyLength: number, valueLength: number): void {
    this.slab = slab;
    this.start = start;
    this.keyLength = keyLength;
    this.valueLength = valueLength;
    const first = start + this.alike;
    const length = keyLength - this.alike;
    this.high = wordOf(slab, first, length);
    this.low = wordOf(slab, first + 4, length - 4);
  }

  isBefore(other: RunHead): boolean {
    if (this.high !== other.high) return this.high < other.high;
    if (this.low !== other.low) return this.low < other.low;
    return this.compareRest(other) < 0;
  }

  /** Of keys with the same eight bytes. */
  private compareRest({ slab, start, keyLength }: RunHead): number {
    return compareKeys(this.slab, this.start, this.keyLength, slab, start, keyLength, this.alike + WORDS_BYTES);
  }
}
