/**
 * Events of the installation's audit trail: who did, or tried to do, something that an operator is responsible for.
 * The actor that answers a request makes an event of it; the gateway makes events of refusals; the directory keeps all
 * of them (directory/audit-trail.ts).
 */

export interface AuditEvent {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /**
   * The endpoint's name, or one of "auth.refused" (a credential) and "auth.blocked" (an address that failed too often).
   */
  readonly action: string;
  /** refused: who asked may not. failed: it could not be done. */
  readonly outcome: "ok" | "refused" | "failed";
  /** HTTP status, and the error's code. */
  readonly status: number;
  readonly code: string | null;
  /** The caller's tenant; of a sign-in that of the name, where there is such a user. */
  readonly tenant: string | null;
  readonly username: string | null;
  readonly keyId: string | null;
  readonly address: string | null;
  /** The path variables, which say what it was done to. */
  readonly target: readonly string[];
  readonly requestId: string;
  /** Equal refusals of one second are one event. */
  readonly count: number;
}

/**
 * What a process has for the trail: it sends this again until the directory's actor has it on disk
 * (gateway/audit-outbox.ts).
 */
export interface AuditBatch {
  /** A name that the process made up for itself. */
  readonly outbox: string;
  /** The number of the first event; the process numbers its events from 1 on. */
  readonly first: number;
  /** The process does not have events below this number any more. */
  readonly base: number;
  readonly events: readonly AuditEvent[];
}

/** The events up to that number are on disk. */
export interface AuditKept {
  readonly kind: "audit-kept";
  readonly outbox: string;
  readonly upTo: number;
}

export function auditOutcome(status: number): AuditEvent["outcome"] {
  if (status < 400) return "ok";
  return status === 401 || status === 403 || status === 429 ? "refused" : "failed";
}
