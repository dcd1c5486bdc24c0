/**
 * Keys that no constraint declares: tables that were loaded from files often have none. The first column is one if it
 * is called like a key of its table, and no two of the rows that are looked at have the same in it. Called by
 * `match-question.ts`, which looks at a bounded number of rows; stateless.
 */
import { withoutEnding, wordsOfName } from "./bare-names.js";
import { linksByName, type NamedTable, PLAIN_KEYS } from "./name-links.js";
import { wordScore } from "./name-mentions.js";
import { stemOf } from "./question.js";
import { type ColumnFacts, type LinkFacts, type SchemaFacts, type TableFacts, withTables } from "./schema-facts.js";
import { identifier } from "./sql-names.js";
import type { LookUp } from "./value-mentions.js";

const ROWS_MAX = 20_000;
/** An abbreviation of a word, or better. */
const SHORT = 0.84;

/** The schema with those keys and what refers to them by its name; the same where all tables have keys. */
export async function withGuessedKeys(schema: SchemaFacts, lookUp: LookUp): Promise<SchemaFacts> {
  const keys = new Map<TableFacts, string>();
  for (const table of schema.tables) {
    const key = table.primaryKey.length > 0 ? undefined : table.columns[0];
    if (key !== undefined && isCalledKey(table, key) && (await isUnique(table, key, lookUp))) keys.set(table, key.name);
  }
  if (keys.size === 0) return schema;
  const named = new Map(schema.tables.map((table) => [namedTable(table, schema, keys), table]));
  const found = linksByName([...named.keys()]).filter(({ to }) => keys.has(named.get(to)!));
  const isKey = (table: TableFacts, { name }: ColumnFacts) =>
    keys.get(table) === name || found.some(({ from, column }) => named.get(from) === table && column === name);
  const others = new Map<TableFacts, TableFacts>();
  for (const table of schema.tables) {
    const key = keys.get(table);
    if (key === undefined && !found.some(({ from }) => named.get(from) === table)) continue;
    const columns = table.columns.map((column) => (isKey(table, column) ? { ...column, isKey: true } : column));
    others.set(table, { ...table, columns, primaryKey: key === undefined ? table.primaryKey : [key] });
  }
  const keyed = withTables(schema, others);
  const now = (table: NamedTable) => others.get(named.get(table)!) ?? named.get(table)!;
  const links = found.map(
    ({ from, column, to, references }): LinkFacts => ({
      from: now(from),
      columns: [column],
      to: now(to),
      references: [references],
    }),
  );
  return { ...keyed, links: [...keyed.links, ...links] };
}

/** `id`, `climber_id`, `stu_no` of students, `cid` of climbers. */
function isCalledKey({ name: tableName }: TableFacts, { name, kind }: ColumnFacts): boolean {
  if (kind !== "number" && kind !== "text") return false;
  const words = wordsOfName(name);
  const last = words.at(-1)!;
  const own = withoutEnding(wordsOfName(tableName)).at(-1)!;
  if (words.length === 1) {
    const short = /^([a-z]{1,4})id$/.exec(last)?.[1];
    return PLAIN_KEYS.has(last) || (short !== undefined && own.startsWith(short));
  }
  const rest = words.slice(0, -1);
  const fits = (word: string) => wordScore({ lower: own, stem: stemOf(own) }, word) >= SHORT;
  return PLAIN_KEYS.has(last) && (rest.some(fits) || rest.join("_") === tableName.toLowerCase());
}

async function isUnique({ sqlName }: TableFacts, { name }: ColumnFacts, lookUp: LookUp): Promise<boolean> {
  const looked = `SELECT ${identifier(name)} AS k FROM ${sqlName} LIMIT ${ROWS_MAX}`;
  const twice = await lookUp(
    `SELECT 1 FROM (${looked}) AS looked GROUP BY k HAVING count(*) > 1 OR k IS NULL LIMIT 1`,
    [],
  );
  return twice.length === 0;
}

function namedTable(table: TableFacts, { links }: SchemaFacts, keys: ReadonlyMap<TableFacts, string>): NamedTable {
  const linked = new Set(links.flatMap(({ from, columns }) => (from === table ? columns : [])));
  const key = keys.get(table);
  return {
    name: table.name,
    primaryKey: key === undefined ? table.primaryKey : [key],
    columns: table.columns.map(({ name, typeName }) => ({ name, typeName, isLinked: linked.has(name) })),
  };
}
