/**
 * `make sim SEEDS=1000 [FROM=1]`: runs seeds and prints each that fails with its problems. `SEED=17` runs that one,
 * twice, and tells whether both runs were the same. `ONLY=branches` leaves out all clients but the one with branches.
 */
import { simulate } from "./simulate.js";

const { SEED = "", ONLY = "" } = process.env;
const setting = { onlyBranches: ONLY === "branches" };

if (SEED !== "") {
  const first = await simulate(Number(SEED), setting);
  const second = await simulate(Number(SEED), setting);
  console.log(JSON.stringify(first, null, 2));
  console.log(first.trace === second.trace ? "a second run was the same" : `a second run differed: ${second.trace}`);
  process.exit(first.problems.length === 0 ? 0 : 1);
}

const from = Number(process.env.FROM || 1);
const seeds = Number(process.env.SEEDS || 100);
let failed = 0;
let transactions = 0;
let committed = 0;
let backups = 0;
let restores = 0;
let forks = 0;
let pastReads = 0;
let merges = 0;
let faults = 0;
const started = process.cpuUsage();
for (let seed = from; seed < from + seeds; seed++) {
  const outcome = await simulate(seed, setting);
  transactions += outcome.transactions;
  committed += outcome.committed;
  backups += outcome.backups;
  restores += outcome.restores;
  forks += outcome.forks;
  pastReads += outcome.pastReads;
  merges += outcome.merges;
  faults += outcome.faults.length;
  if (outcome.problems.length > 0) {
    failed++;
    console.log(`seed ${seed} fails (SEED=${seed} make sim replays it):`);
    for (const fault of outcome.faults) console.log(`    ${fault}`);
    for (const problem of outcome.problems.slice(0, 10)) console.log(`  ${problem.slice(0, 2000)}`);
  }
  if ((seed - from + 1) % 50 === 0) console.log(`${seed - from + 1} seeds, ${failed} failed`);
}
const { user, system } = process.cpuUsage(started);
console.log(
  `${seeds} seeds from ${from}: ${failed} failed; ${transactions} transactions, ${committed} committed, ${backups} backups, ${restores} restores, ${forks} forks, ${pastReads} reads of the past, ${merges} merges, ${faults} faults; ${((user + system) / 1e6 / seeds).toFixed(2)} CPU s a seed`,
);
process.exit(failed === 0 ? 0 : 1);
