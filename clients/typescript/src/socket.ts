/**
 * The WebSocket of a client: made by a ticket for the first stream, shared by all that run, and closed a moment after
 * the last. A stream whose connection breaks ends with ConnectionError; the next one connects anew. One per client.
 */
import { ConnectionError, errorOf, TesseraError } from "./errors.js";
import type { SocketClass, SocketLike } from "./options.js";
import { type BaseType, type ColumnValues, columnValues, unpacked } from "./packed.js";
import { type Column, columnRowMaker, rowMaker } from "./result.js";
import type { Batch } from "./row-iterator.js";
import type { Transport } from "./transport.js";

interface SentColumn extends Column {
  /** Of MessagePack, where the type was made by a statement. */
  readonly base_type?: BaseType;
}

interface Message {
  readonly type: string;
  readonly id?: number;
  /** Of sql.columns; of sql.rows in MessagePack the values, column by column. */
  readonly columns?: readonly SentColumn[];
  readonly rows?: readonly (readonly unknown[])[];
  /** Rows by columns: how many. */
  readonly count?: number;
  readonly code?: string;
  readonly message?: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly request_id?: string;
  readonly rows_affected?: number;
  readonly execution_time_ms?: number;
  readonly truncated?: boolean;
  readonly notices?: readonly string[];
}

/** A part of a statement's answer. */
export type ResultPart =
  | { readonly type: "columns"; readonly columns: readonly Column[] }
  | { readonly type: "rows"; readonly rows: readonly (readonly unknown[])[] }
  | {
      readonly type: "end";
      readonly rowsAffected: number | undefined;
      readonly executionTimeMs: number;
      readonly truncated: boolean;
      readonly notices: readonly string[];
    };

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
  /** The one that is open. One that was left may still be closing when the next one opens. */
  private current: SocketLike | null = null;
  private idle: ReturnType<typeof setTimeout> | undefined;
  private lastId = 0;

  constructor(
    private readonly transport: Transport,
    private readonly make: SocketClass | undefined,
  ) {}

  /**
   * All rows of a query, as many at a time as a message has. `body`: the statement as POST /v1/query/execute takes it.
   */
  async *batches<R>(body: object, signal: AbortSignal | undefined): AsyncGenerator<Batch<R>, void> {
    let make = rowMaker<R>([]);
    let makeOfColumns = columnRowMaker<R>([]);
    let types: readonly BaseType[] = [];
    for await (const { type, columns = [], rows = [], count } of this.messages(body, signal)) {
      if (type === "sql.columns") {
        make = rowMaker<R>(columns);
        makeOfColumns = columnRowMaker<R>(columns);
        types = typesOf(columns);
      } else if (type !== "sql.rows") return;
      else if (count === undefined) yield { length: rows.length, row: (number) => make(rows[number]!) };
      else yield { length: count, row: makeOfColumns(valuesOf(columns, types)) };
    }
  }

  /** The answer of a statement as it comes: its columns, some rows at a time, and its end. */
  async *parts(body: object, signal: AbortSignal | undefined): AsyncGenerator<ResultPart, void> {
    let types: readonly BaseType[] = [];
    for await (const message of this.messages(body, signal)) {
      const { columns = [] } = message;
      if (message.type === "sql.columns") {
        types = typesOf(columns);
        yield { type: "columns", columns };
      } else if (message.type === "sql.rows") yield { type: "rows", rows: listsOf(message, types) };
      else yield endOf(message);
    }
  }

  /**
   * The messages of an answer. The server sends as far ahead as there are credits, one for each message that was read.
   */
  private async *messages(body: object, signal: AbortSignal | undefined): AsyncGenerator<Message, void> {
    signal?.throwIfAborted();
    const id = ++this.lastId;
    const inbox = new Inbox();
    this.inboxes.set(id, inbox);
    let [socket, ended]: [SocketLike | null, boolean] = [null, false];
    try {
      socket = await this.opened();
      socket.send(JSON.stringify({ ...body, type: "sql.execute.stream", id, credits: CREDITS }));
      for (;;) {
        const message = await inbox.take(signal);
        if (message.type === "sql.rows") {
          yield message;
          socket.send(JSON.stringify({ type: "credit", id, messages: 1 }));
        } else if (message.type === "sql.columns") yield message;
        else {
          ended = true;
          if (message.type === "error") throw failureOf(message);
          yield message;
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
    const { base, branch } = this.transport;
    const query = new URLSearchParams(branch === "" ? { token } : { token, branch });
    const address = `${base.replace(/^http/, "ws")}/ws?${query}`;
    const socket = new Socket(address, "msgpack");
    socket.binaryType = "arraybuffer";
    this.current = socket;
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener("open", () => resolve());
      socket.addEventListener("close", ({ reason }) => {
        const error = new ConnectionError(`The WebSocket was closed. ${reason ?? ""}`.trim());
        reject(error);
        this.lose(socket, error);
      });
      // A close follows each error.
      socket.addEventListener("error", () => undefined);
      socket.addEventListener("message", ({ data }) => {
        try {
          const message = messageOf(data);
          this.inboxes.get(message.id ?? 0)?.put(message);
        } catch (error) {
          // What it was for is not known.
          this.lose(socket, new ConnectionError("A message of the server could not be read.", error));
          socket.close();
        }
      });
    });
    return socket;
  }

  private closeWhenIdle(): void {
    clearTimeout(this.idle);
    if (this.inboxes.size > 0) return;
    this.idle = setTimeout(() => {
      const socket = this.current;
      this.leave();
      socket?.close();
    }, IDLE_MS);
  }

  /** Ends all streams of the socket. */
  private lose(socket: SocketLike, error: ConnectionError): void {
    if (this.current !== socket) return;
    this.leave();
    for (const inbox of this.inboxes.values()) inbox.put(error);
  }

  /** The next stream connects anew. */
  private leave(): void {
    this.socket = null;
    this.current = null;
  }
}

/** As bytes in MessagePack, or as text where the WebSocket has asked for none. */
function messageOf(data: unknown): Message {
  if (data instanceof ArrayBuffer) return unpacked(new Uint8Array(data)) as Message;
  return JSON.parse(String(data)) as Message;
}

const typesOf = (columns: readonly SentColumn[]): readonly BaseType[] =>
  columns.map(({ data_type, base_type = data_type }) => base_type);

/** The values of sql.rows, column by column. */
const valuesOf = (columns: readonly unknown[], types: readonly BaseType[]): ColumnValues[] =>
  columns.map((column, c) => columnValues(column as ColumnValues, types[c]!));

/** The rows of sql.rows as lists. */
function listsOf(
  { rows = [], count, columns = [] }: Message,
  types: readonly BaseType[],
): readonly (readonly unknown[])[] {
  if (count === undefined) return rows;
  const values = valuesOf(columns, types);
  return Array.from({ length: count }, (_, row) => values.map((column) => column[row]));
}

function failureOf({ code = "unknown", message = "", details, request_id: requestId }: Message): TesseraError {
  return errorOf(message, { code, status: STATUSES[code] ?? 400, details, requestId });
}

function endOf({ rows_affected, execution_time_ms = 0, truncated = false, notices = [] }: Message): ResultPart {
  return { type: "end", rowsAffected: rows_affected, executionTimeMs: execution_time_ms, truncated, notices };
}
