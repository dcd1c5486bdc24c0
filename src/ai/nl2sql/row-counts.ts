/**
 * How many rows something has: "more than 3 orders", "at least two open tickets", "stayed three times", and "the
 * average number of orders per customer". Used by read-question.ts and condition-reader.ts; no state.
 */
import { type ColumnFinder, isBoolean } from "./column-finder.js";
import type { Condition } from "./conditions.js";
import type { ColumnMention, NameMentions, TableMention } from "./name-mentions.js";
import { type GroupPhrase, type Named, namedAt } from "./phrases.js";
import type { QueryShape } from "./query-shape.js";
import type { Question } from "./question.js";
import { relates } from "./relating-verbs.js";
import type { ColumnRef, TableFacts } from "./schema-facts.js";
import type { ValueMention } from "./value-mentions.js";
import { AGGREGATES } from "./vocabulary.js";

/** A synonym, or better. */
const MEANING = 0.6;
/** The word itself, or its plural. */
const SURE = 0.95;

/** Null: the number is not one of rows. */
export function countCondition(
  condition: Condition,
  question: Question,
  names: NameMentions,
  values: readonly ValueMention[],
  columns: ColumnFinder,
  isGrouped: boolean,
): QueryShape["having"] {
  const { numbers, from, to, comparison } = condition;
  const count = numbers![0]!;
  const of = (table: TableFacts) => ({ table, comparison, count });
  const times = timesOf(condition, question, names);
  if (times !== null) {
    if (times.table === columns.base || columns.isOneOf(times.table)) return null;
    question.use(times.from, times.to);
    question.use(from, question.says(to, "times") ? to + 1 : to);
    return of(times.table);
  }
  const first = question.says(to, "of|the|different") ? to + 1 : to;
  const next = behindStates(first, question, values, columns);
  const named =
    rowsAt(names, first) ?? (namedAt(names, first)?.kind === "table" ? namedAt(names, first) : namedAt(names, next));
  if (named?.kind === "column") {
    const ref = keyOfMany(named.mention, columns);
    if (ref !== null) question.use(named.mention.from, named.mention.to);
    if (ref !== null) return of(ref.table);
  }
  if (named?.kind !== "table") return countedValues(values, first, columns, of);
  const { mention } = named;
  // "Which countries have more than 2 customers": rows are counted by a column of their own.
  const byColumn = names.columns.some(
    (each) =>
      each.from < to && !question.isUsed(each.from) && each.candidates.some(({ ref }) => ref.table === columns.base),
  );
  const isOwn = mention.table === columns.base;
  if (isOwn && ((!byColumn && !isGrouped) || next > first)) return null;
  // What is said of them is said of those that are counted.
  if (next > first && columns.isOneOf(mention.table)) return null;
  question.use(mention.from, mention.to);
  return of(mention.table);
}

/** "More than 2 languages" of rows that tell a country and one of its languages, each once. */
function keyOfMany({ candidates }: ColumnMention, columns: ColumnFinder): ColumnRef | null {
  const [only, other] = candidates.filter(({ ref, score }) => score >= SURE && columns.manyOf().includes(ref.table));
  const { primaryKey } = only?.ref.table ?? { primaryKey: [] };
  return other === undefined && primaryKey.length === 2 && primaryKey.includes(only!.ref.column.name)
    ? only!.ref
    : null;
}

/** "More than one beer" of beers, though a column is called so, too: rows are counted. */
function rowsAt(names: NameMentions, at: number): Named | null {
  const mention = names.tables.find(({ from, score }) => from === at && score >= SURE);
  const column = names.columns.find(({ from }) => from === at);
  return mention === undefined || (column !== undefined && column.to > mention.to) ? null : { kind: "table", mention };
}

/** "At least two premium stories": values and flags stand before what is counted. */
function behindStates(
  from: number,
  question: Question,
  values: readonly ValueMention[],
  columns: ColumnFinder,
): number {
  let at = from;
  while (at < from + 4) {
    const value = values.find((each) => each.from === at);
    const flag = columns.mentionAt(at, isBoolean);
    if (value !== undefined) at = value.to;
    else if (flag?.from === at) at = flag.to;
    else if (question.at(at)?.isPrefix === true) at++;
    else break;
  }
  return at;
}

/** "At least two suites": rows that have the value. */
function countedValues(
  values: readonly ValueMention[],
  at: number,
  columns: ColumnFinder,
  of: (table: TableFacts) => QueryShape["having"],
): QueryShape["having"] {
  const value = values.find((each) => each.from === at);
  const tables = new Set(value?.hits.map(({ ref }) => ref.table) ?? []);
  const [table, other] = tables;
  if (table === undefined || other !== undefined) return null;
  return table === columns.base || columns.isOneOf(table) ? null : of(table);
}

/** "Stayed at least three times", "ordered more than once": what is done stands before. */
function timesOf({ from, to }: Condition, question: Question, names: NameMentions): TableMention | null {
  if (!question.says(to, "times") && !question.says(to - 1, "once|twice")) return null;
  return names.tables.find((each) => each.to === from && each.score >= MEANING) ?? null;
}

/** What is counted of each row of a table, also where there is none of it. */
export interface EachCount {
  readonly base: TableFacts;
  readonly counted: TableFacts;
  readonly isAverage: boolean;
  /** How well the names fit. */
  readonly score: number;
}

/** "The average number of orders per customer", "how many orders does each customer have". */
export function eachCount(question: Question, names: NameMentions, groups: readonly GroupPhrase[]): EachCount | null {
  const [group, other] = groups;
  if (group?.kind !== "table" || other !== undefined) return null;
  const each = group.mention;
  const of = ({ table, score }: TableMention, isAverage: boolean): EachCount | null =>
    table === each.table ? null : { base: each.table, counted: table, isAverage, score: Math.min(each.score, score) };
  const counted = howMany(question, names, each);
  if (counted !== null) return of(counted, false);
  const at = question.tokens.findIndex(
    ({ lower }, i) => AGGREGATES[lower] === "avg" && question.says(i + 1, "number|count", "of"),
  );
  if (at < 0) return null;
  const next = question.says(at + 3, "the|their|all") ? at + 4 : at + 3;
  const named = namedAt(names, next);
  if (named?.kind !== "table" || named.mention.table === each.table) return null;
  question.use(at, named.mention.to);
  return of(named.mention, true);
}

/** What is counted where no more is said of it: then those of which there is none are meant, too. */
function howMany(question: Question, names: NameMentions, { from, to, table }: TableMention): TableMention | null {
  const first = namedAt(names, 2);
  if (!question.says(0, "how", "many") || first?.kind !== "table" || first.mention.table === table) return null;
  const { mention } = first;
  // "Has each artist released": the verb says no more than that they are the artist's.
  const isEnd = question.says(to, "have") || (to === question.tokens.length - 1 && relates(question.at(to)!.stem));
  if (isEnd && question.says(from - 2, "do|does|did|has|have", "each|every") && mention.to === from - 2) {
    question.use(0, to + 1);
    return mention;
  }
  // "How many bikes are at each station".
  let next = mention.to;
  while (question.says(next, "is|are|was|were|work|live|belong") || relates(question.at(next)?.stem ?? "")) next++;
  const isIn = question.says(from - 2, "in|at|on|for|by|of|with|to", "each|every");
  if (to !== question.tokens.length || !isIn || next !== from - 2) return null;
  question.use(0, to);
  return mention;
}
