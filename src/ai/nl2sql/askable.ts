/**
 * Questions that could be asked instead of one that is not understood: about the tables that it names, or about the
 * first ones. Called by `match-question.ts`, which tells those that the rules answer; stateless.
 */
import { nameWords } from "./bare-names.js";
import { isNumber, isText, isTime } from "./column-finder.js";
import { namingColumns, type SchemaFacts, type TableFacts } from "./schema-facts.js";

/** Told at most, and tried at most: each is read as any other question. */
export const ASKABLE_MAX = 2;
const TRIED_MAX = 4;

/** `named`: tables that the question was understood to name, the surest first. */
export function askableQuestions(schema: SchemaFacts, named: readonly string[]): readonly string[] {
  const found = named.flatMap((name) => schema.tables.filter((table) => table.name === name));
  const tables = found.length > 0 ? found : schema.tables;
  return tables.flatMap((table) => questionsAbout(table, schema)).slice(0, TRIED_MAX);
}

function questionsAbout(table: TableFacts, schema: SchemaFacts): string[] {
  // The "c" of `temp_c` is a unit.
  const said = (named: TableFacts | TableFacts["columns"][number]) =>
    nameWords(schema, named)
      .all.filter((word, i) => i === 0 || word.length > 1)
      .join(" ");
  const rows = said(table);
  const own = table.columns.filter(({ isKey }) => !isKey).map((column) => ({ table, column }));
  const kind = own.find((ref) => isText(ref) && !namingColumns(table).includes(ref.column));
  const numbers = own.filter(isNumber).slice(0, 2);
  const time = own.find(isTime);
  return [
    ...(kind === undefined ? [] : [`number of ${rows} per ${said(kind.column)}`]),
    ...numbers.map(({ column }) => `average ${said(column)} of ${rows}`),
    ...(time === undefined ? [] : [`number of ${rows} per month`]),
    ...(kind === undefined && numbers.length === 0 && time === undefined ? [`how many ${rows}`] : []),
  ];
}
