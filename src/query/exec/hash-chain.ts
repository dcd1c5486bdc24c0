/**
 * The hash chain of an immutable table: one entry per row, in the order of insertion, each with the SHA-256 of the
 * entry before it and of the row. A row that is changed, removed or slipped in behind the engine's back breaks it.
 *
 *   chainPrefix · number (u64 BE) → hash (32 bytes) · the row's key suffix
 *   hash(n) = SHA-256(hash(n - 1) · number · suffix · record); hash(0) is 32 zero bytes
 *
 * Two transactions that insert at once both write the next number, so one of them is refused.
 */
import { createHash } from "node:crypto";
import { indexPrefix, prefixRange } from "../../storage/keys.js";
import type { Transaction } from "../../storage/store.js";

/** Index ids begin at 1: this one is the chain's. */
const CHAIN_INDEX = 0;
const NUMBER_BYTES = 8;
export const HASH_BYTES = 32;

export const FIRST_HASH: Uint8Array = new Uint8Array(HASH_BYTES);

export function chainPrefix(tenantNumber: number, storageId: number): Buffer {
  return indexPrefix(tenantNumber, storageId, CHAIN_INDEX);
}

function numberBytes(number: number): Buffer {
  const bytes = Buffer.allocUnsafe(NUMBER_BYTES);
  bytes.writeBigUInt64BE(BigInt(number));
  return bytes;
}

export function linkHash(before: Uint8Array, number: number, suffix: Uint8Array, record: Uint8Array): Buffer {
  return createHash("sha256").update(before).update(numberBytes(number)).update(suffix).update(record).digest();
}

/** Appends to the chain of one table; of one writer. */
export class ChainWriter {
  private head: { number: number; hash: Uint8Array } | null = null;

  constructor(
    private readonly prefix: Uint8Array,
    private readonly tx: Transaction,
  ) {}

  append(suffix: Uint8Array, record: Uint8Array): void {
    const { number: last, hash: before } = this.readHead();
    const number = last + 1;
    const hash = linkHash(before, number, suffix, record);
    this.tx.put(Buffer.concat([this.prefix, numberBytes(number)]), Buffer.concat([hash, suffix]));
    this.head = { number, hash };
  }

  private readHead(): { number: number; hash: Uint8Array } {
    if (this.head !== null) return this.head;
    const cursor = this.tx.scan(prefixRange(this.prefix, true));
    const { keys, values } = cursor.next(1);
    const [key] = keys;
    const head =
      key === undefined
        ? { number: 0, hash: FIRST_HASH }
        : { number: entryNumber(key), hash: Buffer.from(values[0]!.subarray(0, HASH_BYTES)) };
    cursor.close();
    return head;
  }
}

export function entryNumber(key: Uint8Array): number {
  const view = new DataView(key.buffer, key.byteOffset + key.byteLength - NUMBER_BYTES, NUMBER_BYTES);
  return Number(view.getBigUint64(0));
}
