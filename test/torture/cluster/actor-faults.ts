/**
 * Loaded into each thread of a node under test (`--import`): an actor's thread ends when the file `crash` beside the
 * node's data appears, and does not start while `hold` is there. cluster-processes.ts makes both.
 */
import { existsSync, rmSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

const LOOK_MS = 50;
const data = process.env.TESSERA_DATA_DIR;

if (!isMainThread && /\/actor\.c?js$/.test(process.argv[1] ?? "")) {
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  while (existsSync(`${data}.hold`)) Atomics.wait(nobody, 0, 0, LOOK_MS);
  setInterval(() => {
    if (!existsSync(`${data}.crash`)) return;
    rmSync(`${data}.crash`, { force: true });
    process.exit(1);
  }, LOOK_MS).unref();
}
