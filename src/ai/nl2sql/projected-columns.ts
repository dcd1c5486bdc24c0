/**
 * Chooses the columns that a list shows: those that the question names and that have no other meaning in it. Called by
 * `read-question.ts`.
 */
import { anyKind, type ColumnFinder, isTime } from "./column-finder.js";
import type { NameMentions } from "./name-mentions.js";
import { isVerb, type Question } from "./question.js";
import { type ColumnFacts, type ColumnRef, namingColumns, type TableFacts } from "./schema-facts.js";

/** Below this a word hardly names a column. */
const SURE = 0.9;
/** Below this a word is no reason to show a column. */
const PROJECTED = 0.5;

/** A synonym, or less. */
const SYNONYM = 0.6;

/** By what rows are told apart: their own names, or those of the only thing with names that each of them is or has. */
function namesOf(base: TableFacts, columns: ColumnFinder): ColumnRef[] {
  const own = namingColumns(base).map((column) => ({ table: base, column }));
  if (!own.every(({ column }) => column.isKey)) return own;
  const named = columns.onesOf().flatMap((table) => {
    const refs = namingColumns(table).map((column) => ({ table, column }));
    return refs.some(({ column }) => column.isKey) ? [] : [refs];
  });
  if (named.length !== 1) return own;
  columns.doubt();
  return named[0]!;
}

/** "The ids and weights of all pets", "pet ids": the only key of the rows; uses the word. */
function keyAsked(question: Question, names: NameMentions, base: TableFacts): ColumnFacts | null {
  const isFree = (at: number) =>
    !question.isUsed(at) && !names.columns.some(({ from, to }) => to - from > 1 && from <= at && at < to);
  const at = question.tokens.findIndex((_, i) => question.says(i, "id|ids") && isFree(i));
  const owner = names.tables.find(({ to }) => to === at);
  const isOfRows = owner === undefined ? question.says(at + 1, "of|and|for|from") : owner.table === base;
  if (at < 0 || !isOfRows || base.primaryKey.length !== 1) return null;
  question.use(at);
  return base.columns.find(({ name }) => name === base.primaryKey[0]) ?? null;
}

/** Columns that are named and mean nothing else. */
export function projectedColumns(question: Question, names: NameMentions, columns: ColumnFinder): ColumnRef[] {
  const base = columns.base!;
  const refs: ColumnRef[] = [];
  const add = (ref: ColumnRef) => {
    if (!refs.some(({ column }) => column === ref.column)) refs.push(ref);
  };
  const asksWhen = question.says(0, "when");
  const key = keyAsked(question, names, base);
  if (key !== null) add({ table: base, column: key });
  for (const mention of names.columns) {
    if (question.isUsed(mention.from)) continue;
    const word = question.lower(mention.from);
    if (/^names?$/.test(word) && mention.to === mention.from + 1) {
      for (const ref of namesOf(base, columns)) add(ref);
      question.use(mention.from, mention.to);
      continue;
    }
    // "Authors named Ana".
    if (/^(named|called)$/.test(word)) continue;
    const ref = columns.resolve(mention, anyKind);
    if (ref === null) continue;
    const fit = mention.candidates.find((each) => each.ref.column === ref.column)!.score;
    // "The longest delivery" is a row; when it was delivered nobody asks.
    if (fit < SURE && names.tables.some(({ from, score }) => from === mention.from && score > fit)) continue;
    // "Volunteers who worked for a campaign" asks for no hours worked.
    const isOfWho = mention.to === mention.from + 1 && question.says(mention.from - 1, "who|that|which");
    const isDone = isVerb(word) && (fit < 0.95 || isOfWho);
    const isAside = question.at(mention.from)!.isStop && mention.to === mention.from + 1 && fit < SURE;
    // "That were never planted": what was done is no column to show.
    const isDenied = isVerb(word) && question.says(mention.from - 1, "never|not|ever|been") && !asksWhen;
    if (isDenied) continue;
    if ((isDone || fit < PROJECTED || isAside) && !(asksWhen && isTime(ref))) continue;
    if (asksWhen && !isTime(ref)) continue;
    const isFar = ref.table !== base && !columns.isOneOf(ref.table);
    // "What does a device cost" asks for no value that one of its sensors measured.
    if (isFar && fit <= SYNONYM && !columns.named.has(ref.table)) continue;
    if (isFar) columns.doubt();
    add(ref);
    question.use(mention.from, mention.to);
  }
  if (asksWhen && refs.length === 0) {
    const ref = columns.timeColumn(0, 0);
    if (ref !== null) add(ref);
  }
  const naming = namingColumns(base).map((column) => ({ table: base, column }));
  if (refs.length === 0 && question.says(0, "who")) {
    // Of a loan nobody is known by its number.
    if (naming.every(({ column }) => column.isKey)) columns.unuse(0);
    for (const ref of naming) add(ref);
  }
  // "Books and their authors".
  const isBeside = names.tables.some(({ table, to }) => table === base && question.says(to, "and|with", "their|its"));
  return isBeside && refs.length > 0
    ? [...naming.filter((ref) => !refs.some(({ column }) => column === ref.column)), ...refs]
    : refs;
}
