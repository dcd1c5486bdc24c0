/**
 * An actor's thread as the gateway sees it, without the thread: a message channel with a test's behaviour behind it.
 */
import { EventEmitter, once } from "node:events";
import { MessageChannel } from "node:worker_threads";
import type { ActorPort } from "../../src/gateway/actor-link.js";
import {
  CANCEL_CODE,
  PIECE_CODE,
  ReplyWriter,
  type RequestFrame,
  readRequests,
  TAKEN_CODE,
} from "../../src/protocol/frames.js";
import type { Identity } from "../../src/protocol/identity.js";
import type { ActorMetrics, FromActor, ToActor } from "../../src/protocol/messages.js";

export interface Behaviour {
  /** Answers a request, now or later; by default 200 with an empty payload. */
  request?(frame: RequestFrame, actor: FakeActor): void;
  /** Answers find-identity; by default nobody is known. */
  identity?(by: "user" | "key", value: string): Identity | null;
  /** Does not answer when asked for metrics. */
  readonly silentMetrics?: true;
  /** Called instead of saying ready. */
  start?(actor: FakeActor): void;
  /** Called instead of ending when asked to close. */
  close?(actor: FakeActor): void;
}

export class FakeActor implements ActorPort {
  readonly requests: RequestFrame[] = [];
  readonly cancelled: number[] = [];
  readonly messages: ToActor[] = [];
  terminated = false;
  private readonly events = new EventEmitter();
  private readonly here: MessageChannel["port1"];
  private readonly there: MessageChannel["port2"];

  constructor(
    readonly index: number,
    private readonly behaviour: Behaviour,
  ) {
    const { port1, port2 } = new MessageChannel();
    this.here = port1;
    this.there = port2;
    port1.on("message", (message) => this.events.emit("message", message));
    port2.on("message", (message) => this.receive(message));
    if (behaviour.start === undefined) this.say({ kind: "ready", adminPassword: null });
    else behaviour.start(this);
  }

  postMessage(value: unknown, transfer: readonly ArrayBuffer[] = []): void {
    this.here.postMessage(value, transfer);
  }

  on(event: string, listener: (value: never) => void): unknown {
    return this.events.on(event, listener as (value: unknown) => void);
  }

  async terminate(): Promise<void> {
    this.terminated = true;
    this.exit(1);
  }

  say(message: FromActor): void {
    this.there.postMessage(message);
  }

  reply(
    id: number,
    status = 200,
    body: string | Uint8Array = '{"data":null,"meta":{}}',
    headers = "",
    flags = 0,
  ): void {
    const writer = new ReplyWriter();
    if (typeof body === "string") writer.text(id, status, flags, headers, body);
    else writer.bytes(id, status, flags, headers, body);
    const frames = writer.take();
    this.there.postMessage(frames, [frames]);
  }

  /** The thread ends, as after a crash. What it said before still arrives. */
  exit(code: number): void {
    this.there.close();
    this.here.once("close", () => this.events.emit("exit", code));
  }

  /** The next request that arrives. */
  async nextRequest(): Promise<RequestFrame> {
    const [frame] = await once(this.events, "request");
    return frame as RequestFrame;
  }

  /** The id of the next cancelled request. */
  async nextCancel(): Promise<number> {
    const [id] = await once(this.events, "cancel");
    return id as number;
  }

  async nextMessage(kind: ToActor["kind"]): Promise<ToActor> {
    const [message] = await once(this.events, kind);
    return message as ToActor;
  }

  private receive(message: ArrayBuffer | ToActor): void {
    if (message instanceof ArrayBuffer) readRequests(message, (frame) => this.accept(frame));
    else this.hear(message);
  }

  private accept(frame: RequestFrame): void {
    if (frame.code === CANCEL_CODE) {
      this.cancelled.push(frame.id);
      this.events.emit("cancel", frame.id);
      return;
    }
    // Pieces of bodies and word of what was taken belong to requests that are there already.
    if (frame.code === PIECE_CODE || frame.code === TAKEN_CODE) return;
    this.requests.push(frame);
    this.events.emit("request", frame);
    if (this.behaviour.request === undefined) this.reply(frame.id);
    else this.behaviour.request(frame, this);
  }

  private hear(message: ToActor): void {
    this.messages.push(message);
    this.events.emit(message.kind, message);
    if (message.kind === "find-identity") {
      const { by, value } = message;
      const identity = by === "token" ? null : (this.behaviour.identity?.(by, value) ?? null);
      this.say({ kind: "identity", id: message.id, identity });
    } else if (message.kind === "audit") {
      const { outbox, first, events } = message.batch;
      this.say({ kind: "audit-kept", outbox, upTo: first + events.length - 1 });
    } else if (message.kind === "metrics" && this.behaviour.silentMetrics !== true) {
      this.say({ kind: "metrics", id: message.id, metrics: this.metrics() });
    } else if (message.kind === "close") {
      if (this.behaviour.close === undefined) this.exit(0);
      else this.behaviour.close(this);
    }
  }

  private metrics(): ActorMetrics {
    const partition = {
      partition: this.index,
      commits: 11,
      conflicts: 1,
      syncs: 5,
      syncSeconds: 0.25,
      logBytes: 4096,
      openTransactions: 2,
      syncSecondsMax: 0,
      flushes: 0,
      groupMax: 0,
      abortedForMemory: 0,
      versionBytes: 0,
      repliesAtGate: 0,
      subscriptions: 0,
      tablesFollowed: 0,
      changeHistoryBytes: 0,
      planCacheEntries: 0,
      engine: null,
      recordCache: null,
      jobs: [],
      planCacheHits: 9,
      planCacheMisses: 3,
      columnFileBytes: 0,
      storedBytes: 8192,
      load: 0.25,
      tenantsInMemory: 1,
      indexes: 0,
      indexBytes: 0,
      indexItemsWaiting: 0,
      indexRowsFolded: 0,
      requestsHeld: 0,
    };
    return {
      actor: this.index,
      postgres: [],
      requests: this.requests.length,
      running: 0,
      waiting: 0,
      heapBytes: 1000,
      sliceOverruns: 0,
      longestSliceSeconds: 0,
      slices: { counts: [1, 2], sumSeconds: 0.001 },
      waits: { counts: [3, 0], sumSeconds: 0.0002 },
      firstWaits: { counts: [1, 0], sumSeconds: 0.0001 },
      sliceCpu: { counts: [1, 0], sumSeconds: 0.00005 },
      turnCpu: { counts: [1, 0], sumSeconds: 0.00005 },
      longestTurnCpuSeconds: 0.001,
      slowStatements: 0,
      statementsRefused: 0,
      segmentBytes: 0,
      segmentTables: 0,
      segmentsEvicted: 0,
      spillBytes: 0,
      spillBytesWritten: 0,
      backupsRunning: 0,
      thread: null,
      modelUsage: [],
      inference: null,
      schedules: [],
      cluster: null,
      eventLoopUtilization: 0.5,
      partitions: [partition],
    };
  }
}
