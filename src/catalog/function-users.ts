/**
 * Finds the parts of tables that call a function: defaults, generated columns, checks and indexes. They keep
 * expressions as SQL text, so calls are looked for there. Of several functions of one name the text does not tell which
 * is meant; then none counts as called. Called by function-ddl.ts.
 */
import type { CatalogEditor } from "./catalog-editor.js";
import type { CatalogView } from "./catalog-view.js";
import type { DdlOutcome } from "./ddl-outcome.js";
import type { FunctionDef } from "./function.js";
import type { CheckDef, ColumnDef, IndexDef, TableDef } from "./table.js";

export interface FunctionUsers {
  readonly table: TableDef;
  readonly defaults: readonly ColumnDef[];
  readonly generated: readonly ColumnDef[];
  readonly checks: readonly CheckDef[];
  readonly indexes: readonly IndexDef[];
}

export function tablesCalling(view: CatalogView, { name }: FunctionDef): FunctionUsers[] {
  if (view.functions().filter((other) => other.name === name).length > 1) return [];
  const quoted = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const pattern = new RegExp(`(?<![\\w$])(?:"${quoted}"|${quoted})\\s*\\(`, "i");
  const calls = (sql: string | null | undefined) => typeof sql === "string" && pattern.test(sql);
  return view
    .tables()
    .map((table) => ({
      table,
      defaults: table.columns.filter(({ defaultSql }) => calls(defaultSql)),
      generated: table.columns.filter(({ generatedSql }) => calls(generatedSql)),
      checks: table.checks.filter(({ sql }) => calls(sql)),
      indexes: table.indexes.filter(
        ({ where, columns }) => calls(where) || columns.some(({ expression }) => calls(expression?.sql)),
      ),
    }))
    .filter(({ table: _, ...parts }) => Object.values(parts).some((list) => list.length > 0));
}

/** The parts of a table that call the function, for messages. */
export function describeUsers({
  table: { name: table },
  defaults,
  generated,
  checks,
  indexes,
}: FunctionUsers): string[] {
  return [
    ...defaults.map(({ name }) => `default value for column ${name} of table ${table}`),
    ...generated.map(({ name }) => `column ${name} of table ${table}`),
    ...checks.map(({ name }) => `constraint ${name} on table ${table}`),
    ...indexes.map(({ name }) => `index ${name}`),
  ];
}

/** DROP FUNCTION … CASCADE: takes away what calls it. Generated columns are the caller's to refuse. */
export function dropUsers(
  editor: CatalogEditor,
  { table: before, defaults, checks, indexes }: FunctionUsers,
): DdlOutcome["clearedIndexes"] {
  const table = editor.view.tableById(before.id)!;
  const has = <T extends { readonly name: string }>(list: readonly T[], { name }: { readonly name: string }) =>
    list.some((other) => other.name === name);
  editor.replaceTable(
    Object.freeze({
      ...table,
      columns: table.columns.map((column) =>
        has(defaults, column) ? Object.freeze({ ...column, defaultSql: null }) : column,
      ),
      checks: table.checks.filter((check) => !has(checks, check)),
      indexes: table.indexes.filter((index) => !has(indexes, index)),
    }),
  );
  return indexes.map((index) => ({ table, index }));
}
