/** A segment of the commit log that is longer than memory or one read call allows is opened a few MiB at a time. */
import { closeSync, ftruncateSync, openSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import type { Disk } from "../../src/storage/disk.js";
import { fileDisk } from "../../src/storage/disk.js";
import { FileCommitLog } from "../../src/storage/file-commit-log.js";
import { directory, key } from "./shards.js";
import { SimulatedDisk } from "./simulated-disk.js";

const MiB = 1024 * 1024;
const commitOf = (sequence: number) => ({
  sequence,
  micros: sequence,
  operations: [{ key: key("k"), value: Buffer.from(`${sequence}`) }],
});

/** Notes the longest read. */
function watched(disk: Disk): { readonly disk: Disk; longest: number } {
  const noted = { disk: Object.create(disk) as Disk, longest: 0 };
  noted.disk.read = (file, position, length) => {
    noted.longest = Math.max(noted.longest, length);
    return disk.read(file, position, length);
  };
  return noted;
}

t.test("a torn tail of any length is cut off", async (t) => {
  const path = directory(t);
  const log = await FileCommitLog.open({ directory: path });
  log.append([commitOf(1)]);
  const parts = log.beginParts();
  for (let i = 0; i < 20; i++) log.appendPart(parts, [{ key: key("p"), value: Buffer.alloc(MiB, 7) }]);
  await log.sync();
  const last = join(path, readdirSync(path).sort().at(-1)!);
  const whole = statSync(last).size;
  const file = openSync(last, "r+");
  ftruncateSync(file, whole + 64 * MiB);
  closeSync(file);
  const noted = watched(fileDisk);
  const again = await FileCommitLog.open({ directory: path, disk: noted.disk });
  t.equal(again.lastSequence, 1);
  t.equal(statSync(last).size, whole);
  t.ok(noted.longest <= 4 * MiB, `${noted.longest} bytes read at once`);
  await again.close();
});

t.test("a record that proves damage is found wherever the windows of the search end", async (t) => {
  for (const length of [4 * MiB - 99, 4 * MiB - 66, 4 * MiB - 34, 5 * MiB]) {
    const disk = new SimulatedDisk();
    const log = await FileCommitLog.open({ directory: "/log", disk });
    log.append([commitOf(1)]);
    await log.sync();
    const [[path, { bytes }]] = [...disk.files] as [[string, { bytes: Buffer }], ...unknown[]];
    const begin = bytes.length;
    // Values may look like anything, among it like the beginning of a long record.
    const value = Buffer.alloc(length, Buffer.from([0, 0, 1, 0, 0, 0, 0, 2]));
    log.appendPart(log.beginParts(), [{ key: key("p"), value }]);
    log.append([commitOf(2)]);
    await log.sync();
    const unproven = Buffer.from(disk.files.get(path)!.bytes);
    log.append([commitOf(3)]);
    const proven = Buffer.from(disk.files.get(path)!.bytes);
    for (const content of [unproven, proven]) {
      content[begin]! ^= 1;
      const damaged = new SimulatedDisk();
      damaged.put(path, content);
      const noted = watched(damaged);
      const opening = FileCommitLog.open({ directory: "/log", disk: noted.disk });
      if (content === unproven) t.equal((await opening).lastSequence, 1, `${length} bytes`);
      else await t.rejects(opening, { code: "partition_damaged" }, `${length} bytes`);
      t.ok(noted.longest <= Math.max(4 * MiB, length + 100), "only a whole record is more");
    }
  }
});
