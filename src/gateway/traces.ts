/**
 * Traces of requests, sent to a collector by OpenTelemetry's protocol (OTLP over HTTP). Made by the gateway where
 * telemetry.traces_endpoint is set; its packages are loaded only then. It decides which requests are traced, and
 * exports the spans that the gateway and the actors send. The queue is bounded: what a collector does not take in time
 * is dropped.
 */
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base";
import type { Config } from "../protocol/config.js";
import { TRACE_QUEUE_SPANS_MAX } from "../protocol/limits.js";
import { newSpanId, newTraceId, parseTraceparent, type SpanRecord, type TraceContext } from "../protocol/tracing.js";

const EXPORT_TIMEOUT_MS = 10_000;
const EXPORT_DELAY_MS = 1_000;
const BATCH_SPANS = 512;
/** How long the end of the server waits for the collector. */
const CLOSE_MS = 2_000;

/** As OpenTelemetry counts them. */
const KIND_INTERNAL = 0;
const KIND_SERVER = 1;
const STATUS_UNSET = 0;
const STATUS_ERROR = 2;
const FLAG_SAMPLED = 1;

/** A request that is traced: its own span, and what is around it. */
export interface RequestTrace extends TraceContext {
  /** "": it begins the trace. */
  readonly parentId: string;
}

interface Processor {
  onEnd(span: ReadableSpan): void;
  shutdown(): Promise<void>;
}

export class Traces {
  private readonly sampleBelow: number;

  private constructor(
    private readonly processor: Processor,
    private readonly resource: ReadableSpan["resource"],
    sampleRatio: number,
  ) {
    this.sampleBelow = sampleRatio * 2 ** 32;
  }

  static async start({ tracesEndpoint, headers, serviceName, sampleRatio }: Config["telemetry"], version: string) {
    const [{ BatchSpanProcessor }, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
      import("@opentelemetry/sdk-trace-base"),
      import("@opentelemetry/exporter-trace-otlp-http"),
      import("@opentelemetry/resources"),
    ]);
    const pairs = headers.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    });
    const exporter = new OTLPTraceExporter({
      url: tracesEndpoint,
      headers: Object.fromEntries(pairs),
      timeoutMillis: EXPORT_TIMEOUT_MS,
    });
    const processor = new BatchSpanProcessor(exporter, {
      maxQueueSize: TRACE_QUEUE_SPANS_MAX,
      maxExportBatchSize: BATCH_SPANS,
      scheduledDelayMillis: EXPORT_DELAY_MS,
      exportTimeoutMillis: EXPORT_TIMEOUT_MS,
    });
    const resource = resourceFromAttributes({
      "service.name": serviceName,
      "service.version": version,
      "process.pid": process.pid,
    });
    return new Traces(processor, resource, sampleRatio);
  }

  /** A caller that is traced decides; others are chosen by their new ids. Null: the request is not traced. */
  choose(traceparent: string): RequestTrace | null {
    const given = traceparent === "" ? null : parseTraceparent(traceparent);
    if (given !== null) {
      return given.sampled ? { traceId: given.traceId, spanId: newSpanId(), parentId: given.spanId } : null;
    }
    if (Math.random() * 2 ** 32 >= this.sampleBelow) return null;
    return { traceId: newTraceId(), spanId: newSpanId(), parentId: "" };
  }

  record(spans: readonly SpanRecord[]): void {
    for (const span of spans) this.processor.onEnd(this.readable(span));
  }

  /** Sends what waits, if the collector takes it in time. Never rejects. */
  async close(): Promise<void> {
    const late = new Promise<void>((resolve) => setTimeout(resolve, CLOSE_MS).unref());
    await Promise.race([this.processor.shutdown().catch(() => undefined), late]);
  }

  private readable({ traceId, spanId, parentId, name, isServer, startMs, endMs, attributes, error }: SpanRecord) {
    const context = { traceId, spanId, traceFlags: FLAG_SAMPLED };
    const span: ReadableSpan = {
      name,
      kind: isServer ? KIND_SERVER : KIND_INTERNAL,
      spanContext: () => context,
      ...(parentId === "" ? {} : { parentSpanContext: { traceId, spanId: parentId, traceFlags: FLAG_SAMPLED } }),
      startTime: timeOf(startMs),
      endTime: timeOf(endMs),
      duration: timeOf(endMs - startMs),
      status: error === null ? { code: STATUS_UNSET } : { code: STATUS_ERROR, message: error.slice(0, 500) },
      attributes: { ...attributes },
      links: [],
      events: [],
      ended: true,
      resource: this.resource,
      instrumentationScope: { name: "tessera" },
      ...{ droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
    };
    return span;
  }
}

/** Seconds and nanoseconds. */
function timeOf(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}
