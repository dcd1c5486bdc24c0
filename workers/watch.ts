/**
 * Entry of the thread that watches folders for an actor, so that neither listing them nor a storm of changes takes the
 * actor's time. Started with the first folder (watch-folders.ts). A failed watcher is told and found by scans.
 */
import { parentPort } from "node:worker_threads";
import { FolderWatcher } from "../src/ingest/watch/folder-watcher.js";
import type { FromWatcher, ToWatcher } from "../src/ingest/watch/watch-messages.js";

const port = parentPort!;
const watchers = new Map<number, FolderWatcher>();
const say = (message: FromWatcher): void => port.postMessage(message);

port.on("message", (message: ToWatcher) => {
  const { id } = message;
  if (message.kind === "unwatch") {
    void watchers.get(id)?.close();
    watchers.delete(id);
    return;
  }
  try {
    const watcher = new FolderWatcher(message.options, {
      ready: () => say({ kind: "ready", id }),
      changed: ({ paths }) => say({ kind: "changed", id, paths }),
      failed: (text) => say({ kind: "failed", id, message: text }),
    });
    watchers.set(id, watcher);
  } catch (error) {
    say({ kind: "failed", id, message: String(error) });
  }
});
