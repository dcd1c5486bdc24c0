/**
 * The keys of an index's rows by slot, and slots by keys, all as bytes: strings in an array and a Map take some 200
 * bytes a row, this takes some 30 with keys of 9 bytes. Keys lie in pages of some slots each, and the slots in many
 * small tables by hash, so that nothing long is ever copied at once. Owned by derived-index.ts.
 */

const PAGE_SLOTS = 1024;
/** A page that grows is made for keys as long as those that it has, but no more than twice as large as needed now. */
const PAGE_BYTES_MIN = 512;
/** Of a full page, so that keys may come and go: an eighth. */
const SPARE_SHIFT = 3;
const PARTS = 256;
/** Places that a part begins with; a power of two, as they double. */
const PLACES_MIN = 8;
/** Of a place whose slot has gone. */
const GONE = 0xffffffff;
/** Of a name longer than so many characters not all are looked at. */
const HASHED_CHARACTERS = 1024;
/** Of a page beside its keys, and of a part beside its places, with what the engine needs for each. */
const PAGE_HEAD_BYTES = PAGE_SLOTS * 10 + 700;
const PART_HEAD_BYTES = 200;
const NO_PLACES = new Uint32Array(PLACES_MIN);

export class SlotKeys {
  private readonly pages: KeyPage[] = [];
  private readonly parts: (SlotPart | undefined)[] = Array.from({ length: PARTS });
  private count = 0;
  private length = 0;
  private held = 0;

  /** Slots below were used before. */
  constructor(private slots = 0) {}

  /** Slots that are in use. */
  get size(): number {
    return this.count;
  }

  /** Slots ever used are smaller than this. */
  get slotCount(): number {
    return this.slots;
  }

  /** Of all names together. */
  get characters(): number {
    return this.length;
  }

  /** Memory. */
  get bytes(): number {
    return this.held;
  }

  slotOf(name: string): number | undefined {
    const hash = hashOf(name);
    return this.parts[hash & (PARTS - 1)]?.find(name, hash);
  }

  /** The name, latin-1; null: the slot is free. */
  at(slot: number): string | null {
    return this.pages[Math.floor(slot / PAGE_SLOTS)]?.at(slot % PAGE_SLOTS) ?? null;
  }

  /** The bytes of a slot that is in use, behind a prefix. */
  keyAt(slot: number, prefix: Uint8Array): Uint8Array {
    return this.pages[Math.floor(slot / PAGE_SLOTS)]!.keyAt(slot % PAGE_SLOTS, prefix);
  }

  isUsed(slot: number): boolean {
    return this.pages[Math.floor(slot / PAGE_SLOTS)]?.isUsed(slot % PAGE_SLOTS) === true;
  }

  /** Gives a free slot a name that no other has. */
  set(slot: number, name: string): void {
    while (this.pages.length <= slot / PAGE_SLOTS) {
      const added = new KeyPage();
      this.pages.push(added);
      this.held += added.size;
    }
    const hash = hashOf(name);
    const page = this.pages[Math.floor(slot / PAGE_SLOTS)]!;
    const part = this.partOf(hash);
    const before = page.size + part.size;
    page.set(slot % PAGE_SLOTS, name, hash);
    part.add(slot, hash);
    this.held += page.size + part.size - before;
    this.slots = Math.max(this.slots, slot + 1);
    this.count++;
    this.length += name.length;
  }

  private partOf(hash: number): SlotPart {
    const number = hash & (PARTS - 1);
    let part = this.parts[number];
    if (part === undefined) {
      part = new SlotPart(this.pages);
      this.parts[number] = part;
      this.held += part.size;
    }
    return part;
  }

  /** Frees a slot that is in use; `name` is its. */
  delete(slot: number, name: string): void {
    const hash = hashOf(name);
    this.parts[hash & (PARTS - 1)]!.remove(slot, hash);
    this.pages[Math.floor(slot / PAGE_SLOTS)]!.delete(slot % PAGE_SLOTS);
    this.count--;
    this.length -= name.length;
  }

  /** Also of slots that are free; those below `to`. */
  *names(from: number, to: number): Generator<string | null> {
    for (let slot = from; slot < to; slot++) yield this.at(slot);
  }

  /** Of the part with the most. */
  get partMax(): number {
    return Math.max(...this.parts.map((part) => part?.used ?? 0));
  }
}

/** The keys of some slots: one after another, as they came. When there is no room for more, they are moved together. */
class KeyPage {
  private readonly starts = new Uint32Array(PAGE_SLOTS);
  /** 0: the slot is free; else one more. */
  private readonly lengths = new Uint16Array(PAGE_SLOTS);
  readonly hashes = new Uint32Array(PAGE_SLOTS);
  private bytes = Buffer.allocUnsafeSlow(PAGE_BYTES_MIN);
  private end = 0;
  /** Bytes of slots that are in use, and how many those are. */
  private live = 0;
  private used = 0;

  get size(): number {
    return PAGE_HEAD_BYTES + this.bytes.length;
  }

  isUsed(place: number): boolean {
    return this.lengths[place]! > 0;
  }

  at(place: number): string | null {
    const length = this.lengths[place]!;
    const start = this.starts[place]!;
    return length === 0 ? null : this.bytes.toString("latin1", start, start + length - 1);
  }

  keyAt(place: number, prefix: Uint8Array): Uint8Array {
    const length = this.lengths[place]! - 1;
    const start = this.starts[place]!;
    const key = Buffer.allocUnsafe(prefix.length + length);
    key.set(prefix);
    this.bytes.copy(key, prefix.length, start, start + length);
    return key;
  }

  is(place: number, name: string): boolean {
    if (this.lengths[place] !== name.length + 1) return false;
    const start = this.starts[place]!;
    for (let i = 0; i < name.length; i++) if (this.bytes[start + i] !== name.charCodeAt(i)) return false;
    return true;
  }

  set(place: number, name: string, hash: number): void {
    const { length } = name;
    if (this.end + length > this.bytes.length) this.makeRoom(length);
    this.bytes.write(name, this.end, "latin1");
    this.starts[place] = this.end;
    this.lengths[place] = length + 1;
    this.hashes[place] = hash;
    this.end += length;
    this.live += length;
    this.used++;
  }

  delete(place: number): void {
    this.live -= this.lengths[place]! - 1;
    this.lengths[place] = 0;
    this.used--;
  }

  private makeRoom(length: number): void {
    const { bytes, live, used, starts, lengths } = this;
    const needed = live + length;
    const foreseen = Math.max(Math.ceil((needed / (used + 1)) * PAGE_SLOTS), needed + (needed >> SPARE_SHIFT));
    const larger = Buffer.allocUnsafeSlow(Math.min(foreseen, Math.max(PAGE_BYTES_MIN, 2 * needed)));
    this.end = 0;
    for (let place = 0; place < PAGE_SLOTS; place++) {
      if (lengths[place] === 0) continue;
      const start = starts[place]!;
      starts[place] = this.end;
      this.end += bytes.copy(larger, this.end, start, start + lengths[place]! - 1);
    }
    this.bytes = larger;
  }
}

/** A table of the slots whose hashes end alike: by the rest of the hash, and from there on. */
class SlotPart {
  /** One more than the slot; 0: none was ever there. */
  private places: Uint32Array = NO_PLACES;
  /** Places that are not 0. */
  private taken = 0;
  used = 0;

  constructor(private readonly pages: readonly KeyPage[]) {}

  get size(): number {
    return PART_HEAD_BYTES + this.places.byteLength;
  }

  find(name: string, hash: number): number | undefined {
    const { places, pages } = this;
    const mask = places.length - 1;
    for (let at = (hash >>> 8) & mask; places[at] !== 0; at = (at + 1) & mask) {
      if (places[at] === GONE) continue;
      const slot = places[at]! - 1;
      const page = pages[Math.floor(slot / PAGE_SLOTS)]!;
      if (page.hashes[slot % PAGE_SLOTS] === hash && page.is(slot % PAGE_SLOTS, name)) return slot;
    }
    return undefined;
  }

  add(slot: number, hash: number): void {
    if ((this.taken + 1) * 4 > this.places.length * 3 || this.places === NO_PLACES) this.makeAnew();
    this.put(slot, hash);
    this.used++;
  }

  private put(slot: number, hash: number): void {
    const { places } = this;
    const mask = places.length - 1;
    let at = (hash >>> 8) & mask;
    while (places[at] !== 0) at = (at + 1) & mask;
    places[at] = slot + 1;
    this.taken++;
  }

  remove(slot: number, hash: number): void {
    const { places } = this;
    const mask = places.length - 1;
    let at = (hash >>> 8) & mask;
    while (places[at] !== slot + 1) at = (at + 1) & mask;
    places[at] = GONE;
    this.used--;
  }

  private makeAnew(): void {
    const before = this.places;
    let length = PLACES_MIN;
    while (length < 2 * (this.used + 1)) length *= 2;
    this.places = new Uint32Array(length);
    this.taken = 0;
    for (const place of before) {
      if (place === 0 || place === GONE) continue;
      const slot = place - 1;
      this.put(slot, this.pages[Math.floor(slot / PAGE_SLOTS)]!.hashes[slot % PAGE_SLOTS]!);
    }
  }
}

function hashOf(name: string): number {
  let hash = name.length;
  const step = Math.ceil(name.length / HASHED_CHARACTERS);
  for (let i = 0; i < name.length; i += step) hash = Math.imul(hash, 31) + name.charCodeAt(i);
  // As MurmurHash3 ends: keys that differ in one bit are to differ in half of the bits.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
