/** Random interleavings of transactions give the answers of a naive model, on every engine. */
import fc from "fast-check";
import t from "tap";
import { tries } from "../lengths.js";
import { ENGINES, openShard } from "./shards.js";
import { ModelRun, steps } from "./transaction-model.js";

/** Commits of two writes are large, and the engine takes them one by one. */
const SMALL = { operations: 2, bytes: 1e6, stepOperations: 1, stepBytes: 1e6 };

for (const [name, open] of Object.entries(ENGINES)) {
  t.test(`interleaved transactions behave as the model says (${name})`, async (t) => {
    const shard = await openShard(t, { engine: await open(t), largeSizes: SMALL });
    let run = 0;
    const property = fc.asyncProperty(steps, (all) =>
      new ModelRun(shard, `${String(++run).padStart(6, "0")}/`).run(all),
    );
    const numRuns = tries(name === "memory" ? 2000 : 350);
    await fc.assert(property, { numRuns });
    const { openTransactions, versionBytes, conflicts } = shard.metrics;
    t.same({ openTransactions, versionBytes }, { openTransactions: 0, versionBytes: 0 }, "nothing is left in memory");
    t.ok(conflicts > numRuns / 10, `the runs met ${conflicts} conflicts`);
  });
}
