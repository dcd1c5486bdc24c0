/** The interfaces between the parts of WebSockets; the parts themselves are in the files beside. */
import type { WebSocket } from "uWebSockets.js";
import type { ErrorCode } from "../../protocol/errors.js";
import type { Caller } from "../admission.js";
import type { Services } from "../services.js";
import type { MessageName } from "./message-head.js";

/** Why the server ends a connection (RFC 6455, section 7.4; from 4000 on our own: 4000 + the HTTP status). */
export const CLOSE = {
  goingAway: 1001,
  unsupportedData: 1003,
  policy: 1008,
  tryAgainLater: 1013,
  tooLong: 1009,
  notReading: 4408,
} as const;

/** Texts are JSON, binary messages MessagePack. */
export type MessageFormat = "json" | "msgpack";

export interface MessageHead extends MessageName {
  /** In which it is answered. */
  readonly format: MessageFormat;
  /** It is MessagePack itself. */
  readonly isPacked: boolean;
}

/** The server's end of a WebSocket, as uWebSockets.js's events reach it. */
export interface SocketEnd {
  opened(ws: WebSocket<SocketUser>): void;
  /** The bytes are only valid during the call. */
  message(bytes: Buffer, isBinary: boolean): void;
  /** More of the sent bytes have left. */
  drained(): void;
  closed(): void;
  /** Says why and closes. */
  end(code: number, reason: string): void;
}

/** uWebSockets.js copies what it is given onto its own object, so that is one property. */
export interface SocketUser {
  readonly user: SocketEnd;
}

/** A message that is being worked on. */
export interface RunningRequest {
  /** The client's name for it, as JSON; `null` when it has none. */
  readonly id: string;
  /** The client has read what lay in the socket. */
  drained(): void;
  /** The client can take this many further messages of rows. */
  credit(messages: number): void;
  /** The client does not want it any more, or has gone. */
  cancel(): void;
}

/** A connection, as messages and requests see it. */
export interface Client {
  readonly services: Services;
  readonly caller: Caller;
  /** How many requests run. */
  readonly running: number;
  /** The request with that id, which is JSON; null when none runs. */
  find(id: string): RunningRequest | null;
  /** True when the socket took it at once; a client that lets far too much lie is cut off. */
  send(message: Uint8Array | string, isBinary?: boolean): boolean;
  /** Sends a message whose JSON this is. */
  say(json: string, format: MessageFormat): void;
  /** Sends an error of the table; `id` and `details` are JSON. */
  fail(id: string, code: ErrorCode, message?: string, details?: string, format?: MessageFormat): void;
  /** Several messages at once; as `send`. */
  sendAll(messages: readonly Uint8Array[], isBinary: boolean): boolean;
  /** Bytes that were sent and are still in the socket's buffer. */
  readonly unreadBytes: number;
  began(request: RunningRequest): void;
  /** It lives until the client leaves, and counts as none that runs. */
  subscribed(request: RunningRequest): void;
  /** How many of those there are. */
  readonly subscriptions: number;
  /** Part of the request's answer is in the socket's buffer; `drained` tells it when that was read. */
  waits(request: RunningRequest): void;
  ended(request: RunningRequest): void;
  /** Says why and closes; what the client has not read is sent first, if it reads. */
  end(code: number, reason: string): void;
}

/** What is done with a message of one type; its bytes are only valid during the call. */
export type HandleMessage = (client: Client, head: MessageHead, bytes: Buffer) => void;

/** A client that has not read everything it was sent. */
export interface Blocked {
  /** When it last read some of it, on the steady clock. */
  readonly blockedSince: number;
  /** Bytes that were sent and are still in the socket's buffer. */
  readonly unreadBytes: number;
  end(code: number, reason: string): void;
}

/** A connection, as the set of all of them knows it. */
export interface Member extends Client, Blocked {
  /** Ends the connection once nothing runs on it; new messages are refused. */
  endWhenIdle(): void;
}

/** All connections, as one of them sees it. */
export interface ConnectionSet {
  readonly services: Services;
  readonly handlers: ReadonlyMap<string, HandleMessage>;
  readonly mcp: HandleMessage;
  readonly followFiles: HandleMessage;
  readonly blocked: Set<Blocked>;
  /** Counts a connection, and ends it when it is one too many. */
  add(connection: Member): void;
  remove(connection: Member): void;
}
