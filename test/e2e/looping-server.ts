/** The server as it is, with actors of looping-actor.ts. Run by node, with the arguments of `tessera`. */
import { Worker } from "node:worker_threads";
import { runCommandLine } from "../../src/command-line.js";

const entry = new URL("./looping-actor.js", import.meta.url);
await runCommandLine(null, (actor) => new Worker(entry, { workerData: { actor } }));
