/** What an actor's tenures need (tenures.ts). */
import type { DbError } from "../protocol/errors.js";
import type { ClusterMap } from "./cluster-map.js";
import type { Confirmations } from "./confirmations.js";
import type { NodeClock } from "./lease.js";
import type { LeaseMemory } from "./lease-memory.js";
import type { LogService } from "./log-service.js";
import type { LookPeriods } from "./look-times.js";
import type { OwnerCopiesOptions } from "./owner-copies.js";
import type { PartitionCopy, ServedCopy } from "./partition-copy.js";
import type { Placement } from "./placement.js";
import type { ReplicatedCommitLog } from "./replicated-commit-log.js";

export interface TenuresOptions {
  readonly node: string;
  /** Its number in the node. */
  readonly actor: number;
  readonly map: Pick<ClusterMap, "view" | "changes">;
  readonly service: LogService;
  readonly lease: LeaseMemory;
  /** Of the cluster. */
  readonly partitions: number;
  /** That are this actor's where the node owns them. */
  readonly mine: readonly number[];
  readonly reads: "lease" | "quorum";
  /** Nodes that keep each partition, its owner among them. */
  readonly copies: number;
  /** Of copy-keeper.ts; times that tests make small. */
  readonly replaceAfterMs?: number;
  readonly dropAfterMs?: number;
  readonly reportMs?: number;
  readonly steadyMs?: number;
  readonly looks?: LookPeriods;
  /** This machine's, where there is no other. */
  readonly clock?: NodeClock;
  /** Absent: it works out by itself which node shall own what. */
  readonly placement?: Pick<Placement, "place">;
  readonly copyOf: (partition: number) => PartitionCopy;
  readonly fetch: OwnerCopiesOptions["fetch"];
  readonly restore?: OwnerCopiesOptions["restore"];
  /** The thread must end and be started again. */
  readonly failed: (error: DbError) => void;
  readonly log: (level: "error" | "warn" | "info", message: string, fields: object) => void;
}

export interface TenuresHost {
  open(partition: number): Promise<void>;
  /** False: not now. */
  close(partition: number): Promise<boolean>;
  armTurn(): void;
  /** Opens this node's copy of a partition, to be read. */
  openCopy(partition: number): Promise<ServedCopy>;
}

export interface Tenure {
  readonly epoch: number;
  readonly log: ReplicatedCommitLog;
  readonly confirmations: Confirmations;
}
