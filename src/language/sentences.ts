import type { Turns } from "../protocol/turns.js";
/** Sentences of a text with their places, UTF-16 code units. Used by the helpers beside it. */

export interface Sentence {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });
/** A point after these ends no sentence. */
const ABBREVIATION = /(?:^|[\s(])(?:mr|mrs|ms|dr|prof|st|jr|sr|inc|ltd|corp|vs|no|e\.g|i\.e|approx|\p{Lu})\.\s*$/iu;

/** In order, without what is blank; surrounding white space is no part of a sentence. */
export async function sentencesOf(text: string, turns: Turns): Promise<Sentence[]> {
  const sentences: Sentence[] = [];
  let open = -1;
  for (const { segment, index } of segmenter.segment(text)) {
    if (turns.shouldYield()) await turns.yieldTurn();
    if (open < 0) open = index;
    const end = index + segment.length;
    if (ABBREVIATION.test(text.slice(Math.max(open, end - 12), end)) && end < text.length) continue;
    const trimmed = text.slice(open, end).trim();
    if (trimmed !== "") {
      const start = text.indexOf(trimmed, open);
      sentences.push({ text: trimmed, start, end: start + trimmed.length });
    }
    open = -1;
  }
  return sentences;
}
