/**
 * Carries requests that came from elsewhere to this node's actors, and their replies back: frames in, frames out. So
 * actors learn nothing of other nodes. One per origin: another node's connection, or this node's own requests that had
 * waited for an owner.
 *
 * It never forwards to a third node, so no request goes round in circles: what is not served here goes back untouched
 * (REPLY_MOVED). A request whose body streams is refused instead, because pieces of the body have left its gateway
 * already.
 */
import type { ActorLink, IdentityAnswer, Loss, PendingReply } from "../gateway/actor-link.js";
import type { LiveSubscriber } from "../gateway/live-channels.js";
import { BODY_LEFT_BEHIND } from "../gateway/partition-load.js";
import type { ChargeForwarded } from "../gateway/partition-routes.js";
import { type Repeatable, repeatableBy } from "../gateway/repeatable.js";
import type { SentFrames } from "../gateway/sent-frames.js";
import type { Endpoint } from "../protocol/endpoint.js";
import { ENDPOINTS, MESSAGES, WIRE } from "../protocol/endpoints.js";
import {
  CANCEL_CODE,
  LIVE,
  PIECE_CODE,
  REPLY_LIVE,
  REPLY_MOVED,
  REQUEST_LAST_PIECE,
  REQUEST_STREAMED,
  type ReplyFrame,
  ReplyWriter,
  type RequestFrame,
  readRequests,
  TAKEN_CODE,
} from "../protocol/frames.js";
import type { FromActor, ToActor } from "../protocol/messages.js";
import { VERSION } from "../protocol/version.js";
import { SESSION_NUMBER_BYTES } from "../protocol/wire-charge.js";
import { isCarried } from "./peer-link.js";

/** To where the requests came from. */
export interface RelayOrigin {
  frames(partition: number, frames: ArrayBuffer): void;
  control(partition: number, message: FromActor | LostReply): void;
}

/** A request that was sent has no answer. */
export interface LostReply {
  readonly kind: "lost";
  readonly id: number;
  readonly loss?: Loss;
}

/** What a relay needs to know of this node. */
export interface RelayHost {
  /** Null: the partition is not served here. */
  servedBy(partition: number): ActorLink | null;
  /** Counts a request in its tenant's limit. */
  readonly charge: ChargeForwarded;
  /** Calls back when the partition is served here, or is certainly not this node's. */
  whenKnown(partition: number, then: () => void): void;
}

const BY_CODE = new Map<number, Endpoint>([...ENDPOINTS, ...MESSAGES, ...WIRE].map((each) => [each.code, each]));

/** What ends a session, by the code of what opens it. */
const CLOSES = new Map<number, Endpoint>(
  WIRE.filter(({ name }) => name.endsWith(".open")).map(({ name, code }) => {
    const protocol = name.slice(0, -".open".length);
    return [code, WIRE.find((each) => each.name === `${protocol}.close`)!];
  }),
);
const CLOSE_CODES: ReadonlySet<number> = new Set([...CLOSES.values()].map(({ code }) => code));

interface InFlight {
  readonly link: ActorLink;
  readonly id: number;
}

/** A session of PostgreSQL's protocol or of Bolt that the origin's client has: the request that ends it. */
interface OpenedSession {
  readonly partition: number;
  readonly end: Endpoint;
  readonly frame: Pick<RequestFrame, "tenant" | "requestId" | "headText">;
  /** Its number. */
  readonly body: Buffer;
}

export class FrameRelay {
  /** By partition, then by the origin's id. */
  private readonly inFlight = new Map<number, Map<number, InFlight>>();
  /** What arrived for a partition while it was not known whose it is. */
  private readonly waiting = new Map<number, (() => void)[]>();
  private readonly writers = new Map<number, ReplyWriter>();
  /** By partition, what ends it, tenant and number. */
  private readonly sessions = new Map<string, OpenedSession>();
  /** By partition and the origin's id: of PostgreSQL's protocol or of Bolt, until their tenant's limit has room. */
  private readonly unpaid = new Map<string, NodeJS.Timeout>();
  private isArmed = false;
  private isClosed = false;

  constructor(
    private readonly host: RelayHost,
    private readonly origin: RelayOrigin,
  ) {}

  /** Deadlines are points in time of this machine. The buffer is the relay's from now on. */
  frames(partition: number, data: ArrayBuffer): void {
    readRequests(data, (frame) => this.inOrder(partition, () => this.accept(partition, frame)));
  }

  control(partition: number, message: ToActor): void {
    if (message.kind === "find-identity") this.inOrder(partition, () => this.findIdentity(partition, message));
    else if (isCarried(message.kind)) this.host.servedBy(partition)?.post(message);
  }

  /** The origin is gone: nobody waits for the answers, and its clients' sessions end. */
  close(): void {
    this.isClosed = true;
    for (const timer of this.unpaid.values()) clearTimeout(timer);
    this.unpaid.clear();
    for (const requests of this.inFlight.values()) for (const { link, id } of requests.values()) link.cancel(id);
    for (const session of this.sessions.values()) this.endSession(session);
    this.sessions.clear();
    this.inFlight.clear();
    this.waiting.clear();
  }

  /** At once, or when it is known whether the partition is served here. */
  private inOrder(partition: number, work: () => void): void {
    const waiting = this.waiting.get(partition);
    if (waiting !== undefined) waiting.push(work);
    else if (this.host.servedBy(partition) !== null) work();
    else {
      this.waiting.set(partition, [work]);
      this.host.whenKnown(partition, () => {
        const works = this.waiting.get(partition) ?? [];
        this.waiting.delete(partition);
        for (const each of works) each();
      });
    }
  }

  private findIdentity(partition: number, { id, by, value }: Extract<ToActor, { kind: "find-identity" }>): void {
    const answer: IdentityAnswer = (identity, refusal): void => {
      // Undefined is told, too: there is nobody to ask.
      const why = refusal === undefined ? {} : { refusal };
      this.origin.control(partition, { kind: "identity", id, identity: identity as never, ...why });
    };
    const link = this.host.servedBy(partition);
    if (link === null) answer(undefined);
    else link.findIdentity(by, value, answer);
  }

  private accept(partition: number, frame: RequestFrame): void {
    if (this.isClosed) return;
    if (frame.code >= TAKEN_CODE) {
      this.toRunning(partition, frame);
      return;
    }
    const link = this.host.servedBy(partition);
    const endpoint = BY_CODE.get(frame.code);
    if (link === null) {
      this.sendBack(partition, frame);
      return;
    }
    if (endpoint === undefined) {
      this.lose(partition, frame.id, NOT_HERE);
      return;
    }
    const refusal = this.host.charge(frame, endpoint);
    if (refusal !== null) {
      if (endpoint.method === "WIRE") this.acceptLater(partition, frame);
      else this.lose(partition, frame.id, refusal);
      return;
    }
    this.noteSession(partition, frame);
    const requests = this.inFlight.get(partition) ?? new Map<number, InFlight>();
    this.inFlight.set(partition, requests);
    const pending = new RelayedReply(frame, endpoint, {
      reply: ({ status, flags, headers, body }) => {
        requests.delete(frame.id);
        this.write(partition, (writer) => writer.bytes(frame.id, status, flags, headers, body));
      },
      progress: ({ status, flags, headers, body }) =>
        this.write(partition, (writer) => writer.bytes(frame.id, status, flags, headers, body)),
      lose: (loss) => {
        requests.delete(frame.id);
        this.lose(partition, frame.id, loss);
      },
    });
    const id = link.send(
      ...([pending, frame.code, frame.flags, partition, frame.tenant, frame.deadlineMs] as const),
      ...([frame.requestId, frame.headText, frame.hasBody ? frame.bodyBytes : null] as const),
    );
    requests.set(frame.id, { link, id });
  }

  private acceptLater(partition: number, frame: RequestFrame): void {
    const key = `${partition} ${frame.id}`;
    const again = (): void => {
      this.unpaid.delete(key);
      this.accept(partition, frame);
    };
    this.unpaid.set(key, setTimeout(again, UNPAID_MS));
  }

  private giveUpUnpaid(key: string): void {
    clearTimeout(this.unpaid.get(key));
    this.unpaid.delete(key);
  }

  /** Nothing was done: the origin finds the owner. */
  private sendBack(partition: number, frame: RequestFrame): void {
    if ((frame.flags & REQUEST_STREAMED) !== 0) {
      this.lose(partition, frame.id, BODY_LEFT_BEHIND);
      return;
    }
    this.write(partition, (writer) =>
      writer.bytes(frame.id, 0, REPLY_MOVED, String(partition), frame.hasBody ? frame.bodyBytes : NOTHING),
    );
  }

  /** Behind what has been written. */
  private lose(partition: number, id: number, loss: Loss | undefined): void {
    this.flush();
    this.origin.control(partition, { kind: "lost", id, ...(loss !== undefined && { loss }) });
  }

  /** What of a session begins or ends. */
  private noteSession(partition: number, frame: RequestFrame): void {
    const close = CLOSES.get(frame.code);
    if (close === undefined && !CLOSE_CODES.has(frame.code)) return;
    // A frame lies in the bytes of a whole turn.
    const body = Buffer.from(frame.bodyBytes.subarray(0, SESSION_NUMBER_BYTES));
    const key = `${partition} ${close?.code ?? frame.code} ${frame.tenant} ${body.readUInt32LE()}`;
    this.sessions.delete(key);
    if (close === undefined) return;
    const { tenant, requestId, headText } = frame;
    this.sessions.set(key, { partition, end: close, frame: { tenant, requestId, headText }, body });
  }

  private endSession({ partition, end, frame, body }: OpenedSession): void {
    const link = this.host.servedBy(partition);
    if (link === null) return;
    const { tenant, requestId, headText } = frame;
    const unheard = { reply: () => undefined, progress: () => undefined, lose: () => undefined };
    const pending = new RelayedReply({ id: 0, requestId, isIdempotent: false }, end, unheard);
    link.send(pending, end.code, 0, partition, tenant, Date.now() + END_MS, requestId, headText, body);
  }

  private toRunning(partition: number, frame: RequestFrame): void {
    const request = this.inFlight.get(partition)?.get(frame.id);
    if (request === undefined) {
      if (frame.code === CANCEL_CODE) this.giveUpUnpaid(`${partition} ${frame.id}`);
      return;
    }
    const { link, id } = request;
    if (frame.code === PIECE_CODE) link.sendPiece(id, frame.bodyBytes, (frame.flags & REQUEST_LAST_PIECE) !== 0);
    else if (frame.code === TAKEN_CODE) link.taken(id, frame.deadlineMs);
    else if (frame.code === CANCEL_CODE) {
      link.cancel(id);
      this.inFlight.get(partition)!.delete(frame.id);
    }
  }

  private write(partition: number, write: (writer: ReplyWriter) => void): void {
    if (this.isClosed) return;
    let writer = this.writers.get(partition);
    if (writer === undefined) {
      writer = new ReplyWriter();
      this.writers.set(partition, writer);
    }
    write(writer);
    if (this.isArmed) return;
    this.isArmed = true;
    setImmediate(this.flush);
  }

  private readonly flush = (): void => {
    this.isArmed = false;
    if (this.isClosed) return;
    for (const [partition, writer] of this.writers) if (!writer.empty) this.origin.frames(partition, writer.take());
  };
}

const NOTHING = new Uint8Array(0);
/** Between two looks at the limit of who waits. */
const UNPAID_MS = 10;
/** The origin has a newer release. */
const NOT_HERE: Loss = {
  code: "not_supported",
  message: `The node that serves the tenant's data runs release ${VERSION}, which cannot do this. Try again when all nodes of the cluster have been upgraded.`,
  retryAfterSeconds: 0,
};
/** Until the deadline of a session's end, for which nobody waits. */
const END_MS = 86_400_000;

interface Outcome {
  reply(frame: Omit<ReplyFrame, "id">): void;
  progress(frame: Omit<ReplyFrame, "id">): void;
  lose(loss: Loss | undefined): void;
}

/** A request of another node, for this node's actor. */
class RelayedReply implements PendingReply {
  keptIn: SentFrames | null = null;
  suspicions = 0;
  readonly tenantId = null;
  readonly requestId: string;
  readonly repeatable: Repeatable;
  readonly ofDirectory: boolean;
  readonly live: LiveSubscriber;

  constructor(
    { id, requestId, isIdempotent }: Pick<RequestFrame, "id" | "requestId" | "isIdempotent">,
    endpoint: Endpoint,
    private readonly outcome: Outcome,
  ) {
    this.requestId = requestId;
    this.repeatable = endpoint.method === "WIRE" ? "never" : repeatableBy(endpoint, isIdempotent);
    this.ofDirectory = endpoint.home === "directory";
    const told = { flags: REPLY_LIVE, headers: "", body: Buffer.alloc(0) };
    // Each subscription is a channel of its own at the origin, with the request's id.
    this.live = {
      began: () => {
        outcome.progress({ ...told, status: LIVE.began });
        outcome.progress({ ...told, status: LIVE.joined, headers: String(id) });
      },
      published: (messages, sequence) => {
        for (const message of messages) {
          outcome.progress({ ...told, status: LIVE.published, headers: String(sequence), body: Buffer.from(message) });
        }
      },
    };
  }

  replied(frame: ReplyFrame): void {
    this.outcome.reply(frame);
  }

  progressed(frame: ReplyFrame): void {
    this.outcome.progress(frame);
  }

  lost(loss?: Loss): void {
    this.outcome.lose(loss);
  }
}
