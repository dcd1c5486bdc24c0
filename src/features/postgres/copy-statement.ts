/** What the parts of COPY share: the statement with what it names looked up. */
import { quoteIdentifier } from "../../query/expr/print.js";
import { type CopyStatement, parseCopy } from "../../sql/parse/copy.js";

export const readCopy: (sql: string) => CopyStatement | null = parseCopy;

/** The query whose rows are copied out. */
export function copiedQuery({ table, query, columns }: CopyStatement): string {
  if (table === null) return query!;
  const list = columns === null ? "*" : columns.map(quoteIdentifier).join(", ");
  const schema = table.schema === null ? "" : `${quoteIdentifier(table.schema)}.`;
  return `SELECT ${list} FROM ${schema}${quoteIdentifier(table.name)}`;
}
