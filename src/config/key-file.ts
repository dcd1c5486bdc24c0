/**
 * The file of `secrets.key_file`: one or more keys, the newest first. New things are sealed with the first; the others
 * still open what was sealed before. Called by sealed-secret.ts and key-ring.ts; the state is the file.
 *
 * The file holds 32 raw bytes, or text: a line per key with 64 hexadecimal digits, and a note after a `#`.
 */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { keyId } from "../protocol/sealing.js";
import { writeFileDurably } from "../storage/disk.js";
import { DataDirectoryError } from "./data-lock.js";

export const KEY_BYTES = 32;
const KEYS_MAX = 100;
const FILE_BYTES_MAX = 64 * 1024;
const LINE = /^([0-9a-fA-F]{64})(?:\s*#\s*(.*))?$/;
const HEAD = "# Keys of a Tessera installation, newest first. Keep a copy apart from the data.";

export interface StoredKey {
  /** Derived from the key, so it tells keys apart and nothing else. */
  readonly id: string;
  readonly key: Uint8Array;
  /** When `tessera keys` made it; null: it came from elsewhere. */
  readonly madeAt: string | null;
}

/** Not empty. Throws `DataDirectoryError`. */
export function readKeyFile(path: string): readonly StoredKey[] {
  const refuse = (why: string) => new DataDirectoryError(`the key file ${path} ${why}`);
  if (!existsSync(path)) {
    throw refuse(
      "does not exist. Make one: (umask 077; openssl rand -hex 32 > FILE), and keep a copy apart from the data.",
    );
  }
  const { mode, size } = statSync(path);
  if (process.platform !== "win32" && (mode & 0o077) !== 0) {
    throw refuse(`can be read by other users: chmod 600 ${path}`);
  }
  if (size > FILE_BYTES_MAX) throw refuse(`has ${size} bytes; a file of keys has ${FILE_BYTES_MAX} at most.`);
  const bytes = readFileSync(path);
  if (bytes.length === KEY_BYTES) return [storedKey(new Uint8Array(bytes), null)];
  const keys: StoredKey[] = [];
  for (const [index, whole] of bytes.toString("latin1").split("\n").entries()) {
    const line = whole.trim();
    if (line === "" || line.startsWith("#")) continue;
    const [, hex, note = ""] = LINE.exec(line) ?? [];
    if (hex === undefined) {
      throw refuse(
        `needs ${KEY_BYTES} bytes or ${2 * KEY_BYTES} hexadecimal digits and has ${bytes.length} bytes; ` +
          `line ${index + 1} is neither a key nor a comment.`,
      );
    }
    const key = storedKey(new Uint8Array(Buffer.from(hex, "hex")), /made (\S+)/.exec(note)?.[1] ?? null);
    if (!keys.some(({ id }) => id === key.id)) keys.push(key);
  }
  if (keys.length === 0)
    throw refuse(`needs ${KEY_BYTES} bytes or ${2 * KEY_BYTES} hexadecimal digits and has no key.`);
  if (keys.length > KEYS_MAX) throw refuse(`has ${keys.length} keys, and ${KEYS_MAX} at most are read: drop old ones.`);
  return keys;
}

export function storedKey(key: Uint8Array, madeAt: string | null): StoredKey {
  return { id: keyId(key), key, madeAt };
}

/**
 * A crash leaves the old file or the new one; when it returns, the new one is on the device. A link keeps being one.
 */
export function writeKeyFile(path: string, keys: readonly StoredKey[]): void {
  const lines = keys.map(({ id, key, madeAt }) => {
    const made = madeAt === null ? "" : `, made ${madeAt}`;
    return `${Buffer.from(key).toString("hex")} # key ${id}${made}`;
  });
  const target = existsSync(path) ? realpathSync(path) : path;
  try {
    writeFileDurably(target, `${[HEAD, ...lines].join("\n")}\n`, 0o600);
  } catch (error) {
    throw new DataDirectoryError(
      `the key file ${path} cannot be written (${(error as Error).message}); nothing was changed. Where it is managed ` +
        "elsewhere, put the new key there as the first line, before the old ones, and run tessera keys reseal.",
    );
  }
}
