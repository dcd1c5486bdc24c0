/**
 * Conditions that a single word says of rows: what is free costs nothing, what is upcoming is not past, who was never
 * admitted has no admission. Called by condition-reader.ts before other negations are read; no state.
 */
import { wordsOfName } from "./bare-names.js";
import { type ColumnFinder, isNumber, isTime } from "./column-finder.js";
import type { NameMentions } from "./name-mentions.js";
import type { Filter } from "./query-shape.js";
import { isVerb, type Question, stemOf } from "./question.js";
import type { ColumnRef, TableFacts } from "./schema-facts.js";

const PRICES = ["price", "cost", "fee"];
const ORDINALS: readonly string[] = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth".split(
  " ",
);
/** What ends a thing that was open. */
const ENDS = new Set("closed resolved completed finished settled done ended fixed solved".split(" ").map(stemOf));
const DUE = new Set(["due", "deadline"].map(stemOf));
const DONE = new Set([...ENDS, ...["returned", "paid", "delivered", "submitted"].map(stemOf)]);
/** Below this a verb hardly names a column of times. */
const SURE = 0.9;
/** The word itself, or its plural. */
const PLURAL = 0.95;
/** Written short. */
const SHORT = 0.84;

export function plainStates(question: Question, names: NameMentions, columns: ColumnFinder): Filter[] {
  const filters: Filter[] = [];
  const isOfRows = (at: number) => names.tables.some(({ table, from }) => from === at && table === columns.base);
  /** "Open urgent tickets": a value may stand between. */
  const isBeforeRows = (at: number) => isOfRows(at + 1) || (question.isUsed(at + 1) && isOfRows(at + 2));
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
    } else if (question.says(at, "open|outstanding|unfinished") && (isBeforeRows(at) || isPredicate(at)))
      notEnded(at, question.says(at, "outstanding") ? DONE : ENDS);
    else if (question.says(at, "overdue") && (isOfRows(at + 1) || isPredicate(at))) overdue(at);
    else if (question.says(at, "never")) neverHappened(at);
    else if (question.at(at)!.number !== null) {
      const ref = numberedAt(question, names, columns, at) ?? hasNumberAt(question, columns, at);
      if (ref !== null) add(ref, at, (column) => `${column} = ${question.at(at)!.number}`);
    } else {
      const ref = ordinalAt(question, columns, at);
      if (ref !== null) add(ref, at, (column) => `${column} = ${ordinalOf(question.lower(at))}`);
    }
  });
  return filters;

  function add(ref: ColumnRef, at: number, sql: Filter["sql"]): void {
    question.use(at);
    filters.push({ ref, sql, at, isState: true });
  }

  /** "Open complaints": those that are not resolved yet, where one time says so. */
  function notEnded(at: number, ends: ReadonlySet<string>): void {
    const [end, other] = timesThatSay(columns.base!, ends).filter(({ column }) => column.nullable);
    if (end === undefined || other !== undefined) return;
    columns.doubt();
    if (question.says(at - 1, "still")) question.use(at - 1);
    add(end, at, (column) => `${column} IS NULL`);
  }

  /** "Overdue loans". */
  function overdue(at: number): void {
    const meant = dueAndDone(columns.base!);
    if (meant === null) return;
    columns.doubt();
    const now = meant.due.column.kind === "date" ? "current_date" : "now()";
    add(meant.due, at, (column) => `${column} < ${now}`);
    filters.push({ ref: meant.done, sql: (column) => `${column} IS NULL`, at, isState: true });
  }

  /** "Patients who were never admitted": of none of their many rows there is such a time. */
  function neverHappened(at: number): void {
    const verb = question.says(at + 1, "been") ? at + 2 : at + 1;
    const mention = columns.mentionAt(verb, isTime);
    if (mention === undefined || !isVerb(question.lower(verb)) || mention.candidates[0]!.score < SURE) return;
    const ref = columns.resolve(mention, isTime);
    // "Bills that were never paid" says nothing of the fines of their waiters.
    if (ref === null || ref.table === columns.base || !columns.isAllOf(ref.table)) return;
    question.use(at, mention.to);
    const [sql, denied] = ["IS NULL", "IS NOT NULL"].map((test) => (column: string) => `${column} ${test}`);
    filters.push({ ref, sql: sql!, denied: denied!, denial: at, at, isState: true });
  }
}

/** "One star reviews", "7 seat cars": the column that has the number, where rows are named behind it. */
function numberedAt(question: Question, names: NameMentions, columns: ColumnFinder, at: number): ColumnRef | null {
  const mention = columns.mentionAt(at + 1, isNumber);
  if (mention === undefined || mention.from !== at + 1) return null;
  const rows = names.tables.find(({ from, table }) => from === mention.to && table === columns.base);
  const isPlural = (word: number) => /[^s]s$/.test(question.lower(word));
  if (rows === undefined || !isPlural(mention.to) || isPlural(at + 1)) return null;
  if (question.says(at - 1, "than|least|most|top|first|last")) return null;
  const ref = columns.resolve(mention, (each) => isNumber(each) && each.table === columns.base);
  const fit = mention.candidates.find((each) => each.ref.column === ref?.column)?.score ?? 0;
  if (ref === null || fit < PLURAL) return null;
  question.use(at, mention.to);
  return ref;
}

/** "Cars with 4 cylinders", of rows that have a number of that name. */
function hasNumberAt(question: Question, columns: ColumnFinder, at: number): ColumnRef | null {
  const mention = columns.mentionAt(at + 1, isNumber);
  if (mention?.from !== at + 1 || !question.says(at - 1, "with|have|has|having")) return null;
  const isOwn = (ref: ColumnRef) => isNumber(ref) && ref.table === columns.base;
  const ref = columns.resolve(mention, isOwn);
  const fit = mention.candidates.find((each) => each.ref.column === ref?.column)?.score ?? 0;
  if (ref === null || fit < SHORT) return null;
  question.use(at, mention.to);
  return ref;
}

/** "On the second floor": the number of that name. "The first visit" is the earliest one. */
function ordinalAt(question: Question, columns: ColumnFinder, at: number): ColumnRef | null {
  if (ordinalOf(question.lower(at)) < 1 || !question.says(at - 1, "the") || !question.says(at - 2, "on|in|at"))
    return null;
  const mention = columns.mentionAt(at + 1, isNumber);
  return mention === undefined ? null : columns.takeColumn(mention, isNumber);
}

function ordinalOf(word: string): number {
  const digits = /^(\d+)(?:st|nd|rd|th)$/.exec(word)?.[1];
  return digits === undefined ? ORDINALS.indexOf(word) : Number(digits);
}

/** The only times of rows by which they were due, and at which they were done; null: there are none, or several. */
function dueAndDone(table: TableFacts): { readonly due: ColumnRef; readonly done: ColumnRef } | null {
  const [due, otherDue] = timesThatSay(table, DUE);
  const [done, otherDone] = timesThatSay(table, DONE).filter(({ column }) => column.nullable);
  return due === undefined || done === undefined || otherDue !== undefined || otherDone !== undefined
    ? null
    : { due, done };
}

function timesThatSay(table: TableFacts, words: ReadonlySet<string>): ColumnRef[] {
  const times = table.columns.map((column) => ({ table, column })).filter(isTime);
  return times.filter(({ column }) => wordsOfName(column.name).some((word) => words.has(stemOf(word))));
}
