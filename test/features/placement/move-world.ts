/**
 * Three actors without threads, each with one partition whose commit log keeps, at a power cut, only what was synced;
 * and the gateway's part between them. Actor 0 has the directory. Messages are delivered one at a time, in order, so
 * that a test can stop the world between any two.
 */

import { setImmediate as turn } from "node:timers/promises";
import { Partition } from "../../../src/actor/partition.js";
import { loadConfig } from "../../../src/config/load-config.js";
import { Directory } from "../../../src/directory/directory.js";
import type { RunnableKind } from "../../../src/features/jobs/background-jobs.js";
import { JOBS } from "../../../src/features/jobs/jobs.js";
import { Placement } from "../../../src/features/placement/placement.js";
import { TenantMoves } from "../../../src/features/placement/tenant-moves.js";
import { DbError } from "../../../src/protocol/errors.js";
import type { FromActor } from "../../../src/protocol/messages.js";
import type { Commit, LogEntry } from "../../../src/storage/commit-log.js";
import { prefixRange, tenantPrefix } from "../../../src/storage/keys.js";
import { MemoryCommitLog } from "../../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../../src/storage/memory-engine.js";
import { Shard } from "../../../src/storage/shard.js";
import { CHEAP, SECRET } from "../../directory/directory-fixture.js";

const CONFIG = loadConfig({ env: {} });
export const ACTORS = 3;

/** A log whose syncs take a turn of the loop. */
class SlowLog extends MemoryCommitLog {
  synced = 0;
  /** Refuses what is appended next. */
  isFull = false;

  override append(commits: readonly Commit[]): void {
    const { isFull } = this;
    this.isFull = false;
    if (isFull) throw new DbError("disk_full");
    super.append(commits);
  }

  override async sync(): Promise<void> {
    const { lastSequence } = this;
    await turn();
    this.synced = Math.max(this.synced, lastSequence);
  }
}

class Actor {
  alive = true;
  private unflushed = false;
  readonly running = new Set<{ tenant: number; end(error: DbError): void }>();
  moves: TenantMoves | null = null;
  directory: Directory | null = null;
  readonly placement: Placement;

  private constructor(
    readonly partition: Partition,
    readonly log: SlowLog,
    world: World,
  ) {
    const { number } = partition;
    this.placement = new Placement({
      scheduler: { yieldTurn: () => turn() },
      partitions: new Map([[number, partition]]),
      running: (_partition, tenant) => [...this.running].filter((one) => one.tenant === tenant),
      takeAnswers: () => [],
      isRestoring: () => false,
      forgetBackups: () => Promise.resolve(),
      restoreAnswers: () => undefined,
      say: (message) => {
        if (this.alive) world.say(number, message);
      },
      log: () => undefined,
      now: () => performance.now() + world.skippedMs,
    });
  }

  static async open(number: number, entries: readonly LogEntry[], world: World): Promise<Actor> {
    const log = new SlowLog();
    log.append(entries.map((entry) => ({ ...entry, operations: [...entry.operations] })));
    log.synced = log.lastSequence;
    let actor: Actor | null = null;
    const shard = await Shard.open({
      engine: new MemoryEngine(),
      log,
      onDurable: (sequence) => {
        if (actor?.alive) actor.partition.gate.open(sequence);
      },
      onFlushFailed: (first, _last, error) => {
        actor!.partition.undo(first, error);
        actor!.placement.undone(actor!.partition);
      },
    });
    const wrote = (): void => {
      if (actor !== null) actor.unflushed = true;
    };
    actor = new Actor(new Partition(number, shard, CONFIG, wrote), log, world);
    if (number === 0) await actor.openDirectory(world);
    actor.partition.part(JOBS).queue.begin(world.kindsOf(actor.partition), () => undefined);
    return actor;
  }

  private async openDirectory(world: World): Promise<void> {
    const { partition } = this;
    this.directory = new Directory({
      begin: (readOnly) => partition.shard.begin({ readOnly }),
      now: Date.now,
      deriveKey: async ({ length }) => new Uint8Array(length),
      secret: SECRET,
      config: CONFIG.auth,
      partitions: ACTORS,
      passwordCost: CHEAP,
      onIdentityChanged: (change) => world.say(0, { kind: "identity-changed", change }),
    });
    await this.directory.bootstrap({ adminPassword: "a password" });
    this.moves = new TenantMoves({
      directory: this.directory,
      partitions: ACTORS,
      actors: ACTORS,
      now: () => Date.now() + world.skippedMs,
      say: (message) => {
        if (this.alive) world.say(0, message);
      },
      durable: () => {
        this.unflushed = true;
        return partition.durable();
      },
    });
    partition.shard.flush();
  }

  flush(): void {
    if (!this.alive || !this.unflushed) return;
    this.unflushed = false;
    this.partition.flush(() => undefined);
  }

  /** Entries of the tenant as text. */
  entriesOf(tenant: number): Map<string, string> {
    const tx = this.partition.shard.begin({ readOnly: true });
    const cursor = tx.scan(prefixRange(tenantPrefix(tenant)));
    const { keys, values } = cursor.next(1_000_000);
    cursor.close();
    tx.rollback();
    return new Map(keys.map((key, i) => [Buffer.from(key).toString("hex"), Buffer.from(values[i]!).toString()]));
  }
}

export class World {
  readonly actors: Actor[] = [];
  /** What the gateway believes: it may be out of date, as a request's caller may be. */
  readonly cached = new Map<number, number>();
  delivered = 0;
  /** Messages that are lost, as between two nodes: so many, after so many. */
  loses = { after: 0, count: 0 };
  /** Of the directory and of those who wait for it, beside the clock. */
  skippedMs = 0;
  private readonly mail: (() => void)[] = [];

  /** `kindsOf`: the jobs that run in a partition. */
  private constructor(readonly kindsOf: (partition: Partition) => readonly RunnableKind[]) {}

  static async open(kindsOf: (partition: Partition) => readonly RunnableKind[] = () => []): Promise<World> {
    const world = new World(kindsOf);
    for (let number = 0; number < ACTORS; number++) world.actors.push(await Actor.open(number, [], world));
    return world;
  }

  get directory(): Directory {
    return this.actors[0]!.directory!;
  }

  get moves(): TenantMoves {
    return this.actors[0]!.moves!;
  }

  say(_from: number, message: FromActor): void {
    this.mail.push(() => {
      const { after, count } = this.loses;
      const isLost = this.delivered >= after && this.delivered < after + count;
      if (!isLost || message.kind === "identity-changed") this.carry(message);
    });
  }

  /** Time passes in which nothing is said. */
  skip(ms: number): void {
    this.skippedMs += ms;
    for (const { alive, placement } of this.actors) if (alive) placement.sweep();
    if (this.actors[0]!.alive) this.moves.sweep();
  }

  private carry(message: FromActor): void {
    if (message.kind === "placement") {
      const target = this.actors[message.partition]!;
      if (target.alive) target.placement.hear(message.partition, structuredClone(message.message));
      else if (message.message.do === "receive" || message.message.do === "send") {
        const { tenant, move } = message.message;
        this.actors[0]!.moves!.heard({ tenant, move, did: "failed", message: "not there" });
      }
    } else if (!this.actors[0]!.alive) return;
    else if (message.kind === "move-report") this.moves.heard(message.report);
    else if (message.kind === "unsettled") this.moves.unsettled(message.partition, message.tenants);
    else if (message.kind === "identity-changed") this.cached.clear();
  }

  /** Delivers a message, if there is one, and ends everybody's turn. */
  async step(): Promise<void> {
    const next = this.mail.shift();
    if (next !== undefined) {
      next();
      this.delivered++;
    }
    for (const actor of this.actors) actor.flush();
    await turn();
  }

  /** The actor's memory is lost; what its log has stays, or with `synced` only what was synced. */
  kill(number: number, what: "all" | "synced"): LogEntry[] {
    const actor = this.actors[number]!;
    actor.alive = false;
    actor.placement.close();
    // Its thread is gone: nothing of it goes on.
    void actor.partition.part(JOBS).queue.close();
    const { log } = actor;
    return [...log.replay(1)].filter(({ sequence }) => what === "all" || sequence <= log.synced);
  }

  /** Tells the directory, as the gateway does. */
  ended(number: number): void {
    if (number === 0) return;
    this.mail.push(() => {
      if (this.actors[0]!.alive) this.moves.actorEnded(number);
    });
  }

  async restart(number: number, entries: readonly LogEntry[]): Promise<void> {
    this.actors[number] = await Actor.open(number, entries, this);
    this.cached.clear();
    this.actors[number]!.placement.begin();
    if (number !== 0) return;
    this.mail.push(() => {
      for (const { alive, placement } of this.actors) if (alive) placement.reportAll();
    });
  }

  /** Everything at once, as a power cut. */
  async cutPower(): Promise<void> {
    const kept = this.actors.map((_, number) => this.kill(number, "synced"));
    this.mail.length = 0;
    for (const [number, entries] of kept.entries()) this.actors[number] = await Actor.open(number, entries, this);
    this.cached.clear();
    for (const actor of this.actors) actor.placement.begin();
  }

  /** Writes one key (null deletes it) as a request that takes that long; the answer says whether it is certain. */
  write(tenant: number, key: Uint8Array, value: string | null, turns: number): Promise<"done" | "unknown" | "refused"> {
    const partition = this.cached.get(tenant) ?? this.directory.partitionOfNumber(tenant)!;
    this.cached.set(tenant, partition);
    return new Promise((resolve) => this.arrive(partition, tenant, key, value, turns, resolve));
  }

  private arrive(
    number: number,
    tenant: number,
    key: Uint8Array,
    value: string | null,
    turns: number,
    answer: (how: "done" | "unknown" | "refused") => void,
  ): void {
    const actor = this.actors[number]!;
    const again = (at: number): void => this.arrive(at, tenant, key, value, turns, answer);
    if (!actor.alive) {
      answer("refused");
      return;
    }
    if (actor.partition.places.get(tenant) !== undefined) {
      actor.placement.hold(actor.partition, tenant, {
        resume: () => again(number),
        redirect: again,
        refuse: () => answer("refused"),
      });
      return;
    }
    void this.perform(actor, tenant, key, value, turns).then(answer);
  }

  private async perform(actor: Actor, tenant: number, key: Uint8Array, value: string | null, turns: number) {
    const request = {
      tenant,
      ended: false,
      end(): void {
        this.ended = true;
      },
    };
    const { partition } = actor;
    const tx = partition.shard.begin();
    if (turns > 0) {
      actor.running.add(request);
      for (let i = 0; i < turns && !request.ended; i++) await turn();
      actor.running.delete(request);
    }
    if (request.ended || !actor.alive) return "refused";
    try {
      if (value === null) tx.delete(key);
      else tx.put(key, Buffer.from(value));
      tx.commit();
    } catch {
      return "refused";
    }
    partition.wroteSomething(tenant);
    let isDurable = false;
    partition.durable().then(
      () => {
        isDurable = true;
      },
      () => undefined,
    );
    while (!isDurable && actor.alive) await turn();
    return isDurable && actor.alive ? "done" : "unknown";
  }
}
