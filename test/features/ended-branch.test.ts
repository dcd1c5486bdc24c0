/** Work in a branch that ends meanwhile: nothing is written there, and nobody is told that it was. */
import t from "tap";
import type { Partition } from "../../src/actor/partition.js";
import { endKeys, inBranch } from "../../src/features/branches/branch-life.js";
import type { Branch } from "../../src/storage/branch-list.js";
import { endsUndone, isEnding } from "../../src/storage/ending-branches.js";
import { rowPrefix } from "../../src/storage/keys.js";
import { open } from "../conformance/sql-adapter.js";

const NUMBER = 2 ** 30;

t.test("a commit in a branch that is gone", async (t) => {
  const { tenant } = await open();
  const partition = tenant.partition as Partition;
  const tx = partition.shard.begin();
  tx.put(rowPrefix(NUMBER, 1), Buffer.from("x"));
  t.throws(() => partition.tenant(NUMBER).commit(tx), { code: "not_found", message: /^The branch has ended/ });
  t.equal(partition.shard.metrics.openTransactions, 0);
  const reading = partition.shard.begin({ readOnly: true });
  t.equal(reading.get(rowPrefix(NUMBER, 1)), undefined);
  partition.tenant(NUMBER).commit(reading);
});

t.test("whatever comes of the work, the end of its branch is told", async (t) => {
  const branch = { name: "b", endedBy: null } as Branch;
  let there: Branch | null = branch;
  const partition = { shard: { layers: { branchOf: () => there } } } as unknown as Partition;
  t.equal(await inBranch(partition, NUMBER, branch, async () => 1), 1);
  await t.rejects(
    inBranch(partition, NUMBER, branch, () => Promise.reject(new Error("own"))),
    { message: "own" },
  );
  const leave = async () => {
    there = { ...branch };
  };
  await t.rejects(inBranch(partition, NUMBER, branch, leave), { code: "not_found" }, "another of its number");
  there = branch;
  const fail = async () => {
    branch.endedBy = 7;
    throw new TypeError("nothing is there");
  };
  await t.rejects(inBranch(partition, NUMBER, branch, fail), { code: "not_found" });
  await t.rejects(inBranch(partition, NUMBER, null, fail), { code: "not_found" });
  endsUndone([branch], 8);
  t.ok(isEnding(branch), "an earlier commit ends it");
  endsUndone([branch], 7);
  t.equal(await inBranch(partition, NUMBER, branch, async () => 2), 2, "the log did not take its end");
});

t.test("a key that cannot be destroyed yet is told of in the server's log", async (t) => {
  const { tenant } = await open();
  const { shard, shared } = tenant.partition as Partition;
  const sealed = Object.create(shard, {
    options: {
      value: {
        ...shard.options,
        keys: {
          destroy() {
            throw new Error("no space left on device");
          },
        },
      },
    },
  });
  const told: unknown[] = [];
  const warn = (...said: unknown[]): void => void told.push(said);
  await endKeys({ shard: sealed, shared: { ...shared, indexes: { ...shared.indexes, warn } } }, NUMBER);
  t.match(told, [[/not destroyed before the next start: Error: no space left/, { tenantNumber: NUMBER }]]);
});
