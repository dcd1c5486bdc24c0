/** etcd and some nodes of a cluster as processes, on loopback and free ports, to be killed and stopped. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, connect } from "../../../clients/typescript/src/index.js";
import { ClusterMap, readClusterUrl } from "../../../src/cluster/cluster-map.js";
import { DbError } from "../../../src/protocol/errors.js";
import { EtcdMember } from "../../cluster/etcd.js";
import { freePort } from "../../free-port.js";
import { SmallDisk } from "../small-disk.js";
import { LinkProxy } from "./link-proxy.js";

export const PASSWORD = "correct-horse";
/** This build's. */
export const PROGRAM = "bin/tessera";
const PARTITIONS = 4;
const ETCD_MEMBERS = 3;
const CLIENT_MS = 4000;
const LOG_END = 2000;
const SAID = [
  ["cluster", "/admin/cluster"],
  ["metrics", "/metrics"],
] as const;
/** More than storage.free_bytes_min and what a node keeps. */
const DISK = "1g";
const ACTOR_FAULTS = new URL("actor-faults.js", import.meta.url).pathname;

export interface NodeProcess {
  readonly name: string;
  readonly port: number;
  /** Of PostgreSQL's protocol and of Bolt; 0: the node does not speak it. */
  readonly postgresPort: number;
  readonly boltPort: number;
  /** Of the link between nodes. */
  readonly listen: string;
  /** To etcd's members, and from the other nodes. */
  readonly toEtcd: readonly LinkProxy[];
  readonly fromNodes: LinkProxy;
  /** Where its data are a file system of their own, which can be filled. */
  readonly disk: SmallDisk | null;
  /** What it runs when it is started next. */
  program: string;
  child: ChildProcess | null;
}

export interface Answer {
  readonly status: number;
  readonly data: { readonly rows: unknown[][] };
  readonly code: string | null;
  /** How old it may be, where it was asked for one that may be stale. */
  readonly staleMs: string | null;
}

export class ClusterProcesses {
  readonly nodes: NodeProcess[] = [];
  /** Nodes that ended by themselves, each with the end of its log. */
  readonly endedAlone: string[] = [];
  private token = "";

  private readonly map: ClusterMap;

  private constructor(
    private readonly etcd: readonly EtcdMember[],
    private readonly folder: string,
    private readonly hasWires: boolean,
    private readonly hasDisks: boolean,
  ) {
    const { endpoints, name } = readClusterUrl(this.url);
    this.map = new ClusterMap(endpoints, name);
  }

  /**
   * `before`: statements that the first node runs while it is one machine by itself. `hasWires`: nodes speak
   * PostgreSQL's protocol and Bolt. `hasDisks`: each has a small file system of its own, where this user may mount one.
   */
  static async start(
    count: number,
    {
      before = [],
      etcdMembers = ETCD_MEMBERS,
      hasWires = false,
      hasDisks = false,
    }: { before?: readonly string[]; etcdMembers?: number; hasWires?: boolean; hasDisks?: boolean } = {},
  ): Promise<ClusterProcesses> {
    const folder = mkdtempSync(join(tmpdir(), "tessera-nodes-"));
    writeFileSync(join(folder, "key"), randomBytes(32).toString("hex"), { mode: 0o600 });
    const cluster = new ClusterProcesses(await EtcdMember.startMany(etcdMembers), folder, hasWires, hasDisks);
    try {
      await cluster.begin(count, before);
    } catch (error) {
      await cluster.close();
      throw error;
    }
    return cluster;
  }

  private async begin(count: number, before: readonly string[]): Promise<void> {
    for (let number = 1; number <= count; number++) this.nodes.push(await this.newNode(`n${number}`));
    const [first] = this.nodes;
    if (before.length > 0) await this.runAlone(first!, before);
    const args = ["cluster", "init", "--cluster", this.url, "--node", "n1", "--partitions", String(PARTITIONS)];
    const made = spawnSync(PROGRAM, args, { env: this.environment(first!), encoding: "utf8" });
    if (made.status !== 0) throw new Error(`tessera cluster init: ${made.error ?? made.stderr}`);
    for (const node of this.nodes) this.run(node);
    await this.signIn();
  }

  private async runAlone(node: NodeProcess, statements: readonly string[]): Promise<void> {
    const log = openSync(join(this.folder, `${node.name}.log`), "a");
    node.child = spawn(PROGRAM, ["serve"], { env: this.environment(node), stdio: ["ignore", log, log] });
    await this.signIn();
    for (const sql of statements) {
      const { status } = await this.execute(node, sql, []);
      if (status !== 200) throw new Error(`${sql} answered ${status}`);
    }
    await this.end(node, "SIGTERM");
    this.token = "";
  }

  /** A further node, with an empty data directory. */
  async join(name: string): Promise<NodeProcess> {
    const node = await this.newNode(name);
    this.nodes.push(node);
    this.run(node);
    return node;
  }

  /** The node's data are gone; it is not running. */
  loseData(node: NodeProcess): void {
    rmSync(this.placeOf(node), { recursive: true });
  }

  placeOf({ name, disk }: NodeProcess): string {
    return join(disk?.path ?? this.folder, name);
  }

  /** By partition: who owns it, and the newest sequence of each node. */
  async copies(): Promise<readonly { readonly owner: string | null; readonly durable: ReadonlyMap<string, number> }[]> {
    const { owners, durable } = await this.surely(() => this.map.view());
    return Array.from({ length: PARTITIONS }, (_, partition) => ({
      owner: owners.get(partition)?.node ?? null,
      durable: durable.get(partition) ?? new Map<string, number>(),
    }));
  }

  private async newNode(name: string): Promise<NodeProcess> {
    const listen = `127.0.0.1:${await freePort()}`;
    const toEtcd = await Promise.all(this.etcd.map(({ endpoint }) => LinkProxy.start(endpoint)));
    const wirePort = async () => (this.hasWires ? freePort() : 0);
    const ports = { port: await freePort(), postgresPort: await wirePort(), boltPort: await wirePort() };
    const disk = this.hasDisks ? SmallDisk.mount(DISK) : null;
    return {
      name,
      ...ports,
      listen,
      toEtcd,
      fromNodes: await LinkProxy.start(listen),
      disk,
      program: PROGRAM,
      child: null,
    };
  }

  get url(): string {
    return `etcd://${this.etcd.map(({ endpoint }) => endpoint).join(",")}/test`;
  }

  /** A member of etcd may be down, and then no answer says nothing. What is asked may be asked twice. */
  private async surely<T>(ask: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof DbError && error.code === "log_unavailable") || tries === 20) throw error;
      }
    }
  }

  /** The newest sequence of each partition says which of them is written to. */
  async busiestPartition(): Promise<{ readonly partition: number; readonly owner: string | null }> {
    const { owners, durable } = await this.surely(() => this.map.view());
    const newest = [...durable].map(([partition, of]) => [partition, Math.max(...of.values())] as const);
    newest.sort(([, a], [, b]) => b - a);
    const partition = newest[0]?.[0] ?? 0;
    return { partition, owner: owners.get(partition)?.node ?? null };
  }

  async ownerOf(partition: number): Promise<string | null> {
    return (await this.surely(() => this.map.view())).owners.get(partition)?.node ?? null;
  }

  /** As `tessera cluster hand-over` does; null takes it back. */
  async handOver(partition: number, node: string | null): Promise<void> {
    await this.surely(() => this.map.want(partition, node));
  }

  /** By partition: its epoch, which another one follows whenever it is opened. */
  async epochs(): Promise<ReadonlyMap<number, string>> {
    const { owners } = await this.surely(() => this.map.view());
    return new Map([...owners].map(([partition, { epoch }]) => [partition, String(epoch)]));
  }

  /** The administrator's, of the client package, at one node. */
  client({ port }: NodeProcess): Client {
    return connect({ url: `http://127.0.0.1:${port}`, apiKey: this.token, attempts: 1, timeoutMs: CLIENT_MS });
  }

  /** Kills a member, deletes its data, and has it join the others again. */
  async wipeEtcd(member: number, downMs: number): Promise<void> {
    await this.etcd[member]!.kill();
    await sleep(downMs);
    await this.etcd[member]!.joinAnew(this.etcd[(member + 1) % this.etcd.length]!);
  }

  /** Kills a member and starts it again. */
  async killEtcd(member: number, downMs: number): Promise<void> {
    await this.etcd[member]!.kill();
    await sleep(downMs);
    await this.etcd[member]!.restart();
  }

  private environment(node: NodeProcess): NodeJS.ProcessEnv {
    const { port, postgresPort, boltPort } = node;
    return {
      ...process.env,
      ...{ TESSERA_SECRETS_KEY_FILE: join(this.folder, "key"), TESSERA_ADMIN_PASSWORD: PASSWORD, TESSERA_ACTORS: "1" },
      ...{ TESSERA_DATA_DIR: this.placeOf(node), TESSERA_PORT: String(port) },
      ...{ TESSERA_POSTGRES_PORT: String(postgresPort), TESSERA_BOLT_PORT: String(boltPort) },
      ...{ TESSERA_RATE_LIMIT_PER_SECOND: "100000", SQL_MAX_ROW_COUNT: "1000000" },
      // The clients sign in once, and a run may be longer than the hour that a token lives otherwise.
      TESSERA_AUTH_TOKEN_LIFETIME_SECONDS: String(7 * 86_400),
      // As in test/e2e/server.ts.
      ...{ TESSERA_AUTH_PASSWORD_COST: "10", TESSERA_STORAGE_RESERVE_BYTES: "0" },
      ...(process.env.TEST_SERVER_OPTIONS && { NODE_OPTIONS: process.env.TEST_SERVER_OPTIONS }),
      TESSERA_NODE_FLAGS: `--import ${ACTOR_FAULTS}`,
    };
  }

  /** The thread of its actor ends, and the next one does not start. */
  async crashActor(node: NodeProcess): Promise<void> {
    const place = this.placeOf(node);
    writeFileSync(`${place}.hold`, "");
    writeFileSync(`${place}.crash`, "");
    while (existsSync(`${place}.crash`)) {
      if (node.child?.exitCode !== null) throw new Error(`${node.name} has ended: ${this.log(node)}`);
      await sleep(20);
    }
  }

  letActorStart(node: NodeProcess): void {
    rmSync(`${this.placeOf(node)}.hold`, { force: true });
  }

  run(node: NodeProcess): void {
    const log = openSync(join(this.folder, `${node.name}.log`), "a");
    const url = `etcd://${node.toEtcd.map(({ address }) => address).join(",")}/test`;
    const args = ["serve", "--cluster", url, "--node", node.name, "--advertise", node.fromNodes.address];
    args.push("--set", `cluster.listen=${node.listen}`);
    const child = spawn(node.program, args, { env: this.environment(node), stdio: ["ignore", log, log] });
    node.child = child;
    child.once("exit", (code, signal) => {
      if (node.child !== child) return;
      this.endedAlone.push(`${node.name} ended by itself, ${signal ?? code}: ${this.log(node).slice(-LOG_END)}`);
    });
  }

  async end(node: NodeProcess, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const { child } = node;
    node.child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }

  /** What all nodes have logged last. */
  logEnds(): string {
    return this.nodes.map((node) => `${node.name}: ${this.log(node).slice(-LOG_END)}`).join("\n");
  }

  log(node: NodeProcess): string {
    return readFileSync(join(this.folder, `${node.name}.log`), "utf8");
  }

  /** Writes into the folder what all processes have logged, what etcd holds, and what each node says of itself. */
  async keepState(into: string): Promise<void> {
    mkdirSync(into, { recursive: true });
    for (const [number, member] of this.etcd.entries()) {
      copyFileSync(member.logFile, join(into, `etcd-${number}.log`));
      writeFileSync(join(into, `etcd-${number}.txt`), member.state());
    }
    for (const node of this.nodes) {
      copyFileSync(join(this.folder, `${node.name}.log`), join(into, `${node.name}.log`));
      for (const [name, path] of SAID) {
        const headers = { authorization: `Bearer ${this.token}` };
        const asked = fetch(`http://127.0.0.1:${node.port}${path}`, { headers, signal: AbortSignal.timeout(5000) });
        const said = await asked.then((answer) => answer.text(), String);
        writeFileSync(join(into, `${node.name}-${name}.txt`), said);
      }
    }
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
  async execute(
    node: NodeProcess,
    sql: string,
    parameters: readonly unknown[],
    timeoutMs = 15_000,
    { staleMs, idempotencyKey }: { staleMs?: number; idempotencyKey?: string } = {},
  ): Promise<Answer> {
    const asked: Record<string, string> = {
      ...(staleMs !== undefined && { "x-tessera-consistency": `stale; max_ms=${staleMs}` }),
      ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
    };
    const answer = await fetch(`http://127.0.0.1:${node.port}/v1/query/execute`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${this.token}`, ...asked },
      body: JSON.stringify({ sql, parameters }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const told = (await answer.json()) as { data: Answer["data"]; error?: { code: string } };
    return {
      status: answer.status,
      data: told.data,
      code: told.error?.code ?? null,
      staleMs: answer.headers.get("x-tessera-stale-ms"),
    };
  }

  /** Throws when there is no answer. Without a token of another's it is the administrator who asks. */
  get(node: NodeProcess, path: string, token = this.token): Promise<{ status: number; data: unknown }> {
    return this.ask(node, path, token, {});
  }

  /** Throws when there is no answer. The administrator asks. */
  post(node: NodeProcess, path: string, body: object): Promise<{ status: number; data: unknown }> {
    return this.ask(node, path, this.token, { method: "POST", body: JSON.stringify(body) });
  }

  /** Throws when there is no answer. The administrator asks, in that branch. Null: the answer has no data. */
  async send(node: NodeProcess, method: string, path: string, body?: object, branch = "") {
    const init = { method, ...(body !== undefined && { body: JSON.stringify(body) }) };
    return this.ask(node, path, this.token, init, branch === "" ? {} : { "x-tessera-branch": branch });
  }

  private async ask(
    node: NodeProcess,
    path: string,
    token: string,
    init: RequestInit,
    headers: Record<string, string> = {},
  ) {
    const answer = await fetch(`http://127.0.0.1:${node.port}${path}`, {
      ...init,
      headers: { ...headers, authorization: `Bearer ${token}`, "content-type": "application/json" },
      signal: AbortSignal.timeout(15_000),
    });
    const text = await answer.text();
    return { status: answer.status, data: text === "" ? null : (JSON.parse(text) as { data: unknown }).data };
  }

  async close(): Promise<void> {
    for (const node of this.nodes) node.child?.kill("SIGCONT");
    await Promise.all(this.nodes.map((node) => this.end(node, "SIGKILL")));
    for (const { toEtcd, fromNodes } of this.nodes) for (const link of [...toEtcd, fromNodes]) link.close();
    for (const { disk } of this.nodes) disk?.unmount();
    this.map.close();
    await Promise.all(this.etcd.map((member) => member.end()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}
