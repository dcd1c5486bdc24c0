/**
 * Brings a data directory of an older release up to date, in place, and back. Called before any actor starts and by
 * the command `upgrade`, under the directory's lock.
 *
 *  1. `before-upgrade.new` gets a copy of the partitions: hard links to files that never change, copies of the others.
 *     It is renamed to `before-upgrade` once all of it is on the device.
 *  2. INSTALLATION records that the upgrade has begun (`upgradingTo`).
 *  3. Each step changes each partition that has the format before it, then its file FORMAT.
 *  4. INSTALLATION records the new format.
 *
 * A crash in 1 leaves the old form. After a crash in 2 to 4 the next start continues, or the rollback puts the copy
 * back; the rollback itself continues after a crash. The older release refuses partitions of a newer format by itself.
 */
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { writeFileDurably } from "./disk.js";
import { FORMAT_VERSION, readShardFormat, type ShardFormat, type ShardIdentity, writeShardFormat } from "./format.js";
import {
  formatOfPartition,
  type Installation,
  InstallationError,
  installationPath,
  partitionsOnDisk,
  readInstallation,
  requireInstallation,
  unwrittenInstallation,
  writeInstallation,
} from "./installation.js";
import { partitionDirectory } from "./partition-directory.js";

export interface UpgradeStep {
  /** The format after it; before it, one less. */
  readonly to: number;
  /** For the log. */
  readonly what: string;
  /**
   * Changes one partition; FORMAT is written afterwards. May be killed anywhere and is then run again, so what it did
   * must not be done twice.
   */
  readonly partition?: (directory: string, identity: ShardIdentity) => Promise<void>;
}

/** In order. A release that changes the format adds one; none is ever removed. */
export const UPGRADE_STEPS: readonly UpgradeStep[] = [
  { to: 2, what: "directories know their installation and their number" },
];

export interface UpgradeOptions {
  /** Whether a copy of the old form is kept for the way back. */
  readonly keepsCopy: boolean;
  readonly log: (message: string, fields: object) => void;
  /** The format that the directory shall have. Default: the newest. */
  readonly target?: number;
  /** For tests. */
  readonly steps?: readonly UpgradeStep[];
}

const COPY = "before-upgrade";
const MANIFEST = "UPGRADE";

interface CopyManifest {
  readonly format: number;
  readonly partitions: number;
  /** The text of INSTALLATION; null: there was none. */
  readonly before: string | null;
}

/** What a data directory has and what this release would make of it; null: it is new. Throws `InstallationError`. */
export function formatOf(dataDirectory: string): { installation: Installation; oldest: number; newest: number } | null {
  const written = readInstallation(dataDirectory);
  const installation = written ?? unwrittenInstallation(dataDirectory);
  if (written === undefined && installation.partitions === 0) return null;
  const formats = partitionsOnDisk(dataDirectory)
    .map((partition) => formatOfPartition(dataDirectory, partition))
    .filter((format) => format !== null);
  // A newer release that has begun to change records counts, even if it did not get to a file FORMAT.
  const all = [installation.format, installation.upgradingTo ?? installation.format, ...formats];
  return { installation, oldest: Math.min(...all), newest: Math.max(...all) };
}

/** Returns the installation in the newest format. Throws `InstallationError` for one that this release cannot read. */
export async function upgradeDataDirectory(dataDirectory: string, options: UpgradeOptions): Promise<Installation> {
  const all = options.steps ?? UPGRADE_STEPS;
  const target = options.target ?? all.at(-1)?.to ?? FORMAT_VERSION;
  const steps = all.filter(({ to }) => to <= target);
  requireInstallation(dataDirectory);
  const found = formatOf(dataDirectory);
  if (found === null) {
    const made = { ...unwrittenInstallation(dataDirectory), format: target };
    writeInstallation(dataDirectory, made);
    return made;
  }
  const { installation, oldest, newest } = found;
  if (installation.rollingBackTo !== undefined) throw interruptedRollback(dataDirectory);
  if (newest > target) {
    throw new InstallationError(
      `${dataDirectory} has format ${newest}, which a newer release wrote; this one reads formats up to ${target}. Start the ` +
        "newer release, go back with its `tessera upgrade --rollback`, or restore a backup made before.",
    );
  }
  if (oldest === target && installation.upgradingTo === undefined) {
    return installation;
  }
  let current = installation;
  if (current.format < target && current.upgradingTo === undefined) {
    if (options.keepsCopy) keepCopy(dataDirectory, current);
    else removeCopy(dataDirectory);
    current = { ...current, upgradingTo: target };
    writeInstallation(dataDirectory, current);
  }
  for (const step of steps) await runStep(dataDirectory, current, step, options);
  const { upgradingTo, ...rest } = current;
  const upgraded = { ...rest, format: target };
  writeInstallation(dataDirectory, upgraded);
  options.log("the data directory was upgraded", {
    from: installation.format,
    to: target,
    copyKept: options.keepsCopy,
  });
  return upgraded;
}

async function runStep(
  dataDirectory: string,
  { id }: Installation,
  step: UpgradeStep,
  options: UpgradeOptions,
): Promise<void> {
  for (const partition of partitionsOnDisk(dataDirectory)) {
    const directory = partitionDirectory(dataDirectory, partition);
    if (formatOfPartition(dataDirectory, partition) !== step.to - 1) continue;
    options.log("a partition is being upgraded", { partition, format: step.to, what: step.what });
    const identity = { installation: id, partition };
    await step.partition?.(directory, identity);
    const before = readShardFormat(directory) as ShardFormat;
    writeShardFormat(directory, { ...before, ...(step.to >= 2 ? identity : {}), format: step.to });
  }
}

/** Whether there is a way back. */
export function hasCopy(dataDirectory: string): boolean {
  return existsSync(join(dataDirectory, COPY, MANIFEST));
}

/** The way back ends; the disk gets its room again. */
export function removeCopy(dataDirectory: string): void {
  const copy = join(dataDirectory, COPY);
  const leaving = `${copy}.old`;
  rmSync(leaving, { recursive: true, force: true });
  if (existsSync(copy)) {
    renameSync(copy, leaving);
    syncDirectory(dataDirectory);
    rmSync(leaving, { recursive: true });
  }
}

/**
 * Puts back what was kept before the last upgrade; everything written since is given up. Returns the format that the
 * directory has then. Goes on after a crash when it is called again. Throws `InstallationError` when nothing was kept.
 */
export function rollBack(dataDirectory: string): number {
  const installation = readInstallation(dataDirectory);
  if (installation === undefined) throw new InstallationError(`${dataDirectory} was never upgraded.`);
  const copy = join(dataDirectory, COPY);
  let goal = installation.rollingBackTo;
  if (goal === undefined) {
    if (!hasCopy(dataDirectory)) {
      throw new InstallationError(
        `There is no copy of the older format in ${dataDirectory} (it was committed, or data.upgrade is "in_place"): restore a backup.`,
      );
    }
    const manifest = JSON.parse(readFileSync(join(copy, MANIFEST), "utf8")) as CopyManifest;
    goal = { format: manifest.format, partitions: manifest.partitions, before: manifest.before };
    writeInstallation(dataDirectory, { ...installation, rollingBackTo: goal });
  }
  for (const partition of partitionsOnDisk(dataDirectory)) {
    const isKept = existsSync(join(copy, basename(partitionDirectory("", partition))));
    // One without a copy was put back already, or did not exist before the upgrade.
    if (isKept || partition >= goal.partitions) setAside(dataDirectory, partition);
  }
  if (existsSync(copy)) {
    for (const partition of partitionsOnDisk(copy)) {
      renameSync(partitionDirectory(copy, partition), partitionDirectory(dataDirectory, partition));
    }
    syncDirectory(copy);
  }
  syncDirectory(dataDirectory);
  removeCopy(dataDirectory);
  const path = installationPath(dataDirectory);
  if (goal.before !== null) writeFileDurably(path, goal.before);
  else {
    rmSync(path);
    syncDirectory(dataDirectory);
  }
  rmSync(join(dataDirectory, UNDONE), { recursive: true, force: true });
  return goal.format;
}

const UNDONE = "undone-upgrade";

function setAside(dataDirectory: string, partition: number): void {
  const aside = join(dataDirectory, UNDONE);
  mkdirSync(aside, { recursive: true });
  const to = partitionDirectory(aside, partition);
  rmSync(to, { recursive: true, force: true });
  renameSync(partitionDirectory(dataDirectory, partition), to);
}

function interruptedRollback(dataDirectory: string): InstallationError {
  return new InstallationError(
    `A rollback of ${dataDirectory} was interrupted: run \`tessera upgrade --rollback\` again, then start the older release.`,
  );
}

function keepCopy(dataDirectory: string, { format, partitions }: Installation): void {
  const copy = join(dataDirectory, COPY);
  const making = `${copy}.new`;
  removeCopy(dataDirectory);
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making);
  for (const partition of partitionsOnDisk(dataDirectory)) {
    copyFolder(partitionDirectory(dataDirectory, partition), partitionDirectory(making, partition));
  }
  const path = installationPath(dataDirectory);
  const before = existsSync(path) ? readFileSync(path, "utf8") : null;
  const manifest: CopyManifest = { format, partitions, before };
  writeFileDurably(join(making, MANIFEST), `${JSON.stringify(manifest)}\n`);
  renameSync(making, copy);
  syncDirectory(dataDirectory);
}

/** Segments of the commit log that may still be changed: the newest, and the one before it after a crash. */
const CHANGING_SEGMENTS = 2;

/**
 * RocksDB never changes a file of its tables, nor the commit log a full segment: those are linked. Caches are left out.
 */
function copyFolder(from: string, to: string): void {
  mkdirSync(to);
  const entries = readdirSync(from, { withFileTypes: true });
  const segments = entries.map(({ name }) => name).filter((name) => basename(from) === "log" && name.endsWith(".log"));
  const full = new Set(segments.sort().slice(0, -CHANGING_SEGMENTS));
  for (const entry of entries) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) {
      if (entry.name !== "indexes") copyFolder(source, target);
    } else if (entry.name === "LOCK") {
      // Of RocksDB; it makes its own.
    } else if (entry.name.endsWith(".sst") || full.has(entry.name)) linkSync(source, target);
    else {
      copyFileSync(source, target, constants.COPYFILE_FICLONE);
      syncFile(target);
    }
  }
  syncDirectory(to);
}

function syncFile(path: string): void {
  const file = openSync(path, "r+");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Windows cannot open directories and does not need it. */
function syncDirectory(path: string): void {
  if (process.platform === "win32") return;
  const folder = statSync(path).isDirectory() ? path : dirname(path);
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
