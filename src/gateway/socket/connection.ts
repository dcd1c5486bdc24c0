/**
 * One WebSocket. It hands each message to the handler of its type (messages/), remembers the requests that run, and
 * watches whether the client reads. An idle one is this object and nothing else: no timer, no closure, no table. Made
 * by an upgrade (upgrade.ts); owned by the set of all connections (sockets.ts).
 */
import type { WebSocket } from "uWebSockets.js";
import { ERRORS, type ErrorCode } from "../../protocol/errors.js";
import type { Caller } from "../admission.js";
import type { Services } from "../services.js";
import {
  CLOSE,
  type ConnectionSet,
  type Member,
  type RunningRequest,
  type SocketEnd,
  type SocketUser,
} from "./contract.js";
import { type MessageHead, readMessageHead } from "./message-head.js";

export class Connection implements SocketEnd, Member {
  #ws: WebSocket<SocketUser> | null = null;
  #running: Set<RunningRequest> | null = null;
  /** Requests whose answers lie in the socket, unread. */
  #waiting: Set<RunningRequest> | null = null;
  /** It ends when the last request that runs has ended. */
  #ending = false;
  /** When the client last read something of what lies in the socket; 0: nothing does. On the steady clock. */
  blockedSince = 0;

  constructor(
    private readonly sockets: ConnectionSet,
    readonly caller: Caller,
  ) {}

  get services(): Services {
    return this.sockets.services;
  }

  get running(): number {
    return this.#running?.size ?? 0;
  }

  opened(ws: WebSocket<SocketUser>): void {
    this.#ws = ws;
    this.sockets.add(this);
  }

  message(bytes: Buffer, isBinary: boolean): void {
    if (isBinary) {
      this.end(CLOSE.unsupportedData, "Messages are JSON texts.");
      return;
    }
    const head = readMessageHead(bytes);
    if (head === null) this.fail("null", "invalid_json", "The message is not a JSON object.");
    else if (this.#ending) this.fail(head.id, "shutting_down");
    else this.#handle(head, bytes);
  }

  #handle(head: MessageHead, bytes: Buffer): void {
    const handle = this.sockets.handlers.get(head.type);
    if (handle !== undefined) {
      handle(this, head, bytes);
      return;
    }
    const known = [...this.sockets.handlers.keys()].join(", ");
    this.fail(head.id, "invalid_request", `There is no message type ${JSON.stringify(head.type)}. Known: ${known}.`);
  }

  send(message: Uint8Array | string): boolean {
    if (this.#ws === null) return true;
    if (this.#ws.send(message, false) === 1) return true;
    if (this.blockedSince === 0) {
      this.blockedSince = this.services.clock.now();
      this.sockets.blocked.add(this);
    }
    return false;
  }

  fail(id: string, code: ErrorCode, message: string = ERRORS[code].message, details = ""): void {
    const fields = `"code":"${code}","message":${JSON.stringify(message)}`;
    this.send(`{"type":"error","id":${id},${fields}${details === "" ? "" : `,"details":${details}`}}`);
  }

  drained(): void {
    if (this.#ws === null) return;
    if (this.#ws.getBufferedAmount() > 0) {
      this.blockedSince = this.services.clock.now();
      return;
    }
    this.blockedSince = 0;
    this.sockets.blocked.delete(this);
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting !== null) for (const request of waiting) request.drained();
  }

  began(request: RunningRequest): void {
    this.#running ??= new Set();
    this.#running.add(request);
  }

  waits(request: RunningRequest): void {
    this.#waiting ??= new Set();
    this.#waiting.add(request);
  }

  ended(request: RunningRequest): void {
    this.#waiting?.delete(request);
    this.#running?.delete(request);
    if (this.running > 0) return;
    this.#running = null;
    if (this.#ending) this.end(CLOSE.goingAway, "The server is shutting down.");
  }

  find(id: string): RunningRequest | null {
    if (this.#running !== null) for (const request of this.#running) if (request.id === id) return request;
    return null;
  }

  endWhenIdle(): void {
    this.#ending = true;
    if (this.running === 0) this.end(CLOSE.goingAway, "The server is shutting down.");
  }

  end(code: number, reason: string): void {
    this.#ws?.end(code, reason);
  }

  closed(): void {
    this.#ws = null;
    this.#ending = false;
    this.sockets.remove(this);
    if (this.#running !== null) for (const request of [...this.#running]) request.cancel();
    this.#waiting = null;
  }
}
