/** A table whose expressions are as PostgreSQL prints them, for the texts of its constraints and indexes. */
import { DEFAULT_SCHEMA } from "../../../catalog/catalog-view.js";
import type { SearchIndexDef, TableDef } from "../../../catalog/table.js";
import type { DomainDef } from "../../../catalog/type.js";
import { inCapitals } from "./catalog-index.js";
import { shownNames } from "./object-names.js";
import { printedExpression } from "./query-printing.js";
import type { DefinedView, SystemView } from "./system-view.js";

/** `sql`: an expression that the table keeps; null: of no table. */
export function printedSql(
  view: SystemView | DefinedView,
  table: TableDef | null,
  sql: string,
  isPretty = false,
): string {
  const { searchPath, timeZone } = "searchPath" in view ? view : { searchPath: [DEFAULT_SCHEMA], timeZone: "UTC" };
  return printedExpression({ sql, table, catalog: view.catalog, searchPath, timeZone, isPretty });
}

/** A condition of a domain; `sql`: as it is kept. */
export function domainCheckText(
  view: SystemView | DefinedView,
  domain: DomainDef,
  sql: string,
  isPretty = false,
): string {
  const { searchPath, timeZone } = "searchPath" in view ? view : { searchPath: [DEFAULT_SCHEMA], timeZone: "UTC" };
  const printing = { sql, table: null, domain, catalog: view.catalog, searchPath, timeZone, isPretty };
  const printed = printedExpression(printing);
  return shownNames(view, printed === sql ? inCapitals(sql) : printed);
}

export function printedTable(view: SystemView | DefinedView, table: TableDef, isPretty = false): TableDef {
  const print = (sql: string) => printedSql(view, table, sql, isPretty);
  const indexes = table.indexes.map((index) => ({
    ...index,
    ...(index.where != null && { where: print(index.where) }),
    columns: index.columns.map((column) => {
      const { expression } = column;
      return expression === undefined
        ? column
        : { ...column, expression: { ...expression, sql: print(expression.sql) } };
    }),
  }));
  const searchIndexes = (table.searchIndexes ?? []).map((index) => printedSearchIndex(index, print));
  return {
    ...table,
    indexes,
    searchIndexes,
    checks: table.checks.map((check) => ({ ...check, sql: print(check.sql) })),
  };
}

function printedSearchIndex(index: SearchIndexDef, print: (sql: string) => string): SearchIndexDef {
  const { declared, vector } = index;
  const where = vector?.where && { ...vector.where, sql: print(vector.where.sql) };
  return {
    ...index,
    ...(vector && { vector: { ...vector, ...(where && { where }) } }),
    ...(declared && {
      declared: {
        ...declared,
        keys: declared.keys.map((key) => (key.sql === undefined ? key : { ...key, sql: print(key.sql) })),
        ...(declared.where !== undefined && { where: print(declared.where) }),
      },
    }),
  };
}
