/**
 * Columns of text whose rows are all dates or times in ISO form: questions treat them as such. Called by
 * `match-question.ts`, which looks at a bounded number of rows; stateless.
 */
import { type ColumnFacts, type ColumnKind, type SchemaFacts, type TableFacts, withTables } from "./schema-facts.js";
import { identifier } from "./sql-names.js";
import type { LookUp } from "./value-mentions.js";

/** Rows that tell which columns may be times, and those that must all be. */
const SAMPLE = 5;
const ROWS_MAX = 20_000;
const DAY = String.raw`\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])`;
const CLOCK = String.raw`[T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?Z?`;
const FORMS: readonly (readonly [kind: ColumnKind, pattern: string])[] = [
  ["date", `^${DAY}$`],
  ["timestamp", `^${DAY}${CLOCK}$`],
];

/** The schema with those columns as dates and timestamps. */
export async function withTextTimes(schema: SchemaFacts, lookUp: LookUp): Promise<SchemaFacts> {
  const tables = new Map<TableFacts, TableFacts>();
  for (const table of schema.tables) {
    const kinds = await timesOf(table, lookUp);
    if (kinds.size === 0) continue;
    const columns = table.columns.map((column) => {
      const kind = kinds.get(column);
      return kind === undefined ? column : { ...column, kind, isText: true as const };
    });
    tables.set(table, { ...table, columns });
  }
  return withTables(schema, tables);
}

async function timesOf(table: TableFacts, lookUp: LookUp): Promise<ReadonlyMap<ColumnFacts, ColumnKind>> {
  const found = new Map<ColumnFacts, ColumnKind>();
  const texts = table.columns.filter(({ kind, isKey }) => kind === "text" && !isKey);
  if (texts.length === 0) return found;
  const names = texts.map(({ name }) => `${identifier(name)}::text`);
  const sample = await lookUp(`SELECT ${names.join(", ")} FROM ${table.sqlName} LIMIT ${SAMPLE}`, []);
  for (const [i, column] of texts.entries()) {
    const values = sample.map((row) => row[i]).filter((value) => value !== null);
    const form = FORMS.find(([, pattern]) => values.every((value) => new RegExp(pattern).test(String(value))));
    if (form === undefined || values.length === 0) continue;
    const [kind, pattern] = form;
    const others = await lookUp(
      `SELECT 1 FROM (SELECT ${names[i]} AS v FROM ${table.sqlName} LIMIT ${ROWS_MAX}) AS looked WHERE v !~ $1 LIMIT 1`,
      [pattern],
    );
    if (others.length === 0) found.set(column, kind);
  }
  return found;
}
