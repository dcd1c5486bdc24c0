/**
 * The layout of every key in a shard: [tenant u32 BE][space u8][…]. A tenant's data is one contiguous range, a table's
 * rows one inside it. Tenant 0 is the shard itself. The bytes are a stored format: test/storage/keys.test.ts pins them.
 */
import { ROW_PREFIX_BYTES } from "../values/row-place.js";
import type { Operation } from "./operation.js";
import type { KeyRange } from "./store.js";

/** The second part of a key: which kind of thing it names. Later models get further numbers; none is ever reused. */
export const SPACE = {
  meta: 0,
  catalog: 1,
  rows: 2,
  index: 3,
  sequences: 4,
  idempotency: 5,
  directory: 6,
  retired: 7,
  /** These four, and `flat`, belong to the engine alone: history-keys.ts. */
  history: 8,
  hidden: 9,
  stamps: 10,
  since: 11,
  /** Who used audited tables: session/data-audit.ts. */
  access: 12,
  flat: 13,
} as const;

/** The tenant number under which a shard keeps what belongs to no tenant. */
export const SHARD_TENANT = 0;

/** Holds the sequence of the newest commit that the engine has applied (see shard.ts). */
export const APPLIED_SEQUENCE_KEY: Uint8Array = textKey(SHARD_TENANT, SPACE.meta, "applied-sequence");

/** All rows of a table; a row's key goes on with its encoded primary key. */
export function rowPrefix(tenant: number, storageId: number): Buffer {
  const key = header(tenant, SPACE.rows, ROW_PREFIX_BYTES);
  key.writeUInt32BE(storageId, 5);
  return key;
}

/** Whether it is of a row, or begins as the keys of a table's rows do. */
export function isRowKey(key: Uint8Array): boolean {
  return key.length >= ROW_PREFIX_BYTES && key[4] === SPACE.rows;
}

/** The storage id (catalog/table.ts) of the table that a row's key belongs to. */
export function storageIdOf(rowKey: Uint8Array): number {
  return ((rowKey[5]! << 24) | (rowKey[6]! << 16) | (rowKey[7]! << 8) | rowKey[8]!) >>> 0;
}

/** All entries of an index; an entry's key goes on with its encoded columns. */
export function indexPrefix(tenant: number, storageId: number, indexId: number): Buffer {
  const key = header(tenant, SPACE.index, 13);
  key.writeUInt32BE(storageId, 5);
  key.writeUInt32BE(indexId, 9);
  return key;
}

export function catalogKey(tenant: number, name: string): Buffer {
  return textKey(tenant, SPACE.catalog, name);
}

export function catalogPrefix(tenant: number): Buffer {
  return header(tenant, SPACE.catalog, 5);
}

/** Says that nobody needs what begins with the prefix any more: it is removed when no open transaction may see it. */
export function retiredKey(tenant: number, prefix: Uint8Array): Buffer {
  return Buffer.concat([retiredPrefix(tenant), prefix]);
}

/** All of those of a tenant. */
export function retiredPrefix(tenant: number): Buffer {
  return header(tenant, SPACE.retired, 5);
}

/** The prefix that a key made by `retiredKey` speaks of. */
export function prefixOfRetiredKey(key: Uint8Array): Buffer {
  return Buffer.from(key.subarray(5));
}

/** The value of a retired key when what it speaks of is removed: the engine takes it as the order to do so. */
export const CLEARED = Buffer.of(1);

/** What the engine removes before it takes the operation; null: nothing. */
export function rangeClearedBy({ key, value }: Operation): KeyRange | null {
  const clears = isOfRetired(key) && value !== null && value.length > 0;
  return clears ? prefixRange(prefixOfRetiredKey(key)) : null;
}

/**
 * The operations of several commits, without those that an order among them removes again; `clear` removes what was
 * there before. Where the order is the last word on its key, nothing in its range is of use, wherever it stands.
 */
export function withoutCleared(operations: Operation[], clear: (range: KeyRange) => void): Operation[] {
  let kept = operations;
  for (const order of operations) {
    const range = rangeClearedBy(order);
    if (range === null) continue;
    clear(range);
    const isIn = ({ key }: Operation) => Buffer.compare(key, range.gte) >= 0 && Buffer.compare(key, range.lt) < 0;
    const at = kept.indexOf(order);
    const isLast = !kept.some((other, i) => i > at && Buffer.compare(other.key, order.key) === 0);
    kept = kept.filter((other, i) => (i > at && !isLast) || !isIn(other));
  }
  return kept;
}

/**
 * Entries that a branch does not have of its origin: answers to requests, orders that name the origin's keys, and the
 * audit of data, which its origin has for both.
 */
export function isOwnOnly(key: Uint8Array): boolean {
  return key[4] === SPACE.idempotency || key[4] === SPACE.retired || key[4] === SPACE.access;
}

/** Kept answers of requests have no past. */
export function isOfPast(key: Uint8Array): boolean {
  return key[4] !== SPACE.idempotency;
}

export function isOfRetired(key: Uint8Array): boolean {
  return key[4] === SPACE.retired;
}

/** The state of a SQL sequence. */
export function sequenceKey(tenant: number, id: number): Buffer {
  const key = header(tenant, SPACE.sequences, 9);
  key.writeUInt32BE(id, 5);
  return key;
}

/** Of all kept answers of a tenant. */
export function idempotencyPrefix(tenant: number): Buffer {
  return header(tenant, SPACE.idempotency, 5);
}

/** The stored answer to a request that carried this Idempotency-Key. */
export function idempotencyKey(tenant: number, key: string): Buffer {
  return textKey(tenant, SPACE.idempotency, key);
}

/** The language model's provider that a tenant has chosen for itself, sealed. */
export function providerKey(tenant: number): Buffer {
  return textKey(tenant, SPACE.meta, "ai-provider");
}

/** What an API key on a lead has used of its budget. */
export function keyBudgetKey(tenant: number, keyId: string): Buffer {
  return textKey(tenant, SPACE.meta, `key-budget/${keyId}`);
}

/** An entry of the audit of data; `at` sorts by time. */
export function accessKey(tenant: number, at: string): Buffer {
  return textKey(tenant, SPACE.access, at);
}

/** All of a tenant's. */
export function accessPrefix(tenant: number): Buffer {
  return header(tenant, SPACE.access, 5);
}

/** What parameters in such entries are hashed with. */
export function accessSaltKey(tenant: number): Buffer {
  return textKey(tenant, SPACE.meta, "access-salt");
}

/** What all of a tenant's requests together may use in a day. */
export function tenantBudgetKey(tenant: number): Buffer {
  return textKey(tenant, SPACE.meta, "tenant-budget");
}

/** A record of the directory of accounts; `kind` (say "user") must not contain U+0000. */
export function directoryKey(kind: string, id: string): Buffer {
  return textKey(SHARD_TENANT, SPACE.directory, `${kind}\0${id}`);
}

/** All records of one kind in the directory. */
export function directoryPrefix(kind: string): Buffer {
  return directoryKey(kind, "");
}

/** Says that a tenant is not, or not for certain, in this shard although other shards or moves speak of it. */
export function placeKey(tenant: number): Buffer {
  return textKey(SHARD_TENANT, SPACE.meta, `place/${String(tenant).padStart(10, "0")}`);
}

/** All of those. */
export function placePrefix(): Buffer {
  return textKey(SHARD_TENANT, SPACE.meta, "place/");
}

/** The tenant of a key made by `placeKey`. */
export function tenantOfPlaceKey(key: Uint8Array): number {
  return Number(Buffer.from(key.buffer, key.byteOffset + placePrefix().length, 10).toString());
}

/** The number that the next branch of a tenant gets. */
export function nextBranchKey(): Buffer {
  return textKey(SHARD_TENANT, SPACE.meta, "next-branch");
}

/** Says that changes of a table are followed (features/feed/watch-records.ts). */
export function watchKey(tenant: number, tableId: number): Buffer {
  return textKey(SHARD_TENANT, SPACE.meta, `watch/${tenant}/${tableId}`);
}

/** All of those. */
export function watchPrefix(): Buffer {
  return textKey(SHARD_TENANT, SPACE.meta, "watch/");
}

/** A job that runs in the background (features/jobs/job-records.ts); neither part may hold a slash but the id. */
export function jobKey(tenant: number, kind: string, id: string): Buffer {
  return textKey(SHARD_TENANT, SPACE.meta, `job/${tenant}/${kind}/${id}`);
}

/** All of a tenant's. */
export function jobsOfTenantPrefix(tenant: number): Buffer {
  return textKey(SHARD_TENANT, SPACE.meta, `job/${tenant}/`);
}

/** All of those. */
export function jobPrefix(): Buffer {
  return textKey(SHARD_TENANT, SPACE.meta, "job/");
}

/** The tenant that a key belongs to. */
export function tenantOfKey(key: Uint8Array): number {
  return ((key[0]! << 24) | (key[1]! << 16) | (key[2]! << 8) | key[3]!) >>> 0;
}

/** Everything that a tenant has in the shard. */
export function tenantPrefix(tenant: number): Buffer {
  const key = Buffer.allocUnsafe(4);
  key.writeUInt32BE(tenant, 0);
  return key;
}

/** All keys that start with `prefix`. */
export function prefixRange(prefix: Uint8Array, reverse = false): KeyRange {
  return { gte: prefix, lt: prefixEnd(prefix), reverse };
}

/** The least key that is greater. */
export function keyAfter(key: Uint8Array): Buffer {
  return Buffer.concat([key, Buffer.of(0)]);
}

/** The first key after all keys that start with `prefix`. Throws RangeError if there is none (only 0xFF bytes). */
export function prefixEnd(prefix: Uint8Array): Buffer {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  if (length === 0) throw new RangeError("no key sorts after this prefix");
  const end = Buffer.from(prefix.subarray(0, length));
  end[length - 1]!++;
  return end;
}

function header(tenant: number, space: number, length: number): Buffer {
  const key = Buffer.allocUnsafe(length);
  key.writeUInt32BE(tenant, 0);
  key[4] = space;
  return key;
}

function textKey(tenant: number, space: number, text: string): Buffer {
  const key = header(tenant, space, 5 + Buffer.byteLength(text));
  key.write(text, 5);
  return key;
}
