/** /v1/backups of a tenant, and in the directory's actor /admin/tenants/{tenant}/restore. */
import type { Directory } from "../../directory/directory.js";
import type { EndpointName } from "../../protocol/endpoints.js";
import { DbError } from "../../protocol/errors.js";
import { LIST_PAGE_DEFAULT } from "../../protocol/limits.js";
import type { Backups } from "../backup/backups.js";
import type { RestoreOrders } from "../backup/restore-orders.js";
import { requireSystem, tenantOf } from "./directory.js";
import { type Handler, pageOf } from "./handler.js";

export function backupHandlers(backups: Backups) {
  return {
    "backups.create": async ({ partition, tenant, head }, { body }) => {
      const { incremental = false, passphrase = null } = body;
      return { plain: await backups.start(partition, head.tenantId, tenant.number, { incremental, passphrase }) };
    },
    "backups.list": ({ head }, { query }) => {
      const all = backups.list(head.tenantId);
      const { limit = LIST_PAGE_DEFAULT, offset = 0 } = pageOf(query);
      return { plain: { backups: all.slice(offset, offset + limit), total: all.length } };
    },
    "backups.get": ({ head }, { params }) => ({ plain: backups.get(head.tenantId, params.id!) }),
    "backups.delete": async ({ head }, { params }) => {
      await backups.remove(head.tenantId, params.id!);
      return { plain: null };
    },
    "backups.verify": async (request, { params, body }) => ({
      plain: await backups.verify(request.head.tenantId, params.id!, body.passphrase ?? null, request.yieldTurn),
    }),
  } satisfies Partial<Record<EndpointName, Handler>>;
}

export function restoreHandlers(directory: Pick<Directory, "placeOf">, orders: RestoreOrders) {
  return {
    "admin.tenants.restore": (request, input) => {
      const tenantId = tenantOf(request, input);
      const { backup, from = tenantId, passphrase = null, until, replace = false } = input.body;
      if (from !== tenantId) requireSystem(request);
      const untilMicros = until === undefined ? null : Date.parse(until) * 1000;
      if (Number.isNaN(untilMicros)) {
        throw new DbError("invalid_request", "until: expected a time such as 2026-01-31T12:00:00Z", { field: "until" });
      }
      const place = { tenantId, ...directory.placeOf(tenantId) };
      return { plain: orders.start(place, { backup, from, passphrase, untilMicros, replaces: replace }) };
    },
    "admin.tenants.restore.get": (request, input) => {
      const tenantId = tenantOf(request, input);
      return { plain: orders.get(tenantId, directory.placeOf(tenantId).number) };
    },
  } satisfies Partial<Record<EndpointName, Handler>>;
}
