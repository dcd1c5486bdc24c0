/**
 * Links between tables that no foreign key declares, told by the names of their columns: `agent_id` beside a table
 * `tbl_agent` with that key, `customerId` beside `customers` with a key `id`, `owner_id` beside the only table of
 * persons. Used by features/nl2sql/schema-facts.ts.
 */
import { TECHNICAL, withoutEnding, wordsOfName } from "./bare-names.js";
import { stemOf } from "./question.js";

export interface NamedTable {
  readonly name: string;
  readonly primaryKey: readonly string[];
  /** `isLinked`: a foreign key has it. */
  readonly columns: readonly { readonly name: string; readonly typeName: string; readonly isLinked: boolean }[];
}

/** A row of `from` refers to one of `to` by these columns. */
export interface NamedLink {
  readonly from: NamedTable;
  readonly column: string;
  readonly to: NamedTable;
  readonly references: string;
}

/** Names of keys that say nothing about their table. */
export const PLAIN_KEYS: ReadonlySet<string> = new Set([
  "id",
  "key",
  "nr",
  "no",
  "num",
  "number",
  "code",
  "cd",
  "uuid",
  "pk",
  "guid",
]);

export function linksByName(tables: readonly NamedTable[]): NamedLink[] {
  const links: NamedLink[] = [];
  for (const from of tables) {
    for (const { name, typeName, isLinked } of from.columns) {
      if (isLinked || (from.primaryKey.length === 1 && from.primaryKey[0] === name)) continue;
      const fits = tables
        .filter((to) => to !== from && keyOf(to)?.typeName === typeName)
        .map((to) => ({ to, fit: fitOf(stems(name), from, to) }))
        .filter(({ fit }) => fit > 0);
      const best = Math.max(...fits.map(({ fit }) => fit));
      const meant = fits.filter(({ fit }) => fit === best);
      const person = fits.length === 0 && isRole(name) ? thePersons(tables, from, typeName) : null;
      // Of two tables that it may mean, none is.
      const to = meant.length === 1 ? meant[0]!.to : person;
      if (to !== null) links.push({ from, column: name, to, references: keyOf(to)!.name });
    }
  }
  return links;
}

/** What somebody is to a thing: `owner_id`, `author_id`. */
const ROLES = new Set(
  "owner author creator assignee sender recipient receiver reviewer approver requester reporter uploader editor user person".split(
    " ",
  ),
);
/** Tables of those who use a system. */
const PERSONS = new Set(
  "user person people employee staff member customer client account listener subscriber student player worker profile"
    .split(" ")
    .map(stemOf),
);

function isRole(column: string): boolean {
  const words = wordsOfName(column);
  return words.length === 2 && ROLES.has(words[0]!) && PLAIN_KEYS.has(words[1]!);
}

/** The only table of persons that there is beside `from`; null: none, or several. */
function thePersons(tables: readonly NamedTable[], from: NamedTable, typeName: string): NamedTable | null {
  const found = tables.filter((table) => wordsOfTable(table).some((word) => PERSONS.has(word)));
  const [only, other] = found;
  if (only === undefined || other !== undefined || only === from) return null;
  return keyOf(only)?.typeName === typeName ? only : null;
}

const stems = (name: string) => wordsOfName(name).map(stemOf);

function keyOf({ primaryKey, columns }: NamedTable) {
  return primaryKey.length === 1 ? columns.find(({ name }) => name === primaryKey[0]) : undefined;
}

/** How many words say that the column holds keys of the table; 0: it does not. */
function fitOf(column: readonly string[], from: NamedTable, to: NamedTable): number {
  const key = stems(keyOf(to)!.name);
  const isPlain = key.length === 1 && PLAIN_KEYS.has(key[0]!);
  if (!isPlain && endsWith(column, key)) return key.length;
  const words = wordsOfTable(to);
  const last = column.at(-1)!;
  const isKey = PLAIN_KEYS.has(last) || last === "fk";
  if (!isKey) return 0;
  if (endsWith(column.slice(0, -1), words)) return words.length + 1;
  // `status_code` of permits is a key of permit_statuses.
  const own = wordsOfTable(from);
  const isOfOwn = words.length > own.length && own.every((word, i) => words[i] === word);
  return isOfOwn && endsWith(column.slice(0, -1), words.slice(own.length)) ? words.length : 0;
}

function wordsOfTable({ name }: NamedTable): string[] {
  const all = wordsOfName(name);
  return withoutEnding(all.length > 1 && TECHNICAL.has(all[0]!) ? all.slice(1) : all).map(stemOf);
}

/** "home_team_id" ends with "team_id". */
function endsWith(words: readonly string[], end: readonly string[]): boolean {
  return words.length >= end.length && end.every((word, i) => words[words.length - end.length + i] === word);
}
