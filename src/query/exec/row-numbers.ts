/**
 * Numbers of rows in tables without a primary key: a u64 that is the row's storage key. One allocator per actor,
 * owned by it and shared by all its transactions, so two open transactions never take the same number; a number
 * that a rolled-back transaction took is not used again until a restart.
 */

import { boundOf } from "../../storage/cursor-bound.js";
import { startKey, writeUint32 } from "../../storage/key-writer.js";
import { prefixRange, rowPrefix } from "../../storage/keys.js";
import type { KeyRange, Transaction } from "../../storage/store.js";

export interface RowNumbers {
  /** The next unused number of a table of a tenant, or the first of so many. */
  next(tenantNumber: number, storageId: number, count?: number): number;
  /** The table is new, so nobody needs to look for the rows that it has. */
  begin(tenantNumber: number, storageId: number): void;
  /** Counts from 1 again: the table has lost its primary key, and all its rows are rewritten. */
  restart(tenantNumber: number, storageId: number): void;
  /** The table's rows go to another storage, and go on with the numbers that they have. */
  move(tenantNumber: number, storageId: number, to: number): void;
  /** Rows of the tenant were committed whose numbers are not from here. What is given out never goes down by that. */
  lookAgain(tenantNumber: number): void;
  /** The tenant has nothing uncommitted, and its rows may change without a report here. */
  forget(tenantNumber: number): void;
}

interface NextNumber {
  number: number;
  /** It, or a greater one, may be a committed row's. */
  mayBeTaken: boolean;
}

/**
 * @param begin a read-only transaction on the newest committed state. It is asked once per table: before that,
 * nothing of the table can be uncommitted, because every insert takes its number here. After `lookAgain` it is asked
 * once more.
 */
export function createRowNumbers(begin: () => Transaction): RowNumbers {
  /** By tenant, then by the table's storage id. */
  const tenants = new Map<number, Map<number, NextNumber>>();
  const tablesOf = (tenantNumber: number): Map<number, NextNumber> => {
    let tables = tenants.get(tenantNumber);
    if (tables === undefined) {
      tables = new Map();
      tenants.set(tenantNumber, tables);
    }
    return tables;
  };
  return {
    next(tenantNumber, storageId, count = 1) {
      const tables = tablesOf(tenantNumber);
      let known = tables.get(storageId);
      if (known === undefined) {
        known = { number: 1, mayBeTaken: true };
        tables.set(storageId, known);
      }
      if (known.mayBeTaken) {
        // Open transactions have those below already.
        known.number = Math.max(known.number, firstUnused(begin, rowPrefix(tenantNumber, storageId)));
        known.mayBeTaken = false;
      }
      const { number } = known;
      known.number += count;
      return number;
    },
    begin(tenantNumber, storageId) {
      const tables = tablesOf(tenantNumber);
      // Another open transaction may have made a table under this id, which cannot commit beside this one.
      if (!tables.has(storageId)) tables.set(storageId, { number: 1, mayBeTaken: false });
    },
    restart(tenantNumber, storageId) {
      tablesOf(tenantNumber).set(storageId, { number: 1, mayBeTaken: false });
    },
    move(tenantNumber, storageId, to) {
      const tables = tablesOf(tenantNumber);
      const known = tables.get(storageId);
      if (known !== undefined) tables.set(to, { ...known });
    },
    lookAgain(tenantNumber) {
      for (const known of tenants.get(tenantNumber)?.values() ?? []) known.mayBeTaken = true;
    },
    forget(tenantNumber) {
      tenants.delete(tenantNumber);
    },
  };
}

function firstUnused(begin: () => Transaction, prefix: Uint8Array): number {
  const tx = begin();
  try {
    const range: KeyRange = { ...prefixRange(prefix), reverse: true, only: "keys" };
    const greatest = boundOf(tx.scan(range));
    const highest = greatest === null ? 0 : readRowNumber(greatest, prefix.length);
    return highest + 1;
  } finally {
    tx.rollback();
  }
}

const ROW_NUMBER_BYTES = 8;
/** None comes near it. */
const ROW_NUMBER_MAX = 2 ** 52;

/** Big-endian, so that rows lie in the order of their numbers. Exact up to 2^53. */
export function rowKeyOfNumber(prefix: Uint8Array, number: number): Buffer {
  const key = Buffer.allocUnsafe(prefix.length + ROW_NUMBER_BYTES);
  key.set(prefix);
  key.writeUInt32BE(Math.floor(number / 2 ** 32), prefix.length);
  key.writeUInt32BE(number % 2 ** 32, prefix.length + 4);
  return key;
}

/** The same key for a load, in the key writer. */
export function beginRowKeyOfNumber(prefix: Uint8Array, number: number): void {
  startKey(prefix);
  writeUint32(Math.floor(number / 2 ** 32));
  writeUint32(number % 2 ** 32);
}

/** 0: the row has a primary key still, which the table is losing. */
function readRowNumber(key: Uint8Array, offset: number): number {
  if (key.length !== offset + ROW_NUMBER_BYTES) return 0;
  const view = new DataView(key.buffer, key.byteOffset + offset, ROW_NUMBER_BYTES);
  const number = view.getUint32(0) * 2 ** 32 + view.getUint32(4);
  return number <= ROW_NUMBER_MAX ? number : 0;
}
