/** Nodes' actors on a log service, with leases and clocks in hand. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Test } from "tap";
import type { ClusterMap, ClusterView, MapChanges } from "../../src/cluster/cluster-map.js";
import { LeaseMemory, newLeaseMemory } from "../../src/cluster/lease-memory.js";
import type { CopySet, LogService, Member, Owner, StoredCheckpoint } from "../../src/cluster/log-service.js";
import { MemoryLogService } from "../../src/cluster/memory-log-service.js";
import { PartitionCopy } from "../../src/cluster/partition-copy.js";
import { Tenures } from "../../src/cluster/tenures.js";
import type { TenuresOptions } from "../../src/cluster/tenures-options.js";
import type { CommitLog } from "../../src/storage/commit-log.js";
import { FileCommitLog } from "../../src/storage/file-commit-log.js";

const PARTITIONS = 2;
const NODES = ["a", "b"];

/** The same everywhere, unless a test says otherwise. */
export interface WorldOptions {
  /** The model, if there is none; with its own view of what it holds. */
  readonly service?: LogService;
  readonly map?: Pick<ClusterMap, "view" | "changes">;
  /** Partitions are kept outside of all nodes. */
  readonly isStored?: boolean;
  readonly times?: Partial<Pick<TenuresOptions, "replaceAfterMs" | "reportMs" | "steadyMs" | "dropAfterMs" | "looks">>;
}

export class World {
  readonly service: LogService;
  readonly nodes: Node[] = [];
  readonly wants = new Map<number, string>();
  monotonicMs = 1_000_000;

  constructor(
    readonly folder: string,
    readonly options: WorldOptions = {},
  ) {
    this.service = options.service ?? new MemoryLogService();
  }

  async view(): Promise<ClusterView> {
    return this.options.map?.view() ?? this.ownView();
  }

  /** Tells all nodes that something may have changed. */
  tell = (): void => {};

  changes(told: () => void): MapChanges {
    const tellOthers = this.tell;
    this.tell = () => {
      tellOthers();
      told();
    };
    return this.options.map?.changes(told) ?? { isLive: false, close: () => undefined };
  }

  private async ownView(): Promise<ClusterView> {
    const owners = new Map<number, Owner>();
    const durable = new Map<number, ReadonlyMap<string, number>>();
    const copySets = new Map<number, CopySet>();
    const checkpoints = new Map<number, StoredCheckpoint>();
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const owner = await this.service.owner(partition);
      if (owner !== null) owners.set(partition, owner);
      durable.set(partition, await this.service.reports(partition));
      const set = await this.service.copySet(partition);
      if (set !== null) copySets.set(partition, set);
      const stored = await this.service.checkpoint(partition);
      if (stored !== null) checkpoints.set(partition, stored);
    }
    const members = new Map<string, Member>();
    for (const node of NODES) {
      const member = await this.service.member(node);
      if (member !== null) members.set(node, member);
    }
    return { owners, durable, members, copySets, checkpoints, wants: this.wants, draining: new Map() };
  }

  /** How a node is given another's state of a partition. */
  given: (to: Node, partition: number, folder: string) => Promise<number> = async () => {
    throw new Error("nobody gives anything");
  };

  /** How a node is given what is kept outside of all nodes. */
  restored: (to: Node, partition: number, folder: string) => Promise<number> = async () => {
    throw new Error("nothing can be had");
  };

  async node(t: Test, name: string): Promise<Node> {
    const node = new Node(this, name);
    this.nodes.push(node);
    t.teardown(() => node.end());
    await node.renew();
    return node;
  }

  /** Until that is so, while all that are alive renew. */
  until(what: string, isSo: () => boolean): Promise<void> {
    return this.untilAsync(what, async () => isSo());
  }

  async untilAsync(what: string, isSo: () => Promise<boolean>): Promise<void> {
    for (let tries = 0; !(await isSo()); tries++) {
      if (tries > 600) throw new Error(`never: ${what}`);
      await this.moments(1);
    }
  }

  async moments(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      await sleep(50);
      for (const node of this.nodes) if (node.isAlive) await node.renew();
    }
  }
}

/** Something may happen to the lease between two reads of one decision. */
export class InterruptedLease extends LeaseMemory {
  /** Happens once, just before somebody asks whether the lease holds. */
  interruption: (() => void) | null = null;

  override get holds(): boolean {
    const interrupt = this.interruption;
    this.interruption = null;
    interrupt?.();
    return super.holds;
  }
}

export class Node {
  isAlive = true;
  revision = 0;
  counter = 0;
  readonly owned = new Map<number, CommitLog>();
  readonly problems: string[] = [];
  readonly told: string[] = [];
  readonly lease: InterruptedLease;
  readonly tenures: Tenures;
  failures = 0;
  readonly fetched: string[] = [];
  private readonly openings: Promise<void>[] = [];
  /** Its actor cannot let go of anything. */
  isTied = false;
  /** Files of a partition that is closed take so long. */
  filesClosed: Promise<void> = Promise.resolve();
  closes = 0;
  /** As its record tells. */
  actors = "1";

  constructor(
    readonly world: World,
    readonly name: string,
  ) {
    this.lease = new InterruptedLease(newLeaseMemory(), {
      monotonicMs: () => world.monotonicMs,
      wallMs: () => 0 + world.monotonicMs,
    });
    this.tenures = new Tenures({
      node: name,
      actor: 0,
      map: world,
      service: world.service,
      lease: this.lease,
      partitions: PARTITIONS,
      mine: [0, 1],
      reads: "lease",
      copies: 2,
      ...world.options.times,
      clock: { monotonicMs: () => world.monotonicMs, wallMs: () => world.monotonicMs },
      copyOf: (partition) =>
        new PartitionCopy({
          ...{ service: world.service, partition, directory: this.directory(partition), log: {} },
          apply: async () => undefined,
        }),
      fetch: async (partition, address, folder) => {
        this.fetched.push(`${partition} ${address}`);
        return this.world.given(this, partition, folder);
      },
      ...(world.options.isStored && {
        restore: (partition: number, _kept: object, folder: string) => world.restored(this, partition, folder),
      }),
      failed: () => this.failures++,
      log: (level, message, fields) => {
        this.told.push(message);
        if (level === "error") this.problems.push(`${message} ${JSON.stringify(fields)}`);
      },
    });
    this.tenures.begin({
      open: (partition) => {
        const opened = this.open(partition);
        this.openings.push(opened);
        return opened;
      },
      close: async (partition) => {
        this.closes++;
        if (this.isTied) return false;
        await this.owned.get(partition)!.close();
        await this.filesClosed;
        this.owned.delete(partition);
        return true;
      },
      openCopy: async () => Promise.reject(new Error("no copy is read here")),
      armTurn: () => undefined,
    });
  }

  opened = 0;

  private async open(partition: number): Promise<void> {
    const local = await FileCommitLog.open({ directory: join(this.directory(partition), "log") });
    this.owned.set(partition, await this.tenures.replicate(partition, local));
    this.opened++;
  }

  directory(partition: number): string {
    return join(this.world.folder, this.name, String(partition));
  }

  async renew(): Promise<void> {
    const { actors } = this;
    const state = { incarnation: this.name, counter: ++this.counter, isFenced: false, actors, address: this.name };
    const revision = await this.world.service.renew(this.name, this.revision, state);
    if (revision === null) {
      this.isAlive = false;
      this.lease.lost();
      return;
    }
    this.revision = revision;
    this.believe();
  }

  believe(): void {
    const { monotonicMs } = this.world;
    this.lease.renewed({ untilMs: monotonicMs + 4500, monotonicMs, wallMs: monotonicMs });
  }

  async write(partition: number, sequence: number): Promise<void> {
    const log = this.owned.get(partition)!;
    log.append([{ sequence, micros: sequence, operations: [{ key: Buffer.of(1), value: Buffer.of(sequence) }] }]);
    await log.sync();
  }

  async end(): Promise<void> {
    this.isAlive = false;
    await this.tenures.stop();
    // What makes files goes before the folder does. Those that wait for an answer that never comes are left.
    await Promise.race([Promise.allSettled(this.openings), sleep(1000)]);
    for (const log of this.owned.values()) await log.close();
    await this.tenures.release();
  }
}
