/**
 * One request on its way to its actor: keeps its place among what is in flight to the partition, queues its frame, and
 * sends it on when its tenant has moved to another partition. Made by exchange.ts; owned by it.
 */
import { REQUEST_STALE, REQUEST_STREAMED, STREAM_WINDOW_BYTES } from "../protocol/frames.js";
import type { ActorLink, PendingReply } from "./actor-link.js";
import { REDIRECTS_MAX, redirect, release, reserve } from "./partition-load.js";
import type { Services } from "./services.js";

/** What a frame tells besides the body. */
export interface FrameParts {
  readonly code: number;
  readonly flags: number;
  readonly tenant: number;
  readonly deadlineMs: number;
  readonly requestId: string;
  readonly head: string;
}

export class ActorCall {
  /** Null: no reply is expected. */
  link: ActorLink | null = null;
  frameId = 0;
  /** -1: it has no place. */
  partition = -1;
  /** Bytes counted against the partition. */
  private bytes = 0;
  private redirects = 0;

  constructor(
    private readonly services: Services,
    private readonly pending: PendingReply,
  ) {}

  /** Counts the request and its body against the partition's bounds; false when one of them is reached. */
  reserve(partition: number, body: Uint8Array | null, isStreamed: boolean): boolean {
    const bytes = isStreamed ? STREAM_WINDOW_BYTES : body === null ? 0 : body.length;
    if (!reserve(this.services, partition, bytes)) return false;
    this.partition = partition;
    this.bytes = bytes;
    return true;
  }

  send({ code, flags, tenant, deadlineMs, requestId, head }: FrameParts, body: Uint8Array | null): void {
    const { pending, partition } = this;
    const { pool } = this.services;
    // A body that streams cannot follow to the owner, where a copy turns out to be too old.
    const mayBeStale = (flags & REQUEST_STALE) !== 0 && (flags & REQUEST_STREAMED) === 0 && this.redirects === 0;
    this.link = mayBeStale ? pool.linkToCopy(partition) : pool.linkOf(partition);
    this.frameId = this.link.send(pending, code, flags, partition, tenant, deadlineMs, requestId, head, body);
  }

  /** Takes the request to the partition where its tenant is now; false: that one cannot take it. */
  moveTo(partition: number): boolean {
    redirect(this.services, this.partition, partition, this.bytes);
    this.partition = partition;
    this.link = null;
    return this.services.pool.takes(partition) && ++this.redirects <= REDIRECTS_MAX;
  }

  /** Tells the actor that nobody waits for the reply. */
  cancel(): void {
    this.link?.cancel(this.frameId);
    this.link = null;
  }

  /** Gives its place back. */
  release(): void {
    if (this.partition >= 0) release(this.services, this.partition, this.bytes);
    this.partition = -1;
  }
}
