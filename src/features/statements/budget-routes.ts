/** /admin/budget: what a tenant may use in a day, for its administrators. */
import type { Handlers } from "../../actor/handler.js";
import type { Partition } from "../../actor/partition.js";
import { tenantBudgetKey } from "../../storage/keys.js";

export const budgetHandlers = {
  "admin.budget.get": ({ partition, account }) => ({ plain: budgetOf(partition, account) }),
  "admin.budget.set": (request, { body }) => {
    const { partition, account } = request;
    const tx = partition.shard.begin({ isolation: "read committed" });
    tx.put(tenantBudgetKey(account), Buffer.from(JSON.stringify(body)));
    request.commitPart(tx);
    partition.keyBudgets.renew(account);
    return { plain: budgetOf(partition, account) };
  },
} satisfies Handlers;

function budgetOf({ keyBudgets }: Partition, tenant: number) {
  return { ...keyBudgets.budgetOf(tenant), used_today: keyBudgets.usedBy(tenant) };
}
