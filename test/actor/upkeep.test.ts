/** What an actor's timer does for its tenants: how often it looks at all requests. */
import t from "tap";
import { Partition } from "../../src/actor/partition.js";
import { Scheduler } from "../../src/actor/scheduler.js";
import { Upkeep } from "../../src/actor/upkeep.js";
import type { TableDef } from "../../src/catalog/table.js";
import { loadConfig } from "../../src/config/load-config.js";
import type { Tenant } from "../../src/session/tenant.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";

t.test("running requests are gone through once for a pass, however many tenants there are", async (t) => {
  const onDurable = (sequence: number): void => partition.onDisk(sequence);
  const shard = await Shard.open({ engine: new MemoryEngine(), log: new MemoryCommitLog(), onDurable });
  const partition = new Partition(0, shard, loadConfig({ env: {} }), () => undefined);
  const tenants = Array.from({ length: 40 }, (_, number) => partition.tenant(number + 1));
  let looks = 0;
  const busy = new Set<Tenant>([tenants[3]!]);
  const upkeep = new Upkeep({
    partitions: new Map([[0, partition]]),
    scheduler: new Scheduler({ wake: () => undefined }),
    busy: () => {
      looks++;
      return busy;
    },
    sweepAnswers: () => undefined,
    swept: () => undefined,
    isClosing: () => false,
    log: (_, message) => t.fail(message),
  });
  upkeep.stop();
  const pass = async (): Promise<number> => {
    looks = 0;
    (upkeep as unknown as { sweep(): void }).sweep();
    await upkeep.ended();
    return looks;
  };
  t.equal(await pass(), 1, "no statistics are due: only the sweep asks");
  // Of a table that is gone, so there is nothing to read.
  for (const { statistics } of tenants.slice(0, 10)) statistics.changed({ id: 7 } as TableDef, 1000);
  t.equal(await pass(), 2);
  t.same(tenants[3]!.statistics.takeDue(Date.now()), [7], "a busy tenant's statistics wait");
  t.same(tenants[4]!.statistics.takeDue(Date.now()), [], "those of others do not");
  await partition.close();
});
