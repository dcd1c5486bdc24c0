/**
 * Names of text search configurations, which are languages; values of type regconfig are these. What a configuration
 * does is in src/text/languages.ts, whose keys they are.
 */
import { sqlError } from "../protocol/errors.js";

export const TEXT_SEARCH_CONFIGS: readonly string[] =
  "simple arabic armenian basque catalan danish dutch english finnish french german hungarian irish italian norwegian portuguese romanian russian spanish swedish tamil turkish".split(
    " ",
  );

const known = new Set(TEXT_SEARCH_CONFIGS);

/** Of a name with or without its schema. Throws 42704. */
export function regConfigFromText(text: string): string {
  const name = text
    .trim()
    .toLowerCase()
    .replace(/^pg_catalog\./, "")
    .replace(/^"(.*)"$/, "$1");
  if (known.has(name)) return name;
  throw sqlError("42704", `text search configuration "${text}" does not exist`, {
    hint: `There are: ${TEXT_SEARCH_CONFIGS.join(", ")}.`,
  });
}
