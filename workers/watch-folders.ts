/**
 * The way to the thread that watches folders (watch.ts): started with the first folder, again when it ends unasked.
 * Called by actor.ts.
 */
import { Worker } from "node:worker_threads";
import type { WatchHearer, WatchOptions } from "../src/ingest/watch/folder-watcher.js";
import type { FromWatcher, ToWatcher } from "../src/ingest/watch/watch-messages.js";
import { threadEntry } from "../src/protocol/places.js";

/** Watches until the returned function is called. */
export type WatchFolder = (options: WatchOptions, hearer: WatchHearer) => () => void;

export function watchFolders(): WatchFolder {
  const hearers = new Map<number, WatchHearer>();
  let worker: Worker | null = null;
  let nextId = 0;

  const start = (): Worker => {
    const started = new Worker(threadEntry("watch"));
    // It keeps nothing alive by itself.
    started.unref();
    started.on("message", (message: FromWatcher) => {
      const hearer = hearers.get(message.id);
      if (hearer === undefined) return;
      if (message.kind === "ready") hearer.ready();
      else if (message.kind === "changed") hearer.changed({ paths: message.paths });
      else hearer.failed(message.message);
    });
    const lost = (error: unknown): void => {
      if (worker !== started) return;
      worker = null;
      const gone = [...hearers.values()];
      hearers.clear();
      for (const hearer of gone)
        hearer.failed(`The watcher ended (${String(error)}); changes are found by scans only.`);
    };
    started.on("error", lost);
    started.on("exit", lost);
    return started;
  };

  return (options, hearer) => {
    const id = nextId++;
    const say = (message: ToWatcher): void => worker?.postMessage(message);
    worker ??= start();
    hearers.set(id, hearer);
    say({ kind: "watch", id, options });
    return () => {
      if (!hearers.delete(id)) return;
      say({ kind: "unwatch", id });
      if (hearers.size > 0) return;
      const idle = worker;
      worker = null;
      void idle?.terminate();
    };
  };
}
