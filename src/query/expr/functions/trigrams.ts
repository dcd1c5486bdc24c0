/**
 * Functions and operators of the extension pg_trgm: how alike texts are by their trigrams. The algorithms are those of
 * PostgreSQL's trgm_op.c. set_limit() is with the other functions that change settings.
 */

import { sqlArray } from "../../../values/text-format-array.js";
import { requestText, trigramsOfPattern, trigramsOfText } from "../../../values/trigrams.js";
import { arrayOf, BOOL, FLOAT4, TEXT } from "../../../values/values.js";
import type { EvalContext, ScalarFunction } from "../expr.js";
import { contextFn, fn, type OperatorFunction, op, operatorFunctions, taking } from "./define.js";
import { likeParts } from "./like.js";

const WORD = /[\p{L}\p{M}\p{N}]+/gu;

/** A trigram is a number: its three bytes, or three bytes of a checksum where its characters take more. */
type Trigram = number;

interface WordTrigrams {
  /** In the order of the text, with repetitions. */
  readonly trigrams: Trigram[];
  /** By place in `trigrams`: 1 for the first one of a word, 2 for the last, 3 for both; else 0. */
  readonly bounds: number[];
}

const LEFT_BOUND = 1;
const RIGHT_BOUND = 2;

/** The trigrams of each word, which counts with two blanks before it and one behind it. */
function trigramsInOrder(text: string): WordTrigrams {
  const trigrams: Trigram[] = [];
  const bounds: number[] = [];
  for (const [word] of text.toLowerCase().matchAll(WORD)) {
    const first = trigrams.length;
    addWord(word, trigrams);
    for (let i = first; i < trigrams.length; i++) bounds.push(0);
    bounds[first] = bounds[first]! | LEFT_BOUND;
    bounds[trigrams.length - 1] = bounds[trigrams.length - 1]! | RIGHT_BOUND;
  }
  return { trigrams, bounds };
}

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

function addWord(word: string, trigrams: Trigram[]): void {
  const padded = `  ${word} `;
  if (isAscii(word)) {
    for (let i = 0; i + 2 < padded.length; i++) {
      trigrams.push((padded.charCodeAt(i) << 16) | (padded.charCodeAt(i + 1) << 8) | padded.charCodeAt(i + 2));
    }
    return;
  }
  const characters = Array.from(padded);
  for (let i = 0; i + 2 < characters.length; i++) {
    trigrams.push(compactTrigram(characters[i]! + characters[i + 1]! + characters[i + 2]!));
  }
}

function compactTrigram(characters: string): Trigram {
  const bytes = Buffer.from(characters);
  if (bytes.length === 3) return (bytes[0]! << 16) | (bytes[1]! << 8) | bytes[2]!;
  const sum = legacyCrc32(bytes);
  // The first three bytes of the checksum, which lies with its lowest one first.
  return ((sum & 0xff) << 16) | (sum & 0xff00) | ((sum >>> 16) & 0xff);
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, i) => {
  let value = i;
  for (let bit = 0; bit < 8; bit++) value = (value & 1) !== 0 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

/** PostgreSQL's "legacy" CRC-32: the reflected table with the steps of the other form. */
function legacyCrc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (CRC_TABLE[((crc >>> 24) ^ byte) & 0xff]! ^ (crc << 8)) >>> 0;
  return (crc ^ 0xffffffff) >>> 0;
}

/** Each byte counts as a signed one. */
const signed = (trigram: Trigram): number => trigram ^ 0x808080;

/** Without repetitions, in ascending order. */
function trigramsOf(text: string): Trigram[] {
  return [...new Set(trigramsInOrder(text).trigrams)].sort((a, b) => signed(a) - signed(b));
}

function trigramText(trigram: Trigram): string {
  const bytes = [trigram >> 16, (trigram >> 8) & 0xff, trigram & 0xff];
  const isPrintable = bytes.every((byte) => byte >= 32 && byte < 127);
  return isPrintable ? String.fromCharCode(...bytes) : `0x${trigram.toString(16).padStart(6, "0")}`;
}

const share = (common: number, left: number, right: number) => Math.fround(common / (left + right - common));

function similarity(a: string, b: string): number {
  const left = new Set(trigramsInOrder(a).trigrams);
  const right = new Set(trigramsInOrder(b).trigrams);
  if (left.size === 0 || right.size === 0) return 0;
  let common = 0;
  for (const trigram of left) if (right.has(trigram)) common++;
  return share(common, left.size, right.size);
}

/** The greatest similarity of `a` with a part of `b`; `strict`: with whole words of `b`. */
function wordSimilarity(a: string, b: string, strict: boolean): number {
  const wanted = new Set(trigramsInOrder(a).trigrams);
  const { trigrams, bounds } = trigramsInOrder(b);
  const numbers = new Map<Trigram, number>();
  const found: boolean[] = [];
  const places = trigrams.map((trigram) => {
    let number = numbers.get(trigram);
    if (number === undefined) {
      number = numbers.size;
      numbers.set(trigram, number);
      found.push(wanted.has(trigram));
    }
    return number;
  });
  return new BestExtent(places, found, wanted.size, strict ? bounds : null).search();
}

/** Finds the part of a text, between two places of its trigrams, that is most like the wanted one. */
class BestExtent {
  private readonly lastPlace: Int32Array;
  private lower: number;
  private inside = 0;
  private common = 0;

  /** `places`: the number of each trigram; `found`: by number, whether it is wanted; `bounds`: null unless strict. */
  constructor(
    private readonly places: readonly number[],
    private readonly found: readonly boolean[],
    private readonly wanted: number,
    private readonly bounds: readonly number[] | null,
  ) {
    this.lastPlace = new Int32Array(found.length).fill(-1);
    this.lower = bounds === null ? -1 : 0;
  }

  search(): number {
    const { places, found, bounds, lastPlace } = this;
    let best = 0;
    for (let i = 0; i < places.length; i++) {
      const number = places[i]!;
      if (this.lower >= 0 || found[number]) {
        if (lastPlace[number]! < 0) {
          this.inside++;
          if (found[number]) this.common++;
        }
        lastPlace[number] = i;
      }
      if (bounds === null ? !found[number] : (bounds[i]! & RIGHT_BOUND) === 0) continue;
      if (this.lower === -1) {
        this.lower = i;
        this.inside = 1;
      }
      best = Math.max(best, this.shrink(i));
    }
    return best;
  }

  /** Moves the lower end up to where the part that ends at `upper` is most alike; gives how much it is. */
  private shrink(upper: number): number {
    const { places, found, bounds, lastPlace, wanted } = this;
    const before = this.lower;
    let [common, inside] = [this.common, this.inside];
    let best = share(common, wanted, inside);
    for (let place = before; place <= upper; place++) {
      if (bounds === null || (bounds[place]! & LEFT_BOUND) !== 0) {
        const here = share(common, wanted, inside);
        if (here > best) {
          best = here;
          this.inside = inside;
          this.lower = place;
          this.common = common;
        }
      }
      const number = places[place]!;
      if (lastPlace[number] !== place) continue;
      inside--;
      if (found[number]) common--;
    }
    for (let place = before; place < this.lower; place++) {
      const number = places[place]!;
      if (lastPlace[number] === place) lastPlace[number] = -1;
    }
    return best;
  }
}

const inWord = (a: string, b: string): number => wordSimilarity(a, b, false);
const inStrictWord = (a: string, b: string): number => wordSimilarity(a, b, true);

type Likeness = (a: string, b: string) => number;

const swapped =
  (likeness: Likeness): Likeness =>
  (a, b) =>
    likeness(b, a);
const distance =
  (likeness: Likeness): Likeness =>
  (a, b) =>
    Math.fround(1 - likeness(a, b));

/** A similarity is rounded to single precision before it is compared. */
const ROUNDING = 1e-6;

export const SIMILARITY_THRESHOLD = "pg_trgm.similarity_threshold";
export const WORD_THRESHOLD = "pg_trgm.word_similarity_threshold";
export const STRICT_WORD_THRESHOLD = "pg_trgm.strict_word_similarity_threshold";

const threshold = ({ services }: EvalContext, name: string) => Number(services.setting(name));

/** Whether texts are at least as alike as a setting says. */
function alike(symbol: string, setting: string, likeness: Likeness): ScalarFunction {
  const apply = (context: EvalContext, a: string, b: string) => likeness(a, b) >= threshold(context, setting);
  return Object.freeze({ ...contextFn(symbol, [TEXT, TEXT], BOOL, apply), operator: symbol });
}

export const TRIGRAM_OPERATORS: readonly ScalarFunction[] = taking(300, [
  alike("%", SIMILARITY_THRESHOLD, similarity),
  alike("<%", WORD_THRESHOLD, inWord),
  alike("%>", WORD_THRESHOLD, swapped(inWord)),
  alike("<<%", STRICT_WORD_THRESHOLD, inStrictWord),
  alike("%>>", STRICT_WORD_THRESHOLD, swapped(inStrictWord)),
  op("<->", [TEXT, TEXT], FLOAT4, distance(similarity)),
  op("<<->", [TEXT, TEXT], FLOAT4, distance(inWord)),
  op("<->>", [TEXT, TEXT], FLOAT4, distance(swapped(inWord))),
  op("<<<->", [TEXT, TEXT], FLOAT4, distance(inStrictWord)),
  op("<->>>", [TEXT, TEXT], FLOAT4, distance(swapped(inStrictWord))),
]);

/** The request of a pattern; NULL of NULL, which matches nothing. */
export const TRIGRAMS_OF_LIKE: ScalarFunction = fn("trigrams_of_like", [TEXT], TEXT, (pattern: string) => {
  // A pattern that is wrong tells so when it is matched.
  const trigrams = trigramsOfPattern(likeParts(pattern) ?? []);
  return requestText({ trigrams, least: trigrams.length });
});

/**
 * The request of a text that must be alike, by the name of the setting that says how much. So many of its trigrams the
 * other text must have, because the similarity is at most the share of them that it has.
 */
export const TRIGRAMS_OF_ALIKE: ScalarFunction = contextFn(
  "trigrams_of_alike",
  [TEXT, TEXT],
  TEXT,
  (context: EvalContext, text: string, setting: string) => {
    const trigrams = trigramsOfText(text);
    const least = Math.ceil(trigrams.length * threshold(context, setting) * (1 - ROUNDING));
    return requestText({ trigrams, least });
  },
);

const BEHIND: readonly OperatorFunction[] = [
  ["similarity_op", "%", TEXT, TEXT],
  ["similarity_dist", "<->", TEXT, TEXT],
  ["word_similarity_op", "<%", TEXT, TEXT],
  ["word_similarity_commutator_op", "%>", TEXT, TEXT],
  ["word_similarity_dist_op", "<<->", TEXT, TEXT],
  ["word_similarity_dist_commutator_op", "<->>", TEXT, TEXT],
  ["strict_word_similarity_op", "<<%", TEXT, TEXT],
  ["strict_word_similarity_commutator_op", "%>>", TEXT, TEXT],
  ["strict_word_similarity_dist_op", "<<<->", TEXT, TEXT],
  ["strict_word_similarity_dist_commutator_op", "<->>>", TEXT, TEXT],
];

export const TRIGRAM_FUNCTIONS: readonly ScalarFunction[] = [
  ...taking(300, [
    fn("similarity", [TEXT, TEXT], FLOAT4, similarity),
    fn("word_similarity", [TEXT, TEXT], FLOAT4, inWord),
    fn("strict_word_similarity", [TEXT, TEXT], FLOAT4, inStrictWord),
    fn("show_trgm", [TEXT], arrayOf(TEXT), (text: string) => sqlArray(trigramsOf(text).map(trigramText))),
  ]),
  ...operatorFunctions(TRIGRAM_OPERATORS, BEHIND),
  contextFn("show_limit", [], FLOAT4, (context) => Math.fround(threshold(context, SIMILARITY_THRESHOLD))),
];
