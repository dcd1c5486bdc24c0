/**
 * When a node believes that it owns its partitions, when others may take them, and what becomes of replies in between.
 */
import t from "tap";
import { Lease, type LeaseOptions, type NodeClock } from "../../src/cluster/lease.js";
import type { MemberState, Revision } from "../../src/cluster/log-service.js";
import { MemoryLogService } from "../../src/cluster/memory-log-service.js";
import { NodeWatch } from "../../src/cluster/node-watch.js";
import { TenureGate } from "../../src/cluster/tenure-gate.js";
import { DbError } from "../../src/protocol/errors.js";

class Clock implements NodeClock {
  monotonic = 1000;
  wall = 1_000_000;

  monotonicMs(): number {
    return this.monotonic;
  }

  wallMs(): number {
    return this.wall;
  }

  pass(ms: number): void {
    this.monotonic += ms;
    this.wall += ms;
  }
}

type RenewFault = "lost" | "unanswered" | "broken";

class Service extends MemoryLogService {
  fault: RenewFault | null = null;
  /** What happens while a renewal is under way. */
  meanwhile: () => void = () => undefined;

  override async renew(node: string, revision: Revision, state: MemberState): Promise<Revision | null> {
    const { fault } = this;
    this.fault = null;
    if (fault === "broken") throw new DbError("internal_error");
    const renewed = fault === "lost" ? null : await super.renew(node, revision, state);
    this.meanwhile();
    if (fault !== null) throw new DbError("log_unavailable");
    return renewed;
  }
}

function makeLease(service: Service, clock: Clock, options: Partial<LeaseOptions> = {}) {
  const told: string[] = [];
  let lives = 0;
  const lease = new Lease({
    service,
    node: "a",
    clock,
    newIncarnation: () => `life${++lives}`,
    onLost: () => told.push("lost"),
    onRenewed: () => told.push("renewed"),
    ...options,
  });
  return { lease, told };
}

async function held(service = new Service(), clock = new Clock()) {
  const made = makeLease(service, clock);
  await made.lease.renew();
  await made.lease.renew();
  made.told.length = 0;
  return { ...made, service, clock };
}

t.test("a node believes nothing before the first renewal of its record", async (t) => {
  const { lease, told } = makeLease(new Service(), new Clock());
  t.notOk(lease.holds);
  await lease.renew();
  t.same([lease.isMember, lease.holds, told], [true, false, []]);
  await lease.renew();
  t.same([lease.holds, told], [true, ["renewed"]]);
});

t.test("it believes for nine tenths of the time, from when it began to renew", async (t) => {
  const { lease, service, clock } = await held();
  service.meanwhile = () => clock.pass(400);
  await lease.renew();
  clock.pass(4099);
  t.ok(lease.holds);
  clock.pass(1);
  t.notOk(lease.holds);
});

t.test("a renewal that takes longer than that is worth nothing", async (t) => {
  const { lease, service, clock, told } = await held();
  service.meanwhile = () => clock.pass(4500);
  await lease.renew();
  t.same([lease.holds, told], [false, []]);
});

t.test("without an answer it believes until its time is over, and a later renewal goes on", async (t) => {
  const { lease, service, clock, told } = await held();
  for (let i = 0; i < 4; i++) {
    clock.pass(1000);
    service.fault = "lost";
    await lease.renew();
    t.ok(lease.holds);
  }
  clock.pass(600);
  t.notOk(lease.holds);
  await lease.renew();
  t.same([lease.holds, told], [true, ["renewed"]]);
});

t.test("a renewal that was done without an answer counts from its own beginning", async (t) => {
  const { lease, service, clock, told } = await held();
  clock.pass(1000);
  service.fault = "unanswered";
  await lease.renew();
  clock.pass(1000);
  service.fault = "lost";
  await lease.renew();
  clock.pass(1000);
  await lease.renew();
  t.same(told, ["renewed"]);
  clock.pass(2499);
  t.ok(lease.holds, "4,499 ms after the one that was done");
  clock.pass(1);
  t.notOk(lease.holds);
  await lease.renew();
  t.ok(lease.holds);
});

t.test("a node that was fenced gives up, and joins anew in another life", async (t) => {
  const { lease, service, told } = await held();
  const before = (await service.member("a"))!;
  const unseen = { node: "a", revision: before.revision };
  t.ok(await service.claim({ partition: 1, node: "b", tenure: "t", epoch: 0, unseen }));
  await lease.renew();
  t.same([lease.holds, lease.isMember, told], [false, false, ["lost"]]);
  await lease.renew();
  t.notOk(lease.holds, "it has a record, and believes nothing yet");
  await lease.renew();
  t.ok(lease.holds);
  const after = (await service.member("a"))!;
  t.same([after.isFenced, after.incarnation === before.incarnation], [false, false]);
});

t.test("of two processes under one name the later one has the record", async (t) => {
  const { lease: first, service, clock, told } = await held();
  const { lease: second } = makeLease(service, clock, { newIncarnation: () => "other" });
  await second.renew();
  await first.renew();
  t.same([first.holds, told], [false, ["lost"]]);
  await second.renew();
  t.ok(second.holds);
});

t.test(
  "a machine that was suspended believes nothing, even before it renews; neither does one whose time was set",
  async (t) => {
    for (const ms of [501, -501]) {
      const { lease, clock, told } = await held();
      clock.wall += ms;
      t.notOk(lease.holds);
      await lease.renew();
      t.same(told, ["lost"]);
    }
    const { lease, clock, told } = await held();
    clock.wall += 400;
    t.ok(lease.holds, "clocks are set by a little all the time");
    await lease.renew();
    clock.wall += 400;
    t.ok(lease.holds, "which does not add up");
    t.same(told, ["renewed"]);
  },
);

t.test("what is no outage is not hidden", async (t) => {
  const { lease, service } = await held();
  service.fault = "broken";
  await t.rejects(lease.renew(), { code: "internal_error" });
});

t.test("a node may be taken from when its record has stood for as long as it could believe", async (t) => {
  const { lease, service } = await held();
  const clock = new Clock();
  const watch = new NodeWatch(service, clock);
  t.equal(await watch.unseen("a"), null);
  clock.pass(4999);
  t.equal(await watch.unseen("a"), null);
  await lease.renew();
  clock.pass(1);
  t.equal(await watch.unseen("a"), null, "it has renewed");
  clock.pass(5000);
  t.same(await watch.unseen("a"), { node: "a", revision: (await service.member("a"))!.revision });
});

t.test("the wait begins when the record's state is known, not when it was asked for", async (t) => {
  const { service } = await held();
  const clock = new Clock();
  const slow = {
    member: async (node: string) => {
      clock.pass(3000);
      return service.member(node);
    },
  };
  const watch = new NodeWatch(slow, clock);
  t.equal(await watch.unseen("a"), null);
  t.equal(await watch.unseen("a"), null, "3,000 ms later");
  t.ok(await watch.unseen("a"), "6,000 ms later");
});

t.test("from a fenced node all may be taken at once; a node without a record is waited for", async (t) => {
  const { service } = await held();
  const clock = new Clock();
  const watch = new NodeWatch(service, clock);
  const { revision } = (await service.member("a"))!;
  await service.claim({ partition: 1, node: "b", tenure: "t", epoch: 0, unseen: { node: "a", revision } });
  t.same(await watch.unseen("a"), { node: "a", revision: (await service.member("a"))!.revision });
  t.equal(await watch.unseen("never"), null);
  clock.pass(5000);
  t.same(await watch.unseen("never"), { node: "never", revision: 0 });
});

t.test("replies wait for the next renewal, and fail when the tenure is over", async (t) => {
  const lease = { holds: true };
  const gate = new TenureGate(lease);
  const told: string[] = [];
  const reply = (name: string) =>
    gate.pass(
      () => told.push(name),
      ({ code }) => told.push(`${name} ${code}`),
    );
  reply("a");
  lease.holds = false;
  reply("b");
  t.same([told, gate.waiting], [["a"], 1]);
  gate.renewed();
  t.same([told, gate.waiting], [["a", "b"], 0]);
  reply("c");
  gate.end();
  lease.holds = true;
  reply("d");
  t.same(told, ["a", "b", "c partition_unavailable", "d partition_unavailable"]);
  gate.renewed();
  t.equal(told.length, 4);
});
