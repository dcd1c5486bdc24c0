/** Real nodes, one of which has an actor that has crashed and takes long to start, while partitions need owners. */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { ClusterProcesses, type NodeProcess } from "../torture/cluster/cluster-processes.js";
import { NO_ETCD } from "./etcd.js";

const WAIT_MS = 60_000;
const TABLE = ["CREATE TABLE item (id integer PRIMARY KEY)"];

t.test("nothing stays with a node, or goes to it, while its actor is down", { skip: NO_ETCD }, async (t) => {
  const cluster = await ClusterProcesses.start(3, { before: TABLE, etcdMembers: 1 });
  t.teardown(() => cluster.close());
  const [n1, n2, n3] = cluster.nodes as [NodeProcess, NodeProcess, NodeProcess];
  const owners = async (): Promise<readonly (string | null)[]> => (await cluster.copies()).map(({ owner }) => owner);
  const until = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
    for (const began = Date.now(); !(await isSo()); await sleep(100))
      if (Date.now() - began > WAIT_MS) throw new Error(`never: ${what}; owners ${await owners()}\n${cluster.log(n3)}`);
  };
  const { partition } = await cluster.busiestPartition();
  await cluster.handOver(partition, "n1");
  await cluster.handOver((partition + 1) % 4, "n2");
  await until("n1 and n2 own what is wished", async () => {
    const all = await owners();
    return all[partition] === "n1" && all[(partition + 1) % 4] === "n2";
  });
  await until("all have all", async () =>
    (await cluster.copies()).every(({ durable }) => new Set(durable.values()).size <= 1 && durable.size === 3),
  );

  await cluster.crashActor(n2);
  await until("others have what n2 had", async () => !(await owners()).includes("n2"));
  t.match(cluster.log(n2), /the actor ended and is started again/);
  await cluster.handOver(partition, "n2");
  await cluster.end(n1, "SIGTERM");
  await until("n3 has all", async () => (await owners()).every((owner) => owner === "n3"));
  const added = await cluster.execute(n3, "INSERT INTO item VALUES (1)", []);
  t.equal(added.status, 200, "it serves");
  t.notOk((await owners()).includes("n2"));

  cluster.letActorStart(n2);
  await until("n2 has what is wished for", async () => (await owners())[partition] === "n2");
  const { data } = await cluster.execute(n3, "SELECT id FROM item", []);
  t.same(data.rows, [[1]]);
});
