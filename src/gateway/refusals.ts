/**
 * Refused credentials and rights on their way to the audit trail. Equal ones within a second become one event, so that
 * a flood of wrong passwords is one entry a second and not a flood of writes. Requests, upgrades and actors report to
 * it; gateway.ts makes it and connects it to the directory.
 */
import { type AuditEvent, auditOutcome } from "../protocol/audit.js";
import { ERRORS, type ErrorCode } from "../protocol/errors.js";
import type { Caller } from "./admission.js";
import type { Clock } from "./clock.js";

/** Different ones of a second; more are counted together. */
const EVENTS_MAX = 1_000;
const MANY = "auth.many";

export class Refusals {
  private events = new Map<string, AuditEvent>();

  constructor(private readonly clock: Clock) {}

  note(action: string, code: ErrorCode, caller: Caller | null, address: string, requestId: string): void {
    const identity = caller?.identity;
    const { status } = ERRORS[code];
    this.add({
      atMs: this.clock.wall(),
      action,
      outcome: auditOutcome(status),
      status,
      code,
      tenant: identity?.tenantId ?? null,
      username: identity?.username ?? null,
      keyId: identity?.keyId ?? null,
      address: address === "" ? null : address,
      target: [],
      requestId,
      count: 1,
    });
  }

  /** Also of what actors refuse. */
  add(event: AuditEvent): void {
    const { action, code, tenant, username, keyId, address } = event;
    const key = [action, code, tenant, username, keyId, address].join("\0");
    const known = this.events.get(key) ?? (this.events.size >= EVENTS_MAX ? this.events.get(MANY) : undefined);
    if (known !== undefined) {
      this.events.set(known.action === MANY ? MANY : key, { ...known, count: known.count + 1 });
      return;
    }
    if (this.events.size < EVENTS_MAX) this.events.set(key, event);
    else {
      const nobody = { tenant: null, username: null, keyId: null, address: null, target: [] };
      this.events.set(MANY, { ...event, action: MANY, ...nobody });
    }
  }

  /** What was noted since the last time. */
  take(): readonly AuditEvent[] {
    if (this.events.size === 0) return [];
    const events = [...this.events.values()];
    this.events = new Map();
    return events;
  }
}
