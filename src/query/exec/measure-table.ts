/** The size of a table as listings show it: exact, by reading all its keys. */

import type { TableDef } from "../../catalog/table.js";
import type { CheckedTurns } from "../../protocol/turns.js";
import { prefixRange } from "../../storage/keys.js";
import { type Cursor, NO_ENTRIES, readSome, type Transaction } from "../../storage/store.js";
import { layoutOf } from "./table-layout.js";

export interface TableSize {
  readonly rows: number;
  /** Bytes of keys and records, indexes included. */
  readonly bytes: number;
}

/** Entries between two looks at the clock. */
const STEP_ENTRIES = 1024;

export async function measureTable(
  tx: Transaction,
  tenantNumber: number,
  table: TableDef,
  turns: CheckedTurns,
): Promise<TableSize> {
  const layout = layoutOf(table);
  const size = await measure(tx.scan(prefixRange(layout.rowPrefixOf(tenantNumber))), turns);
  let { bytes } = size;
  for (const index of layout.indexes) {
    bytes += (await measure(tx.scan(prefixRange(index.prefixOf(tenantNumber))), turns)).bytes;
  }
  return { rows: size.rows, bytes };
}

async function measure(cursor: Cursor, turns: CheckedTurns): Promise<TableSize> {
  let rows = 0;
  let bytes = 0;
  try {
    for (;;) {
      turns.checkpoint();
      const entries = readSome(cursor, STEP_ENTRIES);
      if (entries?.keys.length === 0) return { rows, bytes };
      const { keys, values } = entries ?? NO_ENTRIES;
      rows += keys.length;
      for (let i = 0; i < keys.length; i++) bytes += keys[i]!.length + values[i]!.length;
      if (turns.shouldYield()) await turns.yieldTurn();
    }
  } finally {
    cursor.close();
  }
}
