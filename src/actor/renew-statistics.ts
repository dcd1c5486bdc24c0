/**
 * Automatic ANALYZE: tables that changed much, or that turned out to be large and were never analyzed, get new
 * statistics between the requests, in the tenant's turns. The actor calls it now and then.
 */
import { DbError } from "../protocol/errors.js";
import { analyzeTable } from "../query/exec/analyze-table.js";
import type { Tenant } from "../session/tenant.js";
import type { Scheduler } from "./scheduler.js";

/**
 * `isBadTime`, asked where statistics are due: what can wait does. Reads in one transaction, which holds back no other,
 * and writes what it found in another, short one.
 */
export async function renewStatistics(
  tenant: Tenant,
  scheduler: Scheduler,
  isClosing: () => boolean,
  isBadTime: () => boolean,
): Promise<void> {
  const { shard } = tenant.partition;
  for (const id of tenant.statistics.takeDue(performance.now(), isBadTime)) {
    // What the first turn takes is not counted, nor need it be.
    const turns = { usedMs: 0 };
    const reading = shard.begin({ readOnly: true, isolation: "repeatable read" });
    try {
      const table = tenant.catalog
        .view(reading)
        .tables()
        .find((one) => one.id === id);
      if (table === undefined) continue;
      const work = {
        tx: reading,
        tenantNumber: tenant.number,
        segments: tenant.partition.segments,
        checkpoint: () => {
          if (isClosing()) throw new DbError("cancelled");
        },
        shouldYield: () => scheduler.shouldYield(),
        yieldTurn: () => scheduler.yieldTurn(tenant.number, turns),
      };
      const statistics = await analyzeTable(work, table);
      const writing = shard.begin({ isolation: "read committed" });
      tenant.statistics.put(table, statistics, "server", writing);
      tenant.commit(writing);
      tenant.plans.clear();
    } catch (error) {
      // A conflict, or a partition that is closing: the next change makes the table due again.
      if (!(error instanceof DbError)) throw error;
    } finally {
      tenant.rollback(reading);
      tenant.statistics.renewed(id, performance.now(), turns.usedMs);
    }
  }
}
