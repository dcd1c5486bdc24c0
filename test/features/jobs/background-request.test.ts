/** Requests of jobs: for whom they count. */
import t from "tap";
import type { Partition } from "../../../src/actor/partition.js";
import type { Scheduler } from "../../../src/actor/scheduler.js";
import { BackgroundRequests } from "../../../src/features/jobs/background-request.js";
import type { ActorMarks } from "../../../src/protocol/actor-marks.js";

const OWNER = { userId: "u1", username: "ada", tenantId: "acme", roles: ["user"], readOnly: false };
const [TENANT, BRANCH] = [7, 2 ** 30];

t.test("a job in a branch counts for the branch's tenant", async (t) => {
  const turns: number[] = [];
  const budgets: number[] = [];
  const scheduler = { yieldTurn: async (account: number) => void turns.push(account) };
  const partition = {
    account: { usedMs: 0 },
    tenant: (number: number) => ({ number }),
    shard: { layers: { branchOf: (number: number) => (number === BRANCH ? { root: TENANT } : null) } },
    keyBudgets: { forJob: (number: number) => void budgets.push(number) },
  } as unknown as Partition;
  const marks = { atWork: () => undefined } as unknown as ActorMarks;
  const requests = new BackgroundRequests(scheduler as unknown as Scheduler, marks, async () => undefined);
  for (const number of [TENANT, BRANCH]) {
    await requests.run(partition, number, OWNER, new AbortController().signal, async (request) => {
      t.equal(request.tenant.number, number, "it works there");
      t.equal(request.audited()?.tenant.number, TENANT, "whose trail of audits it is");
    });
  }
  t.same(
    [turns, budgets],
    [
      [TENANT, TENANT],
      [TENANT, TENANT],
    ],
  );
});
