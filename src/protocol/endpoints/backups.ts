/** Backups of a tenant, made by its administrators, and restoring one, for itself or into another tenant. */
import Type from "typebox";
import type { EndpointSpec } from "../endpoint.js";
import { BACKUP_PASSPHRASE_CHARACTERS_MIN } from "../limits.js";
import { Nullable, PageQuery, Strict, Timestamp } from "./schemas.js";

const Failure = Nullable(Type.Object({ code: Type.String(), message: Type.String() }));
const Passphrase = Type.Optional(Type.String({ minLength: BACKUP_PASSPHRASE_CHARACTERS_MIN, maxLength: 1024 }));

const Backup = Type.Object({
  id: Type.String(),
  status: Type.Enum(["running", "completed", "failed"]),
  kind: Type.Enum(["full", "incremental"]),
  base: Nullable(Type.String({ description: "The backup that it continues." })),
  encrypted: Type.Boolean(),
  entries: Type.Integer(),
  bytes: Type.Integer(),
  started_at: Timestamp,
  finished_at: Nullable(Timestamp),
  holds_until: Nullable(Type.String({ description: "The newest moment that it can restore." })),
  digest: Nullable(Type.String({ description: "SHA-256 of the tenant's content as of that moment." })),
  note: Nullable(Type.String()),
  error: Failure,
});

const Restore = Type.Object({
  tenant: Type.String(),
  backup: Type.String(),
  state: Type.Enum(["checking", "restoring", "verifying", "completed", "failed"]),
  entries: Type.Integer(),
  verified: Nullable(
    Type.Boolean({ description: "The digest is that of the backup; null: it has none for the moment." }),
  ),
  started_at: Timestamp,
  finished_at: Nullable(Timestamp),
  error: Failure,
});

const params = Type.Object({ id: Type.String() });
const ofTenant = Type.Object({ tenant: Type.String() });

export const backupEndpoints = [
  {
    name: "backups.create",
    method: "POST",
    path: "/v1/backups",
    summary:
      "Back the tenant up while it is served: whole, or what was committed since the last backup (`incremental`), which is a whole one where the commit log does not reach back so far.",
    tag: "backups",
    access: "admin",
    home: "tenant",
    keeps: "memory",
    body: Strict({ incremental: Type.Optional(Type.Boolean()), passphrase: Passphrase }),
    bodyOptional: true,
    response: Backup,
    status: 202,
  },
  {
    name: "backups.list",
    method: "GET",
    path: "/v1/backups",
    summary: "The tenant's backups, newest first.",
    tag: "backups",
    access: "admin",
    home: "tenant",
    query: Strict(PageQuery),
    response: Type.Object({ backups: Type.Array(Backup), total: Type.Integer() }),
  },
  {
    name: "backups.get",
    method: "GET",
    path: "/v1/backups/{id}",
    summary: "One backup.",
    tag: "backups",
    access: "admin",
    home: "tenant",
    params,
    response: Backup,
  },
  {
    name: "backups.delete",
    method: "DELETE",
    path: "/v1/backups/{id}",
    summary: "Delete a backup that no other one continues.",
    tag: "backups",
    access: "admin",
    home: "tenant",
    params,
    status: 204,
  },
  {
    name: "backups.verify",
    method: "POST",
    path: "/v1/backups/{id}/verify",
    summary: "Read a backup, and those that it continues, to the end and check all of it.",
    tag: "backups",
    access: "admin",
    home: "tenant",
    keeps: "memory",
    slow: true,
    params,
    body: Strict({ passphrase: Passphrase }),
    bodyOptional: true,
    response: Type.Object({ files: Type.Integer(), entries: Type.Integer(), bytes: Type.Integer() }),
  },
  {
    name: "admin.tenants.restore",
    method: "POST",
    path: "/admin/tenants/{tenant}/restore",
    summary:
      "Put the content of a backup in the place of the tenant's. Meanwhile the tenant is not served. Administrators of the system tenant may restore another tenant's backup (`from`).",
    tag: "backups",
    access: "admin",
    home: "directory",
    keeps: "memory",
    params: ofTenant,
    body: Strict({
      backup: Type.String(),
      from: Type.Optional(Type.String({ description: "Whose backup it is; the tenant's own if absent." })),
      passphrase: Passphrase,
      until: Type.Optional(Type.String({ format: "date-time", description: "Leave out what was committed later." })),
      replace: Type.Optional(Type.Boolean({ description: "The tenant may have content, which is removed." })),
    }),
    response: Restore,
    status: 202,
  },
  {
    name: "admin.tenants.restore.get",
    method: "GET",
    path: "/admin/tenants/{tenant}/restore",
    summary: "How the newest restore of the tenant is getting on, or how it ended.",
    tag: "backups",
    access: "admin",
    home: "directory",
    params: ofTenant,
    response: Restore,
  },
] as const satisfies readonly EndpointSpec[];
