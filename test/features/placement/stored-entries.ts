/** What statements leave in storage, for tests that compare two ways of doing the same. */
import { prefixRange, tenantPrefix } from "../../../src/storage/keys.js";
import type { open } from "../../conformance/sql-adapter.js";

type Database = Awaited<ReturnType<typeof open>>;

/** All entries of the tenant but definitions, as hexadecimal text. */
export async function contents({ shard, tenantNumber }: Database): Promise<string[]> {
  const tx = shard.begin({ readOnly: true });
  const cursor = tx.scan(prefixRange(tenantPrefix(tenantNumber)));
  const { keys, values } = cursor.next(1_000_000);
  const texts = keys.map((key, i) => `${Buffer.from(key).toString("hex")} ${Buffer.from(values[i]!).toString("hex")}`);
  cursor.close();
  tx.rollback();
  // Space 1 holds definitions, with the time of their making.
  return texts.filter((text) => text[9] !== "1");
}
