/** What COPY is about: the query that COPY … TO runs, and columns that it leaves out. */
import type { ColumnDef, TableDef } from "../../catalog/table.js";
import { sqlError } from "../../protocol/errors.js";
import { quoteIdentifier } from "../../query/expr/print.js";
import type { CopyStatement } from "../../sql/parse/copy.js";

/** The query whose rows are copied out. `found`: the table, if it is one. Throws 42P10. */
export function copiedQuery({ table, query, columns }: CopyStatement, found: TableDef | null): string {
  if (table === null) return query!;
  const list = listOf(columns, found?.columns ?? []);
  const schema = table.schema === null ? "" : `${quoteIdentifier(table.schema)}.`;
  // Rows of tables that inherit are theirs. A partitioned table has no others.
  const only = found === null || found.partitionKey !== undefined ? "" : "ONLY ";
  return `SELECT ${list} FROM ${only}${schema}${quoteIdentifier(table.name)}`;
}

function listOf(names: readonly string[] | null, all: readonly ColumnDef[]): string {
  for (const column of all) if (names?.includes(column.name)) requireCopied(column);
  const listed = names ?? (all.some(isGenerated) ? all.filter((column) => !isGenerated(column)).map(nameOf) : null);
  return listed === null ? "*" : listed.map(quoteIdentifier).join(", ");
}

const nameOf = ({ name }: ColumnDef): string => name;

const isGenerated = ({ generatedSql }: ColumnDef): boolean => Boolean(generatedSql);

/** Generated columns are not copied. Throws 42P10. */
export function requireCopied(column: ColumnDef): void {
  if (!isGenerated(column)) return;
  throw sqlError("42P10", `column "${column.name}" is a generated column`, {
    detail: "Generated columns cannot be used in COPY.",
  });
}
