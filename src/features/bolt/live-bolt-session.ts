/** What SHOW TRANSACTIONS tells of a session of Bolt, which it belongs to. */
import type { RequestHead } from "../../protocol/frames.js";
import type { LiveSession, LiveTransaction } from "../../sql/bind/system/system-view.js";
import type { VariantMap } from "../../values/variant.js";
import type { WireClient } from "../postgres/wire-client.js";

/** The transaction that is open, or the statement that is one. */
export interface OpenTransaction {
  /** How many the session has begun. */
  readonly count: number;
  readonly graph: string;
  metadata: VariantMap;
  readonly startedMs: number;
  /** How many statements were sent in it, and when the last one came. */
  queries: number;
  queryMs: number | null;
  /** Of the statement whose rows are not all pulled yet. */
  parameters: VariantMap;
  /** It was ended from outside. */
  isTerminated: boolean;
}

export interface WatchedBolt {
  readonly client: WireClient;
  readonly hasResults: boolean;
  readonly open: OpenTransaction | null;
  /** When the last messages were answered; milliseconds since the epoch. */
  readonly restsSinceMs: number;
  terminate(): void;
  /** Of a database as a client calls it, null: of the usual one; as ROUTE gives it. */
  routingTable(database: string | null): RoutingTable;
}

export interface RoutingTable {
  /** How long clients keep it. */
  readonly ttl: number;
  /** The name of the database. */
  readonly db: string;
  readonly servers: readonly { readonly role: string; readonly addresses: readonly string[] }[];
}

export class LiveBoltSession implements LiveSession {
  readonly protocol = "bolt";
  readonly startedMicros = Date.now() * 1000;
  readonly user: string;
  readonly address: string;
  readonly owner: LiveSession["owner"];
  readonly application = "";

  constructor(
    readonly bolt: WatchedBolt,
    readonly number: number,
    { userId, keyId, username, remoteAddress }: RequestHead,
  ) {
    this.owner = { userId, keyId };
    this.user = username;
    this.address = remoteAddress;
  }

  get state(): LiveSession["state"] {
    const { client, hasResults, open } = this.bolt;
    if (client.isAtWork || hasResults) return "active";
    return open === null ? "idle" : "idle in transaction";
  }

  get transactionMicros(): number | null {
    const { open } = this.bolt;
    return open === null ? null : open.startedMs * 1000;
  }

  get changedMicros(): number {
    const { client, restsSinceMs } = this.bolt;
    return client.isAtWork ? (this.statementMicros ?? this.startedMicros) : restsSinceMs * 1000;
  }

  get statement(): string {
    return this.bolt.client.statement;
  }

  get statementMicros(): number | null {
    const { client, open } = this.bolt;
    // Rows are pulled after it has begun.
    const begunMs = open?.queryMs ?? client.begunMs;
    return begunMs === 0 ? null : begunMs * 1000;
  }

  get transaction(): LiveTransaction | null {
    const { bolt } = this;
    const { open } = bolt;
    if (open === null || (open.isTerminated && !bolt.client.isAtWork)) return null;
    const { graph, metadata, parameters, queries } = open;
    return {
      id: `${graph}-transaction-${this.number}-${open.count}`,
      database: graph,
      metadata,
      parameters,
      query: queries,
      status: open.isTerminated ? "Terminated" : bolt.client.waitsFor === null ? "Running" : "Blocked",
      terminate: () => bolt.terminate(),
    };
  }
}
