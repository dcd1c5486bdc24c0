/**
 * Very many nodes and partitions in virtual time, without any data: who owns what, from the real leases, tenures and
 * placement, on the model of the log service behind a slow network. `make sim-control-plane NODES=300 PARTITIONS=2048`.
 * A partition is served while a node has it open and its lease holds; nothing is copied, so each node may take each
 * partition.
 */
import type { ClusterView } from "../../../src/cluster/cluster-map.js";
import { Lease, type NodeClock } from "../../../src/cluster/lease.js";
import { LeaseMemory, newLeaseMemory } from "../../../src/cluster/lease-memory.js";
import type { Claim, CopySet, CopySetChange, Owner, Revision } from "../../../src/cluster/log-service.js";
import type { PartitionCopy } from "../../../src/cluster/partition-copy.js";
import { type OrderOf, Placement, type PlacementInput } from "../../../src/cluster/placement.js";
import { Tenures } from "../../../src/cluster/tenures.js";
import { MemoryCommitLog } from "../../../src/storage/memory-commit-log.js";
import type { SeededRandom } from "../seeded-random.js";
import { Owner as Thread, type VirtualLoop } from "../virtual-loop.js";
import { NodeLink, SimulatedLog, TrueLog } from "./simulated-log.js";

const RENEW_MS = 1000;
const ACTORS_LOOK_MS = 50;
/** To read a partition's log and open its files, and to close them. */
const OPEN_MS_MAX = 300;
const CLOSE_MS_MAX = 50;
const RESTART_MS = 300;

/** What may be wrong with the nodes. */
export type ControlSabotage = "records do not tell which actors are ready";

const NO_WANTS = new Map<number, string>();
const NOBODY: ClusterView["draining"] = new Map();

/** All of it at one moment. */
class ControlLog extends TrueLog {
  private known: ReadonlyMap<number, Owner> | null = null;
  private knownSets: ReadonlyMap<number, CopySet> | null = null;

  override async claim(claim: Claim): Promise<Revision | null> {
    this.known = null;
    return super.claim(claim);
  }

  override async setCopies(change: CopySetChange): Promise<Revision | null> {
    this.knownSets = null;
    return super.setCopies(change);
  }

  /** The same maps while they are the same. */
  view() {
    this.known ??= new Map(this.owners);
    this.knownSets ??= new Map(this.copySets);
    const none = { wants: NO_WANTS, checkpoints: this.checkpoints, draining: NOBODY, durable: this.durable };
    return { owners: this.known, copySets: this.knownSets, members: new Map(this.members), ...none };
  }
}

/** Answers that are kept: nodes differ for a while in whom they take to be alive. */
const ANSWERS_MAX = 16;

/** In place of one in each node, which would all come to the same. */
class SharedPlacement {
  private readonly placement: Placement;
  private readonly answers = new Map<string, OrderOf>();
  private last: Promise<unknown> = Promise.resolve();

  constructor(partitions: number) {
    this.placement = new Placement(partitions);
  }

  /** Nobody drains and wishes nothing here, so an answer rests on the nodes alone. */
  place(input: PlacementInput): Promise<OrderOf> {
    const key = input.nodes.join();
    const done = this.last.then(async () => {
      const answer = this.answers.get(key) ?? (await this.placement.place(input));
      this.answers.delete(key);
      this.answers.set(key, answer);
      const [oldest] = this.answers.keys();
      if (this.answers.size > ANSWERS_MAX) this.answers.delete(oldest!);
      return answer;
    });
    this.last = done;
    return done;
  }
}

class ControlNode {
  readonly name: string;
  isUp = false;
  readonly open = new Set<number>();
  private readonly link = new NodeLink();
  private threads: Thread[] = [];
  private lease!: LeaseMemory;
  private clock!: NodeClock;
  private service!: SimulatedLog;
  private stopActor: () => void = () => undefined;
  private lives = 0;

  constructor(
    private readonly plane: ControlPlane,
    index: number,
  ) {
    this.name = `n${index}`;
  }

  get holds(): boolean {
    return this.isUp && this.lease.holds;
  }

  start(): void {
    const { loop, random, truth, quorum } = this.plane;
    this.isUp = true;
    const life = ++this.lives;
    const [keeper, actor] = [new Thread(`${this.name}.${life}.lease`), new Thread(`${this.name}.${life}.actor`)];
    this.threads = [keeper, actor];
    const clock = { monotonicMs: () => loop.now, wallMs: () => loop.epochMs + loop.now };
    this.lease = new LeaseMemory(newLeaseMemory(), clock);
    this.clock = clock;
    const shared = this.lease;
    const isMute = this.plane.sabotage === "records do not tell which actors are ready";
    const service = new SimulatedLog(loop, random, truth, this.link, quorum);
    const lease = new Lease({
      ...{ service, node: this.name, clock, address: `${this.name}:1` },
      newIncarnation: () => `${this.name}.${life}.${random.next()}`,
      ...(!isMute && { actors: () => shared.actors }),
      onLost: () => shared.lost(),
      onRenewed: (believed) => shared.renewed(believed),
    });
    let told = "";
    let toldMs = 0;
    // As lease-thread.ts does.
    const renew = (): void => {
      loop.after(ACTORS_LOOK_MS, renew);
      if (loop.now - toldMs < RENEW_MS && shared.actors === told) return;
      [told, toldMs] = [shared.actors, loop.now];
      void lease.renew();
    };
    this.service = service;
    // Nodes do not start in step.
    loop.after(random.next() * RENEW_MS, renew, keeper);
    loop.after(random.next() * RENEW_MS, () => this.startActor(), actor);
  }

  private startActor(): void {
    const { plane, lease, service, clock } = this;
    const { loop, partitions } = plane;
    const nothing = async (): Promise<void> => undefined;
    const copy = { durable: 0, catchUp: nothing, close: nothing, drop: async () => true };
    const map = {
      view: () => loop.sleep(1 + plane.random.next() * 4).then(() => plane.truth.view()),
      changes: (told: () => void) => plane.truth.changes(loop, told),
    };
    let isOver = false;
    const tenures = new Tenures({
      ...{ node: this.name, actor: 0, map, service, lease, partitions, reads: "lease", copies: 3, clock },
      mine: Array.from({ length: partitions }, (_, partition) => partition),
      placement: plane.placement,
      copyOf: () => copy as unknown as PartitionCopy,
      fetch: () => Promise.reject(new Error("nothing is copied")),
      failed: () => {
        if (isOver) return;
        isOver = true;
        this.open.clear();
        void tenures.stop();
        this.crashActor(RESTART_MS);
      },
      log: (level, message, fields) => {
        if (level === "error") plane.problems.push(`${this.name}: ${message} ${JSON.stringify(fields)}`);
      },
    });
    this.stopActor = () => {
      isOver = true;
    };
    tenures.begin({
      open: async (partition) => {
        await tenures.replicate(partition, new MemoryCommitLog());
        await loop.sleep(plane.random.next() * OPEN_MS_MAX);
        if (isOver) return;
        this.open.add(partition);
        plane.opened(partition, this);
      },
      close: async (partition) => {
        await loop.sleep(plane.random.next() * CLOSE_MS_MAX);
        this.open.delete(partition);
        return true;
      },
      openCopy: async () => Promise.reject(new Error("no copy is read here")),
      armTurn: () => undefined,
    });
  }

  /** The actor's thread ends in the middle of whatever it did; the next one is ready after so long. */
  crashActor(startMs: number): void {
    const { plane, threads } = this;
    plane.restarts++;
    this.stopActor();
    this.open.clear();
    threads[1]!.alive = false;
    this.lease.actorDown(0);
    const actor = new Thread(`${threads[1]!.name}'`);
    this.threads = [threads[0]!, actor];
    plane.loop.after(startMs, () => this.startActor(), actor);
  }

  kill(): void {
    this.isUp = false;
    this.open.clear();
    for (const thread of this.threads) thread.alive = false;
  }
}

export class ControlPlane {
  readonly truth: ControlLog;
  readonly quorum = { isThere: true };
  readonly placement: SharedPlacement;
  readonly nodes: ControlNode[];
  readonly problems: string[] = [];
  openings = 0;
  restarts = 0;

  constructor(
    readonly loop: VirtualLoop,
    readonly random: SeededRandom,
    readonly partitions: number,
    nodes: number,
    readonly sabotage: ControlSabotage | null = null,
  ) {
    this.truth = new ControlLog(null, random);
    this.placement = new SharedPlacement(partitions);
    this.nodes = Array.from({ length: nodes }, (_, index) => new ControlNode(this, index));
  }

  opened(partition: number, by: ControlNode): void {
    this.openings++;
    const others = this.nodes.filter((node) => node !== by && node.holds && node.open.has(partition));
    for (const { name } of others) this.problems.push(`${by.name} serves ${partition} while ${name} does`);
  }

  private get served(): number {
    const all = new Set(this.nodes.filter(({ holds }) => holds).flatMap(({ open }) => [...open]));
    return all.size;
  }

  /** The most partitions that a node has beyond its share. */
  private get excess(): number {
    const up = this.nodes.filter(({ isUp }) => isUp);
    return Math.max(...up.map(({ open }) => open.size)) - Math.ceil(this.partitions / up.length);
  }

  /** Milliseconds of virtual time until all partitions are served, and until no node has more than its share. */
  async settled(msMax = 120_000): Promise<{ readonly servedMs: number; readonly evenMs: number }> {
    const { loop } = this;
    const began = loop.now;
    let servedMs = -1;
    while (loop.now - began < msMax) {
      await loop.sleep(50);
      if (this.served === this.partitions && servedMs < 0) servedMs = Math.round(loop.now - began);
      if (servedMs >= 0 && this.served === this.partitions && this.excess <= 0)
        return { servedMs, evenMs: Math.round(loop.now - began) };
    }
    this.problems.push(`${this.partitions - this.served} partitions are not served, excess ${this.excess}`);
    return { servedMs, evenMs: -1 };
  }
}
