/** What a shard holds of a tenant. */
import { prefixRange, tenantPrefix } from "./keys.js";
import type { Shard } from "./shard.js";

/** Whether there is anything. */
export function hasEntries(shard: Pick<Shard, "begin">, tenant: number): boolean {
  const tx = shard.begin({ readOnly: true });
  const cursor = tx.scan({ ...prefixRange(tenantPrefix(tenant)), only: "keys" });
  const { keys } = cursor.next(1);
  cursor.close();
  tx.rollback();
  return keys.length > 0;
}
