/**
 * Gateways' routes of three nodes on the model of the log service, with real links between them and actors that are
 * played.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Server } from "node:tls";
import t, { type Test } from "tap";
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
import { ENDPOINTS } from "../../src/protocol/endpoints.js";
import { DbError } from "../../src/protocol/errors.js";
import {
  REPLY_MOVED,
  REQUEST_STREAMED,
  type ReplyFrame,
  ReplyWriter,
  readRequests,
} from "../../src/protocol/frames.js";
import type { IdentityChange } from "../../src/protocol/identity.js";
import type { ToActor } from "../../src/protocol/messages.js";
import { freePort } from "../free-port.js";
import { memoryLogger } from "../gateway/memory-logger.js";
import { LinkProxy } from "../torture/cluster/link-proxy.js";

const CODE = ENDPOINTS.find(({ name }) => name === "query.execute")!.code;
const CHANGE: IdentityChange = { kind: "user", userId: "u", version: 1 };

class World {
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

/** Its actor answers each request with the node's name and the request's body, when it may. */
class Node {
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
      map: { view: () => this.see(world), changes: () => world.changes() },
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
  ask(partition: number, body: string, repeatable: Repeatable = "uncommitted", flags = 0): Promise<string> {
    return new Promise((resolve) => {
      const send = (): void => {
        const pending = new Asked(repeatable, (answer) => (answer === null ? send() : resolve(answer)));
        const link = this.routes.linkOf(partition);
        link.send(pending, CODE, flags, partition, 1, Date.now() + 5000, "r", "", Buffer.from(body));
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

class Asked implements PendingReply {
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

t.test("a tenant that has moved does not make the owner of its old partition doubtful", async (t) => {
  const world = new World();
  const a = await world.node(t, "a");
  const b = await world.node(t, "b");
  world.own(1, "b");
  b.routes.opened(1);
  t.equal(await a.ask(1, "first"), "b: first");
  b.tenantMovedTo = 0;
  let isHeld = true;
  const asked = new Promise<string>((resolve) => {
    const pending = new Asked("uncommitted", (answer) => {
      isHeld = a.routes.linkOf(1).holds;
      resolve(String(answer));
    });
    a.routes.linkOf(1).send(pending, CODE, 0, 1, 1, Date.now() + 5000, "r", "", Buffer.from("second"));
  });
  t.equal(await asked, "null", "the gateway is told");
  t.equal(isHeld, false, "others of the partition do not wait");
  t.same(a.lostPartitions, []);
  world.own(1, "a");
  for (let tries = 0; a.lostPartitions.length === 0 && tries < 100; tries++) await sleep(20);
  t.same(a.lostPartitions, [1], "another owner is told");
});

t.test("a request reaches the owner from any node, and waits while there is none", async (t) => {
  const world = new World();
  const a = await world.node(t, "a");
  const b = await world.node(t, "b");
  const early = a.ask(1, "early");
  const large = "x".repeat(100_000);
  const earlyAndLarge = a.ask(1, large);
  await sleep(50);
  world.own(1, "b");
  // b has claimed it and opens it: its relay holds what comes.
  const late = a.ask(1, "late");
  await sleep(600);
  t.same(b.asked, []);
  b.routes.opened(1);
  t.same(await Promise.all([early, late, b.ask(1, "at home")]), ["b: early", "b: late", "b: at home"]);
  t.equal(await earlyAndLarge, `b: ${large}`);
  t.equal(await a.ask(1, "again"), "b: again");
});

t.test("a request follows the partition to its next owner", async (t) => {
  const world = new World();
  const [a, b, c] = [await world.node(t, "a"), await world.node(t, "b"), await world.node(t, "c")];
  world.own(1, "b");
  b.routes.opened(1);
  t.equal(await a.ask(1, "one"), "b: one");
  // a does not know yet.
  world.own(1, "c");
  b.routes.ended([1]);
  c.routes.opened(1);
  t.equal(await a.ask(1, "two"), "c: two");
  t.equal(await b.ask(1, "three"), "c: three");
});

t.test("a request that an owner sends back goes to the next one as soon as that is seen", async (t) => {
  const world = new World();
  const [a, b, c] = [await world.node(t, "a"), await world.node(t, "b"), await world.node(t, "c")];
  world.own(0, "c");
  world.own(1, "b");
  c.routes.opened(0);
  b.routes.opened(1);
  t.same([await a.ask(0, "zero"), await a.ask(1, "one")], ["c: zero", "b: one"], "a is connected to both");
  const before = await world.view();
  let looks = 0;
  let lookedOften = (): void => {};
  const often = new Promise<string>((resolve) => {
    lookedOften = () => resolve("it waits for further looks");
  });
  a.see = async () => {
    if (a.lostPartitions.length === 0) return before;
    looks++;
    if (looks === 5) lookedOften();
    if (looks > 1) throw new DbError("log_unavailable", "No answer.");
    return world.view();
  };
  world.own(1, "c");
  b.routes.ended([1]);
  c.routes.opened(1);
  t.equal(await Promise.race([a.ask(1, "two"), often]), "c: two");
});

t.test("a request whose body streams does not follow: its pieces would stay behind", async (t) => {
  const world = new World();
  const [a, b, c] = [await world.node(t, "a"), await world.node(t, "b"), await world.node(t, "c")];
  world.own(1, "b");
  b.routes.opened(1);
  t.equal(await a.ask(1, "one"), "b: one");
  // a does not know yet.
  world.own(1, "c");
  b.routes.ended([1]);
  c.routes.opened(1);
  t.equal(await a.ask(1, "", "never", REQUEST_STREAMED), "lost: partition_unavailable");
  t.same(c.asked, []);
  t.equal(await a.ask(1, "two"), "c: two");
});

t.test("when the owner dies, reads are asked again and writes are not", async (t) => {
  const world = new World();
  const [a, b, c] = [await world.node(t, "a"), await world.node(t, "b"), await world.node(t, "c")];
  world.own(1, "b");
  b.routes.opened(1);
  t.equal(await a.ask(1, "before"), "b: before");
  b.answers = false;
  const write = a.ask(1, "write");
  const read = a.ask(1, "read", "always");
  while (b.asked.length < 3) await sleep(10);
  world.members.delete("b");
  await b.end();
  world.own(1, "c");
  c.routes.opened(1);
  t.equal(await write, "lost: partition_unavailable");
  t.equal(await read, "c: read");
  t.same(c.asked, ["read"]);
});

t.test("a change of an identity is known to other nodes before it is said to be made", async (t) => {
  const world = new World();
  const [a, b] = [await world.node(t, "a"), await world.node(t, "b")];
  t.equal(b.routes.identityChanged(CHANGE), null, "nobody is connected");
  world.own(0, "b");
  b.routes.opened(0);
  t.equal(await a.ask(0, "one"), "b: one");
  await b.routes.identityChanged(CHANGE);
  t.same(a.changes, [CHANGE]);
  t.equal(a.lost, 0);
  await b.end();
  while (a.lost === 0) await sleep(10);
});

t.test("a node keeps what the directory said for as long as it surely hears of changes", async (t) => {
  const world = new World();
  const [a, b, c] = [await world.node(t, "a"), await world.node(t, "b"), await world.node(t, "c")];
  const link = await world.proxy(t, "b");
  const mayCache = async (node: Node, may: boolean): Promise<void> => {
    while (node.routes.mayCache() !== may) await sleep(10);
  };
  t.notOk(a.routes.mayCache(), "nobody owns the directory");
  world.own(0, "b");
  b.routes.opened(0);
  t.ok(b.routes.mayCache(), "the owner may");
  await mayCache(a, true);
  // The owner before may have lent the right a moment ago.
  await b.routes.identityChanged(CHANGE);
  await b.routes.identityChanged(CHANGE);
  t.same(a.changes, [CHANGE, CHANGE]);
  t.ok(a.routes.mayCache());

  // It hears nothing any more, and does not know.
  link.isCut = true;
  await b.routes.identityChanged(CHANGE);
  t.notOk(a.routes.mayCache(), "nobody is told of a change as long as it may");
  t.equal(a.changes.length, 2);
  link.heal();
  await mayCache(a, true);

  // The next owner does not know who may, and this node does not know the next owner.
  world.isStill = true;
  b.routes.ended([0]);
  c.routes.opened(0);
  await c.routes.identityChanged(CHANGE);
  t.notOk(a.routes.mayCache(), "what the owner before said counts no more");
  const { lost } = a;
  world.isStill = false;
  world.own(0, "c");
  await mayCache(a, true);
  t.ok(a.lost > lost, "and is forgotten");
});

t.test("a node at rest does not ask for the right to keep what the directory said", async (t) => {
  const world = new World();
  const [a, b] = [await world.node(t, "a"), await world.node(t, "b")];
  const link = await world.proxy(t, "b");
  world.own(0, "b");
  b.routes.opened(0);
  t.equal(await a.ask(0, "one"), "b: one");
  const { carried } = link;
  // Longer than between two questions.
  await sleep(600);
  t.equal(link.carried, carried, "nothing passes between the nodes");
  t.notOk(a.routes.mayCache(), "it is asked for now");
  while (!a.routes.mayCache()) await sleep(10);
  const { carried: then } = link;
  while (link.carried === then) await sleep(10);
  t.pass("and again, as it is wanted");
});

t.test("who is asked for while the directory gets another owner is asked of the next one", async (t) => {
  const world = new World();
  world.own(0, "a");
  const a = await world.node(t, "a");
  const b = await world.node(t, "b");
  const c = await world.node(t, "c");
  const ask = (): Promise<string | undefined> =>
    new Promise((resolve) => {
      c.routes.linkOf(0).findIdentity("user", "u", (identity) => resolve(identity?.userId));
    });
  a.routes.opened(0);
  t.equal(await ask(), "a");
  // It has closed the partition, and not named the next owner yet.
  a.routes.ended([0]);
  const asked = ask();
  await sleep(100);
  world.own(0, "b");
  await sleep(100);
  b.routes.opened(0);
  t.equal(await asked, "b");
});

t.test("a late answer of the directory's last owner is not believed", async (t) => {
  const world = new World();
  const [a, b, c] = [await world.node(t, "a"), await world.node(t, "b"), await world.node(t, "c")];
  const link = await world.proxy(t, "a");
  world.own(0, "a");
  a.routes.opened(0);
  t.equal(await c.ask(0, "one"), "a: one");
  link.isCut = true;
  const answers: (string | undefined)[] = [];
  const answered = new Promise<void>((resolve) => {
    c.routes.linkOf(0).findIdentity("user", "u", (identity) => {
      answers.push(identity?.userId);
      resolve();
    });
  });
  a.routes.ended([0]);
  b.routes.opened(0);
  world.own(0, "b");
  await answered;
  link.heal();
  t.equal(await c.ask(0, "two"), "b: two");
  await sleep(50);
  t.same(answers, ["b"]);
});

t.test("an entry of the audit trail that the directory's owner takes to its grave goes to the next one", async (t) => {
  const world = new World();
  const [a, b, c] = [await world.node(t, "a"), await world.node(t, "b"), await world.node(t, "c")];
  const entry = (requestId: string): AuditEvent => ({
    ...{ atMs: 1, action: "users.create", outcome: "ok", status: 200, code: null, tenant: "acme", username: null },
    ...{ keyId: null, address: null, target: [], requestId, count: 1 },
  });
  world.own(0, "b");
  b.routes.opened(0);
  t.equal(await a.ask(0, "one"), "b: one");
  a.outbox.add([entry("kept")]);
  while (b.entries.length === 0) await sleep(10);
  await a.outbox.drained(5000);
  b.answers = false;
  a.outbox.add([entry("lost by b")]);
  while (b.unanswered === 0) await sleep(10);
  world.members.delete("b");
  await b.end();
  a.outbox.add([entry("while nobody has it")]);
  world.own(0, "c");
  c.routes.opened(0);
  while (c.entries.length < 2) await sleep(10);
  t.same(
    c.entries.map(({ requestId }) => requestId),
    ["lost by b", "while nobody has it"],
  );
});
