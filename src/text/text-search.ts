/**
 * Finds the documents of an index that answer a query, with their scores. Each part of a query gives its documents in
 * order of their slots, so that parts are merged; scores add up. Scores are BM25 with its usual constants.
 */
import { type DocumentTerms, type TextItem, termsOf } from "./document-terms.js";
import { PostingList } from "./posting-list.js";
import type { TextQuery } from "./query.js";
import type { TextBody } from "./text-body.js";
import type { TextStatistics } from "./text-statistics.js";

/** How soon further occurrences of a term stop to count, and how much the length of a document counts. */
const K1 = 1.2;
const B = 0.75;
/** Terms with a prefix. */
const PREFIX_TERMS_MAX = 512;

/** Documents by slot, ascending, with their scores; read before the index changes. */
export interface Hits {
  readonly slots: Uint32Array;
  readonly scores: Float64Array;
}

const NO_DOCUMENTS = new PostingList();
const NO_HITS: Hits = { slots: new Uint32Array(0), scores: new Float64Array(0) };

export function searchText(body: TextBody, query: TextQuery, all: TextStatistics = body): Hits {
  switch (query.kind) {
    case "term":
      return hitsOfTerm(body, query.term, all);
    case "prefix":
      return union(
        body.termsWith(query.prefix, PREFIX_TERMS_MAX, all).map((term) => hitsOfTerm(body, term, all)),
        body,
      );
    case "phrase":
      return hitsOfPhrase(body, query.terms, query.gaps, all);
    case "or":
      return union(
        query.parts.map((part) => searchText(body, part, all)),
        body,
      );
    case "and":
      return query.parts
        .map((part) => searchText(body, part, all))
        .sort((a, b) => a.slots.length - b.slots.length)
        .reduce(intersection);
    case "boosted":
      return boosted(searchText(body, query.part, all), searchText(body, query.more, all));
    case "without":
      return difference(searchText(body, query.part, all), searchText(body, query.not, all));
    case "some":
      return hitsOfSome(body, query.terms, query.least);
    case "nothing":
      return NO_HITS;
  }
}

/** Documents that are not in an index, scored as if they were: by what its documents say of words. */
export class Strangers {
  /** Numbers of terms that the index has not, after those that it has. */
  private readonly numbers = new Map<string, number>();

  constructor(
    private readonly body: TextBody,
    private readonly all: TextStatistics = body,
  ) {}

  /** Null: it does not answer the query. */
  score(query: TextQuery, item: TextItem): number | null {
    return this.of(
      query,
      termsOf(item, this.body.analyzer, (term) => this.numberOf(term)),
    );
  }

  private numberOf(term: string): number {
    let number = this.body.number(term) ?? this.numbers.get(term);
    if (number === undefined) {
      number = this.body.terms.length + this.numbers.size;
      this.numbers.set(term, number);
    }
    return number;
  }

  private of(query: TextQuery, document: DocumentTerms): number | null {
    const { body, all } = this;
    const part = (inner: TextQuery) => this.of(inner, document);
    switch (query.kind) {
      case "term": {
        const occurrences = document.positionsOf(this.numberOf(query.term)).length;
        return occurrences === 0 ? null : weight(rarityOf(all, query.term), occurrences, document.length, all);
      }
      case "prefix": {
        const own = [...this.numbers.keys()].filter((term) => term.startsWith(query.prefix));
        const terms = [...body.termsWith(query.prefix, PREFIX_TERMS_MAX, all), ...own];
        return sum(terms.map((term) => part({ kind: "term", term })).filter((score) => score !== null));
      }
      case "phrase": {
        const numbers = query.terms.map((term) => this.numberOf(term));
        const count = phraseCount(document, numbers, query.gaps);
        return count === 0 ? null : weight(phraseRarity(all, query.terms), count, document.length, all);
      }
      case "or":
        return sum(query.parts.map(part).filter((score) => score !== null));
      case "and": {
        const scores = query.parts.map(part);
        return scores.includes(null) ? null : sum(scores as number[]);
      }
      case "boosted": {
        const score = part(query.part);
        return score === null ? null : score + (part(query.more) ?? 0);
      }
      case "without":
        return part(query.not) === null ? part(query.part) : null;
      case "some": {
        const found = query.terms.filter((term) => document.positionsOf(this.numberOf(term)).length > 0);
        return found.length >= query.least ? 1 : null;
      }
      case "nothing":
        return null;
    }
  }
}

function sum(scores: readonly number[]): number | null {
  return scores.length === 0 ? null : scores.reduce((total, score) => total + score, 0);
}

/** The weight of a term, by the number of documents that have it. */
export function rarityOf(all: TextStatistics, term: string): number {
  const documents = all.documentsWith(term);
  return Math.log(1 + (all.count - documents + 0.5) / (documents + 0.5));
}

/** A phrase is as rare as its words together. */
function phraseRarity(all: TextStatistics, terms: readonly string[]): number {
  let total = 0;
  for (const term of terms) total += rarityOf(all, term);
  return total;
}

function weight(rarity: number, occurrences: number, length: number, all: TextStatistics): number {
  return (rarity * occurrences * (K1 + 1)) / (occurrences + K1 * (1 - B + (B * length) / all.meanLength));
}

function hitsOfTerm(body: TextBody, term: string, all: TextStatistics): Hits {
  const list = body.list(term);
  if (list === undefined || list.length === 0) return NO_HITS;
  const { length, slots, counts } = list;
  // Of weight(), what is the same for all.
  const most = rarityOf(all, term) * (K1 + 1);
  const base = K1 * (1 - B);
  const perWord = (K1 * B) / all.meanLength;
  const { documentLengths } = body;
  const scores = new Float64Array(length);
  for (let i = 0; i < length; i++) {
    const count = counts[i]!;
    scores[i] = (most * count) / (count + base + perWord * documentLengths[slots[i]!]!);
  }
  return { slots: slots.subarray(0, length), scores };
}

/**
 * A document with enough of the terms has one of the rarest: those that are left when all but one of the wanted number
 * are taken away. So only their documents are counted, and the long lists are looked into for these.
 */
function hitsOfSome(body: TextBody, terms: readonly string[], least: number): Hits {
  const lists = terms.map((term) => body.list(term) ?? NO_DOCUMENTS).sort((a, b) => a.length - b.length);
  const counted = lists.length - least + 1;
  if (counted < 1) return NO_HITS;
  const counts = new Map<number, number>();
  for (const { slots, length } of lists.slice(0, counted)) {
    for (let i = 0; i < length; i++) counts.set(slots[i]!, (counts.get(slots[i]!) ?? 0) + 1);
  }
  const longer = lists.slice(counted);
  const found: number[] = [];
  for (const [slot, count] of counts) {
    let most = count + longer.length;
    for (let i = 0; i < longer.length && most >= least; i++) if (!longer[i]!.has(slot)) most--;
    if (most >= least) found.push(slot);
  }
  const slots = Uint32Array.from(found).sort();
  return { slots, scores: new Float64Array(slots.length).fill(1) };
}

/** Documents with all terms, the rarest first, whose positions then must fit. */
function hitsOfPhrase(body: TextBody, terms: readonly string[], gaps: readonly number[], all: TextStatistics): Hits {
  const lists: PostingList[] = [];
  for (const term of terms) {
    const list = body.list(term);
    if (list === undefined || list.length === 0) return NO_HITS;
    lists.push(list);
  }
  const numbers = terms.map((term) => body.number(term)!);
  const rare = phraseRarity(all, terms);
  const rarest = lists.reduce((a, b) => (a.length <= b.length ? a : b));
  const slots: number[] = [];
  const scores: number[] = [];
  for (let i = 0; i < rarest.length; i++) {
    const slot = rarest.slots[i]!;
    const document = body.document(slot)!;
    const count = phraseCount(document, numbers, gaps);
    if (count === 0) continue;
    slots.push(slot);
    scores.push(weight(rare, count, document.length, all));
  }
  return { slots: Uint32Array.from(slots), scores: Float64Array.from(scores) };
}

/** How often the document has the terms at these distances. */
function phraseCount(document: DocumentTerms, terms: readonly number[], gaps: readonly number[]): number {
  const rest = terms.slice(1).map((term) => new Set(document.positionsOf(term)));
  let count = 0;
  for (const first of document.positionsOf(terms[0]!)) {
    let position = first;
    const isThere = rest.every((positions, i) => {
      position += gaps[i + 1]!;
      return positions.has(position);
    });
    if (isThere) count++;
  }
  return count;
}

/** Scores are above 0. */
function union(parts: readonly Hits[], body: TextBody): Hits {
  const some = parts.filter(({ slots }) => slots.length > 0);
  if (some.length === 0) return NO_HITS;
  if (some.length === 1) return some[0]!;
  const total = body.emptySums();
  let count = 0;
  for (const { slots, scores } of some) {
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i]!;
      if (total[slot] === 0) count++;
      total[slot]! += scores[i]!;
    }
  }
  const slots = new Uint32Array(count);
  const scores = new Float64Array(count);
  for (let slot = 0, at = 0; at < count; slot++) {
    const score = total[slot]!;
    if (score === 0) continue;
    total[slot] = 0;
    slots[at] = slot;
    scores[at++] = score;
  }
  return { slots, scores };
}

function intersection(a: Hits, b: Hits): Hits {
  return kept(a, b, (i, j) => (j < 0 ? null : a.scores[i]! + b.scores[j]!));
}

function difference(a: Hits, b: Hits): Hits {
  return kept(a, b, (i, j) => (j < 0 ? a.scores[i]! : null));
}

function boosted(a: Hits, b: Hits): Hits {
  return kept(a, b, (i, j) => (j < 0 ? a.scores[i]! : a.scores[i]! + b.scores[j]!));
}

/** Those of `a` that `score` gives one, by their places in both; −1: it is not in `b`. */
function kept(a: Hits, b: Hits, score: (i: number, j: number) => number | null): Hits {
  const slots = new Uint32Array(a.slots.length);
  const scores = new Float64Array(a.slots.length);
  let count = 0;
  for (let i = 0, j = 0; i < a.slots.length; i++) {
    while (j < b.slots.length && b.slots[j]! < a.slots[i]!) j++;
    const found = score(i, b.slots[j] === a.slots[i] ? j : -1);
    if (found === null) continue;
    slots[count] = a.slots[i]!;
    scores[count++] = found;
  }
  return { slots: slots.subarray(0, count), scores: scores.subarray(0, count) };
}
