/**
 * Links vectors that wait in a graph, as a task for a thread of its own: some 0.2 ms of computing each. workers/task.ts
 * runs it, for indexes in memory with many waiting vectors (vector-body.ts). The graph's memory is shared: its owner
 * searches and changes it meanwhile (VectorGraph.beginSharing), and there is one copy of it.
 */
import { setPriority } from "node:os";
import { instantiateGraph } from "./graph-module.js";
import { configure, type GraphParameters } from "./graph-parameters.js";

export interface LinkJob {
  readonly memory: WebAssembly.Memory;
  readonly parameters: GraphParameters;
  readonly bytesMax: number;
  /** From 0 on; no two that link at a time have the same. */
  readonly thread: number;
}

/** Of the thread, on Linux; elsewhere of the process, where it is left alone. */
const NICE = 10;
/** Threads of one graph. */
export const LINK_THREADS_MAX = 8;

/** Ends when nothing is left to do or the owner wants an end. */
export function linkGraph(job: LinkJob): void {
  if (process.platform === "linux") setPriority(NICE);
  for (const _ of linkInSteps(job));
}

/** One vector a step. */
export function* linkInSteps({ memory, parameters, bytesMax, thread }: LinkJob): Generator<undefined, void> {
  const module = instantiateGraph(memory);
  configure(module, parameters, bytesMax);
  // Without room for the thread's own lists there is none for links: the owner goes on alone.
  if (thread >= LINK_THREADS_MAX || module.join(thread) === 0) return;
  while (module.linkNext() === 1) yield;
}
