/**
 * Counters of requests: plain arrays on the hot path, turned into Prometheus metrics only when /metrics is read. The
 * actors' counters are asked for at that moment. Requests count here; server routes render; owns the counters.
 */
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import { DurationCounts } from "../protocol/duration-counts.js";
import type { PostgresKind } from "../protocol/postgres/message-kinds.js";
import { actorMetrics } from "./actor-metrics.js";
import type { ActorPool } from "./actor-pool.js";
import type { Admission } from "./admission.js";
import type { Compression } from "./compression.js";
import { DurationHistogram, Durations } from "./durations.js";
import type { Watermarks } from "./watermarks.js";
import type { BoltKind, WireMetrics } from "./wire-metrics.js";

const STATUSES = 600;
/** An actor that is busy for longer is left out of this reading. */
const ACTOR_ANSWER_MS_MAX = 1_000;
/** Between two looks at how late the loop comes round. Each wakes an idle thread. */
const LOOP_LAG_MS = 100;

export interface RouteLabels {
  readonly method: string;
  readonly path: string;
}

/** Counts by route and status, and times by route. */
export class RequestMetrics {
  private readonly counts: Float64Array;
  private readonly times: DurationCounts;
  readonly durations: Durations;

  constructor(readonly routes: readonly RouteLabels[]) {
    this.counts = new Float64Array(routes.length * STATUSES);
    this.times = new DurationCounts(routes.length);
    const labels = routes.map(({ method, path }) => ({ method, route: path }));
    this.durations = new Durations(labels, () => [this.times]);
  }

  count(route: number, status: number, tookMs: number): void {
    this.counts[route * STATUSES + status]!++;
    this.times.count(route, tookMs);
  }

  /** Every count that is not zero. */
  eachCount(visit: (labels: RouteLabels, status: number, count: number) => void): void {
    for (let i = 0; i < this.counts.length; i++) {
      const count = this.counts[i]!;
      if (count > 0) visit(this.routes[Math.floor(i / STATUSES)]!, i % STATUSES, count);
    }
  }
}

export interface MetricFacts {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labels: readonly string[];
}

export interface MetricsPage {
  readonly contentType: string;
  /** Every metric that there can be, by name. */
  describe(): MetricFacts[];
  render(): Promise<string>;
}

/** What the page shows of the gateway; asked when it is read. */
export interface MetricsSources {
  readonly requests: RequestMetrics;
  readonly wire: WireMetrics<PostgresKind>;
  readonly bolt: WireMetrics<BoltKind>;
  readonly compression: Compression;
  readonly pool: ActorPool;
  readonly watermarks: Watermarks;
  readonly admission: Admission;
  readonly open: {
    readonly requests: () => number;
    readonly sockets: () => number;
    /** Sockets whose clients have not read everything, and the unread bytes. */
    readonly slowReaders: () => number;
    readonly unreadBytes: () => number;
    readonly connections: () => number;
    readonly bodyBytes: () => number;
  };
}

/** Builds the registry over the counters. */
export function metricsPage(sources: MetricsSources): MetricsPage {
  const { requests, pool } = sources;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_LAG_MS });
  const registers = [registry];
  new DurationHistogram(
    {
      name: "tessera_http_request_duration_seconds",
      help: "Time from a request's headers to its reply's last byte.",
      labelNames: ["method", "route"],
    },
    requests.durations,
    registry,
  );
  sources.wire.register(registry);
  sources.bolt.register(registry);
  sources.compression.register(registry);
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
  addPartitionGauges(registry, pool);
  addGatewayGauges(registers, sources);
  addWatchdog(registers, pool);
  addTokenCache(registers, sources.admission);
  const setActors = actorMetrics(registry);
  return {
    contentType: registry.contentType,
    describe: () =>
      registry
        .getMetricsAsArray()
        .map((metric) => {
          const { name, help, type, labelNames } = metric as unknown as MetricFacts & { readonly labelNames: string[] };
          return { name, type, help, labels: labelNames };
        })
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    async render() {
      const actors = await pool.collectMetrics(ACTOR_ANSWER_MS_MAX);
      setActors(actors);
      sources.wire.ofActors = actors.flatMap((actor) => actor.postgres);
      return registry.metrics();
    },
  };
}

function addGatewayGauges(registers: Registry[], { watermarks, open, admission }: MetricsSources): void {
  const gauges: readonly [string, string, () => number][] = [
    ["http_requests_open", "Requests that have begun and not ended.", () => open.requests()],
    ["connections", "TCP connections to the gateway.", () => open.connections()],
    ["websocket_connections", "WebSockets that are open.", () => open.sockets()],
    ["websocket_slow_readers", "WebSockets with something that the client has not read.", () => open.slowReaders()],
    ["websocket_unread_bytes", "Bytes that clients of WebSockets have not read.", () => open.unreadBytes()],
    ["body_bytes_receiving", "Bytes of bodies that are being received in pieces.", () => open.bodyBytes()],
    ["token_cache_entries", "Authorization headers that are known.", () => admission.cacheMetrics.entries],
    ["identities_cached", "Users and keys that are known.", () => admission.cacheMetrics.identities],
    ["identities_asked", "Users and keys that the directory is being asked for.", () => admission.cacheMetrics.asked],
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

function addWatchdog(registers: Registry[], pool: ActorPool): void {
  const counters: readonly [string, string, () => number][] = [
    ["actor_beats_late_total", "Times that an actor's thread was late to give way.", () => pool.watchdog.late],
    [
      "actors_stopped_total",
      "Times that an actor was ended for not giving way, or ran out of memory.",
      () => pool.watchdog.stopped,
    ],
  ];
  for (const [suffix, help, value] of counters) {
    new Counter({
      name: `tessera_${suffix}`,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(value());
      },
    });
  }
  new Gauge({
    name: "tessera_statement_shapes_refused",
    help: "Shapes of statements that are refused at the moment, since one like them was stopped.",
    registers,
    collect() {
      this.set(pool.stopped.size);
    },
  });
}

function addTokenCache(registers: Registry[], admission: Admission): void {
  new Counter({
    name: "tessera_token_cache_lookups_total",
    help: "Authorization headers that were looked up, by whether they were known.",
    labelNames: ["result"],
    registers,
    collect() {
      const { hits, misses } = admission.cacheMetrics;
      this.reset();
      this.inc({ result: "hit" }, hits);
      this.inc({ result: "miss" }, misses);
    },
  });
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
      each((partition) => this.set({ partition }, pool.serves(partition) ? 1 : 0));
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
