/**
 * `make sim-control-plane NODES=300 PARTITIONS=2048 [SEED=1] [FAIL=10]`: start, failure of some at once, and their
 * return.
 */
import { simulateControlPlane } from "./simulate-control-plane.js";

const { NODES, PARTITIONS, SEED, FAIL } = process.env;
const began = process.cpuUsage();
const outcome = await simulateControlPlane({
  seed: Number(SEED || 1),
  nodes: Number(NODES || 300),
  partitions: Number(PARTITIONS || 2048),
  failing: Number(FAIL || 10),
});
for (const problem of outcome.problems.slice(0, 20)) console.log(problem);
console.log(JSON.stringify({ ...outcome, problems: outcome.problems.length }));
const { user, system } = process.cpuUsage(began);
console.log(`${Math.round((user + system) / 1e6)} CPU s`);
process.exit(outcome.problems.length === 0 ? 0 : 1);
