/**
 * The interface that the shard needs of an ordered key-value store. Implemented by rocksdb-engine.ts and
 * memory-engine.ts; owned and called only by the shard. The engine need not be durable by itself: the commit log is
 * replayed into it at open.
 */
import type { EngineMetrics, RecordCacheMetrics } from "../protocol/thread-metrics.js";
import type { Operation } from "./operation.js";
import type { WrittenPart } from "./packed-operations.js";
import type { Cursor, KeyRange } from "./store.js";

export interface Engine {
  get(key: Uint8Array): Uint8Array | undefined;
  getMany(keys: readonly Uint8Array[]): (Uint8Array | undefined)[];
  /** Sees the state at this call, whatever is written afterwards. */
  cursor(range: KeyRange): Cursor;
  /**
   * All or nothing, in this order; visible on return. `persisted`: returns when this, and all that was written before,
   * is on the device.
   */
  write(operations: readonly Operation[], persisted?: boolean): void;
  /** Removes what is in the range, however much it is, in no time. Other entries may be visible before and after it. */
  clear(range: Pick<KeyRange, "gte" | "lt">): void;
  /**
   * Writes them on another thread, in order and after those of earlier calls; resolves when all are there, with the
   * count of entries that were written: fewer than operations where one entry deletes a range. Until then some may be
   * visible and others not. Null, or absent: there is no such thread. Nothing else writes in their ranges meanwhile.
   */
  writeElsewhere?(parts: readonly WrittenPart[]): Promise<number> | null;
  /**
   * The greatest key of the range at some moment before it resolves, null if it is empty. Another thread looks for it,
   * which may take long where much was deleted. Null, or absent: there is no such thread.
   */
  greatestElsewhere?(range: Pick<KeyRange, "gte" | "lt">): Promise<Uint8Array | null> | null;
  /**
   * How many of the entries written last might be lost with the process's machine: everything written before them
   * is persisted, so the commit log need not keep it for recovery.
   */
  entriesInMemory(): number;
  /** Room that it takes, on disk and in what will be written there; an estimate. */
  storedBytes(): number;
  /** Null: it has nothing to tell. */
  metrics(): EngineMetrics | null;
  /** Of the records that are kept in front of it; null: none are. */
  recordCache(): RecordCacheMetrics | null;
  close(): Promise<void>;
}
