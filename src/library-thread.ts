/**
 * The library's thread (workers/library.ts) as the main thread has it: started by the first message to it, or by
 * `keep`, replaced when it has crashed. Made by serve.ts; the pool of actors carries messages between it and them.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { LibraryThreadSettings } from "../workers/library.js";
import type { LibraryPort } from "./gateway/actor-pool.js";
import type { FromLibraryThread, ToLibraryThread } from "./protocol/model-library.js";
import { threadEntry } from "./protocol/places.js";

/** After a crash of a thread that is kept. */
const START_AGAIN_MS = 1000;

export interface LibraryThread extends LibraryPort {
  /** The thread runs from now on, as it has to in a cluster. */
  keep(): void;
  /** Ends pulls, and then the thread; what was loaded stays for later ones. */
  close(): Promise<void>;
}

export function libraryThread(settings: LibraryThreadSettings, threw: (error: Error) => void): LibraryThread {
  let worker: Worker | null = null;
  let isKept = false;
  const start = (): Worker => {
    const started = new Worker(threadEntry("library"));
    started.on("message", (message: FromLibraryThread) => port.onMessage(message));
    started.on("error", threw);
    started.on("exit", () => {
      worker = null;
      port.onMessage({ kind: "to-all", message: { kind: "lost" } });
      if (isKept) setTimeout(keep, START_AGAIN_MS).unref();
    });
    started.postMessage(settings);
    return started;
  };
  const keep = (): void => {
    if (isKept) worker ??= start();
  };
  const port: LibraryThread = {
    onMessage: () => undefined,
    get started() {
      return worker !== null;
    },
    post(message: ToLibraryThread) {
      worker ??= start();
      worker.postMessage(message);
    },
    keep() {
      isKept = true;
      keep();
    },
    async close() {
      isKept = false;
      if (worker === null) return;
      const ended = once(worker, "exit");
      worker.postMessage({ kind: "close" } satisfies ToLibraryThread);
      await ended;
    },
  };
  return port;
}
