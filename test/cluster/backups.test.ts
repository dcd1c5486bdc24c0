/**
 * Backups of a whole installation whose partitions have several owners, on real nodes and with real etcd: asked at any
 * node, after an owner died between two of them, with moments and branches.
 */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { ClusterProcesses, type NodeProcess } from "../torture/cluster/cluster-processes.js";
import { NO_ETCD } from "./etcd.js";
import {
  backupFolders,
  COUNT,
  call,
  ended,
  expect,
  fillBranch,
  fillLarge,
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
const TENANTS = ["ant", "bee", "cat", "dog", "eel"];
const DIRECTORY = 0;

t.test("backups of an installation on several nodes", { skip: NO_ETCD }, async (t) => {
  const shared = backupFolders((work) => t.teardown(work))("cluster");
  const cluster = await ClusterProcesses.start(3, { etcdMembers: 1 });
  t.teardown(() => cluster.close());
  const said = () => cluster.logEnds();
  const [n1, n2, n3] = cluster.nodes as [NodeProcess, NodeProcess, NodeProcess];
  const admin = await signIn(n1);
  const tokens = new Map<string, string>();
  for (const id of TENANTS) tokens.set(id, await fillTenant(n1, admin, id));
  await fillBranch(n2, tokens.get("ant")!);
  for (const [partition, node] of [n1, n2, n3, n2].entries()) await give(cluster, partition, node);

  const full = await wholeBackup(n2, n3, admin, {});
  t.match(full, { status: "completed", kind: "full", tenants_total: 6, tenants_done: 6, error: null });
  for (const node of cluster.nodes) {
    const { backups } = await expect(node, admin, "GET", "/admin/backups");
    t.match(backups, [{ id: full.id, status: "completed" }], "each node lists it");
    t.match(await expect(node, admin, "POST", `/admin/backups/${full.id}/verify`, {}), { files: 7 });
  }

  // An owner dies between the full backup and the incremental one.
  for (const [id, token] of tokens) await rows(n2, token, `INSERT INTO item VALUES (${ROWS + 1}, '${id} later')`);
  await rows(n2, tokens.get("ant")!, "DELETE FROM item WHERE id = 1", "work");
  await cluster.end(n2, "SIGKILL");
  const [a, b] = [n1, n3];
  // While its partitions have no owner: the backup waits for the next ones.
  const next = await wholeBackup(a, b, admin, { incremental: true });
  t.match(next, { status: "completed", kind: "incremental", tenants_done: 6, error: null }, "with the next owners");
  t.match(
    await expect(b, admin, "POST", `/admin/backups/${next.id}/verify`, {}),
    { files: 13 },
    "all continue the full",
  );
  t.equal((await call(a, admin, "DELETE", `/admin/backups/${full.id}`)).status, 409, "another one continues it");

  // A tenant's own backup, and a moment that only the log has.
  const bee = tokens.get("bee")!;
  const own = await expect(b, bee, "POST", "/v1/backups", {});
  t.match(await ended(a, bee, `/v1/backups/${own.id}`), { status: "completed" });
  await rows(a, bee, `INSERT INTO item VALUES (${ROWS + 2}, 'kept')`);
  await sleep(20);
  const moment = new Date().toISOString();
  await sleep(20);
  await rows(b, bee, "DELETE FROM item");
  await expect(b, admin, "POST", "/admin/tenants/bee/restore", { until: moment, replace: true });
  t.match(await ended(a, admin, "/admin/tenants/bee/restore"), { state: "completed", error: null });
  t.same(await rows(b, bee, COUNT), [[ROWS + 2]], "as of the moment, from any node");

  cluster.run(n2);
  await until("n2 is back", async () => (await cluster.ownerOf(1)) === "n2", said);
  const dog = tokens.get("dog")!;
  await rows(n1, dog, "UPDATE item SET what = 'changed'");
  await rows(n1, tokens.get("ant")!, "DELETE FROM item");
  const again = { tenants: ["ant", "dog"], replace: true };
  await expect(n3, admin, "POST", `/admin/backups/${next.id}/restore`, again);
  t.match(await ended(n2, admin, `/admin/backups/${next.id}/restore`), {
    ...{ state: "completed", error: null },
    tenants: [{ verified: true }, { verified: true }],
  });
  t.same(await rows(n2, dog, "SELECT count(*) FROM item WHERE what = 'changed'"), [[0]]);
  t.same(await rows(n2, tokens.get("ant")!, COUNT), [[ROWS + 1]]);
  t.same(await rows(n1, tokens.get("ant")!, COUNT, "work-restored"), [[9]], "with its branch");

  // A partition stays while its part is written, and then goes.
  const cat = tokens.get("cat")!;
  await fillLarge(n1, cat);
  const partition = await partitionOf(n3, admin, "cat");
  t.not(partition, DIRECTORY);
  const halfWritten = () => until("half written", () => inFolder(shared).isHalfWritten("cat"), said);
  const before = await cluster.ownerOf(partition);
  const other = cluster.nodes.find(({ name }) => name !== before)!;
  const asked = await expect(n1, admin, "POST", "/admin/backups", {});
  await halfWritten();
  await cluster.handOver(partition, other.name);
  t.match(await ended(n1, admin, `/admin/backups/${asked.id}`), { status: "completed", error: null });
  await until("it goes over", async () => (await cluster.ownerOf(partition)) === other.name, said);
  for (const node of cluster.nodes) t.notMatch(cluster.log(node), /a backup failed/, "no part was begun again");
  t.match(await expect(n2, admin, "POST", `/admin/backups/${asked.id}/verify`, {}), { files: 7 });
});
