/**
 * Comparisons of two columns: "where the weight is more than the capacity", "offers above the asking price", "projects
 * over budget", "delivered late". Called by condition-reader.ts; no state.
 */
import { wordsOfName } from "./bare-names.js";
import { type ColumnFinder, isNumber, isTime, type Kinds } from "./column-finder.js";
import { type Operator, operatorAt, timesAt } from "./conditions.js";
import { columnSql } from "./first-of-each.js";
import type { ColumnMention, NameMentions } from "./name-mentions.js";
import type { Filter } from "./query-shape.js";
import { isVerb, type Question, stemOf } from "./question.js";
import type { ColumnRef } from "./schema-facts.js";

const isComparable: Kinds = (ref) => isNumber(ref) || isTime(ref);
/** When something was to happen. */
const EXPECTED = new Set(
  "due required promised expected planned scheduled deadline eta estimated etd target"
    .split(" ")
    .map((word) => stemOf(word)),
);

export function comparedColumns(question: Question, names: NameMentions, columns: ColumnFinder): Filter[] {
  const filters: Filter[] = [];
  for (let at = 1; at < question.tokens.length; at++) {
    if (question.isUsed(at)) continue;
    const late = question.says(at, "late|early") ? lateness(question, columns, at) : null;
    if (late !== null) filters.push(late);
    const operator = operatorAt(question, at);
    if (operator === null || operator.ofTime === "in") continue;
    const times = timesAt(question, at + operator.length);
    let operand = at + operator.length + times.length;
    while (question.says(operand, "the|its|their|they|it|was|were|is|are|be|being|been")) operand++;
    const mention = names.columns.find(
      ({ from, candidates }) =>
        from === operand && !question.isUsed(from) && candidates.some(({ ref }) => isComparable(ref)),
    );
    if (mention === undefined) continue;
    const due = operator.ofTime === undefined ? null : besideExpected(question, columns, at, mention);
    if (due !== null) filters.push(due);
    if (due !== null) continue;
    const before = columns.nearestMention(at, at, isComparable);
    const filter =
      before === null || before.to > at
        ? withOnlyNumber(question, columns, at, operator, mention)
        : withNamed(question, columns, at, operator, before, mention);
    if (filter !== null) filters.push(multiplied(filter, times.factor));
  }
  return filters;
}

/** "More than 10 percent of the fare", "more than twice the deposit". */
function multiplied(filter: Filter, factor: number): Filter {
  return factor === 1 ? filter : { ...filter, sql: (column) => filter.sql(`${factor} * ${column}`) };
}

/** "Payments made after the due date": what was done later, if at all. */
function besideExpected(question: Question, columns: ColumnFinder, at: number, mention: ColumnMention): Filter | null {
  if (!question.says(at, "after|before") || !question.says(at + 1, "the|its|their")) return null;
  const times = columns.base!.columns.map((column) => ({ table: columns.base!, column })).filter(isTime);
  const [due, secondDue] = times.filter(isExpected);
  const [done, secondDone] = times.filter((ref) => ref !== due && ref.column.nullable);
  if (due === undefined || done === undefined || secondDue !== undefined || secondDone !== undefined) return null;
  const named = columns.nearestMention(at, at, isTime);
  const meant = named !== null && named.to <= at ? columns.resolve(named, isTime) : null;
  const isOther = meant?.table === columns.base && meant.column !== done.column;
  if (isOther || columns.resolve(mention, isTime)?.column !== due.column) return null;
  columns.doubt();
  question.use(question.says(at - 1, "made|done|completed") ? at - 1 : at, mention.to);
  const dates = question.says(mention.to, "date|dates|day|time") ? mention.to + 1 : mention.to;
  question.use(mention.to, dates);
  const comparison = question.says(at, "after") ? ">" : "<";
  return { ref: done, at, sql: (column) => `${column} ${comparison} ${columnSql(due)}` };
}

const isExpected = ({ column }: ColumnRef) => wordsOfName(column.name).some((word) => EXPECTED.has(stemOf(word)));

/** Of two columns of a table that are both named. */
function withNamed(
  question: Question,
  columns: ColumnFinder,
  at: number,
  operator: Operator,
  before: ColumnMention,
  mention: ColumnMention,
): Filter | null {
  const one = columns.resolve(before, isComparable);
  const isSame: Kinds = (ref) => ref.column !== one?.column && isTime(ref) === isTime(one!) && isComparable(ref);
  const isOwn: Kinds = (ref) => ref.table === one?.table && isSame(ref);
  // "Parts cost more than labour" is of what labour costs, not of its hours.
  const isAlike: Kinds = (ref) => isOwn(ref) && unitOf(ref.column.name) === unitOf(one!.column.name);
  const own = one && (columns.resolve(mention, isAlike) ?? columns.resolve(mention, isOwn));
  // "Permits with a fee above the base fee" of their kind.
  const isOfOne: Kinds = (ref) => one?.table === columns.base && columns.isOneOf(ref.table) && isSame(ref);
  const other = own ?? (one && columns.resolve(mention, isOfOne));
  if (one === null || other === null) return null;
  // "Sold for more than they were listed at": for more money, not later.
  if (isTime(one) && question.says(at, "more|less|fewer|higher|lower|greater|over|under|above|below")) return null;
  question.use(before.from, before.to);
  question.use(at, mention.to);
  return { ref: other, at, sql: (column) => `${columnSql(one)} ${operator.comparison} ${column}` };
}

/** "Offers above the asking price", "projects over budget": the only number of the rows that can be meant. */
function withOnlyNumber(
  question: Question,
  columns: ColumnFinder,
  at: number,
  { comparison, ofTime }: Operator,
  mention: ColumnMention,
): Filter | null {
  const { base } = columns;
  const numbers = base!.columns.map((column) => ({ table: base!, column })).filter(isNumber);
  const other = columns.resolve(mention, isNumber);
  if (ofTime !== undefined || other === null) return null;
  const others = numbers.filter(({ column }) => column !== other.column);
  const alike = others.filter(({ column }) => unitOf(column.name) === unitOf(other.column.name));
  const own = other.table === base && alike.length === 1 ? alike : others;
  if (own.length !== 1 || !columns.isOneOf(other.table)) return null;
  if (other.table === base && alike.length !== 1) columns.doubt();
  question.use(at, mention.to);
  return { ref: other, at, sql: (column) => `${columnSql(own[0]!)} ${comparison} ${column}` };
}

const unitOf = (name: string) => wordsOfName(name).at(-1);

/** "Delivered late": after the day on which it was due. */
function lateness(question: Question, columns: ColumnFinder, at: number): Filter | null {
  const { base } = columns;
  const verb = columns.mentionAt(at - 1, isTime);
  if (!isVerb(question.lower(at - 1))) return null;
  const times = base!.columns.map((column) => ({ table: base!, column })).filter(isTime);
  const [due, secondDue] = times.filter(isExpected);
  if (due === undefined || secondDue !== undefined) return null;
  const done = times.filter((ref) => ref !== due && ref.column.nullable);
  const named = verb && columns.resolve(verb, (ref) => isTime(ref) && ref.table === base && ref.column !== due.column);
  const actual = named ?? (done.length === 1 ? done[0]! : null);
  if (actual === null) return null;
  if (!named) columns.doubt();
  question.use(at - 1, at + 1);
  const comparison = question.says(at, "late") ? ">" : "<";
  return { ref: actual, at, sql: (column) => `${column} ${comparison} ${columnSql(due)}` };
}
