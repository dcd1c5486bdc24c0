/** Segments of the commit log that stay although they were trimmed leave no gap, and cut nothing that is newer. */

import { setImmediate as nextTurn } from "node:timers/promises";
import t from "tap";
import type { Commit } from "../../src/storage/commit-log.js";
import { FileCommitLog, type FileCommitLogOptions } from "../../src/storage/file-commit-log.js";
import { key } from "./shards.js";
import { SimulatedDisk } from "./simulated-disk.js";

const openLog = (disk: SimulatedDisk, options: Partial<FileCommitLogOptions> = {}) =>
  FileCommitLog.open({ directory: "/shard/log", disk, ...options });

const commitOf = (sequence: number): Commit => ({
  sequence,
  micros: sequence,
  operations: [
    { key: key(`k${sequence}`), value: Buffer.alloc(10, sequence) },
    { key: key("gone"), value: null },
  ],
});

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const sequences = (log: FileCommitLog, from: number) => [...log.replay(from)].map((each) => each.sequence);

/** Refuses to remove one file, and counts how often it was asked to. */
class StubbornDisk extends SimulatedDisk {
  stubborn: string | null = null;
  code = "EIO";
  refused = 0;

  override async removeLater(path: string): Promise<void> {
    if (path === this.stubborn) {
      this.refused++;
      if (this.code === "ENOENT") this.remove(path);
      throw Object.assign(new Error(`${this.code}: simulated`), { code: this.code });
    }
    await super.removeLater(path);
  }
}

/** 100 commits in segments of 1,000 bytes, synced every so many of them and at the end. */
async function inSegments(disk: SimulatedDisk, syncEvery: number, options: Partial<FileCommitLogOptions> = {}) {
  const log = await openLog(disk, { segmentBytes: 1000, retentionBytes: 0, ...options });
  for (const sequence of range(1, 100)) {
    log.append([commitOf(sequence)]);
    if (sequence % syncEvery === 0) await log.sync();
  }
  await log.sync();
  return log;
}

t.test("a segment that cannot be removed stays with all newer ones, and a later trim tries again", async (t) => {
  for (const syncEvery of [3, 60, 100]) {
    const disk = new StubbornDisk();
    const warnings: string[] = [];
    const log = await inSegments(disk, syncEvery, { warn: (message) => warnings.push(message) });
    const names = [...disk.files.keys()].sort();
    disk.stubborn = names[1]!;
    log.trim(100);
    await nextTurn();
    t.same([...disk.files.keys()].sort(), names.slice(1), "no gap");
    log.append([commitOf(101)]);
    await log.sync();
    log.trim(101);
    await nextTurn();
    t.same([...disk.files.keys()].sort(), names.slice(1), "still none");
    t.equal(disk.refused, 2, "each trim tries once");
    t.equal(warnings.length, 1, "and tells it once");
    t.match(warnings[0], names[1]!);
    const meanwhile = await openLog(disk.afterPowerCut(() => true));
    const first = Number(/(\d+)\.log$/.exec(names[1]!)![1]);
    t.same([meanwhile.firstSequence, meanwhile.lastSequence], [first, 101]);
    t.same(sequences(meanwhile, first), range(first, 101));
    disk.stubborn = null;
    log.trim(101);
    await log.close();
    t.same([...disk.files.keys()], names.slice(-1), "all that is old is gone");
    t.equal((await openLog(disk)).lastSequence, 101);
  }
});

t.test("a segment that somebody else has removed counts as removed", async (t) => {
  const disk = new StubbornDisk();
  const log = await inSegments(disk, 3, { warn: (message) => t.fail(message) });
  disk.code = "ENOENT";
  disk.stubborn = [...disk.files.keys()].sort()[1]!;
  log.trim(100);
  await nextTurn();
  log.append([commitOf(101)]);
  await log.close();
  t.equal(disk.files.size, 1);
  t.equal((await openLog(disk)).lastSequence, 101);
});

t.test("segments below a gap that the engine has are left from a trim, and others are not", async (t) => {
  for (const syncEvery of [60, 100]) {
    const withGap = async () => {
      const disk = new SimulatedDisk();
      await inSegments(disk, syncEvery);
      const names = [...disk.files.keys()].sort();
      for (const name of names.slice(2, -1)) disk.remove(name);
      return { disk, newest: names.at(-1)!, first: Number(/(\d+)\.log$/.exec(names.at(-1)!)![1]) };
    };
    const { disk, newest, first } = await withGap();
    const warnings: string[] = [];
    const log = await openLog(disk, { applied: first - 1, warn: (message) => warnings.push(message) });
    t.same([log.firstSequence, log.lastSequence], [first, 100]);
    t.same(sequences(log, first), range(first, 100), "nothing newer is cut");
    t.same([...disk.files.keys()], [newest]);
    t.match(warnings, [newest]);
    log.append([commitOf(101)]);
    await log.close();
    t.same(sequences(await openLog(disk), first), range(first, 101));
    const lacking = await withGap();
    const opened = openLog(lacking.disk, { applied: first - 2, warn: (message) => t.fail(message) });
    if (syncEvery === 60) await t.rejects(opened, { code: "partition_damaged" });
    else t.ok((await opened).lastSequence < first - 1, "nothing says that it had been synced");
  }
});
