/**
 * A partition's files go to another node while the partition is written to, and take the place of what that node had.
 */
import { randomBytes } from "node:crypto";
import fs, { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import type { Server } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { fetchCheckpoint } from "../../src/cluster/checkpoint-fetch.js";
import {
  type CheckpointAnswer,
  type CheckpointFile,
  type CheckpointRequest,
  isCheckpointRequest,
} from "../../src/cluster/checkpoint-messages.js";
import { CheckpointServer } from "../../src/cluster/checkpoint-server.js";
import { finishReplacement, prepareReplacement } from "../../src/cluster/copy-replacement.js";
import { MemoryLogService } from "../../src/cluster/memory-log-service.js";
import { PartitionCopy } from "../../src/cluster/partition-copy.js";
import { listenToPeers, PeerConnection, peerKey } from "../../src/cluster/peer-link.js";
import { FileCommitLog } from "../../src/storage/file-commit-log.js";
import { createShardDirectory, readShardFormat } from "../../src/storage/format.js";
import { partitionDirectory } from "../../src/storage/partition-directory.js";
import { appliedBy } from "../../src/storage/recovery.js";
import { RocksEngine } from "../../src/storage/rocksdb-engine.js";
import type { Shard } from "../../src/storage/shard.js";
import { openShardOnDisk } from "../../src/storage/shard-on-disk.js";
import { freePort } from "../free-port.js";

const PARTITION = 3;
const IDENTITY = { installation: "test", partition: PARTITION };
const KEY = peerKey(randomBytes(32));

const keyOf = (number: number): Buffer => Buffer.from(`\u0001key ${String(number).padStart(6, "0")}`);

/** A node that owns the partition. */
class Giver {
  readonly asked: CheckpointRequest[] = [];
  /** The connection breaks after so many reads. */
  readsUntilBreak = Number.POSITIVE_INFINITY;
  written = 0;

  private constructor(
    readonly folder: string,
    readonly address: string,
    readonly shard: Shard,
    readonly server: CheckpointServer,
  ) {}

  static async start(t: Test, openMax = 4): Promise<Giver> {
    // Before the folder's own, which would remove the files of an open shard.
    let end = async (): Promise<void> => undefined;
    t.teardown(() => end());
    const folder = t.testdir();
    const dataDirectory = join(folder, "giver");
    const directory = partitionDirectory(dataDirectory, PARTITION);
    createShardDirectory(directory, IDENTITY);
    // Small, so that there are tables besides RocksDB's own log.
    const shard = await openShardOnDisk(directory, { identity: IDENTITY, memtableBytes: 1024 * 1024 });
    const address = `127.0.0.1:${await freePort()}`;
    const server = new CheckpointServer({ dataDirectory, log: () => undefined, openMax, idleMs: 5000 });
    const giver = new Giver(folder, address, shard, server);
    const listening = await giver.listen();
    end = async () => {
      listening.close();
      await server.close();
      await shard.close();
    };
    return giver;
  }

  private listen(): Promise<Server> {
    return listenToPeers(this.address, KEY, (socket) => {
      const connection: PeerConnection = new PeerConnection(socket, {
        frames: () => undefined,
        closed: () => undefined,
        control: (partition, message) => {
          if (!isCheckpointRequest(message)) throw new Error(`not expected: ${message.kind}`);
          this.asked.push(message);
          if (message.kind === "checkpoint-read" && this.readsUntilBreak-- === 0) connection.close();
          this.server.heard(partition, message, (answer) => connection.control(partition, answer));
        },
      });
    });
  }

  async write(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const tx = this.shard.begin({ isolation: "read committed" });
      tx.put(keyOf(++this.written), randomBytes(500));
      tx.commit();
      if (i % 50 === 49) await this.shard.flush();
    }
    await this.shard.flush();
  }

  fetch(into: string, signal = new AbortController().signal): Promise<number> {
    return fetchCheckpoint({ partition: PARTITION, address: this.address, node: "b", key: KEY, into, signal });
  }
}

/** What an engine in that folder has: its sequence, and the numbers of its keys. */
async function contentOf(directory: string): Promise<{ applied: number; numbers: number[] }> {
  const engine = await RocksEngine.open({ directory });
  const cursor = engine.cursor({ gte: keyOf(0), lt: keyOf(999_999) });
  const numbers: number[] = [];
  for (let { keys } = cursor.next(1000); keys.length > 0; { keys } = cursor.next(1000)) {
    for (const key of keys) numbers.push(Number(Buffer.from(key).toString().slice(5)));
  }
  const applied = appliedBy(engine);
  await engine.close();
  return { applied, numbers };
}

t.test("the files are those of one moment, whatever is written meanwhile", async (t) => {
  const giver = await Giver.start(t);
  const { folder } = giver;
  await giver.write(2000);
  let isFetched = false;
  const writing = (async () => {
    for (; !isFetched; await sleep(1)) await giver.write(20);
  })();
  const into = join(folder, "copy");
  const bytes = await giver.fetch(into).finally(() => {
    isFetched = true;
  });
  await writing;
  t.ok(bytes > 2000 * 500, `${bytes} bytes`);
  const { applied, numbers } = await contentOf(into);
  t.ok(numbers.length >= 2000 && numbers.length <= giver.written, `${numbers.length} of ${giver.written}`);
  t.equal(applied, numbers.length, "one key a commit");
  t.ok(
    numbers.every((number, index) => number === index + 1),
    "none is missing before the last",
  );
});

t.test("a fetch goes on over a new connection", async (t) => {
  const giver = await Giver.start(t);
  const { folder } = giver;
  await giver.write(3000);
  giver.readsUntilBreak = 2;
  const into = join(folder, "copy");
  await giver.fetch(into);
  const opened = giver.asked.filter(({ kind }) => kind === "checkpoint-open");
  t.same(
    opened.map((request) => "resume" in request),
    [false, true],
  );
  t.equal((await contentOf(into)).numbers.length, 3000);
});

t.test("more checkpoints than a node may have open are refused, and an end makes room", async (t) => {
  const giver = await Giver.start(t, 1);
  const { folder } = giver;
  await giver.write(100);
  giver.readsUntilBreak = 0;
  const stop = new AbortController();
  const first = giver.fetch(join(folder, "first"), stop.signal);
  while (giver.asked.length < 2) await sleep(5);
  await t.rejects(giver.fetch(join(folder, "second")), {
    code: "partition_unavailable",
    message: /gives others as many checkpoints as it may/,
  });
  await first;
  await giver.fetch(join(folder, "third"));
  stop.abort(new Error("enough"));
  await t.rejects(giver.fetch(join(folder, "fourth"), stop.signal), /enough/);
});

t.test("a checkpoint is of its partition alone", async (t) => {
  const giver = await Giver.start(t);
  await giver.write(10);
  const ask = (partition: number, request: CheckpointRequest): Promise<CheckpointAnswer> =>
    new Promise((resolve) => giver.server.heard(partition, request, resolve));
  const made = (await ask(PARTITION, { kind: "checkpoint-open" })) as Extract<CheckpointAnswer, { kind: "checkpoint" }>;
  const [{ name: file }] = made.files as [CheckpointFile];
  const read = { kind: "checkpoint-read", id: made.id, file, at: 0, bytes: 1 } as const;
  t.equal((await ask(PARTITION, read)).kind, "checkpoint-bytes");
  t.equal((await ask(PARTITION, { kind: "checkpoint-open", resume: made.id })).kind, "checkpoint");
  t.equal((await ask(PARTITION + 1, { kind: "checkpoint-open", resume: made.id })).kind, "checkpoint-refused");
  t.equal((await ask(PARTITION + 1, read)).kind, "checkpoint-refused");
});

/** A copy of that partition on another node, whose engine takes what its log has. */
function copyIn(directory: string): PartitionCopy {
  return new PartitionCopy({
    ...{ service: new MemoryLogService(), partition: PARTITION, directory, log: {} },
    apply: async (place) => (await openShardOnDisk(place, { identity: IDENTITY })).close(),
  });
}

t.test("another node's state takes the place of an older one, and never of a newer one", async (t) => {
  const giver = await Giver.start(t);
  const { folder } = giver;
  await giver.write(300);
  const directory = partitionDirectory(join(folder, "taker"), PARTITION);
  createShardDirectory(directory, IDENTITY);
  mkdirSync(join(directory, "columns"));
  writeFileSync(join(directory, "columns", "1.columns"), "of the old rows");
  const copy = copyIn(directory);
  // The thread is an actor's, which others wait for.
  const syncsInTurn = t.capture(fs, "fsyncSync", fs.fsyncSync);
  await copy.replace((into) => giver.fetch(into).then(() => undefined));
  t.same(
    syncsInTurn().map(({ at }) => String(at)),
    [],
  );
  t.equal(copy.durable, 300);
  await copy.close();
  t.same(readdirSync(directory).sort(), ["FORMAT", "log", "rocksdb"]);
  const shard = await openShardOnDisk(directory, { identity: IDENTITY });
  t.equal(shard.begin({ isolation: "read committed" }).get(keyOf(300))?.length, 500);
  await shard.close();

  const log = await FileCommitLog.open({ directory: join(directory, "log") });
  log.append([{ sequence: 301, micros: 1, operations: [{ key: keyOf(301), value: Buffer.of(1) }] }]);
  await log.close();
  const newer = copyIn(directory);
  await t.rejects(
    newer.replace((into) => giver.fetch(into).then(() => undefined)),
    /older than this one: it ends at commit 300, and this node has 301/,
  );
  t.equal(newer.durable, 301);
  await newer.close();
});

t.test("a crash during the replacement is made good with the new state", async (t) => {
  const crashes: Record<string, (directory: string, aside: string) => void> = {
    "before anything was moved": () => undefined,
    "when the old engine is away": (directory) => rmSync(join(directory, "rocksdb"), { recursive: true }),
    "when all of the old is away": (directory) => {
      for (const part of ["rocksdb", "log"]) rmSync(join(directory, part), { recursive: true });
    },
  };
  const folder = t.testdir();
  for (const [when, crash] of Object.entries(crashes)) {
    const directory = partitionDirectory(join(folder, when), PARTITION);
    createShardDirectory(directory, IDENTITY);
    await writeKeys(directory, 5);
    const aside = await prepareReplacement(directory);
    await writeKeys(aside.directory, 9);
    await aside.complete();
    crash(directory, aside.directory);
    const copy = copyIn(directory);
    await copy.catchUp();
    t.equal(copy.durable, 9, when);
    await copy.close();
    t.notOk(existsSync(aside.directory), `${when}: nothing is left aside`);
    t.equal(readShardFormat(directory)!.unopened, undefined);
    t.equal((await contentOf(join(directory, "rocksdb"))).numbers.length, 9, when);
  }
  const directory = partitionDirectory(join(folder, "taker"), PARTITION);
  createShardDirectory(directory, IDENTITY);
  await writeKeys(directory, 5);
  const aside = await prepareReplacement(directory);
  await writeKeys(aside.directory, 9);
  await finishReplacement(directory);
  t.equal(
    (await contentOf(join(directory, "rocksdb"))).numbers.length,
    5,
    "what is not complete takes nothing's place",
  );
});

async function writeKeys(directory: string, count: number): Promise<void> {
  const shard = await openShardOnDisk(directory, { identity: IDENTITY });
  for (let number = 1; number <= count; number++) {
    const tx = shard.begin({ isolation: "read committed" });
    tx.put(keyOf(number), Buffer.of(number));
    tx.commit();
  }
  await shard.flush();
  await shard.close();
}
