/**
 * A node of a simulated cluster: every actor runs real shards on the replicated log, with this node's own log and
 * engine on simulated disks; the node has a lease and clocks of its own.
 */
import { OutputGate } from "../../../src/actor/output-gate.js";
import type { Partition } from "../../../src/actor/partition.js";
import { Lease } from "../../../src/cluster/lease.js";
import { NodeWatch } from "../../../src/cluster/node-watch.js";
import { ReplicatedCommitLog } from "../../../src/cluster/replicated-commit-log.js";
import { TenureGate } from "../../../src/cluster/tenure-gate.js";
import { DbError } from "../../../src/protocol/errors.js";
import { endsUndone } from "../../../src/storage/ending-branches.js";
import { FileCommitLog } from "../../../src/storage/file-commit-log.js";
import { SHARD_TENANT, SPACE, tenantOfKey } from "../../../src/storage/keys.js";
import { LayeredEngine } from "../../../src/storage/layered-engine.js";
import type { Operation } from "../../../src/storage/operation.js";
import { Shard } from "../../../src/storage/shard.js";
import { FaultyDisk, FaultyEngine } from "../faulty-storage.js";
import { Owner as Thread } from "../virtual-loop.js";
import { BRANCHED_TENANTS } from "./branch-clients.js";
import { BranchCare } from "./simulated-branches.js";
import { SimulatedClock } from "./simulated-clock.js";
import type { SimulatedCluster } from "./simulated-cluster.js";
import { SimulatedCopyReads, type StaleRead } from "./simulated-copy-reads.js";
import { letGoOf, type Running } from "./simulated-hand-over.js";
import { NodeLink, type Sabotage, SimulatedLog } from "./simulated-log.js";
import { ActorMoves } from "./simulated-moves.js";
import { LARGE_SIZES, LOG_OPTIONS, logDirectoryOf } from "./simulated-sizes.js";
import type { Answer, Work } from "./work.js";

export const NODES = 3;
export const ACTORS = 2;
export const PARTITIONS = 6;

/** How often an actor looks after its partitions. */
const LOOK_MS = 200;
const RENEW_MS = 1000;
/** A node that is not a partition's first choice waits so much longer for each that comes before it. */
const RANK_MS = 300;

/** A partition in an actor that owns it. */
interface Tenure {
  readonly epoch: number;
  readonly log: ReplicatedCommitLog;
  readonly shard: Shard;
  readonly durable: OutputGate;
  readonly gate: TenureGate;
  readonly running: Set<Running>;
  isFlushPlanned: boolean;
  /** It is being let go, and takes no transactions any more. */
  isLeaving: boolean;
  readonly care: BranchCare;
  /** What is beside the shard; null: no tenants move. */
  partition: Partition | null;
}

export class SimulatedNode {
  readonly name: string;
  readonly link = new NodeLink();
  readonly clock: SimulatedClock;
  readonly disks: FaultyDisk[];
  readonly engines: FaultyEngine[];
  isUp = false;
  threads: Thread[] = [];
  private leaseThread = new Thread("none");
  private lease!: Lease;
  private watch!: NodeWatch;
  private service!: SimulatedLog;
  /** Grows with each loss of the lease: what began before is void. */
  private life = 0;
  private starts = 0;
  private readonly tenures = new Map<number, Tenure>();
  private readonly opening = new Set<number>();
  /** By actor. */
  private copyReads: SimulatedCopyReads[] = [];
  /** By actor. */
  moves: ActorMoves[] = [];
  /** That this node is about to claim: nobody reads copies of them. */
  private readonly taking = new Set<number>();
  /** That are being let go. */
  private readonly letting = new Set<number>();
  /** Since when the partition could have been taken. */
  private readonly freeSince = new Map<number, number>();

  constructor(
    readonly cluster: SimulatedCluster,
    readonly index: number,
  ) {
    const { loop, random, sabotage } = cluster;
    this.name = `n${index}`;
    const error = sabotage === "clocks are off by half" ? 0.5 : 0.05;
    // Most clocks are as wrong as is allowed.
    const share = random.chance(0.7) ? random.pick([-1, 1]) : random.next() * 2 - 1;
    this.clock = new SimulatedClock(loop, 1 + share * error);
    const numbers = Array.from({ length: PARTITIONS }, (_, i) => i);
    this.disks = numbers.map(() => new FaultyDisk(loop, random));
    this.engines = numbers.map(() => new FaultyEngine(random));
  }

  start(): void {
    const { loop, random, truth, quorum } = this.cluster;
    const name = `${this.name}.${++this.starts}`;
    this.isUp = true;
    this.leaseThread = new Thread(`${name}.lease`);
    this.threads = Array.from({ length: ACTORS }, (_, i) => new Thread(`${name}.actor${i}`));
    this.service = new SimulatedLog(loop, random, truth, this.link, quorum);
    this.watch = new NodeWatch(this.service, this.clock);
    this.copyReads = this.threads.map(() => this.newCopyReads());
    this.moves = this.threads.map(() => this.newMoves());
    this.life++;
    this.lease = new Lease({
      service: this.service,
      node: this.name,
      clock: this.clock,
      newIncarnation: () => `${name}.${Math.floor(random.next() * 1e9)}`,
      onLost: () => this.lost(),
      onRenewed: () => {
        for (const { gate } of this.tenures.values()) gate.renewed();
      },
    });
    const renew = () => {
      this.lease.renew().catch((error: Error) => this.cluster.complain(`${this.name}: ${error.stack}`));
      loop.after(RENEW_MS / this.clock.rate, renew);
    };
    loop.soon(renew, this.leaseThread);
    for (const [i, thread] of this.threads.entries()) loop.soon(() => this.look(i), thread);
  }

  private lost(): void {
    this.life++;
    for (const partition of [...this.tenures.keys()]) this.close(partition);
  }

  /** An actor looks after its partitions, again and again. */
  private look(actor: number): void {
    for (let partition = actor; partition < PARTITIONS; partition += ACTORS) {
      if (this.tenures.has(partition) || this.opening.has(partition) || !this.lease.holds) continue;
      this.opening.add(partition);
      this.tryTaking(partition)
        .catch((error: Error) => {
          const isExpected = error instanceof DbError && error.code !== "partition_damaged";
          if (!isExpected) this.cluster.complain(`${this.name} cannot open ${partition}: ${error.stack}`);
        })
        .finally(() => {
          this.opening.delete(partition);
          this.taking.delete(partition);
        });
    }
    if (this.cluster.readsCopies) this.copyReads[actor]!.rest();
    if (this.cluster.movesTenants) this.moves[actor]!.sweep();
    if (this.cluster.branched.length > 0)
      for (const [partition, { care }] of this.tenures) if (partition % ACTORS === actor) care.some();
    this.cluster.loop.after(LOOK_MS, () => this.look(actor));
  }

  private async tryTaking(partition: number): Promise<void> {
    const { life, service } = this;
    const owner = await service.owner(partition);
    const rank = (this.index - (partition % NODES) + NODES) % NODES;
    const tenure = `${this.name}.${this.cluster.random.next()}`;
    const claim = { partition, node: this.name, tenure, epoch: owner?.epoch ?? 0 };
    if (owner === null || owner.node === this.name) {
      if (owner === null && !this.isMyTurn(partition, rank)) return;
    } else {
      const unseen = await this.watch.unseen(owner.node);
      if (unseen === null) {
        this.freeSince.delete(partition);
        return;
      }
      if (!this.isMyTurn(partition, rank)) return;
      await this.closeCopy(partition);
      const epoch = await service.claim({ ...claim, unseen });
      if (epoch !== null && this.life === life) await this.open(partition, epoch, life);
      return;
    }
    await this.closeCopy(partition);
    const epoch = await service.claim(claim);
    if (epoch !== null && this.life === life) await this.open(partition, epoch, life);
  }

  private async closeCopy(partition: number): Promise<void> {
    this.taking.add(partition);
    await this.copyReads[partition % ACTORS]!.close(partition);
  }

  private newCopyReads(): SimulatedCopyReads {
    const { service, disks, engines, cluster } = this;
    const isBehind = cluster.sabotage === "copies read what a member of the log that is behind has";
    const behind = { tail: (...asked: Parameters<SimulatedLog["tail"]>) => service.tailBehind(...asked) };
    return new SimulatedCopyReads({
      ...{ disks, engines, service: isBehind ? behind : service },
      isOwn: (partition) => this.tenures.has(partition) || this.taking.has(partition),
      openLog: (partition) => this.openLog(partition),
      complain: (what) => cluster.complain(`${this.name}: ${what}`),
    });
  }

  private newMoves(): ActorMoves {
    const { cluster } = this;
    return new ActorMoves({
      ...{ loop: cluster.loop, partitions: PARTITIONS, actors: ACTORS, sabotage: cluster.sabotage },
      running: (partition) => this.tenures.get(partition)?.running ?? [],
      say: (message) => cluster.sayMove(this, message),
      relocated: () => cluster.relocated++,
      complain: (what) => cluster.complain(`${this.name}: ${what}`),
    });
  }

  /** Runs in the actor's thread. Null: another node has to answer. */
  readStale(partition: number, maxMs: number, keys: readonly Uint8Array[]): Promise<StaleRead | null> {
    return this.copyReads[partition % ACTORS]!.read(partition, maxMs, keys);
  }

  private isMyTurn(partition: number, rank: number): boolean {
    const now = this.cluster.loop.now;
    if (!this.freeSince.has(partition)) this.freeSince.set(partition, now);
    return now - this.freeSince.get(partition)! >= rank * RANK_MS;
  }

  private openLog(partition: number): Promise<FileCommitLog> {
    return FileCommitLog.open({ directory: logDirectoryOf(partition), disk: this.disks[partition]!, ...LOG_OPTIONS });
  }

  private async open(partition: number, epoch: number, life: number): Promise<void> {
    const { loop, sabotage } = this.cluster;
    const local = await this.openLog(partition);
    const log = await ReplicatedCommitLog.open({
      ...{ service: this.service, partition, epoch, local },
      manyCommits: 2,
    });
    const durable = new OutputGate();
    const failed = (error: DbError) => {
      if (error.code === "partition_damaged") this.cluster.complain(`${this.name}, ${partition}: ${error.message}`);
      durable.refuse(0, error);
      if (this.tenures.get(partition)?.durable === durable) this.close(partition);
    };
    const layers = layersOf(this.engines[partition]!, sabotage);
    const shard = await Shard.open({
      ...{ engine: layers, layers, log },
      applyWhen: sabotage === "the engine applies before the acknowledgement" ? "appended" : "durable",
      largeSizes: LARGE_SIZES,
      onDurable: (sequence) => {
        this.cluster.acknowledged(partition, sequence, epoch);
        durable.open(sequence);
        this.tenures.get(partition)?.partition?.onDisk(sequence);
      },
      onFlushFailed: (first, _last, error) => {
        durable.refuse(first, error);
        endsUndone(layers.branches.values(), first);
        this.tenures.get(partition)?.partition?.gate.refuse(first, error);
        this.movesOf(partition).undone(partition);
      },
      onFailed: failed,
    });
    durable.open(shard.committedSequence);
    if (this.life !== life) {
      await shard.close();
      this.engines[partition] = this.engines[partition]!.reopened();
      return;
    }
    this.cluster.opened(partition, this.name, epoch, shard.committedSequence);
    const { lease } = this;
    // With the flaw a node believes what its last renewal said, for however long it stood still since.
    const flaw = {
      get holds() {
        return lease.isMember;
      },
    };
    const gate = new TenureGate(sabotage === "the bound is looked at only at renewals" ? flaw : lease);
    const tenure: Tenure = {
      ...{ epoch, log, shard, durable, gate, running: new Set<Running>(), partition: null },
      ...{ isFlushPlanned: false, isLeaving: false },
      care: new BranchCare(
        shard,
        this.cluster.random,
        BRANCHED_TENANTS.filter((root) => root % PARTITIONS === partition),
        sabotage,
      ),
    };
    this.tenures.set(partition, tenure);
    this.freeSince.delete(partition);
    if (this.cluster.movesTenants)
      tenure.partition = this.movesOf(partition).opened(partition, shard, gate, () => this.planFlush(tenure));
    loop.note(`${this.name} owns ${partition} since ${epoch}`);
  }

  private movesOf(partition: number): ActorMoves {
    return this.moves[partition % ACTORS]!;
  }

  /** The tenure is over. Nobody opens the partition here before its files are closed. */
  private async close(partition: number): Promise<void> {
    const tenure = this.tenures.get(partition);
    if (tenure === undefined) return;
    this.tenures.delete(partition);
    this.opening.add(partition);
    this.taking.add(partition); // so that no copy is opened beside it
    this.movesOf(partition).closed(partition);
    tenure.gate.end();
    tenure.durable.refuse(0, new DbError("partition_unavailable"));
    await (tenure.partition ?? tenure.shard).close().catch(() => undefined);
    this.taking.delete(partition);
    this.release(partition);
  }

  /** Gives the partition to another node, which opens it when it sees that it owns it; files are closed meanwhile. */
  async handOver(partition: number, to: string): Promise<void> {
    const tenure = this.tenures.get(partition);
    if (tenure === undefined || this.letting.has(partition)) return;
    const { epoch, log } = tenure;
    const claim = { partition, node: to, tenure: `${this.name} to ${to}`, epoch };
    const isNamedFirst = this.cluster.sabotage === "the successor is named before the partition is closed";
    if (isNamedFirst) await this.service.claim(claim);
    this.letting.add(partition);
    const closed = this.letGo(partition, tenure);
    try {
      if (!(await Promise.race([log.ended.then(() => true), closed]))) return;
      if (!isNamedFirst) {
        this.cluster.handOvers++;
        await this.service.claim(claim).catch(() => null);
      }
      await closed;
    } catch {
      this.crashActor(partition % ACTORS);
    } finally {
      this.letting.delete(partition);
    }
  }

  private letGo(partition: number, tenure: Tenure): Promise<boolean> {
    const { loop } = this.cluster;
    const { shard, durable, gate, running } = tenure;
    const isOver = (): boolean => this.tenures.get(partition) !== tenure;
    return letGoOf(partition, {
      ...{ shard, durable, gate, running, isOver },
      isFlushPlanned: () => tenure.isFlushPlanned,
      isTied: () => this.movesOf(partition).isTied(partition),
      takesNoMore: () => {
        tenure.isLeaving = true;
        this.movesOf(partition).takesNoMore(partition);
      },
      tellGateway: (heard) => loop.after(this.cluster.delay(), heard),
      close: async () => {
        if (!isOver()) await this.close(partition);
      },
    });
  }

  private release(partition: number): void {
    this.engines[partition] = this.engines[partition]!.reopened();
    this.opening.delete(partition);
  }

  get owned(): readonly number[] {
    return [...this.tenures.keys()];
  }

  serves(partition: number): boolean {
    return this.isUp && this.tenures.has(partition) && this.lease.holds;
  }

  /** Runs in the actor's thread. `tenant`: one that may move. */
  perform(partition: number, work: Work, answer: (answer: Answer) => void, tenant: number | null = null): void {
    const tenure = this.tenures.get(partition);
    if (tenure === undefined || tenure.isLeaving) {
      answer({ kind: "moved" });
      return;
    }
    if (tenant !== null) {
      const isHeld = this.movesOf(partition).holds(partition, tenant, {
        resume: () => this.perform(partition, work, answer, tenant),
        redirect: (to) => answer({ kind: "moved", to }),
        refuse: () => answer({ kind: "moved" }),
      });
      if (isHeld) return;
    }
    const { shard, durable, gate, running } = tenure;
    let isEnded = false;
    const fail = () => answer({ kind: "failed" });
    const one: Running = {
      tenant,
      end: () => {
        isEnded = true;
        this.cluster.ended++;
      },
    };
    running.add(one);
    const acknowledged = (sequence: number) => {
      this.planFlush(tenure);
      return new Promise<void>((resolve, reject) => durable.pass(sequence, resolve, reject));
    };
    work(shard, () => isEnded, acknowledged).then(
      ({ seen, value }) => {
        running.delete(one);
        this.planFlush(tenure);
        durable.pass(seen, () => gate.pass(() => answer({ kind: "done", value }), fail), fail);
      },
      (error: DbError) => {
        running.delete(one);
        this.planFlush(tenure);
        if (error.code === "serialization_failure") answer({ kind: "done", value: null });
        else fail();
      },
    );
  }

  private planFlush(tenure: Tenure): void {
    if (tenure.isFlushPlanned) return;
    tenure.isFlushPlanned = true;
    this.cluster.loop.soon(() => {
      tenure.isFlushPlanned = false;
      tenure.shard.flush();
      this.applyLarge(tenure);
    });
  }

  private applyLarge({ shard }: Tenure): void {
    if (!shard.hasBacklog) return;
    const { loop } = this.cluster;
    const step = () => {
      shard.applySome();
      if (shard.hasBacklog && shard.failed === null) shard.backlogReady().then(() => loop.soon(step));
    };
    shard.backlogReady().then(() => loop.soon(step));
  }

  /** An actor's thread ends, in the middle of whatever it did; a new one takes its place. */
  crashActor(actor: number): void {
    if (!this.isUp) return;
    const { loop } = this.cluster;
    this.threads[actor]!.alive = false;
    for (let partition = actor; partition < PARTITIONS; partition += ACTORS) this.forget(partition);
    const thread = new Thread(`${this.name}.${++this.starts}.actor${actor}`);
    this.threads[actor] = thread;
    this.copyReads[actor]!.end();
    this.copyReads[actor] = this.newCopyReads();
    this.moves[actor] = this.newMoves();
    loop.after(20, () => this.look(actor), thread);
  }

  private forget(partition: number): void {
    this.tenures.delete(partition);
    this.taking.delete(partition);
    this.opening.delete(partition);
    this.letting.delete(partition);
    this.engines[partition] = this.engines[partition]!.reopened();
  }

  /** `powerCut`: what was not synced is gone, or a part of it. */
  crash(powerCut: boolean): void {
    if (!this.isUp) return;
    this.isUp = false;
    this.life++;
    for (const thread of [this.leaseThread, ...this.threads]) thread.alive = false;
    for (const reads of this.copyReads) reads.end();
    for (let partition = 0; partition < PARTITIONS; partition++) {
      this.forget(partition);
      if (!powerCut) continue;
      this.disks[partition] = this.disks[partition]!.rebooted();
      this.engines[partition] = this.engines[partition]!.rebooted();
    }
  }

  /** The process stands still. `isSuspended`: its machine does, so one of its clocks does, too. */
  stop(ms: number, isSuspended: boolean): void {
    const { loop, sabotage } = this.cluster;
    for (const thread of [this.leaseThread, ...this.threads]) thread.stoppedUntil = loop.now + ms;
    if (!isSuspended) return;
    this.clock.missedMs += ms;
    // As if the other clock had stood still as well.
    if (sabotage === "a suspended machine is not noticed") this.clock.setMs -= ms * this.clock.rate;
  }
}

/** What an owner opens over its engine; with some flaws another one. */
function layersOf(engine: FaultyEngine, sabotage: Sabotage | null): LayeredEngine {
  const layers = new LayeredEngine(
    sabotage === "what is copied for a long chain is lost" ? withoutCopies(engine) : engine,
  );
  // As if what is replayed were new.
  if (sabotage === "a replay keeps as the past what it finds") layers.recovered(0);
  return layers;
}

/** Takes nothing of what is copied for long chains, but that it was. */
function withoutCopies(engine: FaultyEngine): FaultyEngine {
  return new Proxy(engine, {
    get: (target, name) => {
      if (name === "write")
        return (operations: readonly Operation[], persisted?: boolean) =>
          target.write(
            operations.filter(({ key }) => tenantOfKey(key) !== SHARD_TENANT || key[4] !== SPACE.flat),
            persisted,
          );
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
