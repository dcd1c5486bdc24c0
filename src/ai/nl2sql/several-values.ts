/** "And" between two values of one column, which may mean either or both. Called by condition-reader.ts; stateless. */
import type { ColumnFinder } from "./column-finder.js";
import type { Question } from "./question.js";
import type { ColumnRef } from "./schema-facts.js";
import { AGGREGATES } from "./vocabulary.js";

/** Whether the word before a further value at `at` does not say what is meant. */
export function isUnclearAnd(
  question: Question,
  at: number,
  { table }: ColumnRef,
  columns: ColumnFinder,
  isGrouped: boolean,
): boolean {
  if (!question.says(at - 1, "and")) return false;
  // "Fields planted with wheat and barley": with both of them, or with either.
  if (table !== columns.base && !columns.isOneOf(table)) return true;
  // "The average weight of male and female dogs": of each of them, or of all.
  return !isGrouped && question.tokens.some(({ lower }) => AGGREGATES[lower] !== undefined && lower !== "total");
}
