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

/** What the other word of a pair says is denied: "failed" where a column says who passed. */
const OPPOSITES: Readonly<Record<string, string>> = {
  failed: "passed",
  failing: "passed",
  absent: "present",
  private: "public",
  offline: "online",
  disabled: "enabled",
};

/** The word that is denied by this one; null: none, or the schema has this one itself, or no flag of the other. */
export function opposite(word: string, schema: SchemaFacts): string | null {
  const other = OPPOSITES[word];
  if (other === undefined) return null;
  const names = schema.tables.flatMap((table) => [table, ...table.columns]);
  const has = (named: (typeof names)[number], said: string) => nameWords(schema, named).all.includes(said);
  if (names.some((named) => has(named, word))) return null;
  return names.some((named) => "kind" in named && named.kind === "boolean" && has(named, other)) ? other : null;
}

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
