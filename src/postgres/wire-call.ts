/**
 * One request of a connection to an actor: a frame like those of HTTP, counted against the same bounds, whose answer is
 * bytes for the client. Made by connection.ts, here and of Bolt.
 */
import { ActorCall } from "../gateway/actor-call.js";
import type { Loss, PendingReply } from "../gateway/actor-link.js";
import type { Caller } from "../gateway/admission.js";
import type { LiveSubscriber } from "../gateway/live-channels.js";
import type { SentFrames } from "../gateway/sent-frames.js";
import type { Services } from "../gateway/services.js";
import type { Endpoint } from "../protocol/endpoint.js";
import { WIRE } from "../protocol/endpoints.js";
import { DbError, ERRORS, type ErrorCode } from "../protocol/errors.js";
import {
  encodeHead,
  REPLY_BROKEN,
  REPLY_MOVED,
  REPLY_TAKEN,
  REQUEST_READ_ONLY,
  type ReplyFrame,
} from "../protocol/frames.js";
import { SESSION_NUMBER_BYTES } from "../protocol/wire-charge.js";

/** What says that there is no answer: the actor's reply, or that no reply comes any more. */
export type FailedBy = "reply" | "loss";

/** Told what comes of a request. Bytes are valid during the call only. */
export interface Heard {
  /** Of the client: the session's begin tells it. */
  readonly address: string;
  /** More follows. Answers whether the client can take more at once; if not, `taken` says when it could. */
  piece(bytes: Buffer): boolean;
  /** The end of the answer. `note`: what the session wants of the gateway; empty: nothing. */
  done(bytes: Buffer, note: string): void;
  /** Messages that belong to no request: of `listen`. */
  pushed(messages: readonly Uint8Array[]): void;
  /** Of `listen` and `lend`: the actor has taken it on. */
  began?(): void;
  /** There is no answer. */
  failed(error: DbError, by: FailedBy): void;
}

export const NOBODY: Heard = {
  address: "",
  piece: () => true,
  done: () => undefined,
  pushed: () => undefined,
  failed: () => undefined,
};

export type WireEndpoint = "open" | "messages" | "cancel" | "listen" | "lend" | "recall" | "close";
export type WireProtocol = "postgres" | "bolt";

/** Until it is tried again to end a session. */
const CLOSE_RETRY_MS = 100;
const NOTHING = Buffer.alloc(0);

const ENDPOINTS = { postgres: endpointsOf("postgres"), bolt: endpointsOf("bolt") };

function endpointsOf(protocol: WireProtocol): ReadonlyMap<string, Endpoint> {
  const prefix = `${protocol}.`;
  const own = WIRE.filter(({ name }) => name.startsWith(prefix));
  return new Map(own.map((endpoint) => [endpoint.name.slice(prefix.length), endpoint]));
}

/** Statements bound their time by themselves; a frame may take as long as they do. */
const DEADLINE_MS = 20 * 86_400_000;

export class WireCall implements PendingReply {
  keptIn: SentFrames | null = null;
  suspicions = 0;
  readonly ofDirectory = false;
  readonly repeatable = "never";
  readonly requestId: string;
  private readonly call: ActorCall;
  private readonly endpoint: Endpoint;
  /** Of `listen` and `lend`: it may last as long as its connection, and counts as no request that runs. */
  readonly live: LiveSubscriber | undefined;
  private untaken = 0;
  private ended = false;

  constructor(
    private readonly services: Services,
    private readonly caller: Caller,
    protocol: WireProtocol,
    private readonly name: WireEndpoint,
    /** Of the connection. */
    private readonly session: number,
    private readonly heard: Heard,
  ) {
    this.endpoint = ENDPOINTS[protocol].get(name)!;
    this.requestId = services.requestIds.of("");
    const isLive = name === "listen" || name === "lend";
    const began = (): void => {
      this.end();
      heard.began?.();
    };
    this.live = isLive ? { began, published: (told) => heard.pushed(told) } : undefined;
    this.call = new ActorCall(services, this);
  }

  get tenantId(): string {
    return this.caller.identity.tenantId;
  }

  /** False: the partition has too much to do. Throws where it is not there. */
  begin(body: Uint8Array): boolean {
    const { services, caller, call } = this;
    if (!services.pool.takes(caller.partition)) throw new DbError(unavailable(services, caller.partition));
    if (!call.reserve(caller.partition, body, false)) return false;
    services.open++;
    const framed = Buffer.allocUnsafe(SESSION_NUMBER_BYTES + body.length);
    framed.writeUInt32LE(this.session);
    framed.set(body, SESSION_NUMBER_BYTES);
    this.send(framed);
    return true;
  }

  private send(body: Uint8Array): void {
    const { caller, call, requestId, endpoint, services } = this;
    call.send(
      {
        code: endpoint.code,
        flags: caller.readOnly ? REQUEST_READ_ONLY : 0,
        tenant: caller.identity.tenantNumber,
        deadlineMs: services.clock.wall() + DEADLINE_MS,
        requestId,
        head: this.name === "open" ? encodeHead(caller.encoded, "", this.heard.address, "", []) : caller.plainHead,
      },
      body,
    );
  }

  replied(frame: ReplyFrame): void {
    if ((frame.flags & REPLY_MOVED) !== 0) {
      this.follow(frame);
      return;
    }
    this.end();
    if ((frame.flags & REPLY_BROKEN) !== 0) this.heard.failed(new DbError("internal_error"), "reply");
    else if (frame.status === 200) this.heard.done(frame.body, frame.headers);
    else this.heard.failed(errorOf(frame), "reply");
  }

  /** Only what begins a session may follow the tenant: others are about one that did not go along. */
  private follow(frame: ReplyFrame): void {
    const to = Number(frame.headers);
    this.caller.partition = to;
    if (this.name === "open" && this.call.moveTo(to)) {
      this.send(Buffer.from(frame.body));
      return;
    }
    this.end();
    this.heard.failed(new DbError("partition_unavailable", "The tenant was moved. Connect again."), "reply");
  }

  progressed(frame: ReplyFrame): void {
    if ((frame.flags & REPLY_TAKEN) !== 0) return;
    const { length } = frame.body;
    if (this.heard.piece(frame.body)) this.call.link?.taken(this.call.frameId, length);
    else this.untaken += length;
  }

  /** The client has taken what it got. */
  drained(): void {
    if (this.untaken === 0) return;
    this.call.link?.taken(this.call.frameId, this.untaken);
    this.untaken = 0;
  }

  lost(loss?: Loss): void {
    this.end();
    this.heard.failed(new DbError(loss?.code ?? "partition_unavailable", loss?.message, loss?.details), "loss");
  }

  /** Nobody waits for the answer any more. */
  cancel(): void {
    this.call.cancel();
    this.end();
  }

  private end(): void {
    if (this.ended) return;
    this.ended = true;
    this.call.release();
    const { services } = this;
    services.open--;
    if (services.open === 0) services.drained?.();
  }
}

function unavailable({ pool }: Services, partition: number): ErrorCode {
  return pool.stateOf(partition) === "damaged" ? "partition_damaged" : "partition_unavailable";
}

/** An error of the actor's, which came as JSON. */
function errorOf({ body, status }: ReplyFrame): DbError {
  try {
    const { code, message, details } = (JSON.parse(body.toString("utf8")) as { error: DbError }).error;
    if (code in ERRORS) return new DbError(code, message, details);
  } catch {
    // No JSON: said below.
  }
  return new DbError("internal_error", `The server failed with status ${status}.`);
}

/**
 * Ends a session in its actor, whose connection has gone or signed off. A partition that has too much to do takes it
 * later.
 */
export function closeWireSession(services: Services, caller: Caller, protocol: WireProtocol, session: number): void {
  try {
    const call = new WireCall(services, caller, protocol, "close", session, NOBODY);
    if (call.begin(NOTHING)) return;
    setTimeout(() => closeWireSession(services, caller, protocol, session), CLOSE_RETRY_MS).unref();
  } catch {
    // The partition is gone, and the session with it.
  }
}
