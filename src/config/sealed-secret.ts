/**
 * The installation's secret, sealed with a key from a file outside the data directory (`secrets.key_file`). All other
 * stored secrets are encrypted with keys that are derived from it, so this one file protects all of them, and a new
 * key only means sealing this file again. Called by the command line's commands and key-ring.ts; the state is the file
 * secret.sealed, under the lock of the secret.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, unlinkSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { keyId, sealBytes, unsealBytes } from "../protocol/sealing.js";
import { writeFileDurably } from "../storage/disk.js";
import { DataDirectoryError, loadSecret, lockSecret } from "./data-lock.js";
import { KEY_BYTES, readKeyFile } from "./key-file.js";

const SEALED_FILE = "secret.sealed";
const PLAIN_FILE = "secret.key";
const OWNER = "secret of the installation";
const NODES = "secret of the nodes";

export interface KeyFiles {
  /** Empty: the secret is in the data directory, unsealed. */
  readonly keyFile: string;
  /** The one before, while the key is being changed; or empty. */
  readonly previousKeyFile: string;
}

interface SealedSecret {
  readonly product: "tessera";
  /** Of the key that opens it. */
  readonly key: string;
  /** Base64. */
  readonly sealed: string;
}

/**
 * The secret that signs this installation's tokens. With a key file, an unsealed secret is sealed, and a secret that is
 * sealed with another key of this file or of the previous one is sealed again with the first key. Throws
 * `DataDirectoryError`, also if the secret is sealed and there is no key file.
 */
export function openSecret(dir: string, files: KeyFiles, warn: (message: string) => void = () => {}): Uint8Array {
  const unlock = lockSecret(dir);
  try {
    return openLocked(dir, files, warn);
  } finally {
    unlock();
  }
}

/** `openSecret` for callers that have locked the secret. */
export function openLocked(dir: string, files: KeyFiles, warn: (message: string) => void): Uint8Array {
  const path = join(dir, SEALED_FILE);
  const sealed = readSealed(path);
  if (files.keyFile === "") {
    if (sealed === null) return loadSecret(dir, warn);
    throw new DataDirectoryError(`${path} is sealed with the key ${sealed.key}: name its file in secrets.key_file.`);
  }
  const [newest, ...older] = readKeyFile(files.keyFile);
  if (sealed === null) {
    const secret = loadSecret(dir, warn);
    writeSealed(path, secret, newest!.key);
    removePlain(dir);
    return secret;
  }
  const keys = [newest!, ...older, ...(files.previousKeyFile === "" ? [] : readKeyFile(files.previousKeyFile))];
  const right = keys.find(({ id }) => id === sealed.key);
  if (right === undefined) {
    throw new DataDirectoryError(
      `${path} is sealed with the key ${sealed.key}, and the configured ones are ${keys.map(({ id }) => id).join(" and ")}: ` +
        "name the right file in secrets.key_file, or in secrets.previous_key_file to change to a new key.",
    );
  }
  const secret = unsealBytes(Buffer.from(sealed.sealed, "base64"), OWNER, right.key);
  if (secret === null)
    throw new DataDirectoryError(`${path} is damaged: restore it from a backup of the data directory.`);
  if (right !== newest) writeSealed(path, secret, newest!.key);
  // A crash may have left it there.
  removePlain(dir);
  return new Uint8Array(secret);
}

/** Sealed with the first key of the file, for nodes that have the same one. */
export function sealForNodes(secret: Uint8Array, { keyFile }: KeyFiles): string {
  return sealBytes(secret, NODES, readKeyFile(keyFile)[0]!.key).toString("base64");
}

/** Null: none of the keys of the files opens it. */
export function unsealFromNodes(sealed: string, { keyFile, previousKeyFile }: KeyFiles): Uint8Array | null {
  const keys = [...readKeyFile(keyFile), ...(previousKeyFile === "" ? [] : readKeyFile(previousKeyFile))];
  for (const { key } of keys) {
    const secret = unsealBytes(Buffer.from(sealed, "base64"), NODES, key);
    if (secret !== null) return new Uint8Array(secret);
  }
  return null;
}

/** The id of the key that opens the secret; null: it is not sealed. */
export function keyInUse(dir: string): string | null {
  return readSealed(join(dir, SEALED_FILE))?.key ?? null;
}

/** The file of the secret, sealed or not; null: there is none. */
export function secretFile(dir: string): string | null {
  return [SEALED_FILE, PLAIN_FILE].map((name) => join(dir, name)).find((path) => existsSync(path)) ?? null;
}

function readSealed(path: string): SealedSecret | null {
  if (!existsSync(path)) return null;
  try {
    const found = JSON.parse(readFileSync(path, "utf8")) as Partial<SealedSecret>;
    if (found.product === "tessera" && typeof found.key === "string" && typeof found.sealed === "string") {
      return found as SealedSecret;
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new DataDirectoryError(`${path} is damaged: restore it from a backup of the data directory.`);
}

function writeSealed(path: string, secret: Uint8Array, key: Uint8Array): void {
  const sealed: SealedSecret = {
    product: "tessera",
    key: keyId(key),
    sealed: sealBytes(secret, OWNER, key).toString("base64"),
  };
  writeFileDurably(path, `${JSON.stringify(sealed)}\n`);
}

/** Written over first, for what the disk may keep. */
function removePlain(dir: string): void {
  const path = join(dir, PLAIN_FILE);
  if (!existsSync(path)) return;
  const file = openSync(path, "r+");
  try {
    writeSync(file, Buffer.alloc(KEY_BYTES), 0, KEY_BYTES, 0);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  unlinkSync(path);
  if (process.platform === "win32") return;
  const folder = openSync(dirname(path), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
