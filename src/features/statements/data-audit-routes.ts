/** GET /admin/audit/data: who used rows of audited tables, for administrators of the tenant. */
import type { Handlers } from "../../actor/handler.js";
import { DbError } from "../../protocol/errors.js";
import { LIST_PAGE_DEFAULT } from "../../protocol/limits.js";
import { listAccess } from "../../session/data-audit.js";

export const dataAuditHandlers = {
  "admin.audit.data": ({ partition, account }, { query }) => {
    const { before, limit, username, action, table, since, until } = query;
    const { entries, next } = listAccess(partition.tenant(account), {
      limit: limit === undefined ? LIST_PAGE_DEFAULT : Number(limit),
      ...(before === undefined ? {} : { before: Number(before) }),
      ...(username === undefined ? {} : { username }),
      ...(action === undefined ? {} : { action }),
      ...(table === undefined ? {} : { table }),
      ...(since === undefined ? {} : { sinceMs: millisecondsOf(since, "since") }),
      ...(until === undefined ? {} : { untilMs: millisecondsOf(until, "until") }),
    });
    const shown = entries.map(({ atMs, keyId, requestId, ...entry }) => ({
      ...entry,
      at: new Date(atMs).toISOString(),
      outcome: "ok" as const,
      status: 200,
      code: null,
      key_id: keyId,
      request_id: requestId,
      count: 1,
    }));
    return { plain: { entries: shown, next_before: next } };
  },
} satisfies Handlers;

function millisecondsOf(text: string, field: string): number {
  const ms = Date.parse(text);
  if (!Number.isNaN(ms)) return ms;
  throw new DbError("invalid_request", `The query parameter "${field}" must be a time such as 2026-01-31T12:00:00Z.`, {
    field,
  });
}
