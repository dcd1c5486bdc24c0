/** Administration: tenants, users, API keys, backups. What a caller may do, its roles decide. */
import { pause } from "./backoff.js";
import { errorOf } from "./errors.js";
import type { CallOptions, WriteOptions } from "./options.js";
import { type AnswerOf, callRoute, type SentTo } from "./routes.js";
import { pathPart, type Transport } from "./transport.js";

/** A tenant. */
export type Tenant = AnswerOf<"GET /admin/tenants/{tenant}">;
/** A tenant to be made. */
export type NewTenant = SentTo<"POST /admin/tenants">["body"];
/** What of a tenant can change. */
export type TenantChange = SentTo<"PATCH /admin/tenants/{tenant}">["body"];
/** A user. */
export type User = AnswerOf<"GET /v1/users/me">;
/** A user to be made. */
export type NewUser = SentTo<"POST /admin/tenants/{tenant}/users">["body"];
/** An API key, without the key itself. */
export type ApiKey = AnswerOf<"GET /v1/api-keys">["keys"][number];
/** An API key to be made. */
export type NewApiKey = SentTo<"POST /v1/api-keys">["body"];
/** A backup of a tenant. */
export type Backup = AnswerOf<"GET /v1/backups/{id}">;
/** How a backup is made. */
export type BackupOptions = SentTo<"POST /v1/backups">["body"];
/** A restore and how far it is. */
export type Restore = AnswerOf<"GET /admin/tenants/{tenant}/restore">;
/** What is restored: the newest backup unless said, up to a moment. */
export type RestoreOptions = SentTo<"POST /admin/tenants/{tenant}/restore">["body"];

/** Of what takes a while: how often it is looked at, and who hears of it. */
export interface WaitOptions<T> extends CallOptions {
  /** Milliseconds between two looks; 250 unless said. */
  readonly everyMs?: number;
  /** Hears how far it is. */
  readonly onProgress?: (state: T) => void;
}

const EVERY_MS = 250;
const PAGE = 1_000;

/** `db.admin`. */
export class Admin {
  /** Tenants; for administrators of the installation. */
  readonly tenants: Tenants;
  /** Users of a tenant. */
  readonly users: Users;
  /** API keys of the caller's tenant. */
  readonly keys: ApiKeys;
  /** Backups of the caller's tenant, and restoring them. */
  readonly backups: Backups;

  /** @internal */
  constructor(transport: Transport) {
    this.tenants = new Tenants(transport);
    this.users = new Users(transport);
    this.keys = new ApiKeys(transport);
    this.backups = new Backups(transport);
  }
}

/** `db.admin.tenants`. */
export class Tenants {
  /** @internal */
  constructor(private readonly transport: Transport) {}

  /** All tenants. */
  async list({ signal }: CallOptions = {}): Promise<readonly Tenant[]> {
    return allPages(async (query) => {
      const { tenants: items, total } = await callRoute(this.transport, "GET /admin/tenants", { query, signal });
      return { items, total };
    });
  }

  /** Makes a tenant. */
  create(tenant: NewTenant, options: WriteOptions = {}): Promise<Tenant> {
    return callRoute(this.transport, "POST /admin/tenants", { body: tenant, ...options });
  }

  /** Throws NotFoundError. */
  get(tenant: string, { signal }: CallOptions = {}): Promise<Tenant> {
    return callRoute(this.transport, "GET /admin/tenants/{tenant}", { params: { tenant }, signal });
  }

  /** Renames, disables or enables a tenant, or sets its rate limit. */
  change(tenant: string, body: TenantChange, { signal }: CallOptions = {}): Promise<Tenant> {
    return callRoute(this.transport, "PATCH /admin/tenants/{tenant}", { params: { tenant }, body, signal });
  }
}

/** `db.admin.users`. Each call names the tenant. */
export class Users {
  /** @internal */
  constructor(private readonly transport: Transport) {}

  /** Who asks. */
  me({ signal }: CallOptions = {}): Promise<User> {
    return callRoute(this.transport, "GET /v1/users/me", { signal });
  }

  /** All users of a tenant. */
  async list(tenant: string, { signal }: CallOptions = {}): Promise<readonly User[]> {
    return allPages(async (query) => {
      const sent = { params: { tenant }, query, signal };
      const { users: items, total } = await callRoute(this.transport, "GET /admin/tenants/{tenant}/users", sent);
      return { items, total };
    });
  }

  /** Makes a user. */
  create(tenant: string, user: NewUser, options: WriteOptions = {}): Promise<User> {
    const sent = { params: { tenant }, body: user, ...options };
    return callRoute(this.transport, "POST /admin/tenants/{tenant}/users", sent);
  }

  /** Disables or enables a user, by id or name. Tokens and keys of a disabled one stop working at once. */
  setActive(tenant: string, user: string, isActive: boolean, { signal }: CallOptions = {}): Promise<User> {
    const sent = { params: { tenant, user }, body: { is_active: isActive }, signal };
    return callRoute(this.transport, "PATCH /admin/tenants/{tenant}/users/{user}", sent);
  }

  /** Sets a new password and ends the user's sessions. Gives the password where none was given. */
  async resetPassword(
    tenant: string,
    user: string,
    password?: string,
    options: WriteOptions = {},
  ): Promise<string | undefined> {
    const sent = { params: { tenant, user }, body: password === undefined ? {} : { password }, ...options };
    return (await callRoute(this.transport, "POST /admin/tenants/{tenant}/users/{user}/reset-password", sent)).password;
  }

  /** Removes a user with its API keys. */
  async delete(tenant: string, user: string, { signal }: CallOptions = {}): Promise<void> {
    await callRoute(this.transport, "DELETE /admin/tenants/{tenant}/users/{user}", {
      params: { tenant, user },
      signal,
    });
  }
}

/** `db.admin.keys`. */
export class ApiKeys {
  /** @internal */
  constructor(private readonly transport: Transport) {}

  /** All keys, the newest first. */
  async list({ signal }: CallOptions = {}): Promise<readonly ApiKey[]> {
    return allPages(async (query) => {
      const { keys: items, total } = await callRoute(this.transport, "GET /v1/api-keys", { query, signal });
      return { items, total };
    });
  }

  /** Makes a key. `key` is told this once. */
  async create(key: NewApiKey, options: WriteOptions = {}): Promise<ApiKey & { readonly key: string }> {
    const made = await callRoute(this.transport, "POST /v1/api-keys", { body: key, ...options });
    return { ...made.api_key, key: made.raw_key };
  }

  /** Removes a key: it stops working at once. */
  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await callRoute(this.transport, "DELETE /v1/api-keys/{id}", { params: { id }, signal });
  }
}

/** `db.admin.backups`. */
export class Backups {
  /** @internal */
  constructor(private readonly transport: Transport) {}

  /** Makes a backup, and gives it when it is complete. Throws what it failed with. */
  async create(options: BackupOptions = {}, wait: WaitOptions<Backup> & WriteOptions = {}): Promise<Backup> {
    const { signal, idempotencyKey } = wait;
    const begun = await callRoute(this.transport, "POST /v1/backups", { body: options, signal, idempotencyKey });
    return ended(
      begun,
      () => this.get(begun.id, { signal }),
      ({ status }) => status,
      wait,
    );
  }

  /** All backups, the newest first. */
  async list({ signal }: CallOptions = {}): Promise<readonly Backup[]> {
    return allPages(async (query) => {
      const { backups: items, total } = await callRoute(this.transport, "GET /v1/backups", { query, signal });
      return { items, total };
    });
  }

  /** Throws NotFoundError. */
  get(id: string, { signal }: CallOptions = {}): Promise<Backup> {
    return callRoute(this.transport, "GET /v1/backups/{id}", { params: { id }, signal });
  }

  /** Reads all of a backup and those that it continues. Throws when something is damaged. */
  async verify(id: string, passphrase?: string, options: WriteOptions = {}): Promise<void> {
    const sent = { params: { id }, body: passphrase === undefined ? {} : { passphrase }, ...options };
    await callRoute(this.transport, "POST /v1/backups/{id}/verify", sent);
  }

  /** Removes a backup that no other one continues; one that is being made is cancelled. */
  async delete(id: string, { signal }: CallOptions = {}): Promise<void> {
    await callRoute(this.transport, "DELETE /v1/backups/{id}", { params: { id }, signal });
  }

  /** A backup, with those that it continues, as a file for another installation. Its body comes as it is read. */
  download(id: string, { signal }: CallOptions = {}): Promise<Response> {
    return this.transport.open("GET", `/v1/backups/${pathPart(id)}/download`, { signal, accept: "*/*" });
  }

  /** Puts a backup in the place of a tenant's content; waits for its end. Throws what it failed with. */
  async restore(tenant: string, options: RestoreOptions = {}, wait: WaitOptions<Restore> = {}): Promise<Restore> {
    const params = { tenant };
    const { signal } = wait;
    const sent = { params, body: options, signal };
    const begun = await callRoute(this.transport, "POST /admin/tenants/{tenant}/restore", sent);
    const look = () => callRoute(this.transport, "GET /admin/tenants/{tenant}/restore", { params, signal });
    return ended(begun, look, ({ state }) => state, wait);
  }
}

interface Failing {
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** Looks again and again until the state says that it has ended. */
async function ended<T extends Failing>(
  begun: T,
  look: () => Promise<T>,
  stateOf: (state: T) => string,
  { everyMs = EVERY_MS, onProgress, signal }: WaitOptions<T>,
): Promise<T> {
  let state = begun;
  for (;;) {
    onProgress?.(state);
    const { error } = state;
    if (stateOf(state) === "completed") return state;
    if (stateOf(state) === "failed" || error !== null) {
      throw errorOf(error?.message ?? "It failed.", { code: error?.code ?? "internal_error", status: 409 });
    }
    await pause(everyMs, signal);
    state = await look();
  }
}

/** All items of a list that comes by pages. */
async function allPages<T>(
  page: (query: { readonly limit: number; readonly offset: number }) => Promise<{
    readonly items: readonly T[];
    readonly total: number;
  }>,
): Promise<readonly T[]> {
  const all: T[] = [];
  for (;;) {
    const { items, total } = await page({ limit: PAGE, offset: all.length });
    all.push(...items);
    if (items.length === 0 || all.length >= total) return all;
  }
}
