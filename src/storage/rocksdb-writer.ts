/**
 * Writes of large commits to RocksDB on a thread of their own, so that the actor goes on meanwhile, and looks that may
 * take long. RocksDB may be used by several threads; the database is opened and closed by its engine
 * (rocksdb-engine.ts), which owns the writer. The thread starts with the first order.
 */
import { availableParallelism, getPriority, setPriority } from "node:os";
import { type MessagePort, Worker } from "node:worker_threads";
import { DbError } from "../protocol/errors.js";
import { threadEntry } from "../protocol/places.js";
import { allocateMemory, type Memory, memoryOf } from "./copy-bytes.js";
import { packOperations, type WrittenPart } from "./packed-operations.js";
import { PackedWrites } from "./packed-writes.js";
import { type Binding, type Handle, loadBinding } from "./rocksdb-binding.js";
import type { KeyRange } from "./store.js";

export interface WriterSettings {
  /** Of the open database. */
  readonly handle: bigint;
}

type Range = Pick<KeyRange, "gte" | "lt">;

/** Operations to write, or the range whose greatest key is looked for. */
type Order = Uint8Array<ArrayBuffer> | Range;

interface Written {
  readonly entries: number;
  /** Of the operations: it comes back. */
  readonly memory: ArrayBuffer;
}

interface Failure {
  readonly message: string;
  readonly code: string | undefined;
  /** Nothing depends on it but who looked. */
  readonly isOfLook: boolean;
}

/** Of each order, in turn: what was written, the key, or why not. */
type Answer = Written | Uint8Array | null | Failure;

/** Mebibytes: a write of some thousand operations makes two views for each. */
const RESOURCE_LIMITS = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 64 };

/**
 * Memory of writes that are over, for the next ones: a large piece from the system costs a page fault for each four
 * KiB, which takes as long as it takes to fill them. As many pieces as there are writes under way (large-in-engine.ts).
 */
const SPARE_MAX = 4;
const SPARE_BYTES = 2 * 1024 * 1024;
/**
 * By how much its thread's priority is lower than the actor's: a request waits for the actor, and on two cores not
 * behind this. It still gets half of the time of a busy thread: later commits wait for it.
 */
const NICE = 3;
const NICE_MAX = 19;
/** Lengths of pieces are multiples of it, so that they fit writes of about one length. */
const PIECE_BYTES = 256 * 1024;

interface Waiting {
  readonly resolve: (answer: never) => void;
  readonly reject: (error: unknown) => void;
}

export class RocksWriter {
  private worker: Worker | null = null;
  private readonly waiting: Waiting[] = [];
  private readonly spare: ArrayBuffer[] = [];
  private failure: unknown = null;
  /** The newest order is carried out. */
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
  write(parts: readonly WrittenPart[]): Promise<number> {
    const packed = packOperations(parts, (bytes) => this.memoryFor(bytes));
    return this.order<Written>(packed, [packed.buffer]).then(({ entries }) => entries);
  }

  private memoryFor(bytes: number): Memory {
    const spare = this.spare.pop();
    if (spare !== undefined && spare.byteLength >= bytes) return memoryOf(new Uint8Array(spare));
    return allocateMemory(Math.ceil(bytes / PIECE_BYTES) * PIECE_BYTES);
  }

  /** The greatest key of the range when its turn has come, after earlier writes. */
  greatest({ gte, lt }: Range): Promise<Uint8Array | null> {
    return this.order<Uint8Array | null>({ gte: Uint8Array.from(gte), lt: Uint8Array.from(lt) }, []);
  }

  private order<T extends Answer>(order: Order, transferred: ArrayBuffer[]): Promise<T> {
    if (this.failure !== null) return Promise.reject(this.failure);
    this.worker ??= this.start();
    const { worker } = this;
    // The process lives on while something is to be done, and no longer.
    worker.ref();
    const done = new Promise<T>((resolve, reject) => this.waiting.push({ resolve, reject }));
    worker.postMessage(order, transferred);
    this.last = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }

  /** When all is done, or has failed. */
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
      if (isWritten(answer) && this.spare.length < SPARE_MAX && answer.memory.byteLength <= SPARE_BYTES)
        this.spare.push(answer.memory);
      if (!isFailure(answer)) this.waiting.shift()?.resolve(answer as never);
      else if (answer.isOfLook) this.waiting.shift()?.reject(errorOf(answer));
      else this.fail(errorOf(answer));
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

function isWritten(answer: Answer): answer is Written {
  return answer !== null && "memory" in answer;
}

function isFailure(answer: Answer): answer is Failure {
  return answer !== null && "message" in answer;
}

const errorOf = ({ message, code }: Failure): Error => Object.assign(new Error(message), { code });

function failureOf(error: unknown, isOfLook: boolean): Failure {
  return { message: (error as Error).message, code: (error as NodeJS.ErrnoException).code, isOfLook };
}

/** The thread's side. After an error it writes nothing more: what follows may depend on what failed. */
export function serveWrites(port: MessagePort, { handle }: WriterSettings): void {
  // On Linux each thread has a priority of its own; elsewhere it would be that of the process.
  if (process.platform === "linux") setPriority(Math.min(getPriority() + NICE, NICE_MAX));
  const binding = loadBinding();
  const db = binding.db_init(handle);
  const writes = new PackedWrites(binding, db);
  let failed: Failure | null = null;
  const written = (packed: Uint8Array<ArrayBuffer>): Written | Failure => {
    try {
      return failed ?? { entries: writes.write(packed), memory: packed.buffer };
    } catch (error) {
      failed = failureOf(error, false);
      return failed;
    }
  };
  const looked = (range: Range): Answer => {
    try {
      return greatestOf(binding, db, range);
    } catch (error) {
      return failureOf(error, true);
    }
  };
  port.on("message", (order: Order) => {
    const answer = order instanceof Uint8Array ? written(order) : looked(order);
    port.postMessage(answer, isWritten(answer) ? [answer.memory] : []);
  });
}

function greatestOf(binding: Binding, db: Handle, { gte, lt }: Range): Uint8Array | null {
  const options = { gte, lt, reverse: true, keyEncoding: "buffer", valueEncoding: "buffer", values: false };
  const iterator = binding.iterator_init(db, options);
  try {
    return binding.iterator_nextv_sync(iterator, 1).rows[0] ?? null;
  } finally {
    binding.iterator_close(iterator);
  }
}
