/**
 * Entry of an inference thread: runs models for one actor, which owns it (src/ai/inference-lane.ts). ONNX Runtime
 * computes on the thread that calls it, so a run here stops nothing but this thread. Batches are run in the order they
 * come, generations beside them: between two of its tokens a generation lets a batch run. The thread ends only with no
 * session at work, since ONNX Runtime aborts the process otherwise.
 */
import { type MessagePort, parentPort } from "node:worker_threads";
import type {
  BatchItem,
  FromInference,
  GenerationRequest,
  InferenceFailure,
  InferenceSettings,
  ToInference,
} from "../src/ai/inference-messages.js";
import { BundleError } from "../src/ai/manifest.js";
import { PoolFullError, RunnerPool } from "../src/ai/runner-pool.js";
import { loadRunner } from "../src/ai/runners.js";

class InferenceWork {
  private readonly pool: RunnerPool;
  private readonly sweeper: NodeJS.Timeout;
  private batches: Promise<void> = Promise.resolve();
  private readonly generations = new Map<number, { readonly stop: AbortController; readonly done: Promise<void> }>();
  private said = "";

  constructor(
    private readonly port: MessagePort,
    settings: InferenceSettings,
  ) {
    const { runThreads, sessionsMax, bytesMax, idleMs } = settings;
    this.pool = new RunnerPool({ runThreads, runnersMax: sessionsMax, bytesMax, load: loadRunner });
    const sweep = () => this.pool.releaseUnused(idleMs).then(() => this.saySessions());
    this.sweeper = setInterval(() => {
      this.batches = this.batches.then(sweep);
    }, idleMs / 2).unref();
  }

  batch(id: number, directory: string, items: readonly BatchItem[]): void {
    this.batches = this.batches.then(() =>
      this.answer(id, async () => {
        const { numbers, tokens, digest } = await this.pool.use(directory, async (runner, digest) => {
          if (runner.form !== "batch") throw new BundleError("the model gives texts, not numbers");
          return { ...(await runner.run(items)), digest };
        });
        this.port.postMessage({ kind: "numbers", id, numbers, tokens, digest } satisfies FromInference, [
          numbers.buffer as ArrayBuffer,
        ]);
      }),
    );
  }

  generate(id: number, directory: string, request: GenerationRequest): void {
    const stop = new AbortController();
    const done = this.answer(id, async () => {
      const end = await this.pool.use(directory, async (runner) => {
        if (runner.form !== "stream") throw new BundleError("the model gives numbers, not texts");
        return runner.run(request, (text) => this.say({ kind: "piece", id, text }), stop.signal);
      });
      this.say({ kind: "end", id, end });
    });
    this.generations.set(id, { stop, done });
    void done.then(() => this.generations.delete(id));
  }

  release(id: number, directory: string): void {
    this.batches = this.batches.then(() => {
      // Generations may take long; batches go on meanwhile.
      void this.pool.drop(directory).then(() => {
        this.say({ kind: "released", id });
        this.saySessions();
      });
    });
  }

  cancel(id: number): void {
    this.generations.get(id)?.stop.abort();
  }

  /** Resolves when nothing is under way any more. */
  async end(): Promise<void> {
    clearInterval(this.sweeper);
    for (const { stop } of this.generations.values()) stop.abort();
    await Promise.all([...this.generations.values()].map(({ done }) => done));
    await this.batches;
    await this.pool.releaseUnused(0);
  }

  private async answer(id: number, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.say({ kind: "failed", id, message: (error as Error).message, failure: failureOf(error) });
    }
    this.saySessions();
  }

  private saySessions(): void {
    const { size: sessions, bytes } = this.pool;
    const said = `${sessions} ${bytes}`;
    if (said === this.said) return;
    this.said = said;
    this.say({ kind: "sessions", sessions, bytes });
  }

  private say(message: FromInference): void {
    this.port.postMessage(message);
  }
}

function failureOf(error: unknown): InferenceFailure {
  if (error instanceof BundleError) return "unusable";
  return error instanceof PoolFullError ? "busy" : "failed";
}

let work: InferenceWork | null = null;
let ending = false;

/** Nothing is under way any more when the port closes and the thread ends. */
function end(port: MessagePort): void {
  if (ending) return;
  ending = true;
  void (work?.end() ?? Promise.resolve()).then(() => port.close());
}

function heard(port: MessagePort, message: ToInference): void {
  switch (message.kind) {
    case "settings":
      work = new InferenceWork(port, message.settings);
      break;
    case "batch":
      work!.batch(message.id, message.directory, message.items);
      break;
    case "generate":
      work!.generate(message.id, message.directory, message.request);
      break;
    case "cancel":
      work!.cancel(message.id);
      break;
    case "release":
      work!.release(message.id, message.directory);
      break;
    case "close":
      end(port);
      break;
  }
}

parentPort!.once("message", (port: MessagePort) => {
  port.on("message", (message: ToInference) => heard(port, message));
  // The actor has ended.
  port.on("close", () => end(port));
});
