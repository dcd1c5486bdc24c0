/**
 * Which link serves a partition, in a cluster (src/cluster/cluster-routes.ts). On one machine there is none: each
 * partition is an actor's of this process.
 */
import type { AuditKept } from "../protocol/audit.js";
import type { BoltRoutes } from "../protocol/bolt/bolt-routes.js";
import type { Endpoint } from "../protocol/endpoint.js";
import type { RequestHead } from "../protocol/frames.js";
import type { IdentityChange } from "../protocol/identity.js";
import type { ActorLink, Loss } from "./actor-link.js";

/** This process, as the routes see it. */
export interface LocalActors {
  /** Of the actor whose the partition is where this node owns it. */
  localLinkOf(partition: number): ActorLink;
  /** The directory's owner, another node, has changed an identity. */
  identityChanged(change: IdentityChange): void;
  /** The directory's owner, another node, has entries of the audit trail on disk, maybe this node's. */
  auditKept(kept: AuditKept): void;
  /** The partition's owner, another node, is not reached any more, or is deposed. */
  partitionLost(partition: number): void;
  /** The directory has another owner, or is not reached: changes may be missed. */
  directoryLost(): void;
}

/** Of a session of PostgreSQL's protocol: what its client was told at the start. */
export interface StatementCancel {
  readonly session: number;
  readonly secret: number;
}

/** A request of another node's gateway, as far as it is counted. */
export interface ForwardedRequest {
  readonly head: Pick<RequestHead, "tenantId" | "rateLimit">;
  readonly bodyBytes: Uint8Array;
}

/**
 * It counts in its tenant's limit here, too. Null: it may go on. Else it is refused, or, of another protocol than HTTP,
 * asked about again shortly.
 */
export type ChargeForwarded = (frame: ForwardedRequest, endpoint: Endpoint) => Loss | null;

export interface PartitionRoutes {
  bind(actors: LocalActors): void;
  linkOf(partition: number): ActorLink;
  /** For reads that may be stale: to a copy of the partition; null: only its owner can answer. */
  linkToCopy(partition: number): ActorLink | null;
  /** This node serves the partition from now on. */
  opened(partition: number): void;
  /** The thread of that actor serves nothing any more: it has ended, or is about to. */
  ended(partitions: readonly number[]): void;
  /** That thread has ended while the server runs on; the next one is started. */
  threadEnded(partitions: readonly number[]): void;
  /** Whether what the directory said may be used again: it is here, and this node may believe so. */
  mayCache(): boolean;
  /**
   * The directory of this node has changed an identity. Resolves when all other nodes have heard it; null: there are
   * none.
   */
  identityChanged(change: IdentityChange): Promise<void> | null;
  /** The directory of this node has entries of another node's on disk. */
  auditKept(kept: AuditKept): void;
  /** Maybe a client of another node wants its statement to be cancelled: the other nodes are told. */
  cancelElsewhere(wanted: StatementCancel): void;
  /** Has `cancel` called with what other nodes were asked. */
  onCancel(cancel: (wanted: StatementCancel) => void): void;
  /** Has `charge` called with each request that another node has forwarded. */
  onForwarded(charge: ChargeForwarded): void;
  /** Null: this node, or where the client came from. */
  boltRoutes(partition: number): BoltRoutes | null;
  /** For GET /admin/cluster. */
  describe(): Promise<object>;
}
