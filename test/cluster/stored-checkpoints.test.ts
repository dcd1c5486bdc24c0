/**
 * Partitions outside of all nodes: what an owner keeps in a folder or in a bucket of S3, what a node makes of it, and
 * that nothing is made of what is damaged.
 */
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { dirname, join } from "node:path";
import t, { type Test } from "tap";
import { CheckpointKeeper } from "../../src/cluster/checkpoint-keeper.js";
import type { ClusterView } from "../../src/cluster/cluster-map.js";
import { FolderStore } from "../../src/cluster/folder-store.js";
import type { StoredCheckpoint } from "../../src/cluster/log-service.js";
import { MemoryLogService } from "../../src/cluster/memory-log-service.js";
import type { ObjectStore } from "../../src/cluster/object-store.js";
import { openObjectStore } from "../../src/cluster/open-store.js";
import { PartitionCopy } from "../../src/cluster/partition-copy.js";
import { S3Store } from "../../src/cluster/s3-store.js";
import { checkpointKey, readCheckpoint } from "../../src/cluster/stored-checkpoint.js";
import { DbError } from "../../src/protocol/errors.js";
import { BackupWriter, BLOCK } from "../../src/storage/backup-file.js";
import { createShardDirectory } from "../../src/storage/format.js";
import { partitionDirectory } from "../../src/storage/partition-directory.js";
import type { Shard } from "../../src/storage/shard.js";
import { openShardOnDisk } from "../../src/storage/shard-on-disk.js";
import { FaultyLogService } from "./faulty-log-service.js";
import { S3Server } from "./s3-server.js";
import { World } from "./tenures-world.js";

const PARTITION = 3;
const IDENTITY = { installation: "test", partition: PARTITION };
const KEY = checkpointKey(randomBytes(32));

const keyOf = (number: number): Buffer => Buffer.from(`\u0001key ${String(number).padStart(6, "0")}`);

/** A node that owns the partition, and the store. */
const PLACE = createHash("sha256").update("here").digest("hex").slice(0, 12);
const CLUSTER = "c1";

class Owner {
  readonly told: string[] = [];
  epoch = 0;
  /** The keeper does not hear of what is kept. */
  isBehind = false;
  private written = 0;
  readonly keeper: CheckpointKeeper;

  private constructor(
    readonly folder: string,
    readonly service: MemoryLogService,
    readonly store: ObjectStore,
    readonly shard: Shard,
    /** Of another process of the node. */
    readonly newKeeper: () => CheckpointKeeper,
  ) {
    this.keeper = newKeeper();
  }

  static async start(
    t: Test,
    store: (folder: string) => ObjectStore,
    service = new MemoryLogService(),
    { cluster = CLUSTER, everyMs = 0, since = 0, shared = null as string | null } = {},
  ): Promise<Owner> {
    let end = async (): Promise<void> => undefined;
    t.teardown(() => end());
    const folder = t.testdir({ store: {} });
    const dataDirectory = join(folder, "owner");
    const directory = partitionDirectory(dataDirectory, PARTITION);
    createShardDirectory(directory, IDENTITY);
    const shard = await openShardOnDisk(directory, { identity: IDENTITY, memtableBytes: 1024 * 1024 });
    end = () => shard.close();
    const kept = store(shared ?? join(folder, "store"));
    const newKeeper = (): CheckpointKeeper =>
      new CheckpointKeeper({
        ...{
          node: "a",
          dataDirectory,
          installation: "test",
          ...{ cluster, everyMs, since },
          service,
          store: kept,
          key: KEY,
          place: "here",
          partBytes: 500_000,
        },
        signal: new AbortController().signal,
        log: (_level, message, fields) => owner.told.push(`${message} ${JSON.stringify(fields)}`),
        view: () => owner.view(),
      });
    const owner: Owner = new Owner(folder, service, kept, shard, newKeeper);
    owner.epoch = (await service.claim({ partition: PARTITION, node: "a", tenure: "t", epoch: 0 }))!;
    return owner;
  }

  private async view(): Promise<ClusterView> {
    const kept = await this.checkpoint();
    return {
      ...{ members: new Map(), wants: new Map(), draining: new Map(), copySets: new Map() },
      owners: new Map([[PARTITION, { node: "a", tenure: "t", epoch: this.epoch }]]),
      durable: new Map([[PARTITION, new Map([["a", this.shard.appliedSequence]])]]),
      checkpoints: new Map(kept === null || this.isBehind ? [] : [[PARTITION, kept]]),
    };
  }

  checkpoint(): Promise<StoredCheckpoint | null> {
    return this.service.checkpoint(PARTITION);
  }

  /** Values that deflate cannot shorten. */
  async write(keys: number, bytes = 1000): Promise<void> {
    for (let i = 0; i < keys; i++) {
      const tx = this.shard.begin({ isolation: "read committed" });
      tx.put(keyOf(++this.written), randomBytes(bytes));
      tx.commit();
    }
    await this.shard.flush();
  }

  /** What another node makes of it; how many keys it has then, and its newest commit. */
  async restore(name: string, kept: StoredCheckpoint): Promise<{ readonly keys: number; readonly durable: number }> {
    const directory = partitionDirectory(join(this.folder, name), PARTITION);
    createShardDirectory(directory, IDENTITY);
    const copy = new PartitionCopy({
      ...{ service: this.service, partition: PARTITION, directory, log: {} },
      apply: async (place) => (await openShardOnDisk(place, { identity: IDENTITY })).close(),
    });
    const { store } = this;
    const { signal } = new AbortController();
    const read = { ...IDENTITY, ...kept, store, key: KEY, signal };
    try {
      await copy.replace(async (into) => void (await readCheckpoint({ ...read, into })), kept.sequence);
    } finally {
      await copy.close();
    }
    const shard = await openShardOnDisk(directory, { identity: IDENTITY });
    let keys = 0;
    for (let number = 1; number <= this.written; number++) {
      const [there, here] = [shard, this.shard].map((one) =>
        one.begin({ isolation: "read committed" }).get(keyOf(number)),
      );
      if (there !== undefined && Buffer.from(there).equals(Buffer.from(here!))) keys++;
    }
    const durable = shard.appliedSequence;
    await shard.close();
    return { keys, durable };
  }

  names(): Promise<readonly string[]> {
    return this.store.list("test/3/");
  }
}

const inFolder = (folder: string): ObjectStore => new FolderStore(folder);

async function keepsAndRestores(t: Test, owner: Owner): Promise<void> {
  await owner.write(40);
  await owner.keeper.round();
  const first = (await owner.checkpoint())!;
  t.equal(first.sequence, owner.shard.appliedSequence);
  t.match(owner.told.join(), /a checkpoint of the partition is kept/);
  t.same(await owner.restore("one", first), { keys: 40, durable: first.sequence });
  await owner.keeper.round();
  t.same(await owner.checkpoint(), first, "nothing has changed since");
  await owner.write(100, 20_000);
  await owner.keeper.round();
  const second = (await owner.checkpoint())!;
  const names = await owner.names();
  t.ok(names.length >= 3, `of several parts: ${names}`);
  t.ok(
    names.every((name) => name.includes(second.id)),
    "what was replaced is gone",
  );
  t.same(await owner.restore("two", second), { keys: 140, durable: second.sequence });
  await t.rejects(owner.restore("three", first), { code: "not_found" });
}

t.test("a checkpoint in a folder becomes another node's copy", async (t) => {
  const owner = await Owner.start(t, inFolder);
  await keepsAndRestores(t, owner);
  const left = readdirSync(join(owner.folder, "store/test/3", CLUSTER, PLACE, "a"));
  t.equal(left.length, 1, "no empty folders are left");
  t.same(readdirSync(join(owner.folder, "owner")), ["partition-3"], "nor files of the node's own");
  rmSync(join(owner.folder, "store"), { recursive: true });
  await owner.write(1);
  await owner.keeper.round();
  t.match(owner.told.at(-1), /no checkpoint of the partition could be kept.*ENOENT/, "a folder that is not mounted");
});

t.test("a checkpoint in a bucket of S3 becomes another node's copy", async (t) => {
  const server = await S3Server.start();
  t.teardown(() => server.close());
  const { access } = server;
  const owner = await Owner.start(t, () => openObjectStore({ place: "s3://backups/of/tessera/", s3: access }));
  server.failures.push(503, 500);
  await keepsAndRestores(t, owner);
  t.ok(
    [...server.objects.keys()].every((name) => name.startsWith(`of/tessera/test/3/${CLUSTER}/${PLACE}/a/`)),
    "below the prefix",
  );
  const file = { path: join(owner.folder, "x"), bytes: 1, digest: "0".repeat(64) };
  writeFileSync(file.path, "x");
  await t.rejects(owner.store.put("x", file), /XAmzContentSHA256Mismatch/, "bytes that were changed on their way");
  const others = new S3Store("s3://others", access);
  await t.rejects(others.list("x/"), /404 NoSuchBucket/);
  const stranger = new S3Store("s3://backups", { ...access, secretAccessKey: "guessed" });
  await t.rejects(stranger.list("x/"), { code: "partition_unavailable", message: /403 SignatureDoesNotMatch/ });
  const before = server.requests;
  server.failures.push(503, 503, 503, 503);
  await t.rejects(owner.store.list("x/"), /503 SlowDown/);
  t.equal(server.requests - before, 4, "it gives up");
  server.isSilent = true;
  await t.rejects(new S3Store("s3://backups", access, 100).list("x/"), { code: "partition_unavailable" });
  t.equal(server.requests - before, 5, "one that is silent is not asked again");
});

t.test("what is damaged is not used", async (t) => {
  const owner = await Owner.start(t, inFolder);
  await owner.write(40);
  await owner.keeper.round();
  const kept = (await owner.checkpoint())!;
  const path = (object: string): string => join(owner.folder, "store/test/3", kept.id, object);
  const whole = new Map((await owner.names()).map((name) => [name, readFileSync(join(owner.folder, "store", name))]));
  const mend = (): void => {
    for (const [name, bytes] of whole) writeFileSync(join(owner.folder, "store", name), bytes);
  };
  const damages: Record<string, () => void> = {
    "a bit of a part": () => change(path("0"), (bytes) => bytes.fill(bytes[500]! ^ 1, 500, 501)),
    "the end of a part": () => change(path("0"), (bytes) => bytes.subarray(0, -10)),
    "a part that is another object": () => change(path("0"), () => readFileSync(path("manifest"))),
    "a bit of the manifest": () => change(path("manifest"), (bytes) => bytes.fill(bytes[60]! ^ 1, 60, 61)),
    "no bytes": () => change(path("manifest"), () => Buffer.alloc(0)),
  };
  for (const [what, damage] of Object.entries(damages)) {
    damage();
    await t.rejects(owner.restore(what, kept), { code: "backup_damaged", message: /is not used/ }, what);
    t.notOk(readdirSync(join(owner.folder, what)).includes("partition-3.new"), `${what}: nothing is left of it`);
    mend();
  }
  // Whoever can write there and has no key.
  for (const object of ["manifest", "0"]) {
    const seal = { backup: readFileSync(path(object)).subarray(12, 28), key: null };
    const forged = await BackupWriter.open(join(owner.folder, "forged"), seal);
    await forged.block(BLOCK.records, Buffer.from("{}"));
    await forged.end({});
    change(path(object), () => readFileSync(join(owner.folder, "forged")));
    rmSync(join(owner.folder, "forged"));
    const refusal = { code: "backup_damaged", message: /it is not encrypted/ };
    await t.rejects(owner.restore(`forged ${object}`, kept), refusal);
    mend();
  }
  rmSync(path("0"));
  await t.rejects(owner.restore("a part is missing", kept), { code: "not_found" });
  mend();
  const wrong = { ...kept, sequence: kept.sequence + 1 };
  await t.rejects(owner.restore("another commit", wrong), { code: "backup_damaged", message: /ends at commit 40/ });
  const other = { ...kept, id: `${CLUSTER}/${PLACE}/a/other` };
  mkdirSync(join(owner.folder, "store/test/3", other.id));
  for (const name of ["0", "manifest"])
    writeFileSync(join(owner.folder, "store/test/3", other.id, name), readFileSync(path(name)));
  await t.rejects(owner.restore("another checkpoint", other), { code: "backup_damaged" });
  t.same(await owner.restore("all is well", kept), { keys: 40, durable: 40 });
});

const change = (path: string, by: (bytes: Buffer) => Uint8Array): void => writeFileSync(path, by(readFileSync(path)));

t.test("a checkpoint counts when etcd has it", async (t) => {
  class Service extends FaultyLogService {
    /** Of the next record: it is done, or not, and nobody is told. */
    unanswered: "done" | "not done" | null = null;

    override async setCheckpoint(change: Parameters<MemoryLogService["setCheckpoint"]>[0]) {
      const { unanswered } = this;
      this.unanswered = null;
      const revision = unanswered === "not done" ? null : await super.setCheckpoint(change);
      if (unanswered !== null) throw new DbError("log_unavailable", "No answer.");
      return revision;
    }
  }
  const service = new Service();
  const owner = await Owner.start(t, inFolder, service);
  const ids = async (): Promise<number> => new Set((await owner.names()).map((name) => name.split("/")[5])).size;
  const again = async (): Promise<void> => {
    await owner.write(1);
    // Without the pause after a failure.
    (owner.keeper as unknown as { failedMs: Map<number, number> }).failedMs.clear();
    await owner.keeper.round();
  };
  service.unanswered = "not done";
  await again();
  t.same([await owner.checkpoint(), await ids()], [null, 1], "it may be recorded yet, so it stays");
  service.unanswered = "done";
  await again();
  t.same([(await owner.checkpoint())!.sequence, await ids()], [2, 2]);
  t.same((await owner.restore("of unknown outcome", (await owner.checkpoint())!)).keys, 2);
  await again();
  t.same([(await owner.checkpoint())!.sequence, await ids()], [3, 1], "then only the newest is left");
  const { epoch } = owner;
  const next = await service.claim({ partition: PARTITION, node: "b", tenure: "t", epoch });
  await again();
  t.same([(await owner.checkpoint())!.sequence, await ids()], [3, 1], "an owner that was deposed records nothing");
  t.match(owner.told.at(-1), /Another node owns the partition by now/);
  owner.epoch = next!;
  owner.isBehind = true;
  const { revision } = (await owner.checkpoint())!;
  await service.setCheckpoint({ partition: PARTITION, epoch: next!, revision, id: "b/other", sequence: 99, madeMs: 0 });
  await again();
  t.match(owner.told.at(-1), /it ends at commit 5, and 99 is kept/, "older ones replace nothing");
});

t.test("what an earlier process of the node owned is left alone, and a new claim waits for nothing", async (t) => {
  const service = new MemoryLogService();
  const names = { partition: PARTITION, node: "a", tenure: "t" };
  const other = { ...names, partition: PARTITION + 1, epoch: 0 };
  // So the epoch of the node's claim, which is the next one, is known.
  const since = (await service.claim(other))! + 1;
  const owner = await Owner.start(t, inFolder, service, { since });
  t.equal(owner.epoch, since);
  await owner.write(3);
  await owner.keeper.round();
  t.same([owner.told, await owner.names()], [[], []]);
  const first = (await service.claim({ ...names, epoch: since }))!;
  const second = (await service.claim({ ...names, epoch: first }))!;
  // The view is behind.
  owner.epoch = first;
  await owner.keeper.round();
  t.match(owner.told.join(), /Another node owns the partition by now, or this one has claimed it anew/);
  t.same(await owner.names(), [], "nothing was sent");
  owner.epoch = second;
  await owner.keeper.round();
  t.equal((await owner.checkpoint())?.sequence, 3);
});

t.test("two clusters of one name and one place leave each other's checkpoints alone", async (t) => {
  const one = await Owner.start(t, inFolder);
  const shared = join(one.folder, "store");
  await t.test("the other", async (t) => {
    const two = await Owner.start(t, inFolder, undefined, { cluster: "c2", shared });
    for (const owner of [one, two, one, two]) {
      await owner.write(3);
      await owner.keeper.round();
    }
    t.same(await one.restore("of one", (await one.checkpoint())!), { keys: 6, durable: 6 });
    t.same(await two.restore("of two", (await two.checkpoint())!), { keys: 6, durable: 6 });
  });
});

t.test("what was kept before clusters had ids is used, and replaced at once", async (t) => {
  const before = await Owner.start(t, inFolder, undefined, { everyMs: 3_600_000 });
  await before.write(3);
  // As an earlier release named it.
  Object.assign(before.keeper, { place: PLACE });
  await before.keeper.round();
  const first = (await before.checkpoint())!;
  t.ok(first.id.startsWith(`${PLACE}/a/`));
  t.same((await before.restore("of then", first)).keys, 3);
  Object.assign(before.keeper, { place: `${CLUSTER}/${PLACE}` });
  await before.keeper.round();
  t.ok((await before.checkpoint())!.id.startsWith(`${CLUSTER}/`));
  t.ok(
    (await before.names()).every((name) => name.startsWith(`test/3/${CLUSTER}/`)),
    "and deleted",
  );
});

t.test("how old a checkpoint is does not begin anew with each process", async (t) => {
  const everyMs = 3_600_000;
  const owner = await Owner.start(t, inFolder, undefined, { everyMs });
  await owner.write(1);
  await owner.keeper.round();
  const [first, began] = [(await owner.checkpoint())!, Date.now()];
  t.ok(Math.abs(first.madeMs - began) < 60_000);
  const restarted = async (nowMs: number): Promise<number> => {
    const { now } = Date;
    Date.now = () => nowMs;
    try {
      await owner.write(1);
      await owner.newKeeper().round();
    } finally {
      Date.now = now;
    }
    return (await owner.checkpoint())!.sequence;
  };
  t.equal(await restarted(began + everyMs - 60_000), 1, "not yet");
  t.equal(await restarted(began - 10 * everyMs), 1, "a clock that was set back");
  t.equal(await restarted(began + everyMs), 4, "it is due");
});

t.test("a node that joins takes over from an owner that is gone, with the checkpoint and the log", async (t) => {
  for (const when of ["while the owner may be alive", "when it counts as dead", "the store fails once", "damaged"]) {
    const isDamaged = when === "damaged";
    let isLate = when !== "while the owner may be alive" && !isDamaged;
    let failures = when === "the store fails once" ? 1 : 0;
    const world = new World(t.testdir(), { isStored: true });
    const a = await world.node(t, "a");
    await world.until("a owns both", () => a.owned.size === 2);
    for (let sequence = 1; sequence <= 10; sequence++) await a.write(0, sequence);
    const { epoch } = (await world.service.owner(0))!;
    const stored = join(world.folder, "stored");
    await cp(join(a.directory(0), "log"), stored, { recursive: true });
    await world.service.setCheckpoint({ partition: 0, epoch, revision: 0, id: "a/1", sequence: 10, madeMs: 0 });
    for (let sequence = 11; sequence <= 15; sequence++) await a.write(0, sequence);
    const first = async (): Promise<number> =>
      (await world.service.tail(0, { sequence: 0, part: 0 }, 1))[0]!.position.sequence;
    await world.untilAsync("the log is trimmed of what is kept", async () => (await first()) === 11);
    await world.moments(5);
    t.equal(await first(), 11, "and not of what only one node has");
    a.isAlive = false;
    await a.tenures.stop();
    rmSync(join(world.folder, "a"), { recursive: true });
    const b = await world.node(t, "b");
    let tries = 0;
    world.restored = async (_to, partition, folder) => {
      if (isLate) throw new DbError("partition_unavailable", "The store is not there.");
      if (failures-- > 0) throw new DbError("partition_unavailable", "The store does not answer.");
      tries++;
      if (isDamaged) throw new DbError("backup_damaged", "It is damaged.");
      t.equal(partition, 0);
      await cp(stored, join(dirname(folder), "log"), { recursive: true });
      return 1;
    };
    await world.moments(10);
    isLate = false;
    world.monotonicMs += 5000;
    if (isDamaged) {
      await world.until("it is tried", () => tries > 0);
      await world.moments(20);
      t.notOk(b.owned.has(0), "a damaged checkpoint makes no owner");
      t.ok(tries <= 2, `and is not asked for again and again, but ${tries} times`);
    } else {
      if (failures > 0) {
        await world.until("the store was asked", () => failures <= 0);
        await world.moments(5);
        // Not thirty seconds: nobody serves the partition meanwhile.
        world.monotonicMs += 2000;
      }
      await world.until(`b owns it (${when})`, () => b.owned.has(0));
      t.equal(b.owned.get(0)!.lastSequence, 15, "with all commits");
      t.equal(tries, 1);
    }
  }
});

t.test("a folder gives what begins so", async (t) => {
  const folder = t.testdir({ x: { a: { one: "1", two: "2" } }, y: "" });
  const store = new FolderStore(folder);
  t.same(await store.list("x/"), ["x/a/one", "x/a/two"]);
  t.same(await store.list("z/"), []);
  await store.delete("x/a/none");
  await store.delete("x/a/one");
  t.same(await store.list("x/"), ["x/a/two"]);
});
