/**
 * All replies that are streams of events (SSE) and last as long as their clients stay. It does what concerns all of
 * them: sends comments that keep proxies from closing them, ends those whose callers changed, and those whose clients
 * do not read. Made by gateway.ts; owns the set.
 */
import type { Caller } from "./admission.js";

/** A stream of events, as the set of all knows it. */
export interface LiveReply {
  readonly caller: Caller;
  /** A comment, unless the client has not read what there was. */
  keepAlive(): void;
  /** Ends with an event of the type `error`, whose data is JSON. */
  endWith(errorJson: string): void;
}

export class LiveReplies {
  private readonly open = new Set<LiveReply>();
  private readonly perTenant = new Map<string, number>();

  constructor(private readonly perTenantMax: number) {}

  get size(): number {
    return this.open.size;
  }

  /** False: the caller's tenant has as many as it may. */
  mayOpen(caller: Caller): boolean {
    return (this.perTenant.get(caller.identity.tenantId) ?? 0) < this.perTenantMax;
  }

  add(reply: LiveReply): void {
    this.open.add(reply);
    const { tenantId } = reply.caller.identity;
    this.perTenant.set(tenantId, (this.perTenant.get(tenantId) ?? 0) + 1);
  }

  remove(reply: LiveReply): void {
    if (!this.open.delete(reply)) return;
    const { tenantId } = reply.caller.identity;
    const left = this.perTenant.get(tenantId)! - 1;
    if (left === 0) this.perTenant.delete(tenantId);
    else this.perTenant.set(tenantId, left);
  }

  /** Called now and then. */
  keepAlive(wallMs: number): void {
    for (const reply of [...this.open]) {
      const { expiresAtMs } = reply.caller.identity;
      if (expiresAtMs !== null && expiresAtMs <= wallMs) reply.endWith(EXPIRED);
      else reply.keepAlive();
    }
  }

  /** The callers for whom `gone` holds have changed. */
  forget(gone: (caller: Caller) => boolean): void {
    for (const reply of [...this.open]) if (gone(reply.caller)) reply.endWith(CHANGED);
  }
}

const CHANGED = JSON.stringify({
  type: "error",
  code: "unauthorized",
  message: "The credential was changed; connect again.",
});
const EXPIRED = JSON.stringify({ type: "error", code: "unauthorized", message: "The API key has expired." });
