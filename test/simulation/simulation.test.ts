/** A seed of the simulation (`make sim` runs many), and whether it would notice what it looks for. */
import t from "tap";
import { simulate } from "./simulate.js";

const SEEDS = Number(process.env.SIM_SEEDS ?? 1);
/** A seed with many faults. */
const FROM = 2;

t.setTimeout(300_000);

const traces: number[] = [];

t.test("whatever breaks, nothing acknowledged is lost and transactions are serializable", async (t) => {
  for (let seed = FROM; seed < FROM + SEEDS; seed++) {
    const outcome = await simulate(seed);
    t.same(outcome.problems, [], `seed ${seed}: ${outcome.committed} transactions, ${outcome.faults.join(", ")}`);
    t.ok(outcome.committed > 20, `seed ${seed} did something`);
    traces.push(outcome.trace);
  }
});

t.test("a seed replays exactly", async (t) => {
  t.equal((await simulate(FROM)).trace, traces[0]);
});

t.test("disks that lie about what they synced are found out", async (t) => {
  let problems: readonly string[] = [];
  // The first of them is short, and loses something soon.
  for (let seed = 6; seed <= 15 && problems.length === 0; seed++) {
    problems = (await simulate(seed, { disksLie: true })).problems;
  }
  t.match(problems.join("\n"), /lost|acknowledged|cannot start|damaged|not over|never (answered|read)/);
  t.comment(problems[0]);
});
