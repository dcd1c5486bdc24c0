/**
 * A few seeds of the simulated cluster (`make sim-cluster` runs many), and whether it would notice what it looks for.
 */
import t from "tap";
import { tries } from "../../lengths.js";
import { simulateCluster } from "./simulate-cluster.js";
import { SABOTAGES } from "./simulated-log.js";

t.setTimeout(600_000);

/** The first of two seeds with many faults, branches, and tenants that move. */
const FROM = 8;

const traces: number[] = [];

t.test("whatever breaks, nothing acknowledged is lost, and all is strictly serializable across owners", async (t) => {
  const count = tries(2);
  const sums = { committed: 0, openings: 0, forks: 0, merges: 0 };
  for (let seed = FROM; seed < FROM + count; seed++) {
    const outcome = await simulateCluster(seed);
    traces.push(outcome.trace);
    t.same(outcome.problems, [], `seed ${seed}: ${outcome.faults.join(", ")}`);
    for (const key of ["committed", "openings", "forks", "merges"] as const) sums[key] += outcome[key];
  }
  const { committed, openings, forks, merges } = sums;
  t.ok(
    committed > 300 * count && openings > 6 * count && forks > 4 * count && merges > 4 * count,
    JSON.stringify(sums),
  );
});

t.test("a seed replays exactly", async (t) => {
  t.equal((await simulateCluster(FROM)).trace, traces[0]);
});

/** By the seed that finds each; a change of the simulation may take another one, which is looked for. */
const SEEDS = 200;
const FOUND_BY: Readonly<Record<(typeof SABOTAGES)[number], number>> = {
  "the log forgets its last append": 1,
  "the log ignores the epoch": 11,
  "renewals do not compare": 1,
  "the bound is looked at only at renewals": 1,
  "clocks are off by half": 24,
  "a suspended machine is not noticed": 2,
  "the engine applies before the acknowledgement": 1,
  "the successor is named before the partition is closed": 9,
  "copies read what a member of the log that is behind has": 1,
  "moves are told before they are recorded": 3,
  "a tenant is answered for where it is not any more": 1,
  "a replay keeps as the past what it finds": 5,
  "a merge does not say up to where": 1,
  "a branch that ends takes writes": 3,
  "a branch ends while it is forked": 23,
  "each owner forgets by itself": 34,
  "what is copied for a long chain is lost": 2,
};

for (const sabotage of SABOTAGES) {
  t.test(`found out: ${sabotage}`, async (t) => {
    const seeds = [FOUND_BY[sabotage], ...Array.from({ length: SEEDS }, (_, i) => i + 1)];
    for (const seed of seeds) {
      const { problems } = await simulateCluster(seed, sabotage);
      if (problems.length === 0) continue;
      t.pass(`seed ${seed}: ${problems[0]!.slice(0, 200)}`);
      return;
    }
    t.fail(`not within ${SEEDS} seeds`);
  });
}
