/**
 * A shard on the replicated log: what is acknowledged, where it stands by then, and what follows from every kind of
 * failure.
 */
import t from "tap";
import { EtcdLogService } from "../../src/cluster/etcd-log-service.js";
import { DbError } from "../../src/protocol/errors.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import type { Shard } from "../../src/storage/shard.js";
import { SeededRandom } from "../simulation/seeded-random.js";
import { VirtualLoop } from "../simulation/virtual-loop.js";
import { commit, content, get, key, put } from "../storage/shards.js";
import { EtcdMember, NO_ETCD } from "./etcd.js";
import { FaultyLogService } from "./faulty-log-service.js";
import { appendsOf, Copy, inEngine, settle } from "./replicated-copy.js";

t.test("nothing reaches the engine or this node's log before the service has acknowledged it", async (t) => {
  const service = new FaultyLogService();
  const copy = new Copy(service);
  const shard = await copy.open(t);
  service.isSlow = true;
  commit(shard, ["a", "1"]);
  shard.flush();
  await settle();
  t.same(content(shard), ["a=1"], "it is there for later transactions");
  t.same([copy.local.lastSequence, inEngine(copy.engine), copy.durable], [0, 0, []]);
  service.release();
  await settle();
  t.same([copy.local.lastSequence, inEngine(copy.engine), copy.durable], [1, 1, [1]]);
});

t.test("one append is under way at a time; what comes meanwhile goes together", async (t) => {
  const service = new FaultyLogService();
  const copy = new Copy(service);
  const shard = await copy.open(t);
  service.isSlow = true;
  for (let i = 1; i <= 6; i++) {
    commit(shard, [`k${i}`, "1"]);
    shard.flush();
    await settle();
  }
  t.equal(service.waitingAppends, 1);
  service.release();
  await settle();
  t.same(copy.durable, [1]);
  service.release();
  await settle();
  t.same([copy.durable, service.appends], [[1, 6], 2]);
  t.same(
    (await appendsOf(service)).map(({ first, last }) => [first, last]),
    [
      [1, 1],
      [2, 6],
    ],
  );
});

t.test("readers keep their snapshots while commits wait, and after they are applied in steps", async (t) => {
  const service = new FaultyLogService();
  const copy = new Copy(service);
  const shard = await copy.open(t);
  commit(shard, ["a", "0"], ["b", "0"]);
  shard.flush();
  await settle();
  service.isSlow = true;
  const readers = [shard.begin({ readOnly: true })];
  for (let i = 1; i <= 4; i++) {
    commit(shard, ["a", String(i)]);
    shard.flush();
    await settle();
    readers.push(shard.begin({ readOnly: true }));
  }
  const seen = () => readers.map((reader) => get(reader, "a"));
  const expected = ["0", "1", "2", "3", "4"];
  t.same(seen(), expected);
  service.release();
  await settle();
  t.same([copy.engine.get(key("a"))?.toString(), seen()], ["1", expected], "one of the four is applied");
  service.release();
  await settle();
  t.same([copy.engine.get(key("a"))?.toString(), seen()], ["4", expected]);
  for (const reader of readers) reader.rollback();
  t.equal(shard.versions.size, 0, "nothing is kept for nobody");
});

for (const fault of ["lost", "unanswered", "late"] as const) {
  t.test(`an append whose answer is missing (${fault}) is looked up, and is there once`, async (t) => {
    const service = new FaultyLogService();
    const copy = new Copy(service);
    const shard = await copy.open(t);
    service.faults.push(fault, null, fault);
    for (const name of ["a", "b", "c"]) {
      commit(shard, [name, "1"]);
      shard.flush();
      while (copy.durable.at(-1) !== shard.committedSequence) await settle();
    }
    t.same(await service.deliver(), fault === "late" ? ["taken", "taken"] : [], "what arrives late is refused");
    t.same(
      (await appendsOf(service)).map(({ first, last }) => [first, last]),
      [
        [1, 1],
        [2, 2],
        [3, 3],
      ],
    );
    t.equal(shard.failed, null);
    const next = new Copy(service);
    t.same(content(await next.open(t)), ["a=1", "b=1", "c=1"]);
  });
}

t.test("a deposed owner fails, and nothing of what it had not acknowledged is on its disk", async (t) => {
  const service = new FaultyLogService();
  const [old, next] = [new Copy(service), new Copy(service)];
  const failed: DbError[] = [];
  const shard = await old.open(t, { onFailed: (error) => failed.push(error) });
  commit(shard, ["a", "1"]);
  shard.flush();
  await settle();
  const successor = await next.open(t);
  t.same(content(successor), ["a=1"]);
  commit(shard, ["a", "2"]);
  shard.flush();
  await settle();
  t.match(failed, [{ code: "partition_unavailable", message: /another owner/ }]);
  t.same([old.durable, old.local.lastSequence, old.engine.get(key("a"))?.toString()], [[1], 1, "1"]);
  t.throws(() => shard.begin(), { code: "partition_unavailable" });
  commit(successor, ["a", "3"]);
  successor.flush();
  await settle();
  t.same(content(await old.open(t)), ["a=3"], "it follows the log when it owns the partition again");
});

t.test("an append that lands although its owner was deposed meanwhile is the successor's, too", async (t) => {
  const service = new FaultyLogService();
  const old = new Copy(service);
  const shard = await old.open(t);
  service.faults.push("unanswered");
  commit(shard, ["a", "1"]);
  shard.flush();
  const next = new Copy(service);
  t.same(content(await next.open(t)), ["a=1"]);
  await settle();
  t.same([old.durable, shard.failed], [[1], null], "and is acknowledged");
});

t.test("a service that does not answer: replies wait, new writes are refused after a while, reads go on", async (t) => {
  const loop = new VirtualLoop(1, new SeededRandom(1));
  const story = async () => {
    const service = new FaultyLogService();
    const copy = new Copy(service);
    const refused: string[] = [];
    const onFlushFailed = (first: number, last: number, { code }: DbError) => refused.push(`${first}-${last} ${code}`);
    const shard = await copy.open(t, { onFlushFailed });
    const write = (name: string) => {
      commit(shard, [name, "1"]);
      shard.flush();
    };
    service.isSilent = true;
    write("a");
    await loop.sleep(4500);
    write("b");
    t.same(refused, [], "after four seconds it is still taken");
    await loop.sleep(1000);
    write("c");
    t.same(refused, ["3-3 log_unavailable"]);
    t.same(content(shard), ["a=1", "b=1"]);
    t.same(copy.durable, []);
    service.isSilent = false;
    await loop.sleep(500);
    t.same(copy.durable, [1, 2]);
    write("c");
    await loop.sleep(500);
    t.same(
      [content(shard), copy.durable],
      [
        ["a=1", "b=1", "c=1"],
        [1, 2, 3],
      ],
    );
    await shard.close();
  };
  loop.install();
  t.teardown(() => loop.uninstall());
  let isOver = false;
  loop.soon(() => {
    story()
      .catch((error: Error) => t.fail(error.message))
      .finally(() => {
        isOver = true;
      });
  });
  await loop.run(() => isOver, 60_000);
  loop.uninstall();
});

t.test("what waits for acknowledgement is bounded; a refused commit is undone alone", async (t) => {
  const service = new FaultyLogService();
  const copy = new Copy(service);
  const refused: string[] = [];
  const onFlushFailed = (first: number, last: number, { code }: DbError) => refused.push(`${first}-${last} ${code}`);
  const shard = await copy.open(t, { onFlushFailed }, { queueBytesMax: 2000 });
  service.isSlow = true;
  for (let i = 1; i <= 5; i++) {
    commit(shard, [`k${i}`, "x".repeat(500)]);
    shard.flush();
    await settle();
  }
  t.same(refused, ["4-4 overloaded", "4-4 overloaded"]);
  service.isSlow = false;
  service.release();
  await settle();
  commit(shard, ["k6", "1"]);
  shard.flush();
  await settle();
  t.same(copy.durable.at(-1), 4);
  t.equal(content(shard).length, 4);
});

t.test("while the service must not grow, writes are refused with the reason and nothing else changes", async (t) => {
  let why: DbError | null = null;
  const copy = new Copy(new FaultyLogService());
  const refused: string[] = [];
  const shard = await copy.open(
    t,
    { onFlushFailed: (_f, _l, { message }) => refused.push(message) },
    { refusal: () => why },
  );
  why = new DbError("log_unavailable", "It is full.");
  commit(shard, ["a", "1"]);
  shard.flush();
  t.same([refused, content(shard), shard.failed], [["It is full."], [], null]);
  why = null;
  commit(shard, ["a", "2"]);
  shard.flush();
  await settle();
  t.same(copy.durable, [1]);
});

t.test("large commits go in parts, and a successor without them reads them from the service", async (t) => {
  const service = new FaultyLogService();
  const sizes = { operations: 20, bytes: 1 << 20, stepOperations: 5, stepBytes: 1 << 20 };
  const [first, second] = [new Copy(service), new Copy(service)];
  let shard = await first.open(t, { largeSizes: sizes }, { appendBytesMax: 400 });
  commit(shard, ["a", "1"]);
  shard.flush();
  await large(shard, "x", 60);
  commit(shard, ["b", "1"]);
  shard.flush();
  while (first.durable.at(-1) !== 3) await settle();
  const expected = content(shard);
  t.equal(expected.length, 62);
  t.ok(service.sizes.every((size) => size <= 400));
  t.same(content(await second.open(t)), expected);
  // Its own log lost what was not synced, at any point of the parts.
  for (let lost = 0; lost < 6; lost++) {
    first.disk = second.disk.afterPowerCut(() => lost % 2 === 0);
    first.engine = new MemoryEngine();
    shard = await first.open(t, { largeSizes: sizes });
    t.same(content(shard), expected);
    second.disk = first.disk;
  }
});

async function large(shard: Shard, prefix: string, count: number): Promise<void> {
  const transaction = shard.begin();
  for (let i = 0; i < count; i++) put(transaction, `${prefix}${String(i).padStart(4, "0")}`, "v");
  await transaction.prepareCommit({
    checkpoint: () => undefined,
    shouldYield: () => false,
    yieldTurn: async () => undefined,
  });
  transaction.commit();
  shard.flush();
  while (shard.hasBacklog) {
    await settle();
    shard.applySome();
  }
}

t.test("parts of an owner that died before their commit count for nothing", async (t) => {
  const service = new FaultyLogService();
  const [first, second] = [new Copy(service), new Copy(service)];
  await first.open(t);
  const parts = first.log.beginParts();
  first.log.appendPart(parts, [{ key: key("half"), value: key("1") }]);
  await first.log.sync();
  const shard = await second.open(t);
  commit(shard, ["a", "1"]);
  shard.flush();
  await settle();
  t.same(content(shard), ["a=1"]);
  t.same(
    (await appendsOf(service)).map(({ first: from, last }) => [from, last]),
    [
      [1, 0],
      [1, 1],
    ],
  );
  t.same(content(await new Copy(service).open(t)), ["a=1"]);
});

t.test("a record that is longer than an append is continued in the next ones", async (t) => {
  const service = new FaultyLogService();
  const copy = new Copy(service);
  const shard = await copy.open(t, {}, { appendBytesMax: 300 });
  commit(shard, ["a", "1"]);
  commit(shard, ["big", "y".repeat(2000)]);
  commit(shard, ["b", "1"]);
  shard.flush();
  while (copy.durable.at(-1) !== 3) await settle();
  t.ok(service.sizes.every((size) => size <= 300) && service.appends > 8);
  const expected = content(shard);
  t.same(content(await new Copy(service).open(t)), expected);
  copy.cutPower();
  t.same(content(await copy.open(t)), expected);
});

t.test("a record of which the owner sent only the beginning never was", async (t) => {
  const service = new FaultyLogService();
  const copy = new Copy(service);
  const shard = await copy.open(t, {}, { appendBytesMax: 300 });
  commit(shard, ["a", "1"]);
  shard.flush();
  await settle();
  service.isSlow = true;
  commit(shard, ["big", "y".repeat(2000)]);
  shard.flush();
  for (let i = 0; i < 3; i++) {
    await settle();
    service.release();
  }
  service.isSlow = false;
  const next = new Copy(service);
  const successor = await next.open(t);
  service.release();
  t.same(content(successor), ["a=1"]);
  commit(successor, ["c", "1"]);
  successor.flush();
  while (next.durable.at(-1) !== 2) await settle();
  t.same(content(await new Copy(service).open(t)), ["a=1", "c=1"]);
  t.same(copy.durable, [1]);
});

t.test("after a power cut this node has again what it had acknowledged", async (t) => {
  const service = new FaultyLogService();
  const copy = new Copy(service);
  let shard = await copy.open(t);
  for (let i = 0; i < 20; i++) {
    commit(shard, [`k${i % 7}`, String(i)]);
    shard.flush();
    if (i % 3 === 0) await settle();
  }
  while (copy.durable.at(-1) !== 20) await settle();
  const expected = content(shard);
  copy.disk = copy.disk.afterPowerCut(() => false);
  // The engine may have kept more than the log.
  shard = await copy.open(t);
  t.same(content(shard), expected);
});

t.test("a disk of this node that fails ends its tenure, not the commit", async (t) => {
  const service = new FaultyLogService();
  const copy = new Copy(service);
  const failed: DbError[] = [];
  const shard = await copy.open(t, { onFailed: (error) => failed.push(error) });
  commit(shard, ["a", "1"]);
  shard.flush();
  await settle();
  copy.disk.spaceBytes = 0;
  commit(shard, ["b", "1"]);
  shard.flush();
  await settle();
  t.match(failed, [{ code: "disk_full" }]);
  t.same(content(await new Copy(service).open(t)), ["a=1", "b=1"]);
});

t.test("closing waits for what was sent", async (t) => {
  const service = new FaultyLogService();
  const copy = new Copy(service);
  const shard = await copy.open(t);
  service.isSlow = true;
  commit(shard, ["a", "1"]);
  shard.flush();
  commit(shard, ["b", "1"]);
  const closed = shard.close();
  await settle();
  service.isSlow = false;
  service.release();
  await closed;
  t.same([copy.durable.at(-1), inEngine(copy.engine)], [2, 2]);
});

t.test("on etcd: a shard's life, with a restart of etcd in between", { skip: NO_ETCD }, async (t) => {
  const member = await EtcdMember.start();
  const service = new EtcdLogService({ endpoints: [member.endpoint], installation: "log" });
  t.teardown(async () => {
    await service.close();
    await member.end();
  });
  const copy = new Copy(service);
  const shard = await copy.open(t);
  const durableTo = async (sequence: number) => {
    while (copy.durable.at(-1) !== sequence) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  for (let i = 1; i <= 20; i++) {
    commit(shard, [`k${i}`, "1"]);
    shard.flush();
  }
  await durableTo(20);
  await member.kill();
  commit(shard, ["while", "down"]);
  shard.flush();
  await member.restart();
  await durableTo(21);
  const expected = content(shard);
  const next = new Copy(service);
  t.same(content(await next.open(t)), expected);
  t.equal(expected.length, 21);
});
