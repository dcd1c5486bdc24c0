/** An etcd member of its own for a test: on loopback and free ports, its data in a temporary folder. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EtcdClient } from "../../src/cluster/etcd-client.js";
import type { EtcdTls } from "../../src/protocol/messages.js";
import { freePort } from "../free-port.js";

/** Why tests with etcd are skipped; false: they are not. */
export const NO_ETCD =
  spawnSync("etcd", ["--version"]).status === 0 ? false : "no etcd on the path (Debian: apt-get install etcd-server)";

export interface EtcdOptions {
  readonly quotaBytes?: number;
  /** Arguments that have it ask for TLS, and what clients need then. */
  readonly secured?: { readonly args: readonly string[]; readonly tls: EtcdTls };
}

export class EtcdMember {
  private constructor(
    readonly endpoint: string,
    private readonly folder: string,
    private readonly args: readonly string[],
    private child: ChildProcess,
    private readonly tls: EtcdTls | undefined,
  ) {}

  static async start(options: EtcdOptions = {}): Promise<EtcdMember> {
    const [member] = await EtcdMember.startMany(1, options);
    return member!;
  }

  /** Of one cluster. */
  static async startMany(count: number, { quotaBytes = 0, secured }: EtcdOptions = {}): Promise<readonly EtcdMember[]> {
    const places: { name: string; client: string; peer: string }[] = [];
    for (let number = 1; number <= count; number++) {
      const [client, peer] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
      places.push({ name: `m${number}`, client, peer });
    }
    const cluster = places.map(({ name, peer }) => `${name}=http://${peer}`).join(",");
    const members = places.map(({ name, client, peer }) => {
      const folder = mkdtempSync(join(tmpdir(), "tessera-etcd-"));
      const args = ["--name", name, "--data-dir", folder, "--log-level", "warn", "--initial-cluster", cluster];
      const url = `${secured === undefined ? "http" : "https"}://${client}`;
      args.push("--listen-client-urls", url, "--advertise-client-urls", url, ...(secured?.args ?? []));
      args.push("--listen-peer-urls", `http://${peer}`, "--initial-advertise-peer-urls", `http://${peer}`);
      if (quotaBytes > 0) args.push("--quota-backend-bytes", String(quotaBytes));
      return new EtcdMember(client, folder, args, run(args, logOf(folder)), secured?.tls);
    });
    await Promise.all(members.map((member) => member.ready()));
    return members;
  }

  /** Until it answers. */
  private async ready(): Promise<void> {
    const client = new EtcdClient({ endpoints: [this.endpoint], deadlineMs: 500, tls: this.tls });
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

  get logFile(): string {
    return logOf(this.folder);
  }

  /** Its members and how far each is, and all keys, without values of the log. Needs `etcdctl`. */
  state(): string {
    const asked = [
      ["member", "list"],
      ["endpoint", "status"],
      ["get", "--prefix", "/tessera/", "--keys-only", "--consistency=s"],
      ...["own", "node", "copy", "at", "want", "drain", "leave", "full"].map((name) => [
        ...["get", "--prefix", `/tessera/test/${name}/`, "--consistency=s"],
      ]),
    ];
    return asked
      .map((args) => {
        try {
          return `${args.join(" ")}\n${this.control(...args)}`;
        } catch (error) {
          return String(error);
        }
      })
      .join("\n");
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** Stands still, connections and all: resolves when the last of its threads does. */
  async pause(): Promise<void> {
    this.child.kill("SIGSTOP");
    const tasks = `/proc/${this.pid}/task`;
    const isStopped = (thread: string) => /^State:\tT/m.test(readFileSync(join(tasks, thread, "status"), "utf8"));
    while (!readdirSync(tasks).every(isStopped)) await sleep(1);
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
    this.child = run(this.args, this.logFile);
    await this.ready();
  }

  /** After `kill`: its data are gone. It joins the cluster anew by `other`, a member that runs. Needs `etcdctl`. */
  async joinAnew(other: EtcdMember): Promise<void> {
    rmSync(this.folder, { recursive: true, force: true });
    const [name, peer] = [this.argument("--name"), this.argument("--initial-advertise-peer-urls")];
    // Each line: id, status, name, addresses.
    const [old] = other
      .control("member", "list")
      .split("\n")
      .filter((line) => line.split(", ")[2] === name);
    other.control("member", "remove", old!.split(", ")[0]!);
    // The others agree on one change at a time, which takes them a moment.
    for (let tries = 0; ; tries++) {
      try {
        other.control("member", "add", name, `--peer-urls=${peer}`);
        break;
      } catch (error) {
        if (tries === 20) throw error;
        await sleep(500);
      }
    }
    this.child = run([...this.args, "--initial-cluster-state", "existing"], this.logFile);
    await this.ready();
  }

  private argument(name: string): string {
    return this.args[this.args.indexOf(name) + 1]!;
  }

  private control(...args: readonly string[]): string {
    const env = { ...process.env, ETCDCTL_API: "3" };
    const done = spawnSync("etcdctl", ["--endpoints", this.endpoint, ...args], { encoding: "utf8", env });
    if (done.status !== 0) throw new Error(`etcdctl ${args.join(" ")}: ${done.stderr}`);
    return done.stdout;
  }

  async end(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
    rmSync(this.logFile, { force: true });
  }
}

/** Beside its data, which a test may delete. */
function logOf(folder: string): string {
  return `${folder}.log`;
}

function run(args: readonly string[], logFile: string): ChildProcess {
  const log = openSync(logFile, "a");
  return spawn("etcd", args, { stdio: ["ignore", log, log] });
}
