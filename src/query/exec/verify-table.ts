/** VERIFY TABLE: follows the hash chain of an immutable table over its rows. Called by the session. */
import { storageOf, type TableDef } from "../../catalog/table.js";
import { encodeKey } from "../../storage/key-codec.js";
import { prefixRange } from "../../storage/keys.js";
import { type Cursor, NO_ENTRIES, readSome } from "../../storage/store.js";
import { fromText } from "../../values/text-format.js";
import { BOOL, INT8, TEXT, type Value } from "../../values/values.js";
import type { OutputColumn } from "../plan/plan.js";
import type { ExecContext } from "./context.js";
import { chainPrefix, entryNumber, FIRST_HASH, HASH_BYTES, linkHash } from "./hash-chain.js";
import { joinKey, layoutOf } from "./table-layout.js";

const column = (id: number, name: string, type: OutputColumn["type"], nullable: boolean): OutputColumn =>
  Object.freeze({ id, name, type, nullable });

/** One row: how many rows the chain has, whether it is whole, the first place where it is not, and its newest hash. */
export const VERIFY_COLUMNS: readonly OutputColumn[] = [
  column(1, "table_name", TEXT, false),
  column(2, "rows_verified", INT8, false),
  column(3, "valid", BOOL, false),
  column(4, "first_invalid_row", INT8, true),
  column(5, "head_hash", TEXT, true),
];

/** Of VERIFY RECORD: whether the chain has a row of that key, and whether the row is the one that was added then. */
export const VERIFY_RECORD_COLUMNS: readonly OutputColumn[] = [
  column(1, "table_name", TEXT, false),
  column(2, "record_key", TEXT, false),
  column(3, "found", BOOL, false),
  column(4, "valid", BOOL, false),
  column(5, "position", INT8, true),
  column(6, "hash", TEXT, true),
];

/**
 * The values of VERIFY_RECORD_COLUMNS. @param key the primary key's values, as texts. Throws what reading them throws.
 */
export function verifyRecord(
  context: ExecContext,
  table: TableDef,
  key: readonly string[],
): Value[] | Promise<Value[]> {
  const { tx, tenantNumber } = context;
  const { primaryKey, rowPrefixOf } = layoutOf(table);
  const values = primaryKey!.columns.map(({ type }, i) => fromText(type, key[i]!));
  const wanted = encodeKey(new Uint8Array(0), primaryKey!.columns, values);
  let before: Uint8Array = FIRST_HASH;
  let found: { readonly valid: boolean; readonly number: number; readonly hash: string } | null = null;
  const look = (entry: Uint8Array, value: Uint8Array): void => {
    const hash = Buffer.from(value.subarray(0, HASH_BYTES));
    const suffix = value.subarray(HASH_BYTES);
    if (Buffer.compare(suffix, wanted) === 0) {
      const number = entryNumber(entry);
      const record = tx.get(joinKey(rowPrefixOf(tenantNumber), suffix));
      const isSame = record !== undefined && Buffer.compare(linkHash(before, number, suffix, record), hash) === 0;
      found = { valid: isSame, number, hash: hash.toString("hex") };
    }
    before = hash;
  };
  const chain = tx.scan(prefixRange(chainPrefix(tenantNumber, storageOf(table))));
  return each(context, chain, look, () => {
    const { valid = false, number = null, hash = null } = found ?? {};
    return [table.name, key.join(", "), found !== null, valid, number, hash];
  });
}

const STEP_ENTRIES = 256;

/** The values of VERIFY_COLUMNS. */
export function verifyTable(context: ExecContext, table: TableDef): Value[] | Promise<Value[]> {
  const { tx, tenantNumber } = context;
  const rowPrefix = layoutOf(table).rowPrefixOf(tenantNumber);
  const chain = tx.scan(prefixRange(chainPrefix(tenantNumber, storageOf(table))));
  let hash: Uint8Array = FIRST_HASH;
  let number = 0;
  let invalid: number | null = null;
  const follow = (key: Uint8Array, value: Uint8Array): void => {
    const suffix = value.subarray(HASH_BYTES);
    const record = tx.get(joinKey(rowPrefix, suffix));
    number++;
    const isNext = entryNumber(key) === number;
    hash = linkHash(hash, number, suffix, record ?? new Uint8Array(0));
    const isSame = Buffer.compare(hash, value.subarray(0, HASH_BYTES)) === 0;
    if (!isNext || record === undefined || !isSame) invalid ??= number;
    hash = Buffer.from(value.subarray(0, HASH_BYTES));
  };
  const count = (): Value[] | Promise<Value[]> => {
    let rows = 0;
    const result = (): Value[] => {
      // A row that the chain does not know stands behind all that it knows.
      if (rows > number) invalid ??= number + 1;
      return [table.name, number, invalid === null, invalid, number === 0 ? null : Buffer.from(hash).toString("hex")];
    };
    return each(context, tx.scan(prefixRange(rowPrefix)), () => rows++, result);
  };
  return each(context, chain, follow, count);
}

/** Visits all entries, giving the actor's loop its turns, then answers with `finish()`. */
function each<T>(
  context: ExecContext,
  cursor: Cursor,
  visit: (key: Uint8Array, value: Uint8Array) => void,
  finish: () => T | Promise<T>,
): T | Promise<T> {
  let paused = false;
  try {
    for (;;) {
      context.checkpoint();
      const entries = readSome(cursor, STEP_ENTRIES);
      if (entries?.keys.length === 0) break;
      const { keys, values } = entries ?? NO_ENTRIES;
      for (let i = 0; i < keys.length; i++) visit(keys[i]!, values[i]!);
      if (context.shouldYield()) {
        paused = true;
        return context.yieldTurn().then(() => each(context, cursor, visit, finish));
      }
    }
  } finally {
    if (!paused) cursor.close();
  }
  return finish();
}
