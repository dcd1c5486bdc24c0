/**
 * Where a text stops being JSON, and what is wrong there, in words. Called once a parser has refused the text; no
 * state.
 */
import { type ParseError, parse } from "jsonc-parser";

/** By the codes of the tolerant parser (ParseErrorCode), from 1. */
const FAULTS = [
  "a value that is no text in double quotes, number, true, false or null",
  "a malformed number",
  "a name in double quotes is missing",
  "a value is missing",
  "a colon is missing",
  "a comma is missing",
  "a closing brace is missing",
  "a closing bracket is missing",
  "something follows the end",
  "a comment",
  "a comment that does not end",
  "a string without its closing quote",
  "a number that breaks off",
  "a malformed \\u escape",
  "an unknown escape",
  "a control character that is not escaped",
] as const;

/** Characters of a text that are looked at for a fault. */
const SEARCHED_CHARACTERS = 8192;

export interface JsonFaultAt {
  readonly words: string;
  /** Index in the text. */
  readonly at: number;
}

/** The first offence; null: the text has none. */
export function findJsonFault(text: string): JsonFaultAt | null {
  const errors: ParseError[] = [];
  parse(text, errors, { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false });
  const [first] = errors;
  return first === undefined ? null : { words: FAULTS[first.error - 1]!, at: first.offset };
}

/** "a comma is missing at position 7", from 0; of a long text its beginning is looked at. */
export function jsonFaultOf(text: string): string {
  const fault = findJsonFault(text.slice(0, SEARCHED_CHARACTERS));
  const isPast = fault === null || (text.length > SEARCHED_CHARACTERS && fault.at >= SEARCHED_CHARACTERS);
  return isPast ? `a fault behind position ${SEARCHED_CHARACTERS}` : `${fault.words} at position ${fault.at}`;
}
