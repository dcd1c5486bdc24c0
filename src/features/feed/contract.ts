/**
 * The interfaces between the parts of subscriptions and the actor; the parts themselves are in the files beside.
 */

import type { ReplySink } from "../../actor/reply-sink.js";
import type { Config } from "../../protocol/config.js";
import type { DbError } from "../../protocol/errors.js";
import type { RequestHead } from "../../protocol/frames.js";
import type { CallerBounds } from "../../protocol/identity.js";
import type { AuditedCaller } from "../../session/audited-caller.js";
import type { Client } from "../../session/statement-run.js";
import type { Tenant } from "../../session/tenant.js";
import type { Shard } from "../../storage/shard.js";
import type { ChangeFeed } from "./change-feed.js";
import type { ChangeForm } from "./change-form.js";

/** The way to the gateway, for what outlives its request. */
export interface LiveOutput {
  newChannel(): number;
  /** The request has become a subscription: it has no deadline any more and counts as none that runs. */
  began(id: number): void;
  /** From now on it gets what the channel gets. */
  joined(id: number, channel: number): void;
  /** `sequence`: what a member that got it has seen. */
  publish(channel: number, sequence: number, message: Uint8Array): void;
  /** The subscription ends with this message. */
  ended(id: number, status: number, message: Uint8Array): void;
  /** Whom to tell that the client has left. */
  listen(id: number, subscriber: Subscriber | null): void;
  failed(error: unknown): void;
  /** Turns of a tenant's for work that no request waits for. */
  turnsOf(tenant: number): Client;
}

/** The request that subscribes. */
export interface FollowingRequest {
  readonly id: number;
  readonly tenant: Tenant;
  readonly head: Pick<RequestHead, "tenantId" | "username" | "roles"> & CallerBounds;
  deadlineMs: number;
  audited(): AuditedCaller;
  openReply(contentType: string, headers: readonly string[]): Promise<ReplySink>;
  checkpoint(): void;
  shouldYield(): boolean;
  yieldTurn(): Promise<void>;
}

/** The partition. */
export interface SubscriptionHost {
  readonly shard: Shard;
  readonly feed: ChangeFeed;
  readonly config: Config;
  tenant(number: number): Tenant;
  /** Resolves when everything that was committed is on disk. */
  durable(): Promise<void>;
}

export interface Subscriber {
  left(): void;
}

/** How a subscription's messages reach its client. */
export interface Way {
  readonly form: ChangeForm;
  /** The client's name for it, as JSON. */
  readonly id: string;
  errorMessage(error: DbError): Uint8Array;
  /** Of the text of an error that ends it before it lives by itself. */
  errorText(errorJson: string): string | Uint8Array;
}
