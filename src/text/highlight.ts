/** Passages of a text around the words that a query found, with these words marked. Pure. */
import type { Analyzer, Token } from "./analysis.js";
import { type TextQuery, wordsOf } from "./query.js";

export interface HighlightOptions {
  readonly before: string;
  readonly after: string;
  /** Words of a passage, about. */
  readonly words: number;
  /** Passages at most. */
  readonly passages: number;
  readonly escaped: (text: string) => string;
}

export const HIGHLIGHT_DEFAULTS: HighlightOptions = {
  before: "<em>",
  after: "</em>",
  words: 24,
  passages: 3,
  escaped: (text) => text,
};

/** In the order of the text; those with the most different words win. None when no word is found. */
export function highlight(
  text: string,
  query: TextQuery,
  analyzer: Analyzer,
  options: Partial<HighlightOptions> = {},
): string[] {
  const { words, passages, ...marks } = { ...HIGHLIGHT_DEFAULTS, ...options };
  const tokens = analyzer.tokens(text);
  const isFound = finder(query, text, analyzer);
  const found = tokens.map(isFound);
  if (!found.includes(true)) return [];
  if (tokens.length <= words) return [marked(text, 0, text.length, tokens, found, marks)];
  const best = bestWindows(tokens, found, words, passages);
  return best.map(([first, last]) =>
    marked(
      text,
      tokens[first]!.start,
      tokens[last]!.end,
      tokens.slice(first, last + 1),
      found.slice(first, last + 1),
      marks,
    ),
  );
}

function finder(query: TextQuery, text: string, analyzer: Analyzer): (token: Token) => boolean {
  const { terms, prefixes } = wordsOf(query);
  if (prefixes.length === 0) return ({ term }) => terms.has(term);
  return ({ term, start, end }) => {
    if (terms.has(term)) return true;
    const word = analyzer.prefixOf(text.slice(start, end));
    return prefixes.some((prefix) => word.startsWith(prefix) || term.startsWith(prefix));
  };
}

/**
 * Windows of `words` tokens that do not overlap, by how many different found terms they have, then by where they are.
 */
function bestWindows(
  tokens: readonly Token[],
  found: readonly boolean[],
  words: number,
  most: number,
): [number, number][] {
  const starts = found.flatMap((isFound, i) => (isFound ? [Math.max(0, Math.min(i - 3, tokens.length - words))] : []));
  const windows = [...new Set(starts)].map((first) => {
    const last = Math.min(first + words, tokens.length) - 1;
    const terms = new Set<string>();
    for (let i = first; i <= last; i++) if (found[i]) terms.add(tokens[i]!.term);
    return { first, last, score: terms.size };
  });
  windows.sort((a, b) => b.score - a.score || a.first - b.first);
  const chosen: { first: number; last: number }[] = [];
  for (const window of windows) {
    if (chosen.length === most) break;
    if (chosen.every(({ first, last }) => window.last < first || window.first > last)) chosen.push(window);
  }
  return chosen.sort((a, b) => a.first - b.first).map(({ first, last }) => [first, last]);
}

function marked(
  text: string,
  from: number,
  to: number,
  tokens: readonly Token[],
  found: readonly boolean[],
  { before, after, escaped }: Pick<HighlightOptions, "before" | "after" | "escaped">,
): string {
  let result = "";
  let at = from;
  tokens.forEach(({ start, end }, i) => {
    if (!found[i]) return;
    result += `${escaped(text.slice(at, start))}${before}${escaped(text.slice(start, end))}${after}`;
    at = end;
  });
  return result + escaped(text.slice(at, to));
}
