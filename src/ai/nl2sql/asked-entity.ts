/**
 * Whether the SQL shows what the question asks for: "comments on premium stories" are no stories. Called by
 * `match-question.ts` once the shape is known; stateless.
 */
import type { NameMentions } from "./name-mentions.js";
import type { QueryShape } from "./query-shape.js";
import type { Question } from "./question.js";
import type { ColumnRef } from "./schema-facts.js";

/** The last word of a table's name, or better. */
const NAMED = 0.55;
/** Below this a word hardly names a column. */
const SURE = 0.9;

/** Words for the rows that are asked for, where rows of another table that is named behind them are shown. */
export function unshownWords(question: Question, names: NameMentions, shape: QueryShape): string[] {
  const { base, columns, aggregates, groups, ranking, having, firstOfEach } = shape;
  if (aggregates.length > 0 || groups.length > 0 || ranking !== null || having !== null) return [];
  const isHead = (at: number) => question.tokens.slice(0, at).every(({ isStop }, i) => isStop || question.isUsed(i));
  const isColumn = ({ from, to }: { from: number; to: number }) =>
    names.columns.some((each) => each.from === from && each.to >= to && each.candidates[0]!.score >= SURE);
  const head = names.tables.find((mention) => mention.score >= NAMED && !isColumn(mention));
  if (head === undefined || !isHead(head.from) || head.table === base) return [];
  const each = firstOfEach?.groups ?? [];
  if (each.some((group) => (group.kind === "table" ? group.table : group.ref.table) === head.table)) return [];
  if (columns.some(({ table }) => table === head.table)) return [];
  const isBehind = names.tables.some(({ table, from }) => table === base && from > head.from);
  return isBehind ? [question.slice(head.from, head.to)] : [];
}

/** "Who teaches Spanish" does not ask for "Spanish": what is shown is more than what was said. */
export function restatedWords(question: Question, { columns, filters }: QueryShape): string[] {
  const isSaid = ({ column }: ColumnRef) =>
    filters.some(({ ref, sql }) => ref.column === column && / = '[^']*'$/.test(sql("")));
  return columns.length > 0 && columns.every(isSaid) ? [question.lower(0)] : [];
}
