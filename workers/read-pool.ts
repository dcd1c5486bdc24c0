/**
 * Threads that read column files for an actor's statements. They are started where a long table has files, or when the
 * first long read comes, which does not wait for them, and go when nobody reads for minutes. Indexes are made by the
 * same threads: to start others takes a third of the CPU that the index of a million rows takes. Made by actor.ts.
 */
import { DbError } from "../src/protocol/errors.js";
import { buffersOf } from "../src/query/exec/index-run.js";
import type { IndexThreads } from "../src/query/exec/index-threads.js";
import type { ReadAnswer, Reading, ReadJob, ReadThreads } from "../src/query/exec/threads/read-threads.js";
import { type TaskPool, taskPool } from "./task-pool.js";

const THREADS_MAX = 4;
/** Of one index: beyond that the merge of what they give takes longer. */
const INDEX_THREADS_MAX = 4;
/** Jobs of a few statements wait; the statement reads by itself what finds no place. */
const WAITING_PER_THREAD = 8;
/** How long threads stay without work; until shortly before, they are taken to be there. */
const IDLE_MS = 300_000;
const READY_MS = IDLE_MS - 10_000;

interface WaitingJob {
  readonly job: ReadJob;
  readonly taken: (answer: Promise<ReadAnswer>) => void;
}

/** Jobs that wait, by their scan: all scans have their turn, one job each. */
class ReadQueue {
  length = 0;
  private readonly scans = new Map<ReadJob["stop"], WaitingJob[]>();

  push(waiting: WaitingJob): void {
    const { stop } = waiting.job;
    const jobs = this.scans.get(stop);
    if (jobs === undefined) this.scans.set(stop, [waiting]);
    else jobs.push(waiting);
    this.length++;
  }

  shift(): WaitingJob | undefined {
    for (const [stop, jobs] of this.scans) {
      this.scans.delete(stop);
      const first = jobs.shift()!;
      if (jobs.length > 0) this.scans.set(stop, jobs);
      this.length--;
      return first;
    }
    return undefined;
  }

  /** False: it does not wait any more. */
  remove(waiting: WaitingJob): boolean {
    const { stop } = waiting.job;
    const jobs = this.scans.get(stop) ?? [];
    const place = jobs.indexOf(waiting);
    if (place < 0) return false;
    jobs.splice(place, 1);
    if (jobs.length === 0) this.scans.delete(stop);
    this.length--;
    return true;
  }
}

const overloaded = (): DbError =>
  new DbError("overloaded", "Too many long computations are waiting; retry shortly.", { retry_after_seconds: 1 });

const refused = (): Reading => ({ answer: Promise.reject(overloaded()), withdraw: () => false });

/** Jobs for indexes, which take a thread for long: a read that would wait for one stays in the queue. */
class IndexBuilds {
  running = 0;
  readonly threads: IndexThreads;

  constructor(
    pool: TaskPool,
    private readonly count: number,
    /** A thread may be free. */
    private readonly ended: () => void,
  ) {
    this.threads = {
      count,
      make: (job) => this.build(() => pool.run("indexRun", job)),
      merge: (job) => this.build(() => pool.run("mergeIndexRuns", job, job.parts.flatMap(buffersOf))),
    };
  }

  private async build<T>(work: () => Promise<T>): Promise<T> {
    if (this.running >= 2 * this.count) throw overloaded();
    this.running++;
    try {
      return await work();
    } finally {
      this.running--;
      this.ended();
    }
  }
}

export interface ReadPool {
  readonly threads: ReadThreads;
  readonly indexes: IndexThreads;
  end(): Promise<void>;
}

/** `cores`: for reads; `allCores`: for reads and indexes together. */
export function readPool(cores: number, allCores = cores): ReadPool {
  const count = Math.min(cores, THREADS_MAX);
  const all = Math.max(count, Math.min(allCores, count + INDEX_THREADS_MAX));
  const pool = taskPool({
    ...{ name: "reads", threads: all, waitingMax: all * WAITING_PER_THREAD },
    ...{ niceIncrement: 2, idleMs: IDLE_MS },
  });
  let isStarting = false;
  /** When they were last at work; 0: they have not been started. */
  let workedAt = 0;
  const queue = new ReadQueue();
  let running = 0;
  const builds = new IndexBuilds(pool, Math.min(allCores, INDEX_THREADS_MAX), () => next());
  const begin = async ({ job, taken }: WaitingJob): Promise<void> => {
    running++;
    workedAt = Date.now();
    const answer = pool.run("readSegments", job);
    taken(answer);
    try {
      await answer;
    } catch {
      // Whoever asked for it is told.
    }
    running--;
    next();
  };
  const next = (): void => {
    while (running < count && running + builds.running < all) {
      const waiting = queue.shift();
      if (waiting === undefined) return;
      void begin(waiting);
    }
  };
  const threads: ReadThreads = {
    count,
    areReady: () => workedAt > 0 && Date.now() - workedAt < READY_MS,
    start: () => {
      if (isStarting || threads.areReady()) return;
      isStarting = true;
      // One for each thread: none of them answers before its thread has loaded the program.
      const started = Array.from({ length: count }, () => pool.run("prepareReads", undefined));
      void Promise.all(started).then(
        () => {
          isStarting = false;
          workedAt = Date.now();
        },
        () => {
          isStarting = false;
        },
      );
    },
    read: (job): Reading => {
      if (queue.length >= count * WAITING_PER_THREAD) return refused();
      let taken: WaitingJob["taken"] = () => undefined;
      const answer = new Promise<ReadAnswer>((resolve) => {
        taken = resolve;
      });
      const waiting: WaitingJob = { job, taken };
      queue.push(waiting);
      next();
      const withdraw = (): boolean => {
        const isWithdrawn = queue.remove(waiting);
        if (isWithdrawn) taken(Promise.reject(new Error("the job was withdrawn")));
        return isWithdrawn;
      };
      return { answer, withdraw };
    },
  };
  return { threads, indexes: builds.threads, end: () => pool.end() };
}
