/** Shards and small conveniences for the tests of transactions and durability. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Test } from "tap";
import type { CommitLog } from "../../src/storage/commit-log.js";
import type { Engine } from "../../src/storage/engine.js";
import { MemoryCommitLog } from "../../src/storage/memory-commit-log.js";
import { MemoryEngine } from "../../src/storage/memory-engine.js";
import { RocksEngine } from "../../src/storage/rocksdb-engine.js";
import { Shard } from "../../src/storage/shard.js";
import type { ShardOptions } from "../../src/storage/shard-options.js";
import type { Cursor, Transaction } from "../../src/storage/store.js";

export const ENGINES: Record<string, (t: Test) => Promise<Engine>> = {
  memory: async () => new MemoryEngine(),
  rocksdb: (t) => RocksEngine.open({ directory: directory(t) }),
};

/** A directory that goes after everything the test opens later in it is closed. */
export function directory(t: Test): string {
  const path = mkdtempSync(join(tmpdir(), "tessera-storage-"));
  t.teardown(() => rmSync(path, { recursive: true }));
  return path;
}

/** A shard in memory unless told otherwise; closed when the test ends. */
export async function openShard(t: Test, options: Partial<ShardOptions> = {}): Promise<Shard> {
  const engine = options.engine ?? new MemoryEngine();
  const log: CommitLog = options.log ?? new MemoryCommitLog();
  const shard = await Shard.open({ ...options, engine, log });
  t.teardown(() => shard.close());
  return shard;
}

export const key = (text: string) => Buffer.from(text, "latin1");

export function get(transaction: Transaction, text: string): string | undefined {
  const value = transaction.get(key(text));
  return value === undefined ? undefined : Buffer.from(value).toString("latin1");
}

export function put(transaction: Transaction, text: string, value: string): void {
  transaction.put(key(text), key(value));
}

/** Rows as "key=value". */
export function rows(cursor: Cursor, max = 100): string[] {
  const { keys, values } = cursor.next(max);
  return keys.map((each, i) => `${Buffer.from(each).toString("latin1")}=${Buffer.from(values[i]!).toString("latin1")}`);
}

export function scan(transaction: Transaction, gte = "", lt = "\xff", reverse = false): string[] {
  const cursor = transaction.scan({ gte: key(gte), lt: key(lt), reverse });
  const all = rows(cursor, 1000);
  cursor.close();
  return all;
}

/** Commits one transaction that puts these. */
export function commit(shard: Shard, ...puts: [string, string][]): number {
  const transaction = shard.begin();
  for (const [text, value] of puts) put(transaction, text, value);
  return transaction.commit();
}

/** All that a new transaction sees. */
export function content(shard: Shard): string[] {
  const transaction = shard.begin({ readOnly: true });
  const all = scan(transaction);
  transaction.rollback();
  // The shard's own record of how far the engine is stands among them.
  return all.filter((row) => !row.includes("applied-sequence"));
}
