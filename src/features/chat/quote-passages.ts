/**
 * Answers a chat with collections when there is no model that can write an answer: with the sentence of the passages
 * that fits the question best, quoted with its place, or with a note that nothing was found. Called by exchange.ts; no
 * state.
 */

import type { Request } from "../../actor/request.js";
import { bestSentence } from "../../language/best-sentence.js";
import { embedderOf } from "../models/request-embedder.js";
import { sourceName } from "../tools/search-tools.js";
import type { Citation } from "./chat-store.js";

/** In place of a model's name. */
export const QUOTING = "best-sentence";

/** Of Markdown, before a sentence: the end of emphasis, a heading's or a quotation's mark. */
const MARKUP = /^[\s*_#>]*/;
const NOT_FOUND = "The documents do not contain an answer.";

/** `quote`: the sentence alone, with the number of its passage; null: the passages do not answer. */
export interface Quoted {
  readonly text: string;
  readonly quote: string | null;
  readonly citations: readonly Citation[];
}

export async function quotePassages(
  request: Request,
  question: string,
  passages: readonly Citation[],
): Promise<Quoted> {
  const texts = passages.map(({ text, title = "", heading = "", file = "" }) => ({
    ...{ text, title, heading },
    about: `${file} ${title} ${heading}`,
  }));
  const best = await bestSentence(question, texts, (some) => embedderOf(request).embed(some), request);
  if (best === null) return { text: NOT_FOUND, quote: null, citations: passages };
  const { place, end } = best;
  const start = best.start + MARKUP.exec(passages[place]!.text.slice(best.start, end))![0].length;
  const citations = passages.map((passage, i) => (i === place ? { ...passage, cited: true, start, end } : passage));
  const passage = passages[place]!;
  const source = sourceName(passage);
  const quote = `${passage.text.slice(start, end).replaceAll(/\s+/g, " ")} [${passage.number}]`;
  return { text: source === "" ? quote : `${quote}\n\n[${passage.number}] ${source}`, quote, citations };
}
