/** How many of a query's words texts have; words that most of the texts have count little. Called by recall.ts. */
import { wordsOf } from "../../ai/nli/claim-words.js";
import type { Turns } from "../../protocol/turns.js";

/** What comes later in a text is not read. */
const CHARACTERS_MAX = 2000;

/** Of each text, 0 to 1. */
export async function sharesOfWords(query: string, texts: readonly string[], turns: Turns): Promise<number[]> {
  const wanted = stemsOf(query);
  const found: ReadonlySet<string>[] = [];
  for (const text of texts) {
    if (turns.shouldYield()) await turns.yieldTurn();
    const stems = stemsOf(text);
    found.push(new Set([...wanted].filter((stem) => stems.has(stem))));
  }
  const weights = new Map([...wanted].map((stem) => [stem, weightOf(stem, found)]));
  const whole = sum(weights.values());
  return found.map((stems) => (whole === 0 ? 0 : sum([...stems].map((stem) => weights.get(stem)!)) / whole));
}

/** Robertson and Spärck Jones's weight of a term: 0 for what all have. */
function weightOf(stem: string, found: readonly ReadonlySet<string>[]): number {
  const count = found.filter((stems) => stems.has(stem)).length;
  return Math.log(1 + (found.length - count) / (count + 0.5));
}

function stemsOf(text: string): Set<string> {
  const words = wordsOf(text.slice(0, CHARACTERS_MAX));
  return new Set(words.filter(({ isContent, isNumber }) => isContent || isNumber).map(({ stem }) => stem));
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
