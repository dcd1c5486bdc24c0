/** Nodes with real links between them and actors that are played, on a view of the cluster that tests change. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Server } from "node:tls";
import type { Test } from "tap";
import type { ClusterView } from "../../src/cluster/cluster-map.js";
import { ClusterRoutes } from "../../src/cluster/cluster-routes.js";
import { LeaseMemory, newLeaseMemory, SYSTEM_CLOCK } from "../../src/cluster/lease-memory.js";
import type { Member, Owner } from "../../src/cluster/log-service.js";
import { listenToPeers, peerKey } from "../../src/cluster/peer-link.js";
import { ActorLink, type ActorPort, type Loss, type PendingReply } from "../../src/gateway/actor-link.js";
import { AuditOutbox } from "../../src/gateway/audit-outbox.js";
import { systemClock } from "../../src/gateway/clock.js";
import type { Repeatable } from "../../src/gateway/repeatable.js";
import type { AuditEvent } from "../../src/protocol/audit.js";
import { ENDPOINTS, WIRE } from "../../src/protocol/endpoints.js";
import { REPLY_MOVED, type ReplyFrame, ReplyWriter, readRequests } from "../../src/protocol/frames.js";
import type { IdentityChange } from "../../src/protocol/identity.js";
import type { ToActor } from "../../src/protocol/messages.js";
import { freePort } from "../free-port.js";
import { memoryLogger } from "../gateway/memory-logger.js";
import { LinkProxy } from "../torture/cluster/link-proxy.js";

/** A request that any actor answers. */
export const CODE = ENDPOINTS.find(({ name }) => name === "query.execute")!.code;

/** Of a request: longer than a busy machine takes. */
export const PATIENCE_MS = 60_000;

export class World {
  readonly key = peerKey(randomBytes(32));
  readonly owners = new Map<number, Owner>();
  readonly members = new Map<string, Member>();
  private epoch = 0;

  /** Nodes see nothing new. */
  isStill = false;
  private seen: ClusterView | null = null;

  async view(): Promise<ClusterView> {
    if (!this.isStill || this.seen === null) this.seen = this.current();
    return this.seen;
  }

  changes() {
    return { isLive: false, close: () => undefined };
  }

  private current(): ClusterView {
    const { owners, members } = this;
    return {
      ...{ owners: new Map(owners), members },
      wants: new Map(),
      draining: new Map(),
      durable: new Map(),
      copySets: new Map(),
      checkpoints: new Map(),
    };
  }

  own(partition: number, node: string): void {
    this.owners.set(partition, { node, tenure: "t", epoch: ++this.epoch });
  }

  /** The others reach the node through it. */
  async proxy(t: Test, name: string): Promise<LinkProxy> {
    const member = this.members.get(name)!;
    const link = await LinkProxy.start(member.address!);
    t.teardown(() => link.close());
    this.members.set(name, { ...member, address: link.address });
    return link;
  }

  async node(t: Test, name: string): Promise<Node> {
    const address = `127.0.0.1:${await freePort()}`;
    this.members.set(name, { incarnation: name, counter: 1, isFenced: false, address, revision: 1 });
    const node = new Node(this, name);
    node.server = await listenToPeers(address, this.key, (socket) => node.routes.accept(socket));
    t.teardown(() => node.end());
    return node;
  }
}

/** Messages of a session of PostgreSQL's protocol. */
export const WIRE_CODE = WIRE.find(({ name }) => name === "postgres.messages")!.code;

/** Its actor answers each request with the node's name and the request's body, when it may. */
export class Node {
  readonly routes: ClusterRoutes;
  server!: Server;
  readonly changes: IdentityChange[] = [];
  lost = 0;
  answers = true;
  readonly asked: string[] = [];
  readonly entries: AuditEvent[] = [];
  unanswered = 0;
  readonly outbox = new AuditOutbox({
    ...{ clock: systemClock, logger: memoryLogger().logger },
    directory: () => this.routes.linkOf(0),
  });
  private readonly link = new ActorLink(0, (message) => {
    if (message.kind === "audit-kept" && !this.outbox.kept(message)) this.routes.auditKept(message);
  });
  private isEnded = false;

  constructor(
    world: World,
    readonly name: string,
  ) {
    const lease = new LeaseMemory(newLeaseMemory(), SYSTEM_CLOCK);
    const [monotonicMs, wallMs] = [SYSTEM_CLOCK.monotonicMs(), SYSTEM_CLOCK.wallMs()];
    lease.renewed({ monotonicMs, wallMs, untilMs: monotonicMs + 3_600_000 });
    this.routes = new ClusterRoutes({
      checkpoints: { heard: () => undefined },
      bundles: { heard: () => undefined },
      map: {
        view: () => this.see(world),
        changes: () => world.changes(),
        meta: async () => null,
        releases: async () => ({ nodes: new Map(), revision: 1 }),
      },
      ...{ node: name, partitions: 2, key: world.key, log: () => undefined },
      lease,
    });
    let say: (message: unknown) => void = () => undefined;
    const port: ActorPort = {
      postMessage: (message) => {
        if (message instanceof ArrayBuffer) this.answer(message, (replies) => say(replies));
        const asked = message as ToActor;
        if (asked.kind === "find-identity") say({ kind: "identity", id: asked.id, identity: { userId: this.name } });
        if (asked.kind === "audit" && !this.answers) this.unanswered++;
        if (asked.kind === "audit" && this.answers) {
          const { outbox, first, events } = asked.batch;
          this.entries.push(...events);
          say({ kind: "audit-kept", outbox, upTo: first + events.length - 1 });
        }
      },
      on: (event: string, listener: (value: never) => void) => {
        if (event === "message") say = listener as (message: unknown) => void;
      },
      terminate: async () => undefined,
    };
    this.link.attach(port);
    this.link.state = "ready";
    this.routes.bind({
      localLinkOf: () => this.link,
      identityChanged: (change) => this.changes.push(change),
      auditKept: (kept) => this.outbox.kept(kept),
      directoryLost: () => this.lost++,
      partitionLost: (partition) => this.lostPartitions.push(partition),
    });
  }

  /** What its gateway sees of the cluster. */
  see = (world: World): Promise<ClusterView> => world.view();

  readonly lostPartitions: number[] = [];
  /** The next request finds that its tenant is in that partition. */
  tenantMovedTo: number | null = null;

  private answer(frames: ArrayBuffer, say: (replies: ArrayBuffer) => void): void {
    const replies = new ReplyWriter();
    readRequests(frames, ({ id, bodyText }) => {
      this.asked.push(bodyText);
      const to = this.tenantMovedTo;
      this.tenantMovedTo = null;
      if (to !== null) replies.bytes(id, 0, REPLY_MOVED, String(to), Buffer.from(bodyText));
      else if (this.answers) replies.text(id, 200, 0, "", `${this.name}: ${bodyText}`);
    });
    if (!replies.empty) setImmediate(() => say(replies.take()));
  }

  /** As the gateway does: who is told that the partition moved asks again. */
  ask(
    partition: number,
    body: string,
    repeatable: Repeatable = "uncommitted",
    flags = 0,
    head = "",
    code = CODE,
  ): Promise<string> {
    return new Promise((resolve) => {
      const send = (): void => {
        const pending = new Asked(repeatable, (answer) => (answer === null ? send() : resolve(answer)));
        const link = this.routes.linkOf(partition);
        link.send(pending, code, flags, partition, 1, Date.now() + PATIENCE_MS, "r", head, Buffer.from(body));
      };
      send();
    });
  }

  async end(): Promise<void> {
    if (this.isEnded) return;
    this.isEnded = true;
    const closed = once(this.server, "close");
    this.server.close();
    await this.routes.close();
    await closed;
  }
}

export class Asked implements PendingReply {
  keptIn = null;
  suspicions = 0;
  readonly requestId = "r";
  readonly tenantId = null;
  readonly ofDirectory = false;

  constructor(
    readonly repeatable: Repeatable,
    /** Null: it has moved. */
    private readonly done: (answer: string | null) => void,
  ) {}

  replied({ flags, body }: ReplyFrame): void {
    this.done((flags & REPLY_MOVED) === 0 ? body.toString() : null);
  }

  progressed(): void {}

  lost(loss?: Loss): void {
    this.done(`lost: ${loss?.code}`);
  }
}
