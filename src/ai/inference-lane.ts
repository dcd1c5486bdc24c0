/**
 * An actor's way to its inference thread. Items (texts, pairs) for one model that come within a short time share a
 * run. While one is under way the others wait, in bounded number. Generations are sent at once, in bounded number, and
 * their pieces come back as they are made. The thread is started by the first request. Made and owned by models.ts.
 *
 *   numbers()  → waiting jobs ──a run at a time──▶ workers/inference.ts ──▶ runner-pool.ts ──▶ onnx-encoder.ts, …
 *   generate() ────────────────────────────────▶
 */
import { DbError } from "../protocol/errors.js";
import type { InferenceMetrics } from "../protocol/messages.js";
import { Generation } from "./generation-stream.js";
import type {
  BatchItem,
  FromInference,
  GenerationRequest,
  InferenceSettings,
  InferenceThread,
  StartInference,
} from "./inference-messages.js";
import { BundleError } from "./manifest.js";

/** Items that share a run at most, and that one call may have. */
export const RUN_ITEMS_MAX = 64;
/** Characters of the items of a run at most, unless one item has more: about 16,000 tokens. */
const RUN_CHARACTERS_MAX = 65_536;
/** An image takes a run about as long as a text of so many characters. */
const IMAGE_CHARACTERS = 4096;
/** How long the first item of a run waits for others. */
const GATHER_MS = 2;

export interface LaneOptions extends InferenceSettings {
  readonly start: StartInference;
  /** Items that may wait. */
  readonly waitingMax: number;
  /** Generations that may be under way. */
  readonly generationsMax: number;
}

/** What a call's items gave. */
export interface Numbers {
  /** Per item. */
  readonly rows: readonly Float32Array[];
  /** Of all items of the run, by this call's share of them. */
  readonly tokens: number;
  /** Of the bundle that was loaded. */
  readonly digest: string;
}

interface Job {
  readonly directory: string;
  readonly items: readonly BatchItem[];
  readonly characters: number;
  readonly promise: Promise<Numbers>;
  readonly resolve: (numbers: Numbers) => void;
  readonly reject: (error: Error) => void;
}

export class InferenceLane {
  private thread: InferenceThread | null = null;
  private waiting: Job[] = [];
  private waitingItems = 0;
  private running: { readonly id: number; readonly jobs: readonly Job[] } | null = null;
  private gathering: NodeJS.Timeout | null = null;
  private closed: (() => void) | null = null;
  private readonly generations = new Map<number, Generation>();
  private readonly releases = new Map<number, () => void>();
  private lastId = 0;
  private readonly counts = { runs: 0, items: 0, refused: 0, sessions: 0, sessionBytes: 0 };

  constructor(private readonly options: LaneOptions) {}

  get metrics(): InferenceMetrics {
    return { ...this.counts, waiting: this.waitingItems, generations: this.generations.size };
  }

  /**
   * A row of numbers for each of at most RUN_ITEMS_MAX items, by the bundle in that folder. Rejects with BundleError
   * when the bundle cannot be used, with `overloaded` when too many items wait or no memory is left, with
   * `internal_error` when the run failed, with the signal's reason when it fires before the run begins.
   */
  numbers(directory: string, items: readonly BatchItem[], signal?: AbortSignal): Promise<Numbers> {
    if (this.waitingItems + items.length > this.options.waitingMax)
      throw this.full("Too many texts are waiting for models");
    signal?.throwIfAborted();
    const characters = items.reduce((sum, item) => sum + charactersOf(item), 0);
    const job: Job = { directory, items, characters, ...settledLater() };
    this.waiting.push(job);
    this.waitingItems += items.length;
    if (this.running === null) {
      if (this.waitingItems >= RUN_ITEMS_MAX) this.run();
      else this.gathering ??= setTimeout(() => this.run(), GATHER_MS);
    }
    return signal === undefined ? job.promise : this.unlessAborted(job, signal);
  }

  /**
   * Pieces of a text as the bundle in that folder makes them, and how it ended. Fails as `numbers` does; ends soon,
   * with `cancelled`, when the signal fires or when nobody reads on. `telling`: what readers are told of an error.
   */
  generate(
    directory: string,
    request: GenerationRequest,
    signal: AbortSignal | undefined,
    telling: (error: Error) => Error,
  ): Generation {
    if (this.generations.size >= this.options.generationsMax) throw this.full("Too many texts are being generated");
    const id = ++this.lastId;
    const thread = this.startedThread();
    const generation = new Generation(() => this.thread?.post({ kind: "cancel", id }), telling);
    this.generations.set(id, generation);
    thread.post({ kind: "generate", id, directory, request });
    if (signal !== undefined) {
      const onAbort = () => generation.cancel();
      if (signal.aborted) onAbort();
      signal.addEventListener("abort", onAbort);
      const forget = () => signal.removeEventListener("abort", onAbort);
      generation.ended.then(forget, forget);
    }
    return generation;
  }

  /**
   * Resolves when nothing of the bundle in that folder is loaded or under way, provided that nobody asks for it any
   * more. What asks for it before that waits or runs as usual.
   */
  async letGo(directory: string): Promise<void> {
    const isOf = (one: { readonly directory: string }) => one.directory === directory;
    for (;;) {
      const under = [...this.waiting, ...(this.running?.jobs ?? [])].filter(isOf);
      if (under.length === 0) break;
      await Promise.allSettled(under.map(({ promise }) => promise));
    }
    // The thread waits for generations.
    await this.release(directory);
  }

  /** New requests do not use what was loaded from that folder. */
  release(directory: string): Promise<void> {
    const { thread } = this;
    if (thread === null) return Promise.resolve();
    const id = ++this.lastId;
    return new Promise((resolve) => {
      this.releases.set(id, resolve);
      thread.post({ kind: "release", id, directory });
    });
  }

  /** Resolves when the thread has ended: never before its runs, for a session must not be torn down at work. */
  close(): Promise<void> {
    const { thread } = this;
    if (thread === null) return Promise.resolve();
    return new Promise((resolve) => {
      this.closed = resolve;
      thread.post({ kind: "close" });
    });
  }

  private full(what: string): DbError {
    this.counts.refused++;
    return new DbError("overloaded", `${what}; retry shortly.`, { retry_after_seconds: 1 });
  }

  /** What waits is withdrawn; what runs is not stopped, its rows find nobody. */
  private async unlessAborted(job: Job, signal: AbortSignal): Promise<Numbers> {
    const onAbort = () => {
      const at = this.waiting.indexOf(job);
      if (at >= 0) {
        this.waiting.splice(at, 1);
        this.waitingItems -= job.items.length;
      }
      job.reject(signal.reason as Error);
    };
    signal.addEventListener("abort", onAbort);
    try {
      return await job.promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  private run(): void {
    if (this.gathering !== null) clearTimeout(this.gathering);
    this.gathering = null;
    const [first] = this.waiting;
    if (first === undefined || this.running !== null) return;
    const jobs: Job[] = [];
    const others: Job[] = [];
    let items = 0;
    let characters = 0;
    for (const job of this.waiting) {
      const fits = items + job.items.length <= RUN_ITEMS_MAX && characters + job.characters <= RUN_CHARACTERS_MAX;
      if (job.directory !== first.directory || (jobs.length > 0 && !fits)) others.push(job);
      else {
        jobs.push(job);
        items += job.items.length;
        characters += job.characters;
      }
    }
    this.waiting = others;
    this.waitingItems -= items;
    const id = ++this.lastId;
    this.running = { id, jobs };
    this.counts.runs++;
    this.counts.items += items;
    const thread = this.startedThread();
    thread.post({ kind: "batch", id, directory: first.directory, items: jobs.flatMap((job) => job.items) });
  }

  private startedThread(): InferenceThread {
    if (this.thread !== null) return this.thread;
    const { start, runThreads, idleMs, sessionsMax, bytesMax } = this.options;
    const thread = start();
    this.thread = thread;
    thread.onMessage = (message) => this.heard(message);
    thread.onEnd = () => this.ended();
    thread.post({ kind: "settings", settings: { runThreads, idleMs, sessionsMax, bytesMax } });
    return thread;
  }

  private heard(message: FromInference): void {
    switch (message.kind) {
      case "numbers":
        deal(this.runEnded(), message);
        this.run();
        break;
      case "piece":
        this.generations.get(message.id)?.add(message.text);
        break;
      case "end":
        this.generations.get(message.id)?.end(message.end);
        this.generations.delete(message.id);
        break;
      case "failed":
        this.failed(message);
        break;
      case "released":
        this.releases.get(message.id)?.();
        this.releases.delete(message.id);
        break;
      case "sessions":
        this.counts.sessions = message.sessions;
        this.counts.sessionBytes = message.bytes;
        break;
    }
  }

  private runEnded(): readonly Job[] {
    const jobs = this.running?.jobs ?? [];
    this.running = null;
    return jobs;
  }

  private failed({ id, message, failure }: Extract<FromInference, { kind: "failed" }>): void {
    const error =
      failure === "unusable"
        ? new BundleError(message)
        : failure === "busy"
          ? new DbError("overloaded", message, { retry_after_seconds: 1 })
          : new DbError("internal_error", message);
    const generation = this.generations.get(id);
    if (generation !== undefined) {
      this.generations.delete(id);
      generation.fail(error);
      return;
    }
    for (const job of this.runEnded()) job.reject(error);
    this.run();
  }

  /** What ran is lost; what waits gets another thread. */
  private ended(): void {
    this.thread = null;
    this.counts.sessions = 0;
    this.counts.sessionBytes = 0;
    const error = new DbError("overloaded", "The inference thread restarted; retry.");
    for (const job of this.runEnded()) job.reject(error);
    for (const generation of this.generations.values()) generation.fail(error);
    this.generations.clear();
    for (const released of this.releases.values()) released();
    this.releases.clear();
    if (this.closed === null) this.run();
    else {
      for (const job of this.waiting.splice(0)) job.reject(error);
      this.closed();
    }
  }
}

function settledLater(): Pick<Job, "promise" | "resolve" | "reject"> {
  let resolve!: Job["resolve"];
  let reject!: Job["reject"];
  const promise = new Promise<Numbers>((ok, wrong) => {
    resolve = ok;
    reject = wrong;
  });
  return { promise, resolve, reject };
}

function charactersOf(item: BatchItem): number {
  if (typeof item === "string") return item.length;
  return "rgb" in item ? IMAGE_CHARACTERS : item.premise.length + item.hypothesis.length;
}

/** Each job its items' part of what came back. */
function deal(jobs: readonly Job[], { numbers, tokens, digest }: Extract<FromInference, { kind: "numbers" }>): void {
  const count = jobs.reduce((sum, { items }) => sum + items.length, 0);
  const width = numbers.length / count;
  let at = 0;
  for (const { items, resolve } of jobs) {
    const rows = items.map((_, i) => numbers.slice((at + i) * width, (at + i + 1) * width));
    at += items.length;
    resolve({ rows, tokens: Math.round((tokens * items.length) / count), digest });
  }
}
