/**
 * Writes of large commits to RocksDB on a thread of their own, so that the actor goes on meanwhile. RocksDB may be used
 * by several threads; the database is opened and closed by its engine (rocksdb-engine.ts), which owns the writer. The
 * thread starts with the first write.
 */
import { availableParallelism } from "node:os";
import { type MessagePort, Worker } from "node:worker_threads";
import { DbError } from "../protocol/errors.js";
import { threadEntry } from "../protocol/places.js";
import { type OperationPart, packOperations, unpackOperations } from "./packed-operations.js";
import { type Binding, type Handle, loadBinding } from "./rocksdb-binding.js";

export interface WriterSettings {
  /** Of the open database. */
  readonly handle: bigint;
}

/** What the thread answers to each write, in order; null: it is done. */
type Answer = { readonly message: string; readonly code: string | undefined } | null;

/** Operations that become visible at a time. */
const BATCH_OPERATIONS = 1024;
/** Mebibytes: a write of some thousand operations makes two views for each. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 64 };

interface Waiting {
  readonly resolve: () => void;
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

  /** Resolves when RocksDB has them; after those of earlier calls. */
  write(parts: readonly OperationPart[]): Promise<void> {
    if (this.failure !== null) return Promise.reject(this.failure);
    this.worker ??= this.start();
    const { worker } = this;
    const packed = packOperations(parts);
    // The process lives on while something is to be written, and no longer.
    worker.ref();
    const written = new Promise<void>((resolve, reject) => this.waiting.push({ resolve, reject }));
    worker.postMessage(packed, [packed]);
    this.last = written.catch(() => undefined);
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
      if (answer === null) this.waiting.shift()?.resolve();
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
  const db = binding.db_init(handle);
  const batch = binding.batch_init();
  let failed: Answer = null;
  port.on("message", (packed: ArrayBuffer) => {
    if (failed === null) failed = writePacked(binding, db, batch, packed);
    port.postMessage(failed);
  });
}

function writePacked(binding: Binding, db: Handle, batch: Handle, packed: ArrayBuffer): Answer {
  let count = 0;
  const flush = (): void => {
    if (count === 0) return;
    binding.batch_write(db, batch, undefined);
    binding.batch_clear(batch);
    count = 0;
  };
  try {
    unpackOperations(packed, (key, value) => {
      if (value === null) binding.batch_del(batch, key, undefined);
      else binding.batch_put(batch, key, value, undefined);
      if (++count === BATCH_OPERATIONS) flush();
    });
    flush();
    return null;
  } catch (error) {
    return { message: (error as Error).message, code: (error as NodeJS.ErrnoException).code };
  }
}
