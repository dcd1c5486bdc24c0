/** Lengths of texts that functions make, checked before they are made. Used by functions that give texts. */
import { sqlError } from "../../../protocol/errors.js";
import { TEXT_CHARACTERS_MAX } from "../../../protocol/limits.js";
import { spend } from "../../../protocol/stretch.js";

/** Throws 54000 for a text that is longer than texts may be. */
export function checkLength(characters: number): void {
  if (characters > TEXT_CHARACTERS_MAX) throw sqlError("54000", "requested length too large");
}

/** Throws 54000. */
export function bounded(text: string): string {
  checkLength(text.length);
  return text;
}

/** The texts with the separator between them. Throws 54000, Overrun. */
export function joinedTexts(texts: readonly string[], separator: string): string {
  const characters = texts.reduce((sum, text) => sum + text.length, separator.length * Math.max(0, texts.length - 1));
  checkLength(characters);
  spend(characters);
  return texts.join(separator);
}
