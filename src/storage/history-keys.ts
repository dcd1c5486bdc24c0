/**
 * Keys of what the engine keeps beside a tenant's entries (layered-engine.ts): what they were before each commit, when
 * the commits were, and which entries of its origin a branch has deleted. All lie under the shard's own number, so that
 * a tenant's range holds its entries and nothing else. A stored format: test/storage/layered-engine.test.ts pins the
 * bytes.
 */
import { prefixEnd, SHARD_TENANT, SPACE, tenantOfKey } from "./keys.js";
import type { CommitStamp } from "./operation.js";
import type { KeyRange } from "./store.js";

const HEAD_BYTES = 9;
const TENANT_BYTES = 4;
const SEQUENCE_BYTES = 6;
const MICROS_BYTES = 8;
/** No commit has so great a sequence. */
export const LATEST = 2 ** 48 - 1;
const ESCAPED = 0xff;
const END = 0x01;
const RECORD_NAMES = { branch: "branch/", history: "history/", horizon: "horizon/" } as const;
const RECORD_KINDS = Object.keys(RECORD_NAMES) as (keyof typeof RECORD_NAMES)[];

/** Says that a tenant is a branch of another one. */
export function branchKey(tenant: number): Buffer {
  return recordKey("branch", String(tenant));
}

/** All of those. */
export function branchPrefix(): Buffer {
  return recordKey("branch", "");
}

/** Says how long a tenant's past is kept. */
export function historyRecordKey(tenant: number): Buffer {
  return recordKey("history", String(tenant));
}

/** All of those. */
export function historyRecordPrefix(): Buffer {
  return recordKey("history", "");
}

/** Says from which commit on a tenant's past can be read; all copies of its partition go by it. */
export function horizonKey(tenant: number): Buffer {
  return recordKey("horizon", String(tenant));
}

/** What a record of one of these kinds is about; null: the key is of something else. */
export function layerRecordOf(
  key: Uint8Array,
): { readonly kind: keyof typeof RECORD_NAMES; readonly tenant: number } | null {
  if (!isRecordKey(key)) return null;
  const text = Buffer.from(key.buffer, key.byteOffset + 5, key.length - 5).toString("latin1");
  for (const kind of RECORD_KINDS) {
    if (text.startsWith(RECORD_NAMES[kind])) return { kind, tenant: Number(text.slice(RECORD_NAMES[kind].length)) };
  }
  return null;
}

/** Whether the key may be of such a record; asked of every operation. */
export function isRecordKey(key: Uint8Array): boolean {
  if (key[3] !== SHARD_TENANT || key[4] !== SPACE.meta || (key[5] !== 0x62 && key[5] !== 0x68)) return false;
  return tenantOfKey(key) === SHARD_TENANT;
}

function recordKey(kind: keyof typeof RECORD_NAMES, id: string): Buffer {
  const text = `${RECORD_NAMES[kind]}${id}`;
  const key = Buffer.allocUnsafe(5 + text.length);
  key.writeUInt32BE(SHARD_TENANT, 0);
  key[4] = SPACE.meta;
  key.write(text, 5, "latin1");
  return key;
}

/** What the key's entry was before the commit. Those of a key follow each other, the older commit first. */
export function replacedKey(key: Uint8Array, sequence: number): Buffer {
  const made = Buffer.allocUnsafe(HEAD_BYTES + escapedLengthOf(key) + 2 + SEQUENCE_BYTES);
  writeHead(made, SPACE.history, tenantOfKey(key));
  const end = writeEscaped(made, key);
  made[end] = 0;
  made[end + 1] = END;
  made.writeUIntBE(sequence, made.length - SEQUENCE_BYTES, SEQUENCE_BYTES);
  return made;
}

/** The key and the commit of a key made by `replacedKey`. */
export function readReplacedKey(made: Uint8Array): { readonly key: Uint8Array; readonly sequence: number } {
  return { key: readEscaped(made, keyEndOf(made)), sequence: commitOfReplaced(made) };
}

/** The commit alone. */
export function commitOfReplaced(made: Uint8Array): number {
  let sequence = 0;
  for (let at = made.length - SEQUENCE_BYTES; at < made.length; at++) sequence = sequence * 256 + made[at]!;
  return sequence;
}

/** Whether two keys made by `replacedKey` are of the same key. */
export function isSameReplaced(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  // They differ at the end, if anywhere: neighbours in the engine have long beginnings in common.
  for (let at = keyEndOf(a) - 1; at >= 0; at--) if (a[at] !== b[at]) return false;
  return true;
}

/** The order of the key of a key made by `replacedKey`, and another key, but for their tenants. */
export function compareReplaced(made: Uint8Array, key: Uint8Array): number {
  const end = keyEndOf(made);
  let at = HEAD_BYTES;
  for (let i = TENANT_BYTES; i < key.length; i++) {
    if (at >= end) return -1;
    const order = made[at]! - key[i]!;
    if (order !== 0) return order;
    at += made[at] === 0 ? 2 : 1;
  }
  return end - at;
}

const keyEndOf = (made: Uint8Array): number => made.length - SEQUENCE_BYTES - 2;

/** The key whose tenant is in the head, and whose rest goes up to `end`. */
function readEscaped(made: Uint8Array, end: number): Buffer {
  const key = Buffer.allocUnsafe(end - HEAD_BYTES + TENANT_BYTES);
  let length = 0;
  for (let at = HEAD_BYTES - TENANT_BYTES; at < HEAD_BYTES; at++) key[length++] = made[at]!;
  for (let at = HEAD_BYTES; at < end; at++) {
    key[length++] = made[at]!;
    if (made[at] === 0) at++;
  }
  return key.subarray(0, length);
}

/** Of the entries that replaced ones of a tenant's range were. */
export function replacedRange(range: KeyRange): KeyRange {
  return besideRange(SPACE.history, range);
}

export function replacedPrefix(tenant: number): Buffer {
  return headOf(SPACE.history, tenant);
}

/** Says that a branch has deleted the entry, which its origin has. */
export function hiddenKey(key: Uint8Array): Buffer {
  return besideKey(SPACE.hidden, key);
}

/** The key of a key made by `hiddenKey` or `flatKey`. */
export function readBesideKey(made: Uint8Array): Uint8Array {
  return readEscaped(made, made.length);
}

export function hiddenRange(range: KeyRange): KeyRange {
  return besideRange(SPACE.hidden, range);
}

export function hiddenPrefix(tenant: number): Buffer {
  return headOf(SPACE.hidden, tenant);
}

/** What a branch has of its origin under the key, where it reads past some of its origins: flat-branches.ts. */
export function flatKey(key: Uint8Array): Buffer {
  return besideKey(SPACE.flat, key);
}

export function flatRange(range: KeyRange): KeyRange {
  return besideRange(SPACE.flat, range);
}

export function flatPrefix(tenant: number): Buffer {
  return headOf(SPACE.flat, tenant);
}

/** Says which origin a branch reads instead of its own. */
export function flatRecordKey(tenant: number): Buffer {
  return Buffer.concat([headOf(SPACE.since, tenant), Buffer.from("flat")]);
}

/** Holds with which commit a branch begins, or since which one a tenant's past is kept. */
export function sinceKey(tenant: number, kind: keyof typeof RECORD_NAMES): Buffer {
  return Buffer.concat([headOf(SPACE.since, tenant), Buffer.from(kind)]);
}

/** Holds how many bytes a branch has of its own. */
export function bytesKey(tenant: number): Buffer {
  return Buffer.concat([headOf(SPACE.since, tenant), Buffer.from("bytes")]);
}

/** Holds up to where a branch has been merged: merge-points.ts. */
export function mergesKey(tenant: number): Buffer {
  return Buffer.concat([headOf(SPACE.since, tenant), Buffer.from("merges")]);
}

export function stampValue({ sequence, micros }: CommitStamp): Buffer {
  const value = Buffer.alloc(SEQUENCE_BYTES + MICROS_BYTES);
  value.writeUIntBE(sequence, 0, SEQUENCE_BYTES);
  value.writeBigUInt64BE(BigInt(micros), SEQUENCE_BYTES);
  return value;
}

export function readStamp(value: Uint8Array): CommitStamp {
  return { sequence: readSequence(value), micros: Number(Buffer.from(value).readBigUInt64BE(SEQUENCE_BYTES)) };
}

/** The commit of a tenant at that time. */
export function stampKey(tenant: number, micros: number): Buffer {
  const key = Buffer.allocUnsafe(HEAD_BYTES + MICROS_BYTES);
  writeHead(key, SPACE.stamps, tenant);
  key.writeBigUInt64BE(BigInt(micros), HEAD_BYTES);
  return key;
}

export function stampsPrefix(tenant: number): Buffer {
  return headOf(SPACE.stamps, tenant);
}

export function stampOf(key: Uint8Array, value: Uint8Array): CommitStamp {
  const micros = Number(Buffer.from(key.buffer, key.byteOffset, key.length).readBigUInt64BE(HEAD_BYTES));
  return { micros, sequence: readSequence(value) };
}

export function sequenceValue(sequence: number): Buffer {
  const value = Buffer.allocUnsafe(SEQUENCE_BYTES);
  value.writeUIntBE(sequence, 0, SEQUENCE_BYTES);
  return value;
}

export function readSequence(value: Uint8Array): number {
  return Buffer.from(value.buffer, value.byteOffset, SEQUENCE_BYTES).readUIntBE(0, SEQUENCE_BYTES);
}

/** The same key of another tenant. */
export function ofTenant(key: Uint8Array, tenant: number): Buffer {
  const made = Buffer.allocUnsafe(key.length);
  made.set(key);
  writeTenant(made, tenant, 0);
  return made;
}

/** The same range of another tenant; `range` lies within one. */
export function rangeOfTenant(range: KeyRange, tenant: number): KeyRange {
  const isWhole = tenantOfKey(range.lt) !== tenantOfKey(range.gte);
  const lt = isWhole ? prefixEnd(ofTenant(range.gte.subarray(0, 4), tenant)) : ofTenant(range.lt, tenant);
  return { ...range, gte: ofTenant(range.gte, tenant), lt };
}

function besideKey(space: number, key: Uint8Array): Buffer {
  const made = Buffer.allocUnsafe(HEAD_BYTES + escapedLengthOf(key));
  writeHead(made, space, tenantOfKey(key));
  writeEscaped(made, key);
  return made;
}

/** `range` lies within one tenant. */
function besideRange(space: number, range: KeyRange): KeyRange {
  const tenant = tenantOfKey(range.gte);
  const gte = besideKey(space, range.gte);
  const isWhole = tenantOfKey(range.lt) !== tenant;
  const lt = isWhole ? prefixEnd(headOf(space, tenant)) : besideKey(space, range.lt);
  return { gte, lt, reverse: range.reverse === true };
}

/** Of what follows the tenant, as `writeEscaped` writes it. */
function escapedLengthOf(key: Uint8Array): number {
  let length = Math.max(0, key.length - TENANT_BYTES);
  for (let i = TENANT_BYTES; i < key.length; i++) if (key[i] === 0) length++;
  return length;
}

/**
 * Writes what follows the tenant behind the head, so that no key is the beginning of another one and the order stays.
 * Answers where it ends.
 */
function writeEscaped(made: Buffer, key: Uint8Array): number {
  let at = HEAD_BYTES;
  for (let i = TENANT_BYTES; i < key.length; i++) {
    made[at++] = key[i]!;
    if (key[i] === 0) made[at++] = ESCAPED;
  }
  return at;
}

function headOf(space: number, tenant: number): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  writeHead(head, space, tenant);
  return head;
}

function writeHead(key: Buffer, space: number, tenant: number): void {
  writeTenant(key, SHARD_TENANT, 0);
  key[4] = space;
  writeTenant(key, tenant, 5);
}

/** For each row of a range: `writeUInt32BE` checks what it is given. */
function writeTenant(key: Buffer, tenant: number, at: number): void {
  key[at] = tenant >>> 24;
  key[at + 1] = tenant >>> 16;
  key[at + 2] = tenant >>> 8;
  key[at + 3] = tenant;
}
