/**
 * A server's first steps with its data directory: it locks the directory against a second server and reads the
 * installation's secret, which it makes at first boot. Called by the command line's commands; the state is in the
 * files LOCK, LOCK.secret and secret.key. RocksDB locks each shard as well, which also covers what a process id cannot
 * tell apart (two containers on one volume).
 */

import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { partitionsOnDisk } from "../storage/installation.js";

const LOCK_FILE = "LOCK";
const SECRET_LOCK_FILE = "LOCK.secret";
const SECRET_FILE = "secret.key";
const SECRET_BYTES = 32;
const WAIT_STEP_MS = 50;
const SECRET_WAIT_MS = 10_000;

/** Expected: another server is running, or the directory cannot be used. The message is for the operator. */
export class DataDirectoryError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DataDirectoryError";
  }
}

/** Who holds a lock. A process id alone can be another process's by now; with boot and start time it cannot. */
interface Owner {
  readonly pid: number;
  /** Of the machine's boot, where the system tells (Linux); else empty. */
  readonly boot: string;
  /** Of the process, in clock ticks since the boot, where the system tells (Linux); else empty. */
  readonly startTime: string;
  /** Tells this lock from every other one. */
  readonly nonce: string;
}

export interface LockOptions {
  /** How long to wait for an owner that is just ending (after a kill, say), in milliseconds; 2,000 when absent. */
  readonly waitMs?: number;
}

/**
 * Makes the directory if need be and takes its lock; the returned function gives it back, as does the process's end.
 * A lock whose owner is no more is taken over. Throws `DataDirectoryError` when its owner lives. Blocks the thread.
 */
export function lockDataDirectory(dir: string, options: LockOptions = {}): () => void {
  return lock(dir, LOCK_FILE, options.waitMs ?? 2000, (pid) => {
    return (
      `another server (process ${pid}) is using ${dir}. Stop it, or give this one a data directory of ` +
      `its own (TESSERA_DATA_DIR). If process ${pid} is no server of this kind, delete ${join(dir, LOCK_FILE)}.`
    );
  });
}

/**
 * For the moment in which the sealed secret and its keys are read or changed: a server that runs holds the directory's
 * lock for as long as it lives, and keys can be changed under it.
 */
export function lockSecret(dir: string): () => void {
  return lock(dir, SECRET_LOCK_FILE, SECRET_WAIT_MS, (pid) => {
    return (
      `another process (${pid}) is changing the keys of ${dir}; try again when it has ended. If process ${pid} is none of ` +
      `this kind, delete ${join(dir, SECRET_LOCK_FILE)}.`
    );
  });
}

function lock(dir: string, file: string, waitMs: number, heldBy: (pid: number) => string): () => void {
  makeDirectory(dir);
  const path = join(dir, file);
  const nonce = acquireInTime(path, waitMs, heldBy);
  const release = () => {
    process.removeListener("exit", release);
    if (readOwner(path)?.nonce === nonce) unlinkSync(path);
  };
  process.once("exit", release);
  return release;
}

/**
 * The secret that signs this installation's tokens, 32 random bytes made at first boot, before any partition. The file
 * must be its owner's alone: wider permissions are narrowed to 0600 and `warn` is told, because refusing would stop a
 * server over a restored backup, while the remedy is one that every operator would choose. Throws `DataDirectoryError`.
 */
export function loadSecret(dir: string, warn: (message: string) => void = () => {}): Uint8Array {
  const path = join(dir, SECRET_FILE);
  const secret = readIfThere(path) ?? makeSecret(dir);
  if (secret.length < SECRET_BYTES) {
    throw new DataDirectoryError(
      `${path} is damaged: it has ${secret.length} bytes and needs ${SECRET_BYTES}. Restore it from a copy of the data ` +
        `directory, or delete it and make a new one: ${NEW_SECRET}.`,
    );
  }
  narrowPermissions(path, warn);
  return new Uint8Array(secret);
}

const NEW_SECRET =
  "`tessera accept-loss secret` (everybody must then sign in again, and what is stored encrypted must be given again)";

/** Throws `DataDirectoryError` if there are partitions, because they had another secret. */
function makeSecret(dir: string): Uint8Array {
  const path = join(dir, SECRET_FILE);
  if (partitionsOnDisk(dir).length > 0) {
    throw new DataDirectoryError(
      `${path} is missing, and ${dir} has partitions: restore the file from a copy of the data directory (secret.sealed where ` +
        `the secret was sealed), or make a new one: ${NEW_SECRET}.`,
    );
  }
  return writeNewSecret(dir);
}

/** The secret of an installation that this directory joins. Throws `DataDirectoryError` if it has another one. */
export function adoptSecret(dir: string, secret: Uint8Array): void {
  makeDirectory(dir);
  createExclusively(join(dir, SECRET_FILE), Buffer.from(secret));
  if (!readFileSync(join(dir, SECRET_FILE)).equals(secret))
    throw new DataDirectoryError(`${dir} has the secret of another installation: begin with an empty data directory.`);
}

/** Makes a secret if there is none, whatever was there before. */
export function writeNewSecret(dir: string): Uint8Array {
  const path = join(dir, SECRET_FILE);
  makeDirectory(dir);
  createExclusively(path, randomBytes(SECRET_BYTES));
  // Read back, because another process may have been first.
  return readFileSync(path);
}

function acquireInTime(path: string, waitMs: number, message: (pid: number) => string): string {
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (let waitedMs = 0; ; waitedMs += WAIT_STEP_MS) {
    const taken = acquire(path);
    if ("nonce" in taken) return taken.nonce;
    const { pid } = taken.heldBy;
    if (pid === process.pid || waitedMs >= waitMs) throw new DataDirectoryError(message(pid));
    Atomics.wait(sleeper, 0, 0, WAIT_STEP_MS);
  }
}

/** Returns the nonce of the lock that was taken, or its living owner. */
function acquire(path: string): { nonce: string } | { heldBy: Owner } {
  const mine = ownOwner();
  for (;;) {
    if (createLock(path, mine)) return mine;
    const owner = readOwner(path);
    // Given back between the two calls.
    if (owner === undefined) continue;
    if (isAlive(owner)) return { heldBy: owner };
    const succession = `${path}.after-${owner.nonce}`;
    const successor = acquire(succession);
    if ("heldBy" in successor) return successor;
    try {
      if (replaceDead(path, owner, mine)) return mine;
    } finally {
      unlinkSync(succession);
    }
  }
}

/**
 * Puts this process's lock in a dead one's place. Only the holder of a second lock, named after the dead one's nonce,
 * may do so, and only while the dead one is still there; so of two servers that find the same dead lock, one takes it
 * and the other sees that.
 */
function replaceDead(path: string, dead: Owner, mine: Owner): boolean {
  if (readOwner(path)?.nonce !== dead.nonce) return false;
  const prepared = `${path}.${randomBytes(8).toString("hex")}`;
  try {
    writeDurably(prepared, contentOf(mine));
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    symlinkSync(linkTextOf(mine), prepared);
  }
  renameSync(prepared, path);
  return true;
}

/** Answers false when there is one already. */
function createLock(path: string, mine: Owner): boolean {
  try {
    return createExclusively(path, contentOf(mine));
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
  try {
    symlinkSync(linkTextOf(mine), path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

const contentOf = (owner: Owner): Buffer => Buffer.from(`${JSON.stringify(owner)}\n`);

/**
 * The owner as the target of a symbolic link that leads nowhere: on a disk without a byte left it can be made all the
 * same, since file systems keep up to 59 characters of a target beside its name's entry.
 */
function linkTextOf({ pid, startTime, boot, nonce }: Owner): string {
  return [pid, startTime, shortBoot(boot), nonce].join(".");
}

function ownerOfLink(text: string): Owner {
  const [pid, startTime = "", boot = "", nonce = ""] = text.split(".");
  return { pid: Number(pid), startTime, boot, nonce };
}

const shortBoot = (boot: string): string => boot.replaceAll("-", "").slice(0, 16);

const isDiskFull = (error: unknown): boolean =>
  ["ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException).code ?? "");

function ownOwner(): Owner {
  return {
    pid: process.pid,
    boot: bootId(),
    startTime: startTimeOf(process.pid),
    nonce: randomBytes(8).toString("hex"),
  };
}

/** Undefined when there is no lock. One that cannot be understood was not written by this code and counts as dead. */
function readOwner(path: string): Owner | undefined {
  const link = linkIfThere(path);
  if (link !== undefined) return ownerOfLink(link);
  const bytes = readIfThere(path);
  if (bytes === undefined) return undefined;
  try {
    const { pid, boot, startTime, nonce } = JSON.parse(bytes.toString()) as Partial<Owner>;
    if (Number.isSafeInteger(pid) && typeof nonce === "string" && /^[0-9a-f]+$/.test(nonce)) {
      return { pid: pid!, boot: String(boot), startTime: String(startTime), nonce };
    }
  } catch {
    // Not JSON: answered below.
  }
  return { pid: 0, boot: "", startTime: "", nonce: "unreadable" };
}

function isAlive(owner: Owner): boolean {
  if (owner.pid <= 0 || shortBoot(owner.boot) !== shortBoot(bootId())) return false;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    // EPERM: it is there and another user's.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  return startTimeOf(owner.pid) === owner.startTime;
}

function bootId(): string {
  return readIfThere("/proc/sys/kernel/random/boot_id")?.toString().trim() ?? "";
}

/**
 * Field 22 of /proc/<pid>/stat (proc_pid_stat(5)); the name in field 2 may hold spaces and parentheses. Empty for a
 * process that has ended and only waits for its parent to ask (state Z or X), and where there is no /proc.
 */
function startTimeOf(pid: number): string {
  const stat = readIfThere(`/proc/${pid}/stat`)?.toString();
  if (stat === undefined) return "";
  const fieldsFromThird = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fieldsFromThird[0] === "Z" || fieldsFromThird[0] === "X" ? "" : fieldsFromThird[22 - 3]!;
}

/**
 * Creates the file with all of its content, or answers false when it is there already: written aside, synced, then
 * linked under its name, so that nobody ever sees half of it.
 */
function createExclusively(path: string, content: Uint8Array): boolean {
  const prepared = `${path}.${randomBytes(8).toString("hex")}`;
  writeDurably(prepared, content);
  try {
    linkSync(prepared, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    unlinkSync(prepared);
  }
  syncDirectory(dirname(path));
  return true;
}

function writeDurably(path: string, content: Uint8Array): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeSync(file, content);
    fsyncSync(file);
  } catch (error) {
    unlinkSync(path);
    throw error;
  } finally {
    closeSync(file);
  }
}

/** Makes a new name durable. Windows cannot open directories and does not need it. */
function syncDirectory(dir: string): void {
  if (process.platform === "win32") return;
  const handle = openSync(dir, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function makeDirectory(dir: string): void {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new DataDirectoryError(`the data directory ${dir} cannot be made: ${(error as Error).message}`);
  }
}

function narrowPermissions(path: string, warn: (message: string) => void): void {
  if (process.platform === "win32") return;
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) === 0) return;
  chmodSync(path, 0o600);
  warn(
    `${basename(path)} was readable by other users (mode ${mode.toString(8)}). Its mode is now 600. If anybody ` +
      `untrusted has an account on this machine, delete ${path} and restart to have a new secret made.`,
  );
}

/** Undefined: there is nothing, or it is no link. */
function linkIfThere(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // UNKNOWN: what Windows answers for a file that is no link.
    if (code === "EINVAL" || code === "ENOENT" || code === "UNKNOWN") return undefined;
    throw error;
  }
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ESRCH: what /proc answers when the process ends while it is read.
    if (code === "ENOENT" || code === "ESRCH") return undefined;
    throw error;
  }
}
