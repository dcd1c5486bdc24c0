/**
 * Remembers by slot which rows pass a filter: two bits each, in words that a search can read. Owned by the index,
 * which clears a slot's mark when its row changes.
 */

export class SlotMarks {
  /** Bit set: it is known whether the slot's row passes. */
  private known = new Uint32Array(64);
  /** Bit set: it does. */
  private passing = new Uint32Array(64);
  knownCount = 0;
  passingCount = 0;
  /** All slots below are known, or not in use. */
  knownFrom = 0;

  /** A bit per slot, set where the row is known to pass; slots past the end do not. */
  get words(): Uint32Array {
    return this.passing;
  }

  isKnown(slot: number): boolean {
    const word = this.known[slot >>> 5];
    return word !== undefined && (word & (1 << (slot & 31))) !== 0;
  }

  passes(slot: number): boolean {
    const word = this.passing[slot >>> 5];
    return word !== undefined && (word & (1 << (slot & 31))) !== 0;
  }

  /** Of a slot that is not known yet. */
  note(slot: number, passes: boolean): void {
    const at = slot >>> 5;
    if (at >= this.known.length) this.grow(at + 1);
    const bit = 1 << (slot & 31);
    this.known[at]! |= bit;
    this.knownCount++;
    if (!passes) return;
    this.passing[at]! |= bit;
    this.passingCount++;
  }

  forget(slot: number): void {
    this.knownFrom = Math.min(this.knownFrom, slot);
    if (!this.isKnown(slot)) return;
    const bit = 1 << (slot & 31);
    this.known[slot >>> 5]! &= ~bit;
    this.knownCount--;
    if (!this.passes(slot)) return;
    this.passing[slot >>> 5]! &= ~bit;
    this.passingCount--;
  }

  /** Slots that pass, ascending. */
  slots(): Uint32Array {
    const slots = new Uint32Array(this.passingCount);
    let count = 0;
    for (let at = 0; at < this.passing.length; at++) {
      let word = this.passing[at]!;
      while (word !== 0) {
        const bit = word & -word;
        slots[count++] = at * 32 + 31 - Math.clz32(bit);
        word ^= bit;
      }
    }
    return slots;
  }

  private grow(words: number): void {
    const length = Math.max(words, 2 * this.known.length);
    const grown = (old: Uint32Array<ArrayBuffer>) => {
      const next = new Uint32Array(length);
      next.set(old);
      return next;
    };
    this.known = grown(this.known);
    this.passing = grown(this.passing);
  }
}
