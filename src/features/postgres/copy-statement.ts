/** The query that COPY … TO runs. */
import { quoteIdentifier } from "../../query/expr/print.js";
import type { CopyStatement } from "../../sql/parse/copy.js";

/** The query whose rows are copied out. */
export function copiedQuery({ table, query, columns }: CopyStatement): string {
  if (table === null) return query!;
  const list = columns === null ? "*" : columns.map(quoteIdentifier).join(", ");
  const schema = table.schema === null ? "" : `${quoteIdentifier(table.schema)}.`;
  return `SELECT ${list} FROM ${schema}${quoteIdentifier(table.name)}`;
}
