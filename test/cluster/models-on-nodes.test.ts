/** Real nodes: a model that is pulled through one of them serves on all, and on those that join later. */
import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { publish, tinyBundle } from "../ai/tiny-bundle.js";
import { ClusterProcesses, type NodeProcess } from "../torture/cluster/cluster-processes.js";
import { NO_ETCD } from "./etcd.js";

const WAIT_MS = 90_000;
const EMBED = "SELECT EMBED('red dog', 'tiny')";

interface Listed {
  readonly models: readonly { readonly name: string }[];
  readonly wanted: readonly {
    readonly name: string;
    readonly nodes: readonly { readonly node: string; readonly installed: boolean }[];
  }[];
}

t.test("pulled through one node, used at another", { skip: NO_ETCD }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tessera-models-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  publish(folder, tinyBundle("tiny"), "tiny");
  publish(folder, tinyBundle("early"), "early");
  process.env.TESSERA_AI_PULL_SOURCES = folder;
  const cluster = await ClusterProcesses.start(2, { etcdMembers: 1, before: ["SELECT PULL_MODEL('early')"] });
  t.teardown(() => cluster.close());
  const until = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
    for (const began = Date.now(); !(await isSo().catch(() => false)); await sleep(200)) {
      if (Date.now() - began > WAIT_MS) throw new Error(`never: ${what}\n${cluster.logEnds()}`);
    }
  };
  const [n1] = cluster.nodes as [NodeProcess];
  const list = async () => (await cluster.get(n1, "/v1/ai/models")).data as Listed;
  const holders = async (name: string) =>
    (await list()).wanted
      .find((one) => one.name === name)
      ?.nodes.filter(({ installed }) => installed)
      .map(({ node }) => node);
  const { partition } = await cluster.busiestPartition();
  const movedTo = async (name: string) => {
    await cluster.handOver(partition, name);
    await until(`${name} owns it`, async () => (await cluster.ownerOf(partition)) === name);
  };
  const vector = async () => {
    const { status, data } = await cluster.execute(n1, EMBED, []);
    return status === 200 ? data.rows[0] : status;
  };

  await movedTo("n1");
  await until("both have what n1 had before", async () => (await holders("early"))?.join() === "n1,n2");
  const { status, data } = await cluster.post(n1, "/v1/ai/models/pull", { model: "tiny", wait: true });
  t.equal(status, 200);
  const pull = `/v1/ai/models/pulls/${(data as { readonly id: string }).id}`;
  t.equal((await cluster.get(n1, pull)).status, 200);
  const there = await vector();
  await until("both have it", async () => (await holders("tiny"))?.join() === "n1,n2");
  await movedTo("n2");
  await until("n2 answers", async () => (await vector()) !== 503);
  t.equal((await cluster.get(n1, pull)).status, 404, "it is n2 that answers, and it knows its own pulls");
  t.same(await vector(), there, "n2 has it, too");

  // From now on only nodes can give it.
  renameSync(folder, `${folder}-away`);
  t.teardown(() => rmSync(`${folder}-away`, { recursive: true, force: true }));
  await cluster.join("n3");
  await until("n3 gets both", async () => (await holders("tiny"))?.join() === "n1,n2,n3");
  await until("n3 gets both", async () => (await holders("early"))?.join() === "n1,n2,n3");
  await movedTo("n3");
  await until("n3 answers", async () => (await vector()) !== 503);
  t.same(await vector(), there);

  const deleted = await cluster.send(n1, "DELETE", "/v1/ai/models/tiny");
  t.equal(deleted.status, 204);
  t.notOk((await list()).models.some(({ name }) => name === "tiny"));
  for (const node of ["n1", "n2"]) {
    await movedTo(node);
    await until(`${node} has it no more`, async () => !(await list()).models.some(({ name }) => name === "tiny"));
    t.equal(await vector(), 404);
  }
  t.same(await holders("early"), ["n1", "n2", "n3"]);
});
