/** How long summaries may be, UTF-16 code units. */
import { sqlError } from "../protocol/errors.js";
import { LANGUAGE_CHARACTERS_MAX } from "../protocol/limits.js";

export const SUMMARY_CHARACTERS_DEFAULT = 500;

/** Throws 22023. */
export function summaryLength(length: number): number {
  if (length >= 1 && length <= LANGUAGE_CHARACTERS_MAX) return length;
  throw sqlError("22023", `a summary has 1 to ${LANGUAGE_CHARACTERS_MAX} characters`);
}
