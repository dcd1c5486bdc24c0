/**
 * Writes of large commits to RocksDB on a thread of their own, so that the actor goes on meanwhile. RocksDB may be used
 * by several threads; the database is opened and closed by its engine (rocksdb-engine.ts), which owns the writer. The
 * thread starts with the first write.
 */
import { availableParallelism } from "node:os";
import { type MessagePort, Worker } from "node:worker_threads";
import { DbError } from "../protocol/errors.js";
import { threadEntry } from "../protocol/places.js";
import { type OperationPart, packOperations } from "./packed-operations.js";
import { PackedWrites } from "./packed-writes.js";
import { type Binding, type Handle, loadBinding } from "./rocksdb-binding.js";

export interface WriterSettings {
  /** Of the open database. */
  readonly handle: bigint;
}

/** What the thread answers to each write, in order: how many entries it has written, or why it cannot. */
type Answer = number | { readonly message: string; readonly code: string | undefined };

/** Mebibytes: a write of some thousand operations makes two views for each. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 64 };

interface Waiting {
  readonly resolve: (entries: number) => void;
  readonly reject: (error: unknown) => void;
}

export class RocksWriter {
  private worker: Worker | null = null;
  private readonly waiting: Waiting[] = [];
  private failure: unknown = null;
  /** The newest write is over. */
  private last: Promise<void> = Promise.resolve();

  constructor(
    private readonly binding: Binding,
    private readonly db: Handle,
  ) {}

  /** On one core it would only take the actor's time. */
  static get pays(): boolean {
    return availableParallelism() > 1;
  }

  /** Resolves when RocksDB has them, with the count of its entries; after those of earlier calls. */
  write(parts: readonly OperationPart[]): Promise<number> {
    if (this.failure !== null) return Promise.reject(this.failure);
    this.worker ??= this.start();
    const { worker } = this;
    const packed = packOperations(parts);
    // The process lives on while something is to be written, and no longer.
    worker.ref();
    const written = new Promise<number>((resolve, reject) => this.waiting.push({ resolve, reject }));
    worker.postMessage(packed, [packed]);
    this.last = written.then(
      () => undefined,
      () => undefined,
    );
    return written;
  }

  /** When all writes are done, or have failed. */
  async close(): Promise<void> {
    await this.last;
    const { worker } = this;
    this.worker = null;
    await worker?.terminate();
  }

  private start(): Worker {
    const workerData: WriterSettings = { handle: this.binding.db_get_handle(this.db) };
    const worker = new Worker(threadEntry("engine-writer"), { workerData, resourceLimits: RESOURCE_LIMITS });
    worker.on("message", (answer: Answer) => {
      if (typeof answer === "number") this.waiting.shift()?.resolve(answer);
      else this.fail(Object.assign(new Error(answer.message), { code: answer.code }));
      if (this.waiting.length === 0) worker.unref();
    });
    worker.on("error", (error) => this.fail(error));
    worker.on("exit", () => {
      if (this.worker === worker)
        this.fail(new DbError("internal_error", "The thread that writes to RocksDB has ended."));
    });
    worker.unref();
    return worker;
  }

  private fail(error: unknown): void {
    this.failure ??= error;
    for (const { reject } of this.waiting.splice(0)) reject(this.failure);
  }
}

/** The thread's side. After an error it writes nothing more: what follows may depend on what failed. */
export function serveWrites(port: MessagePort, { handle }: WriterSettings): void {
  const binding = loadBinding();
  const writes = new PackedWrites(binding, binding.db_init(handle));
  let failed: Answer | null = null;
  port.on("message", (packed: ArrayBuffer) => {
    try {
      if (failed === null) return port.postMessage(writes.write(packed));
    } catch (error) {
      failed = { message: (error as Error).message, code: (error as NodeJS.ErrnoException).code };
    }
    port.postMessage(failed);
  });
}
