/** Nodes' actors on the model of the log service, with leases and clocks in hand. */

import { cp, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { TenuredGate } from "../../src/actor/actor-tenures.js";
import { BehindCopies } from "../../src/cluster/behind-copies.js";
import type { LogAppend, Position } from "../../src/cluster/log-service.js";
import { MemoryLogService } from "../../src/cluster/memory-log-service.js";
import { DbError } from "../../src/protocol/errors.js";
import { Node, World } from "./tenures-world.js";

t.test("a node takes over with all commits when another stops renewing, and not before", async (t) => {
  const world = new World(t.testdir());
  const a = await world.node(t, "a");
  await world.until("a owns both", () => a.owned.size === 2);
  await a.write(0, 1);
  await a.write(0, 2);
  const b = await world.node(t, "b");
  b.isAlive = true;
  for (let i = 0; i < 10; i++) {
    world.monotonicMs += 1000;
    await world.until("a moment passes", () => true);
    await a.renew();
    await b.renew();
    await sleep(60);
  }
  t.equal(b.owned.size, 0, "a has renewed");
  a.isAlive = false;
  world.monotonicMs += 100;
  await sleep(500);
  // As long as a node must have been silent.
  world.monotonicMs += 5000;
  await world.until("b owns both", () => b.owned.size === 2);
  t.equal(b.owned.get(0)!.lastSequence, 2);
  t.same(b.problems, []);
  await t.rejects(a.write(0, 3), { code: "partition_unavailable" });
  t.equal((await world.service.member("a"))!.isFenced, true);
});

t.test("a node reports what has changed on its disk, and nothing twice", async (t) => {
  const world = new World(t.testdir());
  const reports: string[] = [];
  const report = world.service.report.bind(world.service);
  world.service.report = (node, durable) => {
    reports.push(JSON.stringify([...durable].sort()));
    return report(node, durable);
  };
  const a = await world.node(t, "a");
  await world.until("a reports both partitions", () => a.owned.size === 2 && reports.length > 0);
  await world.until("what it has is known", () => reports.join().includes("[0,0]") && reports.join().includes("[1,0]"));
  const before = reports.length;
  await a.write(1, 1);
  await world.until("it reports again", () => reports.length > before);
  t.same(reports.slice(before), ["[[1,1]]"]);
});

t.test("a copy that lacks what another node has on disk never becomes the owner's", async (t) => {
  const world = new World(t.testdir());
  await world.service.report("gone", new Map([[1, 7]]));
  const a = await world.node(t, "a");
  await world.until("a owns the other partition, and has said why", () => a.owned.size === 1 && a.problems.length > 0);
  t.ok(a.owned.has(0));
  t.match(a.problems[0], /it ends at commit 0, and another node has 7/);
  t.equal(await world.service.owner(1), null);
});

/** Reads of one partition's log get no answer once it has an owner, so many times. */
class SilentReads extends MemoryLogService {
  constructor(private left: number) {
    super();
  }

  override async tail(partition: number, from: Position, appendsMax: number): Promise<readonly LogAppend[]> {
    if (partition === 1 && this.left > 0 && (await this.owner(1)) !== null) {
      this.left--;
      throw new DbError("log_unavailable", "No answer.");
    }
    return super.tail(partition, from, appendsMax);
  }
}

t.test("a read without an answer, after the claim, does not end the actor and what else it owns", async (t) => {
  const world = new World(t.testdir(), { service: new SilentReads(3) });
  const a = await world.node(t, "a");
  await world.until("a owns both, or has failed", () => a.owned.size === 2 || a.failures > 0);
  t.same([a.failures, a.problems], [0, []]);
  await a.write(1, 1);
});

t.test("where no read is answered for long, the actor begins anew", async (t) => {
  const world = new World(t.testdir(), { service: new SilentReads(Number.POSITIVE_INFINITY) });
  const a = await world.node(t, "a");
  await world.until("it has failed", () => a.failures > 0);
  t.notOk(a.owned.has(1));
});

t.test("an owner gives a partition to the node that is wished for", async (t) => {
  const world = new World(t.testdir());
  const a = await world.node(t, "a");
  await world.until("a owns both", () => a.owned.size === 2);
  const b = await world.node(t, "b");
  world.wants.set(0, "a");
  world.wants.set(1, "b");
  a.isTied = true;
  await world.until("a wants to give it away", () => a.closes > 1);
  t.equal((await world.service.owner(1))!.node, "a", "it cannot yet");
  const refusals = a.told.filter((message) => message === "the partition could not be given away yet");
  t.equal(refusals.length, 1, "which is told, and not at every try");
  await a.write(1, 1);
  a.isTied = false;
  await world.until("b owns it", () => b.owned.has(1));
  t.equal(b.owned.get(1)!.lastSequence, 1, "with all that a has written");
  t.notOk(b.owned.has(0));
  await a.write(0, 1);
  t.equal((await world.service.owner(0))!.node, "a", "a goes on with the other");
  world.wants.set(1, "a");
  await world.until("a owns both again", () => a.owned.size === 2);
  t.equal(a.owned.get(1)!.lastSequence, 1);
  t.equal(a.failures + b.failures, 0);
  t.same([...a.problems, ...b.problems], []);
});

t.test("the next owner serves while the last one still closes its files, but not before all is written", async (t) => {
  const world = new World(t.testdir());
  const a = await world.node(t, "a");
  await world.until("a owns both", () => a.owned.size === 2);
  const b = await world.node(t, "b");
  let closed = (): void => {};
  a.filesClosed = new Promise((resolve) => {
    closed = resolve;
  });
  let arrive = (): void => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const { service } = world;
  const append = service.append.bind(service);
  service.append = async (...asked) => arrived.then(() => append(...asked));
  const written = a.write(1, 1);
  world.wants.set(1, "b");
  await world.until("a gives it away", () => a.closes > 0);
  await world.moments(5);
  t.equal((await service.owner(1))!.node, "a", "what was written has not been acknowledged");
  arrive();
  await written;
  await world.until("b owns it", () => b.owned.has(1));
  t.equal(b.owned.get(1)!.lastSequence, 1, "with all that a has written");
  await b.write(1, 2);
  t.ok(a.owned.has(1), "a has not closed its files");
  world.wants.set(1, "a");
  await world.untilAsync("b gives it back", async () => (await service.owner(1))!.node === "a");
  await world.moments(5);
  t.notOk(b.owned.has(1));
  t.equal(a.opened, 2, "a does not open it while its files are in use");
  closed();
  await world.until("a owns it again", () => a.opened === 3);
  t.equal(a.owned.get(1)!.lastSequence, 2);
  t.equal(a.failures + b.failures, 0);
  t.same([...a.problems, ...b.problems], []);
});

t.test("a partition that is given to a node while it follows it is taken as soon as it has followed", async (t) => {
  const never = 3_600_000;
  const looks = { soon: 1, often: never, seldom: never };
  const world = new World(t.testdir(), { times: { looks, reportMs: 20, steadyMs: 1 } });
  const told = async (): Promise<void> => {
    world.tell();
    await world.moments(1);
  };
  const a = await world.node(t, "a");
  world.wants.set(0, "a").set(1, "a");
  while (a.owned.size < 2) await told();
  const b = await world.node(t, "b");
  await a.write(1, 1);
  while ((await world.service.reports(1)).get("b") !== 1) await told();
  const { service } = world;
  const tail = service.tail.bind(service);
  let [isHeld, release] = [false, (): void => {}];
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  service.tail = async (partition, ...asked) => {
    isHeld ||= partition === 1;
    if (partition === 1) await released;
    return tail(partition, ...asked);
  };
  await a.write(1, 2);
  while (!isHeld) await told();
  world.wants.set(1, "b");
  while ((await service.owner(1))!.node !== "b") await told();
  await told();
  t.notOk(b.owned.has(1));
  release();
  await world.until("b owns it, and nobody tells it to look", () => b.owned.has(1));
  t.equal(b.owned.get(1)!.lastSequence, 2);
  t.same([...a.problems, ...b.problems], []);
});

t.test("a reply waits for the lease, and fails when it is lost", async (t) => {
  const world = new World(t.testdir());
  const a = await world.node(t, "a");
  await world.until("a owns both", () => a.owned.size === 2);
  const gate = new TenuredGate((send, fail) => a.tenures.confirm(0, send, fail));
  const said: string[] = [];
  const pass = (name: string): void =>
    gate.pass(
      0,
      () => said.push(name),
      (error) => said.push(`${name}: ${error.code}`),
    );
  t.notOk(gate.isOpenFor(), "not even a read leaves without a look at the lease");
  pass("first");
  t.same(said, ["first"]);
  world.monotonicMs += 4600;
  pass("second");
  t.equal(gate.waiting, 1);
  await a.renew();
  while (gate.waiting > 0) await sleep(5);
  t.same(said, ["first", "second"]);
  world.monotonicMs += 4600;
  pass("third");
  a.isAlive = false;
  a.lease.lost();
  while (gate.waiting > 0) await sleep(5);
  t.same(said, ["first", "second", "third: partition_unavailable"]);
  while (a.failures === 0) await sleep(5);
});

t.test("a reply of one life never leaves in the next", async (t) => {
  const world = new World(t.testdir());
  const a = await world.node(t, "a");
  await world.until("a owns both", () => a.owned.size === 2);
  const said: string[] = [];
  const pass = (name: string): void =>
    a.tenures.confirm(
      0,
      () => said.push(name),
      (error) => said.push(`${name}: ${error.code}`),
    );
  a.isAlive = false;
  world.monotonicMs += 4600;
  pass("held");
  t.same(said, []);
  a.lease.interruption = () => {
    a.lease.lost();
    a.believe();
  };
  pass("late");
  t.equal(a.lease.interruption, null, "the lease was asked");
  while (said.length < 2) await sleep(5);
  t.same(said.sort(), ["held: partition_unavailable", "late: partition_unavailable"]);
});

t.test("a held reply does not leave when the lease is lost and renewed while it is looked at", async (t) => {
  const world = new World(t.testdir());
  const a = await world.node(t, "a");
  await world.until("a owns both", () => a.owned.size === 2);
  a.isAlive = false;
  world.monotonicMs += 4600;
  const said: string[] = [];
  a.tenures.confirm(
    0,
    () => said.push("sent"),
    (error) => said.push(error.code),
  );
  a.lease.interruption = () => {
    a.lease.lost();
    a.believe();
  };
  while (said.length === 0) await sleep(5);
  t.same(said, ["partition_unavailable"]);
});

t.test("a node that owned nothing when it lost its lease takes over in its next life", async (t) => {
  const world = new World(t.testdir());
  const a = await world.node(t, "a");
  await world.until("a owns both", () => a.owned.size === 2);
  await a.write(0, 1);
  const b = await world.node(t, "b");
  await sleep(300);
  b.lease.lost();
  await sleep(100);
  await b.renew();
  // As after a crash.
  a.isAlive = false;
  await sleep(500);
  world.monotonicMs += 5000;
  await world.until("b owns both", () => b.owned.size === 2);
  t.equal(b.owned.get(0)!.lastSequence, 1);
  t.equal(b.failures, 0, "it had nothing to lose");
  t.same(b.problems, []);
});

t.test("a claim of one life does not open its partition in the next", async (t) => {
  const world = new World(t.testdir());
  const claim = world.service.claim.bind(world.service);
  const epochs: number[] = [];
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  world.service.claim = async (wanted) => {
    const epoch = await claim(wanted);
    if (wanted.partition === 0) epochs.push(epoch!);
    await held;
    return epoch;
  };
  const a = await world.node(t, "a");
  await world.until("a has claimed it", () => epochs.length === 1);
  a.lease.lost();
  await a.renew();
  await sleep(300);
  t.equal(epochs.length, 1, "nothing new begins before the old claim has ended");
  letGo();
  await world.until("a owns both", () => a.owned.size === 2);
  t.equal(epochs.length, 2, "it was claimed again");
  t.equal((await world.service.owner(0))!.epoch, epochs[1]);
  t.same(a.problems, []);
});

t.test("an owner that lacks commits gives the partition only to a node that has more of it", async (t) => {
  const world = new World(t.testdir());
  await world.service.report("gone", new Map([[1, 7]]));
  await world.service.claim({ partition: 1, node: "a", tenure: "before", epoch: 0 });
  let claims = 0;
  const claim = world.service.claim.bind(world.service);
  world.service.claim = (wanted) => {
    if (wanted.partition === 1) claims++;
    return claim(wanted);
  };
  const a = await world.node(t, "a");
  const b = await world.node(t, "b");
  await world.until("both have reported what they have", () => a.owned.size + b.owned.size === 1);
  for (let i = 0; i < 60; i++) await world.until("a moment passes", () => true).then(() => sleep(50));
  t.equal(claims, 0, "neither has what a third node had");
  t.equal((await world.service.owner(1))!.node, "a");
  await world.service.report("b", new Map([[1, 3]]));
  await world.until("a gives it to b", () => claims > 0);
  t.equal((await world.service.owner(1))!.node, "b");
});

t.test("nothing is given to a node whose actor is down, and what it owns is taken after a while", async (t) => {
  const world = new World(t.testdir());
  const a = await world.node(t, "a");
  await world.until("a owns both", () => a.owned.size === 2);
  await a.write(0, 1);
  const b = await world.node(t, "b");
  b.actors = "0";
  world.wants.set(0, "b");
  world.wants.set(1, "a");
  // Longer than nodes must have been the same.
  for (let i = 0; i < 80; i++) await world.until("a moment passes", () => true).then(() => sleep(1));
  t.equal(a.closes, 0, "b is wished for, and not ready");
  b.actors = "1";
  await world.until("b owns it", () => b.owned.has(0));
  t.equal(a.failures + b.failures, 0);

  // As if its thread had ended: it renews, and does nothing.
  await b.tenures.stop();
  b.actors = "0";
  await b.renew();
  await sleep(500);
  t.equal((await world.service.owner(0))!.node, "b", "it may be back soon");
  for (let i = 0; i < 6; i++) {
    world.monotonicMs += 1000;
    for (const node of [a, b]) await node.renew();
    await sleep(60);
  }
  await world.until("a owns both again", () => a.owned.size === 2);
  t.equal(a.owned.get(0)!.lastSequence, 1);
  t.equal((await world.service.member("b"))!.isFenced, false, "the node goes on with its other actors");
  await t.rejects(b.write(0, 2), { code: "partition_unavailable" }, "an owner before writes nothing");
});

t.test("an owner that lost its disk copies from the next owner at once, and again soon where that fails", async (t) => {
  const folder = t.testdir();
  const world = new World(folder, { times: { reportMs: 200, steadyMs: 300 } });
  let tries = 0;
  // The clock of copies that cannot follow is the world's, which stands still.
  world.given = async (to, partition, into) => {
    const from = world.nodes.find((node) => node.isAlive && node !== to && node.owned.has(partition));
    if (++tries === 1 || from === undefined) throw new Error("the owner is not there yet");
    await cp(join(from.directory(partition), "log"), join(dirname(into), "log"), { recursive: true });
    return 1;
  };
  const a = await world.node(t, "a");
  await world.until("a owns one", () => a.owned.size > 0);
  const b = await world.node(t, "b");
  const [partition] = a.owned.keys() as Iterable<number> as [number];
  for (let i = 1; i <= 10; i++) await a.write(partition, i);
  await world.untilAsync("b has all", async () => (await world.service.reports(partition)).get("b") === 10);
  await world.untilAsync("etcd has forgotten", async () => {
    const [first] = await world.service.tail(partition, { sequence: 0, part: 0 }, 1);
    return first !== undefined && first.position.sequence > 5;
  });
  a.isAlive = false;
  await a.tenures.stop();
  await rm(join(folder, "a"), { recursive: true });
  world.nodes.splice(world.nodes.indexOf(a), 1);
  const again = new Node(world, "a");
  t.teardown(() => again.end());
  again.revision = (await world.service.member("a"))!.revision;
  again.counter = 100;
  world.nodes.push(again);
  await again.renew();
  await world.until("b owns it", () => b.owned.has(partition));
  await world.until("a tried to copy", () => tries > 0);
  await world.moments(4);
  world.monotonicMs += 1000;
  await world.untilAsync("a has all again", async () => (await world.service.reports(partition)).get("a") === 10);
  t.same(again.problems, []);
});

t.test("a copy that fails again and again is tried less often, and at once from another owner", (t) => {
  let now = 0;
  const behind = new BehindCopies({ monotonicMs: () => now });
  const waits = [1, 2, 3, 4, 5, 6, 7].map(() => {
    behind.add(0, 5);
    behind.copyFailed(0, 5);
    const began = now;
    while (behind.has(0, 5)) now += 500;
    return now - began;
  });
  t.same(waits, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  behind.add(0, 5);
  t.equal(behind.has(0, 4), true, "an older record says nothing new");
  t.equal(behind.has(0, 6), false, "another owner may have what it lacks");
  behind.copyFailed(0, 6);
  now += 1000;
  t.equal(behind.has(0, 6), false, "its first copy");
  t.end();
});
