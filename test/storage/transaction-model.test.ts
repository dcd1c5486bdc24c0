/** Random interleavings of transactions give the answers of a naive model, on every engine. */
import fc from "fast-check";
import t from "tap";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { tries } from "../lengths.js";
import { ENGINES, openShard } from "./shards.js";
import { ModelRun, steps } from "./transaction-model.js";

/** Commits of two writes are large, and the engine takes them one by one. */
const SMALL = { operations: 2, bytes: 1e6, stepOperations: 1, stepBytes: 1e6 };

/** As long as a log of another machine takes, or a little: some turns of promises. */
class SlowLog extends MemoryCommitLog {
  private syncs = 0;

  override async sync(): Promise<void> {
    const turns = (this.syncs++ * 7) % 23;
    for (let i = 0; i < turns; i++) await Promise.resolve();
  }
}

t.test("interleaved transactions behave as the model says when the engine waits for the log", async (t) => {
  const shard = await openShard(t, { log: new SlowLog(), largeSizes: SMALL, applyWhen: "durable" });
  let run = 0;
  let waited = 0;
  const property = fc.asyncProperty(steps, async (all) => {
    await new ModelRun(shard, `${String(++run).padStart(6, "0")}/`).run(all);
    if (shard.appliedSequence < shard.committedSequence) waited++;
  });
  await fc.assert(property, { numRuns: tries(1000) });
  t.ok(waited > 100, `${waited} runs ended before the engine had all`);
  while (shard.durableSequence < shard.committedSequence) await Promise.resolve();
  const { openTransactions, versionBytes } = shard.metrics;
  t.same({ openTransactions, versionBytes }, { openTransactions: 0, versionBytes: 0 }, "nothing is left in memory");
  t.equal(shard.appliedSequence, shard.committedSequence);
});

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
