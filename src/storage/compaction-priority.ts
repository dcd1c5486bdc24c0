/**
 * Compaction may wait for statements: RocksDB's threads for it get a lower priority than those that answer. RocksDB
 * starts them for the process with the first compaction, so they are looked for until they are there. Linux only, where
 * each thread has a priority of its own.
 */
import { readdirSync, readFileSync } from "node:fs";
import { getPriority, setPriority } from "node:os";

/** As RocksDB names them. */
const COMPACTION_THREAD = "rocksdb:low";
/** They still get a third of the time of a busy thread, so that files do not pile up. */
const NICE = 5;
const NICE_MAX = 19;
/** Between two looks: longer each time. */
const FIRST_LOOK_MS = 100;
const LAST_LOOK_MS = 64_000;
const TASKS = "/proc/self/task";

let isLooking = false;

/** For who has opened a database. Looks in the background; a failure leaves the threads as they are. */
export function lowerCompactionPriority(): void {
  if (isLooking || process.platform !== "linux") return;
  isLooking = true;
  lookAfter(FIRST_LOOK_MS);
}

function lookAfter(ms: number): void {
  setTimeout(() => {
    if (!lowerFound()) lookAfter(Math.min(2 * ms, LAST_LOOK_MS));
  }, ms).unref();
}

/** True: nothing more is to be done. */
function lowerFound(): boolean {
  try {
    const found = readdirSync(TASKS).filter(
      (id) => readFileSync(`${TASKS}/${id}/comm`, "utf8").trim() === COMPACTION_THREAD,
    );
    // Another actor of the process may have been here before.
    const usual = getPriority();
    for (const id of found.map(Number))
      if (getPriority(id) === usual) setPriority(id, Math.min(usual + NICE, NICE_MAX));
    return found.length > 0;
  } catch {
    // A thread has ended meanwhile, or the system does not show them.
    return false;
  }
}
