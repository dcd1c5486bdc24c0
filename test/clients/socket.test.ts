/** Messages that cannot be read: streams end with an error, and the next one connects anew. */
import t from "tap";
import { ConnectionError, connect, type SocketClass } from "../../clients/typescript/src/index.js";

/** Answers each statement with `answer`; sockets that were closed say nothing more. */
function socketClass(answer: (id: number) => unknown) {
  return class Answering extends EventTarget {
    static readonly made: Answering[] = [];
    readyState = 1;
    binaryType = "";

    constructor() {
      super();
      Answering.made.push(this);
      queueMicrotask(() => this.dispatchEvent(new Event("open")));
    }

    send(text: string): void {
      const { type, id } = JSON.parse(text) as { type: string; id: number };
      if (type !== "sql.execute.stream") return;
      const data = answer(id);
      if (data === undefined) return;
      queueMicrotask(() => this.dispatchEvent(Object.assign(new Event("message"), { data })));
    }

    close(): void {
      if (this.readyState === 3) return;
      this.readyState = 3;
      queueMicrotask(() => this.dispatchEvent(Object.assign(new Event("close"), { reason: "" })));
    }
  };
}

const fetchTicket = async () =>
  new Response(JSON.stringify({ token: "x" }), { headers: { "content-type": "application/json" } });

const UNREADABLE: Readonly<Record<string, unknown>> = {
  "bytes that are no MessagePack": new Uint8Array([0xc1]).buffer,
  "bytes that are cut off": new Uint8Array([0x81, 0xa4]).buffer,
  "a list in a list, a hundred thousand times": new Uint8Array(100_000).fill(0x91).buffer,
  "a nil": new Uint8Array([0xc0]).buffer,
  "text that is no JSON": "{",
  "a null": "null",
};

for (const [what, data] of Object.entries(UNREADABLE)) {
  t.test(what, async (t) => {
    // The first statement has no answer, the second one that cannot be read, the third one ends at once.
    const WebSocket = socketClass((id) => [undefined, undefined, data, `{"type":"sql.done","id":${id}}`][id]);
    const socket = WebSocket as unknown as SocketClass;
    const db = connect({ url: "http://h", apiKey: "k", fetch: fetchTicket as typeof fetch, WebSocket: socket });
    const over = "websocket" as const;
    const both = [db.stream("SELECT 1", [], { over }).next(), db.stream("SELECT 2", [], { over }).next()];
    const ended = await Promise.allSettled(both);
    for (const one of ended) {
      t.match(one, { status: "rejected", reason: { message: "A message of the server could not be read." } });
      t.ok(one.status === "rejected" && one.reason instanceof ConnectionError);
    }
    t.equal(WebSocket.made.length, 1);
    t.equal(WebSocket.made[0]!.readyState, 3, "the socket was closed");
    t.same(await db.stream("SELECT 3", [], { over }).next(), { done: true, value: undefined });
    t.equal(WebSocket.made.length, 2);
  });
}
