/** "Or" between two conditions. Called by read-question.ts once the conditions are known; no state. */
import type { ColumnFinder } from "./column-finder.js";
import type { ConditionReader } from "./condition-reader.js";
import { columnSql } from "./first-of-each.js";
import type { Filter } from "./query-shape.js";
import type { Question } from "./question.js";

/** "Blocked or admins": two conditions on a row. Of more of them nobody says which belong together. */
export function joinAlternatives(
  question: Question,
  { filters, related, having }: ConditionReader,
  columns: ColumnFinder,
): void {
  question.tokens.forEach(({ lower }, at) => {
    if (lower !== "or" || question.isUsed(at)) return;
    const [one, other, third] = filters;
    const isBetween = one?.at !== undefined && other?.at !== undefined && one.at < at === at < other.at;
    const isOfRow = one?.ref.table === other?.ref.table && filters.every(({ ref }) => columns.isOneOf(ref.table));
    if (!isBetween || !isOfRow || third !== undefined || related.length > 0 || having !== null) {
      columns.unuse(at);
      return;
    }
    question.use(at);
    const sqlOf = ({ ref, sql }: Filter) => sql(columnSql(ref));
    const both = `(${sqlOf(one!)} OR ${sqlOf(other!)})`;
    filters.splice(0, 2, { ref: one!.ref, at: one!.at!, sql: () => both });
  });
}
