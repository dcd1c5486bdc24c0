/** Tenants and their users, for super administrators. Answered by the directory. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { LIST_PAGE_MAX } from "../limits.js";
import { MUST_BE } from "../schema-fault.js";
import { Password, User } from "./auth.js";
import { Nullable, PageQuery, Strict, Timestamp } from "./schemas.js";

const RateLimit = Strict({
  per_second: Type.Number({ minimum: 0, description: "Requests per second. 0 means no limit." }),
  burst: Type.Number({ minimum: 1 }),
});

const Tenant = Type.Object({
  id: Type.String(),
  name: Type.String(),
  is_active: Type.Boolean(),
  partition: Type.Integer(),
  rate_limit: Nullable(RateLimit),
  created_at: Timestamp,
});

const Move = Type.Object({
  tenant: Type.String(),
  from: Type.Integer(),
  to: Type.Integer(),
  state: Type.Enum(["preparing", "copying", "draining", "switching", "cleaning", "done", "failed", "cancelled"]),
  copied_entries: Type.Integer(),
  copied_bytes: Type.Integer(),
  started_at: Timestamp,
  finished_at: Nullable(Timestamp),
  held_ms: Nullable(Type.Integer({ description: "How long the tenant's requests waited for the switch." })),
  error: Nullable(Type.String()),
});

const Deletion = Type.Object({
  tenant: Type.String(),
  state: Type.Enum(["removing", "done"]),
  started_at: Timestamp,
  finished_at: Nullable(Timestamp),
});

const Placement = Type.Object({
  actors: Type.Array(
    Type.Object({
      actor: Type.Integer(),
      up: Type.Boolean(),
      load: Nullable(Type.Number({ description: "Share of its thread that requests used lately, 0 to 1." })),
      heap_bytes: Nullable(Type.Integer()),
      requests_running: Nullable(Type.Integer()),
    }),
  ),
  partitions: Type.Array(
    Type.Object({
      partition: Type.Integer(),
      actor: Type.Integer(),
      tenants: Type.Integer(),
      tenants_in_memory: Nullable(Type.Integer()),
      stored_bytes: Nullable(Type.Integer()),
      log_bytes: Nullable(Type.Integer({ description: "Bytes appended to the commit log since it was opened." })),
      load: Nullable(Type.Number()),
      requests_held: Nullable(Type.Integer({ description: "Requests that wait while their tenant is moved." })),
    }),
  ),
});

export const tenantParam = Type.Object({ tenant: Type.String() });
const userParam = Type.Object({ tenant: Type.String(), user: Type.String({ description: "A user's id or name." }) });

const AuditEntry = Type.Object({
  number: Type.Integer(),
  at: Timestamp,
  action: Type.String({ description: "The name of the operation, or auth.refused, auth.blocked or auth.many." }),
  outcome: Type.Enum(["ok", "refused", "failed"]),
  status: Type.Integer(),
  code: Nullable(Type.String()),
  tenant: Nullable(Type.String()),
  username: Nullable(Type.String()),
  key_id: Nullable(Type.String()),
  address: Nullable(Type.String()),
  target: Type.Array(Type.String()),
  request_id: Type.String(),
  count: Type.Integer({ description: "Equal refusals within one second are one entry." }),
});

const auditLimit = Type.Optional(
  Type.String({ pattern: "^([1-9][0-9]{0,2}|1000)$", [MUST_BE]: "a whole number from 1 to 1000" }),
);

const DataAuditEntry = Type.Object({
  ...AuditEntry.properties,
  action: Type.Enum(["data.read", "data.write", "data.audit"]),
  target: Type.Array(Type.String(), { description: "The tables." }),
  door: Type.String({ description: "The operation through which the rows were used." }),
  statement: Nullable(Type.String({ description: "A hash of the statement without its constants." })),
  parameters: Nullable(Type.String({ description: "A keyed hash of its constants and parameters." })),
});

const DataAuditQuery = Strict({
  limit: auditLimit,
  before: Type.Optional(
    Type.String({
      pattern: "^[1-9][0-9]{0,15}$",
      [MUST_BE]: "the next_before of the previous page",
      description: "The next_before of the previous page.",
    }),
  ),
  username: Type.Optional(Type.String({ maxLength: 256 })),
  action: Type.Optional(Type.Enum(["data.read", "data.write", "data.audit"])),
  table: Type.Optional(Type.String({ maxLength: 256, description: "With its schema, unless that is public." })),
  since: Type.Optional(Type.String({ maxLength: 40 })),
  until: Type.Optional(Type.String({ maxLength: 40 })),
});

const AuditQuery = Strict({
  limit: auditLimit,
  before: Type.Optional(
    Type.String({
      pattern: "^[1-9][0-9]{0,14}$",
      [MUST_BE]: "the next_before of the previous page",
      description: "The next_before of the previous page.",
    }),
  ),
  tenant: Type.Optional(Type.String({ maxLength: 256 })),
  username: Type.Optional(Type.String({ maxLength: 256 })),
  action: Type.Optional(Type.String({ maxLength: 100, description: "An action, or a prefix such as admin.users." })),
  outcome: Type.Optional(Type.Enum(["ok", "refused", "failed"])),
  since: Type.Optional(Type.String({ maxLength: 40 })),
  until: Type.Optional(Type.String({ maxLength: 40 })),
});

export const adminEndpoints = [
  {
    name: "admin.tenants.list",
    door: "none",
    method: "GET",
    path: "/admin/tenants",
    summary: "All tenants.",
    tag: "admin",
    access: "system",
    home: "directory",
    pages: { items: "tenants", total: "total", most: LIST_PAGE_MAX },
    query: Strict(PageQuery),
    response: Type.Object({ tenants: Type.Array(Tenant), total: Type.Integer() }),
  },
  {
    name: "admin.tenants.create",
    door: "none",
    method: "POST",
    path: "/admin/tenants",
    summary: "Create a tenant. It goes to the least loaded partition.",
    tag: "admin",
    access: "system",
    home: "directory",
    body: Strict({
      id: Type.String({ pattern: "^[a-z0-9][a-z0-9_-]{0,62}$" }),
      name: Type.Optional(Type.String({ maxLength: 256 })),
      rate_limit: Type.Optional(RateLimit),
    }),
    example: { body: { id: "acme", name: "Acme Corporation" } },
    response: Tenant,
    status: 201,
  },
  {
    name: "admin.tenants.get",
    door: "none",
    method: "GET",
    path: "/admin/tenants/{tenant}",
    summary: "One tenant.",
    tag: "admin",
    access: "admin",
    home: "directory",
    params: tenantParam,
    response: Tenant,
  },
  {
    name: "admin.tenants.update",
    door: "none",
    method: "PATCH",
    path: "/admin/tenants/{tenant}",
    summary:
      "Rename, disable or enable a tenant, or set its rate limit. A disabled tenant's credentials stop working at once.",
    tag: "admin",
    access: "system",
    home: "directory",
    params: tenantParam,
    body: Strict({
      name: Type.Optional(Type.String({ maxLength: 256 })),
      is_active: Type.Optional(Type.Boolean()),
      rate_limit: Type.Optional(Nullable(RateLimit)),
    }),
    example: {
      params: { tenant: "acme" },
      body: { name: "Acme", rate_limit: { per_second: 100, burst: 200 } },
    },
    response: Tenant,
  },
  {
    name: "admin.tenants.delete",
    door: "none",
    method: "DELETE",
    path: "/admin/tenants/{tenant}",
    summary:
      "Delete a tenant with all that it has. Its users, API keys and sessions end at once, and its data are removed in the background. Nothing brings them back but a backup.",
    tag: "admin",
    access: "system",
    home: "directory",
    params: tenantParam,
    query: Strict({ confirm: Type.String({ description: "The tenant's id once more." }) }),
    response: Deletion,
    status: 202,
  },
  {
    name: "admin.tenants.deletion",
    door: "none",
    method: "GET",
    path: "/admin/tenants/{tenant}/deletion",
    summary: "The newest deletion of a tenant of that id: whether all its data are removed.",
    tag: "admin",
    access: "system",
    home: "directory",
    params: tenantParam,
    response: Deletion,
  },
  {
    name: "admin.tenants.move",
    door: "none",
    method: "POST",
    path: "/admin/tenants/{tenant}/move",
    summary:
      "Move a tenant to another partition, or to a partition of an actor, while it stays available. Its requests wait some milliseconds at the end. Transactions that stay open longer than the given time are stopped and can be retried.",
    tag: "admin",
    access: "system",
    home: "directory",
    keeps: "memory",
    params: tenantParam,
    body: Strict({
      partition: Type.Optional(Type.Integer({ minimum: 0 })),
      actor: Type.Optional(Type.Integer({ minimum: 0 })),
      transaction_seconds: Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: 600,
          description: "How long to wait for open transactions. Default: 5.",
        }),
      ),
    }),
    example: { params: { tenant: "acme" }, body: { partition: 0 } },
    response: Move,
    status: 202,
  },
  {
    name: "admin.tenants.move.get",
    door: "none",
    method: "GET",
    path: "/admin/tenants/{tenant}/move",
    summary: "The progress or outcome of the tenant's newest move.",
    tag: "admin",
    access: "system",
    home: "directory",
    params: tenantParam,
    response: Move,
  },
  {
    name: "admin.tenants.move.cancel",
    door: "none",
    method: "DELETE",
    path: "/admin/tenants/{tenant}/move",
    summary: "Cancel a move before the tenant is handed over. The tenant stays where it is.",
    tag: "admin",
    access: "system",
    home: "directory",
    params: tenantParam,
    response: Move,
  },
  {
    name: "admin.placement",
    door: "none",
    method: "GET",
    path: "/admin/placement",
    summary: "Actors and partitions with their tenants, bytes and load.",
    tag: "admin",
    access: "system",
    home: "directory",
    response: Placement,
  },
  {
    name: "admin.audit.list",
    door: "none",
    method: "GET",
    path: "/admin/audit",
    summary:
      "Who did what, newest first: administration, sign-ins, API keys, refused credentials. Callers outside the system tenant see only their own tenant.",
    tag: "admin",
    access: "admin",
    home: "directory",
    pages: { items: "entries", after: { parameter: "before", member: "next_before" } },
    query: AuditQuery,
    response: Type.Object({ entries: Type.Array(AuditEntry), next_before: Nullable(Type.Integer()) }),
  },
  {
    name: "admin.audit.data",
    door: "none",
    method: "GET",
    path: "/admin/audit/data",
    summary:
      "Who read or changed rows of audited tables (ALTER TABLE … SET (audit = 'read, write')) of the caller's tenant, newest first.",
    tag: "admin",
    access: "admin",
    home: "tenant",
    pages: { items: "entries", after: { parameter: "before", member: "next_before" } },
    query: DataAuditQuery,
    response: Type.Object({ entries: Type.Array(DataAuditEntry), next_before: Nullable(Type.Integer()) }),
  },
  {
    name: "admin.log-level.set",
    door: "none",
    method: "PUT",
    path: "/admin/log-level",
    summary: "Set the log level of all threads until the server restarts.",
    tag: "admin",
    access: "system",
    home: "directory",
    keeps: "memory",
    body: Strict({ level: Type.Enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"]) }),
    example: { body: { level: "info" } },
    response: Type.Object({ level: Type.String() }),
  },
  {
    name: "admin.diagnostics",
    door: "none",
    method: "GET",
    path: "/v1/admin/diagnostics",
    summary:
      "Diagnostics for support, as gzipped JSON: versions, configuration without secrets, metrics, states of partitions, slow statements, the last lines of the log, heaps, resource limits, and with `profile_seconds` a CPU profile of each thread. It contains no data of tenants.",
    tag: "admin",
    access: "system",
    home: "gateway",
    query: Strict({
      profile_seconds: Type.Optional(
        Type.String({ pattern: "^[0-9]{1,2}$", description: "0 to 60. Default: no profile." }),
      ),
    }),
  },
  {
    name: "admin.cluster",
    door: "none",
    method: "GET",
    path: "/admin/cluster",
    summary: "The cluster: its nodes, who owns which partition, and how far copies are. On one machine: none.",
    tag: "admin",
    access: "system",
    home: "gateway",
    response: Type.Object({ enabled: Type.Boolean() }, { additionalProperties: true }),
  },
  {
    name: "admin.users.list",
    door: "none",
    method: "GET",
    path: "/admin/tenants/{tenant}/users",
    summary: "A tenant's users.",
    tag: "admin",
    access: "admin",
    home: "directory",
    params: tenantParam,
    pages: { items: "users", total: "total", most: LIST_PAGE_MAX },
    query: Strict(PageQuery),
    response: Type.Object({ users: Type.Array(User), total: Type.Integer() }),
  },
  {
    name: "admin.users.create",
    door: "none",
    method: "POST",
    path: "/admin/tenants/{tenant}/users",
    summary: "Create a user in the tenant.",
    tag: "admin",
    access: "admin",
    home: "directory",
    params: tenantParam,
    body: Strict({
      username: Type.String({ minLength: 1, maxLength: 256 }),
      password: Password,
      email: Type.Optional(Type.String({ minLength: 3, maxLength: 320 })),
      roles: Type.Optional(
        Type.Array(Type.Union([Type.Literal("user"), Type.Literal("admin"), Type.Literal("super_admin")]), {
          maxItems: 3,
        }),
      ),
    }),
    example: {
      params: { tenant: "acme" },
      body: { username: "ann", password: "correct horse battery", email: "ann@example.org" },
    },
    response: User,
    status: 201,
  },
  {
    name: "admin.users.update",
    door: "none",
    method: "PATCH",
    path: "/admin/tenants/{tenant}/users/{user}",
    summary: "Disable or enable a user; a disabled user's tokens and keys stop working at once.",
    tag: "admin",
    access: "admin",
    home: "directory",
    params: userParam,
    body: Strict({ is_active: Type.Boolean() }),
    example: { params: { tenant: "acme", user: "ann" }, body: { is_active: true } },
    response: User,
  },
  {
    name: "admin.users.reset",
    door: "none",
    method: "POST",
    path: "/admin/tenants/{tenant}/users/{user}/reset-password",
    summary: "Set a new password (a random one when none is given) and revoke the user's tokens.",
    tag: "admin",
    access: "admin",
    home: "directory",
    keeps: "memory",
    params: userParam,
    body: Strict({ password: Type.Optional(Password) }),
    bodyOptional: true,
    example: { params: { tenant: "acme", user: "ann" }, body: { password: "a new horse battery" } },
    response: Type.Object({ user: User, password: Type.Optional(Type.String()) }),
  },
  {
    name: "admin.users.delete",
    door: "none",
    method: "DELETE",
    path: "/admin/tenants/{tenant}/users/{user}",
    summary: "Delete a user with its API keys.",
    tag: "admin",
    access: "admin",
    home: "directory",
    params: userParam,
    status: 204,
  },
] as const satisfies readonly EndpointSpec[];
