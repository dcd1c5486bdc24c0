/**
 * An actor's thread. Loading its modules takes longer than anything else at start-up and needs no settings, so the
 * thread begins at once and gets them as its first message (workers/actor.ts). Called by main.ts and command-line.ts.
 */
import { Worker } from "node:worker_threads";
import { threadEntry } from "./protocol/places.js";

/** The number only names the thread, for tools that look at the process. */
export function startActorThread(actor: number): Worker {
  return new Worker(threadEntry("actor"), { workerData: { actor } });
}
