/**
 * Trigrams as an index of them has them: three characters side by side, of words in which case makes no difference. A
 * word counts with two blanks before it and one behind it. What an index has of a text holds whatever LIKE, ILIKE and
 * the operators of pg_trgm find in it. Called by src/text, which indexes them, and by the expressions that ask for
 * them.
 */

/** Stands where a text index has its language. No configuration has the name. */
export const TRIGRAMS = "trigrams";

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const ASCII = /^[\0-\x7f]*$/;

/** Character by character, so that a part of a text gives what it gives in the whole. */
function folded(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  let result = "";
  for (const character of text) result += foldedCharacter(character);
  return result;
}

/** Forms of one letter fall together: ς and σ, ſ and s. */
function foldedCharacter(character: string): string {
  const upper = character.toUpperCase();
  return (Array.from(upper).length === 1 ? upper : character).toLowerCase();
}

/** Calls `visit` with the trigrams of the text, in order and with repetitions. */
export function eachTrigram(text: string, visit: (trigram: string) => void): void {
  for (const [word] of folded(text).matchAll(WORD)) trigramsWithin(`  ${word} `, visit);
}

function trigramsWithin(text: string, visit: (trigram: string) => void): void {
  if (ASCII.test(text)) {
    for (let i = 0; i + 3 <= text.length; i++) visit(text.slice(i, i + 3));
    return;
  }
  const characters = Array.from(text);
  for (let i = 0; i + 3 <= characters.length; i++) visit(characters[i]! + characters[i + 1]! + characters[i + 2]!);
}

/** The different trigrams of a text. */
export function trigramsOfText(text: string): string[] {
  const found = new Set<string>();
  eachTrigram(text, (trigram) => found.add(trigram));
  return [...found];
}

/** A part of a pattern: text that must be there, any one character, or any characters. */
type PatternPart = { readonly text: string } | "one" | "any";

/** The trigrams that every text has which the pattern matches. */
export function trigramsOfPattern(parts: readonly PatternPart[]): string[] {
  const found = new Set<string>();
  parts.forEach((part, i) => {
    if (typeof part === "string") return;
    const text = folded(part.text);
    for (const { 0: word, index } of text.matchAll(WORD)) {
      const end = index + word.length;
      // A word goes on where a wildcard is; else it begins or ends at what is no letter, or with the text.
      const isBegin = index > 0 || i === 0;
      const isEnd = end < text.length || i === parts.length - 1;
      trigramsWithin(`${isBegin ? "  " : ""}${word}${isEnd ? " " : ""}`, (trigram) => found.add(trigram));
    }
  });
  return [...found];
}

/** Which rows an index of trigrams has to name: those with at least `least` of these. */
export interface TrigramRequest {
  readonly trigrams: readonly string[];
  readonly least: number;
}

export const requestText = (request: TrigramRequest): string => JSON.stringify(request);
export const requestOfText = (text: string): TrigramRequest => JSON.parse(text) as TrigramRequest;
