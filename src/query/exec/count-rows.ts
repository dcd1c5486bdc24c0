/** The number of a table's rows, exact, from column segments where the table has them, else by counting keys. */
import type { TableDef } from "../../catalog/table.js";
import type { ExecContext } from "./context.js";
import { drain } from "./operator.js";
import { compileScan } from "./scan.js";
import { layoutOf } from "./table-layout.js";

/** Gives the loop its turns. Does not count as a read of the transaction. Null: there are fewer than `least`. */
export async function countRows(context: ExecContext, table: TableDef, least: number): Promise<number | null> {
  // To make segments for this alone would take longer than to count keys.
  const held = context.segments?.find(context.tenantNumber, layoutOf(table), []) ?? null;
  const segments = held !== null && held.segments.length > 0 ? context.segments : null;
  const none = { columns: [], source: [], filter: null, reverse: false, rowKey: null } as const;
  const tx = context.tx.frozen(false);
  const scan = compileScan({ kind: "scan", table, alias: table.name, ...none })({ ...context, tx, segments });
  // Rows of a segment are counted without a look at each.
  scan.acceptChunks?.();
  let rows = 0;
  const count = ({ length }: { readonly length: number }): void => {
    rows += length;
  };
  try {
    await drain(scan, count, () => undefined);
  } finally {
    scan.close();
  }
  return rows < least ? null : rows;
}
