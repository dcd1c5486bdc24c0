/** What bench/processes.ts reads from /proc. */
import { spawn } from "node:child_process";
import t from "tap";
import {
  cpuSecondsOf,
  cpuSecondsOfEndedChildren,
  cpuSecondsOfThreads,
  memoryOf,
  peakMemoryOf,
  processTree,
} from "../../bench/processes.js";

const BURN = "const end = process.cpuUsage().user + 200_000; while (process.cpuUsage().user < end);";

t.test("trees of processes, running and ended", { skip: process.platform !== "linux" }, async (t) => {
  const before = { tree: cpuSecondsOf([process.pid]), ended: cpuSecondsOfEndedChildren() };
  const child = spawn(process.execPath, ["-e", `${BURN} console.log("burnt"); setInterval(() => {}, 1000);`]);
  await new Promise<void>((resolve) => child.stdout.once("data", () => resolve()));
  t.ok(processTree([process.pid]).has(child.pid!));
  t.notOk(processTree([child.pid!]).has(process.pid));
  t.ok(cpuSecondsOf([process.pid]) - before.tree >= 0.2);
  t.ok(memoryOf([child.pid!]) <= peakMemoryOf([child.pid!]));
  t.ok(peakMemoryOf([process.pid]) > peakMemoryOf([child.pid!]));
  t.ok((cpuSecondsOfThreads(child.pid!).get(child.pid!) ?? 0) >= 0.2);
  const ended = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  child.kill();
  await ended;
  t.ok(cpuSecondsOfEndedChildren() - before.ended >= 0.2);
});
