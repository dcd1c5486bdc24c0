/**
 * A message while an actor works on it: the frame that went out, and what comes back as messages to the client. The
 * counterpart of an Exchange without HTTP around it. Made by messages/to-actor.ts; known to its connection until it ends.
 */
import { ERRORS } from "../../protocol/errors.js";
import { REPLY_MOVED, type ReplyFrame } from "../../protocol/frames.js";
import type { ActorLink, PendingReply } from "../actor-link.js";
import type { Deadlined, DeadlineQueue } from "../deadline-queue.js";
import { REDIRECTS_MAX, redirect, release } from "../partition-load.js";
import type { Bucket } from "../rate-limiter.js";
import { logRequest } from "../request-log.js";
import type { Route } from "../route.js";
import type { Client, RunningRequest } from "./contract.js";

export type SendMessage = (request: MessageRequest, link: ActorLink, partition: number, body: Uint8Array) => number;

export class MessageRequest implements PendingReply, Deadlined, RunningRequest {
  previous: Deadlined | null = null;
  next: Deadlined | null = null;
  expiresAt = 0;
  queue: DeadlineQueue | null = null;
  private link: ActorLink;
  private frameId = 0;
  #redirects = 0;
  /** Bytes that lie in the socket because the client does not read. */
  #unread = 0;
  #ended = false;

  constructor(
    private readonly connection: Client,
    private readonly route: Route,
    readonly id: string,
    readonly requestId: string,
    private partition: number,
    /** Sends the frame and answers its id. */
    private readonly send: SendMessage,
    /** Bytes counted against the partition. */
    private readonly reserved: number,
    private readonly bucket: Bucket,
    private readonly startedAt: number,
  ) {
    connection.services.open++;
    bucket.inFlight++;
    route.deadlines!.add(this, startedAt);
    this.link = connection.services.pool.linkOf(partition);
  }

  /** `body`: the message. */
  begin(body: Uint8Array): void {
    this.frameId = this.send(this, this.link, this.partition, body);
  }

  /** The tenant is in another partition, and the message goes there. */
  #follow({ headers, body }: ReplyFrame): void {
    const { services, caller } = this.connection;
    const to = Number(headers);
    redirect(services, this.partition, to, this.reserved);
    this.partition = to;
    this.link = services.pool.linkOf(to);
    caller.partition = to;
    if (this.link.state !== "ready" || ++this.#redirects > REDIRECTS_MAX) this.lost();
    else this.begin(body);
  }

  replied(frame: ReplyFrame): void {
    if ((frame.flags & REPLY_MOVED) !== 0) {
      this.#follow(frame);
      return;
    }
    if (frame.body.length > 0) this.connection.send(frame.body);
    this.#end(frame.status);
  }

  /** The actor is told of what left; what did not makes it stop after a window's worth. */
  progressed({ body }: ReplyFrame): void {
    if (body.length === 0) return;
    if (this.connection.send(body)) {
      this.link.taken(this.frameId, body.length);
      return;
    }
    this.#unread += body.length;
    this.connection.waits(this);
  }

  drained(): void {
    if (this.#unread === 0) return;
    this.link.taken(this.frameId, this.#unread);
    this.#unread = 0;
  }

  lost(): void {
    const { connection } = this;
    connection.fail(this.id, "partition_unavailable");
    this.#end(ERRORS.partition_unavailable.status);
  }

  expired(): void {
    this.link.cancel(this.frameId);
    this.connection.fail(this.id, "request_timeout");
    this.#end(ERRORS.request_timeout.status);
  }

  cancel(): void {
    this.link.cancel(this.frameId);
    this.#end(ERRORS.cancelled.status);
  }

  #end(status: number): void {
    // Sending may find that the connection is gone, which has ended it.
    if (this.#ended) return;
    this.#ended = true;
    const { services, caller } = this.connection;
    this.queue?.remove(this);
    this.bucket.inFlight--;
    release(services, this.partition, this.reserved);
    const tookMs = services.clock.now() - this.startedAt;
    services.metrics.count(this.route.index, status, tookMs);
    logRequest(services, this.route, this.requestId, caller.identity.tenantId, status, tookMs);
    this.connection.ended(this);
    services.open--;
    if (services.open === 0) services.drained?.();
  }
}
