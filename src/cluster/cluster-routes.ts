/**
 * Which node serves which partition, as this node's gateway sees it: what etcd says of owners, looked at again and
 * again and whenever a request has gone astray. Requests of a partition that this node serves go to its actor. The
 * others go through one link per partition, which holds them while there is no owner or no connection to it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { ActorLink, type IdentityQuestion, type Judge, type Loss } from "../gateway/actor-link.js";
import type { ChargeForwarded, LocalActors, PartitionRoutes, StatementCancel } from "../gateway/partition-routes.js";
import type { AuditKept } from "../protocol/audit.js";
import type { BoltRoutes } from "../protocol/bolt/bolt-routes.js";
import { DbError } from "../protocol/errors.js";
import { eachFrame, REPLY_MOVED, readReplies, shiftDeadlines } from "../protocol/frames.js";
import type { IdentityChange } from "../protocol/identity.js";
import type { FromActor, ToActor } from "../protocol/messages.js";
import { boltRoutesOf } from "./bolt-routes.js";
import { isBundleRead } from "./bundle-messages.js";
import type { BundleServer } from "./bundle-server.js";
import {
  BorrowedCacheLease,
  CACHE_LEASE_ASK_MS,
  type CacheLeaseAsked,
  type CacheLeaseLent,
  LentCacheLeases,
} from "./cache-leases.js";
import { isCheckpointRequest } from "./checkpoint-messages.js";
import type { CheckpointServer } from "./checkpoint-server.js";
import { type ClusterMap, type ClusterView, keepsCopy } from "./cluster-map.js";
import { describeCluster } from "./describe-cluster.js";
import { FrameRelay, type LostReply, type RelayHost } from "./frame-relay.js";
import type { LeaseMemory } from "./lease-memory.js";
import { type LookPeriods, LookTimes } from "./look-times.js";
import { connectPeer, type PartitionPort, PeerConnection, remotePort } from "./peer-link.js";

export interface ClusterRoutesOptions {
  readonly node: string;
  readonly partitions: number;
  readonly map: Pick<ClusterMap, "view" | "changes" | "meta" | "releases">;
  readonly lease: LeaseMemory;
  /** Of the peer link. */
  readonly key: Buffer;
  readonly checkpoints: Pick<CheckpointServer, "heard">;
  readonly bundles: Pick<BundleServer, "heard">;
  readonly log: (level: "warn" | "info", message: string, fields: object) => void;
}

interface Peer {
  /** Null: not yet. */
  connection: PeerConnection | null;
  readonly address: string;
  /** By partition; made when they are needed. */
  readonly links: Map<number, PeerPartition>;
}

/** Another node that sends requests to this one. */
interface Caller {
  readonly connection: PeerConnection;
  /** Changes of identities that it has not heard of yet, as far as is known. */
  readonly unheard: Map<number, () => void>;
  /** It is given a partition's files (checkpoint-server.ts), and caches nothing. */
  isForFiles: boolean;
  /** When the last right to keep what the directory says is over that was lent to it. */
  mayCacheUntilMs: number;
}

interface IdentityHeard {
  readonly kind: "identity-heard";
  readonly id: number;
}

interface CancelTold extends StatementCancel {
  readonly kind: "cancel-statement";
}

type FromPeer = FromActor | LostReply | CacheLeaseLent | CancelTold;

interface PeerPartition {
  readonly link: ActorLink;
  readonly port: PartitionPort;
}

/** Of a partition that is not served here. */
interface Route {
  /** Requests wait here while there is no owner, or no connection to it. */
  readonly held: ActorLink;
  /** To its owner. */
  link: ActorLink | null;
  node: string | null;
  /** Requests came back from that node: it is not asked again before this. */
  refused: { readonly node: string | null; readonly untilMs: number };
}

/** Between two looks at the cluster's map: while requests wait for an owner, by default, and while all is quiet. */
const LOOKS = { soon: 50, often: 250, seldom: 1000 };
const REFUSED_MS = 100;
const HEARD_MS_MAX = 3000;
const DIRECTORY = 0;
const UNKNOWN: Loss = {
  code: "partition_unavailable",
  message: "The partition's owner does not answer any more. Whether the request was done is not known.",
  retryAfterSeconds: 1,
};

export class ClusterRoutes implements PartitionRoutes, RelayHost {
  private readonly routes: Route[];
  /** Partitions that this node serves. */
  private readonly here = new Set<number>();
  private readonly peers = new Map<string, Peer>();
  /** Other nodes that send requests to this one. */
  private readonly callers = new Set<Caller>();
  /** Changes of identities that were told. */
  private changes = 0;
  private readonly lent = new LentCacheLeases(() => performance.now());
  private readonly borrowed: BorrowedCacheLease;
  private actors!: LocalActors;
  private cancel: (wanted: StatementCancel) => void = () => undefined;
  charge: ChargeForwarded = () => null;
  private view: ClusterView | null = null;
  private readonly times: LookTimes;
  private readonly unknown = new Map<number, (() => void)[]>();
  /** Partitions whose requests wait for an owner. */
  private readonly waitedFor = new Set<number>();
  private timer: NodeJS.Timeout | null = null;
  private isClosed = false;

  constructor(private readonly options: ClusterRoutesOptions) {
    this.borrowed = new BorrowedCacheLease(() => performance.now(), options.lease);
    this.times = new LookTimes(options.map, LOOKS);
    this.routes = Array.from({ length: options.partitions }, () => {
      const held = new ActorLink(-1, () => undefined);
      held.hold();
      return { held, link: null, node: null, refused: { node: null, untilMs: 0 } };
    });
  }

  bind(actors: LocalActors): void {
    this.actors = actors;
    const need = (): keyof LookPeriods => (this.waitedFor.size > 0 || this.unknown.size > 0 ? "soon" : "seldom");
    this.times.start({ need, look: () => this.look() });
    this.timer = setInterval(() => this.askForCacheLease(), CACHE_LEASE_ASK_MS);
  }

  /** What other nodes are to be told still leaves. */
  async close(): Promise<void> {
    this.isClosed = true;
    if (this.timer !== null) clearInterval(this.timer);
    this.times.close();
    for (const { connection } of this.peers.values()) connection?.close();
    // Relays write at the end of the turn.
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([...this.callers].map(({ connection }) => connection.end()));
  }

  linkOf(partition: number): ActorLink {
    if (this.here.has(partition)) return this.actors.localLinkOf(partition);
    const { link, held } = this.routes[partition]!;
    if (link === null && !this.waitedFor.has(partition)) {
      this.waitedFor.add(partition);
      this.times.again();
    }
    return link ?? held;
  }

  linkToCopy(partition: number): ActorLink | null {
    const { view, actors } = this;
    if (view === null || this.here.has(partition) || !keepsCopy(view, this.options.node, partition)) return null;
    const link = actors.localLinkOf(partition);
    return link.state === "ready" ? link : null;
  }

  opened(partition: number): void {
    this.here.add(partition);
    this.leave(partition);
    if (partition === DIRECTORY) this.lent.began();
    this.settleKnown(partition);
    this.release(partition);
  }

  ended(partitions: readonly number[]): void {
    for (const partition of partitions) this.here.delete(partition);
    void this.times.look();
  }

  threadEnded([partition]: readonly number[]): void {
    if (partition !== undefined) this.options.lease.actorOfDown(partition);
  }

  mayCache(): boolean {
    if (this.here.has(DIRECTORY)) return this.options.lease.holds;
    if (this.borrowed.want()) this.askForCacheLease();
    return this.borrowed.holds;
  }

  /** From the directory's owner, if that is another node. */
  private askForCacheLease(): void {
    const { node, link } = this.routes[DIRECTORY]!;
    if (node === null || link === null || !this.borrowed.isWanted) return;
    this.peers.get(node)?.connection?.control(DIRECTORY, this.borrowed.ask());
  }

  private lendCacheLease(caller: Caller, { id }: CacheLeaseAsked): void {
    if (!this.here.has(DIRECTORY) || !this.options.lease.holds) return;
    caller.mayCacheUntilMs = this.lent.endOfOne();
    caller.connection.control(DIRECTORY, this.lent.lend(id));
  }

  identityChanged(change: IdentityChange): Promise<void> | null {
    const callers = [...this.callers].filter(({ isForFiles }) => !isForFiles);
    const { othersLeftMs } = this.lent;
    if (callers.length === 0 && othersLeftMs === 0) return null;
    const heard: Promise<unknown>[] = callers.map((caller) => this.tell(caller, change));
    if (othersLeftMs > 0) heard.push(sleep(othersLeftMs, undefined, { ref: false }));
    return Promise.all(heard).then(() => undefined);
  }

  boltRoutes(partition: number): BoltRoutes | null {
    return boltRoutesOf(this.view, partition);
  }

  onCancel(cancel: (wanted: StatementCancel) => void): void {
    this.cancel = cancel;
  }

  onForwarded(charge: ChargeForwarded): void {
    this.charge = charge;
  }

  /**
   * A node is connected to all that serve something. So this one's callers are all others, where it serves something;
   * else its peers are those that do. None is told twice: it might cancel the next statement.
   */
  cancelElsewhere({ session, secret }: StatementCancel): void {
    const callers = [...this.callers].filter(({ isForFiles }) => !isForFiles);
    const others = this.here.size > 0 ? callers : this.peers.values();
    const told: CancelTold = { kind: "cancel-statement", session, secret };
    for (const { connection } of others) connection?.control(DIRECTORY, told);
  }

  /** Whose they are finds them by the name of its outbox. */
  auditKept(kept: AuditKept): void {
    for (const { connection, isForFiles } of this.callers) if (!isForFiles) connection.control(DIRECTORY, kept);
  }

  /**
   * A node that does not say that it has heard loses its connection, and with that knows that it may have missed
   * something.
   */
  private tell(caller: Caller, change: IdentityChange): Promise<void> {
    return new Promise((resolve) => {
      const id = ++this.changes;
      const timer = setTimeout(() => caller.connection.close(), HEARD_MS_MAX);
      caller.unheard.set(id, () => {
        clearTimeout(timer);
        caller.unheard.delete(id);
        resolve();
      });
      caller.connection.control(DIRECTORY, { kind: "identity-changed", change, id });
    });
  }

  servedBy(partition: number): ActorLink | null {
    return this.here.has(partition) ? this.actors.localLinkOf(partition) : null;
  }

  /** This node may have become the owner a moment ago. */
  whenKnown(partition: number, then: () => void): void {
    const waiting = this.unknown.get(partition) ?? [];
    this.unknown.set(partition, [...waiting, then]);
    this.times.lookAfresh();
  }

  private settleKnown(partition: number): void {
    const waiting = this.unknown.get(partition) ?? [];
    this.unknown.delete(partition);
    for (const then of waiting) then();
  }

  /** Another node has connected. */
  accept(socket: TLSSocket): void {
    const relay = new FrameRelay(this, {
      frames: (partition, frames) => connection.frames(partition, frames),
      control: (partition, message) => connection.control(partition, message),
    });
    const unheard = new Map<number, () => void>();
    const connection: PeerConnection = new PeerConnection(socket, {
      frames: (partition, frames) => {
        shiftDeadlines(frames, Date.now());
        relay.frames(partition, frames);
      },
      control: (partition, message) => {
        if (message.kind === "identity-heard") unheard.get((message as IdentityHeard).id)?.();
        else if (message.kind === "ask-cache-lease") this.lendCacheLease(caller, message as CacheLeaseAsked);
        else if (message.kind === "cancel-statement") this.cancel(message as CancelTold);
        else if (isCheckpointRequest(message)) {
          caller.isForFiles = true;
          for (const heard of [...unheard.values()]) heard();
          this.options.checkpoints.heard(partition, message, (answer) => connection.control(partition, answer));
        } else if (isBundleRead(message)) {
          caller.isForFiles = true;
          this.options.bundles.heard(message, (answer) => connection.control(partition, answer));
        } else relay.control(partition, message as ToActor);
      },
      closed: () => {
        this.callers.delete(caller);
        this.lent.gone(caller.mayCacheUntilMs);
        // What it was not told it does not hear any more: it may go by what it kept as long as it holds the right.
        const left = caller.mayCacheUntilMs - performance.now();
        for (const heard of [...unheard.values()]) {
          if (left > 0) setTimeout(heard, left).unref();
          else heard();
        }
        relay.close();
      },
    });
    const caller: Caller = { connection, unheard, isForFiles: false, mayCacheUntilMs: Number.NEGATIVE_INFINITY };
    this.callers.add(caller);
    if (this.isClosed) connection.close();
  }

  private async look(): Promise<void> {
    try {
      // Nobody asks here what nodes have on disk.
      this.view = await this.options.map.view(Number.POSITIVE_INFINITY);
    } catch (error) {
      if (error instanceof DbError && error.code === "log_unavailable") return;
      throw error;
    }
    if (this.isClosed) return;
    for (let partition = 0; partition < this.routes.length; partition++) this.follow(partition, this.view);
  }

  private follow(partition: number, { owners, members }: ClusterView): void {
    const route = this.routes[partition]!;
    const owner = owners.get(partition)?.node ?? null;
    if (owner !== this.options.node) this.settleKnown(partition);
    if (this.here.has(partition)) return;
    if (route.node !== null && route.node !== owner) {
      // It was deposed, not asked: it may stand still, and those who wait for it would wait as long.
      if (members.get(route.node)?.isFenced !== false) this.peers.get(route.node)?.connection?.close();
      this.leave(partition);
    }
    if (owner === null || owner === this.options.node || route.node === owner) return;
    if (route.refused.node === owner && performance.now() < route.refused.untilMs) return;
    const { address, isFenced = true } = members.get(owner) ?? {};
    if (address === undefined || isFenced) return;
    const peer = this.peerOf(owner, address);
    if (peer.connection === null) return;
    route.node = owner;
    route.link = this.openPartition(peer, peer.connection, partition).link;
    if (partition === DIRECTORY) this.askForCacheLease();
    this.release(partition);
  }

  /** New requests wait. */
  private leave(partition: number): void {
    const route = this.routes[partition]!;
    const { node, link } = route;
    route.node = null;
    route.link = null;
    if (node === null) return;
    this.actors.partitionLost(partition);
    if (partition !== DIRECTORY) return;
    this.borrowed.lost();
    this.actors.directoryLost();
    // An answer that is under way may be older than what the next owner has told by then.
    this.askAgain(partition, link?.takeIdentityQuestions() ?? []);
  }

  /** Those that have waited find the owner by themselves. */
  private release(partition: number): void {
    this.waitedFor.delete(partition);
    const questions = this.routes[partition]!.held.redirectAll(() => null);
    this.askAgain(partition, questions);
  }

  private askAgain(partition: number, questions: readonly IdentityQuestion[]): void {
    for (const { by, value, answer } of questions) this.linkOf(partition).findIdentity(by, value, answer);
  }

  private peerOf(node: string, address: string): Peer {
    const known = this.peers.get(node);
    if (known !== undefined && known.address === address) return known;
    known?.connection?.close();
    const peer: Peer = { connection: null, address, links: new Map() };
    this.peers.set(node, peer);
    connectPeer(address, this.options.node, this.options.key, {
      frames: (partition, frames) => this.replied(peer, partition, frames),
      control: (partition, message) => this.told(peer, partition, message as FromPeer),
      closed: () => this.gone(node, peer),
    }).then(
      (connection) => {
        if (this.isClosed) connection.close();
        peer.connection = connection;
        this.options.log("info", "connected to a node", { node, address });
        void this.times.look();
      },
      () => this.gone(node, peer),
    );
    return peer;
  }

  private gone(node: string, peer: Peer): void {
    if (this.peers.get(node) === peer) this.peers.delete(node);
    for (const [partition, { link }] of peer.links) {
      if (this.routes[partition]!.link === link) this.leave(partition);
    }
    for (const [partition, { link }] of peer.links) {
      link.state = "closed";
      this.askAgain(partition, link.redirectAll(judge));
    }
  }

  private openPartition(peer: Peer, connection: PeerConnection, partition: number): PeerPartition {
    let found = peer.links.get(partition);
    if (found === undefined) {
      const link = new ActorLink(-1, () => undefined);
      const port = remotePort(connection, partition);
      link.attach(port);
      link.state = "ready";
      found = { link, port };
      peer.links.set(partition, found);
    }
    return found;
  }

  private replied(peer: Peer, partition: number, frames: ArrayBuffer): void {
    const found = peer.links.get(partition);
    if (found === undefined) return;
    // Before the requests ask for a link again: they wait until it is known who the owner is.
    if (isRefused(partition, frames) && this.routes[partition]!.link === found.link) this.refused(partition);
    found.port.heard(frames);
  }

  /** Who was the owner is not. */
  private refused(partition: number): void {
    const route = this.routes[partition]!;
    route.refused = { node: route.node, untilMs: performance.now() + REFUSED_MS };
    this.leave(partition);
    this.times.lookAfresh();
  }

  private told(peer: Peer, partition: number, message: FromPeer): void {
    const found = peer.links.get(partition);
    if (message.kind === "lost") found?.link.lose(message.id, message.loss);
    else if (message.kind === "identity" && message.identity !== undefined) found?.port.heard(message);
    else if (message.kind === "identity") this.askElsewhere(partition, found?.link ?? null, message.id);
    else if (message.kind === "audit-kept") this.actors.auditKept(message);
    else if (message.kind === "cache-lease") this.lentBy(peer, message);
    else if (message.kind === "cancel-statement") this.cancel(message);
    else if (message.kind === "identity-changed") {
      this.actors.identityChanged(message.change);
      peer.connection?.control(DIRECTORY, { kind: "identity-heard", id: (message as unknown as IdentityHeard).id });
    }
  }

  private lentBy(peer: Peer, lent: CacheLeaseLent): void {
    const { node } = this.routes[DIRECTORY]!;
    if (node === null || this.peers.get(node) !== peer) return;
    if (this.borrowed.lent(lent)) this.actors.directoryLost();
  }

  /** The question waits until it is known who the owner is. */
  private askElsewhere(partition: number, link: ActorLink | null, id: number): void {
    const question = link?.takeIdentityQuestion(id) ?? null;
    if (question === null) return;
    if (this.routes[partition]!.link === link) this.refused(partition);
    this.askAgain(partition, [question]);
  }

  async describe(): Promise<object> {
    const { node, lease, map, partitions } = this.options;
    const state = await describeCluster(map, partitions);
    return { enabled: true, node, lease_left_ms: Math.round(lease.leftMs), ...state };
  }
}

/** What has been sent to an owner that does not answer may have been done. */
const judge: Judge = (_id, { repeatable }) => (repeatable === "always" ? null : UNKNOWN);

/** The other node does not serve the partition. Of a tenant that has moved, a reply names another one. */
function isRefused(partition: number, frames: ArrayBuffer): boolean {
  const bytes = new Uint8Array(frames);
  let hasMoved = false;
  eachFrame(frames, (_id, start) => {
    hasMoved ||= (bytes[start + 10]! & REPLY_MOVED) !== 0;
  });
  if (!hasMoved) return false;
  let found = false;
  readReplies(frames, ({ flags, headers }) => {
    found ||= (flags & REPLY_MOVED) !== 0 && Number.parseInt(headers, 10) === partition;
  });
  return found;
}
