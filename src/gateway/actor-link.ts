/**
 * The gateway's end of one actor's thread. It collects the request frames of a loop turn and posts them as one
 * transferred buffer, hands reply frames to whoever waits for them, and carries the control messages. It outlives the
 * thread: after a crash the supervisor (actor-pool.ts) gives it the next one. It owns the table of what is in flight.
 */
import {
  REPLY_LIVE,
  REPLY_MORE,
  REPLY_TAKEN,
  type ReplyFrame,
  RequestWriter,
  readReplies,
} from "../protocol/frames.js";
import type { Identity } from "../protocol/identity.js";
import type { ActorMetrics, FromActor, IdentityQuery, ToActor } from "../protocol/messages.js";
import type { ThreadDiagnosis } from "../protocol/thread-diagnosis.js";
import { freeBuffer } from "./free-buffer.js";
import { LiveChannels, type LiveSubscriber } from "./live-channels.js";

/** What the gateway needs of a worker thread. */
export interface ActorPort {
  postMessage(value: unknown, transfer?: readonly ArrayBuffer[]): void;
  on(event: "message", listener: (value: unknown) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "exit", listener: (code: number) => void): unknown;
  terminate(): Promise<unknown>;
}

/** `failed`: given up, or it keeps crashing and gets a long pause. */
export type LinkState = "starting" | "ready" | "restarting" | "failed" | "closed";

/** `damaged`: its files are, while other partitions of its actor may be ready. */
export type PartitionState = LinkState | "damaged";

/**
 * Somebody who waits for a reply frame: `replied` or `lost` is called, once, unless the request is cancelled. A frame's
 * body is there during the call only.
 */
export interface PendingReply {
  replied(frame: ReplyFrame): void;
  /** A frame that others follow: REPLY_MORE or REPLY_TAKEN. */
  progressed(frame: ReplyFrame): void;
  /** The actor's thread ended before it answered. */
  lost(): void;
  /** Of what may become a subscription. */
  readonly live?: LiveSubscriber;
}

/** `undefined`: the directory's actor is not there to ask. */
export type IdentityAnswer = (identity: Identity | null | undefined) => void;

export class ActorLink {
  state: LinkState = "starting";
  #port: ActorPort | null = null;
  #nextId = 0;
  #flushing = false;
  readonly #writer = new RequestWriter();
  readonly #pending = new Map<number, PendingReply>();
  readonly #channels = new LiveChannels();
  readonly #identityQueries = new Map<number, IdentityAnswer>();
  readonly #metricsQueries = new Map<number, (metrics: ActorMetrics | null) => void>();

  readonly #diagnoses = new Map<number, (diagnosis: ThreadDiagnosis | null) => void>();

  /** `heard` gets the control messages that answer no question of this link's. */
  constructor(
    readonly actor: number,
    private readonly heard: (message: FromActor) => void,
  ) {}

  /** True while a thread is there, whether it is ready or not. */
  get alive(): boolean {
    return this.#port !== null;
  }

  /** Takes a new thread's port; the old one's late messages are ignored. */
  attach(port: ActorPort): void {
    this.#port = port;
    port.on("message", (message) => {
      if (this.#port === port) this.#receive(message);
    });
  }

  /** The thread is gone: everything that waited for it is told so. */
  detach(state: LinkState): void {
    this.state = state;
    this.#port = null;
    this.#writer.take();
    const pending = [...this.#pending.values()];
    const identityQueries = [...this.#identityQueries.values()];
    const metricsQueries = [...this.#metricsQueries.values()];
    this.#pending.clear();
    this.#channels.clear();
    this.#identityQueries.clear();
    this.#metricsQueries.clear();
    for (const request of pending) request.lost();
    for (const answer of identityQueries) answer(undefined);
    for (const answer of metricsQueries) answer(null);
    const diagnoses = [...this.#diagnoses.values()];
    this.#diagnoses.clear();
    for (const answer of diagnoses) answer(null);
  }

  /** Queues a request for the end of this turn and returns its id. `body` is copied at once. */
  send(
    pending: PendingReply,
    code: number,
    flags: number,
    partition: number,
    tenant: number,
    deadlineMs: number,
    requestId: string,
    head: string,
    body: Uint8Array | null,
  ): number {
    const id = this.#takeId();
    this.#pending.set(id, pending);
    this.#writer.request(id, code, flags, partition, tenant, deadlineMs, requestId, head, body);
    this.#flushSoon();
    return id;
  }

  /** Nobody waits for the reply any more; the actor is asked to stop. */
  cancel(id: number): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#forget(id, pending);
    this.#writer.cancel(id);
    this.#flushSoon();
  }

  /** A further piece of a request's body, copied at once. */
  sendPiece(id: number, piece: Uint8Array, isLast: boolean): void {
    this.#writer.piece(id, piece, isLast);
    this.#flushSoon();
  }

  /** So many bytes of a streamed reply have been handed over. */
  taken(id: number, bytes: number): void {
    this.#writer.taken(id, bytes);
    this.#flushSoon();
  }

  post(message: ToActor, transfer: readonly ArrayBuffer[] = []): void {
    this.#port?.postMessage(message, transfer);
  }

  findIdentity(by: IdentityQuery["by"], value: string, answer: IdentityAnswer): void {
    if (this.state !== "ready") {
      answer(undefined);
      return;
    }
    const id = this.#takeId();
    this.#identityQueries.set(id, answer);
    this.post({ kind: "find-identity", id, by, value });
  }

  /** Null when the actor is not there to ask. The caller forgets a slow answer with the returned function. */
  askMetrics(answer: (metrics: ActorMetrics | null) => void): () => void {
    if (this.state !== "ready") {
      answer(null);
      return () => {};
    }
    const id = this.#takeId();
    this.#metricsQueries.set(id, answer);
    this.post({ kind: "metrics", id });
    return () => this.#metricsQueries.delete(id);
  }

  /** As `askMetrics`. */
  askDiagnosis(profileSeconds: number, answer: (diagnosis: ThreadDiagnosis | null) => void): () => void {
    if (this.state !== "ready") {
      answer(null);
      return () => {};
    }
    const id = this.#takeId();
    this.#diagnoses.set(id, answer);
    this.post({ kind: "diagnose", id, profileSeconds });
    return () => this.#diagnoses.delete(id);
  }

  /** Sends what is queued and asks the thread to finish and end. */
  close(): void {
    this.#flush();
    this.post({ kind: "close" });
  }

  async terminate(): Promise<void> {
    await this.#port?.terminate();
  }

  /** Ids count up and wrap at 32 bits; none is still in use that many requests later. */
  #takeId(): number {
    this.#nextId = (this.#nextId + 1) >>> 0;
    return this.#nextId;
  }

  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    setImmediate(this.#flush);
  }

  readonly #flush = (): void => {
    this.#flushing = false;
    if (this.#port === null || this.#writer.empty) return;
    const frames = this.#writer.take();
    this.#port.postMessage(frames, [frames]);
  };

  #receive(message: unknown): void {
    if (message instanceof ArrayBuffer) {
      readReplies(message, this.#deliver);
      freeBuffer(message);
    } else this.#hear(message as FromActor);
  }

  #forget(id: number, { live }: PendingReply): void {
    this.#pending.delete(id);
    if (live !== undefined) this.#channels.leave(live);
  }

  readonly #deliver = (frame: ReplyFrame): void => {
    const pending = this.#pending.get(frame.id);
    if ((frame.flags & REPLY_LIVE) !== 0) {
      this.#channels.heard(frame, pending?.live);
      return;
    }
    // A cancelled request's reply finds nobody.
    if (pending === undefined) return;
    if ((frame.flags & (REPLY_MORE | REPLY_TAKEN)) !== 0) {
      pending.progressed(frame);
      return;
    }
    this.#forget(frame.id, pending);
    pending.replied(frame);
  };

  #hear(message: FromActor): void {
    if (message.kind === "identity") {
      const answer = this.#identityQueries.get(message.id);
      this.#identityQueries.delete(message.id);
      answer?.(message.identity);
    } else if (message.kind === "diagnosis") {
      const answer = this.#diagnoses.get(message.id);
      this.#diagnoses.delete(message.id);
      answer?.(message.diagnosis);
    } else if (message.kind === "metrics") {
      const answer = this.#metricsQueries.get(message.id);
      this.#metricsQueries.delete(message.id);
      answer?.(message.metrics);
    } else {
      this.heard(message);
    }
  }
}
