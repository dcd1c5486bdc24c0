/** GET /admin/audit: who did what, for super administrators; those of ordinary tenants see their own tenant's. */

import type { Handlers } from "../../actor/handler.js";
import type { AuditEntry, AuditTrail } from "../../directory/audit-trail.js";
import type { Directory } from "../../directory/directory.js";
import { DbError } from "../../protocol/errors.js";
import { SYSTEM_TENANT } from "../../protocol/identity.js";
import { LIST_PAGE_DEFAULT } from "../../protocol/limits.js";

export function auditHandlers(trail: AuditTrail, directory: Pick<Directory, "getTenant">) {
  return {
    "admin.audit.list": ({ head }, { query }) => {
      const { before, limit, tenant, username, action, outcome } = query;
      const isSystem = head.tenantId === SYSTEM_TENANT;
      if (!isSystem && tenant !== undefined && tenant !== head.tenantId) {
        throw new DbError("forbidden", `You do not have permission for the tenant "${tenant}".`);
      }
      const of = isSystem ? tenant : head.tenantId;
      const asked = timeOf(query.since, "since", "sinceMs");
      // Earlier ones are of a tenant of the same id, which was deleted.
      const begin = isSystem ? 0 : Date.parse(directory.getTenant(head.tenantId).created_at);
      const { entries, next } = trail.list({
        limit: limit === undefined ? LIST_PAGE_DEFAULT : Number(limit),
        ...(before === undefined ? {} : { before: Number(before) }),
        ...(of === undefined ? {} : { tenant: of }),
        ...(username === undefined ? {} : { username }),
        ...(action === undefined ? {} : { action }),
        ...(outcome === undefined ? {} : { outcome }),
        sinceMs: Math.max(asked.sinceMs ?? 0, begin),
        ...timeOf(query.until, "until", "untilMs"),
      });
      return { plain: { entries: entries.map(viewOf), next_before: next } };
    },
  } satisfies Handlers;
}

function timeOf(
  text: string | undefined,
  field: string,
  name: "sinceMs" | "untilMs",
): Partial<Record<typeof name, number>> {
  if (text === undefined) return {};
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) {
    throw new DbError(
      "invalid_request",
      `The query parameter "${field}" must be a time such as 2026-01-31T12:00:00Z.`,
      { field },
    );
  }
  return { [name]: ms };
}

function viewOf({
  number,
  atMs,
  action,
  outcome,
  status,
  code,
  tenant,
  username,
  keyId,
  address,
  target,
  requestId,
  count,
}: AuditEntry) {
  return {
    number,
    at: new Date(atMs).toISOString(),
    action,
    outcome,
    status,
    code,
    tenant,
    username,
    key_id: keyId,
    address,
    target,
    request_id: requestId,
    count,
  };
}
