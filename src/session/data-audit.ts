/**
 * The audit of data: who read or changed rows of a table that has `audit` set (catalog/table-audit.ts). The entry of a
 * change is part of the transaction that makes it, so one is never there without the other. The entry of a read is
 * committed when the read begins, and the answer waits for it. Entries are with the tenant's data: they move with it
 * and crowd nobody's out. Compiled programs (query/exec/compile-plan.ts) call `noteAccess` through the services of
 * their context; whoever reaches rows in another way calls it by himself.
 */
import { createHash, createHmac, randomBytes } from "node:crypto";
import { DEFAULT_SCHEMA } from "../catalog/catalog-view.js";
import type { TableDef } from "../catalog/table.js";
import { AUDIT_EXAMINED_MAX } from "../protocol/limits.js";
import { shapeOf } from "../protocol/statement-shape.js";
import type { AuditedTables } from "../query/plan/audited-tables.js";
import { accessKey, accessPrefix, accessSaltKey, prefixRange } from "../storage/keys.js";
import type { Transaction } from "../storage/store.js";
import type { AuditedCaller, AuditedTenant } from "./audited-caller.js";
import { parameterBytes } from "./parameter-bytes.js";
import type { Client } from "./statement-run.js";
import { nowMicros } from "./transaction-block.js";

export interface AccessEntry {
  readonly atMs: number;
  readonly action: "data.read" | "data.write" | "data.audit";
  readonly tenant: string;
  readonly username: string;
  readonly keyId: string | null;
  readonly address: string | null;
  readonly door: string;
  readonly target: readonly string[];
  readonly requestId: string;
  /** Hash of the statement without its constants; null: there was none. */
  readonly statement: string | null;
  /** Hash of the constants and parameters, with a key that only the tenant's data has. */
  readonly parameters: string | null;
}

export interface AccessFilter {
  readonly before?: number;
  readonly limit: number;
  readonly username?: string;
  readonly action?: string;
  readonly table?: string;
  readonly sinceMs?: number;
  readonly untilMs?: number;
}

export interface AccessPage {
  readonly entries: readonly (AccessEntry & { readonly number: number })[];
  /** Where the next page begins; null: there is nothing older. */
  readonly next: number | null;
}

const DAY_MS = 24 * 3600 * 1000;
const DIGITS = 16;
const HASH_CHARACTERS = 32;
const SALT_BYTES = 32;
/** Old entries are looked for once in so many new ones, and so many go at once. */
const TRIM_EVERY = 256;
const TRIMMED_MAX = 512;

/** Of a tenant, kept with it. */
interface TrailState {
  readonly salt: Uint8Array;
  untilTrim: number;
}

const states = new WeakMap<AuditedTenant, TrailState>();

/** Of a statement whose session has that user. */
export function auditedCaller(
  {
    client,
    tenant,
    tenantName,
  }: { readonly client: Client; readonly tenant: AuditedTenant; readonly tenantName: string },
  username: string,
): AuditedCaller {
  const known = (client.origin ?? client).audited?.() ?? null;
  if (known !== null) return known;
  const unknown = {
    keyId: null,
    address: null,
    door: "engine",
    requestId: "",
    statement: "",
    language: "sql",
  } as const;
  return { tenant, tenantName, username, ...unknown };
}

/** `tx`: of the statement, which the entry of a change is part of. Throws where the entry cannot be stored. */
export function noteAccess(
  { read, write }: AuditedTables,
  caller: AuditedCaller,
  tx: Transaction,
  params: readonly unknown[],
): void {
  if (read.length > 0) commitEntry(caller, entryOf("data.read", read, caller, params));
  if (write.length > 0) tx.put(...recordOf(caller.tenant, entryOf("data.write", write, caller, params)));
}

/** Of those among the tables whose reads are audited, for readers of rows without a plan. */
export function noteReads(tables: Iterable<TableDef>, caller: AuditedCaller): void {
  const read = [...tables].filter(({ audit }) => audit?.includes("read"));
  if (read.length > 0) commitEntry(caller, entryOf("data.read", read, caller, []));
}

/** The same for a change of what is audited. */
export function noteAuditChange(table: TableDef, caller: AuditedCaller, tx: Transaction): void {
  tx.put(...recordOf(caller.tenant, entryOf("data.audit", [table], caller, [])));
}

function entryOf(
  action: AccessEntry["action"],
  tables: readonly TableDef[],
  caller: AuditedCaller,
  params: readonly unknown[],
): AccessEntry {
  const { tenantName: tenant, username, keyId, address, door, requestId, statement: text, language } = caller;
  const hasText = text !== "";
  const hash = createHmac("sha256", stateOf(caller.tenant).salt).update(text);
  for (const bytes of parameterBytes(params)) hash.update(bytes);
  return {
    atMs: Date.now(),
    action,
    tenant,
    username,
    keyId,
    address,
    door,
    target: tables.map(({ schema, name }) => (schema === DEFAULT_SCHEMA ? name : `${schema}.${name}`)),
    requestId,
    statement: hasText ? short(createHash("sha256").update(shapeOf(text, language)).digest("hex")) : null,
    parameters: hasText || params.length > 0 ? short(hash.digest("hex")) : null,
  };
}

const short = (hex: string): string => hex.slice(0, HASH_CHARACTERS);

function recordOf(tenant: AuditedTenant, entry: AccessEntry): [key: Uint8Array, value: Uint8Array] {
  // Times are as good as numbers; what is random keeps two apart when the clock was set back.
  const at = `${String(nowMicros()).padStart(DIGITS, "0")}${randomBytes(4).toString("hex")}`;
  return [accessKey(tenant.number, at), Buffer.from(JSON.stringify(entry))];
}

function commitEntry({ tenant }: AuditedCaller, entry: AccessEntry): void {
  const state = stateOf(tenant);
  inOwnCommit(tenant, (tx) => {
    tx.put(...recordOf(tenant, entry));
    if (state.untilTrim-- > 0) return;
    state.untilTrim = TRIM_EVERY;
    trim(tenant, tx);
  });
}

function inOwnCommit(tenant: AuditedTenant, work: (tx: Transaction) => void): void {
  const tx = tenant.partition.shard.begin({ isolation: "read committed" });
  try {
    work(tx);
    tenant.commit(tx);
  } catch (error) {
    tx.rollback();
    throw error;
  }
}

function trim(tenant: AuditedTenant, tx: Transaction): void {
  const before = (Date.now() - tenant.partition.config.audit.dataDays * DAY_MS) * 1000;
  const cursor = tx.scan(prefixRange(accessPrefix(tenant.number)));
  const { keys } = cursor.next(TRIMMED_MAX);
  cursor.close();
  for (const key of keys) if (numberOf(key) < before) tx.delete(key);
}

function stateOf(tenant: AuditedTenant): TrailState {
  let state = states.get(tenant);
  if (state === undefined) {
    state = { salt: saltOf(tenant), untilTrim: 0 };
    states.set(tenant, state);
  }
  return state;
}

function saltOf(tenant: AuditedTenant): Uint8Array {
  const key = accessSaltKey(tenant.number);
  const tx = tenant.partition.shard.begin({ readOnly: true });
  const known = tx.get(key);
  tx.rollback();
  if (known !== undefined) return known;
  const salt = randomBytes(SALT_BYTES);
  inOwnCommit(tenant, (own) => own.put(key, salt));
  return salt;
}

function numberOf(key: Uint8Array): number {
  const length = accessPrefix(0).length;
  return Number(Buffer.from(key.subarray(length, length + DIGITS)).toString("latin1"));
}

/**
 * Newest first. A page may be shorter than its limit and yet have a next one: it looks at a bounded number of entries.
 */
export function listAccess(tenant: AuditedTenant, filter: AccessFilter): AccessPage {
  const tx = tenant.partition.shard.begin({ readOnly: true });
  try {
    const range = prefixRange(accessPrefix(tenant.number), true);
    const lt =
      filter.before === undefined ? range.lt : accessKey(tenant.number, String(filter.before).padStart(DIGITS, "0"));
    const cursor = tx.scan({ ...range, lt });
    const { keys, values } = cursor.next(AUDIT_EXAMINED_MAX);
    cursor.close();
    return pageOf(keys, values, filter);
  } finally {
    tx.rollback();
  }
}

function pageOf(keys: readonly Uint8Array[], values: readonly Uint8Array[], filter: AccessFilter): AccessPage {
  const entries: (AccessEntry & { readonly number: number })[] = [];
  for (const [i, key] of keys.entries()) {
    const entry = JSON.parse(Buffer.from(values[i]!).toString()) as AccessEntry;
    const number = numberOf(key);
    if (filter.sinceMs !== undefined && entry.atMs < filter.sinceMs) return { entries, next: null };
    if (!fits(entry, filter)) continue;
    entries.push({ ...entry, number });
    if (entries.length === filter.limit) return { entries, next: i + 1 < keys.length ? number : null };
  }
  return { entries, next: keys.length < AUDIT_EXAMINED_MAX ? null : numberOf(keys.at(-1)!) };
}

function fits(entry: AccessEntry, { username, action, table, untilMs }: AccessFilter): boolean {
  return (
    (username === undefined || entry.username === username) &&
    (action === undefined || entry.action === action || entry.action.startsWith(`${action}.`)) &&
    (table === undefined || entry.target.includes(table)) &&
    (untilMs === undefined || entry.atMs <= untilMs)
  );
}
