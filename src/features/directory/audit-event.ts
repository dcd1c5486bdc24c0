/** Makes the audit trail's event of a request that an actor answered. Called by actor.ts; pure. */

import type { Request } from "../../actor/request.js";
import { type AuditEvent, auditOutcome } from "../../protocol/audit.js";

export function auditEventOf(request: Request, status: number, code: string | null, atMs: number): AuditEvent {
  const { endpoint, head, requestId } = request;
  const { tenantId, username, keyId, remoteAddress } = head;
  return {
    atMs,
    action: endpoint.name,
    outcome: auditOutcome(status),
    status,
    code,
    tenant: tenantId === "" ? null : tenantId,
    username: username === "" ? request.auditedName : username,
    keyId: keyId === "" ? null : keyId,
    address: remoteAddress === "" ? null : remoteAddress,
    target: endpoint.method === "MESSAGE" ? [] : head.params,
    requestId,
    count: 1,
  };
}
