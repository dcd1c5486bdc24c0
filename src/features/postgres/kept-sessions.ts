/**
 * The sessions of a protocol in one partition, here and of Bolt. A session has the number that the gateway gave its
 * connection. Gateways of several nodes may give the same one: then the tenant has it once, and only the gateway that
 * opened the session, in the run in which it did, may use it.
 */
import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import { type IdentityChange, isAbout } from "../../protocol/identity.js";
import { runIn } from "../../protocol/request-id.js";
import type { LiveSession } from "../../sql/bind/system/system-view.js";

interface KeptSession {
  readonly live: LiveSession;
  end(error: DbError): void;
}

export interface Kept<S> {
  readonly session: S;
  readonly tenant: number;
  readonly owner: { readonly userId: string; readonly keyId: string; readonly tenantId: string };
  /** Of the gateway that opened it. */
  readonly run: string;
}

export class KeptSessions<S extends KeptSession> {
  /** By tenant, then by number. */
  private readonly all = new Map<number, Map<number, Kept<S>>>();

  /** Throws where another gateway's session has the number. */
  add(request: Request, number: number, make: () => S): S {
    const { userId, keyId, tenantId } = request.head;
    const tenant = request.tenant.number;
    const run = runIn(request.requestId);
    const lost = this.ofTenant(tenant, number);
    if (lost !== null && lost.run !== run) {
      throw new DbError("partition_unavailable", "Another session has this session's number. Connect again.");
    }
    // Its end was lost: nobody asks for it any more.
    lost?.session.end(new DbError("partition_unavailable", "The session was replaced. Connect again."));
    this.remove(request, number);
    const session = make();
    request.tenant.liveSessions.add(session.live);
    const kept = { session, tenant, owner: { userId, keyId, tenantId }, run };
    const sessions = this.all.get(tenant);
    if (sessions === undefined) this.all.set(tenant, new Map([[number, kept]]));
    else sessions.set(number, kept);
    return session;
  }

  /** Of the gateway that asks. */
  find(request: Request, number: number): S | null {
    const kept = this.ofTenant(request.tenant.number, number);
    return kept?.run === runIn(request.requestId) ? kept.session : null;
  }

  /** Throws why there is none. */
  get(request: Request, number: number): S {
    const session = this.find(request, number);
    if (session !== null) return session;
    throw new DbError(
      "partition_unavailable",
      "The session was lost when its partition moved or restarted. Connect again.",
    );
  }

  /** Whichever gateway opened it. */
  ofTenant(tenant: number, number: number): Kept<S> | null {
    return this.all.get(tenant)?.get(number) ?? null;
  }

  remove(request: Request, number: number): void {
    const session = this.find(request, number);
    if (session === null) return;
    request.tenant.liveSessions.delete(session.live);
    this.drop(request.tenant.number, number);
  }

  /** What the tenant has left behind. */
  forget({ session, tenant }: Kept<S>): void {
    this.drop(tenant, session.live.number!);
  }

  private drop(tenant: number, number: number): void {
    const sessions = this.all.get(tenant);
    sessions?.delete(number);
    if (sessions?.size === 0) this.all.delete(tenant);
  }

  *[Symbol.iterator](): Iterator<Kept<S>> {
    for (const sessions of this.all.values()) yield* sessions.values();
  }

  identityEnded(change: IdentityChange, error: DbError): void {
    for (const { session, owner } of this) if (isAbout(change, owner)) session.end(error);
  }
}
