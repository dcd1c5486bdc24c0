/**
 * Words of which the SQL shows that they were misread: "which company paid most" is no single number, "what will we
 * sell" is not in any row. Called by `match-question.ts` once the shape is known; stateless.
 */
import { wordsOfName } from "./bare-names.js";
import type { ColumnFinder } from "./column-finder.js";
import type { ColumnMention, NameMentions } from "./name-mentions.js";
import type { Filter, QueryShape } from "./query-shape.js";
import { isVerb, type Question, stemOf } from "./question.js";
import type { ColumnRef, TableFacts } from "./schema-facts.js";

/** A synonym, or less. */
const SYNONYM = 0.6;
const RATE_UNITS = "hour|day|week|month|year|night|minute|person|guest|head|piece|unit|kg|km|mile";

export function misreadWords(question: Question, shape: QueryShape): string[] {
  const { aggregates, groups, columns, ofGroups, filters } = shape;
  const words = isOfAll(shape) ? clauseWords(question) : [];
  // "Listings open for longer than 7 days" may be closed by now.
  for (const { at, isState } of filters) {
    if (isState !== true || at === undefined || !question.says(at + 1, "for")) continue;
    if (question.says(at + 2, "longer|more|less|over|at|under|shorter")) words.push(question.lower(at));
  }
  // "Which is the highest price" asks for a number, "which firm has the highest" does not.
  const asksWhose = question.says(0, "which|who|whom|whose") && !question.says(1, "is|are|was|were");
  if (asksWhose && aggregates.length > 0 && groups.length === 0 && ofGroups === null) words.push(question.lower(0));
  question.tokens.forEach((_, at) => {
    if (question.says(at, "will", "we|i|they|you|our|the|be|sales|revenue")) words.push("will");
    // "Open tickets" does not ask when they were opened.
    const isOpened = ({ column }: ColumnRef) => wordsOfName(column.name).some((word) => stemOf(word) === "open");
    if (question.says(at, "open") && !question.says(at + 1, "date|dates|time|times") && columns.some(isOpened))
      words.push("open");
  });
  return words;
}

/** No row is left out, and none comes first. */
function isOfAll({ filters, related, groups, aggregates, ...shape }: QueryShape) {
  const { having, havingValue, ranking, order, limit, firstOfEach } = shape;
  if (aggregates.some(({ fn }) => fn !== "count")) return false;
  const single = [having, havingValue, ranking, order, limit, firstOfEach];
  return filters.length + related.length + groups.length === 0 && single.every((part) => part === null);
}

/** "Products that need to be reordered" are not all of them. */
function clauseWords(question: Question): string[] {
  const at = question.tokens.findIndex((_, i) => i > 0 && question.says(i, "that|who|which|whose"));
  if (at < 0 || at === question.tokens.length - 1) return [];
  const isOfOurs = question.says(at + 1, "we|you|they|i|there|exist|exists|work|works|live|are|is|were|was|have|has");
  return isOfOurs || question.says(at - 1, "of|in|for|with|by|at|on|to|and") ? [] : [question.lower(at)];
}

/** "More than 30 an hour" of `pay_per_hour`: says no more than the column's name. */
export function useRateUnits(question: Question, filters: readonly Filter[]): void {
  const names = filters.flatMap(({ ref }) => wordsOfName(ref.column.name).map(stemOf));
  question.tokens.forEach(({ number }, at) => {
    if (number === null || !question.says(at + 1, "a|an|per") || !question.says(at + 2, RATE_UNITS)) return;
    if (names.includes(stemOf(question.lower(at + 2)))) question.use(at + 1, at + 3);
  });
}

/** "The average sale value" is no average of `sale_price` of items, where there are sales. */
export function isOtherThing({ tables }: NameMentions, mention: ColumnMention | undefined): boolean {
  const best = mention?.candidates[0];
  if (best === undefined || best.score > SYNONYM) return false;
  return tables.some(({ from, table }) => from === mention!.from && table !== best.ref.table);
}

/** "Projects whose expenses exceed 20000": all of them, or one of them. Where "whose" is; null: it is not so. */
export function whoseMany(question: Question, names: NameMentions, columns: ColumnFinder, at: number): number | null {
  const things = names.tables.find(({ to }) => to === at);
  if (things === undefined || things.table === columns.base || columns.isOneOf(things.table)) return null;
  return question.says(things.from - 1, "whose") ? things.from - 1 : null;
}

/** "Number of orders" is no sum of `order_total` of the orders that are counted. */
export function isOfRows(
  { tables }: NameMentions,
  { from, to, candidates }: ColumnMention,
  base: TableFacts | null,
): boolean {
  const rows = tables.find((mention) => mention.from === from && mention.table === base);
  const [best] = candidates;
  // The number of orders is no `order_total`.
  const isPart = wordsOfName(best!.ref.column.name).length > to - from;
  return rows !== undefined && (isPart || best!.score <= Math.max(SYNONYM, rows.score));
}

/** "Best rated supplier" asks for no rating. */
export const isRanking = (question: Question, { from }: ColumnMention): boolean =>
  isVerb(question.lower(from)) && question.says(from - 1, "best|worst|highest|lowest|most|least|top");
