/** API keys: made, listed, deleted, counted. Called by the `Directory`; state is in the records. */

import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { ApiKeyCreated, ApiKeyView, CreateApiKeyRequest, KeyUsage, Listed, Page } from "../protocol/accounts.js";
import { DbError } from "../protocol/errors.js";
import { administers, type Identity, PERMISSIONS } from "../protocol/identity.js";
import { API_KEY_DAYS_MAX, API_KEY_NAME_CHARACTERS_MAX, API_KEYS_PER_USER_MAX } from "../protocol/limits.js";
import { checkedLead } from "./check-lead.js";
import { type DirectoryContext, read, write } from "./directory-context.js";
import {
  addApiKey,
  boundedPage,
  getApiKey,
  getUser,
  listTenantKeys,
  listUserKeys,
  putApiKey,
  removeApiKey,
} from "./directory-store.js";
import type { ApiKeyRecord } from "./records.js";
import { apiKeyView, requirePassword } from "./views.js";

const DAY_MS = 24 * 3600 * 1000;

/** The caller: administrators of a tenant see and delete all its keys, others their own. */
export type KeyOwner = Pick<Identity, "userId" | "tenantId" | "roles">;

/**
 * The form in which keys are kept and looked up: SHA-256 of the whole key, hex. A key has 256 random bits of its own.
 */
export function apiKeyHash(rawKey: string): string {
  return createHash("sha256").update(rawKey).digest("hex");
}

/** Throws `invalid_request`, or `conflict` when the user has too many keys. */
export function createApiKey(context: DirectoryContext, userId: string, request: CreateApiKeyRequest): ApiKeyCreated {
  const { name, expiresInDays } = request;
  checkKeyRequest(request);
  const lead = request.lead === undefined ? undefined : checkedLead(request.lead, request.permission);
  const isReader = lead?.statements?.includes("write") === false;
  const rawKey = `ak_${randomBytes(32).toString("base64url")}`;
  return write(context, (tx) => {
    const user = getUser(tx, userId);
    if (user === undefined) throw new DbError("not_found", "The user does not exist.");
    requirePassword(user);
    if (listUserKeys(tx, userId, { limit: 1 }).total >= API_KEYS_PER_USER_MAX) {
      throw new DbError("conflict", `A user can have at most ${API_KEYS_PER_USER_MAX} API keys; delete one first.`);
    }
    const createdAt = context.now();
    const key: ApiKeyRecord = {
      id: randomUUID(),
      tenantId: user.tenantId,
      userId,
      name,
      hash: apiKeyHash(rawKey),
      preview: `${rawKey.slice(0, 7)}…${rawKey.slice(-4)}`,
      permission: isReader ? "ReadOnly" : request.permission,
      ...(lead !== undefined && { lead }),
      isActive: true,
      expiresAt: expiresInDays === undefined ? null : createdAt + expiresInDays * DAY_MS,
      createdAt,
      lastUsed: null,
      usageCount: 0,
    };
    addApiKey(tx, key);
    return { api_key: apiKeyView(key), raw_key: rawKey };
  });
}

/** Newest first. */
export function listApiKeys(context: DirectoryContext, caller: KeyOwner, page: Page): Listed<ApiKeyView> {
  return read(context, (tx) => {
    const bounded = boundedPage(page);
    const { records, total } = administers(caller)
      ? listTenantKeys(tx, caller.tenantId, bounded)
      : listUserKeys(tx, caller.userId, bounded);
    return { items: records.map(apiKeyView), total };
  });
}

/** Throws `not_found`, also for a key that the caller may not see. */
export function deleteApiKey(context: DirectoryContext, caller: KeyOwner, keyId: string): void {
  write(context, (tx, announce) => {
    const key = getApiKey(tx, keyId);
    const allowed =
      key !== undefined && (key.userId === caller.userId || (administers(caller) && key.tenantId === caller.tenantId));
    if (!allowed) throw new DbError("not_found", `API key "${keyId}" does not exist.`);
    removeApiKey(tx, key);
    announce({ kind: "key", keyId: key.id, keyHash: key.hash, ended: true });
  });
}

/** Adds the gateway's counts since its last report; deleted keys are skipped. */
export function recordKeyUsage(context: DirectoryContext, usage: readonly KeyUsage[]): void {
  write(context, (tx) => {
    for (const { keyId, count, lastUsedMs } of usage) {
      const key = getApiKey(tx, keyId);
      if (key === undefined) continue;
      const lastUsed = Math.max(key.lastUsed ?? 0, lastUsedMs);
      putApiKey(tx, { ...key, usageCount: key.usageCount + count, lastUsed });
    }
  });
}

function checkKeyRequest({ name, permission, expiresInDays }: CreateApiKeyRequest): void {
  if (name.trim() === "" || name.length > API_KEY_NAME_CHARACTERS_MAX) {
    throw new DbError("invalid_request", `The key's name must have 1 to ${API_KEY_NAME_CHARACTERS_MAX} characters.`);
  }
  if (!PERMISSIONS.includes(permission)) {
    throw new DbError("invalid_request", `The key's permission is one of ${PERMISSIONS.join(", ")}.`);
  }
  const days = expiresInDays ?? 1;
  if (!Number.isInteger(days) || days < 1 || days > API_KEY_DAYS_MAX) {
    throw new DbError("invalid_request", `expires_in_days must be a whole number from 1 to ${API_KEY_DAYS_MAX}.`);
  }
}
