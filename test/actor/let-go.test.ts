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
async function actor(running: Set<Request>, isTied = false, log = new MemoryCommitLog()) {
  const durable = (sequence: number): void => partition.onDisk(sequence);
  const shard = await Shard.open({ engine: new MemoryEngine(), log, onDurable: durable });
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
      leaving: async () => void did.push("jobs end"),
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
  t.same(did, ["jobs end", "takes nothing for 3", "tells the gateway of 3"]);
  await sleep(20);
  t.equal(host.partitions.size, 1, "it waits for the gateway");
  host.gatewayKnows.get(NUMBER)!();
  t.equal(await gone, true);
  const after = ["ended: partition_unavailable", "features leave", "answers of 7 go", "left"];
  t.same(did.slice(3), after, "the audit trail is there as long as requests");
  t.equal(host.partitions.size, 0);
  t.throws(() => partition.shard.begin({ isolation: "snapshot" }), { code: "shutting_down" }, "the shard is closed");
});

t.test("a partition where something is under way stays as it is", async (t) => {
  const { host, did, partition } = await actor(new Set(), true);
  t.equal(await letGo(NUMBER, host), false);
  t.same(did, []);
  t.equal(host.partitions.size, 1);
  partition.shard.begin({ isolation: "snapshot" }).rollback();
  await partition.close();
});

t.test("one that is not open, as it is damaged, is let go as soon as the gateway knows", async (t) => {
  const { host, did, partition } = await actor(new Set());
  const gone = letGo(NUMBER + 1, host);
  t.same(did, ["tells the gateway of 4"]);
  host.gatewayKnows.get(NUMBER + 1)!();
  t.equal(await gone, true);
  t.equal(host.partitions.size, 1, "the other stays");
  await partition.close();
});

/** Its disk is slow: a sync ends when `release` is called. */
class SlowLog extends MemoryCommitLog {
  private readonly waiting: (() => void)[] = [];
  isSlow = false;

  override async sync(): Promise<void> {
    if (this.isSlow) await new Promise<void>((resolve) => this.waiting.push(resolve));
    await super.sync();
  }

  release(): void {
    this.isSlow = false;
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

t.test("a commit for which no reply waits is on disk before the partition is closed", async (t) => {
  const log = new SlowLog();
  const { host, partition } = await actor(new Set(), false, log);
  const { shard } = partition;
  log.isSlow = true;
  const tx = shard.begin();
  tx.put(Buffer.from("key"), Buffer.from("value"));
  tx.commit();
  shard.flush();
  const gone = letGo(NUMBER, host);
  while (!host.gatewayKnows.has(NUMBER)) await sleep(1);
  host.gatewayKnows.get(NUMBER)!();
  await sleep(300);
  t.equal(host.partitions.size, 1, "it waits for the disk");
  const durable = partition.durable();
  log.release();
  t.equal(await gone, true);
  await durable;
  t.equal(shard.durableSequence, shard.committedSequence);
});

t.test("what does not end in time keeps the partition from being let go, and the thread must end", async (t) => {
  const running = new Set<Request>();
  const { host, did, partition } = await actor(running);
  const gone = letGo(NUMBER, host, 20);
  while (!host.gatewayKnows.has(NUMBER)) await sleep(1);
  running.add({ end: () => did.push("told to end") } as unknown as Request);
  host.gatewayKnows.get(NUMBER)!();
  await t.rejects(gone, { code: "partition_unavailable" });
  t.equal(did.at(-1), "told to end");
  await partition.close();

  const other = await actor(new Set());
  const features = { ...other.host.features, leaving: () => new Promise<void>(() => undefined) };
  const stuck = letGo(NUMBER, { ...other.host, features }, 20);
  while (!other.host.gatewayKnows.has(NUMBER)) await sleep(1);
  other.host.gatewayKnows.get(NUMBER)!();
  await t.rejects(stuck, { code: "partition_unavailable" }, "nor a job");
  await other.partition.close();
});

t.test("tenants that were moved away keep the answers that another partition of the actor has", async (t) => {
  const { host, did, partition } = await actor(new Set());
  partition.tenant(TENANT + 1);
  partition.places.set(TENANT, { kind: "gone", to: 9, clean: true });
  partition.shard.flush();
  const gone = letGo(NUMBER, host);
  while (!host.gatewayKnows.has(NUMBER)) await sleep(1);
  host.gatewayKnows.get(NUMBER)!();
  t.equal(await gone, true);
  t.same(did.slice(-2), ["answers of 8 go", "left"]);
  t.notOk(did.includes("answers of 7 go"));
});
