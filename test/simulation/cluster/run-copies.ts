/**
 * `make sim-copies SEEDS=200 [FROM=1]`: copies come and go while nodes fail. SABOTAGE=all tells how soon each flaw
 * is found.
 */
import { simulateCopies } from "./simulate-copies.js";
import { COPY_SABOTAGES } from "./simulated-copies.js";

const { SEEDS, FROM, SABOTAGE } = process.env;
const from = Number(FROM || 1);
const seeds = Array.from({ length: Number(SEEDS || 50) }, (_, i) => from + i);
const began = process.cpuUsage();
let failed = 0;
if (SABOTAGE === "all") {
  for (const sabotage of COPY_SABOTAGES) {
    let found = 0;
    for (const seed of seeds) {
      const { problems } = await simulateCopies(seed, sabotage);
      if (problems.length === 0) continue;
      found = seed;
      console.log(`${sabotage}: seed ${seed}, ${problems[0]}`);
      break;
    }
    if (found > 0) continue;
    failed++;
    console.log(`${sabotage}: NOT found`);
  }
} else {
  const sums = { acknowledged: 0, openings: 0, drops: 0, fetches: 0, faults: 0 };
  for (const seed of seeds) {
    const outcome = await simulateCopies(seed);
    for (const name of ["acknowledged", "openings", "drops", "fetches"] as const) sums[name] += outcome[name];
    sums.faults += outcome.faults.length;
    if (outcome.problems.length === 0) continue;
    failed++;
    console.log(`seed ${seed}: ${outcome.problems.slice(0, 3).join("; ")}\n  ${outcome.faults.slice(-8).join("\n  ")}`);
  }
  console.log(`${seeds.length} seeds, ${failed} with problems; ${JSON.stringify(sums)}`);
}
const { user, system } = process.cpuUsage(began);
console.log(`${Math.round((user + system) / 1e6)} CPU s`);
process.exit(failed === 0 ? 0 : 1);
