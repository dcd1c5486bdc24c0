/**
 * The actors' metrics as Prometheus shows them: a list per kind, each entry a field of the actors' reports
 * (protocol/messages.ts, protocol/thread-metrics.ts), a name and its meaning. Called by metrics.ts when the page is
 * read.
 */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import {
  type ActorMetrics,
  type ClusterMetrics,
  type Histogram as Counts,
  type InferenceMetrics,
  type ModelUsage,
  type OwnedMetrics,
  type PartitionMetrics,
  SCHEDULER_BUCKETS_MS,
  type ScheduleMetrics,
} from "../protocol/messages.js";
import type { EngineMetrics, PoolMetrics, RecordCacheMetrics, ThreadMetrics } from "../protocol/thread-metrics.js";
import type { Sample } from "./metric-sample.js";

/** A histogram of the actors, as they counted it. */
class ActorHistogram extends Histogram<"actor"> {
  private samples: Sample[] = [];

  constructor(
    readonly of: ActorHistogramName,
    name: string,
    help: string,
    registry: Registry,
  ) {
    super({ name, help, labelNames: ["actor"], registers: [registry] });
  }

  replace(actors: readonly ActorMetrics[]): void {
    this.samples = actors.flatMap((one) => this.samplesOf(String(one.actor), one[this.of]));
  }

  private samplesOf(actor: string, { counts, sumSeconds }: Counts): Sample[] {
    const { name } = this as unknown as { name: string };
    let total = 0;
    const samples: Sample[] = counts.map((count, bucket) => {
      total += count;
      const le = bucket < SCHEDULER_BUCKETS_MS.length ? String(SCHEDULER_BUCKETS_MS[bucket]! / 1000) : "+Inf";
      return { metricName: `${name}_bucket`, labels: { le, actor }, value: total };
    });
    samples.push({ metricName: `${name}_sum`, labels: { actor }, value: sumSeconds });
    samples.push({ metricName: `${name}_count`, labels: { actor }, value: total });
    return samples;
  }

  /** The registry asks this for text instead of `get`. */
  async getForPromString(): Promise<object> {
    const { name, help } = this as unknown as { name: string; help: string };
    return { name, help, type: "histogram", values: this.samples, aggregator: "sum" };
  }
}

/** Fields of T that are numbers. */
type Numbers<T> = { [K in keyof T]: T[K] extends number ? K : never }[keyof T];

const ACTOR_COUNTERS: readonly [Numbers<ActorMetrics>, string, string][] = [
  ["requests", "requests_total", "Requests that the actor has taken."],
  ["slowStatements", "slow_statements_total", "Statements that ran longer than query.slow_ms."],
  ["statementsRefused", "statements_refused_total", "Statements refused for being like one that was stopped."],
  ["segmentsEvicted", "column_segments_evicted_total", "Tables whose columns made room for others."],
  ["spillBytesWritten", "spill_bytes_total", "Bytes written to temporary files of statements."],
  ["sliceOverruns", "slice_overruns_total", "Turns that took twice as long as they should, or longer."],
];
type ActorHistogramName = "slices" | "waits" | "firstWaits" | "sliceCpu" | "turnCpu";
const ACTOR_HISTOGRAMS: readonly [ActorHistogramName, string, string][] = [
  ["slices", "slice_seconds", "Time that a tenant's turn of the actor's loop took."],
  ["waits", "wait_seconds", "Time that requests and statements waited for their turns."],
  ["firstWaits", "begin_wait_seconds", "Time that requests waited until they began."],
  ["sliceCpu", "slice_cpu_seconds", "CPU time that a tenant's turn of the actor's loop took, of a sample of turns."],
  ["turnCpu", "loop_cpu_seconds", "CPU time until the actor's loop came round, looked at every 2 ms."],
];
const ACTOR_GAUGES: readonly [Numbers<ActorMetrics>, string, string][] = [
  ["running", "requests_running", "Requests that did not end at once."],
  ["waiting", "statements_waiting", "Requests that wait for their turn, and statements for their next slice."],
  ["longestSliceSeconds", "slice_seconds_max", "The longest turn since the actor started."],
  ["longestTurnCpuSeconds", "loop_cpu_seconds_max", "The most CPU time until the actor's loop came round."],
  ["heapBytes", "heap_bytes", "JavaScript heap of the actor's thread."],
  ["eventLoopUtilization", "event_loop_utilization", "Share of time in which the actor's loop was busy."],
  ["segmentBytes", "column_segment_bytes", "Memory of tables' columns that long scans read."],
  ["segmentTables", "column_segment_tables", "Tables with columns in memory."],
  ["spillBytes", "spill_bytes", "Temporary files of statements that run."],
  ["backupsRunning", "backups_running", "Backups that are being made."],
];
const PARTITION_COUNTERS: readonly [Numbers<PartitionMetrics>, string, string][] = [
  ["commits", "commits_total", "Transactions committed."],
  ["conflicts", "conflicts_total", "Commits refused because of a concurrent change."],
  ["syncs", "syncs_total", "Times the log was synced to disk."],
  ["syncSeconds", "sync_seconds_total", "Time spent in those."],
  ["flushes", "commit_groups_total", "Groups of commits that went to the log in one write."],
  ["abortedForMemory", "snapshots_ended_total", "Transactions ended because their snapshots needed too much memory."],
  ["planCacheHits", "plan_cache_hits_total", "Statements whose plan was cached."],
  ["planCacheMisses", "plan_cache_misses_total", "Statements that had to be planned."],
  ["indexRowsFolded", "search_index_folds_total", "Changed rows that were put into indexes for search."],
];
const PARTITION_GAUGES: readonly [Numbers<PartitionMetrics>, string, string][] = [
  ["syncSecondsMax", "sync_seconds_max", "The longest sync since the partition was opened."],
  ["groupMax", "commit_group_max", "Commits of the largest group."],
  ["repliesAtGate", "replies_waiting_for_disk", "Replies that wait until what they have seen is on disk."],
  ["versionBytes", "snapshot_bytes", "Replaced values that open snapshots still need."],
  ["planCacheEntries", "plan_cache_entries", "Plans in memory."],
  ["subscriptions", "subscriptions", "Subscriptions to changes."],
  ["tablesFollowed", "tables_followed", "Tables whose changes are followed."],
  ["changeHistoryBytes", "change_history_bytes", "Changes in memory for subscribers that come back."],
  ["logBytes", "log_bytes", "Size of the change log."],
  ["openTransactions", "open_transactions", "Interactive transactions that are open."],
  ["storedBytes", "stored_bytes", "Files of the partition and what is to be written to them, estimated."],
  ["columnFileBytes", "column_file_bytes", "Files with the columns of long tables."],
  ["load", "load", "Share of the actor's thread that the partition's requests used lately."],
  ["tenantsInMemory", "tenants_in_memory", "Tenants whose catalog and plans may be in memory."],
  ["indexes", "search_indexes", "Indexes for search in memory."],
  ["indexBytes", "search_index_bytes", "Memory of those."],
  ["indexItemsWaiting", "search_index_items_waiting", "Changed rows and vectors that wait to be put into them."],
  ["requestsHeld", "requests_held", "Requests that wait because their tenant is being moved."],
];

const USAGE_COUNTERS: readonly [Exclude<keyof ModelUsage, "tenant">, string, string][] = [
  ["texts", "embedding_texts", "Texts that were embedded for the tenant."],
  ["pairs", "nli_pairs", "Pairs of texts that were compared for the tenant."],
  ["tokens", "model_tokens", "Tokens that models read for the tenant: of texts, pairs and prompts."],
  ["generatedTokens", "generated_tokens", "Tokens that models wrote for the tenant."],
];

const ENGINE_GAUGES: readonly [Numbers<EngineMetrics>, string, string][] = [
  ["blockCacheBytes", "block_cache_bytes", "RocksDB's blocks in memory."],
  ["blockCachePinnedBytes", "block_cache_pinned_bytes", "Of those, blocks in use."],
  ["memtableBytes", "memtable_bytes", "What was written and is in no file yet."],
  ["tableReaderBytes", "table_reader_bytes", "Indexes and filters of files, outside of the block cache."],
  ["pendingCompactionBytes", "pending_compaction_bytes", "Bytes that compaction still has to rewrite, estimated."],
  ["runningCompactions", "running_compactions", "Compactions under way."],
  ["runningFlushes", "running_flushes", "Memtables that are being written to files."],
  ["writesStopped", "writes_stopped", "1 while RocksDB stops writes until it has caught up."],
  [
    "delayedWriteBytesPerSecond",
    "delayed_write_bytes_per_second",
    "Rate to which RocksDB slows writes; 0: it does not.",
  ],
  ["backgroundErrors", "background_errors", "Errors of flushes and compactions."],
];

const RECORD_CACHE_GAUGES: readonly [keyof RecordCacheMetrics, string, string][] = [
  ["entries", "entries", "Records in memory."],
  ["bytes", "bytes", "Memory of those, about."],
];

const THREAD_GAUGES: readonly [Numbers<ThreadMetrics>, string, string][] = [
  ["heapTotalBytes", "heap_total_bytes", "Memory that the thread's heap has taken."],
  ["heapLimitBytes", "heap_limit_bytes", "What it may take at most."],
  ["externalBytes", "external_bytes", "Buffers and WebAssembly outside of the heap."],
];

const POOL_GAUGES: readonly [Numbers<PoolMetrics>, string, string][] = [
  ["threads", "threads", "Task threads of the pool that are there now."],
  ["waiting", "tasks_waiting", "Tasks that wait for a thread."],
  ["waitingMax", "tasks_waiting_max", "Tasks that may wait; more are refused."],
  ["waitMeanSeconds", "wait_seconds_mean", "How long tasks waited for a thread, on average."],
  ["waitP99Seconds", "wait_seconds_p99", "The 99th percentile of that."],
];

const INFERENCE_COUNTERS: readonly [keyof InferenceMetrics, string, string][] = [
  ["runs", "runs", "Runs of models in the inference thread."],
  ["items", "items", "Texts and pairs of those runs."],
  ["refused", "refused", "Requests that were turned away since too much waited."],
];

const INFERENCE_GAUGES: readonly [keyof InferenceMetrics, string, string][] = [
  ["waiting", "waiting", "Texts and pairs that wait for the inference thread."],
  ["generations", "generations", "Texts that are being generated."],
  ["sessions", "models_loaded", "Models in the inference thread's memory."],
  ["sessionBytes", "model_bytes", "Memory of those, about."],
];

const CLUSTER_FAMILIES: readonly ["counter" | "gauge", Numbers<ClusterMetrics>, string, string][] = [
  [
    "gauge",
    "leaseLeftSeconds",
    "lease_left_seconds",
    "How long the node may still believe in its lease; below 0: not any more.",
  ],
  ["counter", "takeovers", "takeovers_total", "Partitions that the actor has opened as their owner."],
  ["gauge", "logServiceBytes", "log_service_bytes", "What etcd holds, when the actor last looked."],
];

const OWNED_FAMILIES: readonly ["counter" | "gauge", Numbers<OwnedMetrics>, string, string][] = [
  ["gauge", "epoch", "epoch", "Of a partition that this node owns: since which revision of etcd."],
  ["counter", "appends", "appends_total", "Appends to the replicated log that etcd has acknowledged."],
  ["counter", "appendSeconds", "append_seconds_total", "How long those took."],
  ["counter", "appendedBytes", "appended_bytes_total", "Bytes of those."],
  ["gauge", "unacknowledgedBytes", "unacknowledged_bytes", "Bytes of commits that wait for etcd."],
];

/** Registers the actors' metrics; the returned function replaces their values. */
export function actorMetrics(registry: Registry): (actors: readonly ActorMetrics[]) => void {
  const registers = [registry];
  const set: ((actors: readonly ActorMetrics[]) => void)[] = [];
  for (const [field, suffix, help] of ACTOR_COUNTERS) {
    const metric = new Counter({ name: `tessera_actor_${suffix}`, help, labelNames: ["actor"], registers });
    set.push((actors) => {
      metric.reset();
      for (const one of actors) metric.inc({ actor: one.actor }, one[field]);
    });
  }
  for (const [field, suffix, help] of ACTOR_GAUGES) {
    const metric = new Gauge({ name: `tessera_actor_${suffix}`, help, labelNames: ["actor"], registers });
    set.push((actors) => {
      metric.reset();
      for (const one of actors) metric.set({ actor: one.actor }, one[field]);
    });
  }
  for (const [field, suffix, help] of ACTOR_HISTOGRAMS) {
    const metric = new ActorHistogram(field, `tessera_actor_${suffix}`, help, registry);
    set.push((actors) => metric.replace(actors));
  }
  const partitionsOf = (actors: readonly ActorMetrics[]) => actors.flatMap(({ partitions }) => partitions);
  for (const [field, suffix, help] of PARTITION_COUNTERS) {
    const metric = new Counter({ name: `tessera_partition_${suffix}`, help, labelNames: ["partition"], registers });
    set.push((actors) => {
      metric.reset();
      for (const one of partitionsOf(actors)) metric.inc({ partition: one.partition }, one[field]);
    });
  }
  for (const [field, suffix, help] of PARTITION_GAUGES) {
    const metric = new Gauge({ name: `tessera_partition_${suffix}`, help, labelNames: ["partition"], registers });
    set.push((actors) => {
      metric.reset();
      for (const one of partitionsOf(actors)) metric.set({ partition: one.partition }, one[field]);
    });
  }
  for (const [field, suffix, help] of USAGE_COUNTERS) {
    const labelNames = ["actor", "tenant"];
    const metric = new Counter({ name: `tessera_${suffix}_total`, help, labelNames, registers });
    set.push((actors) => {
      metric.reset();
      for (const { actor, modelUsage } of actors) {
        for (const one of modelUsage) metric.inc({ actor, tenant: one.tenant }, one[field]);
      }
    });
  }
  set.push(
    inferenceMetrics(registers),
    scheduleMetrics(registers),
    ...threadMetrics(registers),
    ...storageMetrics(registers),
    ...clusterMetrics(registers),
  );
  return (actors) => {
    for (const each of set) each(actors);
  };
}

/** A backup that is late shows as a last success that is longer ago than it should be. */
function scheduleMetrics(registers: Registry[]): (actors: readonly ActorMetrics[]) => void {
  const fields: readonly [Numbers<ScheduleMetrics>, string, string][] = [
    [
      "lastSuccessSeconds",
      "last_success_timestamp_seconds",
      "When the schedule last made a backup, verified; 0: never.",
    ],
    ["nextSeconds", "next_timestamp_seconds", "When its next backup is due; 0: it is disabled."],
    ["completed", "completed_total", "Backups that the schedule has made."],
    ["failures", "failures_total", "Attempts at them that failed."],
  ];
  const labelNames = ["schedule", "tenant"];
  const gauges = fields.map(([field, suffix, help]) => ({
    field,
    // Records, which outlive the process, and no counters of it.
    metric: new Gauge({ name: `tessera_backup_schedule_${suffix}`, help, labelNames, registers }),
  }));
  return (actors) => {
    for (const { field, metric } of gauges) {
      metric.reset();
      for (const one of actors.flatMap(({ schedules }) => schedules)) {
        metric.set({ schedule: one.schedule, tenant: one.tenant ?? "(installation)" }, one[field]);
      }
    }
  };
}

function inferenceMetrics(registers: Registry[]): (actors: readonly ActorMetrics[]) => void {
  const set: ((actor: number, metrics: InferenceMetrics) => void)[] = [];
  const resets: (() => void)[] = [];
  for (const [field, suffix, help] of INFERENCE_COUNTERS) {
    const name = `tessera_inference_${suffix}_total`;
    const metric = new Counter({ name, help, labelNames: ["actor"], registers });
    resets.push(() => metric.reset());
    set.push((actor, metrics) => metric.inc({ actor }, metrics[field]));
  }
  for (const [field, suffix, help] of INFERENCE_GAUGES) {
    const name = `tessera_inference_${suffix}`;
    const metric = new Gauge({ name, help, labelNames: ["actor"], registers });
    resets.push(() => metric.reset());
    set.push((actor, metrics) => metric.set({ actor }, metrics[field]));
  }
  return (actors) => {
    for (const reset of resets) reset();
    for (const { actor, inference } of actors) if (inference !== null) for (const each of set) each(actor, inference);
  };
}

type Values = readonly (readonly [labels: Readonly<Record<string, string | number>>, value: number])[];
type Setter = (actors: readonly ActorMetrics[]) => void;

/** A metric with labels of its own: `values` are all that it has. */
function family(
  registers: Registry[],
  kind: "counter" | "gauge",
  name: string,
  help: string,
  labelNames: string[],
  values: (actors: readonly ActorMetrics[]) => Values,
): Setter {
  const made = { name: `tessera_${name}`, help, labelNames, registers };
  if (kind === "counter") {
    const metric = new Counter(made);
    return (actors) => {
      metric.reset();
      for (const [labels, value] of values(actors)) metric.inc(labels, value);
    };
  }
  const metric = new Gauge(made);
  return (actors) => {
    metric.reset();
    for (const [labels, value] of values(actors)) metric.set(labels, value);
  };
}

/** In a cluster alone: of what the actors own and follow. */
function clusterMetrics(registers: Registry[]): Setter[] {
  const nodes = (actors: readonly ActorMetrics[]) =>
    actors.flatMap(({ actor, cluster }) => (cluster === null ? [] : [{ actor, cluster }]));
  const ofActor = (field: Numbers<ClusterMetrics>) => (actors: readonly ActorMetrics[]) =>
    nodes(actors).map(({ actor, cluster }) => [{ actor }, cluster[field]] as const);
  const ofOwned = (field: Numbers<OwnedMetrics>) => (actors: readonly ActorMetrics[]) =>
    nodes(actors).flatMap(({ cluster }) =>
      cluster.owned.map((one) => [{ partition: one.partition }, one[field]] as const),
    );
  const lag = (actors: readonly ActorMetrics[]) =>
    nodes(actors).flatMap(({ cluster }) =>
      cluster.copies.map(({ partition, lagCommits }) => [{ partition }, lagCommits] as const),
    );
  return [
    ...CLUSTER_FAMILIES.map(([kind, field, suffix, help]) =>
      family(registers, kind, `cluster_${suffix}`, help, ["actor"], ofActor(field)),
    ),
    ...OWNED_FAMILIES.map(([kind, field, suffix, help]) =>
      family(registers, kind, `cluster_${suffix}`, help, ["partition"], ofOwned(field)),
    ),
    family(
      registers,
      "gauge",
      "cluster_copy_lag_commits",
      "Of a partition that another node owns: commits that are on a disk elsewhere and not on this node's.",
      ["partition"],
      lag,
    ),
  ];
}

/** Of actors' threads and their pools. */
function threadMetrics(registers: Registry[]): Setter[] {
  const threads = (actors: readonly ActorMetrics[]) =>
    actors.flatMap(({ actor, thread }) => (thread === null ? [] : [{ actor, thread }]));
  const pools = (actors: readonly ActorMetrics[]) =>
    threads(actors).flatMap(({ actor, thread }) => thread.pools.map((pool) => ({ actor, pool })));
  const collections = (value: "count" | "seconds") => (actors: readonly ActorMetrics[]) =>
    threads(actors).flatMap(({ actor, thread }) =>
      Object.entries(thread.collections).map(([kind, counted]) => [{ actor, kind }, counted[value]] as const),
    );
  const ofThread = (actors: readonly ActorMetrics[], field: Numbers<ThreadMetrics>): Values =>
    threads(actors).map(({ actor, thread }) => [{ actor }, thread[field]] as const);
  const gc = ["actor", "kind"];
  return [
    family(registers, "counter", "actor_gc_total", "Garbage collections of the thread.", gc, collections("count")),
    family(registers, "counter", "actor_gc_seconds_total", "Time that they took.", gc, collections("seconds")),
    family(
      registers,
      "gauge",
      "actor_event_loop_lag_seconds",
      "How late the actor's loop was since the last reading.",
      ["actor", "quantile"],
      (actors) =>
        threads(actors).flatMap(({ actor, thread }) => [
          [{ actor, quantile: "0.5" }, thread.lagP50Seconds] as const,
          [{ actor, quantile: "0.99" }, thread.lagP99Seconds] as const,
          [{ actor, quantile: "1" }, thread.lagMaxSeconds] as const,
        ]),
    ),
    ...THREAD_GAUGES.map(([field, suffix, help]) =>
      family(registers, "gauge", `actor_${suffix}`, help, ["actor"], (actors) => ofThread(actors, field)),
    ),
    ...POOL_GAUGES.map(([field, suffix, help]) =>
      family(registers, "gauge", `task_pool_${suffix}`, help, ["actor", "pool"], (actors) =>
        pools(actors).map(({ actor, pool }) => [{ actor, pool: pool.pool }, pool[field]] as const),
      ),
    ),
    family(registers, "counter", "task_pool_tasks_total", "Tasks that have ended.", ["actor", "pool"], (actors) =>
      pools(actors).map(({ actor, pool }) => [{ actor, pool: pool.pool }, pool.completed] as const),
    ),
  ];
}

/** Of partitions: their engines, the records in front of them, and their jobs. */
function storageMetrics(registers: Registry[]): Setter[] {
  const partitions = (actors: readonly ActorMetrics[]) => actors.flatMap((actor) => actor.partitions);
  const engines = (actors: readonly ActorMetrics[]) =>
    partitions(actors).flatMap(({ partition, engine }) => (engine === null ? [] : [{ partition, engine }]));
  const caches = (actors: readonly ActorMetrics[]) =>
    partitions(actors).flatMap(({ partition, recordCache }) =>
      recordCache === null ? [] : [{ partition, cache: recordCache }],
    );
  const levels = (value: "files" | "bytes") => (actors: readonly ActorMetrics[]) =>
    engines(actors).flatMap(({ partition, engine }) =>
      engine.levels.map((one) => [{ partition, level: one.level }, one[value]] as const),
    );
  return [
    ...ENGINE_GAUGES.map(([field, suffix, help]) =>
      family(registers, "gauge", `rocksdb_${suffix}`, help, ["partition"], (actors) =>
        engines(actors).map(({ partition, engine }) => [{ partition }, engine[field]] as const),
      ),
    ),
    family(registers, "gauge", "rocksdb_files", "Files by level.", ["partition", "level"], levels("files")),
    family(
      registers,
      "gauge",
      "rocksdb_file_bytes",
      "Their size, in whole MiB.",
      ["partition", "level"],
      levels("bytes"),
    ),
    ...RECORD_CACHE_GAUGES.map(([field, suffix, help]) =>
      family(registers, "gauge", `record_cache_${suffix}`, help, ["partition"], (actors) =>
        caches(actors).map(({ partition, cache }) => [{ partition }, cache[field]] as const),
      ),
    ),
    family(
      registers,
      "counter",
      "record_cache_lookups_total",
      "Reads by key, by whether the record was in memory.",
      ["partition", "result"],
      (actors) =>
        caches(actors).flatMap(({ partition, cache }) => [
          [{ partition, result: "hit" }, cache.hits] as const,
          [{ partition, result: "miss" }, cache.misses] as const,
        ]),
    ),
    family(registers, "gauge", "jobs", "Background jobs by kind.", ["partition", "kind", "state"], (actors) =>
      partitions(actors).flatMap(({ partition, jobs }) =>
        jobs.flatMap(({ kind, running, waiting }) => [
          [{ partition, kind, state: "running" }, running] as const,
          [{ partition, kind, state: "waiting" }, waiting] as const,
        ]),
      ),
    ),
  ];
}
