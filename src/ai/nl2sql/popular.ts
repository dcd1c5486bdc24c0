/**
 * "The most popular course", "the busiest station", "the most common fuel": of what there are most. Used by
 * read-question.ts; no state.
 */

import { wordsOfName } from "./bare-names.js";
import type { ColumnFinder } from "./column-finder.js";
import { isNumber, isText } from "./column-finder.js";
import type { NameMentions } from "./name-mentions.js";
import { namedAt, type Superlative } from "./phrases.js";
import type { GroupKey } from "./query-shape.js";
import type { Question } from "./question.js";
import { namingColumns, type TableFacts } from "./schema-facts.js";

/** Numbers that say how popular a thing is. */
const SAID = /^(?:popularity|views?|likes?|plays?|downloads?|ratings?|votes?)$/;
/** Below this a word hardly names a column. */
const SURE = 0.9;

/** What is counted: rows of one of these tables, or all rows that have the same in a column. */
export interface Popular {
  readonly tables: readonly TableFacts[];
  readonly group: GroupKey | null;
}

/** Null: nobody can tell. */
export function popular(
  question: Question,
  names: NameMentions,
  columns: ColumnFinder,
  { at, to }: Superlative,
): Popular | null {
  const base = columns.base!;
  const group = columnGroup(question, names, columns, at, to);
  if (group !== null) return { tables: [], group };
  const by = question.tokens.findIndex((_, i) => i >= to && question.says(i, "by"));
  let of = by + 1;
  while (question.says(of, "the|number|of|total")) of++;
  const named = by < 0 ? null : namedAt(names, of);
  if (named?.kind === "table" && columns.isAllOf(named.mention.table) && named.mention.table !== base) {
    question.use(by, named.mention.to);
    return { tables: [named.mention.table], group: null };
  }
  const own = base.columns.map((column) => ({ table: base, column })).filter(isNumber);
  if (own.some(({ column }) => wordsOfName(column.name).some((word) => SAID.test(word)))) return null;
  columns.doubt();
  const tables = columns.manyOf();
  return tables.length === 0 ? null : { tables, group: null };
}

/** "The most common fuel" of cars. */
function columnGroup(
  question: Question,
  names: NameMentions,
  columns: ColumnFinder,
  at: number,
  to: number,
): GroupKey | null {
  const [mention, other] = names.columns.filter(
    ({ from, candidates }) => !question.isUsed(from) && candidates[0]!.score >= SURE && (from >= to || from < at),
  );
  const isRows = names.tables.some(({ from, score }) => from === mention?.from && score >= SURE);
  if (mention === undefined || other !== undefined || isRows) return null;
  const ref = columns.resolve(mention, (each) => isText(each) && each.table === columns.base);
  if (ref === null || namingColumns(ref.table).includes(ref.column)) return null;
  question.use(mention.from, mention.to);
  return { kind: "column", ref };
}
