/**
 * The documents and queries of bench/hybrid, from a fixed seed: words by Zipf's law, as texts in any language have
 * them.
 */
import { randomFrom } from "../vector/data.js";

export interface Document {
  readonly title: string;
  readonly body: string;
}

export interface Corpus {
  readonly documents: readonly Document[];
  readonly queries: readonly string[];
  /** Words so frequent that half of the documents have one of them. */
  readonly commonQueries: readonly string[];
}

const SEED = 11;
const VOCABULARY = 30_000;
const SYLLABLES = "ba ce di fo gu ha ki lo me nu pa qui ro sa te vi wo ya zu bra cle dri flo gru sta tre".split(" ");
const TITLE_WORDS = { from: 3, to: 8 };
const BODY_WORDS = { from: 20, to: 80 };
const QUERY_WORDS = { from: 2, to: 4 };
/** Words that are in most documents are nothing to search for. */
const QUERY_RANK_MIN = 20;
const COMMON_RANKS = { from: 5, to: 15 };

export function corpusOf(count: number, queryCount: number): Corpus {
  const random = randomFrom(SEED);
  const between = ({ from, to }: { from: number; to: number }) => from + Math.floor(random() * (to - from + 1));
  const words = vocabulary(random);
  const rank = zipf(words.length, random);
  const text = (length: number) => Array.from({ length }, () => words[rank()]!).join(" ");
  const documents = Array.from({ length: count }, () => ({
    title: text(between(TITLE_WORDS)),
    body: text(between(BODY_WORDS)),
  }));
  const rareRank = (): number => {
    const found = rank();
    return found < QUERY_RANK_MIN ? rareRank() : found;
  };
  const queries = Array.from({ length: queryCount }, () =>
    Array.from({ length: between(QUERY_WORDS) }, () => words[rareRank()]!).join(" "),
  );
  const commonQueries = Array.from({ length: queryCount }, () =>
    Array.from({ length: 2 }, () => words[between(COMMON_RANKS)]!).join(" "),
  );
  return { documents, queries, commonQueries };
}

function vocabulary(random: () => number): readonly string[] {
  const words = new Set<string>();
  while (words.size < VOCABULARY) {
    const syllables = 2 + Math.floor(random() * 3);
    words.add(Array.from({ length: syllables }, () => SYLLABLES[Math.floor(random() * SYLLABLES.length)]).join(""));
  }
  return [...words];
}

/** Ranks from 0, the n-th with a probability in proportion to 1 / n. */
function zipf(count: number, random: () => number): () => number {
  const sums = new Float64Array(count);
  let sum = 0;
  for (let i = 0; i < count; i++) {
    sum += 1 / (i + 1);
    sums[i] = sum;
  }
  return () => {
    const wanted = random() * sum;
    let low = 0;
    let high = count - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sums[middle]! < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
