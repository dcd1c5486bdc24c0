/** What breaks in a simulated cluster, and when: drawn from the seed. */
import { TTL_MS } from "../../../src/cluster/lease.js";
import type { SeededRandom } from "../seeded-random.js";
import { ACTORS, PARTITIONS, type SimulatedNode } from "./cluster-node.js";
import type { SimulatedCluster } from "./simulated-cluster.js";
import { TENANTS } from "./simulated-moves.js";

type Fault = (plan: ClusterFaults, node: SimulatedNode) => void;

const FAULTS: Readonly<Record<string, Fault>> = {
  "an actor crashes": (plan, node) => node.crashActor(plan.random.between(0, ACTORS - 1)),
  "a node is killed": (plan, node) => plan.crash(node, false),
  "a node loses its power": (plan, node) => plan.crash(node, true),
  "all nodes lose their power": (plan) => {
    for (const node of plan.cluster.nodes) plan.crash(node, true);
  },
  "a node stands still": (plan, node) => node.stop(plan.random.next() * 12_000, false),
  "a machine is suspended": (plan, node) => node.stop(plan.random.next() * 12_000, true),
  "a wall clock jumps": (plan, node) => {
    node.clock.setMs += (plan.random.next() - 0.5) * 20_000;
  },
  "a node cannot reach the log": (plan, node) => plan.onLink(node, { requestsLost: true }),
  "a node hears no answers of the log": (plan, node) => plan.onLink(node, { answersLost: true }),
  "the network is split": (plan, node) => plan.onLink(node, SPLIT_OFF),
  "a machine is suspended, and the network is split meanwhile": (plan, node) => {
    const ms = TTL_MS + plan.random.next() * 5000;
    node.stop(ms, true);
    plan.onLink(node, SPLIT_OFF, ms + TTL_MS);
  },
  "the network is slow": (plan, node) => plan.onLink(node, { delayMsMax: 600 }),
  "the log has no majority": (plan) => plan.loseQuorum(),
  "a disk is slow": (plan, node) => plan.slowDisk(node),
  "a partition is handed over": (plan, node) => plan.handOver(node),
};
/** They take partitions from a node that is still there and may be asked: the most frequent faults. */
const CUT_OFF = "a node cannot reach the log";
const SPLIT = "the network is split";
const NAMES = [...Object.keys(FAULTS), CUT_OFF, CUT_OFF, SPLIT, SPLIT];
const HAND_OVER = "a partition is handed over";
const NAMES_IN_CALM = [...NAMES, HAND_OVER, HAND_OVER];
/** Hand-overs are no fault: in some runs that are not calm they happen all the time, besides. */
const HAND_OVERS = 0.4;
const HAND_OVER_PAUSE_MS = 1500;
const MOVE_PAUSE_MS = 500;
const SOUND_LINK = { requestsLost: false, answersLost: false, delayMsMax: 3, isOutOfSight: false };
/** The log and all who write are on one side, the node and some who read on the other. */
const SPLIT_OFF = { requestsLost: true, isOutOfSight: true };

export class ClusterFaults {
  constructor(
    readonly cluster: SimulatedCluster,
    readonly random: SeededRandom,
    private readonly told: string[],
  ) {}

  async run(ms: number): Promise<void> {
    const { random, cluster } = this;
    const { loop } = cluster;
    const end = loop.now + ms;
    if (!cluster.isCalm && random.chance(HAND_OVERS)) void this.handOverUntil(end);
    if (cluster.movesTenants) void this.moveUntil(end);
    const all = cluster.isCalm ? NAMES_IN_CALM : NAMES;
    const names = random.chance(0.3) ? [random.pick(all)] : all;
    const pauseMs = ms / random.between(2, 14);
    for (;;) {
      await loop.sleep(random.next() * pauseMs * 2);
      if (loop.now >= end) return;
      const name = random.pick(names);
      const node = random.pick(cluster.nodes);
      this.told.push(`${loop.now.toFixed(0)} ms: ${name} (${node.name})`);
      FAULTS[name]!(this, node);
    }
  }

  private async handOverUntil(end: number): Promise<void> {
    const { cluster, random } = this;
    for (;;) {
      await cluster.loop.sleep(random.next() * HAND_OVER_PAUSE_MS * 2);
      if (cluster.loop.now >= end) return;
      this.handOver(random.pick(cluster.nodes));
    }
  }

  /** Tenants go to and fro all the time. */
  private async moveUntil(end: number): Promise<void> {
    const { cluster, random } = this;
    for (;;) {
      await cluster.loop.sleep(random.next() * MOVE_PAUSE_MS * 2);
      if (cluster.loop.now >= end) return;
      const [tenant, to] = [random.pick(TENANTS), random.between(0, PARTITIONS - 1)];
      const isCancel = random.chance(0.05);
      cluster.inDirectory(0, (moves) => {
        if (isCancel) moves.cancel(tenant);
        else if (moves.start(tenant, to)) cluster.movesBegun++;
      });
    }
  }

  /** Ends all faults, and waits until every partition has an owner that serves. */
  async mend(): Promise<boolean> {
    const { cluster } = this;
    cluster.quorum.isThere = true;
    for (const node of cluster.nodes) {
      Object.assign(node.link, SOUND_LINK);
      for (const disk of node.disks) disk.syncMsMax = 2;
    }
    for (let waited = 0; waited < 60_000; waited += 100) {
      await cluster.loop.sleep(100);
      for (const node of cluster.nodes) if (!node.isUp) node.start();
      if (cluster.newest.every((_, partition) => cluster.nodes.some((node) => node.serves(partition)))) return true;
    }
    return false;
  }

  crash(node: SimulatedNode, powerCut: boolean): void {
    node.crash(powerCut);
    this.cluster.loop.after(this.random.next() * 10_000, () => {
      if (!node.isUp) node.start();
    });
  }

  onLink(node: SimulatedNode, fault: Partial<typeof SOUND_LINK>, ms = this.random.next() * 14_000): void {
    Object.assign(node.link, fault);
    this.cluster.loop.after(ms, () => Object.assign(node.link, SOUND_LINK));
  }

  loseQuorum(): void {
    this.cluster.quorum.isThere = false;
    this.cluster.loop.after(this.random.next() * 8000, () => {
      this.cluster.quorum.isThere = true;
    });
  }

  handOver(node: SimulatedNode): void {
    const { cluster, random } = this;
    const { owned } = node;
    if (owned.length === 0) return;
    const partition = random.pick(owned);
    const to = random.pick(cluster.nodes.filter((other) => other !== node)).name;
    const thread = node.threads[partition % ACTORS];
    // Without an answer the partition has the successor, or this node still has it.
    if (node.isUp) cluster.loop.soon(() => node.handOver(partition, to).catch(() => undefined), thread);
  }

  slowDisk(node: SimulatedNode): void {
    const disk = this.random.pick(node.disks);
    disk.syncMsMax = 500;
    this.cluster.loop.after(this.random.next() * 8000, () => {
      disk.syncMsMax = 2;
    });
  }
}
