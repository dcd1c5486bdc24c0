/** The sessions of Bolt in one partition, by the tenant and the number that the gateway gave their connections. */
import { type PartitionOfPart, type PartitionPart, PartitionPartKind } from "../../actor/partition-part.js";
import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import { type IdentityChange, isAbout } from "../../protocol/identity.js";
import { BoltSession, type OpenOptions } from "./bolt-session.js";

interface Entry {
  readonly bolt: BoltSession;
  readonly tenant: number;
  readonly owner: { readonly userId: string; readonly keyId: string; readonly tenantId: string };
}

export class BoltSessions implements PartitionPart {
  /** Gateways of several nodes may give the same number. */
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly partition: PartitionOfPart) {}

  open(request: Request, number: number, options: OpenOptions): void {
    const { userId, keyId, tenantId } = request.head;
    // Its end was lost: nobody asks for it any more.
    const lost = this.find(request, number);
    lost?.end(new DbError("partition_unavailable", "The session was replaced. Connect again."));
    if (lost !== null) request.tenant.liveSessions.delete(lost.live);
    const bolt = new BoltSession(request, number, options);
    request.tenant.liveSessions.add(bolt.live);
    this.entries.set(keyOf(request, number), {
      bolt,
      tenant: request.tenant.number,
      owner: { userId, keyId, tenantId },
    });
  }

  /** Throws why there is none. */
  get(request: Request, number: number): BoltSession {
    const bolt = this.find(request, number);
    if (bolt !== null) return bolt;
    throw new DbError(
      "partition_unavailable",
      "The session was lost when its partition moved or restarted. Connect again.",
    );
  }

  find(request: Request, number: number): BoltSession | null {
    return this.entries.get(keyOf(request, number))?.bolt ?? null;
  }

  remove(request: Request, number: number): void {
    const bolt = this.find(request, number);
    if (bolt !== null) request.tenant.liveSessions.delete(bolt.live);
    this.entries.delete(keyOf(request, number));
  }

  /** Ends transactions whose time is over, and forgets sessions of tenants that are elsewhere now. */
  sweep(nowMs: number): void {
    for (const [key, { bolt, tenant }] of this.entries) {
      if (bolt.client.isAtWork) continue;
      if (this.partition.places.hasLeft(tenant)) {
        bolt.end(new DbError("partition_unavailable", "The tenant was moved. Connect again."));
        this.entries.delete(key);
      } else bolt.sweep(nowMs);
    }
  }

  identityEnded(change: IdentityChange, error: DbError): void {
    for (const { bolt, owner } of this.entries.values()) if (isAbout(change, owner)) bolt.end(error);
  }
}

const keyOf = ({ tenant }: Request, number: number): string => `${tenant.number} ${number}`;

export const BOLT_SESSIONS = new PartitionPartKind((partition) => new BoltSessions(partition));
