/** The function of the extension unaccent. */
import { sqlError } from "../../../protocol/errors.js";
import { TEXT } from "../../../values/values.js";
import { WITHOUT_ACCENT } from "../../../values/without-accent.js";
import type { ScalarFunction } from "../expr.js";
import { fn } from "./define.js";

/** Characters that may have a rule. */
const FOREIGN = /[^\0-\x7f]/gu;

const unaccent = (text: string): string =>
  text.replace(FOREIGN, (character) => WITHOUT_ACCENT.get(character) ?? character);

/** The only dictionary that there is. Throws 42704 for another one. */
function byDictionary(dictionary: string, text: string): string {
  if (/^(?:public\.)?unaccent$/.test(dictionary)) return unaccent(text);
  throw sqlError("42704", `text search dictionary "${dictionary}" does not exist`);
}

export const UNACCENT_FUNCTIONS: readonly ScalarFunction[] = [
  fn("unaccent", [TEXT], TEXT, unaccent),
  fn("unaccent", [TEXT, TEXT], TEXT, byDictionary),
];
