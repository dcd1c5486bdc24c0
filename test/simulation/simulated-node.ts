/**
 * A whole node in one thread and in virtual time: the gateway's pool and links with their supervisor, and actors with
 * their partitions on simulated disks. Between "threads" messages are copied and take a while, in order; a thread that
 * ends loses what it had said last. Missing are sockets, HTTP and what is not of a partition: files of saved indexes,
 * models, task threads. Backups have virtual files.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { Actor } from "../../src/actor/actor.js";
import type { OpenShard } from "../../src/actor/open-partition.js";
import { loadConfig } from "../../src/config/load-config.js";
import { deriveKey } from "../../src/directory/derive-key.js";
import { actorFeatures } from "../../src/features/actor-features.js";
import type { ActorPort, PendingReply } from "../../src/gateway/actor-link.js";
import { ActorPool } from "../../src/gateway/actor-pool.js";
import { systemClock } from "../../src/gateway/clock.js";
import { ENDPOINTS } from "../../src/protocol/endpoints.js";
import {
  encodeCaller,
  encodeHead,
  encodePlace,
  REPLY_MOVED,
  REPLY_TAKEN,
  REQUEST_IDEMPOTENT,
  type ReplyFrame,
} from "../../src/protocol/frames.js";
import type { Identity } from "../../src/protocol/identity.js";
import type { ActorSettings, FromActor, ToActor } from "../../src/protocol/messages.js";
import { CachedEngine } from "../../src/storage/cached-engine.js";
import { FileCommitLog } from "../../src/storage/file-commit-log.js";
import { LayeredEngine } from "../../src/storage/layered-engine.js";
import { SealedEngine } from "../../src/storage/sealed-engine.js";
import { recordSeal } from "../../src/storage/sealed-record.js";
import { Shard } from "../../src/storage/shard.js";
import { TenantKeys } from "../../src/storage/tenant-keys.js";
import { memoryLogger } from "../gateway/memory-logger.js";
import { FaultyDisk, FaultyEngine } from "./faulty-storage.js";
import { VirtualFiles } from "./virtual-files.js";
import { Owner, type VirtualLoop } from "./virtual-loop.js";

export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers are read as they come
  readonly body: any;
}

/** `lost`: nobody knows whether it was done. */
export type Outcome = Reply | "lost";

/** Null: none. */
export function statusOf(outcome: Outcome): number | null {
  return outcome === "lost" ? null : outcome.status;
}

export interface Call {
  readonly endpoint: string;
  readonly body?: object;
  readonly params?: readonly string[];
  readonly idempotencyKey?: string;
  /** Of the tenant; absent: the tenant itself. */
  readonly branch?: string | undefined;
  /** Of whom; absent: the directory's, as a super administrator. */
  readonly identity?: Identity;
  /** Milliseconds after which the client leaves. */
  readonly leavesAfterMs?: number;
}

export interface NodeOptions {
  readonly actors: number;
  readonly partitions: number;
  /** That the commit log keeps, so that backups can continue others. */
  readonly logBytes?: number;
  /** What is stored is encrypted. */
  readonly isEncrypted?: boolean;
  /** Disks say that they have synced and have not: to see that the simulation would notice. */
  readonly disksLie?: boolean;
}

const DATA = "/simulated";
const SECRET = new Uint8Array(32).fill(7);
const REQUEST_MS = 30_000;
const REDIRECTS_MAX = 8;
const CODES = new Map(ENDPOINTS.map(({ name, code }) => [name as string, code]));
const ADMIN = encodeCaller("u", "admin", "system", "", ["super_admin"]);

export class SimulatedNode {
  readonly disks: FaultyDisk[];
  /** Of all partitions; where their backups are. */
  readonly files: VirtualFiles;
  readonly engines: FaultyEngine[];
  /** On the real disk, for each partition: keys are there before anything that they encrypt. Null: there are none. */
  private readonly keyFolders: readonly string[] | null;
  readonly threads: SimulatedThread[] = [];
  pool: ActorPool | null = null;
  /** What the log says that is no consequence of a fault. */
  readonly complaints: string[] = [];
  readonly logger = memoryLogger();
  private gateway: Owner;
  private readonly clients: Owner;
  private readonly waiting = new Set<() => void>();
  /** Where tenants were seen last, as a gateway's cache of identities has it. */
  private readonly places = new Map<number, number>();

  constructor(
    readonly loop: VirtualLoop,
    readonly options: NodeOptions,
  ) {
    const numbers = Array.from({ length: options.partitions }, (_, i) => i);
    this.disks = numbers.map(() => new FaultyDisk(loop, loop.random, options.disksLie === true));
    this.engines = numbers.map(() => new FaultyEngine(loop.random));
    this.keyFolders =
      options.isEncrypted === true ? numbers.map(() => mkdtempSync(join(tmpdir(), "tessera-keys-"))) : null;
    for (const folder of this.keyFolders ?? []) process.once("exit", () => rmSync(folder, { recursive: true }));
    this.files = new VirtualFiles(DATA, loop, loop.random);
    this.files.install();
    this.gateway = new Owner("gateway");
    this.clients = loop.current;
  }

  /** Resolves when every actor is up or has failed once; rejects when the directory does not come up. */
  start(): Promise<void> {
    this.gateway = new Owner("gateway");
    return this.in(this.gateway, async () => {
      this.pool = await ActorPool.start({
        actors: this.options.actors,
        partitions: this.options.partitions,
        spawn: (actor) => this.spawn(actor),
        startInference: () => undefined,
        refused: () => undefined,
        logger: this.logger.logger,
        clock: systemClock,
        // Simulated actors give way; what is held up there is held up for all.
        watch: { lateMs: 0, stopMs: 0, stoppedRefusedSeconds: 0 },
        identityChanged: () => this.places.clear(),
        directoryRestarted: () => this.places.clear(),
      });
    });
  }

  /** Runs it as that owner's; what it gives comes back to the clients. */
  private in<T>(owner: Owner, run: () => Promise<T>): Promise<T> {
    const { loop } = this;
    return new Promise((resolve, reject) => {
      loop.soon(() => {
        run().then(
          (value) => loop.soon(() => resolve(value), this.clients),
          (error) => loop.soon(() => reject(error), this.clients),
        );
      }, owner);
    });
  }

  private spawn(actor: number): ActorPort {
    const { actors, partitions } = this.options;
    const settings: ActorSettings = {
      actor,
      partitions: Array.from({ length: partitions }, (_, i) => i).filter((p) => p % actors === actor),
      partitionCount: partitions,
      dataDirectory: DATA,
      installation: "simulated",
      config: { ...CONFIG, actors: { ...CONFIG.actors, count: actors } },
      secret: SECRET,
      claimBundles: [],
      adminPassword: "a password",
    };
    const thread = new SimulatedThread(this, settings, this.gateway);
    this.threads[actor] = thread;
    return thread;
  }

  readonly openShard: OpenShard = async (directory, options) => {
    const partition = Number(basename(directory).slice("partition-".length));
    const engine = this.engines[partition]!.reopened();
    this.engines[partition] = engine;
    const { keyFolders } = this;
    const keys = keyFolders === null ? null : new TenantKeys(keyFolders[partition]!, SECRET, null);
    const log = await FileCommitLog.open({
      seal: keys === null ? null : recordSeal(keys),
      segmentBytes: 65_536,
      retentionBytes: this.options.logBytes ?? 65_536,
      directory: "log",
      disk: this.disks[partition]!,
    });
    const layers = new LayeredEngine(keys === null ? engine : new SealedEngine(engine, keys));
    return Shard.open({ ...options, engine: new CachedEngine(layers, 1 << 20), layers, log, keys });
  };

  /** The thread ends at once; the supervisor sees it. */
  crash(actor: number): void {
    this.threads[actor]?.end(1);
  }

  /** Everything ends, and of what was not synced some is lost. `start` begins again. */
  cutPower(): void {
    this.gateway.alive = false;
    for (const thread of this.threads) thread.owner.alive = false;
    this.pool = null;
    this.places.clear();
    for (const [i, disk] of this.disks.entries()) this.disks[i] = disk.rebooted();
    for (const [i, engine] of this.engines.entries()) this.engines[i] = engine.rebooted();
    this.files.cutPower();
    for (const lost of [...this.waiting]) lost();
    this.waiting.clear();
  }

  identityOf(userId: string): Promise<Identity> {
    return this.in(
      this.gateway,
      () =>
        new Promise((resolve, reject) =>
          this.pool!.directory.findIdentity("user", userId, (identity) =>
            identity == null ? reject(new Error("unknown user")) : resolve(identity),
          ),
        ),
    );
  }

  /** One request and its answer. What is answered 503 by the gateway itself was not done. */
  call(call: Call): Promise<Outcome> {
    const { loop } = this;
    return new Promise((resolve) => {
      const answer = (outcome: Outcome): void => {
        if (!this.waiting.delete(lost)) return;
        loop.after(loop.random.next() * 0.5, () => resolve(outcome), this.clients);
      };
      const lost = (): void => answer("lost");
      this.waiting.add(lost);
      // The power may be off: then nobody takes it.
      if (this.pool === null) loop.after(1, () => answer({ status: 503, body: null }), this.clients);
      else loop.after(loop.random.next() * 0.5, () => this.send(call, answer), this.gateway);
    });
  }

  private send(call: Call, answer: (outcome: Outcome) => void): void {
    const { pool, loop } = this;
    if (pool === null) {
      answer({ status: 503, body: null });
      return;
    }
    const { identity, params = [], idempotencyKey = "" } = call;
    const tenant = identity?.tenantNumber ?? 0;
    let partition = identity === undefined ? 0 : (this.places.get(tenant) ?? identity.partition);
    const caller =
      identity === undefined
        ? ADMIN
        : encodeCaller(identity.userId, identity.username, identity.tenantId, "", identity.roles);
    const head = encodeHead(caller + encodePlace(call.branch ?? "", ""), idempotencyKey, "127.0.0.1", "", params);
    const body = call.body === undefined ? null : Buffer.from(JSON.stringify(call.body));
    const flags = idempotencyKey === "" ? 0 : REQUEST_IDEMPOTENT;
    let redirects = 0;
    let id = 0;
    let link = pool.linkOf(partition);
    const pending: PendingReply = {
      replied: (frame) => {
        if ((frame.flags & REPLY_MOVED) !== 0) {
          partition = Number(frame.headers);
          this.places.set(tenant, partition);
          if (++redirects > REDIRECTS_MAX) answer({ status: 503, body: null });
          else send();
        } else answer({ status: frame.status, body: parsed(frame) });
      },
      progressed: (frame) => {
        if ((frame.flags & REPLY_TAKEN) === 0) this.complaints.push(`${call.endpoint} streamed its answer`);
      },
      lost: () => answer("lost"),
      ...{ requestId: "", tenantId: null, repeatable: "never", ofDirectory: false, keptIn: null, suspicions: 0 },
    };
    const send = (): void => {
      link = pool.linkOf(partition);
      if (link.state !== "ready") {
        answer({ status: 503, body: null });
        return;
      }
      const code = CODES.get(call.endpoint)!;
      const deadlineMs = Date.now() + REQUEST_MS;
      id = link.send(pending, code, flags, partition, tenant, deadlineMs, `r${loop.tasksRun}`, head, body);
    };
    send();
    const leave = (): void => {
      link.cancel(id);
      answer("lost");
    };
    if (call.leavesAfterMs !== undefined) loop.after(call.leavesAfterMs, leave);
    loop.after(REQUEST_MS + 1000, leave);
  }
}

function parsed(frame: ReplyFrame): unknown {
  const text = frame.body.toString();
  return text === "" ? null : JSON.parse(text);
}

const CONFIG = loadConfig({
  env: {
    TESSERA_STORAGE_SPILL_BYTES_MAX: "0",
    TESSERA_STORAGE_COLUMN_SEGMENT_BYTES: String(1 << 20),
    TESSERA_AUTH_ADMIN_PASSWORD: "a password",
  },
});

/** What the gateway holds of an actor's thread, and the actor behind it. */
class SimulatedThread implements ActorPort {
  readonly owner: Owner;
  private actor: Actor | null = null;
  private readonly early: (ArrayBuffer | ToActor)[] = [];
  private readonly listeners: { event: string; run: (value: never) => void }[] = [];
  private toActorAt = 0;
  private toGatewayAt = 0;
  private ended = false;
  /** Messages to the gateway that are on their way. */
  private flying: { lost: boolean }[] = [];

  constructor(
    private readonly node: SimulatedNode,
    settings: ActorSettings,
    private readonly gateway: Owner,
  ) {
    this.owner = new Owner(`actor${settings.actor}`);
    node.loop.soon(() => void this.open(settings), this.owner);
  }

  private async open(settings: ActorSettings): Promise<void> {
    const { node } = this;
    try {
      const actor = await Actor.open(
        settings,
        {
          frames: (buffer) => this.say(buffer, [buffer]),
          control: (message, transfer = []) => this.control(message, transfer),
          startInference: () => {
            throw new Error("there are no models in a simulation");
          },
          deriveKey: async (job) => deriveKey({ ...job, cost: { logN: 1, r: 8, p: 1 } }),
          failed: (error) => {
            this.control({ kind: "failed", message: error.message, fatal: false }, []);
            this.end(1);
          },
          setLogLevel: () => undefined,
          log: (level, message, fields) => {
            node.logger.logger[level](fields, message);
            if (level === "error") node.complaints.push(`${message}: ${JSON.stringify(fields)}`);
          },
          openShard: node.openShard,
        },
        actorFeatures,
      );
      this.actor = actor;
      for (const message of this.early.splice(0)) actor.receive(message);
    } catch (error) {
      this.control({ kind: "failed", message: (error as Error).message, fatal: false }, []);
      this.end(1, "all arrives");
    }
  }

  private control(message: FromActor, transfer: readonly ArrayBuffer[]): void {
    this.say(message, transfer);
    if (message.kind === "closed") this.end(0);
  }

  private say(message: unknown, transfer: readonly ArrayBuffer[]): void {
    if (!this.owner.alive) return;
    const { loop } = this.node;
    const copy = structuredClone(message, { transfer: [...transfer] });
    this.toGatewayAt = Math.max(this.toGatewayAt, loop.now + delay(loop));
    const flying = { lost: false };
    this.flying.push(flying);
    loop.after(
      this.toGatewayAt - loop.now,
      () => {
        this.flying.shift();
        if (!flying.lost) this.emit("message", copy);
      },
      this.gateway,
    );
  }

  /** The gateway's message to the actor. */
  postMessage(message: unknown, transfer: readonly ArrayBuffer[] = []): void {
    const { loop } = this.node;
    const copy = structuredClone(message, { transfer: [...transfer] }) as ArrayBuffer | ToActor;
    this.toActorAt = Math.max(this.toActorAt, loop.now + delay(loop));
    loop.after(
      this.toActorAt - loop.now,
      () => {
        if (this.actor === null) this.early.push(copy);
        else this.actor.receive(copy);
      },
      this.owner,
    );
  }

  on(event: string, run: (value: never) => void): unknown {
    this.listeners.push({ event, run });
    return this;
  }

  private emit(event: string, value: unknown): void {
    for (const listener of this.listeners) if (listener.event === event) listener.run(value as never);
  }

  /** The thread ends: what it was doing is not done, and of what it said the last is lost. */
  end(code: number, what?: "all arrives"): void {
    if (this.ended) return;
    this.ended = true;
    this.owner.alive = false;
    const { loop } = this.node;
    const mayLose = code !== 0 && what === undefined;
    if (mayLose) for (const one of this.flying.slice(loop.random.between(0, this.flying.length))) one.lost = true;
    this.toGatewayAt = Math.max(this.toGatewayAt, loop.now) + delay(loop);
    loop.after(this.toGatewayAt - loop.now, () => this.emit("exit", code), this.gateway);
  }

  async terminate(): Promise<void> {
    this.end(1);
  }
}

function delay(loop: VirtualLoop): number {
  return loop.random.chance(0.02) ? loop.random.next() * 20 : loop.random.next() * 0.3;
}
