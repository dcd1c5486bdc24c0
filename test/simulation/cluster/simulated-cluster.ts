/**
 * Three nodes with two actors each and six partitions, in virtual time (cluster-node.ts). There is no gateway between
 * nodes: clients ask the nodes in turn for the one that owns a partition.
 */
import type { FromActor } from "../../../src/protocol/messages.js";
import type { SeededRandom } from "../seeded-random.js";
import type { VirtualLoop } from "../virtual-loop.js";
import { BRANCHED_TENANTS, BranchedTenant } from "./branch-clients.js";
import { ACTORS, NODES, PARTITIONS, SimulatedNode } from "./cluster-node.js";
import type { StaleRead } from "./simulated-copy-reads.js";
import { type Sabotage, TrueLog } from "./simulated-log.js";
import { type ActorMoves, MoveLinks } from "./simulated-moves.js";
import type { Answer, Work } from "./work.js";

const DIRECTORY = 0;
const OF_MOVES: ReadonlySet<Sabotage> = new Set([
  "moves are told before they are recorded",
  "a tenant is answered for where it is not any more",
]);
const OF_BRANCHES: ReadonlySet<Sabotage> = new Set([
  "a replay keeps as the past what it finds",
  "a merge does not say up to where",
  "a branch that ends takes writes",
  "a branch ends while it is forked",
  "each owner forgets by itself",
  "what is copied for a long chain is lost",
]);
/** Runs in which tenants move, and runs in which tenants have branches. */
const MOVES = 0.6;
const BRANCHES = 0.5;

/** Where a transaction belongs. */
export interface Place {
  readonly partition: number;
  readonly tenant: number | null;
  readonly writes: boolean;
}

export class SimulatedCluster {
  readonly truth: TrueLog;
  readonly quorum = { isThere: true };
  readonly nodes: SimulatedNode[];
  /** With few hand-overs and long transactions, which hide flaws that have nothing to do with them. */
  readonly isCalm: boolean;
  /** Clients read copies, too; not where that has nothing to do with a flaw. */
  readonly readsCopies: boolean;
  /** Tenants move between partitions, likewise, and in some runs only. */
  readonly movesTenants: boolean;
  /** Tenants that have branches, likewise. */
  readonly branched: readonly BranchedTenant[];
  /** Moves of tenants that began, and that were decided. */
  movesBegun = 0;
  relocated = 0;
  private readonly links: MoveLinks;
  /** By partition: the node that opened it last. */
  private readonly openedBy: string[] = [];
  readonly problems: string[] = [];
  takeovers = 0;
  /** Partitions that were closed for another node, and transactions that were ended for that. */
  handOvers = 0;
  ended = 0;
  /** By partition: the newest acknowledged sequence, and who acknowledged each. */
  readonly newest: number[] = Array.from({ length: PARTITIONS }, () => 0);
  /** How far the owner of each epoch has been opened, or has acknowledged. */
  private readonly upTo = new Map<number, number>();
  private readonly acknowledgedBy = Array.from({ length: PARTITIONS }, () => new Map<number, number>());

  constructor(
    readonly loop: VirtualLoop,
    readonly random: SeededRandom,
    readonly sabotage: Sabotage | null,
  ) {
    this.readsCopies = sabotage === null || sabotage === "copies read what a member of the log that is behind has";
    const isOfMoves = sabotage !== null && OF_MOVES.has(sabotage);
    const isOfHandOvers = sabotage === "the successor is named before the partition is closed";
    const isOfBranches = sabotage !== null && OF_BRANCHES.has(sabotage);
    this.isCalm = sabotage !== null && !isOfHandOvers && !isOfMoves && !isOfBranches;
    this.movesTenants = isOfMoves || (sabotage === null && random.chance(MOVES));
    const hasBranches = isOfBranches || (sabotage === null && random.chance(BRANCHES));
    this.branched = hasBranches ? BRANCHED_TENANTS.map((root) => new BranchedTenant(root)) : [];
    this.links = new MoveLinks(loop);
    this.truth = new TrueLog(sabotage, random);
    this.nodes = Array.from({ length: NODES }, (_, i) => new SimulatedNode(this, i));
  }

  complain(what: string): void {
    this.problems.push(`${this.loop.now.toFixed(0)} ms: ${what}`);
  }

  /** At most one epoch acknowledges a sequence; an owner does so in order, from where it was opened. */
  acknowledged(partition: number, sequence: number, epoch: number): void {
    const by = this.acknowledgedBy[partition]!;
    for (let each = (this.upTo.get(epoch) ?? 0) + 1; each <= sequence; each++) {
      if (by.has(each)) this.complain(`${partition}: epochs ${by.get(each)} and ${epoch} acknowledged ${each}`);
      by.set(each, epoch);
    }
    this.upTo.set(epoch, sequence);
    this.newest[partition] = Math.max(this.newest[partition]!, sequence);
  }

  /** A new owner has everything that any owner before has acknowledged. */
  opened(partition: number, node: string, epoch: number, sequence: number): void {
    this.takeovers++;
    this.openedBy[partition] = node;
    // The directory hears of it some time later.
    if (this.movesTenants)
      this.inDirectory(this.random.next() * 300, (moves) => {
        if (partition !== DIRECTORY) moves.partitionEnded(partition);
      });
    this.upTo.set(epoch, sequence);
    const acknowledged = this.newest[partition]!;
    if (sequence < acknowledged) {
      this.complain(`${node} opened ${partition} in epoch ${epoch} with ${sequence}; ${acknowledged} was acknowledged`);
    }
  }

  /** Runs in the thread of the directory, if there is one by then. */
  inDirectory(afterMs: number, run: (moves: ActorMoves) => void): void {
    const node = this.nodes.find(({ name }) => name === this.openedBy[DIRECTORY]);
    if (node?.isUp) this.loop.after(afterMs, () => run(node.moves[DIRECTORY]!), node.threads[DIRECTORY]!);
  }

  /** All tenants are settled: the directory and all partitions say so. */
  get isSettled(): boolean {
    return this.nodes.every(({ isUp, moves }) => !isUp || moves.every(({ isSettled }) => isSettled));
  }

  /** Partitions that have entries of the tenant, in their owners' shards. */
  partitionsWith(tenant: number): readonly number[] {
    return this.nodes.flatMap(({ moves }) => moves.flatMap((each) => each.with(tenant)));
  }

  /** An actor says something to that of another partition. */
  sayMove(from: SimulatedNode, message: FromActor): void {
    const { loop } = this;
    const partition = message.kind === "placement" ? message.partition : DIRECTORY;
    const to = this.nodes.find(({ name }) => name === this.openedBy[partition]);
    if (to === undefined || !to.isUp) return;
    const at = this.links.arrival(from.name, to.name);
    if (at === null) return;
    const copy = structuredClone(message);
    const actor = partition % ACTORS;
    loop.after(at - loop.now, () => to.moves[actor]!.hear(copy), to.threads[actor]!);
  }

  /** Sends work to a node, which answers if it is there; else never. */
  call(node: number, { partition, tenant, writes }: Place, work: Work, answer: (answer: Answer) => void): void {
    const { loop } = this;
    const target = this.nodes[node]!;
    const client = loop.current;
    if (!target.isUp || (writes && target.link.isOutOfSight)) {
      loop.after(1, () => answer({ kind: "moved" }), client);
      return;
    }
    const back = (value: Answer) => loop.after(this.delay(), () => answer(value), client);
    loop.after(this.delay(), () => target.perform(partition, work, back, tenant), target.threads[partition % ACTORS]!);
  }

  /** The same of a read whose answer may be stale. */
  callStale(
    node: number,
    { partition, maxMs, keys }: { readonly partition: number; readonly maxMs: number; readonly keys: Uint8Array[] },
    answer: (read: StaleRead | null) => void,
  ): void {
    const { loop } = this;
    const target = this.nodes[node]!;
    const client = loop.current;
    const back = (read: StaleRead | null) => loop.after(this.delay(), () => answer(read), client);
    const run = (): void => {
      target.readStale(partition, maxMs, keys).then(back, (error: Error) => this.complain(String(error.stack)));
    };
    if (target.isUp) loop.after(this.delay(), run, target.threads[partition % ACTORS]!);
  }

  delay(): number {
    return this.random.chance(0.01) ? this.random.next() * 300 : this.random.next() * 2;
  }
}
