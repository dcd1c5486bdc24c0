/** etcd and some nodes of a cluster as processes, on loopback and free ports, to be killed and stopped. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EtcdMember, freePort } from "../../cluster/etcd.js";

const PASSWORD = "correct-horse";
const PARTITIONS = 4;

export interface NodeProcess {
  readonly name: string;
  readonly port: number;
  readonly advertise: string;
  child: ChildProcess | null;
}

export interface Answer {
  readonly status: number;
  readonly data: { readonly rows: unknown[][] };
  readonly code: string | null;
}

export class ClusterProcesses {
  readonly nodes: NodeProcess[] = [];
  private token = "";

  private constructor(
    private readonly etcd: EtcdMember,
    private readonly folder: string,
  ) {}

  static async start(count: number): Promise<ClusterProcesses> {
    const folder = mkdtempSync(join(tmpdir(), "tessera-nodes-"));
    writeFileSync(join(folder, "key"), randomBytes(32).toString("hex"), { mode: 0o600 });
    const cluster = new ClusterProcesses(await EtcdMember.start(), folder);
    for (let number = 1; number <= count; number++) {
      const advertise = `127.0.0.1:${await freePort()}`;
      cluster.nodes.push({ name: `n${number}`, port: await freePort(), advertise, child: null });
    }
    const [first] = cluster.nodes;
    const args = ["cluster", "init", "--cluster", cluster.url, "--node", "n1", "--partitions", String(PARTITIONS)];
    const made = spawnSync("bin/tessera", args, { env: cluster.environment(first!), encoding: "utf8" });
    if (made.status !== 0) throw new Error(`tessera cluster init: ${made.stderr}`);
    for (const node of cluster.nodes) cluster.run(node);
    await cluster.signIn();
    return cluster;
  }

  get url(): string {
    return `etcd://${this.etcd.endpoint}/test`;
  }

  private environment({ name, port }: NodeProcess): NodeJS.ProcessEnv {
    return {
      ...process.env,
      ...{ TESSERA_SECRETS_KEY_FILE: join(this.folder, "key"), TESSERA_ADMIN_PASSWORD: PASSWORD, TESSERA_ACTORS: "1" },
      ...{ TESSERA_DATA_DIR: join(this.folder, name), TESSERA_PORT: String(port), TESSERA_POSTGRES_PORT: "0" },
      ...{ TESSERA_RATE_LIMIT_PER_SECOND: "100000", SQL_MAX_ROW_COUNT: "1000000" },
    };
  }

  run(node: NodeProcess): void {
    const log = openSync(join(this.folder, `${node.name}.log`), "a");
    const args = ["serve", "--cluster", this.url, "--node", node.name, "--advertise", node.advertise];
    node.child = spawn("bin/tessera", args, { env: this.environment(node), stdio: ["ignore", log, log] });
  }

  async end(node: NodeProcess, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const { child } = node;
    node.child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }

  log(node: NodeProcess): string {
    return readFileSync(join(this.folder, `${node.name}.log`), "utf8");
  }

  private async signIn(): Promise<void> {
    for (let tries = 0; this.token === "" && tries < 300; tries++) {
      try {
        const body = JSON.stringify({ username: "admin", password: PASSWORD });
        const headers = { "content-type": "application/json" };
        const url = `http://127.0.0.1:${this.nodes[0]!.port}/v1/auth/login`;
        const answer = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(10_000) });
        const told = (await answer.json()) as { data?: { access_token: string } };
        this.token = told.data?.access_token ?? "";
      } catch {
        // It has not started yet.
      }
      if (this.token === "") await sleep(200);
    }
    if (this.token === "") throw new Error(`nobody can sign in: ${this.log(this.nodes[0]!)}`);
  }

  /** Throws when there is no answer. */
  async execute(node: NodeProcess, sql: string, parameters: readonly unknown[], timeoutMs = 15_000): Promise<Answer> {
    const answer = await fetch(`http://127.0.0.1:${node.port}/v1/query/execute`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${this.token}` },
      body: JSON.stringify({ sql, parameters }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const told = (await answer.json()) as { data: Answer["data"]; error?: { code: string } };
    return { status: answer.status, data: told.data, code: told.error?.code ?? null };
  }

  async close(): Promise<void> {
    for (const node of this.nodes) node.child?.kill("SIGCONT");
    await Promise.all(this.nodes.map((node) => this.end(node, "SIGKILL")));
    await this.etcd.end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
