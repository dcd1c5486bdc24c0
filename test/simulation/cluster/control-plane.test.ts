/** The control plane of many nodes; `make sim-control-plane` has more of them. */
import t from "tap";
import { simulateControlPlane } from "./simulate-control-plane.js";

t.test("partitions find owners when nodes start, fail at once, and come back", async (t) => {
  for (const seed of [1, 2]) {
    const outcome = await simulateControlPlane({ seed, nodes: 12, partitions: 48, failing: 3 });
    t.same(outcome.problems, []);
    const { start, failure, comeback, slowStarts } = outcome;
    t.ok(start.openings >= 48, `${start.openings} openings at the start`);
    t.ok(failure.openings >= 12, `${failure.openings} takeovers`);
    t.ok(failure.servedMs > 4000 && failure.servedMs < 10_000, `served after ${failure.servedMs} ms`);
    t.ok(comeback.openings >= 12, `${comeback.openings} hand-overs to those that came back`);
    t.ok(slowStarts.servedMs < 8000, `served ${slowStarts.servedMs} ms after actors crashed that take 15 s to start`);
  }
});

t.test("a third of many nodes fails at once", async (t) => {
  const outcome = await simulateControlPlane({ seed: 3, nodes: 30, partitions: 128, failing: 10 });
  t.same(outcome.problems, []);
  const { failure } = outcome;
  // The other twenty had five partitions each at most.
  t.ok(failure.openings >= 28, `${failure.openings} takeovers`);
  t.ok(failure.servedMs > 4000 && failure.servedMs < 10_000, `served after ${failure.servedMs} ms`);
  t.ok(failure.evenMs >= 0 && failure.evenMs < 30_000, `even after ${failure.evenMs} ms`);
});

t.test("found out: records that do not tell which actors are ready", async (t) => {
  const sabotage = "records do not tell which actors are ready";
  const { slowStarts } = await simulateControlPlane({ seed: 1, nodes: 12, partitions: 48, failing: 3, sabotage });
  t.ok(slowStarts.servedMs > 14_000, `served after ${slowStarts.servedMs} ms`);
});
