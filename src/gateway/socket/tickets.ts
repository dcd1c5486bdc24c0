/**
 * Tickets that open a WebSocket. Browsers cannot send a header with the upgrade, and a lasting credential does not
 * belong in an address, which proxies log. Each ticket is valid once and for a short time. Called by the ticket route
 * and by upgrades; owns the tickets, in memory only.
 */
import { randomBytes } from "node:crypto";
import type { Caller } from "../admission.js";

const TOKEN_BYTES = 32;
const TICKETS_MAX = 100_000;

interface Ticket {
  readonly caller: Caller;
  /** On the steady clock. */
  readonly expiresAt: number;
}

export class Tickets {
  /** Oldest first, so those that have expired stand in front. */
  private readonly open = new Map<string, Ticket>();

  constructor(private readonly lifetimeMs: number) {}

  /** A new ticket; null when too many wait to be used. */
  issue(caller: Caller, now: number): string | null {
    for (const [token, { expiresAt }] of this.open) {
      if (expiresAt > now) break;
      this.open.delete(token);
    }
    if (this.open.size >= TICKETS_MAX) return null;
    const token = randomBytes(TOKEN_BYTES).toString("base64url");
    this.open.set(token, { caller, expiresAt: now + this.lifetimeMs });
    return token;
  }

  /** Who the ticket was given to; null when it is unknown, used or too old. */
  redeem(token: string, now: number): Caller | null {
    const ticket = this.open.get(token);
    if (ticket === undefined) return null;
    this.open.delete(token);
    return ticket.expiresAt > now ? ticket.caller : null;
  }

  /** Takes back what the caller has not used; answers how many those were. */
  revoke(caller: Caller, now: number): number {
    let count = 0;
    for (const [token, ticket] of this.open) {
      const { identity } = ticket.caller;
      if (identity.userId !== caller.identity.userId || identity.keyId !== caller.identity.keyId) continue;
      this.open.delete(token);
      if (ticket.expiresAt > now) count++;
    }
    return count;
  }

  /** Tickets of callers that changed since are good no more. */
  forget(gone: (caller: Caller) => boolean): void {
    for (const [token, { caller }] of this.open) if (gone(caller)) this.open.delete(token);
  }
}
