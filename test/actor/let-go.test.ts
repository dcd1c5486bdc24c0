/** Closing one partition of an actor: in which order who is asked, and what becomes of requests. */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { type LetGoHost, letGo } from "../../src/actor/let-go.js";
import { Partition } from "../../src/actor/partition.js";
import type { Request } from "../../src/actor/request.js";
import { loadConfig } from "../../src/config/load-config.js";
import type { DbError } from "../../src/protocol/errors.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { Shard } from "../../src/storage/shard.js";

const NUMBER = 3;
const TENANT = 7;

/** An actor with one partition; `running` are its requests. */
async function actor(running: Set<Request>, isTied = false) {
  const shard = await Shard.open({ engine: new MemoryEngine(), log: new MemoryCommitLog() });
  const partition = new Partition(NUMBER, shard, loadConfig({ env: {} }), () => undefined);
  partition.tenant(TENANT);
  const did: string[] = [];
  const gatewayKnows = new Map<number, () => void>();
  const host: LetGoHost = {
    partitions: new Map([[NUMBER, partition]]),
    requests: {
      in: () => [...running],
      leave: (number) => did.push(`takes nothing for ${number}`),
      left: () => did.push("left"),
    },
    features: {
      isTied: () => isTied,
      leave: async () => void did.push("features leave"),
    },
    upkeep: { isAt: () => false },
    idempotency: {
      take: (tenant) => {
        did.push(`${partition.shard.failed === null ? "" : "failed "}answers of ${tenant} go`);
        return [];
      },
    },
    gatewayKnows,
    unflushed: new Set(),
    tell: (number) => did.push(`tells the gateway of ${number}`),
    isClosing: () => false,
    armTurn: () => undefined,
  };
  return { host, did, partition };
}

/** Ends when it is told to, or by `end`. */
function request(running: Set<Request>, did: string[]): { readonly finish: () => void } {
  const made = {
    end: (error: DbError) => {
      did.push(`ended: ${error.code}`);
      running.delete(made as unknown as Request);
    },
  };
  running.add(made as unknown as Request);
  return { finish: () => void running.delete(made as unknown as Request) };
}

t.test("what ran before ends first, what came later is ended, and the gateway must have heard of it", async (t) => {
  const running = new Set<Request>();
  const { host, did, partition } = await actor(running);
  const early = request(running, did);
  const gone = letGo(NUMBER, host);
  await sleep(20);
  t.same(did, [], "it is served as before");
  request(running, did);
  early.finish();
  while (!host.gatewayKnows.has(NUMBER)) await sleep(1);
  t.same(did, ["takes nothing for 3", "tells the gateway of 3"]);
  await sleep(20);
  t.equal(host.partitions.size, 1, "it waits for the gateway");
  host.gatewayKnows.get(NUMBER)!();
  t.equal(await gone, true);
  const after = ["features leave", "ended: partition_unavailable", "answers of 7 go", "left"];
  t.same(did.slice(2), after);
  t.equal(host.partitions.size, 0);
  t.throws(() => partition.shard.begin({ isolation: "snapshot" }), { code: "shutting_down" }, "the shard is closed");
});

t.test("a partition where something is under way stays as it is", async (t) => {
  const { host, did, partition } = await actor(new Set(), true);
  t.equal(await letGo(NUMBER, host), false);
  t.same(did, []);
  t.equal(host.partitions.size, 1);
  partition.shard.begin({ isolation: "snapshot" }).rollback();
  t.equal(await letGo(NUMBER + 1, host), false, "nor is one let go that is not there");
  await partition.close();
});
