/**
 * An actor's way to its inference thread. Texts that come within a short time share a run; while one is under way the
 * others wait, so many at most. The thread is started by the first text. Made and owned by models.ts.
 *
 *   embed() → waiting jobs ──a run at a time──▶ workers/inference.ts ──▶ onnx-encoder.ts
 */
import { DbError } from "../protocol/errors.js";
import type { FromInference, InferenceSettings, InferenceThread, StartInference } from "./inference-messages.js";
import { BundleError } from "./manifest.js";

/** Texts that share a run at most, and that one call may have waiting. */
export const RUN_TEXTS_MAX = 64;
/** How long the first text of a run waits for others. */
const GATHER_MS = 2;

export interface LaneOptions extends InferenceSettings {
  readonly start: StartInference;
  /** Texts that may wait. */
  readonly waitingMax: number;
}

export interface Embedded {
  readonly vectors: Float32Array[];
  /** Of all texts of the run, by this call's share of them. */
  readonly tokens: number;
}

interface Job {
  readonly directory: string;
  readonly texts: readonly string[];
  readonly resolve: (embedded: Embedded) => void;
  readonly reject: (error: Error) => void;
}

export class InferenceLane {
  private thread: InferenceThread | null = null;
  private waiting: Job[] = [];
  private waitingTexts = 0;
  private running: readonly Job[] | null = null;
  private gathering: NodeJS.Timeout | null = null;
  private closed: (() => void) | null = null;

  constructor(private readonly options: LaneOptions) {}

  /**
   * Vectors of at most RUN_TEXTS_MAX texts, by the bundle in that folder. Rejects with BundleError when the bundle cannot
   * be used, with `overloaded` when too many texts wait, with `internal_error` when the run failed.
   */
  embed(directory: string, texts: readonly string[]): Promise<Embedded> {
    if (this.waitingTexts + texts.length > this.options.waitingMax) {
      throw new DbError("overloaded", "Too many texts wait for the model; retry shortly.", { retry_after_seconds: 1 });
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ directory, texts, resolve, reject });
      this.waitingTexts += texts.length;
      if (this.running !== null) return;
      if (this.waitingTexts >= RUN_TEXTS_MAX) this.run();
      else this.gathering ??= setTimeout(() => this.run(), GATHER_MS);
    });
  }

  /** Resolves when the thread has ended: never before its run, for a session must not be torn down at work. */
  close(): Promise<void> {
    const { thread } = this;
    if (thread === null) return Promise.resolve();
    return new Promise((resolve) => {
      this.closed = resolve;
      thread.post({ kind: "close" });
    });
  }

  private run(): void {
    if (this.gathering !== null) clearTimeout(this.gathering);
    this.gathering = null;
    const [first] = this.waiting;
    if (first === undefined || this.running !== null) return;
    const jobs: Job[] = [];
    const others: Job[] = [];
    let texts = 0;
    for (const job of this.waiting) {
      const fits =
        job.directory === first.directory && (jobs.length === 0 || texts + job.texts.length <= RUN_TEXTS_MAX);
      if (!fits) others.push(job);
      else {
        jobs.push(job);
        texts += job.texts.length;
      }
    }
    this.waiting = others;
    this.waitingTexts -= texts;
    this.running = jobs;
    this.thread ??= this.startThread();
    this.thread.post({ kind: "embed", directory: first.directory, texts: jobs.flatMap((job) => job.texts) });
  }

  private startThread(): InferenceThread {
    const { start, runThreads, idleMs } = this.options;
    const thread = start();
    thread.onMessage = (message) => this.heard(message);
    thread.onEnd = () => this.ended();
    thread.post({ kind: "settings", settings: { runThreads, idleMs } });
    return thread;
  }

  private heard(message: FromInference): void {
    const jobs = this.running ?? [];
    this.running = null;
    if (message.kind === "failed") {
      const error = message.unusable
        ? new BundleError(message.message)
        : new DbError("internal_error", message.message);
      for (const job of jobs) job.reject(error);
    } else deal(jobs, message.vectors, message.tokens);
    this.run();
  }

  /** What ran is lost; what waits gets another thread. */
  private ended(): void {
    const jobs = this.running ?? [];
    this.thread = null;
    this.running = null;
    for (const job of jobs) job.reject(new DbError("overloaded", "The inference thread ended; retry."));
    this.closed?.();
    if (this.closed === null) this.run();
  }
}

/** Each job its texts' part of what came back. */
function deal(jobs: readonly Job[], vectors: Float32Array, tokens: number): void {
  const count = jobs.reduce((sum, { texts }) => sum + texts.length, 0);
  const dimensions = vectors.length / count;
  let at = 0;
  for (const { texts, resolve } of jobs) {
    const own = texts.map((_, i) => vectors.slice((at + i) * dimensions, (at + i + 1) * dimensions));
    at += texts.length;
    resolve({ vectors: own, tokens: Math.round((tokens * texts.length) / count) });
  }
}
