/** Entries of the audit trail that are on their way when the directory's owner stands still, with real nodes. */
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { ClusterProcesses } from "../torture/cluster/cluster-processes.js";
import { NO_ETCD } from "./etcd.js";

const DIRECTORY = 0;

/** Each node's partitions get some of the new tenants. */
async function tenantsAreSpread(t: Test, cluster: ClusterProcesses): Promise<void> {
  const owners = async () => (await cluster.copies()).map(({ owner }) => owner);
  while (new Set(await owners()).size < 2 || (await owners()).includes(null)) await sleep(100);
  const used = new Set<string | null>();
  for (const id of ["one", "two", "three", "four"]) {
    const { status, data } = await cluster.post(cluster.nodes[0]!, "/admin/tenants", { id });
    t.equal(status, 201);
    used.add((await owners())[(data as { partition: number }).partition]!);
  }
  t.equal(used.size, 2, `tenants are at ${[...used].join(", ")}`);
}

t.test(
  "what is refused while the directory's owner stands still is in the trail later, once",
  { skip: NO_ETCD },
  async (t) => {
    const cluster = await ClusterProcesses.start(2, { etcdMembers: 1 });
    t.teardown(() => cluster.close());
    let owner: string | null = null;
    while (owner === null) {
      owner = await cluster.ownerOf(DIRECTORY);
      await sleep(100);
    }
    const stopped = cluster.nodes.find(({ name }) => name === owner)!;
    const other = cluster.nodes.find(({ name }) => name !== owner)!;
    const entries = async (): Promise<unknown[]> => {
      const { data } = await cluster.get(other, "/admin/audit?action=auth.refused&limit=50");
      return (data as { entries: unknown[] }).entries;
    };
    // It follows the directory's owner, so what it has to say goes there.
    const status = async () => (await cluster.get(other, "/admin/audit").catch(() => null))?.status;
    while ((await status()) !== 200) await sleep(50);
    t.same(await entries(), []);
    await tenantsAreSpread(t, cluster);
    stopped.child!.kill("SIGSTOP");
    t.equal((await cluster.get(other, "/admin/audit", "not.a.token")).status, 401);
    // It has been sent by then, to the node that does not hear it.
    await sleep(1500);
    let found: unknown[] = [];
    while (found.length === 0) {
      found = await entries().catch(() => []);
      if (found.length === 0) await sleep(300);
    }
    t.equal(await cluster.ownerOf(DIRECTORY), other.name, "the other node has taken over");
    t.equal(found.length, 1);
    stopped.child!.kill("SIGCONT");
    await sleep(4000);
    t.equal((await entries()).length, 1, "and the node that wakes up adds nothing");
  },
);
