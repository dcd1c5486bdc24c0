/**
 * Real nodes that lack what etcd does not have: one that joins an installation with data, and one that has lost its
 * disk.
 */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { ClusterProcesses, type NodeProcess } from "../torture/cluster/cluster-processes.js";
import { NO_ETCD } from "./etcd.js";
import { readsStale } from "./reads-stale.js";

const WAIT_MS = 90_000;
const ROWS = 3000;
const BEFORE = [
  "CREATE TABLE item (id integer PRIMARY KEY, note text)",
  `INSERT INTO item SELECT g, 'note ' || g FROM generate_series(1, ${ROWS}) AS g`,
  "CREATE INDEX item_note ON item (note)",
];

t.test("nodes with an empty data directory are given what the log does not have", { skip: NO_ETCD }, async (t) => {
  const cluster = await ClusterProcesses.start(2, { before: BEFORE, etcdMembers: 1 });
  t.teardown(() => cluster.close());
  const until = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
    for (const began = Date.now(); !(await isSo()); await sleep(200)) {
      if (Date.now() - began < WAIT_MS) continue;
      throw new Error(`never: ${what}\n${JSON.stringify(await cluster.copies())}\n${logs()}`);
    }
  };
  const logs = (): string => cluster.nodes.map((node) => `${node.name}:\n${cluster.log(node).slice(-3000)}`).join("\n");
  const hasAll = async (name: string): Promise<boolean> =>
    (await cluster.copies()).every(
      ({ durable }) => (durable.get(name) ?? -1) >= Math.max(...[...durable.values()].filter((each) => each > 0), 0),
    );
  const count = async (node: NodeProcess): Promise<unknown> => {
    const { data } = await cluster.execute(node, "SELECT count(*), max(note) FROM item", []);
    return data?.rows[0];
  };
  const [n1, n2] = cluster.nodes as [NodeProcess, NodeProcess];
  const { partition } = await cluster.busiestPartition();

  await until("n2 has what n1 had before", () => hasAll("n2"));
  t.match(cluster.log(n2), /the partition was copied/);
  await t.test("n2 answers what may be stale from its copy", (t) => readsStale(t, cluster, n1, n2));
  const all = await count(n1);
  await cluster.handOver(partition, "n2");
  await until("n2 owns the table", async () => (await cluster.ownerOf(partition)) === "n2");
  t.same(await count(n1), all, "through n1, from n2");
  const added = await cluster.execute(n1, `INSERT INTO item (id, note) VALUES (1000000, 'after')`, []);
  t.equal(added.status, 200);

  await cluster.end(n2, "SIGKILL");
  cluster.loseData(n2);
  cluster.run(n2);
  await until("n1 owns what n2 has lost", async () => (await cluster.ownerOf(partition)) === "n1");
  await until("n2 has all again", () => hasAll("n2"));
  await until("n2 owns the table again", async () => (await cluster.ownerOf(partition)) === "n2");
  t.same(await count(n1), [Number((all as number[])[0]) + 1, "note 999"], "nothing is lost");
  const found = await cluster.execute(n2, "SELECT id FROM item WHERE note = 'after'", []);
  const metricsOf = async (node: NodeProcess): Promise<string> =>
    (await fetch(`http://127.0.0.1:${node.port}/metrics`)).text();
  const epoch = new RegExp(`^tessera_cluster_epoch\\{partition="${partition}"\\} \\d+$`, "m");
  await until("n2 tells the epoch", async () => epoch.test(await metricsOf(n2)));
  const metrics = await metricsOf(n2);
  t.match(metrics, /^tessera_cluster_takeovers_total\{actor="0"\} [1-9]/m);
  t.match(metrics, /^tessera_cluster_copy_lag_commits\{partition="\d"\} \d+$/m);
  t.same(found.data?.rows, [[1_000_000]], "the index has it, too");
});
