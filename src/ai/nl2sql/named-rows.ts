/**
 * Rows that are compared with another row: one that is named ("cheaper than the Floor Lamp", "hired after Ada"), or the
 * one that a key of their own refers to ("earn more than their manager", "referred by Ada"). Found before other
 * conditions by read-question.ts; uses the words that it reads; no state.
 */
import { wordsOfName } from "./bare-names.js";
import { isNumber, isTime, isYearNumber, type Kinds } from "./column-finder.js";
import { operatorAt } from "./conditions.js";
import { columnSql } from "./first-of-each.js";
import { keysBothWays } from "./link-roles.js";
import { KEY_ENDING, type NameMentions, wordScore } from "./name-mentions.js";
import type { Filter } from "./query-shape.js";
import { type Question, stemOf } from "./question.js";
import { type ColumnRef, type LinkFacts, namingColumns, type SchemaFacts, type TableFacts } from "./schema-facts.js";
import { identifier, literal } from "./sql-names.js";
import type { ValueHit, ValueMention } from "./value-mentions.js";
import type { Measure } from "./vocabulary.js";

/** A word of the same family, or better; a synonym, or better. */
const FAMILY = 0.7;
const MEANING = 0.6;
/** Words between a verb and what it is compared with. */
const REACH = 4;

export interface NamedRows {
  readonly filters: readonly Filter[];
  /** Values that are conditions of other kinds. */
  readonly values: readonly ValueMention[];
}

/** A comparison up to the token `to`, where what is compared with begins. */
interface Compared {
  readonly from: number;
  readonly comparison: "<" | ">";
  readonly measure: Measure | null;
  readonly isOfTime: boolean;
}

export function namedRows(
  question: Question,
  schema: SchemaFacts,
  names: NameMentions,
  values: readonly ValueMention[],
): NamedRows {
  const filters: Filter[] = [];
  const read = new Set<ValueMention>();
  for (const [i, value] of values.entries()) {
    const way = read.has(value) ? null : fromTo(question, schema, value, values[i + 1]);
    if (way !== null) read.add(values[i + 1]!);
    const filter = way ?? [ofRow(question, names, value) ?? ofRole(question, schema, value)];
    const [first] = filter;
    if (read.has(value) || first == null) continue;
    read.add(value);
    filters.push(...(filter as Filter[]));
  }
  const boss = ofTheirs(question, schema, names);
  if (boss !== null) filters.push(boss);
  return { filters, values: values.filter((value) => !read.has(value)) };
}

/** What a row is called by, where the value is that of one row. */
function namingHit({ hits }: ValueMention): ValueHit | null {
  const named = hits.filter(({ ref, values }) => values.length === 1 && namingColumns(ref.table).includes(ref.column));
  return named.length === 1 && namingColumns(named[0]!.ref.table).length === 1 ? named[0]! : null;
}

const valueSql = ({ ref, values }: ValueHit) => `${columnSql(ref)} = ${literal(values[0]!)}`;

/** "Courses cheaper than Statistics", "mechanics hired after Ada". */
function ofRow(question: Question, names: NameMentions, value: ValueMention): Filter | null {
  const hit = namingHit(value);
  const compared = hit === null ? null : comparedBefore(question, value.from);
  if (hit === null || compared === null) return null;
  const found = columnCompared(question, names, compared, hit.ref.table);
  if (found === null) return null;
  question.use(found.from, value.to);
  const end = compared.comparison === ">" ? "max" : "min";
  const other = `(SELECT ${end}(${columnSql(found.ref)}) FROM ${hit.ref.table.sqlName} WHERE ${valueSql(hit)})`;
  return { ref: found.ref, at: found.from, sql: (column) => `${column} ${compared.comparison} ${other}` };
}

function comparedBefore(question: Question, to: number): Compared | null {
  const end = question.says(to - 1, "the") ? to - 1 : to;
  for (let from = end - 1; from >= Math.max(0, end - REACH); from--) {
    const operator = operatorAt(question, from);
    if (operator !== null && from + operator.length === end) {
      const { comparison, measure, ofTime } = operator;
      if (comparison !== "<" && comparison !== ">") return null;
      const isOfTime = ofTime === "before" || ofTime === "after";
      return ofTime !== undefined && !isOfTime ? null : { from, comparison, measure, isOfTime };
    }
    // "More docks than Central": what is compared stands between.
    if (!question.says(end - 1, "than") || from > end - 2) continue;
    const isMore = question.says(from, "more|higher|greater|larger|bigger");
    if (!isMore && !question.says(from, "less|fewer|lower|smaller")) continue;
    return { from, comparison: isMore ? ">" : "<", measure: null, isOfTime: false };
  }
  return null;
}

/** The column of that table that is compared, and where the comparison begins. */
function columnCompared(
  question: Question,
  names: NameMentions,
  { from, measure, isOfTime }: Compared,
  table: TableFacts,
): { readonly ref: ColumnRef; readonly from: number } | null {
  const own = table.columns.map((column) => ({ table, column }));
  if (measure !== null && measure.words.length > 0 && measure.time === undefined) {
    const fits = own.filter((ref) => isNumber(ref) && meansOneOf(ref, measure.words));
    return fits.length === 1 ? { ref: fits[0]!, from } : null;
  }
  if (measure?.time !== undefined) {
    const isAge: Kinds = (ref) => isTime(ref) || isYearNumber(ref);
    const births = own.filter((ref) => isAge(ref) && /birth|born|dob/i.test(ref.column.name));
    const ages = measure.time === "birth" && births.length > 0 ? births : own.filter(isAge);
    return ages.length === 1 ? { ref: ages[0]!, from } : null;
  }
  const kinds: Kinds = isOfTime ? (ref) => isTime(ref) || isYearNumber(ref) : isNumber;
  for (let at = from + 2; at >= Math.max(0, from - 3); at--) {
    const mention = names.columns.find((each) => each.from === at);
    const fit = mention?.candidates.filter(({ ref, score }) => ref.table === table && kinds(ref) && score >= MEANING);
    if (fit === undefined || fit.length === 0 || question.isUsed(at)) continue;
    if (fit.length > 1 && fit[0]!.score === fit[1]!.score) return null;
    return { ref: fit[0]!.ref, from: Math.min(at, from) };
  }
  return null;
}

function meansOneOf({ column }: ColumnRef, words: readonly string[]): boolean {
  return wordsOfName(column.name).some((part) =>
    words.some((word) => wordScore({ lower: word, stem: stemOf(word) }, part) >= FAMILY),
  );
}

const keysToOwn = ({ selfLinks }: SchemaFacts) => selfLinks.filter(({ columns }) => columns.length === 1);
const roleWords = ({ columns }: LinkFacts) =>
  wordsOfName(columns[0]!).filter((word) => !KEY_ENDING.test(word) && !/^(?:by|to|of)$/.test(word));

/** Whether the key calls what it refers to by that word: `manager_id` those who manage. */
function isRole(question: Question, at: number, link: LinkFacts): boolean {
  const token = question.at(at);
  return token !== null && !token.isQuoted && roleWords(link).some((word) => wordScore(token, word) >= FAMILY);
}

/** "Referred by Ada", "whose manager is Ada", where the row's own table has such a key. */
function ofRole(question: Question, schema: SchemaFacts, value: ValueMention): Filter | null {
  const hit = namingHit(value);
  if (hit === null) return null;
  let at = value.from - 1;
  while (question.says(at, "by|to|is|was|named|called|as")) at--;
  const link = keysToOwn(schema).find((each) => each.to === hit.ref.table && isRole(question, at, each));
  if (link === undefined || at === value.from - 1) return null;
  question.use(question.says(at - 1, "whose") ? at - 1 : at, value.to);
  const key = `${link.to.sqlName}.${identifier(link.references[0]!)}`;
  const rows = `(SELECT ${key} FROM ${link.to.sqlName} WHERE ${valueSql(hit)})`;
  return { ref: keyOf(link), at, sql: (column) => `${column} IN ${rows}`, isState: true };
}

const keyOf = ({ from, columns }: LinkFacts): ColumnRef => ({
  table: from,
  column: from.columns.find(({ name }) => name === columns[0])!,
});

/** "Earn more than their manager", "more experience than the person who referred them". */
function ofTheirs(question: Question, schema: SchemaFacts, names: NameMentions): Filter | null {
  for (let at = 1; at < question.tokens.length; at++) {
    if (!question.says(at - 1, "than|before|after") || !question.says(at, "their|its|his|her|the")) continue;
    const isWho = question.says(at, "the") && question.says(at + 2, "who|that|which");
    const role = isWho ? at + 3 : at + 1;
    const link = keysToOwn(schema).find((each) => isRole(question, role, each));
    const compared = link === undefined ? null : comparedBefore(question, at);
    if (link === undefined || compared === null) continue;
    const found = columnCompared(question, names, compared, link.to);
    if (found === null || found.ref.column.sql !== undefined) continue;
    question.use(found.from, isWho && question.says(role + 1, "them|him|her|it") ? role + 2 : role + 1);
    const { sqlName } = link.to;
    const other = `SELECT other.${identifier(found.ref.column.name)} FROM ${sqlName} AS other`;
    const its = `other.${identifier(link.references[0]!)} = ${columnSql(keyOf(link))}`;
    return {
      ref: found.ref,
      at: found.from,
      sql: (column) => `${column} ${compared.comparison} (${other} WHERE ${its})`,
    };
  }
  return null;
}

/** "From Vienna to Oslo": two rows of one table, by the two keys that lead there. */
function fromTo(
  question: Question,
  schema: SchemaFacts,
  one: ValueMention,
  other: ValueMention | undefined,
): Filter[] | null {
  if (other === undefined || !question.says(one.from - 1, "from") || other.from !== one.to + 1) return null;
  if (!question.says(one.to, "to") || one.hits.length !== 1 || other.hits.length !== 1) return null;
  const [start, end] = [one.hits[0]!, other.hits[0]!];
  if (start.ref.column !== end.ref.column) return null;
  const keys = keysBothWays(schema, start.ref.table);
  if (keys === null) return null;
  question.use(one.from - 1, other.to);
  return [[keys.start, start] as const, [keys.end, end] as const].map(([link, hit]) => {
    const key = `${link.to.sqlName}.${identifier(link.references[0]!)}`;
    const rows = `(SELECT ${key} FROM ${link.to.sqlName} WHERE ${valueSql(hit)})`;
    return { ref: keyOf(link), at: one.from, sql: (column: string) => `${column} IN ${rows}`, isState: true };
  });
}
