/**
 * Words of names without the prefix that all names of their kind share: `tbl_restaurant` is a restaurant, and
 * `emp_salary` of `emp` a salary. Called by `name-mentions.ts`; the result for a schema is kept as long as the schema.
 */
import { dividedWord } from "./glued-words.js";
import { stemOf } from "./question.js";
import type { ColumnFacts, SchemaFacts, TableFacts } from "./schema-facts.js";

/** Words of the whole name, and those that are left without the prefix; the same where there is none. */
export interface NameWords {
  readonly all: readonly string[];
  readonly bare: readonly string[];
}

/** Usual prefixes of names that tell their kind. */
export const TECHNICAL: ReadonlySet<string> = new Set([
  "tbl",
  "tb",
  "table",
  "vw",
  "view",
  "dim",
  "fact",
  "fct",
  "stg",
  "col",
  "fld",
]);
/** Usual endings of such names. */
const TECHNICAL_ENDINGS: ReadonlySet<string> = new Set(["lk", "lkp", "lookup", "lu", "mst", "ref", "tbl"]);
/** What ends the names of tables and says little: rows of `alarm_event` are alarms, where nothing else is called so. */
const GENERAL_ENDINGS = /^(?:event|record|entry|entrie|log|list|data|info|detail|history|hist|master|spec)s?$/;
/** The share of names that must have a prefix; a prefix of fewer names is part of their meaning. */
const SHARE_MIN = 0.6;
const COUNT_MIN = 3;

const known = new WeakMap<SchemaFacts, ReadonlyMap<TableFacts | ColumnFacts, NameWords>>();

export function nameWords(schema: SchemaFacts, named: TableFacts | ColumnFacts): NameWords {
  let words = known.get(schema);
  if (words === undefined) {
    words = wordsOfSchema(schema);
    known.set(schema, words);
  }
  return words.get(named)!;
}

/** Names that are short for two words. */
const SHORT_NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ["fname", ["first", "name"]],
  ["lname", ["last", "name"]],
  ["bdate", ["birth", "date"]],
]);

/** `orderItems`, `order_items` and `orderitems`: order, items. */
export function wordsOfName(name: string): string[] {
  const short = SHORT_NAMES.get(name.toLowerCase().replace(/^([flb])_/, "$1"));
  if (short !== undefined) return [...short];
  const words = name
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1_$2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  const [only, other] = words.filter((word) => word !== "");
  return only !== undefined && other === undefined ? [...dividedWord(only)] : words.filter((word) => word !== "");
}

/** "room_number" of "room" is its number. */
export function ownName(table: TableFacts, { name }: ColumnFacts): string {
  const words = wordsOfName(name);
  return words.length === 2 && wordsOfName(table.name).at(-1)!.startsWith(words[0]!) ? words[1]! : words.join("_");
}

function wordsOfSchema({ tables }: SchemaFacts): ReadonlyMap<TableFacts | ColumnFacts, NameWords> {
  const words = new Map<TableFacts | ColumnFacts, NameWords>();
  withoutPrefix(tables, () => false, words);
  withoutGeneralEndings(tables, words);
  for (const table of tables) {
    const own = words.get(table)!.bare.map(stemOf);
    withoutPrefix(table.columns, (prefix) => own.length === 1 && own[0] === stemOf(prefix), words);
  }
  return words;
}

function withoutGeneralEndings(tables: readonly TableFacts[], words: Map<TableFacts | ColumnFacts, NameWords>): void {
  const named = tables.map((table) => ({ table, words: words.get(table)! }));
  const shorter = named.filter(({ words: { bare } }) => bare.length === 2 && GENERAL_ENDINGS.test(bare[1]!));
  for (const { table, words: own } of shorter) {
    const stem = stemOf(own.bare[0]!);
    const isOther = named.some(
      (other) => other.table !== table && other.words.bare.some((word) => stemOf(word) === stem),
    );
    if (!isOther) words.set(table, { all: own.all, bare: own.bare.slice(0, 1) });
  }
}

/** `status_lkp` lists statuses. */
export function withoutEnding(words: readonly string[]): readonly string[] {
  return words.length > 1 && TECHNICAL_ENDINGS.has(words.at(-1)!) ? words.slice(0, -1) : words;
}

function withoutPrefix<T extends TableFacts | ColumnFacts>(
  named: readonly T[],
  isOwn: (prefix: string) => boolean,
  words: Map<TableFacts | ColumnFacts, NameWords>,
): void {
  const all = named.map(({ name }) => wordsOfName(name));
  const counts = new Map<string, number>();
  for (const [first, ...rest] of all) if (rest.length > 0) counts.set(first!, (counts.get(first!) ?? 0) + 1);
  const stems = new Set(all.filter(({ length }) => length === 1).map(([only]) => stemOf(only!)));
  const isPrefix = (word: string) => {
    const count = counts.get(word) ?? 0;
    const isCommon = count >= COUNT_MIN && count >= SHARE_MIN * all.length && !stems.has(stemOf(word));
    return TECHNICAL.has(word) || isCommon || isOwn(word);
  };
  named.forEach((each, i) => {
    const parts = all[i]!;
    const after = parts.length > 1 && isPrefix(parts[0]!) ? parts.slice(1) : parts;
    words.set(each, { all: parts, bare: withoutEnding(after) });
  });
}
