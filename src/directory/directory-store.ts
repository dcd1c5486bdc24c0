/**
 * Typed access to the directory's records and their indexes under one transaction. Each save and removal keeps the
 * indexes with the record. Called by every part of the directory; the records are the only state.
 */

import { createHash } from "node:crypto";
import type { Page } from "../protocol/accounts.js";
import { LIST_PAGE_DEFAULT, LIST_PAGE_MAX } from "../protocol/limits.js";
import { directoryKey, directoryPrefix, prefixRange } from "../storage/keys.js";
import type { Transaction } from "../storage/store.js";
import {
  type ApiKeyRecord,
  type DeletionRecord,
  decodeRecord,
  encodeRecord,
  type InstallationRecord,
  type MoveRecord,
  type OidcProviderRecord,
  type ScheduleRecord,
  type TenantRecord,
  type UserRecord,
} from "./records.js";

// Index entries hold the id of the record they lead to. Lists of a tenant or user have its id and "/" before the order.
const INSTALLATION = "installation";
const TENANT = "tenant";
const TENANT_NUMBER = "tenant-number";
const MOVE = "move";
const DELETION = "deletion";
const SCHEDULE = "backup-schedule";
const OIDC_PROVIDER = "oidc-provider";
/** By issuer and audience, each hashed. */
const OIDC_ISSUER = "oidc-issuer";
const USER = "user";
const USERNAME = "username";
const TENANT_USER = "tenant-user";
const API_KEY = "api-key";
const KEY_HASH = "key-hash";
const TENANT_KEY = "tenant-key";
const USER_KEY = "user-key";

/** Entries that a list reads at a time. */
const SCAN_ENTRIES = 500;

export interface Selected<T> {
  readonly records: T[];
  readonly total: number;
}

/** The form of a username that is unique in the installation. */
export function usernameKey(username: string): string {
  return username.normalize("NFKC").toLowerCase();
}

export function getInstallation(tx: Transaction): InstallationRecord | undefined {
  return getRecord(tx, INSTALLATION, "");
}

export function putInstallation(tx: Transaction, record: InstallationRecord): void {
  putRecord(tx, INSTALLATION, "", record);
}

export function getTenant(tx: Transaction, id: string): TenantRecord | undefined {
  return getRecord(tx, TENANT, id);
}

export function getTenantByNumber(tx: Transaction, number: number): TenantRecord | undefined {
  const id = getReference(tx, TENANT_NUMBER, String(number));
  return id === undefined ? undefined : getTenant(tx, id);
}

export function putTenant(tx: Transaction, tenant: TenantRecord): void {
  putRecord(tx, TENANT, tenant.id, tenant);
  putReference(tx, TENANT_NUMBER, String(tenant.number), tenant.id);
}

export function removeTenant(tx: Transaction, { id, number }: TenantRecord): void {
  tx.delete(directoryKey(TENANT, id));
  tx.delete(directoryKey(TENANT_NUMBER, String(number)));
}

/** In order of id. */
export function listTenants(tx: Transaction, page: Page): Selected<TenantRecord> {
  const { values, total } = selectPage(tx, prefixRange(directoryPrefix(TENANT)), page);
  return { records: values.map((value) => decodeRecord<TenantRecord>(value)), total };
}

export function putMove(tx: Transaction, move: MoveRecord): void {
  putRecord(tx, MOVE, String(move.tenant), move);
}

export function removeMove(tx: Transaction, tenant: number): void {
  tx.delete(directoryKey(MOVE, String(tenant)));
}

export function listMoves(tx: Transaction): MoveRecord[] {
  return listAll<MoveRecord>(tx, MOVE);
}

export function putDeletion(tx: Transaction, deletion: DeletionRecord): void {
  putRecord(tx, DELETION, String(deletion.tenant), deletion);
}

export function removeDeletion(tx: Transaction, tenant: number): void {
  tx.delete(directoryKey(DELETION, String(tenant)));
}

export function listDeletions(tx: Transaction): DeletionRecord[] {
  return listAll<DeletionRecord>(tx, DELETION);
}

/** In no particular order. */
export function allTenantRecords(tx: Transaction): TenantRecord[] {
  return listAll<TenantRecord>(tx, TENANT);
}

/** In no particular order. */
export function listAllUsers(tx: Transaction): UserRecord[] {
  return listAll<UserRecord>(tx, USER);
}

/** In no particular order. */
export function listAllApiKeys(tx: Transaction): ApiKeyRecord[] {
  return listAll<ApiKeyRecord>(tx, API_KEY);
}

export function getSchedule(tx: Transaction, id: string): ScheduleRecord | undefined {
  return getRecord(tx, SCHEDULE, id);
}

export function putSchedule(tx: Transaction, schedule: ScheduleRecord): void {
  putRecord(tx, SCHEDULE, schedule.id, schedule);
}

export function removeSchedule(tx: Transaction, id: string): void {
  tx.delete(directoryKey(SCHEDULE, id));
}

/** In no particular order. */
export function listSchedules(tx: Transaction): ScheduleRecord[] {
  return listAll<ScheduleRecord>(tx, SCHEDULE);
}

/** `key`: "tenant/name". */
export function getOidcProvider(tx: Transaction, key: string): OidcProviderRecord | undefined {
  return getRecord(tx, OIDC_PROVIDER, key);
}

/** One that is there already has to be removed first: its issuer and audiences may have been others. */
export function addOidcProvider(tx: Transaction, record: OidcProviderRecord): void {
  const { issuer, audience, name } = record.spec;
  const key = `${record.tenantId}/${name}`;
  putRecord(tx, OIDC_PROVIDER, key, record);
  for (const each of audience) putReference(tx, OIDC_ISSUER, issuerKey(issuer, each), key);
}

export function removeOidcProvider(tx: Transaction, { tenantId, spec }: OidcProviderRecord): void {
  tx.delete(directoryKey(OIDC_PROVIDER, `${tenantId}/${spec.name}`));
  for (const each of spec.audience) tx.delete(directoryKey(OIDC_ISSUER, issuerKey(spec.issuer, each)));
}

/** The key of the one that accepts such tokens. */
export function oidcProviderFor(tx: Transaction, issuer: string, audience: string): string | undefined {
  return getReference(tx, OIDC_ISSUER, issuerKey(issuer, audience));
}

/** The same for many audiences, each key once. */
export function oidcProvidersFor(tx: Transaction, issuer: string, audiences: readonly string[]): string[] {
  const prefix = hashed(issuer);
  const keys = audiences.flatMap((each) => getReference(tx, OIDC_ISSUER, `${prefix}/${hashed(each)}`) ?? []);
  return [...new Set(keys)];
}

/** Whether a tenant's provider has that issuer, for any audience. */
export function isOidcIssuer(tx: Transaction, issuer: string): boolean {
  const cursor = tx.scan(prefixRange(directoryKey(OIDC_ISSUER, `${hashed(issuer)}/`)));
  try {
    return cursor.next(1).values.length > 0;
  } finally {
    cursor.close();
  }
}

/** In order of name. */
export function listOidcProviders(tx: Transaction, tenantId: string): OidcProviderRecord[] {
  const range = prefixRange(directoryKey(OIDC_PROVIDER, `${tenantId}/`));
  const { values } = selectPage(tx, range, { limit: Number.POSITIVE_INFINITY });
  return values.map((value) => decodeRecord<OidcProviderRecord>(value));
}

/** Of all tenants. */
export function listAllOidcProviders(tx: Transaction): OidcProviderRecord[] {
  return listAll<OidcProviderRecord>(tx, OIDC_PROVIDER);
}

const hashed = (text: string): string => createHash("sha256").update(text).digest("hex");
const issuerKey = (issuer: string, audience: string): string => `${hashed(issuer)}/${hashed(audience)}`;

function listAll<T>(tx: Transaction, kind: string): T[] {
  const { values } = selectPage(tx, prefixRange(directoryPrefix(kind)), { limit: Number.POSITIVE_INFINITY });
  return values.map((value) => decodeRecord<T>(value));
}

export function getUser(tx: Transaction, id: string): UserRecord | undefined {
  return getRecord(tx, USER, id);
}

export function getUserByName(tx: Transaction, username: string): UserRecord | undefined {
  const id = getReference(tx, USERNAME, usernameKey(username));
  return id === undefined ? undefined : getUser(tx, id);
}

/** A user's name and tenant never change, so the indexes stay as they were made. */
export function putUser(tx: Transaction, user: UserRecord): void {
  putRecord(tx, USER, user.id, user);
}

export function addUser(tx: Transaction, user: UserRecord): void {
  const name = usernameKey(user.username);
  putUser(tx, user);
  putReference(tx, USERNAME, name, user.id);
  putReference(tx, TENANT_USER, `${user.tenantId}/${name}`, user.id);
}

/** Removes the user with its keys. */
export function removeUser(tx: Transaction, user: UserRecord): void {
  for (const key of listUserKeys(tx, user.id, { limit: Number.POSITIVE_INFINITY }).records) removeApiKey(tx, key);
  const name = usernameKey(user.username);
  tx.delete(directoryKey(USER, user.id));
  tx.delete(directoryKey(USERNAME, name));
  tx.delete(directoryKey(TENANT_USER, `${user.tenantId}/${name}`));
}

/** In order of username. */
export function listUsers(tx: Transaction, tenantId: string, page: Page): Selected<UserRecord> {
  return selectReferred(tx, TENANT_USER, tenantId, page, USER, false);
}

/** Up to `max` of the tenant's. */
export function someUsers(tx: Transaction, tenantId: string, max: number): UserRecord[] {
  const cursor = tx.scan(prefixRange(directoryKey(TENANT_USER, `${tenantId}/`)));
  const ids = cursor.next(max).values.map((value) => Buffer.from(value).toString());
  cursor.close();
  return ids.map((id) => getUser(tx, id)!);
}

export function getApiKey(tx: Transaction, id: string): ApiKeyRecord | undefined {
  return getRecord(tx, API_KEY, id);
}

export function getApiKeyByHash(tx: Transaction, hash: string): ApiKeyRecord | undefined {
  const id = getReference(tx, KEY_HASH, hash);
  return id === undefined ? undefined : getApiKey(tx, id);
}

/** A key's hash, owner and creation never change, so the indexes stay as they were made. */
export function putApiKey(tx: Transaction, key: ApiKeyRecord): void {
  putRecord(tx, API_KEY, key.id, key);
}

export function addApiKey(tx: Transaction, key: ApiKeyRecord): void {
  putApiKey(tx, key);
  putReference(tx, KEY_HASH, key.hash, key.id);
  putReference(tx, TENANT_KEY, `${key.tenantId}/${creationOrder(key)}`, key.id);
  putReference(tx, USER_KEY, `${key.userId}/${creationOrder(key)}`, key.id);
}

export function removeApiKey(tx: Transaction, key: ApiKeyRecord): void {
  tx.delete(directoryKey(API_KEY, key.id));
  tx.delete(directoryKey(KEY_HASH, key.hash));
  tx.delete(directoryKey(TENANT_KEY, `${key.tenantId}/${creationOrder(key)}`));
  tx.delete(directoryKey(USER_KEY, `${key.userId}/${creationOrder(key)}`));
}

/** Newest first. */
export function listTenantKeys(tx: Transaction, tenantId: string, page: Page): Selected<ApiKeyRecord> {
  return selectReferred(tx, TENANT_KEY, tenantId, page, API_KEY, true);
}

/** Newest first. */
export function listUserKeys(tx: Transaction, userId: string, page: Page): Selected<ApiKeyRecord> {
  return selectReferred(tx, USER_KEY, userId, page, API_KEY, true);
}

/** `page` with its defaults and bounds applied; an endless limit is for callers inside the directory. */
export function boundedPage(page: Page): Page {
  const limit = Math.min(Math.max(page.limit ?? LIST_PAGE_DEFAULT, 1), LIST_PAGE_MAX);
  return { limit, offset: Math.max(page.offset ?? 0, 0) };
}

function creationOrder(key: ApiKeyRecord): string {
  return `${String(key.createdAt).padStart(15, "0")}-${key.id}`;
}

function getRecord<T>(tx: Transaction, kind: string, id: string): T | undefined {
  const bytes = tx.get(directoryKey(kind, id));
  return bytes === undefined ? undefined : decodeRecord<T>(bytes);
}

function putRecord(tx: Transaction, kind: string, id: string, record: object): void {
  tx.put(directoryKey(kind, id), encodeRecord(record));
}

function getReference(tx: Transaction, kind: string, key: string): string | undefined {
  const bytes = tx.get(directoryKey(kind, key));
  return bytes === undefined ? undefined : Buffer.from(bytes).toString();
}

function putReference(tx: Transaction, kind: string, key: string, id: string): void {
  tx.put(directoryKey(kind, key), Buffer.from(id));
}

/** One page of the records that the index entries under `owner` lead to. */
function selectReferred<T>(
  tx: Transaction,
  index: string,
  owner: string,
  page: Page,
  kind: string,
  reverse: boolean,
): Selected<T> {
  const range = prefixRange(directoryKey(index, `${owner}/`), reverse);
  const { values, total } = selectPage(tx, range, page);
  const keys = values.map((id) => directoryKey(kind, Buffer.from(id).toString()));
  const records = tx.getMany(keys).map((bytes) => {
    if (bytes === undefined) throw new Error(`the directory's index ${index} leads to a record that is not there`);
    return decodeRecord<T>(bytes);
  });
  return { records, total };
}

function selectPage(
  tx: Transaction,
  range: Parameters<Transaction["scan"]>[0],
  page: Page,
): { values: Uint8Array[]; total: number } {
  const first = page.offset ?? 0;
  const end = first + (page.limit ?? LIST_PAGE_DEFAULT);
  const values: Uint8Array[] = [];
  let total = 0;
  const cursor = tx.scan(range);
  try {
    for (;;) {
      const entries = cursor.next(SCAN_ENTRIES);
      if (entries.values.length === 0) return { values, total };
      for (const value of entries.values) {
        // A cursor's entries are valid until its next call only.
        if (total >= first && total < end) values.push(value.slice());
        total++;
      }
    }
  } finally {
    cursor.close();
  }
}
