/**
 * Words whose beginning denies what a column says: "unpaid" beside `paid_on`, "inactive" beside `is_active`. Called by
 * `match-question.ts`; stateless.
 */
import { nameWords } from "./bare-names.js";
import { wordScore } from "./name-mentions.js";
import { stemOf } from "./question.js";
import type { SchemaFacts } from "./schema-facts.js";

const PREFIX = /^(?:un|in|im|non-?)(?=\p{L}{4})/u;
/** A synonym, or better. */
const FIT_MIN = 0.6;

/** How many letters of a word deny the rest of it; 0: none, or the schema has the word itself. */
export function denyingPrefix(word: string, schema: SchemaFacts): number {
  const length = PREFIX.exec(word)?.[0].length ?? 0;
  if (length === 0) return 0;
  const rest = { lower: word.slice(length), stem: stemOf(word.slice(length)) };
  const whole = { lower: word, stem: stemOf(word) };
  let fits = false;
  for (const named of schema.tables.flatMap((table) => [table, ...table.columns])) {
    const { all } = nameWords(schema, named);
    if (all.some((part) => wordScore(whole, part) >= FIT_MIN)) return 0;
    const isState =
      "kind" in named && (named.kind === "boolean" || (named.nullable && /^(date|timestamp)$/.test(named.kind)));
    fits ||= isState && all.some((part) => wordScore(rest, part) >= FIT_MIN);
  }
  return fits ? length : 0;
}
