/**
 * An upgrade that ends at any of its file operations, and a rollback that does: the next start has all of the data in
 * the new form, or the rollback all of it in the old one.
 */
import fs, {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { FORMAT_VERSION, readShardFormat } from "../../src/storage/format.js";
import {
  hasCopy,
  removeCopy,
  rollBack,
  UPGRADE_STEPS,
  type UpgradeStep,
  upgradeDataDirectory,
} from "../../src/storage/format-upgrade.js";
import { acceptLoss, addPartitions, readInstallation, rebuildInstallation } from "../../src/storage/installation.js";
import { openShardOnDisk } from "../../src/storage/shard-on-disk.js";
import { sized } from "../lengths.js";
import { commit, content, key } from "./shards.js";

const root = mkdtempSync(join(tmpdir(), "tessera-upgrade-"));
t.teardown(() => rmSync(root, { recursive: true }));
const log = () => undefined;
const PARTITIONS = 2;
/** Crashes come at each so many-th operation. */
const EVERY = sized(3, 1);
let made = 0;

/** A data directory as the first release left it. */
const first = join(root, "first");
for (let partition = 0; partition < PARTITIONS; partition++) {
  const directory = join(first, `partition-${partition}`);
  const shard = await openShardOnDisk(directory, { segmentBytes: 2000 });
  for (let i = 0; i < 30; i++) {
    commit(shard, [`k${i}`, `value ${i} of ${partition} ${"x".repeat(100)}`]);
    shard.flush();
  }
  await shard.close();
  writeFileSync(join(directory, "FORMAT"), '{"product":"tessera","format":1}\n');
}

function copyOf(from: string): string {
  const to = join(root, `copy-${made++}`);
  cpSync(from, to, { recursive: true });
  return to;
}

/** Every file below, with its content. */
function filesOf(directory: string, below = ""): Record<string, string> {
  const files: Record<string, string> = {};
  for (const name of readdirSync(join(directory, below))) {
    const path = join(below, name);
    if (statSync(join(directory, path)).isDirectory()) Object.assign(files, filesOf(directory, path));
    // RocksDB makes this one when it opens.
    else if (name !== "LOCK") files[path] = readFileSync(join(directory, path), "latin1");
  }
  return files;
}

const CHANGING = [
  "renameSync",
  "linkSync",
  "copyFileSync",
  "openSync",
  "writeSync",
  "fsyncSync",
  "mkdirSync",
  "rmSync",
] as const;
class Crash extends Error {
  override readonly message = "a crash";
}

/** Runs `work` until its file operation number `count`, which is not made; true if there were not so many. */
async function crashAt(count: number, work: () => unknown): Promise<boolean> {
  const whole = Object.fromEntries(CHANGING.map((name) => [name, fs[name]]));
  let left = count;
  const changed = fs as unknown as Record<string, unknown>;
  for (const name of CHANGING) {
    const real = whole[name] as (...values: unknown[]) => unknown;
    changed[name] = (...values: unknown[]) => {
      if (left-- <= 0) throw new Crash();
      return real(...values);
    };
  }
  syncBuiltinESMExports();
  try {
    await work();
    return true;
  } catch (error) {
    if (!(error instanceof Crash)) throw error;
    return false;
  } finally {
    Object.assign(fs, whole);
    syncBuiltinESMExports();
  }
}

const upgrade = (dir: string, steps?: readonly UpgradeStep[]) =>
  upgradeDataDirectory(dir, { keepsCopy: true, log, ...(steps === undefined ? {} : { steps }) });

async function isUpgraded(t: Test, dir: string, what: string): Promise<void> {
  const installation = readInstallation(dir)!;
  t.match(installation, { format: FORMAT_VERSION, partitions: PARTITIONS, upgradingTo: undefined }, what);
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const path = join(dir, `partition-${partition}`);
    const shard = await openShardOnDisk(path, { identity: { installation: installation.id, partition } });
    t.equal(Object.keys(content(shard)).length, 30, `${what}: all records are there`);
    await shard.close();
  }
}

const before = filesOf(first);

t.test("an upgrade that ends anywhere is completed by the next start, or undone by the rollback", async (t) => {
  let crashes = 0;
  for (;;) {
    const dir = copyOf(first);
    const isDone = await crashAt(crashes, () => upgrade(dir));
    const what = `a crash at operation ${crashes}`;
    crashes += EVERY;
    const back = copyOf(dir);
    await upgrade(dir);
    // Opening shards is slow, and differs by the phase only.
    if (crashes % 12 === 0 || isDone) await isUpgraded(t, dir, what);
    else if (readInstallation(dir)?.format !== FORMAT_VERSION) t.fail(`${what}: not upgraded`);
    t.equal(rollBack(dir), 1);
    if (readInstallation(back) === undefined) {
      // It had not begun to change anything.
      const left = Object.fromEntries(Object.entries(filesOf(back)).filter(([path]) => path.startsWith("partition-")));
      t.strictSame(left, before, `${what}: the old form is untouched`);
    } else {
      t.equal(rollBack(back), 1);
      t.strictSame(filesOf(back), before, `${what}: the old form is back`);
    }
    t.strictSame(filesOf(dir), before, `${what}: completed, then undone`);
    for (const path of [dir, back]) rmSync(path, { recursive: true });
    if (isDone) break;
  }
  t.ok(crashes > 20, `${crashes} crashes`);
});

t.test("a rollback that ends anywhere goes on when it is called again, and no server starts meanwhile", async (t) => {
  const upgraded = copyOf(first);
  addPartitions(upgraded, await upgrade(upgraded), PARTITIONS + 1);
  let crashes = 0;
  for (;;) {
    const dir = copyOf(upgraded);
    const isDone = await crashAt(crashes, () => rollBack(dir));
    const what = `a crash at operation ${crashes}`;
    crashes += EVERY;
    if (!isDone) {
      if (readInstallation(dir)?.rollingBackTo !== undefined) {
        await t.rejects(upgrade(dir), { message: /rollback of .* was interrupted/ }, what);
      }
      if (readInstallation(dir) !== undefined) rollBack(dir);
    }
    rmSync(join(dir, "undone-upgrade"), { recursive: true, force: true });
    t.strictSame(filesOf(dir), before, what);
    rmSync(dir, { recursive: true });
    if (isDone) break;
  }
  t.ok(crashes > 5, `${crashes} crashes`);
});

t.test("a step that changes records, and dies on the way", async (t) => {
  let dies = 3;
  const step: UpgradeStep = {
    to: FORMAT_VERSION + 1,
    what: "values are upper case",
    async partition(directory) {
      const shard = await openShardOnDisk(directory, {});
      try {
        for (const [name, value] of Object.entries(content(shard)) as [string, string][]) {
          if (value === value.toUpperCase()) continue;
          const tx = shard.begin();
          tx.put(key(name), Buffer.from(value.toUpperCase()));
          tx.commit();
          shard.flush();
          if (dies > 0 && name.endsWith("7")) {
            dies--;
            throw new Crash();
          }
        }
      } finally {
        await shard.close();
      }
    },
  };
  const steps = [...UPGRADE_STEPS, step];
  const dir = copyOf(first);
  const id = (await upgrade(dir)).id;
  t.ok(hasCopy(dir));
  for (let i = 0; i < 3; i++) {
    await t.rejects(upgrade(dir, steps), { message: "a crash" });
    await t.rejects(
      upgrade(dir),
      { message: /run this|newer release wrote|format/ },
      "this release does not go on with it",
    );
  }
  t.match(await upgrade(dir, steps), { id, format: FORMAT_VERSION + 1 });
  for (let partition = 0; partition < PARTITIONS; partition++) {
    t.equal(readShardFormat(join(dir, `partition-${partition}`))?.format, FORMAT_VERSION + 1);
  }
  await t.rejects(upgrade(dir), { message: /a newer release wrote; this one reads formats up to/ });
  t.equal(rollBack(dir), FORMAT_VERSION, "to the form before the last upgrade");
  await isUpgraded(t, dir, "values as they were");
});

t.test("what is told of a directory", async (t) => {
  const dir = copyOf(first);
  const { id } = await upgradeDataDirectory(dir, { keepsCopy: false, log });
  t.notOk(hasCopy(dir));
  t.throws(() => rollBack(dir), { message: /no copy of the older format/ });
  removeCopy(dir);
  // An older backup of one partition is brought up to date by itself.
  const path = join(dir, "partition-1");
  rmSync(path, { recursive: true });
  cpSync(join(first, "partition-1"), path, { recursive: true });
  t.equal((await upgrade(dir)).id, id);
  await isUpgraded(t, dir, "a partition from an old backup");
  // The list can be made again, but not silently.
  rmSync(join(dir, "INSTALLATION"));
  await t.rejects(upgrade(dir), { message: /INSTALLATION is missing.*restore the file/ });
  t.match(rebuildInstallation(dir), { id, partitions: PARTITIONS });
  t.throws(() => rebuildInstallation(dir), { message: /nothing was lost/ });
  t.match(await upgrade(dir), { id, partitions: PARTITIONS });
  rmSync(path, { recursive: true });
  t.equal((await upgrade(dir)).partitions, PARTITIONS, "one that is gone is still known");
  t.notOk(existsSync(path));
  t.throws(() => acceptLoss(dir, 0), { message: /Partition 0 holds the accounts/ });
  t.throws(() => acceptLoss(dir, 7), { message: /no partition 7/ });
  t.equal(acceptLoss(dir, 1), null);
  t.match(acceptLoss(dir, 1), /partition-1\.lost-1$/);
  t.match(readShardFormat(path), { installation: id, partition: 1, unopened: true });
});
