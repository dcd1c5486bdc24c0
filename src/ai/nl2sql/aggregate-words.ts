/** Words that ask for a sum, an average and the like. Called by read-question.ts; stateless. */
import { type ColumnFinder, isNumber } from "./column-finder.js";
import type { AggregateFn } from "./query-shape.js";
import type { Question } from "./question.js";
import { SURE } from "./superlative-reader.js";
import { AGGREGATES } from "./vocabulary.js";

/** Tokens between two of them, of which the second may be a column. */
const REACH = 3;

export function aggregateWords(question: Question, columns: ColumnFinder): { fn: AggregateFn; at: number }[] {
  const found: { fn: AggregateFn; at: number }[] = [];
  question.tokens.forEach(({ lower }, at) => {
    const fn = AGGREGATES[lower];
    if (fn === undefined || question.isUsed(at)) return;
    if (question.says(at + 1, "number", "of") && !question.isUsed(at + 1)) return;
    if (!isMeasured(question, columns, at, found.at(-1)?.at)) found.push({ fn, at });
  });
  return found;
}

/** "The average invoice total" is that of the column: nothing is added up. */
function isMeasured(question: Question, columns: ColumnFinder, at: number, before: number | undefined): boolean {
  if (before === undefined || at - before > REACH || question.says(at - 1, "and|or|,")) return false;
  const mention = columns.mentionAt(at, isNumber);
  return mention?.candidates.some(({ ref, score }) => isNumber(ref) && score >= SURE) === true;
}
