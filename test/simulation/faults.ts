/** What breaks in a simulation, and when: drawn from its seed, at any moment of the clients' work. */
import type { SeededRandom } from "./seeded-random.js";
import type { SimulatedNode } from "./simulated-node.js";
import type { TenantWork } from "./workload.js";

type Fault = (plan: FaultPlan) => Promise<void> | void;

const FAULTS: Readonly<Record<string, Fault>> = {
  "an actor crashes": ({ node, random }) => node.crash(random.between(0, node.options.actors - 1)),
  "the power is cut": (plan) => plan.cutPower(),
  "a write fails": (plan) => plan.onDisk({ writeError: "EIO" }, 20),
  "a sync fails": (plan) => plan.onDisk({ syncError: "EIO" }, 20),
  "the disk is full": (plan) => plan.onDisk({ spaceBytes: plan.random.between(0, 3000) }, 200),
  "the disk is slow": (plan) => plan.onDisk({ syncMsMax: 120 }, 400),
  "the engine cannot write": ({ node, random }) => {
    random.pick(node.engines).writeError = "No space left on device";
  },
  "backups cannot be written": (plan) => plan.onFiles({ writeError: plan.random.pick(["EIO", "ENOSPC"]) }),
  "backups cannot be synced": (plan) => plan.onFiles({ syncError: "EIO" }),
  "a tenant moves": (plan) => plan.move(),
};
const SOUND = { writeError: null, syncError: null, spaceBytes: Number.POSITIVE_INFINITY, syncMsMax: 2 };
const SOUND_FILES = { writeError: null, syncError: null };
const NAMES = Object.keys(FAULTS);

export class FaultPlan {
  constructor(
    readonly node: SimulatedNode,
    private readonly works: readonly TenantWork[],
    readonly random: SeededRandom,
    private readonly told: string[],
  ) {}

  /** Lets things break for so long. */
  async run(ms: number): Promise<void> {
    const { node, random, told } = this;
    const { loop } = node;
    const end = loop.now + ms;
    // Some runs go without, others have one kind only.
    const names = random.chance(0.3) ? [random.pick(NAMES)] : NAMES;
    const pauseMs = random.chance(0.1) ? ms * 2 : ms / random.between(1, 8);
    for (;;) {
      await loop.sleep(random.next() * pauseMs * 2);
      if (loop.now >= end) return;
      const name = random.pick(names);
      told.push(`${loop.now.toFixed(0)} ms: ${name}`);
      await FAULTS[name]!(this);
    }
  }

  /** Ends all faults and has everything started again, so that what is there can be looked at. */
  async mend(): Promise<void> {
    const { node } = this;
    await node.loop.sleep(500);
    this.heal();
    if (this.random.chance(0.7)) await this.cutPower();
    else await node.loop.sleep(61_000);
    if (node.pool === null) throw new Error("the node does not start");
    for (let partition = 0; partition < node.options.partitions; partition++) {
      if (node.pool.stateOf(partition) === "failed") await this.cutPower();
    }
  }

  private heal(): void {
    for (const disk of this.node.disks) Object.assign(disk, SOUND);
    for (const engine of this.node.engines) engine.writeError = null;
    Object.assign(this.node.files, SOUND_FILES);
  }

  async cutPower(): Promise<void> {
    const { node } = this;
    node.cutPower();
    this.heal();
    await node.loop.sleep(50);
    while (this.random.chance(0.25)) {
      // Again while it starts, or right after; what the start comes to, nobody hears.
      node.start().catch(() => undefined);
      await node.loop.sleep(this.random.next() * 8);
      node.cutPower();
      await node.loop.sleep(5);
    }
    await node.start();
  }

  /** Something about a partition's disk, for at most so long. */
  onDisk(fault: Partial<typeof SOUND> | { writeError: string } | { syncError: string }, msMax: number): void {
    const disk = Object.assign(this.random.pick(this.node.disks), fault);
    this.node.loop.after(this.random.next() * msMax, () => Object.assign(disk, SOUND));
  }

  /** For a while backups' files fail. */
  onFiles(fault: { writeError: string } | { syncError: string }): void {
    Object.assign(this.node.files, fault);
    this.node.loop.after(this.random.next() * 40, () => Object.assign(this.node.files, SOUND_FILES));
  }

  async move(): Promise<void> {
    const { node, random } = this;
    if (this.works.length === 0) return;
    const work = random.pick(this.works);
    const partition = random.between(0, node.options.partitions - 1);
    const body = { partition, transaction_seconds: 1 };
    await node.call({ endpoint: "admin.tenants.move", body, params: [work.name] });
  }
}
