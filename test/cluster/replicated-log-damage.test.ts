/** What the replicated log drops when it is trimmed, and what it notices when the service lost or changed something. */
import t from "tap";
import { LogFollower } from "../../src/cluster/log-follower.js";
import type { LogService } from "../../src/cluster/log-service.js";
import { MemoryLogService } from "../../src/cluster/memory-log-service.js";
import { ReplicatedCommitLog, type ReplicatedCommitLogOptions } from "../../src/cluster/replicated-commit-log.js";
import type { DbError } from "../../src/protocol/errors.js";
import { FileCommitLog } from "../../src/storage/file-commit-log.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { commit, content, key } from "../storage/shards.js";
import { SimulatedDisk } from "../storage/simulated-disk.js";
import { FaultyLogService } from "./faulty-log-service.js";
import { Copy, PARTITION, settle } from "./replicated-copy.js";

t.test("what enough copies have is trimmed, parts only with their commit, and the newest append stays", async (t) => {
  const service = new FaultyLogService();
  const copy = new Copy(service);
  const shard = await copy.open(t);
  const places = async () =>
    (await service.tail(PARTITION, { sequence: 0, part: 0 }, 100)).map(({ position: p }) => `${p.sequence}.${p.part}`);
  const one = async (name: string) => {
    commit(shard, [name, "1"]);
    shard.flush();
    while (copy.durable.at(-1) !== shard.committedSequence) await settle();
  };
  await one("a");
  await one("b");
  const parts = copy.log.beginParts();
  copy.log.appendPart(parts, [{ key: key("p"), value: key("1") }]);
  await copy.log.sync();
  await one("c");
  await one("d");
  t.same(await places(), ["1.0", "2.0", "3.0", "3.1", "4.0"]);
  await copy.log.trimReplicated(1);
  t.same(await places(), ["2.0", "3.0", "3.1", "4.0"]);
  await copy.log.trimReplicated(4);
  t.same(await places(), ["3.0", "3.1", "4.0"], "the parts may still get their commit");
  copy.log.dropParts(parts);
  await copy.log.trimReplicated(4);
  t.same(await places(), ["4.0"]);
  t.same(content(shard), ["a=1", "b=1", "c=1", "d=1"]);
  const late = new Copy(service);
  await t.rejects(late.open(t), { code: "partition_damaged", message: /ends at commit 0.*begins at 4/ });
  t.same(content(await copy.open(t)), ["a=1", "b=1", "c=1", "d=1"], "who has them goes on");
});

t.test("a log that lost, changed or replaced an append is noticed by its chain", async (t) => {
  const service = new FaultyLogService();
  const copy = new Copy(service);
  const shard = await copy.open(t);
  for (let i = 1; i <= 4; i++) {
    commit(shard, [`k${i}`, "1"]);
    shard.flush();
    while (copy.durable.at(-1) !== i) await settle();
  }
  const appends = (await service.tail(PARTITION, { sequence: 0, part: 0 }, 100)).map((one) => ({ ...one }));
  const openWith = async (list: typeof appends) => {
    const other = { ...pick(service), tail: async () => list.splice(0) };
    const local = await FileCommitLog.open({ directory: "/log", disk: new SimulatedDisk() });
    return ReplicatedCommitLog.open({ service: other, partition: PARTITION, epoch: 9, local });
  };
  t.equal((await openWith([...appends])).lastSequence, 4);
  const changed = Buffer.from(appends[1]!.bytes);
  changed[changed.length - 1]! ^= 1;
  await t.rejects(openWith(appends.with(1, { ...appends[1]!, bytes: changed })), {
    message: /digest [0-9a-f]{32}, not/,
  });
  await t.rejects(openWith(appends.toSpliced(1, 1)), { code: "partition_damaged", message: /follows the digest/ });
  await t.rejects(openWith([appends[0]!, appends[2]!, appends[1]!]), { message: /follows the digest/ });
  await t.rejects(openWith(appends.with(1, { ...appends[1]!, position: { sequence: 7, part: 0 } })), {
    message: /begins at 2/,
  });
  const copied = await FileCommitLog.open({ directory: "/log", disk: copy.disk });
  const short = { ...pick(service), tail: async () => appends.splice(0).slice(0, 2) };
  await t.rejects(ReplicatedCommitLog.open({ service: short, partition: PARTITION, epoch: 9, local: copied }), {
    code: "partition_damaged",
    message: /ends at 2.*up to 4/,
  });
});

function pick(service: LogService): ReplicatedCommitLogOptions["service"] {
  return {
    append: service.append.bind(service),
    settle: service.settle.bind(service),
    tail: service.tail.bind(service),
    trim: service.trim.bind(service),
  };
}

t.test("another append of the same epoch at its place is no outcome but damage", async (t) => {
  const service = new FaultyLogService();
  const copy = new Copy(service);
  const failed: DbError[] = [];
  const shard = await copy.open(t, { onFailed: (error) => failed.push(error) });
  const { epoch } = (await service.owner(PARTITION))!;
  await service.append(PARTITION, epoch, { position: { sequence: 1, part: 0 }, bytes: Buffer.from("foreign") });
  commit(shard, ["a", "1"]);
  shard.flush();
  await settle();
  t.match(failed, [{ code: "partition_damaged", message: /another append of epoch/ }]);
});

t.test("a copy that is overtaken by trimming while it reads is behind, and nothing is damaged", async (t) => {
  const service = new MemoryLogService();
  const epoch = (await service.claim({ partition: PARTITION, node: "n", tenure: "t", epoch: 0 }))!;
  const local = new MemoryCommitLog();
  const log = await ReplicatedCommitLog.open({ service, partition: PARTITION, epoch, local });
  for (let sequence = 1; sequence <= 40; sequence++) {
    log.append([{ sequence, micros: sequence, operations: [] }]);
    await log.sync();
  }
  const copy = new MemoryCommitLog();
  let pages = 0;
  const trimmed: Pick<LogService, "tail"> = {
    tail: async (...asked) => {
      if (++pages === 2) await service.trim(PARTITION, { sequence: 30, part: 0 });
      return service.tail(...asked);
    },
  };
  const following = new LogFollower(copy).catchUp(trimmed, PARTITION, () => undefined);
  await t.rejects(following, { message: /has been copied from its owner: the log was trimmed up to 30/ });
  t.ok(copy.lastSequence > 1 && copy.lastSequence < 30, "what it has read stays");
});
