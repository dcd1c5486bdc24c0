/**
 * A client at a fixed rate, in a process of its own: `node open-loop.js '<OpenLoop as JSON>'`. Requests are sent by a
 * schedule that does not look at the answers, and each is timed from when it should have been sent, so a server that
 * stalls is charged for all requests that its stall held up (no coordinated omission). Prints one line of JSON.
 */
import { connect, type Socket } from "node:net";
import { Worker } from "node:worker_threads";

export interface OpenLoop {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  readonly requestsPerSecond: number;
  readonly seconds: number;
  readonly connections: number;
  /** Rows of the table "accounts". */
  readonly rows: number;
  /** Share of requests that write, 0 to 1. */
  readonly writes: number;
}

export interface OpenLoopResult {
  /** Of every request, in the order of their answers. */
  readonly latenciesMs: readonly number[];
  /** Answers other than 2xx. */
  readonly errors: number;
  /** Median of how late this process itself sent, which is part of the latencies. */
  readonly lateMs: number;
}

/** One kept-alive connection with at most one request under way. */
class Connection {
  private socket: Socket;
  private received: Buffer = Buffer.alloc(0);
  private startedAt = 0;

  constructor(
    private readonly load: OpenLoop,
    private readonly done: (connection: Connection, startedAt: number, ok: boolean) => void,
  ) {
    this.socket = connect(load.port, load.host);
    this.socket.setNoDelay(true);
    this.socket.on("data", (data: Buffer) => this.receive(data));
  }

  send(body: string, startedAt: number): void {
    this.startedAt = startedAt;
    const { host, port, token } = this.load;
    this.socket.write(
      `POST /v1/query/execute HTTP/1.1\r\nHost: ${host}:${port}\r\nAuthorization: Bearer ${token}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  }

  close(): void {
    this.socket.destroy();
  }

  private receive(data: Buffer): void {
    this.received = this.received.length === 0 ? data : Buffer.concat([this.received, data]);
    const headEnd = this.received.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    const head = this.received.toString("latin1", 0, headEnd);
    const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (this.received.length < headEnd + 4 + length) return;
    this.received = Buffer.alloc(0);
    this.done(this, this.startedAt, head.startsWith("HTTP/1.1 2"));
  }
}

/**
 * Wakes the main thread when each request is due. Node's timers are whole milliseconds; a wait on a futex is not, and
 * costs no CPU. Runs in a worker, as text, since it needs nothing else.
 */
const TICKER = `
  const { parentPort, workerData: { gapMs, count, startMs } } = require("node:worker_threads");
  const cell = new Int32Array(new SharedArrayBuffer(4));
  for (let i = 0; i < count; i++) {
    const wait = startMs + i * gapMs - (performance.timeOrigin + performance.now());
    if (wait > 0) Atomics.wait(cell, 0, 0, wait);
    parentPort.postMessage(i);
  }`;

function bodyOf(load: OpenLoop): string {
  const id = 1 + Math.floor(Math.random() * load.rows);
  return Math.random() < load.writes
    ? `{"sql":"UPDATE accounts SET balance = balance + 1 WHERE id = $1","parameters":[${id}]}`
    : `{"sql":"SELECT id, name, balance FROM accounts WHERE id = $1","parameters":[${id}]}`;
}

function run(load: OpenLoop): Promise<OpenLoopResult> {
  const count = Math.round(load.requestsPerSecond * load.seconds);
  const gapMs = 1000 / load.requestsPerSecond;
  const startMs = performance.timeOrigin + performance.now() + 200;
  const latenciesMs: number[] = [];
  const late: number[] = [];
  const waiting: number[] = [];
  let errors = 0;
  return new Promise((resolve) => {
    const now = (): number => performance.timeOrigin + performance.now();
    const done = (connection: Connection, dueMs: number, ok: boolean): void => {
      latenciesMs.push(now() - dueMs);
      if (!ok) errors++;
      const next = waiting.shift();
      if (next !== undefined) connection.send(bodyOf(load), next);
      else free.push(connection);
      if (latenciesMs.length < count) return;
      for (const one of all) one.close();
      late.sort((a, b) => a - b);
      resolve({ latenciesMs, errors, lateMs: late[late.length >>> 1] ?? 0 });
    };
    const all = Array.from({ length: load.connections }, () => new Connection(load, done));
    const free = [...all];
    const ticker = new Worker(TICKER, { eval: true, workerData: { gapMs, count, startMs } });
    ticker.on("message", (index: number) => {
      const dueMs = startMs + index * gapMs;
      late.push(now() - dueMs);
      const connection = free.pop();
      if (connection === undefined) waiting.push(dueMs);
      else connection.send(bodyOf(load), dueMs);
    });
  });
}

const argument = process.argv[2];
if (argument !== undefined) {
  const result = await run(JSON.parse(argument) as OpenLoop);
  console.log(JSON.stringify(result));
}
