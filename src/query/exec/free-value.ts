/**
 * Values of columns that are assigned (`INTEGER PRIMARY KEY`, AUTO_INCREMENT) go on behind those that statements gave
 * themselves, as SQLite's and MySQL's do. Called by the session for sequences that say so.
 */
import type { SequenceDef, SequenceNumber } from "../../catalog/sequence.js";
import type { TableDef } from "../../catalog/table.js";
import { decodeKey, encodeKey } from "../../storage/key-codec.js";
import { prefixRange } from "../../storage/keys.js";
import type { Transaction } from "../../storage/store.js";
import { layoutOf } from "./table-layout.js";

/**
 * Null: no row has the value, or it is not the table's key; else the greatest value that a row has.
 * @param value what the sequence gave.
 */
export function greatestTaken(
  sequence: SequenceDef,
  value: SequenceNumber,
  table: TableDef,
  tx: Transaction,
  tenantNumber: number,
): SequenceNumber | null {
  const key = layoutOf(table).primaryKey;
  if (key?.columnIds.length !== 1 || key.columnIds[0] !== sequence.ownedBy?.columnId) return null;
  const prefix = key.prefixOf(tenantNumber);
  if (tx.get(encodeKey(prefix, key.columns, [value])) === undefined) return null;
  const cursor = tx.scan({ ...prefixRange(prefix), reverse: true, only: "keys" });
  const { keys } = cursor.next(1);
  cursor.close();
  return decodeKey(keys[0]!, prefix.length, key.columns)[0] as SequenceNumber;
}
