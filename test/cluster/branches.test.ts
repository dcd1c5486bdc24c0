/**
 * Branches on real nodes: forked, written, compared, merged and deleted through a node that does not own them, and by
 * the next owner after a kill. A long chain that one owner has made short, the next one reads as it is in its copy.
 */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { BRANCH_DEPTH_MAX } from "../../src/protocol/limits.js";
import { ClusterProcesses, type NodeProcess } from "../torture/cluster/cluster-processes.js";
import { NO_ETCD } from "./etcd.js";

const WAIT_MS = 90_000;
const ROWS = 2000;
const CHAIN = BRANCH_DEPTH_MAX + 4;
const BEFORE = [
  "CREATE TABLE item (id integer PRIMARY KEY, v integer)",
  `INSERT INTO item SELECT g, 0 FROM generate_series(1, ${ROWS}) AS g`,
  "CREATE INDEX item_v ON item (v)",
];

t.test("branches go on where their tenant goes", { skip: NO_ETCD }, async (t) => {
  const cluster = await ClusterProcesses.start(2, { before: BEFORE, etcdMembers: 1 });
  t.teardown(() => cluster.close());
  const until = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
    for (const began = Date.now(); !(await isSo()); await sleep(200))
      if (Date.now() - began > WAIT_MS)
        throw new Error(`never: ${what}\n${cluster.nodes.map((node) => cluster.log(node).slice(-3000)).join("\n")}`);
  };
  const ask = async (node: NodeProcess, method: string, path: string, body?: object, branch = "") => {
    const { status, data } = await cluster.send(node, method, path, body, branch);
    if (status >= 300) throw new Error(`${method} ${path} in "${branch}" answered ${status}`);
    return data as Record<string, unknown>;
  };
  const rows = async (node: NodeProcess, sql: string, branch?: string) =>
    (await ask(node, "POST", "/v1/query/execute", { sql }, branch)).rows as unknown[][];
  const fork = (node: NodeProcess, body: object) => ask(node, "POST", "/v1/branches", body);
  const hasAll = async (name: string): Promise<boolean> =>
    (await cluster.copies()).every(({ durable }) => (durable.get(name) ?? -1) >= Math.max(...durable.values()));
  const [n1, n2] = cluster.nodes as [NodeProcess, NodeProcess];
  await until("n2 has what n1 had before", () => hasAll("n2"));
  const { partition, owner } = await cluster.busiestPartition();
  const [first, other] = owner === "n1" ? [n1, n2] : [n2, n1];

  // All through the node that does not own them.
  await fork(other, { name: "work" });
  await rows(other, "UPDATE item SET v = 1 WHERE id <= 10", "work");
  await rows(other, "DELETE FROM item WHERE id = 11", "work");
  t.same(await rows(first, "SELECT count(*) FROM item WHERE v = 1", "work"), [[10]], "one branch, whoever is asked");
  t.same(await rows(other, "SELECT count(*), sum(v) FROM item"), [[ROWS, 0]], "the tenant is as it was");
  await fork(other, { name: "b1" });
  for (let depth = 1; depth <= CHAIN; depth++) {
    if (depth > 1) await fork(depth % 2 === 0 ? other : first, { name: `b${depth}`, from: `b${depth - 1}` });
    await rows(other, `UPDATE item SET v = ${depth} WHERE id = ${100 + depth}`, `b${depth}`);
  }
  const chainIsWhole = async (node: NodeProcess, when: string) => {
    for (const depth of [1, 5, BRANCH_DEPTH_MAX, CHAIN]) {
      const expected = Array.from({ length: depth }, (_, i) => [101 + i, i + 1]);
      const found = await rows(node, "SELECT id, v FROM item WHERE v > 0 ORDER BY id", `b${depth}`);
      t.same(found, expected, `${when}: b${depth}`);
    }
  };
  await chainIsWhole(other, "through the other");
  await until("the other has all", () => hasAll(other.name));

  await cluster.end(first, "SIGKILL");
  await until("the other owns it", async () => (await cluster.ownerOf(partition)) === other.name);
  await until("it answers", async () => (await cluster.send(other, "GET", "/v1/branches/work")).status === 200);
  t.same(await rows(other, "SELECT count(*) FROM item WHERE v = 1", "work"), [[10]], "after the takeover");
  t.same(await rows(other, "SELECT id FROM item WHERE id BETWEEN 10 AND 12 ORDER BY id", "work"), [[10], [12]]);
  await chainIsWhole(other, "after the takeover");
  const { tables } = await ask(other, "GET", "/v1/branches/work/diff");
  t.match(tables, [{ table: "item", added: 0, removed: 1, changed: 10 }]);
  await rows(other, "UPDATE item SET v = 2 WHERE id = 12", "work");

  cluster.run(first);
  await until("the first is back", async () => {
    try {
      return (await cluster.send(first, "GET", "/v1/branches/work")).status === 200;
    } catch {
      return false;
    }
  });
  const merged = await ask(first, "POST", "/v1/branches/work/merge", {});
  t.match(merged, { merged: true, conflicts_total: 0 }, "merged through the node that is back");
  t.same(await rows(other, "SELECT count(*), sum(v) FROM item"), [[ROWS - 1, 12]]);
  await until("the first has all", () => hasAll(first.name));
  await cluster.handOver(partition, first.name);
  await until("the first owns it", async () => (await cluster.ownerOf(partition)) === first.name);
  await chainIsWhole(other, "handed back");
  t.same(await rows(other, "SELECT v FROM item WHERE id = 12"), [[2]]);
  for (let depth = CHAIN; depth > 0; depth--) await ask(other, "DELETE", `/v1/branches/b${depth}`);
  await ask(other, "DELETE", "/v1/branches/work");
  t.same(await ask(first, "GET", "/v1/branches"), { branches: [], total: 0 }, "none is left");
});
