/**
 * The place of a row as PostgreSQL's type tid writes it, (block,offset). Rows lie in no blocks here, so a place is made
 * of the row's storage key: it stays the same for as long as the row keeps its key, and rows of a table with other keys
 * have other places where the key has few enough bits:
 *
 *   no primary key: the row's number n     (0,1), (0,2), … (0,65535), (1,1), …
 *   one integer above 0                    likewise
 *   int2 and int4 from 0 downwards         a part of the others that is large enough
 *   all other keys                         a hash of the key among the others, which two rows can share
 */

/** What a row's storage key begins with, of every row of a table: tenant, space and table. */
export const ROW_PREFIX_BYTES = 9;

/** Offsets begin with 1, and no row has the last block, so no range that a client may ask for cuts one off. */
const OFFSETS = 65_535;
const BLOCKS = 2 ** 32 - 1;
/** Numbers up to it are places of their own. */
const NUMBER_MAX = 2 ** 46;
const OTHERS = BLOCKS * OFFSETS - NUMBER_MAX - 1;

const NUMBER_BYTES = 8;
/** A column's marker in a key. */
const PRESENT = 1;

/** @param key a row's storage key. */
export function placeOfKey(key: Uint8Array): string {
  const rest = key.subarray(ROW_PREFIX_BYTES);
  const number = numberIn(rest);
  if (number !== null && number >= 1 && number <= NUMBER_MAX) return placeOf(number);
  if (number !== null && rest.length <= 1 + 4) return placeOf(NUMBER_MAX + 1 + number + 2 ** 31);
  return placeOf(NUMBER_MAX + 1 + (hashOf(rest) % OTHERS));
}

function placeOf(number: number): string {
  return `(${Math.floor((number - 1) / OFFSETS)},${((number - 1) % OFFSETS) + 1})`;
}

/** The number that a key is, by its length: of a row without a primary key, or of one integer; null: another key. */
function numberIn(rest: Uint8Array): number | null {
  const view = new DataView(rest.buffer, rest.byteOffset, rest.length);
  if (rest.length === NUMBER_BYTES && rest[0] === 0) return view.getUint32(0) * 2 ** 32 + view.getUint32(4);
  if (rest[0] !== PRESENT) return null;
  switch (rest.length) {
    case 1 + 2:
      return view.getUint16(1) - 2 ** 15;
    case 1 + 4:
      return view.getUint32(1) - 2 ** 31;
    case 1 + 8:
      return (view.getUint32(1) - 2 ** 31) * 2 ** 32 + view.getUint32(5);
    default:
      return null;
  }
}

/** 52 bits of two 32-bit FNV-1a hashes with different beginnings, each mixed as MurmurHash3 ends. */
function hashOf(bytes: Uint8Array): number {
  return (hash32(bytes, 0x811c9dc5) & 0xfffff) * 2 ** 32 + hash32(bytes, 0x2f6b1a97);
}

/** Another hash of the key: with its place it tells it from others. */
export function keyHash(key: Uint8Array): number {
  return hash32(key, 0x5bd1e995);
}

function hash32(bytes: Uint8Array, seed: number): number {
  let hash = seed;
  for (const byte of bytes) {
    hash = Math.imul(hash ^ byte, 0x01000193);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** The order of places, as text. */
export function comparePlaces(a: string, b: string): number {
  if (a === b) return 0;
  const commaA = a.indexOf(",");
  const commaB = b.indexOf(",");
  const blocks = Number(a.slice(1, commaA)) - Number(b.slice(1, commaB));
  return blocks !== 0 ? blocks : Number(a.slice(commaA + 1, -1)) - Number(b.slice(commaB + 1, -1));
}

/** A transaction's number that depends on the row's values alone, and is none of those that PostgreSQL reserves. */
export function versionOf(texts: Iterable<string | null>): string {
  let hash = 0x811c9dc5;
  const add = (code: number) => {
    hash = Math.imul(hash ^ code, 0x01000193);
    hash ^= hash >>> 15;
  };
  for (const text of texts) {
    // NULL and the empty text differ, and so do ('ab', '') and ('a', 'b').
    add(text === null ? 0x10000 : 0x20000 + text.length);
    for (let i = 0; text !== null && i < text.length; i++) add(text.charCodeAt(i));
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  const reserved = 3;
  return String(reserved + (((hash ^ (hash >>> 16)) >>> 0) % (2 ** 32 - reserved)));
}
