/**
 * The WebSocket of a client: made by a ticket for the first stream, shared by all that run, and closed a moment after the last. A
 * stream whose connection breaks ends with ConnectionError; the next one connects anew. One per client.
 */
import { ConnectionError, errorOf, TesseraError } from "./errors.js";
import type { SocketClass, SocketLike } from "./options.js";
import { type Column, rowMaker } from "./result.js";
import type { Transport } from "./transport.js";

interface Message {
  readonly type: string;
  readonly id?: number;
  readonly columns?: readonly Column[];
  readonly rows?: readonly (readonly unknown[])[];
  readonly code?: string;
  readonly message?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly request_id?: string;
}

/** Messages of rows that may be under way: one is read while the next ones come. */
const CREDITS = 4;
/** Statuses are not part of messages; those that a class hangs on. */
const STATUSES: Readonly<Record<string, number>> = {
  ...{ unauthorized: 401, forbidden: 403, not_found: 404, request_timeout: 408, rate_limited: 429 },
  ...{ serialization_failure: 409, constraint_violation: 409, overloaded: 503, internal_error: 500 },
};
const IDLE_MS = 1_000;

/** What has come for one stream and was not read yet. */
class Inbox {
  private readonly held: (Message | TesseraError)[] = [];
  private wake: (() => void) | null = null;

  put(item: Message | TesseraError): void {
    this.held.push(item);
    this.wake?.();
  }

  /** Throws the error that came, and the signal's reason. */
  async take(signal: AbortSignal | undefined): Promise<Message> {
    while (this.held.length === 0) {
      signal?.throwIfAborted();
      await new Promise<void>((resolve) => {
        this.wake = () => {
          signal?.removeEventListener("abort", this.wake!);
          resolve();
        };
        signal?.addEventListener("abort", this.wake, { once: true });
      });
    }
    const item = this.held.shift()!;
    if (item instanceof TesseraError) throw item;
    return item;
  }
}

export class SocketLink {
  private readonly inboxes = new Map<number, Inbox>();
  private socket: Promise<SocketLike> | null = null;
  private idle: ReturnType<typeof setTimeout> | undefined;
  private lastId = 0;

  constructor(
    private readonly transport: Transport,
    private readonly make: SocketClass | undefined,
  ) {}

  /** All rows of a query. `body`: the statement as POST /v1/query/execute takes it. */
  async *rows<R>(body: object, signal: AbortSignal | undefined): AsyncGenerator<R, void> {
    signal?.throwIfAborted();
    const id = ++this.lastId;
    const inbox = new Inbox();
    this.inboxes.set(id, inbox);
    let [socket, ended]: [SocketLike | null, boolean] = [null, false];
    try {
      socket = await this.opened();
      socket.send(JSON.stringify({ ...body, type: "sql.execute.stream", id, credits: CREDITS }));
      let make: (row: readonly unknown[]) => R = rowMaker<R>([]);
      for (;;) {
        const message = await inbox.take(signal);
        if (message.type === "sql.columns") make = rowMaker<R>(message.columns!);
        else if (message.type === "sql.rows") {
          for (const row of message.rows!) yield make(row);
          socket.send(JSON.stringify({ type: "credit", id, messages: 1 }));
        } else {
          ended = true;
          if (message.type === "error") throw failureOf(message);
          return;
        }
      }
    } finally {
      this.inboxes.delete(id);
      if (!ended && socket?.readyState === 1) socket.send(JSON.stringify({ type: "cancel", id }));
      this.closeWhenIdle();
    }
  }

  private async opened(): Promise<SocketLike> {
    clearTimeout(this.idle);
    this.socket ??= this.open();
    try {
      return await this.socket;
    } catch (error) {
      this.socket = null;
      throw error;
    }
  }

  private async open(): Promise<SocketLike> {
    const { make: Socket } = this;
    if (Socket === undefined) {
      const message = "This runtime has no WebSocket. Give connect() the option WebSocket, or stream over HTTP.";
      throw new TesseraError(message, { code: "not_supported", status: 0 });
    }
    const { token } = await this.transport.ask<{ token: string }>("POST", "/v1/ws/ticket", { body: {} });
    const address = `${this.transport.base.replace(/^http/, "ws")}/ws?token=${encodeURIComponent(token)}`;
    const socket = new Socket(address);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener("open", () => resolve());
      socket.addEventListener("close", ({ reason }) => {
        const error = new ConnectionError(`The WebSocket was closed. ${reason ?? ""}`.trim());
        this.socket = null;
        for (const inbox of this.inboxes.values()) inbox.put(error);
        reject(error);
      });
      // A close follows each error.
      socket.addEventListener("error", () => undefined);
      socket.addEventListener("message", ({ data }) => {
        const message = JSON.parse(String(data)) as Message;
        this.inboxes.get(message.id ?? 0)?.put(message);
      });
    });
    return socket;
  }

  private closeWhenIdle(): void {
    clearTimeout(this.idle);
    if (this.inboxes.size > 0) return;
    this.idle = setTimeout(() => {
      this.socket?.then((socket) => socket.close()).catch(() => undefined);
    }, IDLE_MS);
  }
}

function failureOf({ code = "unknown", message = "", details, request_id: requestId }: Message): TesseraError {
  return errorOf(message, { code, status: STATUSES[code] ?? 400, details, requestId });
}
