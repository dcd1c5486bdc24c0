/** Turns text into trigrams instead of words: the analysis of an index with gin_trgm_ops. Made by analysis.ts. */
import { eachTrigram } from "../values/trigrams.js";

/** Texts are looked at in pieces of about so many characters, which end between words. */
const PIECE_CHARACTERS = 4096;

/** The different trigrams of a text, in short steps. */
export function* trigramsInSteps(text: string): Generator<undefined, ReadonlySet<string>> {
  const found = new Set<string>();
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start);
    eachTrigram(text.slice(start, end), (trigram) => found.add(trigram));
    start = end;
    yield;
  }
  return found;
}

const BLANK = /\s/g;

/** A text without blanks is one piece. */
function pieceEnd(text: string, start: number): number {
  const least = start + PIECE_CHARACTERS;
  if (least >= text.length) return text.length;
  BLANK.lastIndex = least;
  const blank = BLANK.exec(text);
  return blank === null ? text.length : blank.index;
}
