/** Which nodes keep copies of a partition, when etcd may forget its log, and when a node deletes its copy. */
import { readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import t from "tap";
import { CellRoom } from "../../src/cluster/cell-room.js";
import type { ClusterView } from "../../src/cluster/cluster-map.js";
import { CopyKeeper } from "../../src/cluster/copy-keeper.js";
import { type CopyPlanInput, planCopies, trimmableTo } from "../../src/cluster/copy-sets.js";
import type { LogService } from "../../src/cluster/log-service.js";
import { type Look, rankOf, successorOf } from "../../src/cluster/look.js";
import { MemoryLogService } from "../../src/cluster/memory-log-service.js";
import { PartitionCopy } from "../../src/cluster/partition-copy.js";
import { FileCommitLog } from "../../src/storage/file-commit-log.js";

const reports = (all: Record<string, number>): ReadonlyMap<string, number> => new Map(Object.entries(all));

function plan(input: Partial<CopyPlanInput>): readonly [string, string] | null {
  const order = input.order ?? ["a", "b", "c", "d"];
  const made = planCopies({
    ...{ owner: "a", order, members: new Set(order), kept: ["a", "b"], reports: reports({ a: 9, b: 9 }) },
    ...{ durableHere: 9, copies: 2, isReplaced: () => false, ...input },
  });
  return made === null ? null : [made.nodes.join(), made.forgotten.join()];
}

t.test("as many nodes as shall keep a partition do", async (t) => {
  t.same(plan({ kept: null, reports: reports({ a: 9, b: 9, c: 9, d: 9 }) }), ["a,b", "c,d"]);
  t.equal(plan({}), null, "then nothing changes");
  t.same(plan({ copies: 3 }), ["a,b,c", ""]);
  t.same(plan({ copies: 9 }), ["a,b,c,d", ""], "all, where there are fewer");
  t.equal(plan({ kept: ["a"], copies: 1, reports: reports({ a: 9 }) }), null);
  t.same(plan({ kept: ["b", "c"], reports: reports({ a: 9, b: 9, c: 9 }) }), ["a,b", "c"], "the owner always");
});

t.test("a node goes only when enough others have all that it has reported", async (t) => {
  const few = { kept: null, reports: reports({ a: 9, b: 5, c: 7, d: 5 }) };
  t.same(plan(few), ["a,b,c", "d"], "b lacks what c has");
  t.same(plan({ kept: ["a", "c"], reports: reports({ a: 9, c: 9 }) }), ["a,b,c", ""], "b has nothing yet");
  t.same(plan({ kept: ["a", "b", "c"], reports: reports({ a: 9, b: 9, c: 9 }) }), ["a,b", "c"]);
  t.same(plan({ kept: ["a", "b", "x"], reports: reports({ a: 9, b: 3, x: 9 }) }), ["a,b", "x"], "x was removed");
});

t.test("a partition that is on its way loses no copy", async (t) => {
  t.same(plan({ order: ["d", "a", "b", "c"] }), ["a,b,d", ""]);
  t.equal(plan({ order: ["d", "a", "b", "c"], kept: ["a", "b", "d"], reports: reports({ a: 9, b: 9, d: 9 }) }), null);
});

t.test("a silent node keeps its place for a while", async (t) => {
  const silent = { order: ["a", "c", "d"], members: new Set(["a", "b", "c", "d"]) };
  t.equal(plan(silent), null);
  t.same(plan({ ...silent, isReplaced: (node) => node === "b" }), ["a,b,c", ""], "until another has its commits");
  const copied = { kept: ["a", "b", "c"], reports: reports({ a: 9, b: 9, c: 9 }) };
  t.same(plan({ ...silent, ...copied, isReplaced: () => true }), ["a,c", "b"]);
});

t.test("etcd forgets what two nodes have that keep a copy", async (t) => {
  const trim = (input: Partial<Parameters<typeof trimmableTo>[0]>): number =>
    trimmableTo({
      ...{ owner: "a", members: new Set(["a", "b", "c", "d"]), kept: ["a", "b", "c"], durableHere: 9, copies: 3 },
      ...{ reports: reports({ a: 9, b: 7, c: 4, d: 9 }), isFilling: false, stored: null, ...input },
    });
  t.equal(trim({}), 4, "what all have");
  t.equal(trim({ isFilling: true }), 7, "in need, what two have; d keeps none");
  t.equal(trim({ kept: null }), 4);
  t.equal(trim({ members: new Set(["a", "b"]) }), 7, "nobody waits for a node that was removed");
  t.equal(trim({ members: new Set(["a"]), kept: ["a"] }), 9, "where there are fewer nodes, all do");
  t.equal(trim({ members: new Set(["a"]), kept: ["a"], isFilling: true }), 9);
  t.equal(trim({ kept: ["a"] }), 0, "one keeps it, though another could");
  t.equal(trim({ kept: ["a"], copies: 1 }), 9, "unless that is wanted");
  t.equal(trim({ durableHere: 2 }), 2);
  t.equal(trim({ stored: 8 }), 4);
  t.equal(trim({ stored: 3 }), 3, "what is kept outside has it, too");
  t.equal(trim({ stored: 8, isFilling: true }), 8, "in need it counts like a second copy");
  t.equal(trim({ stored: 5, isFilling: true }), 7);
  t.equal(trim({ stored: 12, isFilling: true }), 9, "what the owner has on disk");
  t.equal(trim({ stored: 3, members: new Set(["a"]), kept: ["a"] }), 3, "there is no second copy");
  t.equal(trim({ stored: 0, members: new Set(["a"]), kept: ["a"], isFilling: true }), 0, "nothing is kept yet");
});

function lookOf(
  set: readonly string[] | null,
  durable: Record<string, number>,
  draining: readonly string[] = [],
): Look {
  const member = { incarnation: "i", counter: 1, isFenced: false, revision: 1 };
  const view: ClusterView = {
    ...{ owners: new Map(), wants: new Map(), draining: new Map(draining.map((node) => [node, "ordered"])) },
    members: new Map(["a", "b", "c"].map((name) => [name, member])),
    checkpoints: new Map(),
    copySets: new Map(set === null ? [] : [[0, { nodes: set, revision: 1 }]]),
    durable: new Map([[0, reports(durable)]]),
  };
  return { view, orderOf: () => ["a", "b", "c"], unseen: new Map() };
}

t.test("a node whose copy is up to date takes over first", async (t) => {
  const ranks = (look: Look): number[] => ["a", "b", "c"].map((node) => rankOf(node, 0, look));
  t.same(ranks(lookOf(null, {})), [0, 1, 2]);
  t.same(ranks(lookOf(null, { a: 5, b: 9000, c: 8500 })), [2, 0, 1]);
  t.same(ranks(lookOf(["b", "c"], { b: 10, c: 10 })), [12, 0, 1], "a has none, and tries last");
});

t.test("an owner that ends gives the partition to a node that has a copy", async (t) => {
  t.equal(successorOf("b", 0, lookOf(["b", "c"], { b: 9, c: 9 })), "a", "otherwise it waits for the first");
  t.equal(successorOf("b", 0, lookOf(["b", "c"], { b: 9, c: 9 }, ["b"])), "c");
});

t.test("a copy is deleted only when the node is out, and others have all of it", async (t) => {
  const service = new MemoryLogService();
  const told: string[] = [];
  const keeper = new CopyKeeper(
    { node: "c", service, copies: 2, log: (_level, message) => told.push(message) },
    new CellRoom({ service: service as LogService }),
  );
  const tried = async (durable: number): Promise<boolean> => {
    let mayGo = false;
    await keeper.drop(0, {
      drop: async (ask: (durable: number) => Promise<boolean>) => {
        mayGo = await ask(durable);
        return mayGo;
      },
    } as unknown as PartitionCopy);
    return mayGo;
  };
  const epoch = (await service.claim({ partition: 0, node: "a", tenure: "t", epoch: 0 }))!;
  const set = async (nodes: string[], revision: number): Promise<number> =>
    (await service.setCopies({ partition: 0, epoch, revision, nodes, forgotten: [] }))!;
  t.equal(await tried(5), false, "each node keeps one");
  const first = await set(["a", "b"], 0);
  await service.report("a", new Map([[0, 9]]));
  t.equal(await tried(5), false, "b has not reported");
  await service.report("b", new Map([[0, 4]]));
  t.equal(await tried(5), false, "b lacks a commit");
  const second = await set(["a", "b", "c"], first);
  await service.report("b", new Map([[0, 9]]));
  t.equal(await tried(5), false, "it has come in again since it was looked at");
  await set(["a", "b"], second);
  t.equal(await tried(5), true);
  t.same(told, ["other nodes keep the partition, so the copy is deleted"]);
  t.equal(keeper.isDropDue(0), false, "there is nothing any more");
});

t.test("a copy whose removal fails holds no file open", async (t) => {
  const directory = t.testdir();
  const service = new MemoryLogService();
  const copy = new PartitionCopy({ service, partition: 0, directory, log: {}, apply: async () => undefined });
  const log = await FileCommitLog.open({ directory: join(directory, "log") });
  log.append([{ sequence: 1, micros: 1, operations: [{ key: Buffer.of(1), value: Buffer.of(1) }] }]);
  await log.sync();
  await log.close();
  await copy.catchUp();
  const held = async (): Promise<number> => {
    const names = await readdir("/proc/self/fd");
    const files = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => "")));
    return files.filter((file) => file.startsWith(directory)).length;
  };
  t.not(await held(), 0);
  await t.rejects(
    copy.drop(() => Promise.reject(new Error("etcd does not answer"))),
    { message: /etcd/ },
  );
  t.equal(await held(), 0);
  await copy.catchUp();
  t.equal(copy.durable, 1, "it is there as before");
  await copy.close();
});
