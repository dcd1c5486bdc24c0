/** An encrypted shard: what lies on the disk, what is believed of it, and the end of a key. */
import {
  closeSync,
  cpSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { SpillArea } from "../../src/query/exec/spill/spill-area.js";
import { crc32 } from "../../src/storage/crc32.js";
import { destroyKeys } from "../../src/storage/destroy-keys.js";
import { checkShardDirectory } from "../../src/storage/format.js";
import { historyRecordKey } from "../../src/storage/history-keys.js";
import { jobKey, rowPrefix } from "../../src/storage/keys.js";
import { RocksEngine } from "../../src/storage/rocksdb-engine.js";
import type { Shard } from "../../src/storage/shard.js";
import { openShardOnDisk } from "../../src/storage/shard-on-disk.js";
import { directory } from "./shards.js";

const SECRET = new Uint8Array(32).fill(7);
const TEXT = "the combination is 4711";

const row = (tenant: number, name: string): Buffer => Buffer.concat([rowPrefix(tenant, 1), Buffer.from(name)]);

async function opened(t: Test, path: string, secret: Uint8Array | null = SECRET): Promise<Shard> {
  const shard = await openShardOnDisk(path, { secret, segmentBytes: 4000, recordCacheBytes: 1024 * 1024 });
  t.teardown(() => shard.close().catch(() => undefined));
  return shard;
}

function put(shard: Shard, ...entries: readonly (readonly [Buffer, string | null])[]): void {
  const tx = shard.begin();
  for (const [key, value] of entries) {
    if (value === null) tx.delete(key);
    else tx.put(key, Buffer.from(value));
  }
  tx.commit();
  shard.flush();
}

/** The values of a tenant's rows, by way of reads by key and of a scan, which must agree. */
function valuesOf(shard: Shard, tenant: number): string[] {
  const tx = shard.begin({ readOnly: true });
  const prefix = rowPrefix(tenant, 1);
  const cursor = tx.scan({ gte: prefix, lt: rowPrefix(tenant, 2) });
  const { keys, values } = cursor.next(10_000);
  cursor.close();
  const read = keys.map((key) => String(tx.get(key)));
  tx.rollback();
  t.same(values.map(String), read);
  return read;
}

function filesIn(path: string): string[] {
  const names = readdirSync(path, { recursive: true, encoding: "utf8" }).map((name) => join(path, name));
  return names.filter((name) => statSync(name).isFile());
}

const filesWith = (path: string, text: string): string[] =>
  filesIn(path).filter((name) => readFileSync(name).includes(text));

const segmentsIn = (path: string): string[] => filesIn(join(path, "log")).filter((name) => name.endsWith(".log"));

t.test("no value lies in the open, in the log or in the engine, and all come back", async (t) => {
  const path = directory(t);
  const shard = await opened(t, path);
  const many = Array.from({ length: 3000 }, (_, i) => [row(5, `many ${i}`), `${TEXT} ${i}`] as const);
  put(shard, [row(4, "a"), TEXT], [row(5, "b"), `${TEXT}!`], [jobKey(4, "train", "1"), TEXT], [row(4, "gone"), TEXT]);
  put(shard, [row(4, "gone"), null], [row(4, "empty"), ""]);
  put(shard, ...many);
  while (shard.hasBacklog) await shard.largeCommitDone();
  await shard.options.log.sync();
  t.same(filesWith(path, TEXT), [], "while it is open");
  const copy = directory(t);
  cpSync(path, copy, { recursive: true });
  await shard.close();
  t.same(filesWith(path, TEXT), [], "and closed");
  for (const place of [path, copy]) {
    const again = await opened(t, place);
    t.same(valuesOf(again, 4), [TEXT, ""], place === copy ? "as a killed process left it" : "");
    t.equal(valuesOf(again, 5).length, 3001);
    t.equal([...again.options.log.replay(1)].flatMap(({ operations }) => [...operations]).length, 3006);
    await again.close();
  }
});

t.test("without encryption it would lie there", async (t) => {
  const path = directory(t);
  const shard = await opened(t, path, null);
  put(shard, [row(4, "a"), TEXT]);
  await shard.close();
  t.not(filesWith(path, TEXT).length, 0, "so the search above finds what is there");
});

t.test("the wrong secret, none, and a directory that is not encrypted are refused", async (t) => {
  const path = directory(t);
  const shard = await opened(t, path);
  put(shard, [row(4, "a"), TEXT]);
  await shard.close();
  await t.rejects(opened(t, path, new Uint8Array(32)), {
    code: "partition_damaged",
    message: /data key .*damaged or of/,
  });
  await t.rejects(opened(t, path, null), { code: "internal_error", message: /is encrypted: set storage\.encryption/ });
  const name = readdirSync(join(path, "keys")).find((each) => each.startsWith("4-"))!;
  renameSync(join(path, "keys", name), join(path, "keys", "4-99.key"));
  await t.rejects(opened(t, path), { code: "partition_damaged" }, "a key under another's name");
  writeFileSync(join(path, "keys", "4-99.key"), "null\n");
  await t.rejects(opened(t, path), { code: "partition_damaged" }, "a file that says nothing");
  rmSync(join(path, "keys", "4-99.key"));
  const lacking = await opened(t, path);
  t.throws(() => valuesOf(lacking, 4), { code: "partition_damaged", message: /tenant 4 .*does not decrypt/ });
  await lacking.close();

  const plain = directory(t);
  const open = await opened(t, plain, null);
  put(open, [row(4, "a"), TEXT]);
  await open.close();
  await t.rejects(opened(t, plain), { code: "internal_error", message: /made without it.*back up/ });
  t.same(readdirSync(plain).includes("keys"), false, "and stays as it was");
  const again = await opened(t, plain, null);
  t.same(valuesOf(again, 4), [TEXT]);
});

/** Changes values in the engine of a closed shard, as somebody who can write to the disk might. */
async function tamper(path: string, change: (engine: RocksEngine) => void): Promise<void> {
  const engine = await RocksEngine.open({ directory: join(path, "rocksdb") });
  change(engine);
  await engine.close();
}

t.test("a value that was changed, cut, emptied or moved is an error", async (t) => {
  const path = directory(t);
  const shard = await opened(t, path);
  put(shard, [row(4, "a"), TEXT], [row(4, "b"), TEXT], [row(6, "a"), TEXT]);
  await shard.close();
  const stored = new Map<string, Buffer>();
  await tamper(path, (engine) => {
    for (const key of [row(4, "a"), row(4, "b"), row(6, "a")])
      stored.set(key.toString("hex"), Buffer.from(engine.get(key)!));
  });
  const of = (tenant: number, name: string): Buffer => stored.get(row(tenant, name).toString("hex"))!;
  const own = of(4, "a");
  const changed = Buffer.from(own);
  changed[changed.length - 1]! ^= 1;
  const cases: [string, Uint8Array][] = [
    ["changed", changed],
    ["cut", own.subarray(0, own.length - 1)],
    ["without a text", own.subarray(0, 20)],
    ["empty", Buffer.alloc(0)],
    ["of another row", of(4, "b")],
    ["of another tenant", of(6, "a")],
  ];
  for (const [what, value] of cases) {
    await tamper(path, (engine) => engine.write([{ key: row(4, "a"), value }]));
    const again = await opened(t, path);
    t.throws(() => valuesOf(again, 4), { code: "partition_damaged" }, what);
    t.same(valuesOf(again, 6), [TEXT], "others are not concerned");
    await again.close();
  }
});

t.test("the past of rows that were written often is read as it was", async (t) => {
  const shard = await opened(t, directory(t));
  put(shard, [historyRecordKey(4), "{}"]);
  const moments: number[] = [];
  for (let round = 0; round < 30; round++) {
    put(shard, ...["a", "b", "c"].map((name) => [row(4, name), `${name}${round}`] as const));
    moments.push(shard.committedSequence);
  }
  for (const reverse of [false, true]) {
    for (const [round, moment] of moments.entries()) {
      const cursor = shard.layers!.asOf(moment).cursor({ gte: rowPrefix(4, 1), lt: rowPrefix(4, 2), reverse });
      const names = reverse ? ["c", "b", "a"] : ["a", "b", "c"];
      t.same(
        cursor.next(10).values.map(String),
        names.map((name) => `${name}${round}`),
        `${round} ${reverse}`,
      );
      cursor.close();
    }
  }
});

t.test("a record of the log that was changed or moved is an error", async (t) => {
  const path = directory(t);
  const shard = await opened(t, path);
  put(shard, [row(4, "a"), "first one"]);
  put(shard, [row(4, "b"), "other one"]);
  await shard.close();
  const [segment] = segmentsIn(path) as [string];
  const bytes = readFileSync(segment);
  const salt = bytes.readUInt32LE(12);
  const second = 20 + 8 + bytes.readUInt32LE(24);
  const length = second - 20;
  t.equal(bytes.readUInt32LE(second + 4) + 8, length, "they are of one length");
  const fixed = (at: number): void => {
    bytes.writeUInt32LE(crc32(bytes.subarray(at + 4, at + length), salt), at);
  };
  const original = Buffer.from(bytes);
  // The checksum is no secret: it is made right again.
  bytes[second - 1]! ^= 1;
  fixed(20);
  const replayed = async (): Promise<unknown> => {
    writeFileSync(segment, bytes);
    rmSync(join(path, "rocksdb"), { recursive: true });
    return opened(t, path);
  };
  await t.rejects(replayed(), { code: "partition_damaged", message: /record of the commit log of tenant 4/ });
  original.copy(bytes);
  // What the second one has, under the name of the first.
  original.copy(bytes, 20 + 33, second + 33, second + length);
  fixed(20);
  await t.rejects(replayed(), { code: "partition_damaged" });
});

t.test("a tenant whose key is destroyed is gone from the disk, and from copies of it", async (t) => {
  const path = directory(t);
  const shard = await opened(t, path);
  put(shard, [row(4, "a"), TEXT], [row(6, "a"), TEXT]);
  await destroyKeys(shard, 4);
  t.same(valuesOf(shard, 4), [TEXT], "not while the tenant is there");
  await shard.options.log.sync();
  const copy = directory(t);
  cpSync(path, copy, { recursive: true });
  put(shard, [row(4, "a"), null]);
  await destroyKeys(shard, 4);
  t.equal(shard.options.keys!.known(4), null, "who only reads makes no key");
  put(shard, [row(4, "new"), "of the next one"]);
  t.same(valuesOf(shard, 4), ["of the next one"], "its number is of use again");
  await shard.close();
  const sealed = readdirSync(join(copy, "keys")).find((name) => name.startsWith("4-"))!;
  t.same(filesWith(path, JSON.parse(readFileSync(join(copy, "keys", sealed), "utf8")).sealed), []);

  // A copy of before, but for the key: all of its files, and the secret, are of no use.
  rmSync(join(copy, "keys"), { recursive: true });
  cpSync(join(path, "keys"), join(copy, "keys"), { recursive: true });
  for (const [place, there] of [
    [copy, []],
    [path, ["of the next one"]],
  ] as const) {
    const again = await opened(t, place);
    t.same(valuesOf(again, 4), there);
    t.same(valuesOf(again, 6), [TEXT]);
    const logged = [...again.options.log.replay(1)].flatMap(({ operations }) => [...operations]);
    t.equal(logged.filter(({ key }) => key[3] === 4).length, there.length, "the log tells nothing of it");
    await again.close();
  }
  // Replayed from the beginning, the rest is whole.
  rmSync(join(path, "rocksdb"), { recursive: true });
  const replayed = await opened(t, path);
  t.same([valuesOf(replayed, 4), valuesOf(replayed, 6)], [["of the next one"], [TEXT]]);
});

t.test("a crash between the end of a key and the wiping of its file leaves no key", async (t) => {
  const path = directory(t);
  const shard = await opened(t, path);
  put(shard, [row(4, "a"), TEXT]);
  await shard.close();
  const name = readdirSync(join(path, "keys")).find((each) => each.startsWith("4-"))!;
  writeFileSync(join(path, "keys", name.replace(".key", ".destroyed")), "");
  const again = await opened(t, path);
  t.same(valuesOf(again, 4), []);
  t.notOk(readdirSync(join(path, "keys")).includes(name));
  checkShardDirectory(path, null);
});

t.test("after a write that failed, no other bytes are written in its place by the same key stream", (t) => {
  const folder = directory(t);
  const file = new SpillArea(join(folder, "spill"), 1e6, undefined, true).open({ spilledBytes: 0 });
  file.write(Buffer.from(TEXT));
  closeSync(file.descriptor);
  t.throws(() => file.write(Buffer.from("first")), { code: "EBADF" });
  // The same number means a file that can be written again, as a disk with room again would.
  const descriptor = openSync(join(folder, "another"), "w+");
  t.equal(descriptor, file.descriptor);
  t.throws(() => file.write(Buffer.from("second")), { code: "EBADF" });
  t.equal(statSync(join(folder, "another")).size, 0);
  closeSync(descriptor);
  t.end();
});

t.test("a temporary file is encrypted, and read from anywhere in it", (t) => {
  const area = new SpillArea(join(directory(t), "spill"), 1e6, undefined, true);
  const file = area.open({ spilledBytes: 0 });
  const plain = Buffer.from(`${TEXT} `.repeat(50));
  for (let at = 0, length = 1; at < plain.length; at += length++) file.write(plain.subarray(at, at + length));
  const stored = Buffer.alloc(plain.length);
  t.equal(readSync(file.descriptor, stored, 0, stored.length, 0), plain.length);
  t.notOk(stored.includes(TEXT.slice(0, 8)));
  for (const [from, length] of [
    [0, plain.length],
    [1, 40],
    [16, 16],
    [333, 7],
  ] as const) {
    const into = Buffer.alloc(length);
    t.equal(file.read(into, from), length);
    t.same(into, plain.subarray(from, from + length));
  }
  file.close();
  t.end();
});
