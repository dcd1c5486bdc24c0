/**
 * Backups in SQL: BACKUP, RESTORE and SHOW BACKUPS are calls of these functions (sql/parse/client-statements.ts), with
 * the rights of the routes of backups. A backup holds what is committed when it begins, and goes on after the
 * statement; so does a restore.
 */

import Type from "typebox";
import type { Partition } from "../../actor/partition.js";
import { CALLER, type Request } from "../../actor/request.js";
import { requireDoor } from "../../actor/table-doors.js";
import { BACKUP_NAME } from "../../protocol/endpoints/backups.js";
import { Strict } from "../../protocol/endpoints/schemas.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import { BACKUP_PASSPHRASE_CHARACTERS_MIN } from "../../protocol/limits.js";
import type { DeferredContext, ScalarFunction } from "../../query/expr/expr.js";
import { deferredFn } from "../../query/expr/functions/define.js";
import { readCallOptions } from "../../session/call-options.js";
import { isAdministrator } from "../../session/owner.js";
import { BOOL, JSONB, Json, TEXT, type Value } from "../../values/values.js";
import type { BackupAsks } from "./backup-asks.js";
import type { Backups } from "./backups.js";

interface Provided {
  readonly backups: Backups;
  readonly asks: BackupAsks;
}

const ofPartition = new WeakMap<Partition, Provided>();

const OPTIONS = Strict({
  name: Type.Optional(Type.String()),
  incremental: Type.Optional(Type.Boolean()),
  passphrase: Type.Optional(Type.String({ minLength: BACKUP_PASSPHRASE_CHARACTERS_MIN, maxLength: 1024 })),
});

/** Makes backups of the partition's tenants, and asks for restores. */
export function provideBackups(partition: Partition, backups: Backups, asks: BackupAsks): void {
  ofPartition.set(partition, { backups, asks });
}

/** Throws forbidden for all but admins with a credential that may write, and for agents. */
function backupsFor({ services }: DeferredContext): Provided & { readonly request: Request } {
  const request = services.capability(CALLER);
  const provided = request === null ? undefined : ofPartition.get(request.partition);
  if (request === null || provided === undefined) throw new DbError("not_supported", "Backups are not available here.");
  if (isAdministrator(request) && !request.ofAgent) {
    requireDoor(request, "all", "backups");
    return { request, ...provided };
  }
  throw new DbError("forbidden", "Only admins of the tenant have permission to make and see backups.", {
    sqlstate: "42501",
  });
}

async function create([[options], [incremental]]: readonly (readonly Value[])[], context: DeferredContext) {
  const { request, backups } = backupsFor(context);
  const { passphrase = null, name = null, ...given } = readCallOptions("BACKUP", OPTIONS, options as Json);
  if (name !== null && !BACKUP_NAME.test(name)) {
    throw sqlError("22023", `BACKUP … TO takes a name and not a path: "${name}"`, {
      hint: "The server keeps backups in its own folder (backup.directory). A name has letters, digits, dots, dashes and underscores. GET /v1/backups/{id}/download or `tessera backup download` gives a backup as one file.",
    });
  }
  const { partition, tenant, head } = request;
  const wanted = { incremental: incremental === true || given.incremental === true, passphrase, name };
  return new Json(await backups.start(partition, head.tenantId, tenant.number, wanted));
}

const RESTORE_OPTIONS = Strict({
  replace: Type.Optional(Type.Boolean()),
  passphrase: OPTIONS.properties.passphrase,
  until: Type.Optional(Type.String({ format: "date-time" })),
});

async function restore([[id], [options]]: readonly (readonly Value[])[], context: DeferredContext) {
  const { request, backups, asks } = backupsFor(context);
  const {
    replace = false,
    passphrase = null,
    until = null,
  } = readCallOptions("RESTORE", RESTORE_OPTIONS, options as Json);
  const { tenantId, roles } = request.head;
  if (!roles.includes("super_admin")) {
    throw new DbError("forbidden", "Only super administrators have permission to restore a tenant.", {
      sqlstate: "42501",
    });
  }
  const backup = id === null ? null : backups.named(tenantId, id as string).id;
  if (!replace) {
    throw sqlError("55006", "RESTORE replaces everything that the tenant has", {
      hint: "Say so: RESTORE FROM 'bak_…' WITH (replace = true).",
    });
  }
  const wanted = { partition: request.partition.number, tenantId, backup, passphrase, until };
  return new Json(await asks.restore(wanted, context.signal));
}

export const BACKUP_FUNCTIONS: readonly ScalarFunction[] = [
  Object.freeze({
    ...deferredFn(
      "create_backup",
      [JSONB, BOOL],
      JSONB,
      async (columns, _count, context) => [await create(columns as never, context)],
      { rowsMax: 1 },
    ),
    writes: true as const,
  }),
  Object.freeze({
    ...deferredFn(
      "restore_backup",
      [TEXT, JSONB],
      JSONB,
      async (columns, _count, context) => [await restore(columns as never, context)],
      { rowsMax: 1, strict: false },
    ),
    writes: true as const,
  }),
  deferredFn(
    "list_backups",
    [],
    JSONB,
    async (_columns, _count, context) => {
      const { request, backups } = backupsFor(context);
      return [new Json(backups.list(request.head.tenantId))];
    },
    { rowsMax: 1 },
  ),
];
