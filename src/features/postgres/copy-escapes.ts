/** What COPY's text format writes with a backslash. */
import type { Escapes } from "../../protocol/postgres/message-writer.js";

/** What follows a backslash in the character's place. */
const LETTERS: Readonly<Record<string, string>> = {
  "\\": "\\",
  "\b": "b",
  "\f": "f",
  "\n": "n",
  "\r": "r",
  "\t": "t",
  "\v": "v",
};

export function copyEscapes(delimiter: string): Escapes {
  const escapes = new Uint8Array(256);
  for (const [character, letter] of Object.entries(LETTERS)) escapes[character.charCodeAt(0)] = letter.charCodeAt(0);
  const code = delimiter.charCodeAt(0);
  if (escapes[code] === 0) escapes[code] = code;
  return escapes;
}
