/**
 * A client in a process of its own: `node client.js '<ClientLoad as JSON>'`; prints one line of JSON, a ClientResult.
 * SIGTERM ends an open loop before its time: nothing more is sent, and what is under way is awaited. A parent with a
 * channel is told when the first request is due.
 *
 * With a rate it is an open loop: requests are due by a schedule that does not look at the answers, and each is timed
 * from when it was due. A server that stalls is charged for all requests that its stall held up, also those that could
 * not be sent because every connection waited: no coordinated omission. Without a rate it sends as fast as answers
 * come.
 */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { sortedQuantile } from "../statistics.js";
import { type PreparedRequest, parseRequests } from "./requests.js";

export interface ClientLoad {
  readonly host: string;
  readonly port: number;
  /** Written by `writeRequests`. */
  readonly file: string;
  readonly firstKey: number;
  readonly connections: number;
  readonly seconds: number;
  /** Null: as fast as answers come. */
  readonly requestsPerSecond: number | null;
  /** False: a connection for each request. */
  readonly keepAlive: boolean;
  /** The result has every request. */
  readonly samples?: boolean;
}

/** When the request was due, in milliseconds since 1970, and how long after that it was answered. */
export type Sample = readonly [dueMs: number, latencyMs: number];

export interface ClientResult {
  readonly requests: number;
  /** Answers other than 2xx, and connections that broke. */
  readonly errors: number;
  /** From the first request's due time to the last answer. */
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
  /** Median of how late this process itself sent, which is part of the latencies. */
  readonly lateMs: number;
  /** In the order of their answers. */
  readonly samples?: readonly Sample[];
}

const RECEIVE_BYTES = 256 * 1024;
const HEAD_END = "\r\n\r\n";
const CHUNKS_END = Buffer.from("\r\n0\r\n\r\n");

/** One connection with at most one request under way; connects again when the server closed it. */
class Connection {
  private socket: Socket | null = null;
  private startedAt = 0;
  private busy = false;
  private head = "";
  /** Bytes still to come; -1 before the head is complete, infinite while chunks come. */
  private missing = -1;
  private tail = Buffer.alloc(0);

  constructor(
    private readonly load: ClientLoad,
    private readonly done: (connection: Connection, startedAt: number, ok: boolean) => void,
  ) {}

  send(request: Buffer, startedAt: number): void {
    this.startedAt = startedAt;
    this.busy = true;
    this.head = "";
    this.missing = -1;
    this.socket ??= this.open();
    this.socket.write(request);
  }

  close(): void {
    this.busy = false;
    this.socket?.destroy();
  }

  private open(): Socket {
    const { host, port } = this.load;
    const buffer = Buffer.allocUnsafe(RECEIVE_BYTES);
    const onread = { buffer, callback: (length: number) => this.receive(buffer.subarray(0, length)) };
    const socket = connect({ host, port, noDelay: true, onread });
    const broken = (): void => {
      if (this.socket !== socket) return;
      this.socket = null;
      if (this.busy) this.finish(false);
    };
    socket.on("error", broken);
    socket.on("close", broken);
    return socket;
  }

  private receive(data: Buffer): boolean {
    if (this.missing === -1) {
      const before = this.head.length;
      this.head += data.toString("latin1", 0, Math.min(data.length, 4096));
      const end = this.head.indexOf(HEAD_END);
      if (end < 0) return true;
      const length = /\r\ncontent-length: *(\d+)/i.exec(this.head)?.[1];
      const body = data.subarray(end + HEAD_END.length - before);
      if (length === undefined && /\r\ntransfer-encoding: *chunked/i.test(this.head)) {
        this.missing = Number.POSITIVE_INFINITY;
        // As if a chunk had ended before the first one, for an empty body.
        this.tail = Buffer.from("\r\n");
        this.receiveBody(body);
      } else {
        this.missing = Number(length ?? 0);
        this.receiveBody(body);
      }
    } else this.receiveBody(data);
    return true;
  }

  private receiveBody(data: Buffer): void {
    if (this.missing !== Number.POSITIVE_INFINITY) this.missing -= data.length;
    else {
      // Copied, since the buffer that the data lies in is used again.
      this.tail = Buffer.concat([this.tail, data.subarray(-CHUNKS_END.length)]).subarray(-CHUNKS_END.length);
      if (this.tail.equals(CHUNKS_END)) this.missing = 0;
    }
    if (this.missing > 0) return;
    if (!this.load.keepAlive) {
      const socket = this.socket;
      this.socket = null;
      socket?.destroy();
    }
    this.finish(this.head.startsWith("HTTP/1.1 2"));
  }

  private finish(ok: boolean): void {
    this.busy = false;
    this.done(this, this.startedAt, ok);
  }
}

/**
 * Wakes the main thread when requests are due, at most every quarter of a millisecond. Node's timers are whole
 * milliseconds; a wait on a futex is not, and costs no CPU. Runs in a worker, as text, since it needs nothing else.
 */
const TICKER = `
  const { parentPort, workerData: { gapMs, count, startMs } } = require("node:worker_threads");
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const step = Math.max(1, Math.round(0.25 / gapMs));
  for (let due = 0; due < count; due += step) {
    const wait = startMs + due * gapMs - (performance.timeOrigin + performance.now());
    if (wait > 0) Atomics.wait(cell, 0, 0, wait);
    parentPort.postMessage(Math.min(due + step, count));
  }`;

class Run {
  private readonly requests: PreparedRequest[];
  private readonly all: Connection[];
  private readonly free: Connection[];
  private readonly waiting: number[] = [];
  private readonly latenciesMs: number[] = [];
  private readonly lateMs: number[] = [];
  private readonly samples: Sample[] = [];
  private next = 0;
  private key: number;
  private errors = 0;

  constructor(private readonly load: ClientLoad) {
    this.requests = parseRequests(readFileSync(load.file));
    this.key = load.firstKey - 1;
    const done = (connection: Connection, startedAt: number, ok: boolean): void =>
      this.answered(connection, startedAt, ok);
    this.all = Array.from({ length: load.connections }, () => new Connection(load, done));
    this.free = [...this.all];
  }

  /** Set by the loops: what happens after an answer. */
  private onAnswer: (connection: Connection) => void = () => {};

  openLoop(requestsPerSecond: number): Promise<ClientResult> {
    let count = Math.round(requestsPerSecond * this.load.seconds);
    const gapMs = 1000 / requestsPerSecond;
    const startMs = now() + 200;
    return new Promise((resolve) => {
      let sent = 0;
      process.once("SIGTERM", () => {
        count = sent;
        if (this.latenciesMs.length === count) resolve(this.result(now() - startMs));
      });
      setTimeout(() => process.send?.("begun"), startMs - now());
      this.onAnswer = (connection) => {
        const due = this.waiting.shift();
        if (due === undefined) this.free.push(connection);
        else connection.send(this.request(), due);
        if (this.latenciesMs.length === count) resolve(this.result(now() - startMs));
      };
      const ticker = new Worker(TICKER, { eval: true, workerData: { gapMs, count, startMs } });
      ticker.on("message", (until: number) => {
        for (; sent < Math.min(until, count); sent++) {
          const due = startMs + sent * gapMs;
          this.lateMs.push(now() - due);
          const connection = this.free.pop();
          if (connection === undefined) this.waiting.push(due);
          else connection.send(this.request(), due);
        }
      });
    });
  }

  closedLoop(): Promise<ClientResult> {
    const startMs = now();
    const endMs = startMs + this.load.seconds * 1000;
    return new Promise((resolve) => {
      let running = this.all.length;
      this.onAnswer = (connection) => {
        if (now() < endMs) connection.send(this.request(), now());
        else if (--running === 0) resolve(this.result(now() - startMs));
      };
      for (const connection of this.all) connection.send(this.request(), now());
    });
  }

  private answered(connection: Connection, startedAt: number, ok: boolean): void {
    const latencyMs = now() - startedAt;
    this.latenciesMs.push(latencyMs);
    if (this.load.samples === true) this.samples.push([startedAt, latencyMs]);
    if (!ok) this.errors++;
    this.onAnswer(connection);
  }

  private request(): Buffer {
    const request = this.requests[this.next]!;
    this.next = (this.next + 1) % this.requests.length;
    if (request.length === 1) return request[0]!.bytes;
    const parts: Buffer[] = [];
    for (const { mark, bytes } of request) {
      if (mark === "n") this.key++;
      if (mark !== "-") parts.push(Buffer.from(String(this.key)));
      parts.push(bytes);
    }
    return Buffer.concat(parts);
  }

  private result(elapsedMs: number): ClientResult {
    for (const connection of this.all) connection.close();
    const sorted = Float64Array.from(this.latenciesMs).sort();
    const late = Float64Array.from(this.lateMs).sort();
    const quantile = (share: number): number => sortedQuantile(sorted, share) ?? 0;
    return {
      requests: sorted.length,
      errors: this.errors,
      elapsedMs,
      p50Ms: quantile(0.5),
      p99Ms: quantile(0.99),
      p999Ms: quantile(0.999),
      maxMs: sorted.at(-1) ?? 0,
      lateMs: late[late.length >>> 1] ?? 0,
      ...(this.load.samples === true && { samples: this.samples }),
    };
  }
}

/** Milliseconds since 1970, with fractions; the same clock in every thread. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

const load = JSON.parse(process.argv[2]!) as ClientLoad;
const run = new Run(load);
const result = await (load.requestsPerSecond === null ? run.closedLoop() : run.openLoop(load.requestsPerSecond));
// An exit at once would cut off what a pipe has no room for.
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
