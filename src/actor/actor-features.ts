/**
 * The seam between an actor and what features do for a whole actor: moves of tenants, backups, jobs, the directory. The
 * actor calls `ActorFeatures`, which src/features implements; they reach the actor through `ActorHost`.
 */
import type { DeriveKey } from "../directory/derive-key.js";
import type { ActorMarks } from "../protocol/actor-marks.js";
import type { DbError } from "../protocol/errors.js";
import type { ReplyWriter } from "../protocol/frames.js";
import type { ActorMetrics, ActorSettings, FromActor, ToActor } from "../protocol/messages.js";
import type { TenantMemory } from "../protocol/placement.js";
import type { Tenant } from "../session/tenant.js";
import type { Handlers } from "./handler.js";
import type { Partition } from "./partition.js";
import type { Request } from "./request.js";
import type { Scheduler } from "./scheduler.js";
import type { StoppedStatements } from "./stopped-statements.js";

/** The directory's own requests are scheduled and gated under it, in this partition. */
export const DIRECTORY_TENANT = 0;
export const DIRECTORY_PARTITION = 0;

/** Something at work for a tenant. */
export interface Running {
  end(error: DbError): void;
}

/** A request that waits until it is known where its tenant is. */
export interface HeldRequest {
  /** The tenant is here after all. */
  resume(): void;
  redirect(partition: number): void;
  refuse(error: DbError): void;
}

export interface ActorHost {
  readonly settings: ActorSettings;
  readonly partitions: ReadonlyMap<number, Partition>;
  readonly scheduler: Scheduler;
  readonly replies: ReplyWriter;
  readonly marks: ActorMarks;
  readonly stopped: StoppedStatements;
  readonly deriveKey: DeriveKey;
  /** Has the actor's turn come round, for what was put among the replies. */
  armTurn(): void;
  /** The partition has commits that the end of the turn must write. */
  wrote(partition: Partition): void;
  /** What is at work for the tenant, to be ended before it can be moved or restored. */
  running(partition: Partition, tenant: number): readonly Running[];
  /** Kept answers of a tenant that leaves, and of one that has come. */
  takeAnswers(tenant: number): [string, unknown][];
  restoreAnswers(answers: TenantMemory["answers"]): void;
  say(message: FromActor, transfer?: readonly ArrayBuffer[]): void;
  log(level: "error" | "warn" | "info" | "debug", message: string, fields: object): void;
}

export interface ActorFeatures {
  /** The partition was opened. */
  opened(partition: Partition): void;
  /** The partition's files are damaged: nothing will ever change there again. */
  damaged(partition: Partition): void;
  /**
   * Opens the directory, in the actor of its partition; answers the first administrator's password where it was made
   * up.
   */
  openDirectory(): Promise<string | null>;
  /** Of all endpoints that this actor answers. */
  handlers(): Handlers;
  /** The actor serves: work that a restart interrupted goes on. */
  begin(): void;
  /** The same of a partition that was opened after that. */
  beginOne(partition: Partition): void;
  /** Of kinds that the actor does not know itself. */
  hear(message: ToActor): void;
  /** The tenant of that name, in the directory's actor. Throws tenant_not_found. */
  placeOf(tenantId: string): { readonly number: number; readonly partition: number };
  /** Keeps a request of a tenant that is being moved. */
  hold(partition: Partition, tenant: number, request: HeldRequest): void;
  /** The error for requests of a tenant that is being restored. */
  restoring(tenant: number): DbError;
  /** The client of that request has left; false: the request is no subscription. */
  left(requestId: number): boolean;
  /**
   * Something is under way in the partition that must end before another node can own it: a move, a backup, a restore.
   */
  isTied(partition: Partition): boolean;
  /**
   * Another node is to own it: no orders are begun there any more, live replies and jobs end. Resolves when no job
   * runs.
   */
  leaving(partition: Partition): Promise<void>;
  /** Its requests have ended, too: nothing of it is used after this. */
  leave(partition: Partition): Promise<void>;
  /** An audited request has ended so. */
  audited(request: Request, status: number, code: string | null): void;
  /** A lead or a budget has refused what a request asks. */
  refused(request: Request, error: DbError): void;
  /** Work beside requests that is under way for the tenant. */
  running(partition: Partition, tenant: number): readonly Running[];
  /** Tenants that such work keeps in memory. */
  busy(): readonly Tenant[];
  /** The disk refused the partition's commits from `first` on. */
  undone(partition: Partition, first: number, error: DbError): void;
  /** Called every half second. */
  sweep(): void;
  heldIn(partition: Partition): number;
  metrics(): Pick<ActorMetrics, "backupsRunning" | "schedules" | "postgres">;
  /** No more work is begun; resolves when what ran has ended. */
  close(): Promise<void>;
}

export type MakeFeatures = (host: ActorHost) => ActorFeatures;
