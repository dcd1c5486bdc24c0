/** /v1/backups of a tenant, and in the directory's actor /admin/tenants/{tenant}/restore and …/backups. */

import { requireSystem, tenantOf } from "../../actor/caller-rights.js";
import type { Handlers } from "../../actor/handler.js";
import { archiveOf } from "../../backup/backup-archive.js";
import type { BackupFolder } from "../../backup/backup-folder.js";
import type { BodySource } from "../../bodies/body-source.js";
import { pageOf } from "../../bodies/paging.js";
import { DbError } from "../../protocol/errors.js";
import { LIST_PAGE_DEFAULT } from "../../protocol/limits.js";
import { STREAMED } from "../../session/answer.js";
import { tenantDeleted } from "../placement/shred-tenant.js";
import { viewOf } from "./backup-view.js";
import type { Backups } from "./backups.js";
import { importBackup } from "./import-backup.js";
import type { Restores } from "./restores.js";
import { type RestoreContext, startRestore } from "./start-restore.js";

/** RequestHead.media has the endpoint's own headers behind those. */
const MEDIA_HEADERS = 3;

export function backupHandlers(backups: Backups, folder: BackupFolder, restores: Pick<Restores, "isRunning">) {
  return {
    "backups.create": async ({ partition, tenant, head }, { body }) => {
      const { incremental = false, passphrase = null, name = null } = body;
      return { plain: await backups.start(partition, head.tenantId, tenant.number, { incremental, passphrase, name }) };
    },
    "backups.list": ({ head, tenant }, { query }) => {
      const all = backups.list(head.tenantId);
      const { limit = LIST_PAGE_DEFAULT, offset = 0 } = pageOf(query);
      const restoring = restores.isRunning(tenant.number);
      return { plain: { backups: all.slice(offset, offset + limit), total: all.length, restoring } };
    },
    "backups.get": ({ head }, { params }) => ({ plain: backups.get(head.tenantId, params.id!) }),
    "backups.delete": async ({ head }, { params }) => {
      await backups.remove(head.tenantId, params.id!);
      return { plain: null };
    },
    "backups.verify": async (request, { params, body }) => ({
      plain: await backups.verify(request.head.tenantId, params.id!, body.passphrase ?? null, request.yieldTurn),
    }),
    "backups.download": async (request, { params }) => {
      const chain = folder.chainOf(folder.get(request.head.tenantId, params.id!));
      const disposition = `Content-Disposition: attachment; filename="${params.id}.tessera-backup"`;
      const sink = await request.openReply("application/octet-stream", [disposition, "Cache-Control: no-store"]);
      for await (const piece of archiveOf(chain, (one) => folder.dataOf(one))) {
        await sink.write(piece);
        await request.yieldTurn();
      }
      sink.end();
      return STREAMED;
    },
  } satisfies Handlers;
}

export function restoreHandlers(context: RestoreContext) {
  const { directory, restores, folder } = context;
  return {
    "admin.tenants.restore": (request, input) => {
      const tenantId = tenantOf(request, input);
      const { backup = null, from = tenantId, passphrase = null, until = null, replace = false } = input.body;
      if (from !== tenantId) requireSystem(request);
      const wanted = { tenantId, from, backup, passphrase, until, replaces: replace };
      return { plain: startRestore(context, wanted) };
    },
    "admin.tenants.restore.get": (request, input) => {
      const tenantId = tenantOf(request, input);
      return { plain: restores.get(tenantId, directory.placeOf(tenantId).number) };
    },
    "admin.tenants.backups.import": async (request, input) => {
      const tenantId = tenantOf(request, input);
      const { number } = directory.placeOf(tenantId);
      const requireTenant = (): void => {
        if (directory.placeOf(tenantId).number !== number) throw tenantDeleted();
      };
      const header = request.head.media[MEDIA_HEADERS] ?? "";
      const passphrase = header === "" ? null : decoded(header);
      const { yieldTurn } = request;
      const options = { tenantId, passphrase, turn: yieldTurn, requireTenant };
      return { plain: viewOf(await importBackup(folder, piecesOf(request.body!), options)) };
    },
  } satisfies Handlers;
}

function decoded(header: string): string {
  try {
    return decodeURIComponent(header);
  } catch {
    throw new DbError("invalid_request", "X-Backup-Passphrase: expected URL-encoded text");
  }
}

async function* piecesOf(body: BodySource): AsyncGenerator<Uint8Array> {
  for (;;) {
    const piece = await body.next();
    if (piece === null) return;
    yield piece;
  }
}
