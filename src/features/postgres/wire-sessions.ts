/** The sessions of PostgreSQL's protocol in one partition, and what those of a tenant share. */
import { type PartitionOfPart, type PartitionPart, PartitionPartKind } from "../../actor/partition-part.js";
import { errorJson } from "../../actor/reply.js";
import type { Request } from "../../actor/request.js";
import { DbError, sqlError } from "../../protocol/errors.js";
import type { IdentityChange } from "../../protocol/identity.js";
import { POSTGRES_KINDS } from "../../protocol/postgres/message-kinds.js";
import { type CountedRequests, RequestCounts } from "../../protocol/request-counts.js";
import { type Asker, mayUse } from "../../session/owner.js";
import type { Settings } from "../../session/settings.js";
import type { Tenant } from "../../session/tenant.js";
import type { LiveLock } from "../../sql/bind/system/system-view.js";
import type { LiveOutput } from "../feed/contract.js";
import { AdvisoryLocks } from "./advisory-locks.js";
import { KeptSessions } from "./kept-sessions.js";
import { LentSocket } from "./lent-socket.js";
import { locksOf } from "./live-locks.js";
import { Notifications } from "./notifications.js";
import type { EndsSessionsOf, SharedBySessions } from "./session-actions.js";
import type { StartUp } from "./start-up.js";
import { restOf } from "./timeouts.js";
import { WireSession } from "./wire-session.js";

type Common = Pick<SharedBySessions, "notifications" | "advisory">;

export class WireSessions implements PartitionPart {
  private readonly kept = new KeptSessions<WireSession>();
  /** What the sessions of a tenant share. */
  private readonly shared = new Map<number, Common>();
  /** Live replies by which sessions hear of others' notifications: how to end them, by request. */
  private readonly listens = new Map<number, (error: DbError) => void>();
  /** Connections whose sockets are here. */
  private readonly lent = new Map<WireSession, LentSocket>();
  private readonly counts = new RequestCounts(POSTGRES_KINDS);

  constructor(private readonly partition: PartitionOfPart) {}

  open(request: Request, number: number, startUp: StartUp): WireSession {
    return this.kept.add(request, number, () => new WireSession(request, number, startUp, this.sharedFor(request)));
  }

  /** The request stays open: by it the session's client hears what others notify, and that the session was ended. */
  listen(request: Request, number: number, output: LiveOutput): void {
    const { id, requestId } = request;
    const wire = this.get(request, number);
    const channel = output.newChannel();
    output.began(id);
    output.joined(id, channel);
    output.listen(id, { left: () => this.listens.delete(id) });
    const end = (error: DbError): void => {
      if (!this.listens.delete(id)) return;
      output.listen(id, null);
      output.ended(id, error.status, Buffer.from(errorJson(error, requestId)));
    };
    this.listens.set(id, end);
    wire.takePushes({ messages: (bytes) => output.publish(channel, 0, bytes), end });
  }

  /**
   * The request stays open as long as the socket is here. Where this throws, the gateway closes the descriptor.
   * `read`: what was read of it and not answered.
   */
  lend(request: Request, number: number, descriptor: number, read: Buffer, output: LiveOutput): void {
    const { id } = request;
    const wire = this.get(request, number);
    const socket = new LentSocket(request, number, descriptor, {
      ...{ output, counts: this.counts },
      over: () => {
        this.listens.delete(id);
        this.lent.delete(wire);
      },
    });
    const end = (error: DbError): void => socket.endWith(error);
    this.lent.set(wire, socket);
    this.listens.set(id, end);
    output.began(id);
    output.listen(id, { left: () => socket.left() });
    wire.takePushes({ messages: (bytes) => socket.pushed(bytes), end });
    socket.begin(read);
  }

  recall(request: Request, number: number): void {
    const wire = this.find(request, number);
    if (wire !== null) this.lent.get(wire)?.recall();
  }

  get counted(): CountedRequests {
    return this.counts.plain;
  }

  /** The partition gets another owner: clients that wait would wait for ever. */
  partitionLeft(): void {
    const why = "The session was lost because its partition gets another owner. Connect again.";
    const error = new DbError("partition_unavailable", why);
    for (const end of [...this.listens.values()]) end(error);
  }

  private locksOf(tenant: number, asker: Settings): Iterable<LiveLock> {
    const sessions = [...this.kept].filter((kept) => kept.tenant === tenant).map(({ session }) => session);
    return locksOf(sessions, this.partition.shard.locks, this.shared.get(tenant)!.advisory, asker);
  }

  /** What all of the tenant's share, those of HTTP too. */
  commonOf(tenant: Tenant): Common {
    tenant.liveLocks ??= (asker) => this.locksOf(tenant.number, asker);
    let common = this.shared.get(tenant.number);
    if (common === undefined) {
      common = { notifications: new Notifications(), advisory: new AdvisoryLocks() };
      this.shared.set(tenant.number, common);
    }
    return common;
  }

  /** As it is for whoever asks. */
  sharedFor(request: Request): SharedBySessions {
    const tenant = request.tenant.number;
    const { head, readOnly } = request;
    const asker: Asker = { head, readOnly };
    const of = (number: number, ends: EndsSessionsOf): WireSession | null => {
      const kept = this.kept.ofTenant(tenant, number);
      if (kept === null) return null;
      const { owner, session } = kept;
      const { user, isAdministrators } = session.live;
      const isOwn = mayUse(asker, owner);
      if ((readOnly && !isOwn) || !ends({ user, isAdministrators, isOwn })) throw anothers();
      return session;
    };
    return {
      ...this.commonOf(request.tenant),
      readOnly,
      cancel: (session, ends) => of(session, ends)?.cancel() ?? false,
      terminate: (session, ends) => of(session, ends)?.terminate() ?? false,
    };
  }

  /** Throws why there is none. */
  get(request: Request, number: number): WireSession {
    const wire = this.kept.get(request, number);
    if (wire.ended !== null) throw wire.ended;
    return wire;
  }

  find(request: Request, number: number): WireSession | null {
    return this.kept.find(request, number);
  }

  remove(request: Request, number: number): void {
    this.kept.remove(request, number);
  }

  /** Ends what rests too long, and forgets sessions of tenants that are elsewhere now. */
  sweep(nowMs: number): void {
    for (const kept of this.kept) {
      const wire = kept.session;
      if (wire.client.isAtWork) continue;
      if (this.partition.places.hasLeft(kept.tenant)) {
        wire.end(sqlError("57P01", "terminating connection: the tenant was moved"));
        this.kept.forget(kept);
        continue;
      }
      if (wire.ended !== null) continue;
      const { session } = wire;
      const { inTransaction } = session;
      const restMs = restOf(session.settings, inTransaction);
      if (restMs === 0 || nowMs - wire.idleSinceMs < restMs) continue;
      wire.end(
        inTransaction
          ? sqlError("25P03", "terminating connection due to idle-in-transaction timeout")
          : sqlError("57P05", "terminating connection due to idle-session timeout"),
      );
    }
  }

  /** The tenant is a branch that was deleted. */
  branchEnded(tenant: number): void {
    for (const kept of [...this.kept].filter((each) => each.tenant === tenant)) {
      kept.session.end(sqlError("57P01", "terminating connection: the database was dropped"));
      this.kept.forget(kept);
    }
    this.shared.delete(tenant);
  }

  identityEnded(change: IdentityChange, error: DbError): void {
    this.kept.identityEnded(change, error);
  }
}

function anothers(): DbError {
  return sqlError("42501", "must be a member of the role whose process is being terminated or canceled", {
    hint: "A session belongs to the user, or the API key, that opened it. Administrators of the tenant may end others, too.",
  });
}

export const WIRE_SESSIONS = new PartitionPartKind((partition) => new WireSessions(partition));
