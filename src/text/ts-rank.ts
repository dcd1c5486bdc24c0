/**
 * ts_rank and ts_rank_cd (chapter 12.3.3): how well a document answers a tsquery, by how often, how near each other and
 * with which weights its words occur. PostgreSQL's formulas in its precision (float4 where it rounds). Pure.
 */
import { queryWords, type TsQuery, type TsQueryNode } from "../values/ts-query.js";
import { compareLexemes, POSITION_MAX, positionOf, type TsVector, weightOf } from "../values/ts-vector.js";
import { lexemesFor, matches } from "./ts-match.js";

type WordNode = TsQueryNode & { readonly kind: "word" };

/** Of D, C, B and A. */
export const RANK_WEIGHTS: readonly number[] = [0.1, 0.2, 0.4, 1];

/** Bits of the `normalization` argument. */
const NORMALIZE = { logLength: 1, length: 2, extents: 4, words: 8, logWords: 16, ownValue: 32 } as const;

const f = Math.fround;
/** The sum of 1/i² over all i. */
const SQUARES = 1.64493406685;

function lengthOf(vector: TsVector): number {
  let length = 0;
  for (const { positions } of vector) length += positions === null ? 1 : positions.length;
  return length;
}

/** ts_rank: by occurrences, of queries that join words with AND by their distances, too. */
export function tsRank(weights: readonly number[], vector: TsVector, query: TsQuery, normalization: number): number {
  if (vector.length === 0 || query === null) return 0;
  const w = weights.map(f);
  const words = distinctWords(query);
  const isJoined = (query.kind === "and" || query.kind === "phrase") && words.length > 1;
  const raw = isJoined ? rankOfPairs(w, vector, words) : rankOfWords(w, vector, words);
  let rank = raw < 0 ? f(1e-20) : raw;
  if (normalization & NORMALIZE.logLength) rank = f(rank / (Math.log(lengthOf(vector) + 1) / Math.LN2));
  if (normalization & NORMALIZE.length) rank = f(rank / f(lengthOf(vector)));
  if (normalization & NORMALIZE.words) rank = f(rank / f(vector.length));
  if (normalization & NORMALIZE.logWords) rank = f(rank / (Math.log(vector.length + 1) / Math.LN2));
  if (normalization & NORMALIZE.ownValue) rank = f(rank / f(rank + 1));
  return rank;
}

function distinctWords(query: TsQuery): readonly WordNode[] {
  const sorted = queryWords(query).sort((a, b) => compareLexemes(a.word, b.word));
  return sorted.filter((node, i) => i === 0 || node.word !== sorted[i - 1]!.word);
}

function rankOfWords(w: readonly number[], vector: TsVector, words: readonly WordNode[]): number {
  let rank = f(0);
  for (const word of words) {
    for (const { positions } of lexemesFor(vector, word)) {
      let sum = f(0);
      let best = f(-1);
      let bestAt = 0;
      for (const [j, entry] of (positions ?? [0]).entries()) {
        const weight = w[weightOf(entry)]!;
        sum = f(sum + f(weight / ((j + 1) * (j + 1))));
        if (weight > best) {
          best = weight;
          bestAt = j;
        }
      }
      const least = f(f(best + sum) - f(best / ((bestAt + 1) * (bestAt + 1))));
      rank = f(rank + least / SQUARES);
    }
  }
  return words.length > 0 ? f(rank / words.length) : rank;
}

/** The contribution of two words at such a distance. */
function nearness(distance: number): number {
  return distance > 100 ? f(1e-30) : f(1 / (1.005 + 0.05 * Math.exp(f(distance) / 1.5 - 2)));
}

const UNKNOWN_PLACE: readonly number[] = [POSITION_MAX];

function rankOfPairs(w: readonly number[], vector: TsVector, words: readonly WordNode[]): number {
  let rank = -1;
  const places: (readonly number[] | undefined)[] = [];
  for (const [i, word] of words.entries()) {
    for (const { positions } of lexemesFor(vector, word)) {
      const mine = positions ?? UNKNOWN_PLACE;
      places[i] = mine;
      for (let k = 0; k < i; k++) {
        const theirs = places[k];
        if (theirs === undefined) continue;
        for (const a of mine) {
          for (const b of theirs) {
            let distance = Math.abs(positionOf(a) - positionOf(b));
            if (distance === 0 && mine !== UNKNOWN_PLACE && theirs !== UNKNOWN_PLACE) continue;
            if (distance === 0) distance = POSITION_MAX + 1;
            const weight = f(f(w[weightOf(a)]! * w[weightOf(b)]!) * nearness(distance));
            const pair = f(Math.sqrt(weight));
            rank = rank < 0 ? pair : f(1 - (1 - rank) * (1 - pair));
          }
        }
      }
    }
  }
  return rank;
}

/** One place of the document where words of the query stand. */
interface Spot {
  /** Position and weight, as in a vector. */
  readonly entry: number;
  readonly lexeme: number;
  readonly words: WordNode[];
}

/** A part of the document that answers the query by itself and has none such within it; indexes of spots. */
interface Cover {
  readonly begin: number;
  readonly end: number;
}

/**
 * ts_rank_cd: by how dense the covers are (Clarke, Cormack, Tudhope: Relevance ranking for one to three term queries,
 * 1999).
 */
export function tsRankCoverDensity(
  weights: readonly number[],
  vector: TsVector,
  query: TsQuery,
  normalization: number,
): number {
  if (query === null) return 0;
  const inverse = weights.map((weight) => 1 / f(weight));
  const spots = spotsOf(vector, query);
  if (spots.length === 0) return 0;
  let rank = 0;
  let covers = 0;
  let nearSum = 0;
  let last = 0;
  for (const { begin, end } of coversOf(spots, query)) {
    let sum = 0;
    for (let i = begin; i <= end; i++) sum += inverse[weightOf(spots[i]!.entry)]!;
    const [from, to] = [positionOf(spots[begin]!.entry), positionOf(spots[end]!.entry)];
    let noise = to - from - (end - begin);
    if (noise < 0) noise = Math.trunc((end - begin) / 2);
    rank += (end - begin + 1) / sum / (1 + noise);
    const middle = (from + to) / 2;
    if (covers > 0 && middle > last) nearSum += 1 / (middle - last);
    last = middle;
    covers++;
  }
  const size = vector.length;
  if (normalization & NORMALIZE.logLength && size > 0) rank /= Math.log(lengthOf(vector) + 1);
  if (normalization & NORMALIZE.length && size > 0) rank /= lengthOf(vector);
  if (normalization & NORMALIZE.extents && covers > 0 && nearSum > 0) rank /= covers / nearSum;
  if (normalization & NORMALIZE.words && size > 0) rank /= size;
  if (normalization & NORMALIZE.logWords && size > 0) rank /= Math.log(size + 1) / Math.LN2;
  if (normalization & NORMALIZE.ownValue) rank /= rank + 1;
  return f(rank);
}

function spotsOf(vector: TsVector, query: TsQuery): Spot[] {
  const spots = new Map<string, Spot>();
  for (const node of queryWords(query)) {
    for (const lexeme of lexemesFor(vector, node)) {
      for (const entry of lexeme.positions ?? []) {
        if (node.weights !== 0 && !((node.weights >> weightOf(entry)) & 1)) continue;
        const key = `${entry}/${lexeme.word}`;
        const known = spots.get(key);
        if (known === undefined) spots.set(key, { entry, lexeme: vector.indexOf(lexeme), words: [node] });
        else known.words.push(node);
      }
    }
  }
  return [...spots.values()].sort(
    (a, b) => positionOf(a.entry) - positionOf(b.entry) || a.entry - b.entry || a.lexeme - b.lexeme,
  );
}

function* coversOf(spots: readonly Spot[], query: TsQuery): Generator<Cover> {
  for (let start = 0; start < spots.length; ) {
    const end = firstAnswer(spots, query, start, 1);
    if (end < 0) return;
    const begin = firstAnswer(spots, query, end, -1, start);
    if (begin < 0 || positionOf(spots[begin]!.entry) > positionOf(spots[end]!.entry)) {
      start++;
      continue;
    }
    yield { begin, end };
    start = begin + 1;
  }
}

/** The first spot from `from` on, in that direction, by which the spots met answer the query; −1: none does. */
function firstAnswer(spots: readonly Spot[], query: TsQuery, from: number, step: 1 | -1, least = 0): number {
  const met = new Map<WordNode, number[]>();
  for (let i = from; i < spots.length && i >= least; i += step) {
    const { words, entry } = spots[i]!;
    const position = positionOf(entry);
    for (const word of words) {
      const positions = met.get(word);
      if (positions === undefined) met.set(word, [position]);
      else if (step === 1 && positions.at(-1) !== position) positions.push(position);
      else if (step === -1 && positions[0] !== position) positions.unshift(position);
    }
    if (matches(query, (node) => met.get(node) ?? false)) return i;
  }
  return -1;
}
