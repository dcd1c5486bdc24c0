/**
 * What tells how likely an answer is right: how much of the question its SQL says, how much it says that the question
 * does not, and how much there was to misread. Taken from the texts alone, so that answers of earlier rules count, too.
 * Called by `confidence.ts` and by what fits its weights (`bench/quality/fit-confidence.ts`); stateless.
 */
import { wordsOfName } from "./bare-names.js";
import { wordScore } from "./name-mentions.js";
import { Question, stemOf, type Token } from "./question.js";
import type { SchemaFacts } from "./schema-facts.js";
import { identifier } from "./sql-names.js";
import { AGGREGATES, IRREGULAR } from "./vocabulary.js";

/** Names of tables and columns; no more is needed of a schema. */
export interface NamedSchema {
  readonly tables: readonly { readonly name: string; readonly columns: readonly { readonly name: string }[] }[];
}

/** A synonym, or better; and a word of the same family, or better. */
const MEANT = 0.55;
const SAID = 0.7;
/** They shape a query and name nothing. */
const SHAPING =
  /^(?:top|bottom|first|last|most|least|fewest|more|less|fewer|than|highest|lowest|largest|smallest|biggest|greatest|number|count|order|ordered|sorted|sort|year|month|week|day|quarter|hour|share|percentage|percent|rate|before|after|since|between|until|during|never|without|except|however|running|cumulative|growth|change|twice|half|double|average|above|below|over|under|exceed|exceeds|recent|recently|newest|oldest|latest|earliest|youngest|longest|shortest|cheapest|heaviest|lightest|best|worst|popular|common|today|yesterday|ago)s?$/;

/** In the order of the weights. */
export const TRAITS = [
  "certainty",
  "sure",
  "unreadWords",
  "unsaidConditions",
  "unsaidMeasures",
  "unsaidGroups",
  "unsaidTables",
  "weakNames",
  "rivals",
  "joins",
  "exists",
  "denied",
  "grouped",
  "ranked",
  "having",
  "times",
  "subqueries",
  "headNotShown",
  "aside",
  "unsaidFunction",
  "unsaidCount",
  "farExists",
  "leftOut",
  "allRows",
] as const;
export type Trait = (typeof TRAITS)[number];

/** What the rules answered. */
export interface Answered {
  readonly sql: string;
  /** As the rules have it, 0 to 1. */
  readonly certainty: number;
  /** Whether rows are counted by things some of which have none: those may be asked for, too. */
  readonly leftOut: boolean;
}

export function traitsOf(
  text: string,
  { sql, certainty, leftOut }: Answered,
  schema: NamedSchema,
): Record<Trait, number> {
  const words = new Question(text).tokens.filter(({ isStop }) => !isStop);
  const { columns, tables, literals } = readSql(sql, schema);
  const fits = (token: Token, parts: readonly string[]) => Math.max(0, ...parts.map((part) => wordScore(token, part)));
  const said = (name: string, least: number) => words.some((token) => fits(token, wordsOfName(name)) >= least);
  const parts = [...columns.map(({ name }) => name), ...tables].flatMap(wordsOfName);
  const isRead = (token: Token) =>
    token.number !== null ||
    token.isQuoted ||
    AGGREGATES[token.lower] !== undefined ||
    IRREGULAR[token.lower] !== undefined ||
    SHAPING.test(token.lower) ||
    literals.includes(token.lower) ||
    literals.some((literal) => stemOf(literal) === token.stem) ||
    fits(token, parts) >= MEANT;
  const unsaid = (place: Place) =>
    columns.filter((column) => column.place === place && !column.isValue && !said(column.name, MEANT)).length;
  const list = sql.slice(0, sql.search(/ FROM /));
  const head = words.find((token) => fits(token, parts) >= SAID);
  const shown = [...columns.filter(({ place }) => place === "list" || place === "measure"), ...starTables(list)];
  const shownParts = shown.flatMap((one) => [...wordsOfName(one.name), ...wordsOfName(one.table)]);
  return {
    certainty: certainty - 0.8,
    sure: certainty >= 0.95 ? 1 : 0,
    unreadWords: words.filter((token) => !isRead(token)).length,
    unsaidConditions: unsaid("condition"),
    unsaidMeasures: unsaid("measure"),
    unsaidGroups: unsaid("group"),
    unsaidTables: tables.filter((name) => !said(name, MEANT)).length,
    weakNames: columns.filter(({ name, isValue }) => !isValue && said(name, MEANT) && !said(name, SAID)).length,
    rivals: rivalsOf(columns, words, schema),
    joins: count(sql, / JOIN /g),
    exists: count(sql, /(?<!NOT )EXISTS \(/g),
    denied: count(sql, /NOT EXISTS|IS NULL|\bNOT |<>/g),
    grouped: / GROUP BY /.test(sql) ? 1 : 0,
    ranked: / LIMIT \d/.test(sql) ? 1 : 0,
    having: / HAVING /.test(sql) ? 1 : 0,
    times: /DATE '|date_trunc|extract\(|current_date/.test(sql) ? 1 : 0,
    subqueries: count(sql, /\(SELECT (?!1\b)/g),
    headNotShown: head !== undefined && !sql.includes("count(") && fits(head, shownParts) < SAID ? 1 : 0,
    aside: isAside(sql, columns, words, tables) ? 1 : 0,
    unsaidFunction: /\b(?:sum|avg|min|max)\(/.test(sql) && !words.some(isFunction) ? 1 : 0,
    unsaidCount:
      sql.includes("count(") && !/\b(?:how many|number|count|most|least|fewest|more|fewer|less|top)\b/i.test(text)
        ? 1
        : 0,
    farExists: count(sql, /EXISTS \(SELECT 1 FROM \S+ JOIN /g),
    leftOut: leftOut ? 1 : 0,
    allRows: ALL_ROWS.test(sql) ? 1 : 0,
  };
}

/** All rows of a table, or their number: there is nothing to misread but the table. */
const ALL_ROWS =
  /^SELECT (?:count\(\*\) AS count|(?:"[^"]+"|\w+)\.\*) FROM (?:"[^"]+"|\w+)(?: ORDER BY [^ ]+(?: DESC)?)?$/;

const COUNTED =
  /^SELECT [^()]*(?:\([^()]*\)[^()]*)*count\(.*? FROM (\S+)((?: JOIN \S+ ON .*?)+) GROUP BY ((\S+?)\.[^\s,]+)/;

/** Asks for one of the things by which rows are counted that has none; null: nothing is counted by other things. */
export function leftOutQuery(sql: string): string | null {
  const [, base, joins, key, table] = COUNTED.exec(sql) ?? [];
  if (base === undefined || table === base || / WHERE | HAVING | LIMIT |LEFT JOIN|\(SELECT /.test(sql)) return null;
  return `SELECT ${key} FROM ${table} EXCEPT SELECT ${key} FROM ${base}${joins} LIMIT 1`;
}

const FEWEST =
  /^(SELECT (\S+\.\S+), )(count\([^()]+\)) AS count FROM (\S+)( LEFT JOIN .*? GROUP BY (\S+)) ORDER BY \3 LIMIT 1$/;

/** Asks for one of the values by which rows are counted that has none; null: no fewest of values are asked for. */
export function fewestQuery(sql: string): string | null {
  const [, list, shown, counted, base, rest, group] = FEWEST.exec(sql) ?? [];
  if (list === undefined || shown !== group) return null;
  return `${list}${counted} AS count FROM ${base}${rest} HAVING ${counted} = 0 LIMIT 1`;
}

/** The same counts with things that have none; null: more than two tables are read. */
export function withNone(sql: string, schema: SchemaFacts): string | null {
  const [, base, joins] = COUNTED.exec(sql) ?? [];
  const [key] = schema.tables.find(({ sqlName }) => sqlName === base)?.primaryKey ?? [];
  if (base === undefined || key === undefined || count(joins!, / JOIN /g) !== 1) return null;
  return sql
    .replace(`FROM ${base} JOIN `, () => `FROM ${base} RIGHT JOIN `)
    .replace("count(*)", () => `count(${base}.${identifier(key)})`);
}

const isFunction = ({ lower }: Token) =>
  AGGREGATES[lower] !== undefined ||
  IRREGULAR[lower] !== undefined ||
  /^(?:most|least|fewest|top|bottom)$|est$/.test(lower);

/** A list of a column that the question names behind the things that it asks for: "talks in the data track". */
function isAside(
  sql: string,
  columns: readonly ReadColumn[],
  words: readonly Token[],
  tables: readonly string[],
): boolean {
  const shown = columns.filter(({ place }) => place === "list");
  if (/ GROUP BY |\.\*|count\(|sum\(|avg\(|min\(|max\(/.test(sql) || shown.length === 0) return false;
  const fits = (name: string, token: Token) => wordsOfName(name).some((part) => wordScore(token, part) >= SAID);
  const thing = words.findIndex((token) => tables.some((name) => fits(name, token)));
  if (thing < 0 || shown.some(({ name }) => /name|title|label/i.test(name))) return false;
  return !shown.some(({ name }) => words.slice(0, thing).some((token) => fits(name, token)));
}

type Place = "list" | "measure" | "condition" | "group" | "order";

interface ReadColumn {
  readonly table: string;
  readonly name: string;
  readonly place: Place;
  /** It is compared with a text that the question says. */
  readonly isValue: boolean;
}

const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

const REFERENCE = /(?:"([^"]+)"|(\p{L}[\p{L}\p{N}_]*))\.(?:"([^"]+)"|(\p{L}[\p{L}\p{N}_]*))/gu;

/** The columns where they stand in the SQL of the rules: keys of joins are not among them. */
function readSql(sql: string, schema: NamedSchema) {
  const literals = [...sql.matchAll(/'([^']*)'/g)].flatMap(([, text]) => text!.toLowerCase().split(/[^\p{L}\p{N}]+/u));
  const bare = sql.replaceAll(/(?:LEFT )?JOIN (?:"[^"]+"|\S+) ON \S+ = \S+/g, (join) => join.replaceAll(".", " "));
  const columns: ReadColumn[] = [];
  for (const match of bare.matchAll(REFERENCE)) {
    const [whole, quotedTable, table, quotedColumn, column] = match;
    const before = bare.slice(0, match.index);
    const after = bare.slice(match.index + whole.length);
    // A key of a subquery's link.
    if (/^ = (?:"[^"]+"|[\p{L}\p{N}_]+)\./u.test(after) || /\. ?\S+ = $/.test(before)) continue;
    const isValue = /^(?:::\w+)? ?(?:=|<>|ILIKE|IN|NOT ILIKE) ?\(?'/.test(after);
    columns.push({ table: quotedTable ?? table!, name: quotedColumn ?? column!, place: placeOf(before), isValue });
  }
  const names = new Set(schema.tables.map(({ name }) => name));
  const tables = [...sql.matchAll(/(?:FROM|JOIN) (?:"([^"]+)"|(\p{L}[\p{L}\p{N}_]*))/gu)]
    .map(([, quoted, plain]) => quoted ?? plain!)
    .filter((name) => names.has(name));
  return { columns, tables: [...new Set(tables)], literals };
}

function placeOf(before: string): Place {
  const clause = [...before.matchAll(/\b(SELECT|FROM|WHERE|GROUP BY|HAVING|ORDER BY)\b/g)].at(-1)?.[1];
  if (clause === "GROUP BY") return "group";
  if (clause === "ORDER BY") return "order";
  if (clause === "SELECT")
    return /(?:sum|avg|min|max|percentile_cont|median)\([^()]*$/.test(before) ? "measure" : "list";
  return "condition";
}

const starTables = (list: string) =>
  [...list.matchAll(/(?:"([^"]+)"|(\p{L}[\p{L}\p{N}_]*))\.\*/gu)].map(([, quoted, plain]) => {
    const table = quoted ?? plain!;
    return { table, name: table };
  });

/** Columns of other names that a word which stands for a column of the SQL may mean as well. */
function rivalsOf(columns: readonly ReadColumn[], words: readonly Token[], schema: NamedSchema): number {
  const read = columns.filter(({ isValue, place }) => !isValue && place !== "group");
  const names = new Set(read.map(({ name }) => name));
  let rivals = 0;
  for (const name of names) {
    const token = words.find((word) => wordsOfName(name).some((part) => wordScore(word, part) >= SAID));
    if (token === undefined) continue;
    const others = schema.tables.flatMap((table) => table.columns.map((column) => column.name));
    rivals += new Set(
      others.filter(
        (other) =>
          other !== name &&
          !/(?:^|_)id$|Id$/.test(other) &&
          wordsOfName(other).some((part) => wordScore(token, part) >= SAID),
      ),
    ).size;
  }
  return Math.min(4, rivals);
}
