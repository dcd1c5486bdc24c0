/**
 * Copies of partitions on the disks of some nodes, in virtual time: the real leases, tenures, placement, replicated
 * logs and followers, on the model of the log service behind a network that fails. Commits are empty, disks are in
 * memory and outlive their nodes. At any moment what the service was told to forget must be on two disks.
 */
import type { ClusterView } from "../../../src/cluster/cluster-map.js";
import { Lease } from "../../../src/cluster/lease.js";
import { LeaseMemory, newLeaseMemory } from "../../../src/cluster/lease-memory.js";
import { LogFollower } from "../../../src/cluster/log-follower.js";
import type { CopySetChange, LogUsage, Position, Revision } from "../../../src/cluster/log-service.js";
import type { PartitionCopy } from "../../../src/cluster/partition-copy.js";
import { Tenures } from "../../../src/cluster/tenures.js";
import { DbError } from "../../../src/protocol/errors.js";
import type { CommitLog } from "../../../src/storage/commit-log.js";
import { MemoryCommitLog } from "../../../src/storage/memory-commit-log.js";
import type { SeededRandom } from "../seeded-random.js";
import { Owner as Thread, type VirtualLoop } from "../virtual-loop.js";
import { NodeLink, SimulatedLog, TrueLog } from "./simulated-log.js";

export const COPY_SABOTAGES = [
  "a node goes and deletes its copy before others have it",
  "etcd forgets what only one disk has",
] as const;

export type CopySabotage = (typeof COPY_SABOTAGES)[number];

const PARTITIONS = 3;
const NODES = 5;
const COPIES = 2;
/** Disks that have what the service was told to forget. */
const HOLDERS = 2;
const REPLACE_AFTER_MS = 8000;
const DROP_AFTER_MS_MAX = 3000;
/** Of requests that are delivered twice. */
const TWICE = 0.15;
const RENEW_MS = 1000;
const WRITE_MS_MAX = 400;
const RESTART_MS = 300;
const FULL_BYTES = 700 * 1024 * 1024;

class CopiesLog extends TrueLog {
  isFilling = false;
  readonly wants = new Map<number, string>();

  constructor(
    private readonly world: SimulatedCopies,
    random: SeededRandom,
    private readonly copySabotage: CopySabotage | null,
  ) {
    super(null, random);
  }

  override setCopies(change: CopySetChange): Promise<Revision | null> {
    const { nodes } = change;
    const owner = this.owners.get(change.partition)?.node;
    const isHasty =
      this.copySabotage === "a node goes and deletes its copy before others have it" && nodes.length > COPIES;
    if (!isHasty) return super.setCopies(change);
    const has = (node: string): number => this.durable.get(change.partition)?.get(node) ?? -1;
    const [gone] = nodes.filter((node) => node !== owner).sort((a, b) => has(b) - has(a)) as [string];
    const forgotten = [...change.forgotten, gone];
    return super.setCopies({ ...change, nodes: nodes.filter((node) => node !== gone), forgotten });
  }

  override async trim(partition: number, before: Position): Promise<void> {
    await super.trim(partition, before);
    const { trimmed } = this.world;
    trimmed[partition] = Math.max(trimmed[partition]!, before.sequence - 1);
    this.world.check(`etcd forgot partition ${partition} up to ${before.sequence - 1}`);
  }

  override async usage(): Promise<LogUsage> {
    return { bytes: this.isFilling ? FULL_BYTES : 0, isFull: false };
  }

  async view(): Promise<ClusterView> {
    const durable = new Map<number, ReadonlyMap<string, number>>();
    for (let partition = 0; partition < PARTITIONS; partition++) durable.set(partition, await this.reports(partition));
    return {
      ...{ owners: new Map(this.owners), members: new Map(this.members), copySets: new Map(this.copySets), durable },
      checkpoints: new Map(this.checkpoints),
      ...{ wants: new Map(this.wants), draining: new Map() },
    };
  }
}

/** A node's copy of a partition that it does not own, on a disk in memory. */
class SimulatedCopy {
  durable = -1;
  private follower: LogFollower | null = null;

  constructor(
    private readonly node: CopyNode,
    private readonly partition: number,
    private readonly service: SimulatedLog,
  ) {}

  async catchUp(): Promise<void> {
    const local = this.open();
    await this.follower!.catchUp(this.service, this.partition, () => undefined);
    this.durable = local.lastSequence;
  }

  private open(): CommitLog {
    const local = this.node.diskOf(this.partition);
    this.follower ??= new LogFollower(local);
    this.durable = local.lastSequence;
    return local;
  }

  async replace(fetch: (folder: string) => Promise<unknown>): Promise<void> {
    this.open();
    await fetch("");
    const upTo = this.node.fetched.get(this.partition)!;
    if (upTo < this.durable) throw new DbError("partition_unavailable", "The state of the other node is older.");
    const disk = new MemoryCommitLog();
    if (upTo > 0) disk.appendGap(upTo, 0);
    this.node.disks.set(this.partition, disk);
    this.follower = null;
    this.open();
  }

  async drop(mayGo: (durable: number) => Promise<boolean>): Promise<boolean> {
    const { node, partition } = this;
    if (!node.disks.has(partition)) return true;
    this.open();
    const isRight = node.world.sabotage === COPY_SABOTAGES[0] ? await this.isOut() : await mayGo(this.durable);
    if (isRight) {
      node.disks.delete(partition);
      node.world.drops++;
      node.world.check(`${node.name} deleted its copy of ${partition}`);
    }
    this.durable = -1;
    return isRight;
  }

  private async isOut(): Promise<boolean> {
    return (await this.service.copySet(this.partition))?.nodes.includes(this.node.name) === false;
  }

  async close(): Promise<void> {
    this.follower = null;
  }
}

export class CopyNode {
  readonly name: string;
  readonly disks = new Map<number, MemoryCommitLog>();
  readonly fetched = new Map<number, number>();
  readonly link = new NodeLink();
  readonly open = new Set<number>();
  isUp = false;
  private threads: Thread[] = [];
  private lives = 0;

  constructor(
    readonly world: SimulatedCopies,
    index: number,
  ) {
    this.name = `n${index}`;
  }

  diskOf(partition: number): MemoryCommitLog {
    const disk = this.disks.get(partition) ?? new MemoryCommitLog();
    this.disks.set(partition, disk);
    return disk;
  }

  start(): void {
    const { loop, random, truth, quorum } = this.world;
    this.isUp = true;
    this.link.twice = TWICE;
    const life = ++this.lives;
    const [keeper, actor] = [new Thread(`${this.name}.${life}.lease`), new Thread(`${this.name}.${life}.actor`)];
    this.threads = [keeper, actor];
    const clock = { monotonicMs: () => loop.now, wallMs: () => loop.epochMs + loop.now };
    const memory = new LeaseMemory(newLeaseMemory(), clock);
    const service = new SimulatedLog(loop, random, truth, this.link, quorum);
    const lease = new Lease({
      ...{ service, node: this.name, clock, address: this.name },
      newIncarnation: () => `${this.name}.${life}.${random.next()}`,
      actors: () => memory.actors,
      onLost: () => memory.lost(),
      onRenewed: (believed) => memory.renewed(believed),
    });
    const renew = (): void => {
      loop.after(RENEW_MS, renew);
      void lease.renew();
    };
    loop.after(random.next() * RENEW_MS, renew, keeper);
    loop.after(random.next() * RENEW_MS, () => this.startActor(service, memory, actor), actor);
  }

  private startActor(service: SimulatedLog, lease: LeaseMemory, thread: Thread): void {
    const { world } = this;
    const { loop, random, truth, sabotage } = world;
    const logs = new Map<number, CommitLog>();
    const tenures: Tenures = new Tenures({
      ...{ node: this.name, actor: 0, service, lease, partitions: PARTITIONS, reads: "lease" },
      copies: sabotage === "etcd forgets what only one disk has" ? 1 : COPIES,
      ...{ replaceAfterMs: REPLACE_AFTER_MS, dropAfterMs: world.dropAfterMs },
      clock: { monotonicMs: () => loop.now, wallMs: () => loop.epochMs + loop.now },
      map: {
        view: () => service.asked(() => truth.view()),
        changes: (told) => truth.changes(loop, told),
      },
      mine: Array.from({ length: PARTITIONS }, (_, partition) => partition),
      copyOf: (partition) => new SimulatedCopy(this, partition, service) as unknown as PartitionCopy,
      fetch: (partition, address) => this.fetch(partition, address),
      failed: () => {
        if (!thread.alive) return;
        this.open.clear();
        thread.alive = false;
        lease.actorDown(0);
        const next = new Thread(`${thread.name}'`);
        this.threads[1] = next;
        loop.after(RESTART_MS, () => this.startActor(service, lease, next), next);
      },
      log: (level, message, fields) => {
        if (level === "error") world.problems.push(`${this.name}: ${message} ${JSON.stringify(fields)}`);
      },
    });
    tenures.begin({
      open: async (partition) => {
        const log = await tenures.replicate(partition, this.diskOf(partition));
        const acknowledged = world.acknowledged[partition]!;
        if (log.lastSequence < acknowledged)
          world.problems.push(`${this.name} owns ${partition} up to ${log.lastSequence} of ${acknowledged}`);
        logs.set(partition, log);
        this.open.add(partition);
        world.openings++;
        void this.write(partition, log, () => logs.get(partition) === log);
      },
      close: async (partition) => {
        const log = logs.get(partition)!;
        logs.delete(partition);
        this.open.delete(partition);
        await loop.sleep(random.next() * 50);
        await log.close();
        return true;
      },
      openCopy: async () => Promise.reject(new Error("no copy is read here")),
      armTurn: () => undefined,
    });
  }

  private async write(partition: number, log: CommitLog, isOpen: () => boolean): Promise<void> {
    const { loop, random, acknowledged } = this.world;
    for (let sequence = log.lastSequence + 1; ; sequence++) {
      await loop.sleep(random.next() * WRITE_MS_MAX);
      if (!isOpen()) return;
      try {
        log.append([{ sequence, micros: sequence, operations: [] }]);
        await log.sync();
      } catch {
        // Refused or deposed: the tenures find out.
        return;
      }
      acknowledged[partition] = Math.max(acknowledged[partition]!, sequence);
    }
  }

  private async fetch(partition: number, address: string): Promise<number> {
    const { loop, random, nodes } = this.world;
    const source = nodes.find(({ name }) => name === address)!;
    await loop.sleep(random.next() * 1500);
    if (!source.isUp || !source.disks.has(partition)) throw new DbError("partition_unavailable", "It is not there.");
    this.world.fetches++;
    this.fetched.set(partition, source.disks.get(partition)!.lastSequence);
    return 1;
  }

  kill(): void {
    this.isUp = false;
    this.open.clear();
    for (const thread of this.threads) thread.alive = false;
  }
}

export class SimulatedCopies {
  readonly truth: CopiesLog;
  readonly quorum = { isThere: true };
  readonly nodes: CopyNode[];
  readonly problems: string[] = [];
  readonly acknowledged: number[] = Array.from({ length: PARTITIONS }, () => 0);
  /** Up to which the service has forgotten. */
  readonly trimmed: number[] = Array.from({ length: PARTITIONS }, () => 0);
  openings = 0;
  drops = 0;
  fetches = 0;
  readonly dropAfterMs: number;

  constructor(
    readonly loop: VirtualLoop,
    readonly random: SeededRandom,
    readonly sabotage: CopySabotage | null,
  ) {
    this.truth = new CopiesLog(this, random, sabotage);
    this.dropAfterMs = random.next() * DROP_AFTER_MS_MAX;
    this.nodes = Array.from({ length: NODES }, (_, index) => new CopyNode(this, index));
  }

  check(when: string): void {
    for (const [partition, upTo] of this.trimmed.entries()) {
      if (upTo === 0) continue;
      const has = (node: CopyNode): boolean => (node.disks.get(partition)?.lastSequence ?? 0) >= upTo;
      const holders = this.nodes.filter(has).map(({ name }) => name);
      if (holders.length >= HOLDERS) continue;
      this.problems.push(
        `${when}: commit ${upTo} of ${partition} is on the disk of ${holders.join() || "nobody"} only`,
      );
    }
  }

  /** What is still to come until each partition is owned, and exactly as many nodes have it as shall. */
  get unsettled(): string[] {
    return this.acknowledged.flatMap((_, partition) => {
      const owners = this.nodes.filter(({ open }) => open.has(partition));
      const holders = this.nodes.filter(({ disks }) => disks.has(partition));
      const isSettled = owners.length === 1 && holders.length === COPIES && holders.includes(owners[0]!);
      if (isSettled) return [];
      const named = (nodes: readonly CopyNode[]): string => nodes.map(({ name }) => name).join();
      return [`partition ${partition} is owned by ${named(owners)} and kept by ${named(holders)}`];
    });
  }
}
