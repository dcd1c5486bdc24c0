/**
 * Entry of a process that applies functions to large values for an actor (compute-processes.ts): messages make a call,
 * which is answered with its value. It ends when its actor's thread does.
 */
import { type ComputeJob, computeJob } from "../src/query/expr/compute-elsewhere.js";
import { Assembly, type SmallMessage, smallMessages } from "../src/query/expr/sent-pieces.js";

const assembly = new Assembly();

process.on("message", async (small: SmallMessage) => {
  const job = assembly.take(small) as ComputeJob | undefined;
  if (job === undefined) return;
  for (const part of smallMessages(await computeJob(job))) process.send!(part);
});
process.on("disconnect", () => process.exit());
