/**
 * Backups of an installation, restored into another one: of one machine into a cluster with more partitions, and back.
 * A node that has another folder of backups than the others is told so. Real nodes and real etcd.
 */
import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { ADMIN_PASSWORD, TestServer } from "../e2e/server.js";
import { ClusterProcesses, type NodeProcess } from "../torture/cluster/cluster-processes.js";
import { NO_ETCD } from "./etcd.js";
import {
  backupFolders,
  COUNT,
  call,
  type Door,
  ended,
  expect,
  fillBranch,
  fillTenant,
  give,
  inFolder,
  partitionOf,
  ROWS,
  rows,
  signIn,
  until,
  wholeBackup,
} from "./installation.js";

t.setTimeout(600_000);
const TENANTS = ["ant", "bee", "cat"];
const DIRECTORY = 0;
const DONE = { state: "completed", tenants_done: 4, error: null };

/** Restores all; the accounts are those of the first machine then. Answers the administrator's new token. */
async function restoreAll(door: Door, token: string, id: string): Promise<string> {
  await expect(door, token, "POST", `/admin/backups/${id}/restore`, {});
  const isOver = async () => (await call(door, token, "GET", `/admin/backups/${id}/restore`)).status === 401;
  await until("the accounts are the backup's", isOver, () => "");
  return signIn(door, "admin", ADMIN_PASSWORD);
}

/** One machine by itself. */
async function startMachine(
  t: { teardown(work: () => void): void },
  folder: string,
): Promise<{ readonly door: Door; readonly token: string }> {
  const server = await TestServer.start({ TESSERA_ACTORS: "1", TESSERA_BACKUP_DIRECTORY: folder });
  t.teardown(() => server.stop());
  const door = { port: Number(new URL(server.url).port) };
  return { door, token: server.token };
}

t.test("from one machine to a cluster and back", { skip: NO_ETCD }, async (t) => {
  const folderOf = backupFolders((work) => t.teardown(work));
  const copy = (from: string, to: string) =>
    cpSync(join(from, "_installation"), join(to, "_installation"), { recursive: true });

  const first = folderOf("first");
  const one = await startMachine(t, first);
  for (const id of TENANTS) await fillTenant(one.door, one.token, id);
  await fillBranch(one.door, await signIn(one.door, "ant-user"));
  const made = await wholeBackup(one.door, one.door, one.token, {});
  t.match(made, { status: "completed", tenants_total: 4, error: null });

  const shared = folderOf("cluster");
  copy(first, shared);
  const cluster = await ClusterProcesses.start(2, { etcdMembers: 1 });
  t.teardown(() => cluster.close());
  const [n1, n2] = cluster.nodes as [NodeProcess, NodeProcess];
  const there = await restoreAll(n2, await signIn(n1), made.id);
  t.match(await ended(n1, there, `/admin/backups/${made.id}/restore`), DONE);
  t.equal((await cluster.copies()).length, 4, "with more partitions than the machine had");
  const ant = await signIn(n1, "ant-user");
  for (const node of cluster.nodes) {
    t.same(await rows(node, await signIn(node, "bee-user"), COUNT), [[ROWS]]);
    t.same(await rows(node, ant, COUNT, "work"), [[10]], "with its branch");
  }
  await rows(n1, ant, "DELETE FROM item WHERE id > 7");
  const ofCluster = await wholeBackup(n1, n2, there, { incremental: true });
  t.match(ofCluster, { status: "completed", kind: "full", error: null }, "its logs continue no other installation's");

  const last = folderOf("last");
  copy(shared, last);
  const other = await startMachine(t, last);
  const back = await restoreAll(other.door, other.token, ofCluster.id);
  t.match(await ended(other.door, back, `/admin/backups/${ofCluster.id}/restore`), DONE);
  t.same(await rows(other.door, await signIn(other.door, "ant-user"), COUNT), [[7]]);

  // One of the nodes has another folder.
  await cluster.end(n2, "SIGTERM");
  const apart = folderOf("apart");
  cluster.run(n2);
  await give(cluster, DIRECTORY, n1);
  const partitions = await Promise.all(TENANTS.map((tenant) => partitionOf(n1, there, tenant)));
  const [partition, remote] = [...partitions.entries()]
    .map(([i, of]) => [of, TENANTS[i]!] as const)
    .find(([of]) => of > 0)!;
  await give(cluster, partition, n2);
  const token = await signIn(n1, `${remote}-user`);
  const had = await rows(n1, token, COUNT);
  const refused = { code: "folder_not_shared", message: /"n2".*Mount one folder/ };
  t.match(await call(n1, there, "POST", "/admin/backups", {}), { status: 409, error: refused });
  t.match(await call(n1, token, "POST", "/v1/backups", {}), { status: 409, error: refused });
  await expect(n1, there, "POST", `/admin/backups/${made.id}/restore`, { tenants: [remote], replace: true });
  t.match(await ended(n1, there, `/admin/backups/${made.id}/restore`), { state: "failed", error: refused });
  t.same(await rows(n2, token, COUNT), had, "the tenant is served as before");
  t.same(inFolder(shared).sets, [made.id, ofCluster.id].sort(), "nothing is left");
  t.notOk(existsSync(apart), "there neither");
});
