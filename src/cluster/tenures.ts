/**
 * Which partitions an actor of this node owns. It looks again and again at what etcd holds: takes partitions that have
 * no owner, or whose owner's node has not renewed its lease, follows the others, and gives away those that another node
 * shall own (giving.ts). An actor that loses anything without that ends, and its thread is started anew with nothing.
 *
 * Each decision is one transaction of the log service. Owned by workers/actor.ts.
 */
import { randomUUID } from "node:crypto";
import { DbError } from "../protocol/errors.js";
import type { ClusterMetrics } from "../protocol/messages.js";
import type { Moment } from "../protocol/moment.js";
import type { CommitLog } from "../storage/commit-log.js";
import { ReadinessWatch } from "./actor-readiness.js";
import { BehindCopies } from "./behind-copies.js";
import { CellRoom } from "./cell-room.js";
import type { ClusterView } from "./cluster-map.js";
import { LeaseConfirmations, QuorumConfirmations } from "./confirmations.js";
import { CopyKeeper } from "./copy-keeper.js";
import { CopyReads } from "./copy-reads.js";
import { Giving } from "./giving.js";
import { SYSTEM_CLOCK } from "./lease-memory.js";
import { CopyBehind } from "./log-follower.js";
import type { Claim } from "./log-service.js";
import { heirOf, LAG_MAX, type Look, newestIn, rankOf, richerThan, Scans, successorOf, WaitingTurns } from "./look.js";
import { type LookPeriods, LookTimes } from "./look-times.js";
import { NodeWatch } from "./node-watch.js";
import { OwnerCopies, sourceIn } from "./owner-copies.js";
import type { PartitionCopy } from "./partition-copy.js";
import { Placement } from "./placement.js";
import { ReplicatedCommitLog } from "./replicated-commit-log.js";
import type { Tenure, TenuresHost, TenuresOptions } from "./tenures-options.js";
import { Turns } from "./turns.js";

const LOOKS = { soon: 40, often: 200, seldom: 500 };
/** What other nodes have on disk may be so old. */
const DURABLE_AGE_MS = 1000;
/** Between two looks at whether the lease was lost. */
const LOST_MS = 250;
/** Between two reports of what is on this node's disk. */
const REPORT_MS = 2000;
/** For which the nodes must have been the same before partitions move without need. */
const STEADY_MS = 3000;

export class Tenures {
  private readonly options: TenuresOptions;
  private readonly watch: NodeWatch;
  private readonly readiness: ReadinessWatch;
  private readonly scans = new Scans();
  private readonly room: CellRoom;
  private readonly keeper: CopyKeeper;
  private readonly placement: Pick<Placement, "place">;
  private byLease: LeaseConfirmations;
  /** The node's, in which this actor owns what it owns. */
  private life: number;
  private readonly tenures = new Map<number, Tenure>();
  /** Claimed, and not open yet. */
  private readonly epochs = new Map<number, number>();
  private readonly copies = new Map<number, PartitionCopy>();
  private readonly behind: BehindCopies;
  private readonly giving: Giving;
  private readonly working = new Map<number, Promise<void>>();
  /** Given to this node while it worked on them. */
  private readonly waiting = new Set<number>();
  private readonly ownerCopies: OwnerCopies;
  private readonly free = new WaitingTurns();
  private takeovers = 0;
  /** Partitions that another node is about to give to this one. */
  private readonly expected = new Set<number>();
  /** That were worked on since the last look. */
  private begun = new Set<number>();
  private readonly times: LookTimes;
  private nodes: readonly string[] = [];
  /** Those, and which of their actors are ready. */
  private state = "";
  private stateSince = 0;
  private host: TenuresHost | null = null;
  private isStopped = false;
  private timers: NodeJS.Timeout[] = [];
  private reporting: Promise<void> | null = null;
  private newest: Look | null = null;
  private readonly copyReads: CopyReads;

  constructor(options: TenuresOptions) {
    this.options = options;
    const { service, clock = SYSTEM_CLOCK } = options;
    this.watch = new NodeWatch(service, clock);
    this.times = new LookTimes(options.map, options.looks ?? LOOKS);
    this.readiness = new ReadinessWatch(clock);
    this.behind = new BehindCopies(clock);
    this.giving = new Giving(options);
    this.placement = options.placement ?? new Placement(options.partitions);
    this.room = new CellRoom({ service });
    this.keeper = new CopyKeeper(options, this.room);
    this.ownerCopies = new OwnerCopies(options);
    this.life = options.lease.life;
    this.byLease = this.newByLease();
    this.copyReads = new CopyReads({
      known: (partition) => this.copies.get(partition) ?? null,
      copyOf: (partition) => (this.isOpening(partition) ? null : this.copyOf(partition)),
      reported: (partition) => this.reportedToReaders(partition),
      open: (partition) => this.host!.openCopy(partition),
      warn: (message, fields) => options.log("warn", message, fields),
    });
  }

  private newByLease(): LeaseConfirmations {
    return new LeaseConfirmations(this.options.lease, this.life, () => this.host!.armTurn());
  }

  /** The partition has no copy beside the owner's, or may be about to have none. */
  private isOpening(partition: number): boolean {
    return this.tenures.has(partition) || (this.working.has(partition) && !this.copies.has(partition));
  }

  freshCopy(partition: number, notBefore: Moment): Promise<Moment | null> {
    return this.copyReads.fresh(partition, notBefore);
  }

  /** What the owner of a partition is known to have on its disk; null: this node keeps no copy that could be read. */
  private reportedToReaders(partition: number): number | null {
    const isOwn = this.tenures.has(partition) || this.epochs.has(partition);
    if (this.isStopped || this.newest === null || isOwn) return null;
    const { view } = this.newest;
    const owner = view.owners.get(partition);
    if (owner === undefined || !this.keeper.isKept(partition, view)) return null;
    return this.behind.has(partition, owner.epoch) ? null : (view.durable.get(partition)?.get(owner.node) ?? null);
  }

  begin(host: TenuresHost): void {
    this.host = host;
    this.options.lease.actorReady(this.options.actor, this.life);
    const every = (ms: number, work: () => void): void => void this.timers.push(setInterval(work, ms));
    this.times.start({ need: () => this.lookNeed, look: () => this.look() });
    every(LOST_MS, () => {
      if (this.isLost) this.lost();
    });
    every(this.options.reportMs ?? REPORT_MS, () => {
      this.reporting ??= this.report().finally(() => {
        this.reporting = null;
      });
    });
  }

  private get lookNeed(): keyof LookPeriods {
    if (this.expected.size > 0) return this.times.areTold ? "often" : "soon";
    return this.isSteady && !this.watch.hasSilent ? "seldom" : "often";
  }

  private get isSteady(): boolean {
    return performance.now() - this.stateSince >= (this.options.steadyMs ?? STEADY_MS);
  }

  /** The node has lost its lease: nothing that this thread has may be used any more. */
  private get isLost(): boolean {
    return this.options.lease.life !== this.life;
  }

  private lost(): void {
    if (this.tenures.size === 0 && this.epochs.size === 0) {
      this.ownerCopies.abandon();
      this.goOn();
      return;
    }
    const error = new DbError("partition_unavailable", "The node's lease has run out, so it owns nothing any more.");
    this.byLease.end();
    this.host!.armTurn();
    // After the answers to those that waited have left.
    setImmediate(() => setImmediate(() => this.options.failed(error)));
  }

  /**
   * An actor that owns nothing has lost nothing: it goes on in the node's next life. What it began in the last one must
   * end before, because that looks at the life to know whether it may still claim and open a partition.
   */
  private goOn(): void {
    if (this.isStopped || this.working.size > 0 || this.times.looking !== null || this.reporting !== null) return;
    const { lease, log, actor } = this.options;
    this.life = lease.life;
    this.byLease = this.newByLease();
    // What was seen before is old: the node may have stood still.
    this.free.clear();
    this.state = "";
    this.keeper.reportsAnew();
    lease.actorReady(actor, this.life);
    log("warn", "the node lost its lease; this actor owned no partition and goes on", {});
  }

  confirm(partition: number, send: () => void, fail: (error: DbError) => void): void {
    const confirmations = this.tenures.get(partition)?.confirmations ?? this.byLease;
    if (this.isLost) this.byLease.end();
    confirmations.pass(send, fail);
  }

  async replicate(partition: number, local: CommitLog): Promise<CommitLog> {
    const { service, reads } = this.options;
    const epoch = this.epochs.get(partition)!;
    const refusal = (): DbError | null => this.room.refusal;
    const log = await ReplicatedCommitLog.open({ service, partition, epoch, local, refusal });
    const confirmations =
      reads === "lease" ? this.byLease : new QuorumConfirmations(service, partition, epoch, () => this.host!.armTurn());
    this.tenures.set(partition, { epoch, log, confirmations });
    return log;
  }

  metrics(): ClusterMetrics {
    const { newest, copies, takeovers, room, tenures } = this;
    return {
      leaseLeftSeconds: this.options.lease.leftMs / 1000,
      ...{ takeovers, logServiceBytes: room.bytes },
      owned: [...tenures].map(([partition, { epoch, log }]) => ({ partition, epoch, ...log.metrics })),
      copies: [...copies].map(([partition, copy]) => ({
        partition,
        lagCommits: Math.max(0, newestIn(newest?.view.durable.get(partition)) - Math.max(0, copy.durable)),
      })),
    };
  }

  private async look(): Promise<void> {
    const { map, lease, node, mine } = this.options;
    if (this.isStopped || !lease.holdsIn(this.life)) return;
    let view: ClusterView;
    try {
      view = await map.view(this.expected.size > 0 ? LOOKS.often : DURABLE_AGE_MS);
    } catch (error) {
      this.options.log("warn", "etcd does not answer", { error: (error as Error).message });
      return;
    }
    if (this.isStopped || !lease.holdsIn(this.life)) return;
    const unseen = new Map([...view.members].map(([name, member]) => [name, this.watch.saw(name, member)] as const));
    for (const [name, member] of view.members) this.readiness.saw(name, member);
    this.nodes = [...view.members.keys()].filter((name) => name === node || unseen.get(name) === null).sort();
    const state = this.nodes.map((name) => `${name} ${view.members.get(name)!.actors}`).join();
    if (state !== this.state) this.stateSince = performance.now();
    this.state = state;
    const { draining, wants } = view;
    const orderOf = await this.placement.place({ nodes: this.nodes, draining: new Set(draining.keys()), wants });
    const look: Look = { view, orderOf, unseen };
    this.newest = look;
    this.keeper.saw(unseen);
    const due = this.scans.due(look, mine);
    const attended = [...this.tenures.keys(), ...this.free.partitions, ...this.begun, ...this.expected, ...due];
    const partitions = due === mine ? mine : new Set(attended);
    this.begun = new Set(this.working.keys());
    this.expected.clear();
    const turns = new Turns();
    for (const partition of partitions) {
      if (turns.isOver) await turns.next();
      if (this.isStopped || !lease.holdsIn(this.life)) return;
      if (this.working.has(partition)) {
        if (view.owners.get(partition)?.node === node) this.waiting.add(partition);
      } else if (this.tenures.has(partition)) this.keep(partition, look);
      else this.work(partition, look);
    }
  }

  private keep(partition: number, look: Look): void {
    const { view } = look;
    const { epoch, log } = this.tenures.get(partition)!;
    const owner = view.owners.get(partition);
    if (owner !== undefined && owner.epoch > epoch) {
      this.options.failed(new DbError("partition_unavailable", `Partition ${partition} has another owner now.`));
      return;
    }
    const next = successorOf(this.options.node, partition, look);
    if (next === null) return;
    const copied = view.durable.get(partition)?.get(next) ?? -1;
    const isUpToDate = copied >= Math.max(0, log.durableHere - LAG_MAX, log.followableFrom - 1);
    if (!this.isSteady || !isUpToDate) return;
    const ended = (): boolean => this.tenures.delete(partition);
    this.start(partition, this.giving.give({ partition, next, epoch, log }, this.host!, ended));
  }

  /** Takes the partition, if nobody has it, or follows it. */
  private work(partition: number, look: Look): void {
    const { node } = this.options;
    const { view } = look;
    const owner = view.owners.get(partition) ?? null;
    const epoch = owner?.epoch ?? 0;
    const claimed = (): Claim => ({ partition, node, tenure: randomUUID(), epoch });
    if (owner?.node === node) {
      this.start(partition, this.take(claimed(), view));
      return;
    }
    const unseen = owner === null ? null : (look.unseen.get(owner.node) ?? this.absent(owner.node, view));
    const isFree = owner === null || unseen !== null || this.readiness.isDown(owner.node, partition);
    if (isFree && !this.behind.has(partition, epoch)) {
      if (this.free.isTurn(partition, rankOf(node, partition, look)))
        this.start(partition, this.take(unseen === null ? claimed() : { ...claimed(), unseen }, view));
      return;
    }
    this.free.delete(partition);
    if (!this.keeper.isKept(partition, view)) {
      if (this.keeper.isDropDue(partition)) this.start(partition, this.drop(partition));
      return;
    }
    this.keeper.keepsAgain(partition);
    if (look.orderOf(partition)[0] === node) this.expected.add(partition);
    const there = newestIn(view.durable.get(partition));
    if (there > this.copyOf(partition).durable && !this.behind.has(partition, epoch))
      this.start(partition, this.followOwner(partition, epoch, there, view));
  }

  private async drop(partition: number): Promise<void> {
    const copy = this.copyOf(partition);
    // From now on it is not reported.
    this.copies.delete(partition);
    this.behind.delete(partition);
    await this.keeper.drop(partition, copy);
  }

  /** Of a node that has no record. */
  private absent(node: string, { members }: ClusterView): NonNullable<Claim["unseen"]> | null {
    return members.has(node) ? null : this.watch.saw(node, null);
  }

  /** Where the log does not have what this copy lacks any more, the owner's state takes its place. */
  private async followOwner(partition: number, epoch: number, there: number, view: ClusterView): Promise<void> {
    const why = await this.follow(partition, epoch);
    // All that was reported before had been acknowledged, so it is in the log that was read, unless it was trimmed.
    const isTrimmed = why instanceof CopyBehind || (why === null && this.copyOf(partition).durable < there);
    if (!isTrimmed) {
      if (why === null) this.behind.delete(partition);
      return;
    }
    const [source, copy] = [sourceIn(view, partition), this.copyOf(partition)];
    const isCopied =
      (source !== null && (await this.ownerCopies.take(partition, copy, source))) ||
      (await this.ownerCopies.restore(partition, copy, view));
    if (isCopied) this.behind.delete(partition);
    else this.behind.copyFailed(partition, epoch);
  }

  private start(partition: number, work: Promise<void>): void {
    const done = work
      .catch((error: unknown) => {
        const isExpected = error instanceof DbError && error.code === "log_unavailable";
        this.options.log(isExpected ? "warn" : "error", "a partition could not be taken or followed", {
          ...{ partition, error: error instanceof Error ? error.message : String(error) },
        });
        // Half open: only a new thread can open it again.
        if (this.epochs.has(partition))
          this.options.failed(new DbError("partition_unavailable", `Partition ${partition} could not be opened.`));
      })
      .finally(() => {
        this.working.delete(partition);
        if (this.waiting.delete(partition)) this.times.lookSoon();
      });
    this.working.set(partition, done);
    this.begun.add(partition);
  }

  /** Null: the copy has all that the log has. Else why it cannot follow. */
  private async follow(partition: number, epoch: number): Promise<DbError | null> {
    const copy = this.copyOf(partition);
    try {
      await copy.catchUp();
      return null;
    } catch (error) {
      if (!(error instanceof DbError && error.code === "partition_damaged")) throw error;
      this.behind.add(partition, epoch);
      const level = error instanceof CopyBehind ? "warn" : "error";
      this.options.log(level, "this node's copy of the partition cannot follow", { partition, why: error.message });
      return error;
    }
  }

  private async take(claim: Claim, view: ClusterView): Promise<void> {
    const { partition } = claim;
    this.keeper.keepsAgain(partition);
    const wasBehind = this.behind.has(partition, claim.epoch);
    const copy = this.copyOf(partition);
    const follow = async () => wasBehind || (await this.follow(partition, claim.epoch)) !== null;
    const [reports, isBehind] = await Promise.all([this.options.service.reports(partition), follow()]);
    const there = newestIn(reports);
    // The log is read after the reports: an owner that is deposed by this claim may write and report for a while yet.
    if (isBehind || (copy.durable < there && (await follow()))) {
      await this.giveUp(claim, view, !wasBehind);
      return;
    }
    // What any node has reported was acknowledged before, so it is in the log that was read, unless that was trimmed.
    if (copy.durable < there) {
      this.behind.add(partition, claim.epoch);
      const why = `it ends at commit ${copy.durable}, and another node has ${there}`;
      this.options.log("error", "this node's copy of the partition cannot follow", { partition, why });
      await this.giveUp(claim, view, true);
      return;
    }
    await copy.close();
    this.copies.delete(partition);
    const epoch = await this.options.service.claim(claim);
    if (epoch === null || this.isLost || this.isStopped) return;
    this.free.delete(partition);
    this.epochs.set(partition, epoch);
    await this.host!.open(partition);
    this.epochs.delete(partition);
    this.takeovers++;
    this.options.log("info", "the partition is owned", { partition, epoch });
  }

  /**
   * This node has lost what it had of a partition of its own: who has most is the owner instead, if that is more. Where
   * what is kept outside of all nodes is more than that, this node takes it, if it may, and then tries again.
   */
  private async giveUp(claim: Claim, view: ClusterView, mayRestore: boolean): Promise<void> {
    const { node, log } = this.options;
    const { partition } = claim;
    const copy = this.copyOf(partition);
    const next = richerThan({ node, has: copy.durable, partition }, view, this.nodes);
    const { durable, checkpoints } = view;
    const there = next === null ? -1 : (durable.get(partition)?.get(next) ?? 0);
    const isMost = (checkpoints.get(partition)?.sequence ?? 0) > there;
    if (mayRestore && isMost) await this.ownerCopies.restoreBehind(claim, copy, view, this.behind);
    if (next === null || view.owners.get(partition)?.node !== node) return;
    const epoch = await this.options.service.claim({ ...claim, node: next });
    log("warn", "the partition was given to a node that has more of it", {
      partition,
      to: next,
      done: epoch !== null,
    });
  }

  private copyOf(partition: number): PartitionCopy {
    let copy = this.copies.get(partition);
    if (copy === undefined) {
      copy = this.options.copyOf(partition);
      this.copies.set(partition, copy);
    }
    return copy;
  }

  private async report(): Promise<void> {
    const { map, lease } = this.options;
    if (this.isStopped || !lease.holdsIn(this.life)) return;
    try {
      // What was claimed before the view: in it stands whatever the owners before have decided.
      const owned = new Map(this.tenures);
      const view = await map.view();
      const durable = new Map<number, number>();
      for (const [partition, { log }] of this.tenures) durable.set(partition, log.durableHere);
      for (const [partition, copy] of this.copies)
        if (copy.durable >= 0 && this.keeper.isKept(partition, view)) durable.set(partition, copy.durable);
      await this.keeper.report(durable, view);
      this.copyReads.rest();
      await this.keeper.tend(owned, view, this.isSteady ? this.newest : null);
      if (this.tenures.size > 0) await this.room.look();
    } catch (error) {
      this.options.log("warn", "etcd does not take reports", { error: (error as Error).message });
    }
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.times.close();
    this.ownerCopies.abandon();
    await Promise.all([this.times.looking, this.reporting, ...this.working.values()]);
  }

  /** Where the actor ends for good, all of its partitions go to whoever comes next. */
  async release(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    this.byLease.close();
    const { node, service } = this.options;
    for (const copy of this.copies.values()) await copy.close();
    if (this.isLost || this.newest === null) return;
    const others = this.nodes.filter((name) => name !== node);
    for (const [partition, { epoch }] of this.tenures) {
      const next = heirOf(partition, others, this.newest.view);
      if (next === null) continue;
      // What is not known to be done is seen to by those who look for free partitions.
      await service.claim({ partition, node: next, tenure: randomUUID(), epoch }).catch(() => null);
    }
  }
}
