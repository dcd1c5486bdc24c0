/** Changes as they are committed: a subscription that goes on by itself after each interruption, and misses nothing. */
import { backoffMs, pause } from "./backoff.js";
import { ConnectionError, errorOf, TesseraError } from "./errors.js";
import { eventsOf } from "./lines.js";
import type { CallOptions } from "./options.js";
import type { Transport } from "./transport.js";

/** What is followed: one of these. */
export interface Followed extends CallOptions {
  /** A collection of documents or vectors. */
  readonly collection?: string;
  /** A table, also as `schema.table`. */
  readonly table?: string;
  /** Nodes of a graph with this label. */
  readonly label?: string;
  /** Relationships of a graph of this type. */
  readonly relationship?: string;
  readonly graph?: string;
  readonly filter?: Readonly<Record<string, unknown>>;
  /** Changes after this one; unless said, those from now on. */
  readonly sequence?: number;
  /** Called when the server has begun to report, also after an interruption. */
  readonly subscribed?: () => void;
}

/** A change. */
export interface Change<D = Record<string, unknown>> {
  readonly operation: "insert" | "update" | "delete" | "truncate";
  readonly collection: string;
  readonly document: D;
  readonly timestamp: string;
  /** Grows with every change. */
  readonly sequence: number;
}

const FIRST_WAIT_MS = 50;
const MOST_WAIT_MS = 5_000;
/** The status of errors within a stream, which have none. */
const WITHIN = 503;
/**
 * Ends of a subscription after which it is begun again. While it catches up with changes from before, a server that
 * stops or loses the partition says so by the code of any request, and a node between by `cancelled`.
 */
const PASSING = [
  ...["subscription_interrupted", "subscription_dropped"],
  ...["partition_unavailable", "shutting_down", "overloaded", "cancelled"],
];

/** Each change once, in the order of the commits. Ends when its reader leaves the loop or the signal fires. */
export async function* follow<D>(transport: Transport, followed: Followed): AsyncGenerator<Change<D>, void> {
  const { signal, sequence, ...what } = followed;
  let last = sequence;
  for (let failures = 0; ; ) {
    try {
      for await (const message of messagesOf<D>(transport, what, last, signal)) {
        if (message.type === "subscribed") {
          failures = 0;
          last ??= message.sequence;
          followed.subscribed?.();
        } else if (last === undefined || message.sequence > last) {
          last = message.sequence;
          const { type: _type, ...change } = message;
          yield change as Change<D>;
        }
      }
      throw new ConnectionError("The server ended the subscription.");
    } catch (error) {
      signal?.throwIfAborted();
      const isPassing = error instanceof ConnectionError || (error instanceof TesseraError && mayGoOn(error));
      if (!isPassing) throw error;
    }
    await pause(backoffMs(++failures, FIRST_WAIT_MS, MOST_WAIT_MS), signal);
  }
}

/**
 * Within a stream `unauthorized` asks to connect again, as after a change of the user; then the answer's status
 * decides.
 */
function mayGoOn({ code, status }: TesseraError): boolean {
  return PASSING.includes(code) || (code === "unauthorized" && status === WITHIN);
}

type Message<D> =
  | { readonly type: "subscribed"; readonly sequence: number }
  | ({ readonly type: "change" } & Change<D>);

async function* messagesOf<D>(
  transport: Transport,
  { collection, table, label, relationship, graph, filter }: Omit<Followed, "signal" | "sequence">,
  sequence: number | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<Message<D>, void> {
  const query = {
    ...{ collection, table, label, relationship, graph, sequence },
    filter: filter === undefined ? undefined : JSON.stringify(filter),
  };
  const response = await transport.open("GET", "/v1/subscribe", { query, signal, accept: "text/event-stream" });
  for await (const { type, data } of eventsOf(response)) {
    const message = JSON.parse(data) as Message<D> & { readonly code: string; readonly message: string };
    if (type === "error") throw errorOf(message.message, { ...message, status: WITHIN });
    yield { ...message, type: type as Message<D>["type"] } as Message<D>;
  }
}
