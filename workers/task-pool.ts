/**
 * Threads for long computations, so that no actor's loop waits for them. A pool starts threads as work comes, lets them
 * go when idle, and bounds both threads and queue. Made by whoever owns the work; closed with it.
 */
import { getPriority } from "node:os";
import type { MessagePort, ResourceLimits } from "node:worker_threads";
import { Piscina } from "piscina";
import { DbError } from "../src/protocol/errors.js";
import { threadEntry } from "../src/protocol/places.js";
import type { PoolMetrics } from "../src/protocol/thread-metrics.js";
import type * as tasks from "./task.js";

type Tasks = typeof tasks;

export interface TaskPool {
  /** Rejects with `overloaded` when the queue is full. Buffers of the job named in `transfer` are moved, not copied. */
  run<N extends keyof Tasks>(
    name: N,
    job: Parameters<Tasks[N]>[0],
    transfer?: readonly (ArrayBuffer | MessagePort)[],
    /** Ends the task where it is, with its thread, when it fires. */
    signal?: AbortSignal,
  ): Promise<Awaited<ReturnType<Tasks[N]>>>;
  /** Waits for what runs. */
  close(): Promise<void>;
  /** Ends what runs. */
  end(): Promise<void>;
}

/**
 * Where work comes every minute, threads that come and go cost more than they hold: their start, and memory in pieces.
 */
const IDLE_MS = 300_000;

interface NamedPool {
  readonly name: string;
  readonly pool: Piscina;
  readonly waitingMax: number;
  /** What tasks waited, after that many had been completed: to sum it up takes piscina milliseconds. */
  waits: { readonly completed: number; readonly mean: number; readonly p99: number };
}

/** Of this thread. */
const pools: NamedPool[] = [];

export interface TaskPoolOptions {
  /** As /metrics calls it. */
  readonly name: string;
  readonly threads: number;
  readonly waitingMax: number;
  /** Of each thread: a task that needs more ends with it. */
  readonly resourceLimits?: ResourceLimits;
  /** By how much its threads' priority is lower than that of others; 0 unless said. */
  readonly niceIncrement?: number;
  /** How long a thread without work stays; five minutes unless said. Less where it holds much and is seldom wanted. */
  readonly idleMs?: number;
}

export function taskPool(options: TaskPoolOptions): TaskPool {
  const pool = new Piscina({
    filename: threadEntry("task").href,
    minThreads: 0,
    maxThreads: options.threads,
    maxQueue: options.waitingMax,
    idleTimeout: options.idleMs ?? IDLE_MS,
    ...(options.resourceLimits && { resourceLimits: options.resourceLimits }),
    niceIncrement: niceIncrementOf(options.niceIncrement ?? 0, getPriority()),
  });
  pools.push({
    name: options.name,
    pool,
    waitingMax: options.waitingMax,
    waits: { completed: 0, mean: 0, p99: 0 },
  });
  return {
    async run(name, job, transfer = [], signal) {
      // At its bound piscina rejects too, but without a type to tell that from a task's own error.
      if (pool.queueSize >= options.waitingMax && pool.queueSize > 0) {
        throw new DbError("overloaded", "Too many long computations are waiting; retry shortly.", {
          retry_after_seconds: 1,
        });
      }
      return pool.run(job, { name, transferList: [...transfer], signal: signal ?? null });
    },
    close: () => pool.close(),
    end: () => pool.destroy(),
  };
}

/**
 * By how much the priority is lowered from what the process has. It must not come to -1: that is how nice(2) tells a
 * failure, too, and the package that piscina calls takes it for one. The thread, and the actor with it, would end.
 */
export function niceIncrementOf(wanted: number, usual: number): number {
  return wanted > 0 && usual + wanted === -1 ? wanted + 1 : wanted;
}

/** Of the pools that this thread has made. */
export function poolMetrics(): PoolMetrics[] {
  return pools.map((named) => {
    const { name, pool, waitingMax } = named;
    if (pool.completed !== named.waits.completed) {
      const { mean = 0, p99 = 0 } = pool.histogram.waitTime ?? {};
      named.waits = { completed: pool.completed, mean: mean / 1000 || 0, p99: p99 / 1000 || 0 };
    }
    return {
      pool: name,
      threads: pool.threads.length,
      waiting: pool.queueSize,
      waitingMax,
      completed: pool.completed,
      waitMeanSeconds: named.waits.mean,
      waitP99Seconds: named.waits.p99,
    };
  });
}
