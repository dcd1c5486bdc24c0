/**
 * Vectors most of whose members are zero, as pgvector's type sparsevec has them: text like `{1:0.5,7:2}/10`, places
 * from 1.
 */
import { sqlError } from "../protocol/errors.js";
import { SPARSE_DIMENSIONS_MAX, SPARSE_MEMBERS_MAX, VECTOR_DIMENSIONS_MAX } from "../protocol/limits.js";
import { float4ToText } from "./float-text.js";
import type { SqlType } from "./values.js";
import { tooManyMembers } from "./vector-text.js";

export interface Sparse {
  readonly dimensions: number;
  /** From 0, ascending. */
  readonly places: Int32Array;
  /** None is zero. */
  readonly members: Float32Array;
}

/** Each takes time in proportion to the text. */
const DIMENSIONS = /^\/\s*(-?\d+)$/;
const MEMBER = /^(-?\d+)\s*:\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?|[+-]?(?:nan|inf|infinity))$/i;
/** Of a text: more of them are no vector. */
const CHARACTERS_MAX = 4_000_000;

const failed = (message: string) => sqlError("22000", message);
const invalid = (text: string, detail: string | null = null) =>
  sqlError("22P02", `invalid input syntax for type sparsevec: "${text}"`, detail === null ? {} : { detail });

/** The value's own spelling. Throws 22P02, 22000, 22003, 54000. */
export function sparseFromText(type: SqlType, text: string): string {
  if (text.length > CHARACTERS_MAX) throw tooManyMembers();
  const written = text.trim();
  const close = written.lastIndexOf("}");
  const match = written[0] === "{" && close > 0 ? DIMENSIONS.exec(written.slice(close + 1).trim()) : null;
  if (match === null) throw invalid(text, detailOf(written, close));
  const body = written.slice(1, close).trim();
  const members = body === "" ? [] : body.split(",");
  if (members.length > SPARSE_MEMBERS_MAX) throw tooManyMembers();
  const pairs = members.map((pair) => pairOf(pair.trim(), text));
  return fitSparse(type, sparseToText(sparseWith(Number(match[1]), pairs)));
}

/** What is wrong around the members, in pgvector's words; null: nothing. */
function detailOf(written: string, close: number): string | null {
  if (written[0] !== "{") return 'Vector contents must start with "{".';
  if (close < 0) return null;
  const rest = written.slice(close + 1).trim();
  if (rest === "") return "Unexpected end of input.";
  return /^\/\s*-?\d+\S/.test(rest) ? "Junk after closing." : null;
}

function pairOf(pair: string, text: string): readonly [number, number] {
  const match = MEMBER.exec(pair);
  if (match === null) throw invalid(text);
  const written = match[2]!;
  if (/[ni]/i.test(written))
    throw failed(`${/nan/i.test(written) ? "NaN" : "infinite value"} not allowed in sparsevec`);
  const number = Number(written);
  const member = Math.fround(number);
  if (!Number.isFinite(member) || (member === 0 && number !== 0))
    throw sqlError("22003", `"${match[2]}" is out of range for type sparsevec`);
  return [Number(match[1]) - 1, member];
}

/** Of members by place from 0, in any order. Throws 22000, 54000. */
export function sparseWith(dimensions: number, pairs: readonly (readonly [number, number])[]): Sparse {
  if (dimensions < 1) throw failed("sparsevec must have at least 1 dimension");
  if (dimensions > SPARSE_DIMENSIONS_MAX) {
    throw sqlError("54000", `sparsevec cannot have more than ${SPARSE_DIMENSIONS_MAX} dimensions`);
  }
  if (pairs.length > SPARSE_MEMBERS_MAX) throw tooManyMembers();
  const sorted = [...pairs].sort(([a], [b]) => a - b);
  for (const [i, [place, member]] of sorted.entries()) {
    if (!(place >= 0 && place < dimensions)) throw failed("sparsevec index out of bounds");
    if (i > 0 && sorted[i - 1]![0] === place) throw failed("sparsevec indices must not contain duplicates");
    if (!Number.isFinite(member)) {
      throw failed(`${Number.isNaN(member) ? "NaN" : "infinite value"} not allowed in sparsevec`);
    }
  }
  const kept = sorted.filter(([, member]) => member !== 0);
  return {
    dimensions,
    places: Int32Array.from(kept, ([place]) => place),
    members: Float32Array.from(kept, ([, member]) => member),
  };
}

export function sparseToText({ dimensions, places, members }: Sparse): string {
  const pairs = Array.from(places, (place, i) => `${place + 1}:${float4ToText(members[i]!)}`);
  return `{${pairs.join()}}/${dimensions}`;
}

/** Of a value's own spelling. */
export function sparseIn(text: string): Sparse {
  const end = text.lastIndexOf("}");
  const dimensions = Number(text.slice(end + 2));
  const pairs = end === 1 ? [] : text.slice(1, end).split(",");
  const places = new Int32Array(pairs.length);
  const members = new Float32Array(pairs.length);
  for (const [i, pair] of pairs.entries()) {
    const colon = pair.indexOf(":");
    places[i] = Number(pair.slice(0, colon)) - 1;
    members[i] = Number(pair.slice(colon + 1));
  }
  return { dimensions, places, members };
}

/** Refuses other dimensions than the type's. Throws 22000. */
export function fitSparse({ modifier }: SqlType, text: string): string {
  if (modifier === null) return text;
  const dimensions = Number(text.slice(text.lastIndexOf("/") + 1));
  if (dimensions !== modifier) throw failed(`expected ${modifier} dimensions, not ${dimensions}`);
  return text;
}

/** Throws 54000 for more members than a vector can have. */
export function denseOf(text: string, name = "vector"): Float32Array {
  const { dimensions, places, members } = sparseIn(text);
  if (dimensions > VECTOR_DIMENSIONS_MAX) {
    throw sqlError("54000", `${name} cannot have more than ${VECTOR_DIMENSIONS_MAX} dimensions`);
  }
  const vector = new Float32Array(dimensions);
  for (let i = 0; i < places.length; i++) vector[places[i]!] = members[i]!;
  return vector;
}

export function sparseOf(vector: Float32Array): string {
  return sparseToText(
    sparseWith(
      vector.length,
      [...Array.from(vector).entries()].filter(([, member]) => member !== 0),
    ),
  );
}

/**
 * Member by member, zeros too; of those alike the shorter one is first. Reads no more than the first members that
 * differ.
 */
export function compareSparse(x: string, y: string): number {
  if (x === y) return 0;
  let same = 0;
  while (x.charCodeAt(same) === y.charCodeAt(same)) same++;
  // The pair in which they part.
  const from = Math.max(x.lastIndexOf(",", same - 1), 0) + 1;
  const [a, b] = [sparseIn(`{${restOf(x, from)}`), sparseIn(`{${restOf(y, from)}`)];
  const shorter = Math.min(a.dimensions, b.dimensions);
  for (let i = 0; i < Math.max(a.places.length, b.places.length); i++) {
    const [p, q] = [a.places[i] ?? Number.POSITIVE_INFINITY, b.places[i] ?? Number.POSITIVE_INFINITY];
    if (Math.min(p, q) >= shorter) break;
    const difference = (p <= q ? a.members[i]! : 0) - (q <= p ? b.members[i]! : 0);
    if (difference !== 0) return difference;
  }
  return a.dimensions - b.dimensions;
}

/** Two pairs are enough: those that are alike, where one text ends behind them, and the next. */
function restOf(text: string, from: number): string {
  const end = text.lastIndexOf("}");
  const second = text.indexOf(",", from);
  const third = second < 0 ? -1 : text.indexOf(",", second + 1);
  return `${text.slice(Math.min(from, end), third < 0 ? end : third)}${text.slice(end)}`;
}

/** Both members at each place where one of the two has any. Throws 22000 for other dimensions. */
function eachPair(a: Sparse, b: Sparse, take: (x: number, y: number) => void): void {
  if (a.dimensions !== b.dimensions) {
    throw failed(`different sparsevec dimensions ${a.dimensions} and ${b.dimensions}`);
  }
  let [i, j] = [0, 0];
  while (i < a.places.length || j < b.places.length) {
    const [p, q] = [a.places[i] ?? a.dimensions, b.places[j] ?? b.dimensions];
    take(p <= q ? a.members[i++]! : 0, q <= p ? b.members[j++]! : 0);
  }
}

function sumOver(a: Sparse, b: Sparse, of: (x: number, y: number) => number): number {
  let sum = 0;
  eachPair(a, b, (x, y) => {
    sum += of(x, y);
  });
  return sum;
}

export const sparseProduct = (a: Sparse, b: Sparse): number => sumOver(a, b, (x, y) => x * y);

export const sparseL1 = (a: Sparse, b: Sparse): number => sumOver(a, b, (x, y) => Math.abs(x - y));

export const sparseL2 = (a: Sparse, b: Sparse): number => Math.sqrt(sumOver(a, b, (x, y) => (x - y) ** 2));

const squareOf = ({ members }: Sparse): number => members.reduce((sum, x) => sum + x * x, 0);

export const sparseNorm = (a: Sparse): number => Math.sqrt(squareOf(a));

/** NaN where one of the two is zero. */
export function sparseCosine(a: Sparse, b: Sparse): number {
  const likeness = sparseProduct(a, b) / Math.sqrt(squareOf(a) * squareOf(b));
  return 1 - Math.max(-1, Math.min(1, likeness));
}

export function sparseNormalized(a: Sparse): Sparse {
  const length = sparseNorm(a);
  // A member may become too small to be there.
  const kept = Array.from(a.members, (x) => Math.fround(x / length));
  const isKept = (_: unknown, i: number): boolean => kept[i] !== 0;
  return {
    dimensions: a.dimensions,
    places: a.places.filter(isKept),
    members: Float32Array.from(kept).filter(isKept),
  };
}
