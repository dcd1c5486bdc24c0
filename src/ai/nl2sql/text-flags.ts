/**
 * Columns whose rows say no more than yes or no: text of Y and N, numbers of 1 and 0 that are called like a flag.
 * Questions treat them as booleans. Called by `match-question.ts`, which looks at a bounded number of rows; stateless.
 */
import { type ColumnFacts, type SchemaFacts, type TableFacts, withTables } from "./schema-facts.js";
import { identifier, literal } from "./sql-names.js";
import type { LookUp } from "./value-mentions.js";

/** Rows that tell which columns may be flags, and those that must all be. */
const SAMPLE = 5;
const ROWS_MAX = 20_000;
const FORMS: readonly (readonly [yes: string, no: string])[] = [
  ["y", "n"],
  ["yes", "no"],
  ["t", "f"],
  ["true", "false"],
];
const NUMBERS: readonly (readonly [yes: string, no: string])[] = [["1", "0"]];
/** Numbers of other names are flags where so many rows have one, and both are there; what is counted is none. */
const ROWS_MIN = 10;
const CALLED_COUNT =
  /s$|count|cnt|num|qty|quant|number|score|level|rank|rating|goal|point|year|age|amount|total|hour|day|size|grade|order|no$|nr$/i;
const CALLED_FLAG = /^(?:is|has|was|had|can|did)_|_(?:flag|flg|yn|ind)$|^(?:is|has)[A-Z]/;

/** The schema with those columns as booleans. */
export async function withFlags(schema: SchemaFacts, lookUp: LookUp): Promise<SchemaFacts> {
  const tables = new Map<TableFacts, TableFacts>();
  for (const table of schema.tables) {
    const flags = await flagsOf(table, lookUp);
    if (flags.size > 0)
      tables.set(table, { ...table, columns: table.columns.map((column) => flags.get(column) ?? column) });
  }
  return withTables(schema, tables);
}

async function flagsOf(table: TableFacts, lookUp: LookUp): Promise<ReadonlyMap<ColumnFacts, ColumnFacts>> {
  const found = new Map<ColumnFacts, ColumnFacts>();
  const mayBe = ({ name, kind, isKey }: ColumnFacts) =>
    !isKey && (kind === "text" || (kind === "number" && (CALLED_FLAG.test(name) || !CALLED_COUNT.test(name))));
  const candidates = table.columns.filter(mayBe);
  if (candidates.length === 0) return found;
  const names = candidates.map(({ name }) => `${identifier(name)}::text`);
  const sample = await lookUp(`SELECT ${names.join(", ")} FROM ${table.sqlName} LIMIT ${SAMPLE}`, []);
  for (const [i, column] of candidates.entries()) {
    if (yesOf(column, textsOf(sample, i)) === null) continue;
    const values = await lookUp(
      `SELECT DISTINCT v FROM (SELECT ${names[i]} AS v FROM ${table.sqlName} LIMIT ${ROWS_MAX}) AS looked LIMIT 4`,
      [],
    );
    const texts = textsOf(values, 0);
    const yes = yesOf(column, texts);
    const isCalled = column.kind === "text" || CALLED_FLAG.test(column.name);
    if (yes === null || (!isCalled && (texts.length < 2 || !(await hasRows(table, lookUp))))) continue;
    const stored = `${table.sqlName}.${identifier(column.name)}`;
    const sql = `(${stored} = ${column.kind === "number" ? yes : literal(yes)})`;
    found.set(column, { ...column, kind: "boolean", sql, stored });
  }
  return found;
}

async function hasRows({ sqlName }: TableFacts, lookUp: LookUp): Promise<boolean> {
  const rows = await lookUp(`SELECT 1 FROM ${sqlName} LIMIT ${ROWS_MIN}`, []);
  return rows.length === ROWS_MIN;
}

const textsOf = (rows: readonly (readonly unknown[])[], at: number) =>
  rows
    .map((row) => row[at])
    .filter((value) => value !== null)
    .map(String);

/** How rows say yes; null: some say something else, or nothing is said. */
function yesOf({ name, kind }: ColumnFacts, values: readonly string[]): string | null {
  const forms = kind === "number" ? NUMBERS : CALLED_FLAG.test(name) ? [...FORMS, ...NUMBERS] : FORMS;
  const form = forms.find((words) => values.every((value) => words.includes(value.trim().toLowerCase())));
  if (form === undefined || values.length === 0) return null;
  const [yes] = form;
  const said = values.find((value) => value.trim().toLowerCase() === yes);
  // Written as its opposite is: "N" is not "n".
  const isUpper = values[0] === values[0]!.toUpperCase();
  return said ?? (isUpper ? yes.toUpperCase() : yes);
}
