/**
 * Counters of requests: plain arrays on the hot path, turned into Prometheus metrics only when /metrics is read. The
 * actors' counters are asked for at that moment. Requests count here; server routes render; owns the counters.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import {
  type ActorMetrics,
  type Histogram as Counts,
  type InferenceMetrics,
  type ModelUsage,
  type PartitionMetrics,
  SCHEDULER_BUCKETS_MS,
} from "../protocol/messages.js";
import type { ActorPool } from "./actor-pool.js";
import type { Watermarks } from "./watermarks.js";

const STATUSES = 600;
/** Upper bounds, milliseconds. */
const BUCKETS_MS = [0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000];
const SLOTS = BUCKETS_MS.length + 1;
/** An actor that is busy for longer is left out of this reading. */
const ACTOR_ANSWER_MS_MAX = 1_000;

export interface RouteLabels {
  readonly method: string;
  readonly path: string;
}

/** Counts by route and status, and times by route. */
export class RequestMetrics {
  readonly #counts: Float64Array;
  readonly #times: Float64Array;
  readonly #sumsMs: Float64Array;

  constructor(readonly routes: readonly RouteLabels[]) {
    this.#counts = new Float64Array(routes.length * STATUSES);
    this.#times = new Float64Array(routes.length * SLOTS);
    this.#sumsMs = new Float64Array(routes.length);
  }

  count(route: number, status: number, tookMs: number): void {
    let slot = 0;
    while (slot < BUCKETS_MS.length && tookMs > BUCKETS_MS[slot]!) slot++;
    this.#counts[route * STATUSES + status]!++;
    this.#times[route * SLOTS + slot]!++;
    this.#sumsMs[route]! += tookMs;
  }

  /** Every count that is not zero. */
  eachCount(visit: (labels: RouteLabels, status: number, count: number) => void): void {
    for (let i = 0; i < this.#counts.length; i++) {
      const count = this.#counts[i]!;
      if (count > 0) visit(this.routes[Math.floor(i / STATUSES)]!, i % STATUSES, count);
    }
  }

  /** Samples of a Prometheus histogram, times in seconds. */
  histogramSamples(name: string): Sample[] {
    const samples: Sample[] = [];
    for (const [index, { method, path }] of this.routes.entries()) {
      let total = 0;
      const buckets: Sample[] = [];
      for (let slot = 0; slot < SLOTS; slot++) {
        total += this.#times[index * SLOTS + slot]!;
        const le = slot < BUCKETS_MS.length ? String(BUCKETS_MS[slot]! / 1000) : "+Inf";
        buckets.push({ metricName: `${name}_bucket`, labels: { le, method, route: path }, value: total });
      }
      if (total === 0) continue;
      const labels = { method, route: path };
      samples.push(...buckets);
      samples.push({ metricName: `${name}_sum`, labels, value: this.#sumsMs[index]! / 1000 });
      samples.push({ metricName: `${name}_count`, labels, value: total });
    }
    return samples;
  }
}

interface Sample {
  readonly metricName: string;
  readonly labels: Record<string, string>;
  readonly value: number;
}

/** A histogram of the actors, as they counted it. */
class ActorHistogram extends Histogram<"actor"> {
  private samples: Sample[] = [];

  constructor(
    readonly of: ActorHistogramName,
    name: string,
    help: string,
    registry: Registry,
  ) {
    super({ name, help, registers: [registry] });
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

/** A histogram whose buckets are counted elsewhere: prom-client's own is too slow for every request. */
class RequestDurations extends Histogram<"method" | "route"> {
  constructor(
    private readonly requests: RequestMetrics,
    registry: Registry,
  ) {
    const name = "tessera_http_request_duration_seconds";
    super({ name, help: "Time from a request's headers to its reply's last byte.", registers: [registry] });
  }

  /** The registry asks this for text instead of `get`. */
  async getForPromString(): Promise<object> {
    const { name, help } = this as unknown as { name: string; help: string };
    return { name, help, type: "histogram", values: this.requests.histogramSamples(name), aggregator: "sum" };
  }
}

export interface MetricsPage {
  readonly contentType: string;
  render(): Promise<string>;
}

/** Builds the registry over the counters; `open` tells how many requests run and how many WebSockets are open. */
export function metricsPage(
  requests: RequestMetrics,
  pool: ActorPool,
  open: { readonly requests: () => number; readonly sockets: () => number },
  watermarks: Watermarks,
): MetricsPage {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  new RequestDurations(requests, registry);
  new Counter({
    name: "tessera_http_requests_total",
    help: "Requests answered.",
    labelNames: ["method", "route", "status"],
    registers,
    collect() {
      this.reset();
      requests.eachCount(({ method, path }, status, count) => this.inc({ method, route: path, status }, count));
    },
  });
  new Gauge({
    name: "tessera_http_requests_open",
    help: "Requests that have begun and not ended.",
    registers,
    collect() {
      this.set(open.requests());
    },
  });
  new Gauge({
    name: "tessera_websocket_connections",
    help: "WebSockets that are open.",
    registers,
    collect() {
      this.set(open.sockets());
    },
  });
  addPartitionGauges(registry, pool);
  addRoomGauges(registers, watermarks);
  const setActors = actorMetrics(registry);
  return {
    contentType: registry.contentType,
    async render() {
      setActors(await pool.collectMetrics(ACTOR_ANSWER_MS_MAX));
      return registry.metrics();
    },
  };
}

function addRoomGauges(registers: Registry[], watermarks: Watermarks): void {
  const gauges: readonly [string, string, () => number][] = [
    ["disk_free_bytes", "Bytes left on the disk of the data directory.", () => watermarks.room?.diskFreeBytes ?? 0],
    ["memory_bytes_max", "Memory above which what needs room is refused.", () => watermarks.memoryBytesMax],
    ["writes_refused", "1 while what needs room is refused.", () => (watermarks.refusal === null ? 0 : 1)],
  ];
  for (const [suffix, help, value] of gauges) {
    new Gauge({
      name: `tessera_${suffix}`,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
  }
}

function addPartitionGauges(registry: Registry, pool: ActorPool): void {
  const each = (visit: (partition: number) => void): void => {
    for (let partition = 0; partition < pool.partitions; partition++) visit(partition);
  };
  const labelNames = ["partition"];
  new Gauge({
    name: "tessera_partition_up",
    help: "1 while the partition's actor serves.",
    labelNames,
    registers: [registry],
    collect() {
      each((partition) => this.set({ partition }, pool.stateOf(partition) === "ready" ? 1 : 0));
    },
  });
  new Gauge({
    name: "tessera_partition_requests_in_flight",
    help: "Requests sent to the partition's actor and not answered.",
    labelNames,
    registers: [registry],
    collect() {
      each((partition) => this.set({ partition }, pool.requestsInFlight[partition]!));
    },
  });
}

type Numbers<T> = { [K in keyof T]: T[K] extends number ? K : never }[keyof T];

const ACTOR_COUNTERS: readonly [Numbers<ActorMetrics>, string, string][] = [
  ["requests", "requests_total", "Requests that the actor has taken."],
  ["slowStatements", "slow_statements_total", "Statements that ran longer than query.slow_ms."],
  ["sliceOverruns", "slice_overruns_total", "Turns that took twice as long as they should, or longer."],
];
type ActorHistogramName = "slices" | "waits" | "firstWaits" | "sliceCpu";
const ACTOR_HISTOGRAMS: readonly [ActorHistogramName, string, string][] = [
  ["slices", "slice_seconds", "Time that a tenant's turn of the actor's loop took."],
  ["waits", "wait_seconds", "Time that requests and statements waited for their turns."],
  ["firstWaits", "begin_wait_seconds", "Time that requests waited until they began."],
  ["sliceCpu", "slice_cpu_seconds", "CPU time that a tenant's turn of the actor's loop took, of a sample of turns."],
];
const ACTOR_GAUGES: readonly [Numbers<ActorMetrics>, string, string][] = [
  ["running", "requests_running", "Requests that did not end at once."],
  ["waiting", "statements_waiting", "Requests that wait for their turn, and statements for their next slice."],
  ["longestSliceSeconds", "slice_seconds_max", "The longest turn since the actor started."],
  ["heapBytes", "heap_bytes", "JavaScript heap of the actor's thread."],
  ["eventLoopUtilization", "event_loop_utilization", "Share of time in which the actor's loop was busy."],
];
const PARTITION_COUNTERS: readonly [Numbers<PartitionMetrics>, string, string][] = [
  ["commits", "commits_total", "Transactions committed."],
  ["conflicts", "conflicts_total", "Commits refused because of a concurrent change."],
  ["syncs", "syncs_total", "Times the log was synced to disk."],
  ["syncSeconds", "sync_seconds_total", "Time spent in those."],
  ["planCacheHits", "plan_cache_hits_total", "Statements whose plan was cached."],
  ["planCacheMisses", "plan_cache_misses_total", "Statements that had to be planned."],
  ["indexRowsFolded", "search_index_folds_total", "Changed rows that were put into indexes for search."],
];
const PARTITION_GAUGES: readonly [Numbers<PartitionMetrics>, string, string][] = [
  ["logBytes", "log_bytes", "Size of the change log."],
  ["openTransactions", "open_transactions", "Interactive transactions that are open."],
  ["storedBytes", "stored_bytes", "Files of the partition and what is to be written to them, estimated."],
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

/** Registers the actors' metrics; the returned function replaces their values. */
function actorMetrics(registry: Registry): (actors: readonly ActorMetrics[]) => void {
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
  set.push(inferenceMetrics(registers));
  return (actors) => {
    for (const each of set) each(actors);
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
