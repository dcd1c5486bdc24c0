/**
 * The server as it is, with actors of looping-actor.ts, whose threads have LOOPING_HEAP_MIB of memory where that is
 * set. Run by node, with the arguments of `tessera`.
 */
import { Worker } from "node:worker_threads";
import { runCommandLine } from "../../src/command-line.js";

const entry = new URL("./looping-actor.js", import.meta.url);
const heap = process.env.LOOPING_HEAP_MIB;
const resourceLimits = heap === undefined ? {} : { maxOldGenerationSizeMb: Number(heap) };
await runCommandLine(null, (actor) => new Worker(entry, { workerData: { actor }, resourceLimits }));
