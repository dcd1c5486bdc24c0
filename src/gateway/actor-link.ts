/**
 * The gateway's end of one actor's thread. It collects the request frames of a loop turn and posts them as one
 * transferred buffer, hands reply frames to the requests that wait for them, and carries the control messages. It
 * outlives the thread: after a crash actor-life.ts gives it the next one. It owns the table of
 * requests in flight.
 */

import type { ErrorCode, ErrorDetails } from "../protocol/errors.js";
import {
  bodyOf,
  partitionOf,
  REPLY_LIVE,
  REPLY_MORE,
  REPLY_MOVED,
  REPLY_TAKEN,
  type ReplyFrame,
  RequestWriter,
  readReplies,
} from "../protocol/frames.js";
import { freeBuffer } from "../protocol/free-buffer.js";
import type { Identity } from "../protocol/identity.js";
import type { ActorMetrics, FromActor, IdentityQuery, IdentityRefusal, ToActor } from "../protocol/messages.js";
import { GatheredPieces, keepSpareFrame } from "../protocol/piece-frame.js";
import type { ThreadDiagnosis } from "../protocol/thread-diagnosis.js";
import { LiveChannels, type LiveSubscriber } from "./live-channels.js";
import type { Repeatable } from "./repeatable.js";
import { type FramesById, findFrame, type Keeping, type SentFrames, SentFramesKeeper } from "./sent-frames.js";
import { UnheardChanges } from "./unheard-changes.js";

/** Pieces of bodies from this length on go by themselves. */
const LONG_PIECE_BYTES = 16 * 1024;

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

/** `damaged`: its files are, while other partitions of its actor may be ready; `late`: its thread does not give way. */
export type PartitionState = LinkState | "damaged" | "late";

/** Why there is no answer. */
export interface Loss {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: ErrorDetails;
  /** 0: asking again is of no use. */
  readonly retryAfterSeconds: number;
}

/**
 * A waiter for a reply frame: `replied` or `lost` is called once, unless the request is cancelled. A frame's body is
 * valid during the call only.
 */
export interface PendingReply extends Keeping {
  replied(frame: ReplyFrame): void;
  /** A frame that others follow: REPLY_MORE or REPLY_TAKEN. */
  progressed(frame: ReplyFrame): void;
  /** The actor's thread ended before it answered; `loss` absent: it crashed. */
  lost(loss?: Loss): void;
  readonly requestId: string;
  /** Null: nobody has signed in. */
  readonly tenantId: string | null;
  readonly repeatable: Repeatable;
  /** It is one for the directory, which commits by itself. */
  readonly ofDirectory: boolean;
  /** How often it had begun when a thread did not give way and nobody knew at whose request it was. */
  suspicions: number;
  /** For requests that may become a subscription. */
  readonly live?: LiveSubscriber;
}

/** Who is asked for. */
export interface IdentityQuestion extends Pick<IdentityQuery, "by" | "value"> {
  readonly answer: IdentityAnswer;
}

/** `undefined`: the directory's actor is not there to ask. `refusal`: why there is none. */
export type IdentityAnswer = (identity: Identity | null | undefined, refusal?: IdentityRefusal) => void;

/**
 * Decides what becomes of a request in flight after the thread was ended: a loss, or null to send it to the next
 * thread.
 */
export type Judge = (id: number, reply: PendingReply) => Loss | null;

export class ActorLink {
  state: LinkState = "starting";
  private port: ActorPort | null = null;
  private nextId = 0;
  private flushing = false;
  /** Messages that are sent now are for the thread after this one. */
  private heldTenants = false;
  private readonly unheard: UnheardChanges;
  /** The id of the newest request before that. */
  private heldAfter = 0;
  private turn: SentFrames = { frames: null, isLarge: false };
  private readonly kept = new SentFramesKeeper();
  /** By id: requests that are answered once the next thread is ready, because then their commits are on disk. */
  private losses = new Map<number, readonly [PendingReply, Loss]>();
  private readonly writer = new RequestWriter();
  private readonly pieces = new GatheredPieces((frame) => this.port?.postMessage(frame, [frame]));
  private readonly pending = new Map<number, PendingReply>();
  private readonly channels = new LiveChannels();
  private readonly identityQueries = new Map<
    number,
    { readonly query: IdentityQuery; readonly answer: IdentityAnswer }
  >();
  private readonly metricsQueries = new Map<number, (metrics: ActorMetrics | null) => void>();
  private readonly diagnoses = new Map<number, (diagnosis: ThreadDiagnosis | null) => void>();

  /** `heard` gets the control messages that answer no question of this link's. */
  constructor(
    readonly actor: number,
    private readonly heard: (message: FromActor) => void,
  ) {
    this.unheard = new UnheardChanges(
      this.deliver,
      (message) => this.hear(message),
      (id) => this.askAgain(id),
    );
  }

  /** True while a thread is there, whether it is ready or not. */
  get alive(): boolean {
    return this.port !== null;
  }

  /** Takes a new thread's port; the old one's late messages are ignored. */
  attach(port: ActorPort): void {
    this.port = port;
    port.on("message", (message) => {
      if (this.port === port) this.receive(message);
    });
  }

  /** Requests that arrive now wait for the thread that comes next. */
  get holds(): boolean {
    return this.heldTenants;
  }

  /** The thread is being ended and another will follow at once. */
  hold(): void {
    this.flush();
    this.state = "restarting";
    this.heldTenants = true;
    this.heldAfter = this.nextId;
  }

  /** It came while requests were held, so nothing was done of it. */
  isUnsent(id: number): boolean {
    return this.heldTenants && id !== this.heldAfter && (id - this.heldAfter) >>> 0 < 2 ** 31;
  }

  /** The thread is gone: everything that waited for it is told so. */
  detach(state: LinkState): void {
    this.state = state;
    this.port = null;
    this.pieces.drop();
    this.unheard.clear();
    this.heldTenants = false;
    this.writer.take();
    const pending = [...this.pending.values()];
    const identityQueries = [...this.identityQueries.values()];
    const losses = this.takeLosses();
    this.pending.clear();
    for (const request of pending) this.kept.release(request);
    this.channels.clear();
    this.identityQueries.clear();
    for (const [request, loss] of losses) request.lost(loss);
    for (const request of pending) request.lost();
    for (const { answer } of identityQueries) answer(undefined);
    this.endQuestions();
  }

  /**
   * The thread was ended after `hold`: what `judge` finds no loss for stays for the next one. `atOnce` tells which
   * losses need not wait for that.
   */
  change(judge: Judge, atOnce: (id: number) => boolean): void {
    this.port = null;
    this.unheard.clear();
    this.channels.clear();
    // Those that came since are in no thread's hands.
    this.flush();
    const bodies: FramesById = new Map();
    for (const [id, request] of [...this.pending]) {
      const loss = judge(id, request);
      if (loss === null && findFrame(bodies, id, request) !== null) continue;
      this.pending.delete(id);
      this.kept.release(request);
      // Requests that are too large to be kept are lost as if the thread had crashed.
      if (loss === null) request.lost();
      else if (atOnce(id)) request.lost(loss);
      else this.losses.set(id, [request, loss]);
    }
    this.endQuestions();
  }

  /** The next thread does not come: nobody shall wait for it any longer. */
  giveUpHeld(): void {
    if (!this.heldTenants) return;
    const port = this.port;
    this.detach(this.state);
    this.port = port;
  }

  /** One request has no answer: the one who had it says so. */
  lose(id: number, loss?: Loss): void {
    const pending = this.pending.get(id);
    if (pending === undefined) return;
    this.forget(id, pending);
    pending.lost(loss);
  }

  /** Nobody answers by this link any more. Requests that `judge` finds no loss for are sent on (REPLY_MOVED). */
  redirectAll(judge: Judge): readonly IdentityQuestion[] {
    this.flush();
    const bodies: FramesById = new Map();
    const settle: (() => void)[] = [];
    for (const [id, request] of [...this.pending]) {
      const loss = judge(id, request);
      const frame = loss === null ? findFrame(bodies, id, request) : null;
      this.forget(id, request);
      if (frame === null) settle.push(() => request.lost(loss ?? undefined));
      else {
        const headers = String(partitionOf(frame));
        const moved = { id, status: 0, flags: REPLY_MOVED, headers, body: bodyOf(frame) };
        settle.push(() => request.replied(moved));
      }
    }
    this.endQuestions();
    for (const each of settle) each();
    return this.takeIdentityQuestions();
  }

  /** One of them; null: it has its answer. */
  takeIdentityQuestion(id: number): IdentityQuestion | null {
    const asked = this.identityQueries.get(id);
    this.identityQueries.delete(id);
    return asked === undefined ? null : { ...asked.query, answer: asked.answer };
  }

  /** All of them, for somebody else. */
  takeIdentityQuestions = (): readonly IdentityQuestion[] =>
    [...this.identityQueries.keys()].map((id) => this.takeIdentityQuestion(id)!);

  /** The frame of a request in flight; null: it is not kept. */
  frameOf(id: number): Uint8Array | null {
    const request = this.pending.get(id);
    return request === undefined ? null : findFrame(new Map(), id, request);
  }

  /** For the log. */
  describe(id: number): object {
    const request = this.pending.get(id);
    return request === undefined ? {} : { requestId: request.requestId, tenant: request.tenantId };
  }

  /** The next thread is ready: it gets what was kept, in the order in which it came. */
  resume(): void {
    if (!this.heldTenants) return;
    this.flush();
    this.heldTenants = false;
    for (const [request, loss] of this.takeLosses()) request.lost(loss);
    const bodies: FramesById = new Map();
    const again: Uint8Array[] = [];
    const turn: SentFrames = { frames: null, isLarge: false };
    for (const [id, request] of this.pending) {
      again.push(findFrame(bodies, id, request)!);
      this.kept.release(request);
      request.keptIn = turn;
    }
    if (again.length > 0) {
      const all = new Uint8Array(Buffer.concat(again)).buffer;
      this.kept.keep(turn, all, (id) => this.pending.get(id));
      this.port?.postMessage(all, [all]);
    }
    for (const { query } of this.identityQueries.values()) this.post(query);
  }

  private takeLosses(): readonly (readonly [PendingReply, Loss])[] {
    const losses = [...this.losses.values()];
    this.losses.clear();
    return losses;
  }

  private endQuestions(): void {
    const metricsQueries = [...this.metricsQueries.values()];
    this.metricsQueries.clear();
    const diagnoses = [...this.diagnoses.values()];
    this.diagnoses.clear();
    for (const answer of [...metricsQueries, ...diagnoses]) answer(null);
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
    const id = this.takeId();
    this.pending.set(id, pending);
    pending.keptIn = this.turn;
    this.writer.request(id, code, flags, partition, tenant, deadlineMs, requestId, head, body);
    this.flushSoon();
    return id;
  }

  /** Nobody waits for the reply any more; the actor is asked to stop. */
  cancel(id: number): void {
    this.losses.delete(id);
    const pending = this.pending.get(id);
    if (pending === undefined) return;
    this.forget(id, pending);
    // Held requests are not sent.
    if (this.heldTenants) return;
    this.writer.cancel(id);
    this.flushSoon();
  }

  /** A further piece of a request's body, copied at once. */
  sendPiece(id: number, piece: Uint8Array, isLast: boolean): void {
    if (this.heldTenants) return;
    const isHeld = this.pieces.holds(id);
    if (isHeld || (piece.length >= LONG_PIECE_BYTES && this.port !== null)) {
      // Behind what has been written in this turn, which may be the request itself.
      if (!isHeld) this.flush();
      this.pieces.add(id, piece, isLast);
    } else this.writer.piece(id, piece, isLast);
    this.flushSoon();
  }

  /** This many bytes of a streamed reply have been handed over. */
  taken(id: number, bytes: number): void {
    if (this.heldTenants) return;
    this.writer.taken(id, bytes);
    this.flushSoon();
  }

  post(message: ToActor, transfer: readonly ArrayBuffer[] = []): void {
    this.port?.postMessage(message, transfer);
  }

  findIdentity(by: IdentityQuery["by"], value: string, answer: IdentityAnswer): void {
    if (this.state !== "ready" && !this.heldTenants) {
      answer(undefined);
      return;
    }
    const query: IdentityQuery = { kind: "find-identity", id: this.takeId(), by, value };
    this.identityQueries.set(query.id, { query, answer });
    if (!this.heldTenants) this.post(query);
  }

  /** Of the same question: its answer is out of date. */
  private askAgain(id: number): void {
    const asked = this.identityQueries.get(id);
    // The next thread gets all of them.
    if (asked !== undefined && !this.heldTenants) this.post(asked.query);
  }

  /** Null when the actor is not there to ask. The caller forgets a slow answer with the returned function. */
  askMetrics(answer: (metrics: ActorMetrics | null) => void): () => void {
    if (this.state !== "ready") {
      answer(null);
      return () => {};
    }
    const id = this.takeId();
    this.metricsQueries.set(id, answer);
    this.post({ kind: "metrics", id });
    return () => this.metricsQueries.delete(id);
  }

  /** As `askMetrics`. */
  askDiagnosis(profileSeconds: number, answer: (diagnosis: ThreadDiagnosis | null) => void): () => void {
    if (this.state !== "ready") {
      answer(null);
      return () => {};
    }
    const id = this.takeId();
    this.diagnoses.set(id, answer);
    this.post({ kind: "diagnose", id, profileSeconds });
    return () => this.diagnoses.delete(id);
  }

  /** Sends what is queued and asks the thread to finish and end. */
  close(): void {
    this.flush();
    this.post({ kind: "close" });
  }

  async terminate(): Promise<void> {
    await this.port?.terminate();
  }

  /** Ids count up and wrap at 32 bits; none is still in use that many requests later. */
  private takeId(): number {
    this.nextId = (this.nextId + 1) >>> 0;
    return this.nextId;
  }

  private flushSoon(): void {
    if (this.flushing) return;
    this.flushing = true;
    setImmediate(this.flush);
  }

  private readonly flush = (): void => {
    this.flushing = false;
    this.pieces.end();
    if (this.writer.empty) return;
    if (this.heldTenants) this.takeTurn().frames = this.writer.take();
    if (this.heldTenants || this.port === null) return;
    const frames = this.writer.take();
    this.kept.keep(this.takeTurn(), frames, (id) => this.pending.get(id));
    this.port.postMessage(frames, [frames]);
  };

  /** Messages from now on belong to the next thread. */
  private takeTurn(): SentFrames {
    const turn = this.turn;
    this.turn = { frames: null, isLarge: false };
    return turn;
  }

  /** The thread has changed an identity: who may have asked for that is told when that has resolved. */
  changedUntil(heard: Promise<void>): void {
    const requests = [...this.pending].filter(([, { ofDirectory }]) => ofDirectory);
    const questions = [...this.identityQueries].filter(([, { query }]) => query.by === "token");
    this.unheard.add(
      heard,
      [...requests, ...questions].map(([id]) => id),
    );
  }

  private receive(message: unknown): void {
    if (message instanceof ArrayBuffer) {
      readReplies(message, this.deliver);
      freeBuffer(message);
    } else if (!this.unheard.keeps(message as FromActor)) this.hear(message as FromActor);
  }

  private forget(id: number, request: PendingReply): void {
    this.pending.delete(id);
    this.kept.release(request);
    if (request.live !== undefined) this.channels.leave(request.live);
  }

  private readonly deliver = (frame: ReplyFrame): void => {
    const pending = this.pending.get(frame.id);
    if (this.unheard.keepsReply(frame, pending?.ofDirectory === true)) return;
    if ((frame.flags & REPLY_LIVE) !== 0) {
      if (pending !== undefined) this.kept.release(pending);
      this.channels.heard(frame, pending?.live);
      return;
    }
    // A cancelled request's reply finds nobody.
    if (pending === undefined) return;
    if ((frame.flags & (REPLY_MORE | REPLY_TAKEN)) !== 0) {
      // It cannot be sent again, however long it lasts.
      this.kept.release(pending);
      pending.progressed(frame);
      return;
    }
    this.forget(frame.id, pending);
    pending.replied(frame);
  };

  private hear(message: FromActor): void {
    if (message.kind === "identity") {
      const asked = this.identityQueries.get(message.id);
      this.identityQueries.delete(message.id);
      asked?.answer(message.identity, message.refusal);
    } else if (message.kind === "diagnosis") {
      const answer = this.diagnoses.get(message.id);
      this.diagnoses.delete(message.id);
      answer?.(message.diagnosis);
    } else if (message.kind === "metrics") {
      const answer = this.metricsQueries.get(message.id);
      this.metricsQueries.delete(message.id);
      answer?.(message.metrics);
    } else if (message.kind === "spare-frame") keepSpareFrame(message.memory);
    else this.heard(message);
  }
}
