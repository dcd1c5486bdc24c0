/**
 * Nodes are killed, and told to end, while they write or restore their part of a backup of the installation, on real
 * nodes and with real etcd.
 */
import t from "tap";
import { ClusterProcesses, type NodeProcess } from "../torture/cluster/cluster-processes.js";
import { NO_ETCD } from "./etcd.js";
import {
  backupFolders,
  call,
  ended,
  expect,
  fillLarge,
  fillTenant,
  give,
  inFolder,
  LARGE_ROWS,
  partitionOf,
  rows,
  signIn,
  until,
  wholeBackup,
} from "./installation.js";

t.setTimeout(600_000);
const DIRECTORY = 0;
const DONE = { status: "completed", tenants_done: 3, error: null };

t.test("a backup of the installation whose nodes end meanwhile", { skip: NO_ETCD }, async (t) => {
  const shared = backupFolders((work) => t.teardown(work))("cluster");
  const cluster = await ClusterProcesses.start(3, { etcdMembers: 1 });
  t.teardown(() => cluster.close());
  const said = () => cluster.logEnds();
  const [n1, n2, n3] = cluster.nodes as [NodeProcess, NodeProcess, NodeProcess];
  const admin = await signIn(n1);
  await fillTenant(n1, admin, "ant");
  const cat = await fillTenant(n1, admin, "cat");
  await fillLarge(n1, cat);
  const partition = await partitionOf(n1, admin, "cat");
  t.not(partition, DIRECTORY);
  const begun = async (asked: NodeProcess): Promise<string> => {
    const { id } = await expect(asked, admin, "POST", "/admin/backups", {});
    await until("half written", () => inFolder(shared).isHalfWritten("cat"), said);
    return id;
  };
  await give(cluster, DIRECTORY, n1);
  await give(cluster, partition, n2);

  // The owner is killed while it writes: the next one makes the part.
  const killed = await begun(n3);
  await cluster.end(n2, "SIGKILL");
  t.match(await ended(n3, admin, `/admin/backups/${killed}`), DONE);
  t.match(await expect(n3, admin, "POST", `/admin/backups/${killed}/verify`, {}), { files: 4 });
  cluster.run(n2);

  // It is killed while it restores: the next one restores the tenant.
  await give(cluster, partition, n3);
  const path = `/admin/backups/${killed}/restore`;
  await rows(n1, cat, "DELETE FROM large WHERE id > 5");
  await expect(n1, admin, "POST", path, { tenants: ["cat"], replace: true });
  const isRestoring = async () => (await expect(n1, admin, "GET", path)).entries > 0;
  await until("the restore has begun", isRestoring, said);
  await cluster.end(n3, "SIGKILL");
  const restored = await ended(n1, admin, path);
  t.match(restored, { state: "completed", tenants: [{ tenant: "cat", verified: true }], error: null });
  t.same(await rows(n1, cat, "SELECT count(*), max(id) FROM large"), [[LARGE_ROWS, LARGE_ROWS]]);
  cluster.run(n3);

  // It is told to end, and does not wait for the backup.
  await give(cluster, partition, n2);
  const shutDown = await begun(n1);
  await cluster.end(n2, "SIGTERM");
  t.match(await ended(n1, admin, `/admin/backups/${shutDown}`), DONE);
  cluster.run(n2);

  // The node that conducts is killed: the backup has failed.
  await give(cluster, partition, n3);
  await give(cluster, DIRECTORY, n1);
  const lost = await begun(n3);
  await cluster.end(n1, "SIGKILL");
  const answers = async () => (await call(n3, admin, "GET", "/admin/backups")).status === 200;
  await until("the directory answers", answers, said);
  const cut = await expect(n3, admin, "GET", `/admin/backups/${lost}`);
  t.match(cut, { status: "failed", error: { code: "cancelled", message: /stopped before/ } });
  t.equal((await call(n3, admin, "POST", `/admin/backups/${lost}/restore`, {})).status, 404, "it is no backup");
  const after = await wholeBackup(n3, n3, admin, { incremental: true });
  t.match(after, DONE);
  const whole = [killed, shutDown, after.id].sort();
  t.same(inFolder(shared).sets, whole, "what was cut short is gone");
  t.equal(inFolder(shared).parts.length, 3 * whole.length, "with its parts");
  for (const id of whole) t.match(await expect(n3, admin, "POST", `/admin/backups/${id}/verify`, {}), { files: /\d/ });
});
