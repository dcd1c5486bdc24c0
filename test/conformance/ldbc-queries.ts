/**
 * The 21 read queries of LDBC SNB with their parameters and answers. Both languages tell the same facts in different
 * forms: `facts` turns a row of PostgreSQL's text into what the Cypher query returns, in its order.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LDBC } from "./ldbc-database.js";

type Field = (text: string | null) => unknown;

export interface LdbcCase {
  readonly params: Readonly<Record<string, string>>;
  /** As PostgreSQL prints them. */
  readonly rows: readonly (readonly (string | null)[])[];
}

export interface LdbcQuery {
  readonly name: string;
  readonly sql: string;
  readonly cypher: string;
  readonly cases: readonly LdbcCase[];
  readonly facts: (row: readonly (string | null)[]) => unknown[];
  /** A row of Cypher's in the same form, where it has lists in no order. */
  readonly cypherFacts: (row: readonly unknown[]) => unknown[];
  /** Rows that are equal by the query's order may come in any. */
  readonly anyOrder: boolean;
}

export const ldbcPresent = (): boolean => existsSync(join(LDBC, "cypher-headers.txt"));

const text: Field = (value) => value;
const number: Field = (value) => (value === null ? null : Number(value));
const isTrue: Field = (value) => value === "t" || value === "1" || value === "true";
/** Milliseconds since the epoch of a timestamptz or a date. */
const moment: Field = (value) => {
  const iso = value!.includes(":") ? value!.replace(" ", "T").replace(/\+00$/, "Z") : `${value}T00:00:00Z`;
  return Date.parse(iso);
};

/** `{a,"b c"}` and `{{a,1},{b,2}}`: the items, each as its fields. */
function arrayItems(array: string): string[][] {
  const items: string[][] = [];
  const nested = array.startsWith("{{");
  let current: string[] = [];
  for (const [mark, quoted] of array.matchAll(/"((?:[^"\\]|\\.)*)"|[{}]|[^{},"]+/g)) {
    if (mark === "{") current = [];
    else if (mark === "}") {
      if (nested && current.length > 0) items.push(current);
      current = [];
    } else {
      const item = quoted === undefined ? mark! : quoted.replace(/\\(.)/g, "$1");
      if (nested) current.push(item);
      else items.push([item]);
    }
  }
  return items;
}

const sorted = (values: readonly unknown[]): unknown[] =>
  [...values].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));

const set: Field = (array) => (array === null ? [] : sorted(arrayItems(array).map(([item]) => item)));
/** Name, year and place of universities and companies. */
const triples: Field = (array) =>
  array === null ? [] : sorted(arrayItems(array).map(([name, year, place]) => [name, Number(year), place]));
/** The persons on a path of edges. */
const persons: Field = (array) => {
  const edges = arrayItems(array!);
  return [Number(edges[0]![0]), ...edges.map(([, to]) => Number(to))];
};

const inOrder =
  (...fields: readonly Field[]) =>
  (row: readonly (string | null)[]) =>
    fields.map((field, i) => field(row[i]!));

const PERSON = [number, text, text] as const;

const FACTS: Readonly<Record<string, LdbcQuery["facts"]>> = {
  "complex-1": inOrder(...[number, text, number, moment, moment, text, text, text, set, set, text, triples, triples]),
  "complex-2": inOrder(...PERSON, number, text, moment),
  "complex-3": inOrder(...PERSON, number, number, number),
  "complex-4": inOrder(text, number),
  "complex-5": inOrder(text, number),
  "complex-6": inOrder(text, number),
  "complex-7": inOrder(...PERSON, moment, number, text, number, isTrue),
  "complex-8": inOrder(...PERSON, moment, number, text),
  "complex-9": inOrder(...PERSON, number, text, moment),
  "complex-10": inOrder(...PERSON, number, text, text),
  "complex-11": inOrder(...PERSON, text, number),
  "complex-12": inOrder(...PERSON, set, number),
  "complex-13": inOrder(number),
  "complex-14": inOrder(persons, number),
  "short-1": inOrder(text, text, moment, text, text, number, text, moment),
  "short-2": inOrder(number, text, moment, number, number, text, text),
  "short-3": inOrder(...PERSON, moment),
  "short-4": ([content, creation]) => [moment(creation!), content],
  "short-5": inOrder(...PERSON),
  "short-6": inOrder(number, text, ...PERSON),
  "short-7": inOrder(number, text, moment, ...PERSON, isTrue),
};

/** A missing university or company is a list of nulls in Cypher, and no row in SQL. */
const found = (values: unknown): unknown[] =>
  sorted((values as unknown[][]).filter((value) => value !== null && value[0] !== null));

const CYPHER_FACTS: Readonly<Record<string, LdbcQuery["cypherFacts"]>> = {
  "complex-1": (row) => [
    ...row.slice(0, 8),
    sorted(row[8] as unknown[]),
    sorted(row[9] as unknown[]),
    row[10],
    found(row[11]),
    found(row[12]),
  ],
  "complex-12": (row) => [row[0], row[1], row[2], sorted(row[3] as unknown[]), row[4]],
};

export function ldbcQueries(): LdbcQuery[] {
  return Object.keys(FACTS).map((name) => {
    const file = (folder: string, ending: string) =>
      readFileSync(join(LDBC, folder, `interactive-${name}.${ending}`), "utf8");
    return {
      name,
      sql: file("sql-queries", "sql")
        .replace(/\/\*[\s\S]*?\*\//, "")
        .replace(/[;\s]+$/, ""),
      cypher: file("cypher-queries", "cypher"),
      cases: JSON.parse(file("expected", "json")) as LdbcCase[],
      facts: FACTS[name]!,
      cypherFacts: CYPHER_FACTS[name] ?? ((row) => [...row]),
      anyOrder: name === "complex-14",
    };
  });
}

const DAY_MS = 86_400_000;

/** Cypher's parameters: numbers, dates as milliseconds. */
export function cypherParams({ params }: LdbcCase): Record<string, unknown> {
  const given = Object.entries(params).map(([name, value]) => [name, /^\d+$/.test(value) ? Number(value) : value]);
  const result = Object.fromEntries(given) as Record<string, unknown>;
  if (params.durationDays === undefined) return result;
  return { ...result, endDate: Number(params.startDate) + Number(params.durationDays) * DAY_MS };
}

/** The SQL query with its parameters written out. */
export function sqlText({ sql }: LdbcQuery, { params }: LdbcCase): string {
  return sql.replace(/(?<!:):([a-zA-Z]\w*)/g, (whole, name: string) => {
    const value = params[name];
    if (value === undefined) return whole;
    if (/Date$/.test(name)) return `'${new Date(Number(value)).toISOString()}'::timestamptz`;
    return /^\d+$/.test(value) ? value : `'${value.replaceAll("'", "''")}'`;
  });
}

/**
 * Rows that Cypher gives for a case. Its query 13 is a plain MATCH, which has no row where SQL says -1: the persons do
 * not exist.
 */
export const cypherRows = ({ name }: LdbcQuery, { rows }: LdbcCase): LdbcCase["rows"] =>
  name === "complex-13" ? rows.filter(([length]) => length !== "-1") : rows;

/** Rows as one text each, to compare by; `facts` makes the fields. */
export function compared<T>(rows: readonly T[], facts: (row: T) => unknown[], anyOrder: boolean): string[] {
  const texts = rows.map((row) => JSON.stringify(facts(row)));
  return anyOrder ? texts.sort() : texts;
}
