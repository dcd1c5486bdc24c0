/** The documents that have a term, ascending, and how often each has it. Owned by text-body.ts. */

const ROOM_MIN = 4;
/** Of a slot and a count. */
export const ENTRY_BYTES = 6;
const COUNT_MAX = 0xffff;

export class PostingList {
  slots = new Uint32Array(ROOM_MIN);
  counts = new Uint16Array(ROOM_MIN);
  length = 0;

  /** Entries that there is memory for. */
  get room(): number {
    return this.slots.length;
  }

  get bytes(): number {
    return this.room * ENTRY_BYTES;
  }

  /** The place of the slot, or where it would be. */
  placeOf(slot: number): number {
    const { slots } = this;
    let low = 0;
    let high = this.length;
    // Mostly the newest slot is the largest.
    if (high === 0 || slots[high - 1]! < slot) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (slots[middle]! < slot) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  has(slot: number): boolean {
    const place = this.placeOf(slot);
    return place < this.length && this.slots[place] === slot;
  }

  /** Of a slot that is not there. */
  add(slot: number, count: number): void {
    const place = this.placeOf(slot);
    if (this.length === this.slots.length) this.resize(2 * this.length);
    this.slots.copyWithin(place + 1, place, this.length);
    this.counts.copyWithin(place + 1, place, this.length);
    this.slots[place] = slot;
    this.counts[place] = Math.min(count, COUNT_MAX);
    this.length++;
  }

  /** Of a slot that is there. */
  remove(slot: number): void {
    const place = this.placeOf(slot);
    this.slots.copyWithin(place, place + 1, this.length);
    this.counts.copyWithin(place, place + 1, this.length);
    this.length--;
    if (this.length < this.slots.length / 4 && this.slots.length > ROOM_MIN) this.resize(this.slots.length / 2);
  }

  private resize(room: number): void {
    const slots = new Uint32Array(room);
    const counts = new Uint16Array(room);
    slots.set(this.slots.subarray(0, this.length));
    counts.set(this.counts.subarray(0, this.length));
    this.slots = slots;
    this.counts = counts;
  }
}
