/** The number of a table's rows, exact, from column segments where the table has them, else by counting keys. */
import type { TableDef } from "../../catalog/table.js";
import { prefixRange } from "../../storage/keys.js";
import { readSome } from "../../storage/store.js";
import type { TableWork } from "./table-data.js";
import { layoutOf } from "./table-layout.js";

/** Keys between two looks at the clock: a millisecond. */
const STEP_KEYS = 1024;

/**
 * Gives the loop its turns. Does not count as a read of the transaction. Null: there are fewer than `least`; of a small
 * table that is known at once.
 */
export async function countRows(work: TableWork, table: TableDef, least: number): Promise<number | null> {
  const range = prefixRange(layoutOf(table).rowPrefixOf(work.tenantNumber));
  const cursor = work.tx.unread(() => work.tx.scan({ ...range, only: "count" }));
  let rows = 0;
  try {
    for (;;) {
      work.checkpoint();
      const found = readSome(cursor, STEP_KEYS);
      rows += found?.keys.length ?? 0;
      if (found !== null && found.keys.length < STEP_KEYS) return rows < least ? null : rows;
      if (work.shouldYield()) await work.yieldTurn();
    }
  } finally {
    cursor.close();
  }
}
