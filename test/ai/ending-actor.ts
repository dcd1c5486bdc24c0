/** A thread that asks for an inference thread as actors do, has it work, and ends at once in the middle of it. */
import { parentPort, workerData } from "node:worker_threads";
import { connectInference } from "../../workers/connect-inference.js";

const { directory } = workerData as { directory: string };
const thread = connectInference((port) => parentPort!.postMessage(port, [port]));
thread.post({ kind: "settings", settings: { runThreads: 1, idleMs: 1000, sessionsMax: 1, bytesMax: 1e9 } });
const texts = Array.from({ length: 64 }, (_, i) => `${i} many words `.repeat(200));
let answers = 0;
thread.onMessage = ({ kind }) => {
  if (kind !== "numbers") return;
  // The first run has loaded the model; the next ones are under way when this thread ends.
  if (++answers === 1) setTimeout(() => process.exit(1), 3);
};
for (let run = 0; run < 20; run++) thread.post({ kind: "batch", id: run, directory, items: texts });
