/** Three members of etcd and three nodes of Tessera on this machine, and tenants of which each has a known owner. */
import { type ChildProcess, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EtcdMember } from "../../test/cluster/etcd.js";
import { freePort } from "../../test/free-port.js";
import { tenantToken } from "../fairness.js";
import {
  adminToken,
  endChild,
  launchTessera,
  PASSWORD,
  removeDirectory,
  serverProgram,
  temporaryDirectory,
} from "../servers.js";

const NODES = 3;
const PARTITIONS = 6;
const OWNERS_MS_MAX = 60_000;
const TENANTS_MAX = 30;

export interface ClusterNode {
  readonly name: string;
  readonly url: string;
  readonly child: ChildProcess;
}

export interface ClusterTenant {
  readonly token: string;
  /** Which of the nodes owns the tenant's partition. */
  readonly owner: ClusterNode;
}

export class BenchCluster {
  private constructor(
    private readonly etcd: readonly EtcdMember[],
    private readonly folder: string,
    readonly nodes: readonly ClusterNode[],
    private readonly token: string,
  ) {}

  static async start(): Promise<BenchCluster> {
    const folder = temporaryDirectory("cluster");
    const keyFile = join(folder, "key");
    writeFileSync(keyFile, randomBytes(32).toString("hex"), { mode: 0o600 });
    const etcd = await EtcdMember.startMany(3);
    const url = `etcd://${etcd.map(({ endpoint }) => endpoint).join(",")}/bench`;
    const environment = { TESSERA_SECRETS_KEY_FILE: keyFile, TESSERA_ACTORS: "1", TESSERA_POSTGRES_PORT: "0" };
    const init = ["cluster", "init", "--cluster", url, "--node", "n1", "--partitions", String(PARTITIONS)];
    const first = { ...environment, TESSERA_DATA_DIR: join(folder, "n1"), TESSERA_ADMIN_PASSWORD: PASSWORD };
    const made = spawnSync(serverProgram(), init, { env: { ...process.env, ...first }, encoding: "utf8" });
    if (made.status !== 0) throw new Error(`tessera cluster init: ${made.stderr}`);
    const starting = Array.from({ length: NODES }, async (_, i): Promise<ClusterNode> => {
      const name = `n${i + 1}`;
      const flags = ["--cluster", url, "--node", name, "--advertise", `127.0.0.1:${await freePort()}`];
      return { name, ...(await launchTessera(join(folder, name), environment, flags)) };
    });
    const nodes = await Promise.all(starting);
    return new BenchCluster(etcd, folder, nodes, await signIn(nodes[0]!.url));
  }

  /** A tenant of each node, made through the first one. */
  async tenants(): Promise<readonly ClusterTenant[]> {
    const owners = await this.owners();
    const found = new Map<string, ClusterTenant>();
    for (let number = 0; found.size < NODES; number++) {
      if (number === TENANTS_MAX) throw new Error(`only ${[...found.keys()].join(", ")} got a tenant`);
      const id = `bench${number}`;
      const token = await tenantToken({ url: this.nodes[0]!.url, token: this.token }, id);
      const { partition } = await this.get(`/admin/tenants/${id}`);
      const owner = this.nodes.find(({ name }) => name === owners.get(partition as number));
      if (owner !== undefined && !found.has(owner.name)) found.set(owner.name, { token, owner });
    }
    return this.nodes.map(({ name }) => found.get(name)!);
  }

  /** Of each partition, as soon as every node owns some. */
  private async owners(): Promise<ReadonlyMap<number, string>> {
    for (const until = Date.now() + OWNERS_MS_MAX; Date.now() < until; await sleep(500)) {
      const { partitions } = await this.get("/admin/cluster");
      const listed = partitions as readonly { readonly partition: number; readonly owner: string | null }[];
      const owners = new Map(listed.map(({ partition, owner }) => [partition, owner ?? ""]));
      const names = new Set(owners.values());
      if (owners.size > 0 && this.nodes.every(({ name }) => names.has(name))) return owners;
    }
    throw new Error("there are nodes that own no partition");
  }

  private async get(path: string): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${this.token}` };
    const answer = await fetch(this.nodes[0]!.url + path, { headers });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
    const parsed = JSON.parse(text) as Record<string, unknown>;
    return (parsed.data ?? parsed) as Record<string, unknown>;
  }

  /** Of the nodes, and of etcd's members. */
  get roots(): { readonly nodes: readonly number[]; readonly etcd: readonly number[] } {
    return { nodes: this.nodes.map(({ child }) => child.pid!), etcd: this.etcd.map(({ pid }) => pid) };
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map(({ child }) => endChild(child)));
    await Promise.all(this.etcd.map((member) => member.end()));
    removeDirectory(this.folder);
  }
}

/** A cluster that has just begun may have no owner of its directory yet. */
async function signIn(url: string): Promise<string> {
  for (let tries = 1; ; tries++) {
    try {
      return await adminToken(url);
    } catch (error) {
      if (tries === 60) throw error;
      await sleep(500);
    }
  }
}
