/**
 * Gives assigned columns (`INTEGER PRIMARY KEY`, AUTO_INCREMENT) the next value behind those that statements gave
 * themselves, as SQLite and MySQL do. Called by the session for sequences that say so.
 */
import type { SequenceDef, SequenceNumber } from "../../catalog/sequence.js";
import type { TableDef } from "../../catalog/table.js";
import { boundOf } from "../../storage/cursor-bound.js";
import { decodeKey, encodeKey } from "../../storage/key-codec.js";
import { prefixRange } from "../../storage/keys.js";
import type { Transaction } from "../../storage/store.js";
import { type KeyLayout, layoutOf } from "./table-layout.js";

/**
 * Null: no row has the value, or it is not the table's key; else the greatest value that a row has.
 * @param value what the sequence gave.
 * @param tables the table, or the partitions that have its rows.
 */
export function greatestTaken(
  sequence: SequenceDef,
  value: SequenceNumber,
  table: TableDef,
  tables: readonly TableDef[],
  tx: Transaction,
  tenantNumber: number,
): SequenceNumber | null {
  if (table.primaryKey?.length !== 1 || table.primaryKey[0] !== sequence.ownedBy?.columnId) return null;
  const keys = tables.flatMap((one) => layoutOf(one).primaryKey ?? []);
  const isTaken = keys.some((key) => tx.get(encodeKey(key.prefixOf(tenantNumber), key.columns, [value])) !== undefined);
  if (!isTaken) return null;
  return keys.reduce<SequenceNumber>((most, key) => {
    const greatest = greatestOf(key, tx, tenantNumber);
    return greatest !== null && greatest > most ? greatest : most;
  }, value);
}

function greatestOf(key: KeyLayout, tx: Transaction, tenantNumber: number): SequenceNumber | null {
  const prefix = key.prefixOf(tenantNumber);
  const last = boundOf(tx.scan({ ...prefixRange(prefix), reverse: true, only: "keys" }));
  return last === null ? null : (decodeKey(last, prefix.length, key.columns)[0] as SequenceNumber);
}
