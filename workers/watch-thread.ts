/**
 * Watches the thread that calls it: garbage collections, how late its loop is, its heap. What is counted is read with
 * /metrics; a collection costs an entry, and the loop a timer each 20 ms. Called by an actor's thread.
 */
import { constants, monitorEventLoopDelay, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks";
import { getHeapStatistics } from "node:v8";
import type { ThreadMetrics } from "../src/protocol/thread-metrics.js";
import { poolMetrics } from "./task-pool.js";

const LAG_RESOLUTION_MS = 20;

const KINDS: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: "minor",
  [constants.NODE_PERFORMANCE_GC_MAJOR]: "major",
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: "incremental",
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: "weakcb",
};

export function watchThread(): () => ThreadMetrics {
  const collections: Record<string, { count: number; seconds: number }> = {};
  for (const kind of Object.values(KINDS)) collections[kind] = { count: 0, seconds: 0 };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { duration, detail } = entry as PerformanceEntry & { readonly detail: { readonly kind: number } };
      const kind = collections[KINDS[detail.kind] ?? "major"]!;
      kind.count++;
      kind.seconds += duration / 1000;
    }
  }).observe({ entryTypes: ["gc"] });
  const lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  lag.enable();
  return () => {
    // What it measures is a timer's whole interval.
    const late = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - LAG_RESOLUTION_MS / 1000);
    const { total_heap_size, heap_size_limit } = getHeapStatistics();
    const { external } = process.memoryUsage();
    const read = {
      collections,
      lagP50Seconds: late(lag.percentile(50)),
      lagP99Seconds: late(lag.percentile(99)),
      lagMaxSeconds: late(lag.max),
      heapTotalBytes: total_heap_size,
      heapLimitBytes: heap_size_limit,
      externalBytes: external,
      pools: poolMetrics(),
    };
    lag.reset();
    return read;
  };
}
