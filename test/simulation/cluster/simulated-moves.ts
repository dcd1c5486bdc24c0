/**
 * Tenants that move between partitions of a simulated cluster. Real are the directory's part (TenantMoves), each
 * actor's (Placement) and partitions with their places. Simulated are the directory's records, which are keys of
 * partition 0, and the links between nodes: they keep the order of messages, and lose all of them for a while.
 */

import type { HeldRequest } from "../../../src/actor/actor-features.js";
import { TenuredGate } from "../../../src/actor/actor-tenures.js";
import { Partition } from "../../../src/actor/partition.js";
import type { TenureGate } from "../../../src/cluster/tenure-gate.js";
import { loadConfig } from "../../../src/config/load-config.js";
import type { MoveRecord } from "../../../src/directory/records.js";
import { JOBS } from "../../../src/features/jobs/jobs.js";
import { Placement } from "../../../src/features/placement/placement.js";
import { TenantMoves, type TenantMovesOptions } from "../../../src/features/placement/tenant-moves.js";
import { DbError } from "../../../src/protocol/errors.js";
import type { FromActor } from "../../../src/protocol/messages.js";
import type { Shard } from "../../../src/storage/shard.js";
import { hasEntries } from "../../../src/storage/tenant-entries.js";
import type { VirtualLoop } from "../virtual-loop.js";
import type { Running } from "./simulated-hand-over.js";
import type { Sabotage } from "./simulated-log.js";

/** Their numbers. */
export const TENANTS = [11, 12, 13, 16];
const DIRECTORY = 0;
/** As between nodes (directory-services.ts). */
const SILENCE_MS = 15_000;
const SWEEP_MS = 1000;
const CONFIG = loadConfig({ env: {} });

export interface ActorMovesHost {
  readonly loop: VirtualLoop;
  /** Of the cluster. */
  readonly partitions: number;
  readonly actors: number;
  readonly sabotage: Sabotage | null;
  running(partition: number): Iterable<Running>;
  say(message: FromActor): void;
  /** The directory has written that a tenant is elsewhere. */
  relocated(): void;
  complain(what: string): void;
}

/** Where a tenant is that was never moved. */
export function homeOf(tenant: number, partitions: number): number {
  return tenant % partitions;
}

/** Of one actor's thread. */
export class ActorMoves {
  private readonly partitions = new Map<number, Partition>();
  private readonly leaving = new Set<number>();
  private readonly placement: Placement;
  private directory: TenantMoves | null = null;
  private sweptMs = 0;

  constructor(private readonly host: ActorMovesHost) {
    const { loop } = host;
    this.placement = new Placement({
      scheduler: { yieldTurn: () => new Promise<void>((resolve) => loop.soon(resolve)) },
      partitions: this.partitions,
      running: ({ number }, tenant) => [...host.running(number)].filter((one) => one.tenant === tenant),
      takeAnswers: () => [],
      isRestoring: () => false,
      forgetBackups: () => Promise.resolve(),
      restoreAnswers: () => undefined,
      say: (message) => host.say(message),
      log: (level, message, fields) => {
        // Of one that was closed meanwhile nothing more can be removed.
        if (level === "error" && !/closed|failed|unavailable/i.test(JSON.stringify(fields)))
          host.complain(`${message}: ${JSON.stringify(fields)}`);
      },
    });
  }

  /** Opens what is beside the shard of a partition that this actor owns from now on. */
  opened(number: number, shard: Shard, tenure: TenureGate, flushSoon: () => void): Partition {
    const gate = new TenuredGate((send, fail) => tenure.pass(send, fail));
    const partition = new Partition(number, shard, CONFIG, flushSoon, undefined, null, gate);
    partition.part(JOBS).queue.begin([], () => undefined);
    this.partitions.set(number, partition);
    this.leaving.delete(number);
    if (number === DIRECTORY) this.directory = this.openDirectory(partition, flushSoon);
    this.placement.beginOne(partition);
    if (number === DIRECTORY) this.placement.reportAll();
    return partition;
  }

  private openDirectory(partition: Partition, flushSoon: () => void): TenantMoves {
    const { host } = this;
    return new TenantMoves({
      ...{ directory: new PlaceRecords(partition.shard, host, flushSoon), silenceMs: SILENCE_MS },
      ...{ partitions: host.partitions, actors: host.actors, now: Date.now, say: (message) => host.say(message) },
      durable: async () => {
        flushSoon();
        if (host.sabotage !== "moves are told before they are recorded") await partition.durable();
      },
    });
  }

  /** It is closed, or is about to be. */
  closed(number: number): void {
    const partition = this.partitions.get(number);
    if (partition === undefined) return;
    this.placement.leave(partition);
    partition.gate.refuse(0, new DbError("partition_unavailable"));
    this.partitions.delete(number);
    if (number === DIRECTORY) this.directory = null;
  }

  /** Not one that moves, or waits for one, may be let go. */
  isTied(number: number): boolean {
    const partition = this.partitions.get(number);
    if (partition === undefined) return false;
    return this.placement.isAt(partition) || (number === DIRECTORY && this.directory?.isMoving === true);
  }

  /** Commits of the partition were refused. */
  undone(number: number): void {
    const partition = this.partitions.get(number);
    if (partition !== undefined) this.placement.undone(partition);
  }

  takesNoMore(number: number): void {
    this.leaving.add(number);
  }

  /** Null: the partition is not this actor's. */
  partition(number: number): Partition | null {
    return this.partitions.get(number) ?? null;
  }

  /** True: the tenant is on its way, or elsewhere, and the request with it. */
  holds(number: number, tenant: number, request: HeldRequest): boolean {
    const partition = this.partitions.get(number);
    if (partition === undefined || partition.places.get(tenant) === undefined) return false;
    if (this.host.sabotage === "a tenant is answered for where it is not any more") return false;
    this.placement.hold(partition, tenant, request);
    return true;
  }

  hear(message: FromActor): void {
    if (message.kind === "placement") {
      if (this.leaving.has(message.partition)) this.placement.refuse(message.message);
      else this.placement.hear(message.partition, message.message);
    } else if (message.kind === "move-report") this.directory?.heard(message.report);
    else if (message.kind === "unsettled") this.directory?.unsettled(message.partition, message.tenants);
  }

  partitionEnded(partition: number): void {
    this.directory?.partitionEnded(partition);
  }

  /** False: there is no directory here, or it refuses. */
  start(tenant: number, to: number): boolean {
    try {
      this.directory?.start(String(tenant), to, 0);
      return this.directory !== null;
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
      return false;
    }
  }

  cancel(tenant: number): void {
    try {
      this.directory?.cancel(String(tenant));
    } catch (error) {
      if (!(error instanceof DbError)) throw error;
    }
  }

  sweep(): void {
    const { now } = this.host.loop;
    if (now - this.sweptMs < SWEEP_MS) return;
    this.sweptMs = now;
    this.placement.sweep();
    this.directory?.sweep();
  }

  /** Nothing is on its way, and nothing is left of what has gone. */
  get isSettled(): boolean {
    const places = [...this.partitions.values()].flatMap(({ places }) => places.entries());
    return this.directory?.isMoving !== true && places.every(([, place]) => place.kind === "gone" && place.clean);
  }

  /** Partitions that have entries of the tenant. */
  with(tenant: number): readonly number[] {
    return [...this.partitions.values()].filter(({ shard }) => hasEntries(shard, tenant)).map(({ number }) => number);
  }
}

/** The directory's records of tenants' places and moves. */
class PlaceRecords implements Record<keyof TenantMovesOptions["directory"], unknown> {
  constructor(
    private readonly shard: Shard,
    private readonly host: ActorMovesHost,
    private readonly wrote: () => void,
  ) {}

  placeOf(id: string) {
    return { number: Number(id), partition: this.partitionOfNumber(Number(id)) };
  }

  partitionOfNumber(tenant: number): number {
    return Number(this.read(`place/${tenant}`) ?? homeOf(tenant, this.host.partitions));
  }

  relocateTenant(id: string, to: number): () => void {
    this.write(`place/${id}`, String(to));
    this.host.relocated();
    return () => undefined;
  }

  saveMove(record: MoveRecord): void {
    this.write(`move/${record.tenant}`, JSON.stringify(record));
  }

  forgetMove(tenant: number): void {
    this.write(`move/${tenant}`, null);
  }

  listMoves(): MoveRecord[] {
    const records = TENANTS.map((tenant) => this.read(`move/${tenant}`));
    return records.flatMap((record) => (record === null ? [] : [JSON.parse(record) as MoveRecord]));
  }

  private read(key: string): string | null {
    const tx = this.shard.begin({ readOnly: true });
    const value = tx.get(Buffer.from(key));
    tx.rollback();
    return value === undefined ? null : Buffer.from(value).toString();
  }

  private write(key: string, value: string | null): void {
    const tx = this.shard.begin();
    if (value === null) tx.delete(Buffer.from(key));
    else tx.put(Buffer.from(key), Buffer.from(value));
    tx.commit();
    this.wrote();
  }
}

/** What one node says to another, one link for each direction. */
export class MoveLinks {
  private readonly arrivals = new Map<string, number>();
  private readonly brokenUntil = new Map<string, number>();

  constructor(private readonly loop: VirtualLoop) {}

  /** When a message of now arrives; null: never. */
  arrival(from: string, to: string): number | null {
    const { loop } = this;
    const { random } = loop;
    const name = `${from} ${to}`;
    if (from !== to && random.chance(0.004)) this.brokenUntil.set(name, loop.now + random.next() * 4000);
    if (loop.now < (this.brokenUntil.get(name) ?? 0)) return null;
    const delayMs = random.chance(0.02) ? random.next() * 200 : random.next() * 2;
    const at = Math.max(this.arrivals.get(name) ?? 0, loop.now + delayMs);
    this.arrivals.set(name, at);
    return at;
  }
}
