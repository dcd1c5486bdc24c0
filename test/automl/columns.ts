/** Rows as columns, at once. */
import type { ColumnData } from "../../src/automl/contract.js";
import { type PackedColumn, unpackColumns } from "../../src/automl/packed-columns.js";
import { DocumentColumns } from "../../src/automl/row-columns.js";

export function ended<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value as T;
  }
}

export function columnsOfRows(rows: readonly Readonly<Record<string, unknown>>[]): ColumnData[] {
  const documents = new DocumentColumns();
  for (const row of rows) documents.add(row);
  return unpackColumns([...documents.names].map((name): PackedColumn => ended(documents.column(name))));
}
