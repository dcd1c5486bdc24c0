/**
 * A whole actor that lets go of one of its partitions: what follows it ends, orders are refused, and its last commits
 * reach the disk.
 */
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { Actor } from "../../src/actor/actor.js";
import type { ActorTenures, TenuresHost } from "../../src/actor/actor-tenures.js";
import type { Partition } from "../../src/actor/partition.js";
import type { Request } from "../../src/actor/request.js";
import { loadConfig } from "../../src/config/load-config.js";
import { actorFeatures } from "../../src/features/actor-features.js";
import type { FollowingRequest, LiveOutput, Way } from "../../src/features/feed/contract.js";
import { FEED } from "../../src/features/feed/feed.js";
import { JOBS } from "../../src/features/jobs/jobs.js";
import type { WireSession } from "../../src/features/postgres/wire-session.js";
import { WireSessions } from "../../src/features/postgres/wire-sessions.js";
import type { BackupOrder } from "../../src/protocol/backup-orders.js";
import type { FromActor } from "../../src/protocol/messages.js";
import { memoryHost } from "./memory-host.js";

const NUMBER = 1;
const TENANT = 7;

/** Has opened partition 1; the gateway answers at once. */
async function start(t: Test) {
  const said: FromActor[] = [];
  let host: TenuresHost | null = null;
  let partitions: ReadonlyMap<number, Partition> = new Map();
  const tenures: ActorTenures = {
    begin: (made) => {
      host = made;
    },
    replicate: async (_partition, local) => local,
    confirm: (_partition, send) => send(),
    stop: async () => undefined,
    freshCopy: async () => null,
    metrics: () => ({ leaseLeftSeconds: 1, takeovers: 0, logServiceBytes: 0, owned: [], copies: [] }),
    release: async () => undefined,
  };
  const settings = {
    ...{ actor: 0, partitions: [NUMBER], partitionCount: 4, dataDirectory: t.testdir(), installation: "one" },
    ...{ config: loadConfig({ env: {} }), secret: new Uint8Array(32), claimBundles: [], adminPassword: null },
  };
  const actor: Actor = await Actor.open(
    settings,
    {
      frames: () => undefined,
      control: (message) => {
        said.push(message);
        if (message.kind === "partition-leaving")
          setImmediate(() => actor.receive({ kind: "partition-left", partition: message.partition }));
      },
      ...memoryHost(t),
      tenures,
    },
    (made) => {
      partitions = made.partitions;
      return actorFeatures(made);
    },
  );
  await host!.open(NUMBER);
  t.teardown(() => actor.receive({ kind: "close" }));
  return { actor, said, host: host as unknown as TenuresHost, partition: partitions.get(NUMBER)!, partitions };
}

t.test("commits that are made while the partition is closed reach the disk", async (t) => {
  const { host, partition, partitions } = await start(t);
  const closed = partition.derived.close.bind(partition.derived);
  partition.derived.close = async () => {
    t.equal(partitions.size, 0, "the actor has it no more");
    const tx = partition.shard.begin();
    tx.put(Buffer.from("key"), Buffer.from("value"));
    tx.commit();
    partition.wroteSomething(TENANT);
    await partition.durable();
    await closed();
  };
  t.equal(await host.close(NUMBER), true);
  t.equal(partition.shard.durableSequence, partition.shard.committedSequence);
});

t.test("a partition stays while a backup is written there", async (t) => {
  const { actor, said, host, partitions } = await start(t);
  const order: BackupOrder = {
    ...({ do: "create", store: "whole", base: "none" } as const),
    ...{ ask: "a1", tenant: TENANT, tenantId: "acme", passphrase: null, schedule: null, verifies: false },
  };
  actor.receive({ kind: "backup", partition: NUMBER, order });
  t.equal(await host.close(NUMBER), false);
  t.equal(partitions.size, 1, "it is served");
  const states = () => said.flatMap((message) => (message.kind === "backup-report" ? [message.report.state] : []));
  while (!states().some((state) => state === "completed" || state === "failed")) await sleep(1);
  t.equal(states().at(-1), "completed");
  t.equal(await host.close(NUMBER), true, "then it goes");
});

t.test("orders for a partition that is handed over are refused", async (t) => {
  const { actor, said, host, partition, partitions } = await start(t);
  const closed = partition.close.bind(partition);
  const order = { tenant: TENANT, restore: "r1" };
  const orders = (): void => {
    actor.receive({ kind: "restore", partition: NUMBER, order } as never);
    actor.receive({ kind: "backup", partition: NUMBER, order: { do: "create", ask: "a1" } } as never);
    const message = { do: "receive", tenant: TENANT, move: "m1", from: 0 } as const;
    actor.receive({ kind: "placement", partition: NUMBER, message });
  };
  partition.close = async () => {
    orders();
    await closed();
  };
  t.equal(await host.close(NUMBER), true);
  orders();
  const reports = said.filter(({ kind }) => kind.endsWith("-report"));
  const refused = [
    { kind: "restore-report", report: { restore: "r1", state: "failed", error: { code: "partition_unavailable" } } },
    { kind: "backup-report", report: { ask: "a1", state: "failed", error: { code: "partition_unavailable" } } },
    { kind: "move-report", report: { move: "m1", did: "failed" } },
  ];
  t.match(reports, [...refused, ...refused]);
  await host.open(NUMBER);
  const message = { do: "receive", tenant: TENANT, move: "m2", from: 0 } as const;
  actor.receive({ kind: "placement", partition: NUMBER, message });
  while (partitions.get(NUMBER)!.places.get(TENANT)?.kind !== "incoming") await sleep(1);
});

/** Keeps what live replies end with. */
function outputOf(ended: { id: number; status: number; text: string }[]): LiveOutput {
  return {
    newChannel: () => 1,
    ...{ began: () => undefined, joined: () => undefined, publish: () => undefined, listen: () => undefined },
    ended: (id, status, message) => void ended.push({ id, status, text: Buffer.from(message).toString() }),
    failed: (error) => t.fail(String(error)),
    turnsOf: () => {
      throw new Error("nobody needs turns");
    },
  };
}

const form = {
  name: "plain",
  contentType: "text/plain",
  shared: () => new Uint8Array(1),
  whole: () => new Uint8Array(1),
};
const way = {
  ...{ form, id: "1" },
  errorMessage: (error: Error) => Buffer.from(error.message),
  errorText: (text: string) => text,
} as unknown as Way;

/** Its reply takes messages when `takes` resolves. */
function follower(partition: Partition, id: number, takes: Promise<void> = Promise.resolve()): FollowingRequest {
  const sink = { write: () => takes, end: () => undefined };
  return {
    ...{ id, tenant: partition.tenant(TENANT), head: { tenantId: "t", username: "u", roles: [] }, deadlineMs: 0 },
    openReply: async () => sink as never,
    ...{
      audited: () => {
        throw new Error("nothing is audited");
      },
      checkpoint: () => undefined,
      shouldYield: () => false,
      yieldTurn: async () => undefined,
    },
  };
}

t.test("followers of a job end; one that is on its way is refused", async (t) => {
  const { host, partition } = await start(t);
  const { progress } = partition.part(JOBS);
  const ended: { id: number; status: number; text: string }[] = [];
  progress.output = outputOf(ended);
  const read = async () => ({ message: { type: "progress" }, isOver: false });
  await progress.follow(follower(partition, 1), "job/1", way, read);
  let take = (): void => undefined;
  const slow = new Promise<void>((resolve) => {
    take = resolve;
  });
  const late = progress.follow(follower(partition, 2, slow), "job/1", way, read);
  t.equal(await host.close(NUMBER), true);
  t.match(ended, [{ id: 1, text: /another owner/ }]);
  take();
  await t.rejects(late, { code: "subscription_interrupted" });
});

t.test("a subscription that becomes live while the partition is handed over is refused", async (t) => {
  const { host, partition } = await start(t);
  const { subscriptions } = partition.part(FEED);
  const ended: { id: number; status: number; text: string }[] = [];
  subscriptions.output = outputOf(ended);
  let joined = 0;
  const join = () => {
    joined++;
    return () => void joined--;
  };
  await subscriptions.followMessages(follower(partition, 1), {}, way, join);
  let take = (): void => undefined;
  const slow = new Promise<void>((resolve) => {
    take = resolve;
  });
  const late = subscriptions.followMessages(follower(partition, 2, slow), {}, way, join);
  t.equal(await host.close(NUMBER), true);
  t.match(ended, [{ id: 1, text: /another owner/ }]);
  take();
  await t.rejects(late, { code: "subscription_interrupted" });
  t.equal(joined, 0);
  t.equal(subscriptions.size, 0);
});

t.test("PostgreSQL's clients hear that their session is lost, once", async (t) => {
  const { partition } = await start(t);
  class Sessions extends WireSessions {
    override get(): WireSession {
      return { takePushes: () => undefined } as unknown as WireSession;
    }
  }
  const sessions = new Sessions(partition);
  const ended: { id: number; status: number; text: string }[] = [];
  sessions.listen({ id: 5, requestId: "r5" } as Request, 1, outputOf(ended));
  sessions.partitionLeft();
  sessions.partitionLeft();
  t.match(ended, [{ id: 5, status: 503 }]);
  t.match(JSON.parse(ended[0]!.text), { error: { code: "partition_unavailable", message: /Connect again/ } });
});
