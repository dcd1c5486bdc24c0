/** Which tables and sequences a transaction has to do with, told by the keys that it wrote and read. */
import { prefixEnd, SPACE, storageIdOf } from "./keys.js";
import type { ReadSet } from "./read-set.js";
import type { TouchedPlaces } from "./store.js";
import type { WriteSet } from "./write-set.js";

/** What tells of which table's rows or index's entries a key is, or of which sequence. */
const PLACE_BYTES = 9;
const SPACE_BYTES = 5;
/** So many take a millisecond. */
const WRITES_MAX = 250_000;

/** `reads`: null where they are not validated. Answers null where it is too much, or too wide, to tell. */
export function touchedPlaces(own: WriteSet, reads: ReadSet | null): TouchedPlaces | null {
  if (own.writes.size > WRITES_MAX) return null;
  const places = new Places();
  for (const { key } of own.writes.values()) places.add(key);
  for (const { runs } of own.loads) for (const { prefix } of runs) places.add(prefix);
  for (const { low, high } of reads?.intervals() ?? []) if (!places.addRange(low, high)) return null;
  return places;
}

class Places implements TouchedPlaces {
  readonly storageIds = new Set<number>();
  readonly sequenceIds = new Set<number>();
  private lastStorage = -1;

  add(key: Uint8Array): void {
    if (key.length < PLACE_BYTES) return;
    const space = key[4];
    if (space === SPACE.sequences) this.sequenceIds.add(storageIdOf(key));
    if (space !== SPACE.rows && space !== SPACE.index) return;
    const storage = storageIdOf(key);
    if (storage !== this.lastStorage) this.storageIds.add(storage);
    this.lastStorage = storage;
  }

  /** `high` is exclusive. False: they are of several tables. */
  addRange(low: Uint8Array, high: Uint8Array): boolean {
    const length = isOfPlace(low) ? PLACE_BYTES : SPACE_BYTES;
    if (low.length < length || Buffer.compare(high, prefixEnd(low.subarray(0, length))) > 0) return false;
    this.add(low);
    return true;
  }
}

function isOfPlace(key: Uint8Array): boolean {
  return key[4] === SPACE.rows || key[4] === SPACE.index || key[4] === SPACE.sequences;
}
