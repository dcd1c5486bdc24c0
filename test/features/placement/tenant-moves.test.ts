/** The directory tells where a tenant is only while it is sure to be the directory. */
import { setImmediate as turn } from "node:timers/promises";
import t from "tap";
import type { MoveRecord } from "../../../src/directory/records.js";
import { TenantMoves } from "../../../src/features/placement/tenant-moves.js";
import { DbError, type ErrorCode } from "../../../src/protocol/errors.js";

/** What is told of a tenant in partition 1 after each of these refusals; then all that was committed is durable. */
async function toldAfter(...refusals: ErrorCode[]): Promise<object[]> {
  const told: object[] = [];
  const answers = [...refusals];
  const moves = new TenantMoves({
    directory: {
      placeOf: () => ({ number: 7, partition: 1 }),
      partitionOfNumber: () => 1,
      relocateTenant: () => () => undefined,
      saveMove: () => undefined,
      forgetMove: () => undefined,
      listMoves: (): MoveRecord[] => [],
    },
    ...{ partitions: 3, actors: 3, now: Date.now },
    say: (message) => {
      if (message.kind === "placement") told.push({ partition: message.partition, ...message.message });
    },
    durable: async () => {
      const refusal = answers.shift();
      if (refusal !== undefined) throw new DbError(refusal);
    },
  });
  moves.unsettled(2, [{ tenant: 7, move: null, goesOn: false }]);
  for (let i = 0; i < 10; i++) await turn();
  return told;
}

const SETTLE = { partition: 2, do: "settle", tenant: 7, at: 1, move: null };

t.test("what is on disk is told", async (t) => {
  t.same(await toldAfter(), [SETTLE]);
});

t.test("a commit that was refused says nothing of whose the directory is", async (t) => {
  t.same(await toldAfter("log_unavailable", "partition_unavailable"), [], "another node is the directory");
  t.same(await toldAfter("log_unavailable"), [SETTLE], "it still is this one");
  t.same(await toldAfter("disk_full"), [SETTLE]);
  t.same(await toldAfter("partition_unavailable"), []);
});
