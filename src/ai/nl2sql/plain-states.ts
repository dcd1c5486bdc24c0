/**
 * Conditions that a single word says of rows: what is free costs nothing, what is upcoming is not past, who was never
 * admitted has no admission. Called by condition-reader.ts before other negations are read; no state.
 */
import { wordsOfName } from "./bare-names.js";
import { type ColumnFinder, isNumber, isTime } from "./column-finder.js";
import type { NameMentions } from "./name-mentions.js";
import type { Filter } from "./query-shape.js";
import { isVerb, type Question, stemOf } from "./question.js";
import type { ColumnRef } from "./schema-facts.js";

const PRICES = ["price", "cost", "fee"];
const ORDINALS: readonly string[] = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth".split(
  " ",
);
/** What ends a thing that was open. */
const ENDS = new Set("closed resolved completed finished settled done ended fixed solved".split(" ").map(stemOf));
/** Below this a verb hardly names a column of times. */
const SURE = 0.9;

export function plainStates(question: Question, names: NameMentions, columns: ColumnFinder): Filter[] {
  const filters: Filter[] = [];
  const isOfRows = (at: number) => names.tables.some(({ table, from }) => from === at && table === columns.base);
  /** "Bills that are still open", at the end. */
  const isPredicate = (at: number) =>
    question.says(question.says(at - 1, "still") ? at - 2 : at - 1, "is|are|were") && at === question.tokens.length - 1;
  question.tokens.forEach((_, at) => {
    if (question.isUsed(at)) return;
    if (question.says(at, "free") && isOfRows(at + 1)) {
      const ref = columns.columnByWords(PRICES, isNumber);
      if (ref?.table === columns.base) add(ref, at, (column) => `${column} = 0`);
    } else if (question.says(at, "upcoming|future") && isOfRows(at + 1)) {
      const ref = columns.timeColumn(at, at + 2);
      const now = ref?.column.kind === "date" ? "current_date" : "now()";
      if (ref?.table === columns.base) add(ref, at, (column) => `${column} > ${now}`);
    } else if (question.says(at, "open|outstanding|unfinished") && (isOfRows(at + 1) || isPredicate(at))) notEnded(at);
    else if (question.says(at, "never")) neverHappened(at);
    else ordinal(at);
  });
  return filters;

  function add(ref: ColumnRef, at: number, sql: Filter["sql"]): void {
    question.use(at);
    filters.push({ ref, sql, at, isState: true });
  }

  /** "Open complaints": those that are not resolved yet, where one time says so. */
  function notEnded(at: number): void {
    const refs = columns.base!.columns.map((column) => ({ table: columns.base!, column }));
    const isEnd = (ref: ColumnRef) =>
      isTime(ref) && ref.column.nullable && wordsOfName(ref.column.name).some((word) => ENDS.has(stemOf(word)));
    const [end, other] = refs.filter(isEnd);
    if (end === undefined || other !== undefined) return;
    columns.doubt();
    if (question.says(at - 1, "still")) question.use(at - 1);
    add(end, at, (column) => `${column} IS NULL`);
  }

  /** "Patients who were never admitted": of none of their many rows there is such a time. */
  function neverHappened(at: number): void {
    const verb = question.says(at + 1, "been") ? at + 2 : at + 1;
    const mention = columns.mentionAt(verb, isTime);
    if (mention === undefined || !isVerb(question.lower(verb)) || mention.candidates[0]!.score < SURE) return;
    const ref = columns.resolve(mention, isTime);
    if (ref === null || ref.table === columns.base || columns.isOneOf(ref.table)) return;
    question.use(at, mention.to);
    const [sql, denied] = ["IS NULL", "IS NOT NULL"].map((test) => (column: string) => `${column} ${test}`);
    filters.push({ ref, sql: sql!, denied: denied!, denial: at, at, isState: true });
  }

  /** "On the second floor": the number of that name. "The first visit" is the earliest one. */
  function ordinal(at: number): void {
    const number = ORDINALS.indexOf(question.lower(at));
    const digits = /^(\d+)(?:st|nd|rd|th)$/.exec(question.lower(at))?.[1];
    const value = digits === undefined ? number : Number(digits);
    if (value < 1 || !question.says(at - 1, "the") || !question.says(at - 2, "on|in|at")) return;
    const mention = columns.mentionAt(at + 1, isNumber);
    const ref = mention === undefined ? null : columns.takeColumn(mention, isNumber);
    if (ref !== null) add(ref, at, (column) => `${column} = ${value}`);
  }
}
