/**
 * Words of a question that are misspelt names of tables and columns: "vesels", "custmers". Called by
 * `match-question.ts` for questions that are not understood as they are written; stateless.
 */
import { editDistance } from "../../protocol/nearest-name.js";
import { nameWords } from "./bare-names.js";
import { adjectiveOf } from "./conditions.js";
import { wordScore } from "./name-mentions.js";
import { Question, stemOf, type Token } from "./question.js";
import type { SchemaFacts } from "./schema-facts.js";
import { ABBREVIATIONS, ADJECTIVES, AGGREGATES, SYNONYMS, UNIT_NAMES } from "./vocabulary.js";

/** Longer questions are not mended. */
const WORDS_MAX = 40;
/** Shorter words are too near to others. */
const LETTERS_MIN = 6;
/** From so many letters on, two of them may be wrong. */
const LETTERS_LONG = 9;
/** Words that differ in so many last letters alone are other words. */
const ENDING = 2;

const MEANINGFUL = new Set(SYNONYMS.flat());

/** The question with such words written as the schema has them; null: there are none. */
export function mendedQuestion(text: string, schema: SchemaFacts): string | null {
  const parts = new Set<string>();
  for (const named of schema.tables.flatMap((table) => [table, ...table.columns]))
    for (const part of nameWords(schema, named).all) parts.add(ABBREVIATIONS[part] ?? part);
  let mended = text;
  const { tokens } = new Question(text);
  if (tokens.length > WORDS_MAX) return null;
  for (const token of [...tokens].reverse()) {
    const word = isUnknown(token, parts) ? nearestOf(token.lower, parts) : null;
    if (word !== null) mended = mended.slice(0, token.start) + word + mended.slice(token.end);
  }
  return mended === text ? null : mended;
}

/** Names of people and places begin with a capital; the first word of a sentence does as well. */
function isUnknown(token: Token, parts: ReadonlySet<string>): boolean {
  const { lower, isStop, isQuoted, number, isCapitalised, start } = token;
  if (isStop || isQuoted || number !== null || lower.length < LETTERS_MIN || (isCapitalised && start > 0)) return false;
  const isVocabulary =
    MEANINGFUL.has(lower) ||
    AGGREGATES[lower] !== undefined ||
    ADJECTIVES[lower] !== undefined ||
    UNIT_NAMES[lower] !== undefined ||
    adjectiveOf(lower, "er") !== null ||
    adjectiveOf(lower, "est") !== null;
  return !isVocabulary && [...parts].every((part) => wordScore(token, part) === 0);
}

/** A publisher is not what was published. */
function isInflected(word: string, form: string): boolean {
  return word.slice(0, -ENDING) === form.slice(0, word.length - ENDING);
}

function isNear(word: string, form: string, most: number): boolean {
  return Math.abs(word.length - form.length) <= most && !isInflected(word, form) && editDistance(word, form) <= most;
}

/** The only name's word that is so near; null: none, or several. */
function nearestOf(word: string, parts: ReadonlySet<string>): string | null {
  const most = word.length >= LETTERS_LONG ? 2 : 1;
  const found = new Map<string, string>();
  for (const part of parts) {
    if (part.length < LETTERS_MIN - 1 || part[0] !== word[0]) continue;
    for (const form of [part, `${part}s`, part.replace(/s$/, "")])
      if (isNear(word, form, most)) found.set(stemOf(part), form);
  }
  return found.size === 1 ? [...found.values()][0]! : null;
}
