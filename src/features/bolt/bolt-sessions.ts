/** The sessions of Bolt in one partition. */
import { type PartitionOfPart, type PartitionPart, PartitionPartKind } from "../../actor/partition-part.js";
import type { Request } from "../../actor/request.js";
import { DbError } from "../../protocol/errors.js";
import type { IdentityChange } from "../../protocol/identity.js";
import { KeptSessions } from "../postgres/kept-sessions.js";
import { BoltSession, type OpenOptions } from "./bolt-session.js";

export class BoltSessions implements PartitionPart {
  private readonly kept = new KeptSessions<BoltSession>();

  constructor(private readonly partition: PartitionOfPart) {}

  open(request: Request, number: number, options: OpenOptions): void {
    this.kept.add(request, number, () => new BoltSession(request, number, options));
  }

  /** Throws why there is none. */
  get(request: Request, number: number): BoltSession {
    return this.kept.get(request, number);
  }

  find(request: Request, number: number): BoltSession | null {
    return this.kept.find(request, number);
  }

  remove(request: Request, number: number): void {
    this.kept.remove(request, number);
  }

  /** Ends transactions whose time is over, and forgets sessions of tenants that are elsewhere now. */
  sweep(nowMs: number): void {
    for (const kept of this.kept) {
      const bolt = kept.session;
      if (bolt.client.isAtWork) continue;
      if (this.partition.places.hasLeft(kept.tenant)) {
        bolt.end(new DbError("partition_unavailable", "The tenant was moved. Connect again."));
        this.kept.forget(kept);
      } else bolt.sweep(nowMs);
    }
  }

  /** The tenant is a branch that was deleted. */
  branchEnded(tenant: number): void {
    for (const kept of [...this.kept].filter((each) => each.tenant === tenant)) {
      kept.session.end(new DbError("not_found", "The database was dropped: it was a branch, which was deleted."));
      this.kept.forget(kept);
    }
  }

  identityEnded(change: IdentityChange, error: DbError): void {
    this.kept.identityEnded(change, error);
  }
}

export const BOLT_SESSIONS = new PartitionPartKind((partition) => new BoltSessions(partition));
