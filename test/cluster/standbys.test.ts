/** Copies that some nodes keep, with real etcd: actors of four nodes, two copies of each partition. */
import { existsSync } from "node:fs";
import { cp } from "node:fs/promises";
import { dirname, join } from "node:path";
import t from "tap";
import { ClusterMap } from "../../src/cluster/cluster-map.js";
import { EtcdLogService } from "../../src/cluster/etcd-log-service.js";
import { EtcdMember, NO_ETCD } from "./etcd.js";
import { World } from "./tenures-world.js";

t.setTimeout(120_000);

const TIMES = { reportMs: 200, steadyMs: 300, dropAfterMs: 300, replaceAfterMs: 1000 };

t.test("two nodes keep a partition, and others come in their place", { skip: NO_ETCD }, async (t) => {
  const etcd = await EtcdMember.start();
  t.teardown(() => etcd.end());
  const endpoints = [etcd.endpoint];
  const service = new EtcdLogService({ endpoints, installation: "test" });
  const map = new ClusterMap(endpoints, "test");
  t.teardown(() => Promise.all([service.close(), map.close()]));
  const world = new World(t.testdir(), { service, map, times: TIMES });
  world.given = async (to, partition, folder) => {
    const from = world.nodes.find((node) => node.owned.has(partition))!;
    await cp(join(from.directory(partition), "log"), join(dirname(folder), "log"), { recursive: true });
    to.told.push(`given ${partition}`);
    return 1;
  };
  const nodes = await Promise.all(["a", "b", "c", "d"].map((name) => world.node(t, name)));
  const setOf = async (partition: number): Promise<readonly string[]> =>
    (await service.copySet(partition))?.nodes ?? [];
  const holders = (partition: number): string[] =>
    nodes.filter((node) => existsSync(join(node.directory(partition), "log"))).map(({ name }) => name);
  const ownerOf = (partition: number) => nodes.find((node) => node.isAlive && node.owned.has(partition));
  const firstInEtcd = async (partition: number): Promise<number> =>
    (await service.tail(partition, { sequence: 0, part: 0 }, 1))[0]?.position.sequence ?? 0;
  let last = 0;
  const write = async (commits: number): Promise<void> => {
    for (let i = 0; i < commits; i++) await ownerOf(0)!.write(0, ++last);
  };

  await world.until("both are owned", () => [0, 1].every((partition) => ownerOf(partition) !== undefined));
  await write(10);
  await world.untilAsync("two nodes keep each partition, and others have deleted theirs", async () => {
    const sets = await Promise.all([0, 1].map(setOf));
    return sets.every((set) => set.length === 2) && String(holders(0)) === String(sets[0]);
  });
  const reports = await service.reports(0);
  t.same([...reports.keys()].sort(), await setOf(0), "and nobody else reports");
  await world.untilAsync("etcd forgets what both have", async () => (await firstInEtcd(0)) === last);

  const before = await setOf(0);
  const outsider = nodes.find(({ name }) => !before.includes(name))!;
  await map.want(0, outsider.name);
  await world.until("it goes to a node that had no copy", () => outsider.owned.has(0));
  t.equal(outsider.owned.get(0)!.lastSequence, last, "with all commits");
  t.ok(outsider.told.includes("given 0"), "which was given the owner's state");
  await write(5);
  await world.untilAsync("two nodes keep it again", async () => (await setOf(0)).length === 2);
  await world.untilAsync("etcd forgets again", async () => (await firstInEtcd(0)) === last);
  await world.untilAsync("both have told that they have all", async () =>
    [...(await service.reports(0)).values()].every((durable) => durable === last),
  );

  const [standby] = (await setOf(0)).filter((name) => name !== outsider.name);
  const silent = nodes.find(({ name }) => name === standby)!;
  silent.isAlive = false;
  await silent.tenures.stop();
  await write(3);
  await world.moments(15);
  t.equal(await firstInEtcd(0), last - 2, "etcd keeps what only one node has on disk");
  t.same(await setOf(0), [outsider.name, standby].sort(), "the other node may be back soon");
  world.monotonicMs += 5000;
  for (const node of nodes) if (node.isAlive) await node.renew();
  await world.untilAsync("another node keeps it instead", async () => !(await setOf(0)).includes(standby!));
  await world.untilAsync("etcd forgets what two nodes have", async () => (await firstInEtcd(0)) === last);

  const [heir] = (await setOf(0)).filter((name) => name !== outsider.name);
  outsider.isAlive = false;
  await outsider.tenures.stop();
  await world.moments(10);
  world.monotonicMs += 5000;
  await world.until("the node that keeps a copy takes over", () => ownerOf(0)?.name === heir);
  t.equal(ownerOf(0)!.owned.get(0)!.lastSequence, last, "with all commits");
  t.same(
    nodes.flatMap(({ problems }) => problems),
    [],
  );
});
