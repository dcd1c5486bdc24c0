/**
 * One WebSocket. It hands each message to the handler of its type (messages/), keeps the running requests, and watches
 * whether the client reads. An idle one is this object and nothing else: no timer, no closure, no table. Made by an
 * upgrade (upgrade.ts); owned by the set of all connections (sockets.ts).
 */
import type { WebSocket } from "uWebSockets.js";
import { pack } from "msgpackr";
import { ERRORS, type ErrorCode } from "../../protocol/errors.js";
import type { Caller } from "../admission.js";
import type { Services } from "../services.js";
import {
  CLOSE,
  type ConnectionSet,
  type Member,
  type MessageFormat,
  type MessageHead,
  type RunningRequest,
  type SocketEnd,
  type SocketUser,
} from "./contract.js";
import { readMessageHead, readPackedHead } from "./message-head.js";

export class Connection implements SocketEnd, Member {
  private ws: WebSocket<SocketUser> | null = null;
  private runningById: Set<RunningRequest> | null = null;
  private subscriptionsById: Set<RunningRequest> | null = null;
  /** Requests with unread answers in the socket's buffer. */
  private waiting: Set<RunningRequest> | null = null;
  /** It ends when the last request that runs has ended. */
  private ending = false;
  /** When the client last read from the socket's buffer, on the steady clock; 0: the buffer is empty. */
  blockedSince = 0;

  constructor(
    private readonly sockets: ConnectionSet,
    readonly caller: Caller,
    /** The format of messages that answer no other message, and of answers to text messages. */
    private readonly format: MessageFormat = "json",
  ) {}

  get services(): Services {
    return this.sockets.services;
  }

  get running(): number {
    return this.runningById?.size ?? 0;
  }

  get subscriptions(): number {
    return this.subscriptionsById?.size ?? 0;
  }

  get unreadBytes(): number {
    return this.blockedSince === 0 ? 0 : (this.ws?.getBufferedAmount() ?? 0);
  }

  opened(ws: WebSocket<SocketUser>): void {
    this.ws = ws;
    this.sockets.add(this);
  }

  message(bytes: Buffer, isBinary: boolean): void {
    const format = isBinary ? "msgpack" : this.format;
    const name = isBinary ? readPackedHead(bytes) : readMessageHead(bytes);
    if (name === null) {
      const what = isBinary ? "a map of MessagePack" : "a JSON object";
      this.fail(
        "null",
        isBinary ? "invalid_request" : "invalid_json",
        `The message is not ${what}${isBinary ? "" : '; send one such as {"type":"ping"}'}.`,
        "",
        format,
      );
    } else if (this.ending) this.fail(name.id, "shutting_down", undefined, "", format);
    else this.handle({ ...name, format, isPacked: isBinary }, bytes);
  }

  private handle(head: MessageHead, bytes: Buffer): void {
    const handle = this.sockets.handlers.get(head.type);
    if (handle !== undefined) {
      handle(this, head, bytes);
      return;
    }
    const known = [...this.sockets.handlers.keys()].join(", ");
    const fault = head.type === "" ? 'Missing field "type".' : `There is no message type ${JSON.stringify(head.type)}.`;
    const message = `${fault} Known: ${known}.`;
    this.fail(head.id, "invalid_request", message, "", head.format);
  }

  send(message: Uint8Array | string, isBinary = false): boolean {
    if (this.ws === null) return true;
    if (this.ws.send(message, isBinary) === 1) return true;
    if (this.blockedSince === 0) {
      this.blockedSince = this.services.clock.now();
      this.sockets.blocked.add(this);
    }
    return false;
  }

  sendAll(messages: readonly Uint8Array[], isBinary: boolean): boolean {
    if (this.ws === null || messages.length === 1) return this.send(messages[0]!, isBinary);
    let taken = true;
    this.ws.cork(() => {
      for (const message of messages) taken = this.send(message, isBinary) && taken;
    });
    return taken;
  }

  say(json: string, format: MessageFormat): void {
    if (format === "json") this.send(json);
    else this.send(pack(JSON.parse(json)), true);
  }

  fail(
    id: string,
    code: ErrorCode,
    message: string = ERRORS[code].message,
    details = "",
    format: MessageFormat = this.format,
  ): void {
    const fields = `"code":"${code}","message":${JSON.stringify(message)}`;
    this.say(`{"type":"error","id":${id},${fields}${details === "" ? "" : `,"details":${details}`}}`, format);
  }

  drained(): void {
    if (this.ws === null) return;
    if (this.ws.getBufferedAmount() > 0) {
      this.blockedSince = this.services.clock.now();
      return;
    }
    this.blockedSince = 0;
    this.sockets.blocked.delete(this);
    const waiting = this.waiting;
    this.waiting = null;
    if (waiting !== null) for (const request of waiting) request.drained();
  }

  began(request: RunningRequest): void {
    this.runningById ??= new Set();
    this.runningById.add(request);
  }

  subscribed(request: RunningRequest): void {
    this.subscriptionsById ??= new Set();
    this.subscriptionsById.add(request);
    this.runningById?.delete(request);
    this.endIfIdle();
  }

  waits(request: RunningRequest): void {
    this.waiting ??= new Set();
    this.waiting.add(request);
  }

  ended(request: RunningRequest): void {
    this.waiting?.delete(request);
    this.runningById?.delete(request);
    this.subscriptionsById?.delete(request);
    if (this.subscriptions === 0) this.subscriptionsById = null;
    this.endIfIdle();
  }

  private endIfIdle(): void {
    if (this.running > 0) return;
    this.runningById = null;
    if (this.ending) this.end(CLOSE.goingAway, "The server is shutting down.");
  }

  find(id: string): RunningRequest | null {
    for (const requests of [this.runningById, this.subscriptionsById]) {
      if (requests !== null) for (const request of requests) if (request.id === id) return request;
    }
    return null;
  }

  endWhenIdle(): void {
    this.ending = true;
    if (this.running === 0) this.end(CLOSE.goingAway, "The server is shutting down.");
  }

  end(code: number, reason: string): void {
    this.ws?.end(code, reason);
  }

  closed(): void {
    this.ws = null;
    this.ending = false;
    this.sockets.remove(this);
    for (const requests of [this.runningById, this.subscriptionsById]) {
      if (requests !== null) for (const request of [...requests]) request.cancel();
    }
    this.waiting = null;
  }
}
