/**
 * Gateways' routes of three nodes on the model of the log service, with real links between them and actors that are
 * played.
 */
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { RateLimiter } from "../../src/gateway/rate-limiter.js";
import type { AuditEvent } from "../../src/protocol/audit.js";
import { DbError } from "../../src/protocol/errors.js";
import { encodeCaller, encodeHead, REQUEST_STREAMED } from "../../src/protocol/frames.js";
import type { IdentityChange } from "../../src/protocol/identity.js";
import { Asked, CODE, type Node, PATIENCE_MS, WIRE_CODE, World } from "./routes-world.js";

const CHANGE: IdentityChange = { kind: "user", userId: "u", version: 1 };

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
    a.routes.linkOf(1).send(pending, CODE, 0, 1, 1, Date.now() + PATIENCE_MS, "r", "", Buffer.from("second"));
  });
  t.equal(await asked, "null", "the gateway is told");
  t.equal(isHeld, false, "others of the partition do not wait");
  t.same(a.lostPartitions, []);
  world.own(1, "a");
  while (a.lostPartitions.length === 0) await sleep(20);
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

t.test("a forwarded request counts at the owner, which may refuse it", async (t) => {
  const world = new World();
  const [a, b] = [await world.node(t, "a"), await world.node(t, "b")];
  world.own(1, "b");
  b.routes.opened(1);
  const limiter = new RateLimiter({ perSecond: 1, burst: 1 });
  b.routes.onForwarded(({ head }) => limiter.chargeForwarded(head, 0));
  const head = encodeHead(
    encodeCaller("u", "u", "t", "", [], { rateLimit: { perSecond: 1, burst: 3 } }),
    "",
    "",
    "",
    [],
  );
  t.ok(limiter.ofTenant("t", { perSecond: 1, burst: 3 }, 0).take(0), "a request that came to b");
  const asked = ["one", "two", "three"].map((body) => a.ask(1, body, "always", 0, head));
  t.same(await Promise.all(asked), ["b: one", "b: two", "lost: rate_limited"]);
});

t.test("messages of a session wait at the owner until their tenant's limit has room", async (t) => {
  const world = new World();
  const [a, b] = [await world.node(t, "a"), await world.node(t, "b")];
  world.own(1, "b");
  b.routes.opened(1);
  const refused = { code: "rate_limited", message: "", retryAfterSeconds: 1 } as const;
  let asks = 0;
  let hasRoom = false;
  b.routes.onForwarded((_frame, { method }) => {
    if (method === "WIRE") asks++;
    return method === "WIRE" && !hasRoom ? refused : null;
  });
  const waiting = a.ask(1, "one", "never", 0, "", WIRE_CODE);
  const cancelled = new Asked("never", () => t.fail("nobody waits for it"));
  const link = a.routes.linkOf(1);
  const place = [1, 1, Date.now() + PATIENCE_MS, "r", ""] as const;
  link.cancel(link.send(cancelled, WIRE_CODE, 0, ...place, Buffer.from("two")));
  while (asks < 6) await sleep(5);
  t.equal(await a.ask(1, "of HTTP"), "b: of HTTP", "others go on");
  t.same(b.asked, ["of HTTP"]);
  hasRoom = true;
  t.equal(await waiting, "b: one");
  await sleep(50);
  t.same(b.asked, ["of HTTP", "one"]);
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
