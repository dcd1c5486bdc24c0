/** Nodes are upgraded one by one, while a client writes: two releases serve side by side, and one can go back. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { finalizeUpgrade } from "../../src/cluster-commands.js";
import { loadConfig } from "../../src/config/load-config.js";
import { VERSION } from "../../src/protocol/version.js";
import { FORMAT_VERSION, readShardFormat } from "../../src/storage/format.js";
import { readInstallation } from "../../src/storage/installation.js";
import { partitionDirectory } from "../../src/storage/partition-directory.js";
import { ClusterProcesses, type NodeProcess, PROGRAM } from "../torture/cluster/cluster-processes.js";
import { NO_ETCD } from "./etcd.js";
import { makeNextRelease, NEXT_FORMAT, NEXT_RELEASE } from "./next-release.js";

const WAIT_MS = 90_000;

interface ClusterState {
  readonly format: number;
  readonly nodes: readonly { readonly node: string; readonly release: string; readonly fenced: boolean }[];
}

/** Inserts rows one after another, at the nodes in turn, and keeps those that were acknowledged. */
class Writer {
  readonly acknowledged: number[] = [];
  private isEnded = false;
  private readonly running: Promise<void>;

  constructor(private readonly cluster: ClusterProcesses) {
    this.running = this.run();
  }

  private async run(): Promise<void> {
    const { nodes } = this.cluster;
    for (let id = 1; !this.isEnded; id++) {
      const idempotencyKey = `row-${id}`;
      for (let tries = 0; tries < 100; tries++) {
        const node = nodes[(id + tries) % nodes.length]!;
        const parameters = [id];
        const answer = await this.cluster
          .execute(node, "INSERT INTO item (id) VALUES ($1)", parameters, 15_000, { idempotencyKey })
          .catch(() => null);
        if (answer?.status === 200) {
          this.acknowledged.push(id);
          break;
        }
        await sleep(100);
      }
      await sleep(20);
    }
  }

  async end(): Promise<void> {
    this.isEnded = true;
    await this.running;
  }
}

class Upgrade {
  constructor(
    private readonly t: Test,
    private readonly cluster: ClusterProcesses,
  ) {}

  async until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    for (const began = Date.now(); !(await isSo().catch(() => false)); await sleep(200)) {
      if (Date.now() - began < WAIT_MS) continue;
      throw new Error(`never: ${what}\n${this.cluster.logEnds()}`);
    }
  }

  async state(at: NodeProcess): Promise<ClusterState> {
    return (await this.cluster.get(at, "/admin/cluster")).data as ClusterState;
  }

  /** Drains, stops and starts it; resolves when it serves. */
  async restart(node: NodeProcess, other: NodeProcess, program: string, release: string): Promise<void> {
    await this.cluster.end(node, "SIGTERM");
    node.program = program;
    this.cluster.run(node);
    await this.until(`${node.name} runs ${release}`, async () => {
      const found = (await this.state(other)).nodes.find((one) => one.node === node.name);
      return found?.release === release && !found.fenced;
    });
    await this.until(`${node.name} answers`, async () => (await this.count(node)) > 0);
  }

  async count(at: NodeProcess): Promise<number> {
    const { data } = await this.cluster.execute(at, "SELECT count(*) FROM item", []);
    return data.rows[0]![0] as number;
  }

  async own(partition: number, node: NodeProcess): Promise<void> {
    await this.cluster.handOver(partition, node.name);
    await this.until(`${node.name} owns the table`, async () => (await this.cluster.ownerOf(partition)) === node.name);
    for (const at of this.cluster.nodes) {
      const count = await this.count(at);
      this.t.ok(count > 0, `${at.name} reads ${count} rows at ${node.name}`);
    }
  }
}

t.test("nodes are upgraded one after another", { skip: NO_ETCD }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "tessera-next-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const next = makeNextRelease(folder);
  const cluster = await ClusterProcesses.start(2, {
    before: ["CREATE TABLE item (id integer PRIMARY KEY)"],
    etcdMembers: 1,
  });
  t.teardown(() => cluster.close());
  const upgrade = new Upgrade(t, cluster);
  const [n1, n2] = cluster.nodes as [NodeProcess, NodeProcess];
  const config = loadConfig({ env: {}, overrides: { "cluster.url": cluster.url } });
  const formatOn = (node: NodeProcess): number | undefined => readInstallation(cluster.placeOf(node))?.format;
  await upgrade.until("both nodes answer", async () => {
    for (const node of [n1, n2]) await cluster.execute(node, "SELECT count(*) FROM item", []);
    return (await upgrade.state(n1)).nodes.length === 2;
  });
  t.match(await finalizeUpgrade(config), /there is nothing to do: the data has format/);
  const { partition } = await cluster.busiestPartition();
  const writer = new Writer(cluster);
  await upgrade.until("rows are written", async () => writer.acknowledged.length > 5);

  await upgrade.restart(n2, n1, next, NEXT_RELEASE);
  t.equal(formatOn(n2), FORMAT_VERSION, "a newer release keeps the cluster's format");
  await upgrade.own(partition, n2);
  t.match(await cluster.get(n2, "/v1/branches"), { status: 200 }, "the newer release has the endpoint");
  t.match(await cluster.get(n1, "/v1/branches"), { status: 501 }, "by the name that the older one knows, it does not");
  await upgrade.own(partition, n1);
  t.match(await cluster.get(n1, "/v1/branches"), { status: 200 });
  t.match(await cluster.get(n2, "/v1/branches"), { status: 501 }, "what the owner's release does not have");
  await t.rejects(finalizeUpgrade(config), { message: new RegExp(`n1 \\(${VERSION}\\) cannot read a newer format`) });

  await upgrade.restart(n2, n1, PROGRAM, VERSION);
  t.equal(formatOn(n2), FORMAT_VERSION, "one can go back");
  await upgrade.own(partition, n2);
  await upgrade.restart(n2, n1, next, NEXT_RELEASE);
  await upgrade.restart(n1, n2, next, NEXT_RELEASE);
  t.match(await finalizeUpgrade(config), new RegExp(`the data has format ${NEXT_FORMAT} now`));
  t.equal((await upgrade.state(n1)).format, NEXT_FORMAT);
  await upgrade.restart(n1, n2, next, NEXT_RELEASE);
  t.equal(formatOn(n1), NEXT_FORMAT);
  t.equal(readShardFormat(partitionDirectory(cluster.placeOf(n1), partition))?.format, NEXT_FORMAT);
  t.equal(formatOn(n2), FORMAT_VERSION, "until its next start");
  await upgrade.own(partition, n1);
  await upgrade.own(partition, n2);

  await writer.end();
  const { data } = await cluster.execute(n1, "SELECT id FROM item", []);
  const there = new Set(data.rows.map(([id]) => id as number));
  t.same(
    writer.acknowledged.filter((id) => !there.has(id)),
    [],
    `${writer.acknowledged.length} rows`,
  );
  t.same(cluster.endedAlone, []);

  await cluster.end(n1, "SIGTERM");
  n1.program = PROGRAM;
  cluster.run(n1);
  await upgrade.until("the older release ends", async () => cluster.endedAlone.length === 1);
  t.match(
    cluster.endedAlone[0],
    new RegExp(`data has format ${NEXT_FORMAT}, and this program serves ${FORMAT_VERSION}`),
  );
});
