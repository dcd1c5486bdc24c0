/**
 * Both log services pass the same cases; one whose compare-and-set has a gap does not. What etcd does when it fails or
 * is full.
 */
import t, { type Test } from "tap";
import { CellRoom } from "../../src/cluster/cell-room.js";
import { EtcdLogService } from "../../src/cluster/etcd-log-service.js";
import type { LogService, Owner, Revision } from "../../src/cluster/log-service.js";
import { MemoryLogService } from "../../src/cluster/memory-log-service.js";
import { sized } from "../lengths.js";
import { EtcdMember, NO_ETCD } from "./etcd.js";
import { type CaseWorld, LOG_SERVICE_CASES } from "./log-service-cases.js";

t.setTimeout(600_000);

const ROUNDS_IN_MEMORY = 2000;
const ROUNDS = sized(60, 2000);

/** Checks the conditions and writes a moment later, as a store does whose compare-and-set does not lock. */
class BrokenLogService extends MemoryLogService {
  protected override async step(holds: () => boolean, write: (revision: Revision) => void): Promise<Revision | null> {
    const isSound = holds();
    await Promise.resolve();
    return isSound ? this.change(write) : null;
  }
}

/** For each case a partition and a node that no other has; numbers that have no zero at the end. */
function* worldsOf(service: LogService, rounds: number): Generator<CaseWorld> {
  for (let i = 1; ; i++) yield { service, partition: i * 1000 + 1, node: `node${i}-`, rounds };
}

function conforms(t: Test, service: LogService, rounds: number): void {
  const worlds = worldsOf(service, rounds);
  for (const [name, run] of Object.entries(LOG_SERVICE_CASES)) {
    const world = worlds.next().value as CaseWorld;
    t.test(name, () => run(world));
  }
}

t.test("in memory", async (t) => conforms(t, new MemoryLogService(), ROUNDS_IN_MEMORY));

t.test("a store whose compare-and-set has a gap fails", async (t) => {
  const worlds = worldsOf(new BrokenLogService(), 20);
  const failed: string[] = [];
  for (const [name, run] of Object.entries(LOG_SERVICE_CASES)) {
    const world = worlds.next().value as CaseWorld;
    await run(world).catch(() => failed.push(name));
  }
  t.same(failed, [
    "of contenders for a partition exactly one wins each round, and only it may append",
    "of appends to one place at the same time exactly one is done",
    "of renewals from one revision at the same time exactly one is done",
    "a takeover and a renewal at the same time: exactly one is done",
  ]);
});

t.test("a memory service that is full says so until there is room", async (t) => {
  await fillsAndGoesOn(t, new MemoryLogService(4 * 1024 * 1024));
});

/** Appends until there is no room; then makes some. */
async function fillsAndGoesOn(t: Test, service: LogService): Promise<void> {
  const epoch = (await service.claim({ partition: 1, node: "a", tenure: "t", epoch: 0 }))!;
  const room = new CellRoom({ service, bytesMax: 1024 * 1024 });
  await room.look();
  t.equal(room.refusal, null);
  let sequence = 1;
  const append = () =>
    service.append(1, epoch, { position: { sequence, part: 0 }, bytes: Buffer.alloc(200_000, sequence) });
  while ((await append()) === "appended") sequence++;
  t.equal(await append(), "full", `after ${sequence - 1} appends`);
  t.ok(sequence > 4);
  t.equal((await service.settle(1, { sequence, part: 0 })).bytes, null, "nothing was written");
  t.ok((await service.usage()).isFull);
  await room.look();
  t.match(room.refusal, { code: "log_unavailable", message: /has no room|trimmed/ });
  await service.trim(1, { sequence: sequence - 1, part: 0 });
  room.trimmed();
  await room.look();
  t.equal(room.refusal, null);
  t.equal(await append(), "appended", "when the log was trimmed and room was made");
}

t.test("etcd", { skip: NO_ETCD }, async (t) => {
  const member = await EtcdMember.start();
  const service = new EtcdLogService({ endpoints: [member.endpoint], installation: "suite" });
  t.teardown(async () => {
    await service.close();
    await member.end();
  });
  await t.test("cases", async (t) => conforms(t, service, ROUNDS));

  await t.test("two installations on one etcd do not see each other", async (t) => {
    const other = new EtcdLogService({ endpoints: [member.endpoint], installation: "suite2" });
    t.teardown(() => other.close());
    await service.claim({ partition: 5, node: "a", tenure: "t", epoch: 0 });
    t.equal(await other.owner(5), null);
  });

  await t.test("what was appended outlives a kill of etcd, which is an outage of a known code meanwhile", async (t) => {
    const epoch = (await service.claim({ partition: 6, node: "a", tenure: "t", epoch: 0 }))!;
    const position = { sequence: 1, part: 0 };
    t.equal(await service.append(6, epoch, { position, bytes: Buffer.from("x") }), "appended");
    await member.kill();
    await t.rejects(service.owner(6), { code: "log_unavailable", message: /etcd at 127\.0\.0\.1:\d+, KV\/Range/ });
    await member.restart();
    // The connection is made anew at its own pace.
    const again = new EtcdLogService({ endpoints: ["127.0.0.1:1", member.endpoint], installation: "suite" });
    t.teardown(() => again.close());
    await t.rejects(again.owner(6), { code: "log_unavailable" }, "the first of its members is not there");
    t.equal((await again.owner(6))!.epoch, epoch, "the next call goes to the second");
    t.equal(Buffer.from((await again.settle(6, position)).bytes!).toString(), "x");
  });

  await t.test("an etcd that stands still is noticed by the deadline", async (t) => {
    const hasty = new EtcdLogService({ endpoints: [member.endpoint], installation: "suite", deadlineMs: 200 });
    t.teardown(() => hasty.close());
    // On a busy machine the connection itself may take longer than that.
    let owner: Owner | null = null;
    while (owner === null) owner = await hasty.owner(6).catch(() => null);
    t.equal(owner.node, "a");
    await member.pause();
    const append = { position: { sequence: 2, part: 0 }, bytes: Buffer.from("y") };
    await t.rejects(hasty.append(6, 1, append), { code: "log_unavailable", message: /[Dd]eadline/ });
    member.goOn();
    await t.rejects(
      service.append(6, 1, { ...append, bytes: Buffer.alloc(3_000_000) }),
      { code: "internal_error" },
      "too large",
    );
  });
});

t.test(
  "an etcd without space raises its alarm, and takes appends again after trimming",
  { skip: NO_ETCD },
  async (t) => {
    const member = await EtcdMember.start({ quotaBytes: 6 * 1024 * 1024 });
    const service = new EtcdLogService({ endpoints: [member.endpoint], installation: "full" });
    t.teardown(async () => {
      await service.close();
      await member.end();
    });
    await fillsAndGoesOn(t, service);
  },
);

t.test("what names no etcd is refused", async (t) => {
  const options = { endpoints: [], installation: "a" };
  t.throws(() => new EtcdLogService(options), { code: "invalid_request", message: /address/ });
  t.throws(() => new EtcdLogService({ ...options, installation: "a/b" }), { code: "invalid_request" });
});
