/** Views of a cluster in etcd: each reads what has changed, and is the same as one that reads all. */
import t from "tap";
import { ClusterMap } from "../../src/cluster/cluster-map.js";
import { EtcdLogService } from "../../src/cluster/etcd-log-service.js";
import { SeededRandom } from "../simulation/seeded-random.js";
import { EtcdMember, NO_ETCD } from "./etcd.js";

t.test("views follow changes and deletions", { skip: NO_ETCD }, async (t) => {
  const etcd = await EtcdMember.start();
  t.teardown(() => etcd.end());
  const endpoints = [etcd.endpoint];
  const service = new EtcdLogService({ endpoints, installation: "test" });
  const map = new ClusterMap(endpoints, "test");
  t.teardown(() => Promise.all([service.close(), map.close()]));
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

function plain({ owners, members, wants, draining, durable }: Awaited<ReturnType<ClusterMap["view"]>>): unknown {
  const sorted = (map: ReadonlyMap<unknown, unknown>): unknown => [...map].map((entry) => JSON.stringify(entry)).sort();
  const copies = [...durable]
    .filter(([, nodes]) => nodes.size > 0)
    .map(([partition, nodes]) => [partition, sorted(nodes)] as const);
  return {
    ...{ owners: sorted(owners), members: sorted(members), wants: sorted(wants) },
    ...{ draining: [...draining].sort(), durable: sorted(new Map(copies)) },
  };
}
