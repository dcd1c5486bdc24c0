/**
 * Control messages between the gateway's thread and an actor's: rare objects, sent as structured clones. Requests and
 * replies travel as frames (frames.ts) in bare ArrayBuffers on the same port. So the order between the two kinds is
 * kept: an identity change always arrives before the reply of the request that made it.
 */
import type { MessagePort } from "node:worker_threads";
import type { AuditBatch, AuditEvent, AuditKept } from "./audit.js";
import type { BackupAnswer, BackupAsk, BackupOrder, BackupReport, OrderHeard, ReportSent } from "./backup-orders.js";
import type { Config } from "./config.js";
import type { ErrorCode } from "./errors.js";
import type { Identity, IdentityChange } from "./identity.js";
import type { FromLibrary, ToLibrary } from "./model-library.js";
import type { MoveReport, PlacementMessage, RestoreOrder, RestoreReport, UnsettledTenant } from "./placement.js";
import type { CountedRequests } from "./request-counts.js";
import type { StoppedStatement } from "./stopped-statement.js";
import type { ThreadDiagnosis } from "./thread-diagnosis.js";
import type { EngineMetrics, JobMetrics, RecordCacheMetrics, ThreadMetrics } from "./thread-metrics.js";
import type { SpanRecord, TraceContext } from "./tracing.js";

/** The first message to an actor's thread. */
export interface ActorSettings {
  readonly actor: number;
  /** The partitions that this actor owns. */
  readonly partitions: readonly number[];
  /** How many partitions the installation has: new tenants are placed on the emptiest. */
  readonly partitionCount: number;
  readonly dataDirectory: string;
  /** The id of the installation that the partitions' directories belong to. */
  readonly installation: string;
  readonly config: Config;
  /** The key that signs access tokens; only partition 0's actor uses it. */
  readonly secret: Uint8Array;
  /** Bundles of models of claims that were installed when the process started; the digest is their manifest's. */
  readonly claimBundles: readonly { readonly directory: string; readonly digest: string }[];
  /** Of the administrator, for a first boot; null: make one up. */
  readonly adminPassword: string | null;
  /** Where the thread leaves its marks (actor-marks.ts); absent: nobody reads any. */
  readonly marks?: SharedArrayBuffer;
  /** What is refused from the start. */
  readonly stopped?: readonly StoppedStatement[];
  /** Absent: the installation is one machine. */
  readonly cluster?: ClusterSettings;
}

/** PEM texts: of the authority of etcd's members, and, where they ask for it, this node's certificate and key. */
export interface EtcdTls {
  readonly authority: string;
  readonly certificate?: string;
  readonly key?: string;
}

/** Where a cluster is in etcd, and which of its nodes asks. */
export interface PlaceInEtcd {
  /** host:port of etcd's members. */
  readonly endpoints: readonly string[];
  /** Absent: connections to etcd are not encrypted. */
  readonly tls?: EtcdTls | undefined;
  /** Of the cluster: all its keys in etcd begin with it. */
  readonly name: string;
  readonly node: string;
}

/** What the library of models needs of its cluster (shared-models.ts). */
export interface EtcdModelsSettings extends PlaceInEtcd {
  /** Of the links between nodes. */
  readonly peerKey: Uint8Array;
}

/** Where partitions are kept outside of all nodes (src/cluster/object-store.ts). */
export interface CheckpointPlace {
  /** A folder, or s3://bucket/prefix. */
  readonly place: string;
  readonly s3: S3Access | null;
  /** With which they are encrypted. */
  readonly key: Uint8Array;
  readonly installation: string;
  /** The cluster's own id: others may have the same name, on another etcd. */
  readonly cluster: string;
}

export interface S3Access {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Of a node of a cluster. */
export interface ClusterSettings extends PlaceInEtcd {
  readonly reads: Config["cluster"]["reads"];
  readonly copies: number;
  readonly replaceAfterMs: number;
  /** Absent: nothing is kept outside of nodes. */
  readonly checkpoints?: CheckpointPlace;
  /** Of the links between nodes. */
  readonly peerKey: Uint8Array;
  /** What the node may believe about its lease. */
  readonly lease: SharedArrayBuffer;
}

export interface IdentityQuery {
  readonly kind: "find-identity";
  readonly id: number;
  /** `key`: the SHA-256 of an API key, hex. `token`: one that another issuer has signed, whole. */
  readonly by: "user" | "key" | "token";
  readonly value: string;
}

/** Why a credential stands for nobody. */
export interface IdentityRefusal {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Why nothing that needs room is written at the moment. */
export interface WriteRefusal {
  readonly code: "disk_full" | "overloaded";
  readonly message: string;
}

export type LogLevel = Config["server"]["logLevel"];

export type ToActor =
  | IdentityQuery
  | { readonly kind: "key-usage"; readonly usage: readonly { keyId: string; count: number; lastUsedMs: number }[] }
  | { readonly kind: "metrics"; readonly id: number }
  /** Nothing more comes for the partition. */
  | { readonly kind: "partition-left"; readonly partition: number }
  /** Null: writes are taken again. */
  | { readonly kind: "refuse-writes"; readonly refusal: WriteRefusal | null }
  | { readonly kind: "log-level"; readonly level: LogLevel }
  /** All that are refused at the moment. */
  | { readonly kind: "stopped-statements"; readonly stopped: readonly StoppedStatement[] }
  /** Ends what they left open: they were disabled or removed. */
  | { readonly kind: "identity-ended"; readonly change: IdentityChange }
  /** For the trail, which the directory's actor keeps. */
  | { readonly kind: "audit"; readonly batch: AuditBatch }
  /** The answer to ask-actors: what those say that are up. */
  | { readonly kind: "actors"; readonly id: number; readonly actors: readonly ActorMetrics[] }
  /** Of the library of models. */
  | { readonly kind: "library"; readonly message: FromLibrary }
  /** For the partition, which the actor owns. */
  | { readonly kind: "placement"; readonly partition: number; readonly message: PlacementMessage }
  | { readonly kind: "restore"; readonly partition: number; readonly order: RestoreOrder }
  | { readonly kind: "backup"; readonly partition: number; readonly order: BackupOrder }
  /** The directory's actor has a report on an order. */
  | { readonly kind: "order-heard"; readonly partition: number; readonly heard: OrderHeard }
  | { readonly kind: "backup-answer"; readonly answer: BackupAnswer }
  /** Say which tenants are unsettled: the directory has been started again. */
  | { readonly kind: "report-unsettled" }
  /** These go to the directory's actor. */
  | { readonly kind: "move-report"; readonly report: MoveReport }
  | { readonly kind: "backup-ask"; readonly ask: BackupAsk }
  | { readonly kind: "restore-report"; readonly report: RestoreReport; readonly sent: ReportSent | null }
  | { readonly kind: "backup-report"; readonly report: BackupReport; readonly sent: ReportSent | null }
  | { readonly kind: "unsettled"; readonly partition: number; readonly tenants: readonly UnsettledTenant[] }
  | { readonly kind: "actor-ended"; readonly actor: number }
  /** In a cluster: the partition's owner is not reached any more, or is another one. */
  | { readonly kind: "partition-ended"; readonly partition: number }
  /** For a diagnostic bundle; the thread answers, not its actor. */
  | { readonly kind: "diagnose"; readonly id: number; readonly profileSeconds: number }
  /** The request of that frame, which follows, is traced. */
  | { readonly kind: "trace"; readonly id: number; readonly context: TraceContext }
  /** Finish what runs, flush, close and let the thread end. */
  | { readonly kind: "close" };

export interface PartitionMetrics {
  readonly partition: number;
  readonly commits: number;
  readonly conflicts: number;
  readonly syncs: number;
  readonly syncSeconds: number;
  readonly syncSecondsMax: number;
  /** Writes of the log, each of one group of commits; and the largest group. */
  readonly flushes: number;
  readonly groupMax: number;
  /**
   * Transactions ended because their snapshots needed too much memory; and the memory of replaced values that snapshots
   * still need.
   */
  readonly abortedForMemory: number;
  readonly versionBytes: number;
  /** Replies that wait for the disk. */
  readonly repliesAtGate: number;
  readonly subscriptions: number;
  readonly tablesFollowed: number;
  /** Changes kept in memory for subscribers that come back. */
  readonly changeHistoryBytes: number;
  readonly engine: EngineMetrics | null;
  readonly recordCache: RecordCacheMetrics | null;
  readonly jobs: readonly JobMetrics[];
  readonly logBytes: number;
  readonly openTransactions: number;
  readonly planCacheHits: number;
  readonly planCacheMisses: number;
  readonly planCacheEntries: number;
  /** Of the partition's files and what is to be written to them, roughly. */
  readonly storedBytes: number;
  /** Of files with columns of long tables. */
  readonly columnFileBytes: number;
  /** Share of the actor's thread that its tenants used lately, 0 to 1. */
  readonly load: number;
  /** Tenants with something in memory. */
  readonly tenantsInMemory: number;
  /** Indexes for search in memory; what waits to be put into them, or linked; rows that were put into them. */
  readonly indexes: number;
  readonly indexBytes: number;
  readonly indexItemsWaiting: number;
  readonly indexRowsFolded: number;
  /** Requests that wait because their tenant is being moved. */
  readonly requestsHeld: number;
}

/** Upper bounds of the scheduler's histograms, milliseconds. */
export const SCHEDULER_BUCKETS_MS = [0.1, 0.25, 0.5, 1, 1.5, 2, 5, 10, 25, 50, 100, 250, 1000];

/** Counts by bucket (the last one has no upper bound) and the sum of what was counted. */
export interface Histogram {
  readonly counts: readonly number[];
  readonly sumSeconds: number;
}

export interface SchedulerMetrics {
  /** Slices that took twice as long as they should, or longer. */
  readonly sliceOverruns: number;
  readonly longestSliceSeconds: number;
  /** How long slices took. */
  readonly slices: Histogram;
  /** How long requests and statements waited for their turns. */
  readonly waits: Histogram;
  /** Those of requests alone, until they began. */
  readonly firstWaits: Histogram;
  /** CPU time of some slices, a sample. Empty where the system does not tell. */
  readonly sliceCpu: Histogram;
}

export interface ActorMetrics extends SchedulerMetrics {
  readonly actor: number;
  readonly requests: number;
  /**
   * CPU time between two looks, 10 ms apart, at whether the loop comes round; and the longest. Empty where the system
   * does not tell.
   */
  readonly turnCpu: Histogram;
  readonly longestTurnCpuSeconds: number;
  /** Requests that did not end at once. */
  readonly running: number;
  /** Requests that wait for their turn, and statements for their next slice. */
  readonly waiting: number;
  readonly heapBytes: number;
  readonly eventLoopUtilization: number;
  /** Statements that ran longer than query.slow_ms. */
  readonly slowStatements: number;
  /** Statements that were refused for being like one that was stopped. */
  readonly statementsRefused: number;
  /** Tables' columns in memory. */
  readonly segmentBytes: number;
  readonly segmentTables: number;
  readonly segmentsEvicted: number;
  /** Temporary files of statements: bytes in them now, and written since the start. */
  readonly spillBytes: number;
  readonly spillBytesWritten: number;
  readonly backupsRunning: number;
  /** Null: the actor has no thread of its own. */
  readonly thread: ThreadMetrics | null;
  /** What models did for tenants, by their names. */
  readonly modelUsage: readonly ModelUsage[];
  /** Null: the actor has no way to an inference thread. */
  readonly inference: InferenceMetrics | null;
  /** Of the directory's actor. */
  readonly schedules: readonly ScheduleMetrics[];
  readonly partitions: readonly PartitionMetrics[];
  /** What was asked by connections of PostgreSQL's protocol whose sockets the actor has, by partition. */
  readonly postgres: readonly CountedRequests[];
  /** Null: the installation is one machine. */
  readonly cluster: ClusterMetrics | null;
}

/** Of an actor in a cluster. */
export interface ClusterMetrics {
  /** Of the node; negative: it has run out. */
  readonly leaseLeftSeconds: number;
  /** Partitions that the actor has opened as their owner since it started. */
  readonly takeovers: number;
  /** That etcd holds, when that was last looked at. */
  readonly logServiceBytes: number;
  readonly owned: readonly OwnedMetrics[];
  /** Of partitions that other nodes own: commits on the owner's disk that are not on this node's. */
  readonly copies: readonly { readonly partition: number; readonly lagCommits: number }[];
}

/** Of a partition that this actor owns. */
export interface OwnedMetrics {
  readonly partition: number;
  readonly epoch: number;
  /** Appends that etcd has acknowledged, and how long that took in all. */
  readonly appends: number;
  readonly appendSeconds: number;
  readonly appendedBytes: number;
  /** That wait for etcd. */
  readonly unacknowledgedBytes: number;
}

/** A schedule of backups. */
export interface ScheduleMetrics {
  readonly schedule: string;
  /** Null: of the whole installation. */
  readonly tenant: string | null;
  readonly completed: number;
  readonly failures: number;
  /** Since 1970; 0: never. */
  readonly lastSuccessSeconds: number;
  readonly nextSeconds: number;
}

export interface ModelUsage {
  readonly tenant: string;
  /** Texts that were embedded. */
  readonly texts: number;
  /** Pairs that were compared. */
  readonly pairs: number;
  /** That models read: of texts, pairs and prompts. */
  readonly tokens: number;
  /** That models wrote. */
  readonly generatedTokens: number;
}

/** An actor's inference thread, and what waits for it. */
export interface InferenceMetrics {
  /** Texts and pairs that wait. */
  readonly waiting: number;
  /** Texts that are being generated. */
  readonly generations: number;
  readonly runs: number;
  /** Texts and pairs of those runs. */
  readonly items: number;
  /** Requests that were turned away since too much waited. */
  readonly refused: number;
  /** Models in memory, and the bytes that they take. */
  readonly sessions: number;
  readonly sessionBytes: number;
}

export type FromActor =
  /**
   * `adminPassword`: made up at a first boot, to be printed once. `operators`: their names by the numbers in the marks.
   */
  | { readonly kind: "ready"; readonly adminPassword: string | null; readonly operators?: readonly string[] }
  /** It ends: nothing runs in it any more, and what it has is being saved. */
  | { readonly kind: "at-rest" }
  /** A frame's memory that nobody reads any more (piece-frame.ts). */
  | { readonly kind: "spare-frame"; readonly memory: ArrayBuffer }
  | {
      readonly kind: "identity";
      readonly id: number;
      readonly identity: Identity | null;
      /** Why there is none, where that can be told. */
      readonly refusal?: IdentityRefusal;
    }
  | { readonly kind: "identity-changed"; readonly change: IdentityChange }
  | { readonly kind: "metrics"; readonly id: number; readonly metrics: ActorMetrics }
  /** To be set in all threads that log. */
  | { readonly kind: "log-level"; readonly level: LogLevel }
  | { readonly kind: "diagnosis"; readonly id: number; readonly diagnosis: ThreadDiagnosis }
  /** Of a request that is traced. */
  | { readonly kind: "spans"; readonly spans: readonly SpanRecord[] }
  /** From an actor that does not write them into the directory itself. */
  | { readonly kind: "audit"; readonly events: readonly AuditEvent[] }
  /** By a lead or a budget. */
  | { readonly kind: "refused"; readonly event: AuditEvent }
  | AuditKept
  /**
   * Asks for an inference thread, which has the other end of the actor's port. The main thread starts it, not the
   * actor: an actor may end at any time, and with it every thread that it started, which ONNX Runtime at work does not
   * survive.
   */
  | { readonly kind: "start-inference"; readonly port: MessagePort }
  /** For the library of models, whose thread the main thread starts with the first. */
  | { readonly kind: "library"; readonly message: ToLibrary }
  /** Asks for the metrics of all actors. */
  | { readonly kind: "ask-actors"; readonly id: number }
  /** To be carried to the partition's actor. */
  | { readonly kind: "placement"; readonly partition: number; readonly message: PlacementMessage }
  | { readonly kind: "restore"; readonly partition: number; readonly order: RestoreOrder }
  | { readonly kind: "backup"; readonly partition: number; readonly order: BackupOrder }
  | { readonly kind: "order-heard"; readonly partition: number; readonly heard: OrderHeard }
  | { readonly kind: "backup-answer"; readonly partition: number; readonly answer: BackupAnswer }
  /** To be carried to the directory's actor. */
  | { readonly kind: "move-report"; readonly report: MoveReport }
  | { readonly kind: "backup-ask"; readonly ask: BackupAsk }
  | { readonly kind: "restore-report"; readonly report: RestoreReport; readonly sent: ReportSent | null }
  | { readonly kind: "backup-report"; readonly report: BackupReport; readonly sent: ReportSent | null }
  /** Tenants that were being moved, so the partition does not know whether it has them. Likewise. */
  | { readonly kind: "unsettled"; readonly partition: number; readonly tenants: readonly UnsettledTenant[] }
  /** The partition's files are damaged: it is not served, the others are. Also said before `ready`. */
  | { readonly kind: "partition-damaged"; readonly partition: number; readonly message: string }
  /** The node owns the partition, and serves it from now on. `adminPassword` as with `ready`. */
  | { readonly kind: "partition-opened"; readonly partition: number; readonly adminPassword: string | null }
  /** The partition is about to be another node's: nothing more may be sent there. `partition-left` answers. */
  | { readonly kind: "partition-leaving"; readonly partition: number }
  /** Everything is on disk and closed; the thread ends. */
  | { readonly kind: "closed" }
  /** The actor cannot start or go on; it ends itself after this. `fatal`: a restart cannot help. */
  | { readonly kind: "failed"; readonly message: string; readonly fatal: boolean };
