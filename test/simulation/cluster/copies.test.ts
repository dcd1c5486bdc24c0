/** A few seeds of copies in virtual time (`make sim-copies` runs many), and whether flaws are noticed. */
import t from "tap";
import { simulateCopies } from "./simulate-copies.js";
import { COPY_SABOTAGES } from "./simulated-copies.js";

t.setTimeout(600_000);

t.test("what etcd has forgotten is on two disks, while copies come and go", async (t) => {
  const outcome = await simulateCopies(8);
  t.same(outcome.problems, [], outcome.faults.join(", "));
  t.ok(outcome.drops > 5 && outcome.fetches > 0, `${outcome.drops} copies deleted, ${outcome.fetches} fetched`);
});

/** By the seed that finds each; a change of the simulation may take another. */
const FOUND_BY: Readonly<Record<(typeof COPY_SABOTAGES)[number], number>> = {
  "a node goes and deletes its copy before others have it": 2,
  "etcd forgets what only one disk has": 1,
};

for (const sabotage of COPY_SABOTAGES) {
  t.test(`found out: ${sabotage}`, async (t) => {
    const seeds = [FOUND_BY[sabotage], ...Array.from({ length: 60 }, (_, i) => i + 1)];
    for (const seed of seeds) {
      const { problems } = await simulateCopies(seed, sabotage);
      if (problems.length === 0) continue;
      t.pass(`seed ${seed}: ${problems[0]}`);
      return;
    }
    t.fail("not within 60 seeds");
  });
}
