/**
 * Tells whether a document matches a tsquery (chapter 12.1). The answer is three-valued, because for words without
 * positions it is not known whether they are side by side. A phrase is answered by the positions where its parts end.
 * Pure; the caller looks up the document's words: in a tsvector for @@, in a window of a text for headlines and
 * covers.
 */
import type { TsQuery, TsQueryNode } from "../values/ts-query.js";
import { compareLexemes, type Lexeme, positionOf, type TsVector, weightOf } from "../values/ts-vector.js";

type WordNode = TsQueryNode & { readonly kind: "word" };

/** Ascending positions of a word; `null`: it occurs, but nobody knows where; false: it does not occur. */
export type Occurrences = readonly number[] | null | false;

/** Answers where a word of the query is; `wantsPositions`: not only whether. */
export type FindWord = (node: WordNode, wantsPositions: boolean) => Occurrences;

type Match = "yes" | "no" | "maybe";

/** Whether the query holds; a phrase of words without positions does not. */
export function matches(query: TsQuery, find: FindWord): boolean {
  return query !== null && matchOf(query, find) !== "no";
}

function matchOf(node: TsQueryNode, find: FindWord): Match {
  switch (node.kind) {
    case "word":
      // Without positions there are no weights, and any weight is taken for right.
      return find(node, false) === false ? "no" : "yes";
    case "not": {
      const part = matchOf(node.part, find);
      return part === "yes" ? "no" : part === "no" ? "yes" : "maybe";
    }
    case "and": {
      const left = matchOf(node.left, find);
      if (left === "no") return "no";
      const right = matchOf(node.right, find);
      return right === "yes" ? left : right;
    }
    case "or": {
      const left = matchOf(node.left, find);
      if (left === "yes") return "yes";
      const right = matchOf(node.right, find);
      return right === "no" ? left : right;
    }
    case "phrase": {
      const places = placesOf(node, find);
      return places === null || isNowhere(places) ? "no" : "yes";
    }
  }
}

/** Where a part of a phrase is: at these positions, or (`negated`) everywhere else. Each is where the part ends. */
interface Places {
  readonly positions: readonly number[];
  readonly negated: boolean;
  /** From where the part begins to where it ends. */
  readonly width: number;
}

const NOWHERE: Places = { positions: [], negated: false, width: 0 };
const isNowhere = ({ positions, negated }: Places) => positions.length === 0 && !negated;

/** Null: it is not known. */
function placesOf(node: TsQueryNode, find: FindWord): Places | null {
  if (node.kind === "word") {
    const found = find(node, true);
    return found === null ? null : found === false ? NOWHERE : { positions: found, negated: false, width: 0 };
  }
  if (node.kind === "not") {
    const part = placesOf(node.part, find);
    return part === null ? null : { ...part, negated: !part.negated, width: isNowhere(part) ? 0 : part.width };
  }
  const left = placesOf(node.left, find);
  if (left === null) return null;
  if (node.kind !== "or" && isNowhere(left)) return NOWHERE;
  const right = placesOf(node.right, find);
  if (right === null) return null;
  if (node.kind !== "or" && isNowhere(right)) return NOWHERE;
  if (node.kind === "or") return eitherPlaces(left, right);
  const isPhrase = node.kind === "phrase";
  const width = isPhrase ? node.distance + left.width + right.width : Math.max(left.width, right.width);
  const leftBy = isPhrase ? node.distance + right.width : width - left.width;
  const rightBy = isPhrase ? 0 : width - right.width;
  return bothPlaces(left, right, leftBy, rightBy, width);
}

function bothPlaces(left: Places, right: Places, leftBy: number, rightBy: number, width: number): Places {
  const merge = (wanted: Wanted, negated: boolean): Places => ({
    positions: merged(left.positions, right.positions, leftBy, rightBy, wanted),
    negated,
    width,
  });
  if (left.negated && right.negated) return merge({ both: true, left: true, right: true }, true);
  if (left.negated) return merge({ both: false, left: false, right: true }, false);
  if (right.negated) return merge({ both: false, left: true, right: false }, false);
  return merge({ both: true, left: false, right: false }, false);
}

function eitherPlaces(left: Places, right: Places): Places {
  if (isNowhere(left) && isNowhere(right)) return NOWHERE;
  const [leftWidth, rightWidth] = [isNowhere(left) ? 0 : left.width, isNowhere(right) ? 0 : right.width];
  const width = Math.max(leftWidth, rightWidth);
  const merge = (wanted: Wanted, negated: boolean): Places => ({
    positions: merged(left.positions, right.positions, width - leftWidth, width - rightWidth, wanted),
    negated,
    width,
  });
  if (left.negated && right.negated) return merge({ both: true, left: false, right: false }, true);
  if (left.negated) return merge({ both: false, left: true, right: false }, true);
  if (right.negated) return merge({ both: false, left: false, right: true }, true);
  return merge({ both: true, left: true, right: true }, false);
}

/** Which positions of two lists are wanted: those in both, those in one alone. */
interface Wanted {
  readonly both: boolean;
  readonly left: boolean;
  readonly right: boolean;
}

function merged(
  left: readonly number[],
  right: readonly number[],
  leftBy: number,
  rightBy: number,
  wanted: Wanted,
): number[] {
  const positions: number[] = [];
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    const x = i < left.length ? left[i]! + leftBy : Number.POSITIVE_INFINITY;
    const y = j < right.length ? right[j]! + rightBy : Number.POSITIVE_INFINITY;
    if (x < y) {
      if (wanted.left) positions.push(x);
      i++;
    } else if (y < x) {
      if (wanted.right) positions.push(y);
      j++;
    } else {
      if (wanted.both) positions.push(x);
      i++;
      j++;
    }
  }
  return positions;
}

/** The lexemes of a vector that match a word of a query: one, or all with that prefix. */
export function lexemesFor(vector: TsVector, { word, prefix }: WordNode): readonly Lexeme[] {
  let low = 0;
  let high = vector.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareLexemes(vector[middle]!.word, word) < 0) low = middle + 1;
    else high = middle;
  }
  if (!prefix) return vector[low]?.word === word ? [vector[low]!] : [];
  let end = low;
  while (end < vector.length && vector[end]!.word.startsWith(word)) end++;
  return vector.slice(low, end);
}

/** `vector @@ query`. */
export function vectorMatches(vector: TsVector, query: TsQuery): boolean {
  return matches(query, (node, wantsPositions) => occurrencesIn(vector, node, wantsPositions));
}

function occurrencesIn(vector: TsVector, node: WordNode, wantsPositions: boolean): Occurrences {
  const lexemes = lexemesFor(vector, node);
  if (lexemes.length === 0) return false;
  if (!wantsPositions && node.weights === 0) return [];
  const all: number[] = [];
  let isUnknown = false;
  for (const { positions } of lexemes) {
    if (positions === null) isUnknown = true;
    else {
      for (const entry of positions) {
        if (node.weights === 0 || (node.weights >> weightOf(entry)) & 1) all.push(positionOf(entry));
      }
    }
  }
  if (isUnknown && (wantsPositions || all.length === 0)) return null;
  if (all.length === 0) return false;
  if (lexemes.length === 1) return all;
  return [...new Set(all)].sort((a, b) => a - b);
}
