/** Views of a cluster in etcd: each reads what has changed, and is the same as one that reads all. */
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { ClusterMap } from "../../src/cluster/cluster-map.js";
import { EtcdClient } from "../../src/cluster/etcd-client.js";
import { EtcdLogService } from "../../src/cluster/etcd-log-service.js";
import { SeededRandom } from "../simulation/seeded-random.js";
import { EtcdMember, NO_ETCD } from "./etcd.js";

/** A view of a new member of etcd, and what writes there. */
async function mapOf(t: Test): Promise<{ endpoints: string[]; service: EtcdLogService; map: ClusterMap }> {
  const etcd = await EtcdMember.start();
  t.teardown(() => etcd.end());
  const endpoints = [etcd.endpoint];
  const service = new EtcdLogService({ endpoints, installation: "test" });
  const map = new ClusterMap(endpoints, "test");
  t.teardown(() => Promise.all([service.close(), map.close()]));
  return { endpoints, service, map };
}

t.test("views follow changes and deletions", { skip: NO_ETCD }, async (t) => {
  const { endpoints, service, map } = await mapOf(t);
  const whole = async (): Promise<unknown> => {
    const fresh = new ClusterMap(endpoints, "test");
    const view = await fresh.view();
    fresh.close();
    return plain(view);
  };
  const random = new SeededRandom(7);
  const revisions = new Map<string, number>();
  // More than a page.
  const many = new Map(Array.from({ length: 900 }, (_, partition) => [partition, partition]));
  await service.report("n0", many);
  for (let step = 0; step < 60; step++) {
    const [node, partition] = [`n${random.between(0, 3)}`, random.between(0, 12)];
    const kind = random.between(0, 5);
    if (kind === 0) await map.want(partition, random.chance(0.5) ? node : null);
    else if (kind === 1) await map.drain(node, random.chance(0.5));
    else if (kind === 2) await service.report(node, new Map([[partition, step]]));
    else if (kind === 3) {
      const owner = await service.owner(partition);
      await service.claim({ partition, node, tenure: String(step), epoch: owner?.epoch ?? 0 });
    } else if (kind === 4) {
      const state = { incarnation: "i", counter: step, isFenced: false, actors: "01" };
      const revision = await service.renew(node, revisions.get(node) ?? 0, state);
      if (revision !== null) revisions.set(node, revision);
    } else if (revisions.has(node) && node !== "n0") {
      const { durable } = await map.view();
      const of = [...durable].flatMap(([number, nodes]) => (nodes.has(node) ? [[number, 0] as const] : []));
      t.ok(await map.remove(node, revisions.get(node)!, new Map(of)));
      revisions.delete(node);
    }
    if (random.chance(0.6)) t.same(plain(await map.view()), await whole(), `step ${step}`);
  }
  const before = plain(await map.view());
  await service.report("n0", new Map([[3, 99_999]]));
  t.same(plain(await map.view(60_000)), before, "what nodes have is read again when it is too old");
  t.same(plain(await map.view()), await whole());
});

t.test("a view is one question where little has changed", { skip: NO_ETCD }, async (t) => {
  const { service, map } = await mapOf(t);
  const report = (node: string, count: number, sequence: number) =>
    service.report(node, new Map(Array.from({ length: count }, (_, partition) => [partition, sequence])));
  const durable = async () => (await map.view()).durable;
  await report("n1", 700, 1);
  t.equal((await durable()).get(699)!.get("n1"), 1);
  await map.view();
  const { range, txn } = EtcdClient.prototype;
  const ranges = t.capture(EtcdClient.prototype, "range", range);
  const transactions = t.capture(EtcdClient.prototype, "txn", txn);
  await report("n1", 10, 2);
  transactions();
  const seen = await durable();
  t.same([seen.get(9)!.get("n1"), seen.get(10)!.get("n1")], [2, 1]);
  t.same([transactions().length, ranges().length], [1, 0]);
  await report("n1", 700, 3);
  t.same([...new Set([...(await durable()).values()].map((nodes) => nodes.get("n1")))], [3], "more than a page");
  await report("n2", 1, 4);
  await service.renew("n1", 0, { incarnation: "i", counter: 1, isFenced: false });
  const { members } = await map.view();
  const all = new Map(Array.from({ length: 700 }, (_, partition) => [partition, 3]));
  t.ok(await map.remove("n1", members.get("n1")!.revision, all));
  const left = [...(await durable())].map(([partition, nodes]) => [partition, ...nodes]);
  t.same(left, [[0, ["n2", 4]]], "a node that was removed has nothing");
});

t.test("changes of owners and wishes are told, renewals and reports are not", { skip: NO_ETCD }, async (t) => {
  const members = await EtcdMember.startMany(3);
  const endpoints = members.map(({ endpoint }) => endpoint);
  const service = new EtcdLogService({ endpoints, installation: "test" });
  const map = new ClusterMap(endpoints, "test");
  const writer = new ClusterMap(endpoints, "test");
  t.teardown(async () => {
    await service.close();
    writer.close();
    map.close();
    await Promise.all(members.map((member) => member.end()));
  });
  let told = 0;
  const changes = map.changes(() => told++);
  t.equal(changes.isLive, false, "nothing is known yet");
  await until(() => changes.isLive);
  const tells = async (work: () => Promise<unknown>): Promise<void> => {
    const before = told;
    await work();
    await until(() => told > before);
  };
  const claim = { partition: 1, node: "n1", tenure: "1", epoch: 0 };
  await tells(() => service.claim(claim));
  await tells(() => writer.want(1, "n2"));
  await tells(() => writer.want(1, null));
  await tells(() => writer.drain("n1", true));
  await tells(() => writer.leave("n1", true));
  // Neither a renewal nor a report is told: what comes next is that of the wish.
  const beforeRenewal = told;
  await service.renew("n1", 0, { incarnation: "i", counter: 1, isFenced: false });
  await service.report("n1", new Map([[1, 5]]));
  await tells(() => writer.want(1, "n2"));
  t.equal(told, beforeRenewal + 1, "a renewal and a report are not told");
  await members[0]!.pause();
  await t.rejects(map.view(), { code: "log_unavailable" });
  await until(() => !changes.isLive);
  await until(() => changes.isLive);
  t.pass("another member is heard");
  await map.view();
  const before = told;
  members[0]!.goOn();
  await writer.want(2, "n1").catch(() => writer.want(2, "n1"));
  await until(() => told > before);
  changes.close();
  await until(() => !changes.isLive);
});

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(10);
}

function plain({ owners, members, wants, draining, durable }: Awaited<ReturnType<ClusterMap["view"]>>): unknown {
  const sorted = (map: ReadonlyMap<unknown, unknown>): unknown => [...map].map((entry) => JSON.stringify(entry)).sort();
  const copies = [...durable]
    .filter(([, nodes]) => nodes.size > 0)
    .map(([partition, nodes]) => [partition, sorted(nodes)] as const);
  return {
    ...{ owners: sorted(owners), members: sorted(members), wants: sorted(wants) },
    ...{ draining: sorted(draining), durable: sorted(new Map(copies)) },
  };
}
