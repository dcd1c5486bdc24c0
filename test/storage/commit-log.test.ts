/** The commit log in files: what comes back after every kind of ending, and what it refuses to pass over. */

import { setImmediate as nextTurn } from "node:timers/promises";
import t from "tap";
import type { Commit } from "../../src/storage/commit-log.js";
import { FileCommitLog, type FileCommitLogOptions } from "../../src/storage/file-commit-log.js";
import type { RecordHead } from "../../src/storage/log-record.js";
import { forEachRecord, listSegments } from "../../src/storage/log-segment.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import type { SegmentReader } from "../../src/storage/segment-reader.js";
import { key } from "./shards.js";
import { type File, SimulatedDisk } from "./simulated-disk.js";

const DIRECTORY = "/shard/log";

const openLog = (disk: SimulatedDisk, options: Partial<FileCommitLogOptions> = {}) =>
  FileCommitLog.open({ directory: DIRECTORY, disk, ...options });

const commitOf = (sequence: number, length = 10): Commit => ({
  sequence,
  micros: 1_700_000_000_000_000 + sequence,
  operations: [
    { key: key(`k${sequence}`), value: Buffer.alloc(length, sequence) },
    { key: key("gone"), value: null },
  ],
});

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const sequences = (log: FileCommitLog | MemoryCommitLog, from = 1) =>
  [...log.replay(from)].map((each) => each.sequence);

async function withCommits(disk: SimulatedDisk, count: number, options: Partial<FileCommitLogOptions> = {}) {
  const log = await openLog(disk, options);
  for (const sequence of range(1, count)) {
    log.append([commitOf(sequence)]);
    await log.sync();
  }
  return log;
}

t.test("entries come back as they were appended, from any sequence on", async (t) => {
  const disk = new SimulatedDisk();
  const log = await openLog(disk);
  t.same([log.firstSequence, log.lastSequence], [1, 0]);
  log.append([commitOf(1), commitOf(2, 100_000)]);
  log.append([commitOf(3)]);
  for (const each of [log, await openLog(disk)]) {
    t.same([each.firstSequence, each.lastSequence], [1, 3]);
    t.same(sequences(each, 2), [2, 3]);
    const [first] = each.replay(1);
    t.match(first, { ...commitOf(1), gap: false });
    t.equal([...first!.operations][1]!.value, null);
  }
  await log.close();
  t.throws(() => log.append([commitOf(4)]), { message: /closed/ });
});

t.test("sync makes durable what was appended before it, and calls during a sync share the next one", async (t) => {
  const disk = new SimulatedDisk();
  const log = await withCommits(disk, 1);
  const before = disk.syncs;
  disk.isSlow = true;
  log.append([commitOf(2)]);
  const first = log.sync();
  log.append([commitOf(3)]);
  const waiting = [log.sync(), log.sync(), log.sync()];
  disk.release();
  await first;
  const survivors = await openLog(disk.afterPowerCut(() => false));
  t.same(sequences(survivors), [1, 2]);
  disk.isSlow = false;
  disk.release();
  await Promise.all(waiting);
  t.equal(disk.syncs, before + 2);
  t.same(sequences(await openLog(disk.afterPowerCut(() => false))), [1, 2, 3]);
});

t.test("a sync that starts right when another ends does not make a waiting one resolve early", async (t) => {
  const disk = new SimulatedDisk();
  const log = await withCommits(disk, 1);
  disk.isSlow = true;
  log.append([commitOf(2)]);
  const between = log.sync().then(() => {
    log.append([commitOf(4)]);
    return { sync: log.sync() };
  });
  log.append([commitOf(3)]);
  let isDurable = false;
  const waiting = log.sync().then(() => {
    isDurable = true;
  });
  disk.release();
  const { sync } = await between;
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(isDurable, false, "the disk has not answered yet");
  disk.isSlow = false;
  disk.release();
  await Promise.all([waiting, sync]);
  t.same(sequences(await openLog(disk.afterPowerCut(() => false))), [1, 2, 3, 4]);
});

t.test("a torn tail is cut off wherever it was torn, and the log goes on from there", async (t) => {
  const disk = new SimulatedDisk();
  const log = await withCommits(disk, 2);
  const [[path, file]] = [...disk.files] as [[string, File], ...unknown[]];
  const whole = file.bytes.length;
  log.append([commitOf(3)]);
  for (let length = whole; length < file.bytes.length; length++) {
    const torn = new SimulatedDisk();
    torn.put(path, file.bytes.subarray(0, length));
    const reopened = await openLog(torn);
    t.equal(reopened.lastSequence, 2, `cut at ${length}`);
    reopened.append([commitOf(3, 5)]);
    await reopened.close();
    t.same(sequences(await openLog(torn)), [1, 2, 3]);
  }
});

t.test("a lost page in what was never synced ends the log there, even if later pages arrived", async (t) => {
  const disk = new SimulatedDisk();
  const log = await withCommits(disk, 2);
  log.append(range(3, 9).map((sequence) => commitOf(sequence, 300)));
  const [[path, file]] = [...disk.files] as [[string, File], ...unknown[]];
  const bytes = Buffer.from(file.bytes);
  bytes.fill(0, bytes.length - 1200, bytes.length - 900);
  const torn = new SimulatedDisk();
  torn.put(path, bytes);
  const reopened = await openLog(torn);
  t.ok(reopened.lastSequence >= 2 && reopened.lastSequence < 9);
  t.same(sequences(reopened), range(1, reopened.lastSequence));
});

t.test("damage to what had been synced is refused, naming segment and offset", async (t) => {
  const disk = new SimulatedDisk();
  const log = await withCommits(disk, 20, { segmentBytes: 400 });
  await log.close();
  t.ok(disk.files.size > 2);
  let refused = 0;
  for (const [path, { bytes }] of disk.files) {
    for (let offset = 0; offset < bytes.length; offset += 7) {
      const damaged = new SimulatedDisk();
      for (const [each, file] of disk.files) damaged.put(each, file.bytes);
      const content = Buffer.from(bytes);
      content[offset]! ^= 0x10;
      damaged.put(path, content);
      try {
        const reopened = await openLog(damaged);
        t.equal(reopened.lastSequence, 20, "only the closing mark may be lost");
        sequences(reopened);
        t.ok(path === [...disk.files.keys()].sort().at(-1), "damage in an older segment is seen when it is read");
      } catch (error) {
        refused++;
        t.match((error as Error).message, new RegExp(`damaged: segment ${path}, offset \\d+`));
      }
    }
  }
  t.ok(refused > 50);
});

t.test("a stored value that looks like a record is not taken for one", async (t) => {
  const disk = new SimulatedDisk();
  const donor = new SimulatedDisk();
  await withCommits(donor, 9);
  const [forged] = [...donor.files.values()];
  const log = await withCommits(disk, 2);
  log.append([{ ...commitOf(3), operations: [{ key: key("k"), value: forged!.bytes }] }]);
  const [[path, file]] = [...disk.files] as [[string, File], ...unknown[]];
  const torn = new SimulatedDisk();
  torn.put(path, file.bytes.subarray(0, file.bytes.length - 1));
  t.equal((await openLog(torn)).lastSequence, 2);
});

t.test("segments rotate, and a power cut at any point leaves a beginning of the log", async (t) => {
  let seed = 1;
  const random = () => {
    seed = (seed * 48271) % 2147483647;
    return seed / 2147483647;
  };
  for (let run = 0; run < 300; run++) {
    let disk = new SimulatedDisk();
    let durable = 0;
    let last = 0;
    for (let life = 0; life < 3; life++) {
      const log = await openLog(disk, { segmentBytes: 700 });
      t.ok(log.lastSequence >= durable && log.lastSequence <= last, "nothing durable is lost");
      t.same(sequences(log), range(1, log.lastSequence));
      last = durable = log.lastSequence;
      for (let turn = 0; turn < 8; turn++) {
        const count = 1 + Math.floor(random() * 4);
        log.append(range(last + 1, last + count).map((each) => commitOf(each, Math.floor(random() * 400))));
        last += count;
        const upTo = last;
        const synced = log.sync().then(() => {
          durable = Math.max(durable, upTo);
        });
        disk.isSlow = random() < 0.5;
        if (!disk.isSlow) {
          disk.release();
          await synced;
        }
      }
      disk = disk.afterPowerCut(() => random() < 0.5);
    }
  }
});

t.test("what a failed sync gave up is written again when the log is opened", async (t) => {
  for (const segmentBytes of [10_000, 300]) {
    const disk = new SimulatedDisk();
    const log = await openLog(disk, { segmentBytes });
    log.append([commitOf(1, 100)]);
    await log.sync();
    disk.syncError = "EIO";
    for (const each of range(2, 5)) log.append([commitOf(each, 200)]);
    await t.rejects(log.sync());
    disk.syncError = null;
    const next = await openLog(disk, { segmentBytes });
    t.same(sequences(next), range(1, 5));
    next.append([commitOf(6, 50)]);
    await next.sync();
    t.same(sequences(await openLog(disk.afterPowerCut(() => false))), range(1, 6));
  }
});

t.test(
  "a large commit whose parts were lost at the end of an earlier segment is a torn tail, not damage",
  async (t) => {
    const disk = new SimulatedDisk();
    const options = { segmentBytes: 1000 };
    const log = await withCommits(disk, 2, options);
    const parts = log.beginParts();
    const part = range(1, 3).map((i) => ({ key: key(`p${i}`), value: Buffer.alloc(200, i) }));
    log.appendPart(parts, part);
    await log.sync();
    for (let i = 0; i < 3; i++) log.appendPart(parts, part);
    log.append([{ ...commitOf(3), parts }]);
    const [first, second] = [...disk.files.values()] as [File, File];
    t.equal(disk.files.size, 2);
    t.ok(first.bytes.length > first.synced.length && second.bytes.length > 0);
    // The power is cut: the system had written the second segment by itself, but not the end of the first.
    first.bytes = first.synced;
    const next = await openLog(disk, options);
    t.same(sequences(next), [1, 2]);
    next.append([commitOf(3)]);
    await next.sync();
    t.same(sequences(await openLog(disk, options)), [1, 2, 3]);
  },
);

t.test("a start reads the log a few times, however many large commits are in it", async (t) => {
  const disk = new SimulatedDisk();
  const log = await openLog(disk);
  for (const sequence of range(1, 40)) {
    const parts = log.beginParts();
    log.appendPart(parts, [{ key: key(`p${sequence}`), value: Buffer.alloc(10_000, sequence) }]);
    log.append([{ ...commitOf(sequence), parts }]);
    await log.sync();
  }
  await log.close();
  const size = disk.files.values().next().value!.bytes.length;
  disk.bytesRead = 0;
  const next = await openLog(disk);
  t.equal(next.lastSequence, 40);
  t.ok(disk.bytesRead <= 5 * size, `${disk.bytesRead} of ${size} bytes`);
  disk.bytesRead = 0;
  t.same(sequences(next, 41), [], "there is nothing to replay");
  t.equal(disk.bytesRead, 0);
});

t.test("segments that a killed process left unsynced are synced when the log is opened", async (t) => {
  const disk = new SimulatedDisk();
  const log = await openLog(disk, { segmentBytes: 300 });
  for (const each of range(1, 6)) log.append([commitOf(each, 200)]);
  const next = await openLog(disk, { segmentBytes: 300 });
  t.same(sequences(next), range(1, 6));
  t.same(sequences(await openLog(disk.afterPowerCut(() => false))), range(1, 6));
});

t.test("a full disk leaves the log as it was, and it goes on when there is room", async (t) => {
  for (const room of [0, 1, 20, 90]) {
    const disk = new SimulatedDisk();
    const log = await withCommits(disk, 2, { segmentBytes: room === 0 ? 1 : 10_000 });
    disk.spaceBytes = room;
    t.throws(() => log.append([commitOf(3, 1000), commitOf(4)]), { code: "disk_full" });
    t.equal(log.lastSequence, 2);
    disk.spaceBytes = 1_000_000;
    log.append([commitOf(3)]);
    await log.close();
    t.equal(disk.openFiles, 0);
    t.same(sequences(await openLog(disk)), [1, 2, 3]);
  }
});

t.test("another write error, or a failed sync, makes the log unusable", async (t) => {
  const disk = new SimulatedDisk();
  const log = await withCommits(disk, 2);
  disk.writeError = "EIO";
  t.throws(() => log.append([commitOf(3)]), { code: "partition_unavailable", message: /EIO/ });
  disk.writeError = null;
  t.throws(() => log.append([commitOf(3)]), { message: /EIO/ });
  await t.rejects(log.sync());
  await log.close();
  t.same(sequences(await openLog(disk)), [1, 2]);

  const second = await withCommits(new SimulatedDisk(), 0);
  const broken = new SimulatedDisk();
  const failing = await openLog(broken);
  failing.append([commitOf(1)]);
  broken.syncError = "EIO";
  const [first, next] = [failing.sync(), failing.sync()];
  await t.rejects(first, { message: /Syncing the commit log failed/ });
  await t.rejects(next, { message: /Syncing/ });
  broken.syncError = null;
  await t.rejects(failing.sync(), { message: /Syncing/ }, "also when the disk seems well again");
  t.throws(() => failing.append([commitOf(2)]));
  await failing.close();
  await second.close();
});

t.test("trim drops whole old segments, never the newest, and keeps the retention window", async (t) => {
  const disk = new SimulatedDisk();
  const log = await withCommits(disk, 100, { segmentBytes: 1000, retentionBytes: 3000 });
  const segments = disk.files.size;
  log.trim(0);
  t.equal(disk.files.size, segments);
  log.trim(30);
  t.ok(log.firstSequence > 1 && log.firstSequence <= 31);
  t.same(sequences(log, 31), range(31, 100));
  log.trim(100);
  await nextTurn();
  const kept = [...disk.files.values()].reduce((sum, { bytes }) => sum + bytes.length, 0);
  t.ok(kept >= 3000 && kept < 5000, `${kept} bytes are kept`);
  t.ok(log.firstSequence > 31);
  await log.close();
  const reopened = await openLog(disk);
  t.same([reopened.firstSequence, reopened.lastSequence], [log.firstSequence, 100]);
  const tight = await openLog(disk, { retentionBytes: 0 });
  tight.trim(1000);
  await nextTurn();
  t.equal(disk.files.size, 1);
});

t.test("nobody waits while trimmed segments are removed, the oldest first; close does", async (t) => {
  const disk = new SimulatedDisk();
  const log = await withCommits(disk, 100, { segmentBytes: 1000, retentionBytes: 0 });
  const names = [...disk.files.keys()].sort();
  disk.isSlow = true;
  log.trim(100);
  await nextTurn();
  t.same([...disk.files.keys()].sort(), names, "the device is slow");
  t.ok(log.firstSequence > 31, "the log is shorter at once");
  disk.release();
  await nextTurn();
  t.same([...disk.files.keys()].sort(), names.slice(1));
  disk.isSlow = false;
  disk.release();
  await log.close();
  t.equal(disk.files.size, 1);
  t.same((await openLog(disk)).lastSequence, 100);
});

t.test("a gap is replayed as one, in files and in memory", async (t) => {
  const disk = new SimulatedDisk();
  for (const log of [await openLog(disk), new MemoryCommitLog()]) {
    log.append([commitOf(1)]);
    log.appendGap(5, 1);
    log.append([commitOf(6)]);
    t.same(
      [...log.replay(1)].map(({ sequence, gap }) => [sequence, gap]),
      [
        [1, false],
        [5, true],
        [6, false],
      ],
    );
    await log.sync();
  }
  t.same(sequences(await openLog(disk)), [1, 5, 6]);
  const memory = new MemoryCommitLog();
  memory.append(range(1, 3).map((each) => commitOf(each)));
  memory.trim(2);
  t.same([memory.firstSequence, memory.lastSequence, sequences(memory)], [3, 3, [3]]);
  memory.trim(3);
  t.same([memory.firstSequence, memory.lastSequence], [4, 3]);
});

t.test("what keys held before a commit comes back with it, and the window keeps segments", async (t) => {
  const disk = new SimulatedDisk();
  const log = await openLog(disk, { segmentBytes: 200, retentionBytes: 0 });
  const before = [
    { key: key("k1"), value: Buffer.from("old") },
    { key: key("gone"), value: null },
  ];
  log.append([{ ...commitOf(1), before }]);
  for (const sequence of range(2, 20)) log.append([commitOf(sequence)]);
  const [first] = [...log.replay(1)];
  t.same(first!.before, before);
  t.equal([...first!.operations].length, 2);
  t.equal(log.lastMicros, commitOf(20).micros);
  log.keeps = { afterMicros: commitOf(10).micros, bytesMax: 1 << 20 };
  await log.sync();
  log.trim(20);
  t.ok(log.firstSequence <= 11 && log.firstSequence > 1);
  t.ok(log.sequenceBefore(commitOf(15).micros) <= 16);
  t.ok(log.sequenceBefore(commitOf(15).micros) > log.firstSequence);
  await log.close();
  const again = await openLog(disk, { segmentBytes: 200, retentionBytes: 0 });
  t.equal(again.lastMicros >= commitOf(20).micros, true);
  t.ok(again.sequenceBefore(commitOf(15).micros) <= 16);
  again.keeps = { afterMicros: 0, bytesMax: 1 };
  again.trim(20);
  t.ok(again.firstSequence > 11);
});

t.test("an open reads the last segments only, however long the log is", async (t) => {
  const openedBytes = async (count: number, close: boolean) => {
    const disk = new SimulatedDisk();
    const log = await withCommits(disk, count, { segmentBytes: 10_000, retentionBytes: Number.POSITIVE_INFINITY });
    if (close) await log.close();
    let bytes = 0;
    const read = disk.read.bind(disk);
    disk.read = (...args) => {
      const found = read(...args);
      bytes += found.length;
      return found;
    };
    const again = await openLog(disk);
    t.equal(again.lastSequence, count);
    return bytes;
  };
  for (const close of [true, false]) {
    const bytes = await openedBytes(5_000, close);
    t.ok(bytes < 60_000, `${bytes} bytes in all, of segments of 10,000`);
  }
});

t.test("records are the same however many bytes are read at a time", async (t) => {
  const disk = new SimulatedDisk();
  const log = await openLog(disk);
  for (const sequence of range(1, 50)) log.append([commitOf(sequence, sequence % 7 === 0 ? 5_000 : sequence)]);
  const [segment] = listSegments(disk, DIRECTORY);
  const recordsOf = (chunkBytes?: number) => {
    const records: unknown[] = [];
    // A copy: the bytes are of use until the next record.
    const keep = (head: RecordHead, reader: SegmentReader): void =>
      void records.push(JSON.parse(JSON.stringify(reader.record(head, null))));
    forEachRecord(disk, segment!, keep, chunkBytes);
    return records;
  };
  const whole = recordsOf();
  t.equal(whole.length, 50);
  for (const chunkBytes of [1, 40, 333, 4_096]) t.same(recordsOf(chunkBytes), whole, `${chunkBytes} bytes`);
  disk.files.get(segment!.path)!.bytes[30_000]! ^= 1;
  const intact = recordsOf().length;
  t.ok(intact < 50);
  for (const chunkBytes of [1, 40, 333, 4_096]) t.equal(recordsOf(chunkBytes).length, intact, "up to the damage");
});
