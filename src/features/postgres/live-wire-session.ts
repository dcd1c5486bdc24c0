/** What pg_stat_activity and SHOW TRANSACTIONS tell of a session of PostgreSQL's protocol, which it belongs to. */
import type { RequestHead } from "../../protocol/frames.js";
import { administers } from "../../protocol/identity.js";
import type { Session } from "../../session/session.js";
import type { LiveSession, LiveTransaction } from "../../sql/bind/system/system-view.js";
import type { WireClient } from "./wire-client.js";

export interface WatchedWire {
  readonly number: number;
  readonly session: Session;
  readonly client: WireClient;
  /** When the last messages were answered; milliseconds since the epoch. */
  readonly idleSinceMs: number;
  terminate(): void;
}

export class LiveWireSession implements LiveSession {
  readonly protocol = "postgresql";
  readonly startedMicros = Date.now() * 1000;
  readonly user: string;
  readonly address: string;
  readonly owner: LiveSession["owner"];
  /** Its user administers the tenant. */
  readonly isAdministrators: boolean;
  private readonly database: string;

  constructor(
    private readonly wire: WatchedWire,
    { userId, keyId, username, tenantId, remoteAddress, roles }: RequestHead,
  ) {
    this.isAdministrators = administers({ roles });
    this.owner = { userId, keyId };
    this.user = username;
    this.database = tenantId;
    this.address = remoteAddress;
  }

  get number(): number {
    return this.wire.number;
  }

  get application(): string {
    return this.wire.session.settings.show("application_name");
  }

  get state(): LiveSession["state"] {
    const { client, session } = this.wire;
    if (client.isAtWork) return "active";
    if (!session.inTransaction) return "idle";
    return session.status === "failed" ? "idle in transaction (aborted)" : "idle in transaction";
  }

  get transactionMicros(): number | null {
    const { client, session } = this.wire;
    return session.inTransaction || client.isAtWork ? session.startedMicros : null;
  }

  get changedMicros(): number {
    const { client, idleSinceMs } = this.wire;
    return client.isAtWork ? (this.statementMicros ?? this.startedMicros) : idleSinceMs * 1000;
  }

  get statement(): string {
    return this.wire.client.statement;
  }

  get statementMicros(): number | null {
    const { begunMs } = this.wire.client;
    return begunMs === 0 ? null : begunMs * 1000;
  }

  get transaction(): LiveTransaction | null {
    const { wire, database, transactionMicros } = this;
    if (transactionMicros === null) return null;
    return {
      id: `${database}-transaction-${wire.number}-${transactionMicros}`,
      database,
      metadata: new Map(),
      parameters: new Map(),
      query: this.statementMicros ?? 0,
      status: wire.client.waitsFor === null ? "Running" : "Blocked",
      terminate: () => wire.terminate(),
    };
  }
}
