/**
 * Lists to which clients append numbers through all nodes of a cluster while nodes are killed, stopped and ended. The
 * table is list (k, n) with a sequence of each append, so a read of a list is what was appended so far, in order.
 * Beside them money moves between accounts, a subscriber follows the lists, and a reader reads long answers.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { SeededRandom } from "../../simulation/seeded-random.js";
import { Bank } from "./bank.js";
import { ClusterProcesses, type NodeProcess } from "./cluster-processes.js";
import { Follower, PASSING, StreamReader } from "./readers.js";

/** After an hour each has some thousand numbers. */
const LISTS = 20;
const WRITERS = 6;
const TELLERS = 2;
const DONE = "done";
/** Each some hundred milliseconds. */
const REPEATS_MAX = 50;
const FIXED_ROWS = 20_000;
const STALE_MS = 10_000;
const APPEND = "INSERT INTO list (k, n) VALUES ($1, $2)";
const READ = "SELECT n FROM list WHERE k = $1 ORDER BY at";
/** A client asks another node then: the one that it asked may stand still. */
const ASKED_MS = 2000;
export const FAULTS = [
  ...(["hand-over", "kill", "stop", "end", "cut-from-etcd", "cut-from-nodes", "cut-off", "slow", "etcd-kill"] as const),
  ...(["actor-down", "etcd-wipe", "full-disk"] as const),
];
export type Fault = (typeof FAULTS)[number];
/** Of each link, each way. */
const SLOW_MS = 200;

export interface Gap {
  readonly fault: Fault;
  /** Of the node that owned the partition which is written to. */
  readonly ofOwner: boolean;
  readonly ms: number;
}

export interface ClusterFindings {
  readonly problems: readonly string[];
  readonly acknowledged: number;
  readonly unknown: number;
  /** Appends that were asked for again until they were acknowledged. */
  readonly repeated: number;
  readonly refusals: ReadonlyMap<string, number>;
  /** The longest time in each round in which nothing was acknowledged, milliseconds. */
  readonly gaps: readonly Gap[];
  /** How often partitions got another owner, or the same one anew. */
  readonly takeovers: number;
  readonly transfers: number;
  readonly changesSeen: number;
  /** Long answers that were read to their end, and those that broke off and were taken up elsewhere. */
  readonly answers: { readonly whole: number; readonly broken: number };
}

/** What a read of a list saw: most often what the one before saw, and a little more. */
interface Read {
  /** So many leading numbers are those of the read before. */
  readonly same: number;
  readonly rest: readonly number[];
}

export class ClusterTorture {
  private readonly acknowledged: number[][] = Array.from({ length: LISTS }, () => []);
  private readonly reads: Read[][] = Array.from({ length: LISTS }, () => []);
  private readonly lastReads: (readonly number[])[] = Array.from({ length: LISTS }, () => []);
  private readonly problems: string[] = [];
  /** Of each number, how it was asked for: what is known of one that is lost. */
  private readonly asked = new Map<number, string[]>();
  private hasLost = false;
  private readonly gaps: Gap[] = [];
  private unknown = 0;
  private repeated = 0;
  /** Why appends were not acknowledged. */
  private readonly refusals = new Map<string, number>();
  /** What no fault explains. */
  private endedBy: Error | null = null;
  private next = 1;
  private lastMs = performance.now();
  private gapMs = 0;
  private isOver = false;
  private clients: Promise<void>[] = [];
  private takeovers = 0;
  private epochs: ReadonlyMap<number, string> = new Map();

  private constructor(
    private readonly cluster: ClusterProcesses,
    private readonly random: SeededRandom,
    private readonly bank: Bank,
    private readonly follower: Follower,
    private readonly reader: StreamReader,
  ) {}

  static async start(seed: number): Promise<ClusterTorture> {
    const cluster = await ClusterProcesses.start(3, { hasDisks: true });
    const random = new SeededRandom(seed);
    const tables = [
      "CREATE TABLE IF NOT EXISTS list (k integer, at bigserial, n integer UNIQUE, PRIMARY KEY (k, at))",
      "CREATE TABLE IF NOT EXISTS fixed (id integer PRIMARY KEY, filler text)",
      `INSERT INTO fixed SELECT i, repeat('x', 100) FROM generate_series(1, ${FIXED_ROWS}) i ON CONFLICT DO NOTHING`,
      ...Bank.TABLES,
    ];
    for (const sql of tables) await surely(cluster, sql, []);
    const clients = cluster.nodes.map((node) => cluster.client(node));
    const staleSum = async (node: number, sql: string) => {
      const asked = cluster.execute(cluster.nodes[node]!, sql, [], ASKED_MS, { staleMs: STALE_MS });
      const answer = await asked.catch(() => null);
      return answer?.status === 200 ? answer.data.rows[0]! : null;
    };
    const bank = new Bank(clients, random, staleSum);
    const [follower, reader] = [new Follower(clients, "list"), new StreamReader(clients, "fixed", FIXED_ROWS)];
    await follower.begun;
    const torture = new ClusterTorture(cluster, random, bank, follower, reader);
    torture.clients = Array.from({ length: WRITERS }, (_, writer) => torture.client(writer));
    torture.clients.push(...Array.from({ length: TELLERS }, () => bank.work(() => torture.isOver)));
    torture.epochs = await cluster.epochs();
    return torture;
  }

  private async client(writer: number): Promise<void> {
    for (let turn = writer; !this.isOver; turn++) {
      const node = this.cluster.nodes[turn % this.cluster.nodes.length]!;
      const list = Math.floor(this.random.next() * LISTS);
      try {
        if (turn % 4 === 3) await this.read(node, list);
        else await this.append(node, list);
      } catch {
        await sleep(20);
      }
    }
  }

  private async append(node: NodeProcess, list: number): Promise<void> {
    const n = this.next++;
    const key = `append ${n}`;
    if ((await this.tryAppend(node, list, n, key)) !== DONE) {
      await sleep(20);
      if (this.random.chance(0.5) || !(await this.repeat(list, n, key))) return;
    }
    this.acknowledged[list]!.push(n);
    const now = performance.now();
    this.gapMs = Math.max(this.gapMs, now - this.lastMs);
    this.lastMs = now;
  }

  /** DONE, or why it is not acknowledged; then it is not known whether it was done. */
  private async tryAppend(node: NodeProcess, list: number, n: number, key: string): Promise<string> {
    const began = Date.now();
    const outcome = await this.ask(node, list, n, key);
    const asked = this.asked.get(n) ?? [];
    asked.push(`${node.name} at ${new Date(began).toISOString()}, ${Date.now() - began} ms: ${outcome}`);
    this.asked.set(n, asked);
    return outcome;
  }

  private async ask(node: NodeProcess, list: number, n: number, key: string): Promise<string> {
    let why = "no answer";
    try {
      const { status, code } = await this.cluster.execute(node, APPEND, [list, n], ASKED_MS, { idempotencyKey: key });
      if (status === 200) return DONE;
      why = code ?? String(status);
      if (!PASSING.includes(status)) this.endedBy ??= new Error(`an append was refused with ${status}, ${why}`);
    } catch {
      // The node is gone, or stands still.
    }
    this.unknown++;
    this.refusals.set(why, (this.refusals.get(why) ?? 0) + 1);
    return why;
  }

  /** Asks again with the same key, wherever there is an answer: what was done before is not done twice, nor refused. */
  private async repeat(list: number, n: number, key: string): Promise<boolean> {
    for (let tries = 0; !this.isOver && tries < REPEATS_MAX; tries++) {
      const outcome = await this.tryAppend(this.cluster.nodes[tries % this.cluster.nodes.length]!, list, n, key);
      if (outcome === DONE) {
        this.repeated++;
        return true;
      }
      if (outcome === "constraint_violation") this.problems.push(`${n} is there, and asked for again it is refused`);
      await sleep(200);
    }
    return false;
  }

  /** What was acknowledged before the read began must be in it. */
  private async read(node: NodeProcess, list: number): Promise<void> {
    const before = [...this.acknowledged[list]!];
    const { status, data } = await this.cluster.execute(node, READ, [list], ASKED_MS);
    if (status !== 200) return;
    const numbers = data.rows.map(([n]) => n as number);
    const seen = new Set(numbers);
    const missing = before.filter((n) => !seen.has(n));
    if (missing.length > 0) this.lost(`a read of list ${list} at ${node.name} lacks`, missing);
    const last = this.lastReads[list]!;
    let same = 0;
    while (same < numbers.length && numbers[same] === last[same]) same++;
    this.reads[list]!.push({ same, rest: numbers.slice(same) });
    this.lastReads[list] = numbers;
  }

  private lost(what: string, numbers: readonly number[]): void {
    this.problems.push(`${what} ${numbers.join(", ")}`);
    if (this.hasLost) return;
    this.hasLost = true;
    console.log(`${new Date().toISOString()} ${what}:`);
    for (const n of numbers) console.log(`${n}: ${this.asked.get(n)!.join("; ")}`);
    if (process.env.LOGS) void this.cluster.keepState(process.env.LOGS);
  }

  /** One fault, most of them of the node that owns what is written, and until nodes serve again. */
  async round(fault: Fault): Promise<Gap> {
    await sleep(2000);
    const { partition, owner } = await this.cluster.busiestPartition();
    const others = this.cluster.nodes.filter(({ name }) => name !== owner);
    const other = others[Math.floor(this.random.next() * others.length)]!;
    const owning = this.cluster.nodes.find(({ name }) => name === owner) ?? other;
    const node = fault === "hand-over" || this.random.next() < 0.3 ? other : owning;
    this.gapMs = 0;
    this.lastMs = performance.now();
    await this.make(fault, node, partition);
    const seen = this.acknowledgedCount;
    for (let tries = 0; this.acknowledgedCount < seen + 20; tries++) {
      if (this.endedBy !== null) throw this.endedBy;
      if (tries > 600) {
        if (process.env.LOGS) await this.cluster.keepState(process.env.LOGS);
        const why = JSON.stringify([...this.refusals]);
        throw new Error(`nothing is acknowledged a minute after ${fault}, ${why}:\n${this.cluster.logEnds()}`);
      }
      await sleep(100);
    }
    const gap = { fault, ofOwner: node === owning, ms: Math.round(this.gapMs) };
    this.gaps.push(gap);
    const [ended] = this.cluster.endedAlone;
    if (ended !== undefined) throw new Error(ended);
    const epochs = await this.cluster.epochs();
    for (const [partition, epoch] of epochs) if (this.epochs.get(partition) !== epoch) this.takeovers++;
    this.epochs = epochs;
    return gap;
  }

  private async make(fault: Fault, node: NodeProcess, partition: number): Promise<void> {
    const during = 2000 + this.random.next() * 10_000;
    if (fault === "hand-over") {
      await this.cluster.handOver(partition, node.name);
      for (let tries = 0; tries < 300; tries++) {
        if ((await this.cluster.ownerOf(partition)) === node.name) break;
        await sleep(100);
      }
      await sleep(1000);
      await this.cluster.handOver(partition, null);
    } else if (fault === "stop") {
      node.child!.kill("SIGSTOP");
      await sleep(during);
      node.child!.kill("SIGCONT");
    } else if (fault === "kill" || fault === "end") {
      await this.cluster.end(node, fault === "kill" ? "SIGKILL" : "SIGTERM");
      await sleep(this.random.next() * 4000);
      this.cluster.run(node);
    } else if (fault === "actor-down") {
      await this.cluster.crashActor(node);
      await sleep(during);
      this.cluster.letActorStart(node);
    } else if (fault === "etcd-kill") {
      await this.cluster.killEtcd(Math.floor(this.random.next() * 3), during);
    } else if (fault === "etcd-wipe") {
      await this.cluster.wipeEtcd(Math.floor(this.random.next() * 3), during);
    } else if (fault === "full-disk") {
      const makeRoom = node.disk!.fill();
      await sleep(during);
      makeRoom();
    } else {
      const links = [
        ...(fault === "cut-from-nodes" ? [] : node.toEtcd),
        ...(fault === "cut-from-etcd" ? [] : [node.fromNodes]),
      ];
      for (const link of links) {
        if (fault === "slow") link.delayMs = SLOW_MS;
        else link.isCut = true;
      }
      await sleep(during);
      for (const link of links) link.heal();
    }
  }

  private get acknowledgedCount(): number {
    return this.acknowledged.reduce((sum, list) => sum + list.length, 0);
  }

  async finish(): Promise<ClusterFindings> {
    this.isOver = true;
    try {
      await Promise.all(this.clients);
      const numbers = new Set<number>();
      for (let list = 0; list < LISTS; list++) for (const n of await this.check(list)) numbers.add(n);
      await this.reader.finish();
      await this.follower.finish(numbers);
      await this.bank.finish((sql) => surely(this.cluster, sql, []));
    } finally {
      await this.cluster.close();
    }
    const { unknown, repeated, refusals, gaps, takeovers, bank, follower, reader } = this;
    return {
      problems: [...this.problems, ...bank.problems, ...follower.problems, ...reader.problems],
      ...{ acknowledged: this.acknowledgedCount, unknown, repeated, refusals, gaps, takeovers },
      ...{ transfers: bank.acknowledged.length, changesSeen: follower.numbers.length },
      answers: { whole: reader.whole, broken: reader.broken },
    };
  }

  /** All numbers of the list. */
  private async check(list: number): Promise<readonly number[]> {
    const rows = await surely(this.cluster, READ, [list]);
    const last = rows.map(([n]) => n as number);
    const seen = new Set(last);
    const lost = this.acknowledged[list]!.filter((n) => !seen.has(n));
    if (lost.length > 0) this.lost(`list ${list} has lost`, lost);
    if (seen.size !== last.length) this.problems.push(`list ${list} has a number twice`);
    const place = new Map(last.map((n, index) => [n, index]));
    const places: number[] = [];
    for (const { same, rest } of this.reads[list]!) {
      places.length = same;
      for (const n of rest) places.push(place.get(n) ?? -1);
      const read = places.slice(Math.max(0, same - 1));
      if (read.includes(-1)) this.problems.push(`a read of list ${list} saw what is not there any more`);
      if (read.some((at, index) => index > 0 && at <= read[index - 1]!))
        this.problems.push(`a read of list ${list} saw another order`);
    }
    return last;
  }
}

/** Tried until a node answers it. */
async function surely(cluster: ClusterProcesses, sql: string, parameters: readonly unknown[]): Promise<unknown[][]> {
  for (let tries = 0; ; tries++) {
    const node = cluster.nodes[tries % cluster.nodes.length]!;
    try {
      const { status, data, code } = await cluster.execute(node, sql, parameters, 20_000);
      if (status === 200) return data.rows;
      if (tries > 100) throw new Error(`${sql}: ${code}`);
    } catch (error) {
      if (tries > 100) throw error;
    }
    await sleep(200);
  }
}
