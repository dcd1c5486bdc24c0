/**
 * Which tables are watched, on disk: so changes that come after a crash and before anybody is back are still kept with
 * what was there before. Written by the feed, in the shard's own space.
 */
import { prefixRange, watchKey, watchPrefix } from "../../storage/keys.js";
import type { Shard } from "../../storage/shard.js";

export interface WatchRecord {
  readonly tenant: number;
  readonly tableId: number;
  /** Microseconds: changes after it can be followed. */
  readonly since: number;
  /** Milliseconds: nobody needs to be able to come back after it. */
  readonly untilMs: number;
}

export class WatchRecords {
  constructor(
    private readonly shard: Shard,
    private readonly flushSoon: () => void,
  ) {}

  load(): WatchRecord[] {
    const records: WatchRecord[] = [];
    const tx = this.shard.begin({ readOnly: true });
    const cursor = tx.scan(prefixRange(watchPrefix()));
    for (;;) {
      const { values } = cursor.next(1000);
      if (values.length === 0) break;
      for (const value of values) records.push(JSON.parse(Buffer.from(value).toString()) as WatchRecord);
    }
    cursor.close();
    tx.rollback();
    return records;
  }

  /** `remove` ones first. */
  write(put: readonly WatchRecord[], remove: readonly Pick<WatchRecord, "tenant" | "tableId">[]): void {
    if (put.length + remove.length === 0) return;
    const tx = this.shard.begin({ isolation: "read committed" });
    for (const { tenant, tableId } of remove) tx.delete(watchKey(tenant, tableId));
    for (const record of put) tx.put(watchKey(record.tenant, record.tableId), Buffer.from(JSON.stringify(record)));
    tx.commit();
    this.flushSoon();
  }
}
