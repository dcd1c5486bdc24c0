/**
 * Entry of a process that applies functions to large values for an actor (compute-processes.ts): a message is a call, and is answered with its
 * value. It ends when its actor's thread does.
 */
import { type ComputeJob, computeJob } from "../src/query/expr/compute-elsewhere.js";

process.on("message", async (job: ComputeJob) => {
  process.send!(await computeJob(job));
});
process.on("disconnect", () => process.exit());
