/**
 * What an actor has done outside of its thread for filesystem collections: looking through folders in one pool, reading
 * files in another, whose threads a file may end, and watching. Called by actor.ts.
 */
import type { FileTasks } from "../src/ingest/file-tasks.js";
import { PARSE_THREAD_LIMITS, type ParseAnswer } from "../src/ingest/parse/contract.js";
import { DbError } from "../src/protocol/errors.js";
import type * as TaskFunctionsOf from "./task.js";
import { type TaskPool, taskPool } from "./task-pool.js";
import { watchFolders } from "./watch-folders.js";

type TaskFunctions = typeof TaskFunctionsOf;

/** Of folders and files that wait; every collection has at most a few. */
const WAITING_MAX = 10_000;

/** `end` ends what runs. */
export function fileTasks(threads: number): FileTasks & { end(): Promise<void> } {
  const folders = taskPool({ name: "folders", threads: 1, waitingMax: WAITING_MAX });
  const parsers = taskPool({ name: "files", threads, waitingMax: WAITING_MAX, resourceLimits: PARSE_THREAD_LIMITS });
  const turns = new Turns(threads);
  return {
    scanFolder: (job) => folders.run("scanFolder", job),
    lookAtFiles: (job) => folders.run("lookAtFiles", job),
    digestFile: async (place) => resultOf(await folders.run("digestFile", place)),
    // A file's time begins when a thread takes it up.
    parseFile: (job, signal) =>
      turns.run(async () => resultOf(await inTime(parsers, "parseFile", job, job.timeoutMs, signal))),
    watchFolder: watchFolders(),
    end: async () => {
      await Promise.all([folders.end(), parsers.end()]);
    },
  };
}

type RowTasks = "describeRows" | "readRows";
export type RunReader = <N extends RowTasks>(
  name: N,
  job: Parameters<TaskFunctions[N]>[0],
  signal: AbortSignal,
) => Promise<Awaited<ReturnType<TaskFunctions[N]>>>;

/**
 * Threads that read files of rows, each piece within a time and all of them within a bound of memory. `end` ends what
 * runs.
 */
export function rowReader(
  threads: number,
  timeoutMs: number,
): { readonly run: RunReader; readonly end: () => Promise<void> } {
  const pool = taskPool({
    name: "rows of files",
    threads,
    waitingMax: WAITING_MAX,
    resourceLimits: PARSE_THREAD_LIMITS,
  });
  const turns = new Turns(threads);
  const run = (name: RowTasks, job: never, signal: AbortSignal) =>
    turns.run<unknown>(() => inTime(pool, name, job, timeoutMs, signal));
  return { run: run as RunReader, end: () => pool.end() };
}

async function inTime<N extends RowTasks | "parseFile">(
  pool: TaskPool,
  name: N,
  job: Parameters<TaskFunctions[N]>[0],
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Awaited<ReturnType<TaskFunctions[N]>>> {
  signal.throwIfAborted();
  const late = AbortSignal.timeout(timeoutMs);
  try {
    return await pool.run(name, job, [], AbortSignal.any([signal, late]));
  } catch (error) {
    signal.throwIfAborted();
    throw late.aborted && !(error instanceof DbError) ? timeout(timeoutMs) : readError(error);
  }
}

/** Errors lose their class on the way. */
function resultOf<T>({ result, error }: ParseAnswer<T>): T {
  if (error !== null) throw new DbError(error.code, error.message);
  return result!;
}

function timeout(ms: number): DbError {
  return new DbError("file_timeout", `Reading the file took longer than ${ms / 1000} s; it was given up.`);
}

function readError(error: unknown): DbError {
  if (error instanceof DbError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ERR_WORKER_OUT_OF_MEMORY") {
    return new DbError("file_too_large", "Reading the file needs more memory than is given to one.");
  }
  return new DbError("reader_failed", `Reading the file broke off: ${String(message).slice(0, 300)}`);
}

/** So many at a time, in the order in which they came. */
class Turns {
  private readonly waiting: (() => void)[] = [];

  constructor(private free: number) {}

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free--;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next === undefined) this.free++;
      else next();
    }
  }
}
