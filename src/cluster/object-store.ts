/**
 * Where checkpoints of partitions are kept outside of all nodes: objects with names, in a folder that nodes share
 * (folder-store.ts), or in a bucket of S3 (s3-store.ts). What was put is there whole, and on its device, or not at all.
 */

export interface StoredFile {
  /** On this machine. */
  readonly path: string;
  readonly bytes: number;
  /** SHA-256, hexadecimal. */
  readonly digest: string;
}

/** Names are of letters, digits, _, -, . and slashes. */
export interface ObjectStore {
  /** Calls that failed may be repeated. */
  put(name: string, file: StoredFile): Promise<void>;
  /** Into a new file. Throws not_found. */
  get(name: string, path: string, signal: AbortSignal): Promise<void>;
  /** Names of all objects that begin so; the prefix ends with a slash. */
  list(prefix: string): Promise<readonly string[]>;
  /** No matter whether it is there. */
  delete(name: string): Promise<void>;
  /** For stores that have something to end before their thread does. */
  end?(): Promise<void>;
}
