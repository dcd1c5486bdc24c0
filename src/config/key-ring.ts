/**
 * Changing the keys that seal the installation's secret (`tessera keys`), while a server runs on the data or not: it
 * has read the secret, which stays the same. In this order, so that a crash between any two steps leaves a secret that
 * a key on the device opens:
 *
 *  1. The new key is put first in the key file, before the old ones, and is on the device.
 *  2. The secret is sealed with the first key. The sealed file names its key, and a start does this step too.
 *  3. Old keys go only on request, and none that is the first or that the sealed file names.
 *
 * Called by the command line; holds no state.
 */
import { randomBytes } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { DataDirectoryError, lockSecret } from "./data-lock.js";
import { KEY_BYTES, readKeyFile, type StoredKey, storedKey, writeKeyFile } from "./key-file.js";
import { type KeyFiles, keyInUse, openLocked, secretFile } from "./sealed-secret.js";

export interface ListedKey {
  readonly id: string;
  readonly madeAt: string | null;
  /** Of the secret of the installation. */
  readonly inUse: boolean;
  /** The first of its file, with which the next sealing is done. */
  readonly newest: boolean;
  /** It is in secrets.previous_key_file. */
  readonly previous: boolean;
}

export interface Rotation {
  readonly key: string;
  /** Null: the secret lay in the open. */
  readonly before: string | null;
}

/** What the next start would find. Throws `DataDirectoryError`. */
export function listKeys(dir: string, files: KeyFiles): readonly ListedKey[] {
  return changing(dir, files, () => listed(dir, files));
}

/** A new key for everything that is sealed; the old ones stay in the file. Throws `DataDirectoryError`. */
export function rotateKeys(dir: string, files: KeyFiles, warn: (message: string) => void, now: Date): Rotation {
  return changing(dir, files, () => {
    const before = keyInUse(dir);
    const isFirst = before === null && !existsSync(files.keyFile);
    const keys = isFirst ? [] : readKeyFile(files.keyFile);
    // With keys that do not open the secret a further one is of no use.
    if (before !== null) openLocked(dir, files, warn);
    const key = storedKey(new Uint8Array(randomBytes(KEY_BYTES)), now.toISOString());
    writeKeyFile(files.keyFile, [key, ...keys]);
    return { key: resealed(dir, files, warn), before };
  });
}

/**
 * Everything sealed under the first key of the file, for files that are made elsewhere. Throws `DataDirectoryError`.
 */
export function resealKeys(dir: string, files: KeyFiles, warn: (message: string) => void): Rotation {
  return changing(dir, files, () => {
    const before = keyInUse(dir);
    return { key: resealed(dir, files, warn), before };
  });
}

/**
 * Takes those keys out of the file, all or none; "unused": all that may go. Returns their ids. Throws
 * `DataDirectoryError`.
 */
export function dropKeys(dir: string, files: KeyFiles, wanted: readonly string[] | "unused"): readonly string[] {
  return changing(dir, files, () => {
    const keys = listed(dir, files).filter(({ previous }) => !previous);
    const mayGo = keys.filter(({ newest, inUse }) => !newest && !inUse).map(({ id }) => id);
    const going = wanted === "unused" ? mayGo : wanted;
    for (const id of going) {
      const key = keys.find((one) => one.id === id);
      if (key === undefined) {
        throw new DataDirectoryError(
          `there is no key ${id} in ${files.keyFile}: tessera keys list shows those there are.`,
        );
      }
      if (key.inUse) {
        throw new DataDirectoryError(
          `the secret is sealed with the key ${id}: run tessera keys reseal or rotate first.`,
        );
      }
      if (key.newest) {
        throw new DataDirectoryError(
          `the key ${id} is the first of ${files.keyFile}, with which the secret is sealed next.`,
        );
      }
    }
    if (going.length > 0) {
      writeKeyFile(
        files.keyFile,
        readKeyFile(files.keyFile).filter(({ id }) => !going.includes(id)),
      );
    }
    return going;
  });
}

/** Seals with the first key, and reads what was written with the keys that were. */
function resealed(dir: string, files: KeyFiles, warn: (message: string) => void): string {
  const secret = openLocked(dir, files, warn);
  const [{ id }] = readKeyFile(files.keyFile) as [StoredKey];
  const again = openLocked(dir, { keyFile: files.keyFile, previousKeyFile: "" }, warn);
  if (keyInUse(dir) === id && Buffer.from(again).equals(secret)) return id;
  throw new DataDirectoryError(`the secret in ${dir} does not read as it was written: check the disk.`);
}

function listed(dir: string, files: KeyFiles): readonly ListedKey[] {
  const used = keyInUse(dir);
  const of = (file: string, previous: boolean): ListedKey[] =>
    readKeyFile(file).map(({ id, madeAt }, index) => ({
      ...{ id, madeAt, previous },
      inUse: id === used,
      newest: !previous && index === 0,
    }));
  const keys = of(files.keyFile, false);
  if (files.previousKeyFile === "") return keys;
  return [...keys, ...of(files.previousKeyFile, true).filter(({ id }) => !keys.some((key) => key.id === id))];
}

function changing<T>(dir: string, { keyFile }: KeyFiles, work: () => T): T {
  if (keyFile === "") {
    throw new DataDirectoryError(
      "secrets.key_file is not set, so the secret lies in the data directory as it is: name a file there (it need not exist).",
    );
  }
  const secret = secretFile(dir);
  if (secret === null) throw new DataDirectoryError(`there is no installation in ${dir}`);
  for (const path of [secret, keyFile]) refuseOthers(path);
  const unlock = lockSecret(dir);
  try {
    return work();
  } finally {
    unlock();
  }
}

/** What root writes here, the server could not read. */
function refuseOthers(path: string): void {
  if (process.getuid === undefined || !existsSync(path)) return;
  const { uid } = statSync(path);
  if (uid === process.getuid()) return;
  throw new DataDirectoryError(
    `${path} belongs to the user with the id ${uid}. Run this command as that user, like the server.`,
  );
}
