/**
 * `make sim-cluster SEEDS=2000 [FROM=1]`: runs seeds of the cluster and prints each that fails with its problems.
 * `SEED=17` runs that one twice, and tells whether both runs were the same. `SABOTAGE=all` (or the name of one) tells
 * how many seeds it takes to find out each sabotage, up to SEEDS.
 */
import { simulateCluster } from "./simulate-cluster.js";
import { SABOTAGES, type Sabotage } from "./simulated-log.js";

const { SEED = "", SABOTAGE = "" } = process.env;
const from = Number(process.env.FROM || 1);
const seeds = Number(process.env.SEEDS || 100);

if (SEED !== "") {
  const sabotage = SABOTAGES.find((one) => one === SABOTAGE) ?? null;
  const first = await simulateCluster(Number(SEED), sabotage);
  const second = await simulateCluster(Number(SEED), sabotage);
  console.log(JSON.stringify(first, null, 2));
  console.log(first.trace === second.trace ? "a second run was the same" : `a second run differed: ${second.trace}`);
  process.exit(first.problems.length === 0 ? 0 : 1);
}

if (SABOTAGE !== "") {
  const chosen = SABOTAGES.filter((one) => SABOTAGE === "all" || one === SABOTAGE);
  for (const sabotage of chosen) console.log(`${sabotage}: ${await firstThatFinds(sabotage)}`);
  process.exit(0);
}

async function firstThatFinds(sabotage: Sabotage): Promise<string> {
  for (let seed = from; seed < from + seeds; seed++) {
    const { problems } = await simulateCluster(seed, sabotage);
    if (problems.length > 0) return `found by seed ${seed - from + 1} of ${seeds}: ${problems[0]!.slice(0, 200)}`;
  }
  return `NOT found within ${seeds} seeds`;
}

const sums = {
  failed: 0,
  transactions: 0,
  committed: 0,
  unknown: 0,
  stale: 0,
  openings: 0,
  handOvers: 0,
  ended: 0,
  moves: 0,
  relocated: 0,
  forks: 0,
  merges: 0,
  drops: 0,
  pastReads: 0,
  faults: 0,
};
const started = process.cpuUsage();
for (let seed = from; seed < from + seeds; seed++) {
  const outcome = await simulateCluster(seed);
  sums.transactions += outcome.transactions;
  sums.committed += outcome.committed;
  sums.unknown += outcome.unknown;
  sums.stale += outcome.stale;
  sums.openings += outcome.openings;
  sums.handOvers += outcome.handOvers;
  sums.ended += outcome.ended;
  sums.moves += outcome.moves;
  sums.relocated += outcome.relocated;
  sums.forks += outcome.forks;
  sums.merges += outcome.merges;
  sums.drops += outcome.drops;
  sums.pastReads += outcome.pastReads;
  sums.faults += outcome.faults.length;
  if (outcome.problems.length > 0) {
    sums.failed++;
    console.log(`seed ${seed} fails (SEED=${seed} make sim-cluster replays it):`);
    for (const fault of outcome.faults) console.log(`    ${fault}`);
    for (const problem of outcome.problems.slice(0, 6)) console.log(`  ${problem.slice(0, 1500)}`);
  }
  if ((seed - from + 1) % 50 === 0) console.log(`${seed - from + 1} seeds, ${sums.failed} failed`);
}
const { user, system } = process.cpuUsage(started);
console.log(
  `${seeds} seeds from ${from}: ${JSON.stringify(sums)}; ${((user + system) / 1e6 / seeds).toFixed(2)} CPU s a seed`,
);
process.exit(sums.failed === 0 ? 0 : 1);
