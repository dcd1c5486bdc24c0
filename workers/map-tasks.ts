/**
 * The thread of an actor that computes maps of vectors (POST /v1/vectors/map). It is not one of those that sign users
 * in: a map takes many seconds. Its priority is low, and a map ends when its request does. Made by actor.ts.
 */
import { DbError } from "../src/protocol/errors.js";
import type { LongTasks } from "../src/session/long-tasks.js";
import { taskPool } from "./task-pool.js";

/** Each holds up to MAP_NUMBERS_MAX bytes. */
const WAITING_MAX = 3;
/** A map holds much, and is seldom wanted. */
const IDLE_MS = 2_000;
const NICE = 4;
/** What a map of the most landmarks needs beside its numbers, which are not within this, several times over. */
const MEMORY_MB = 512;

export interface MapTasks {
  readonly mapVectors: NonNullable<LongTasks["mapVectors"]>;
  /** Ends what runs. */
  end(): Promise<void>;
}

export function mapTasks(): MapTasks {
  const pool = taskPool({
    ...{ name: "maps", threads: 1, waitingMax: WAITING_MAX, niceIncrement: NICE, idleMs: IDLE_MS },
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  return {
    async mapVectors(job, signal) {
      signal.throwIfAborted();
      const buffers = [...job.codes, ...job.scales].map(({ buffer }) => buffer);
      try {
        return await pool.run("mapVectors", job, buffers, signal);
      } catch (error) {
        signal.throwIfAborted();
        if ((error as NodeJS.ErrnoException).code !== "ERR_WORKER_OUT_OF_MEMORY") throw error;
        throw new DbError("overloaded", "The map needs more memory than one has. Map fewer vectors (max_points).");
      }
    },
    end: () => pool.end(),
  };
}
