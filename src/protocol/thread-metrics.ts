/**
 * What an actor reports about its thread, pools, storage engine and queues when /metrics or a diagnostic bundle is
 * read.
 */

export interface ThreadMetrics {
  /**
   * Garbage collections since the thread began, and the seconds that they stopped it, by kind (minor, major,
   * incremental, weakcb).
   */
  readonly collections: Readonly<Record<string, { readonly count: number; readonly seconds: number }>>;
  /** By how much its loop was late, since the last reading; seconds. */
  readonly lagP50Seconds: number;
  readonly lagP99Seconds: number;
  readonly lagMaxSeconds: number;
  readonly heapTotalBytes: number;
  readonly heapLimitBytes: number;
  /** Outside of the JavaScript heap: buffers, WebAssembly. */
  readonly externalBytes: number;
  readonly pools: readonly PoolMetrics[];
}

/** A pool of task threads. */
export interface PoolMetrics {
  readonly pool: string;
  readonly threads: number;
  readonly waiting: number;
  readonly waitingMax: number;
  readonly completed: number;
  /** Mean, and 99th percentile, of how long tasks waited for a thread; seconds. */
  readonly waitMeanSeconds: number;
  readonly waitP99Seconds: number;
}

/** RocksDB, as it tells by its properties. */
export interface EngineMetrics {
  readonly blockCacheBytes: number;
  readonly blockCachePinnedBytes: number;
  readonly memtableBytes: number;
  readonly tableReaderBytes: number;
  readonly pendingCompactionBytes: number;
  readonly runningCompactions: number;
  readonly runningFlushes: number;
  /** 1 while RocksDB refuses writes until it has caught up; and the rate to which it slows them, 0: it does not. */
  readonly writesStopped: number;
  readonly delayedWriteBytesPerSecond: number;
  readonly backgroundErrors: number;
  readonly levels: readonly { readonly level: number; readonly files: number; readonly bytes: number }[];
}

/** Records by key in memory. */
export interface RecordCacheMetrics {
  readonly hits: number;
  readonly misses: number;
  readonly entries: number;
  readonly bytes: number;
}

export interface JobMetrics {
  readonly kind: string;
  readonly running: number;
  readonly waiting: number;
}
