/** An etcd member of its own for a test: on loopback and free ports, its data in a temporary folder. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EtcdClient } from "../../src/cluster/etcd-client.js";

/** Why tests with etcd are skipped; false: they are not. */
export const NO_ETCD =
  spawnSync("etcd", ["--version"]).status === 0 ? false : "no etcd on the path (Debian: apt-get install etcd-server)";

export class EtcdMember {
  private constructor(
    readonly endpoint: string,
    private readonly folder: string,
    private readonly args: readonly string[],
    private child: ChildProcess,
  ) {}

  static async start({ quotaBytes = 0 } = {}): Promise<EtcdMember> {
    const folder = mkdtempSync(join(tmpdir(), "tessera-etcd-"));
    const [client, peer] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
    const args = [
      "--name",
      "one",
      "--data-dir",
      folder,
      "--log-level",
      "error",
      "--initial-cluster",
      `one=http://${peer}`,
    ];
    args.push("--listen-client-urls", `http://${client}`, "--advertise-client-urls", `http://${client}`);
    args.push("--listen-peer-urls", `http://${peer}`, "--initial-advertise-peer-urls", `http://${peer}`);
    if (quotaBytes > 0) args.push("--quota-backend-bytes", String(quotaBytes));
    const member = new EtcdMember(client, folder, args, run(args));
    await member.ready();
    return member;
  }

  /** Until it answers. */
  private async ready(): Promise<void> {
    const client = new EtcdClient({ endpoints: [this.endpoint], deadlineMs: 500 });
    try {
      for (;;) {
        if (this.child.exitCode !== null) throw new Error(`etcd ended with ${this.child.exitCode}`);
        try {
          await client.range({ key: Buffer.from("ready") });
          return;
        } catch {
          await sleep(50);
        }
      }
    } finally {
      client.close();
    }
  }

  /** Stands still, connections and all. */
  pause(): void {
    this.child.kill("SIGSTOP");
  }

  goOn(): void {
    this.child.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, "exit");
    this.child.kill("SIGKILL");
    await ended;
  }

  /** After `kill`, with its data. */
  async restart(): Promise<void> {
    this.child = run(this.args);
    await this.ready();
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function run(args: readonly string[]): ChildProcess {
  return spawn("etcd", args, { stdio: "ignore" });
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  return port;
}
