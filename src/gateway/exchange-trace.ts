/**
 * The gateway's part of a traced request or socket message: admission, the wait for the actor, the writing of the
 * reply. Owned by its exchange or message request.
 */
import { newSpanId, type SpanRecord, type TraceContext, traceClock, traceparentOf } from "../protocol/tracing.js";
import type { Route } from "./route.js";
import type { RequestTrace, Traces } from "./traces.js";

export class ExchangeTrace {
  private readonly startMs = traceClock();
  private sentMs: number | null = null;
  private repliedMs: number | null = null;

  private constructor(private readonly ids: RequestTrace) {}

  /** Null: the request is not traced. */
  static choose(traces: Traces, traceparent: string): ExchangeTrace | null {
    const ids = traces.choose(traceparent);
    return ids === null ? null : new ExchangeTrace(ids);
  }

  get traceId(): string {
    return this.ids.traceId;
  }

  /** The reply's header of that name: what a client quotes, and looks the trace up by (W3C Trace Context). */
  get traceparent(): string {
    return traceparentOf(this.ids);
  }

  /** It goes to an actor, whose spans are children of this one. */
  sent(): TraceContext {
    this.sentMs ??= traceClock();
    return this.ids;
  }

  replied(): void {
    this.repliedMs = traceClock();
  }

  end({ endpoint, method, path }: Route, requestId: string, tenant: string | undefined, status: number): SpanRecord[] {
    const { traceId, spanId, parentId } = this.ids;
    const endMs = traceClock();
    const part = (name: string, startMs: number, partEndMs: number): SpanRecord => ({
      ...{ traceId, spanId: newSpanId(), parentId: spanId, name, isServer: false },
      ...{ startMs, endMs: partEndMs, attributes: {}, error: null },
    });
    const whole: SpanRecord = {
      ...{
        traceId,
        spanId,
        parentId,
        name: method === "MESSAGE" ? `${method} ${endpoint!.name}` : `${method} ${path}`,
        isServer: true,
        startMs: this.startMs,
        endMs,
      },
      attributes: {
        ...(method === "MESSAGE"
          ? { "network.protocol.name": "websocket", "tessera.status": status }
          : { "http.request.method": method, "http.route": path, "http.response.status_code": status }),
        "tessera.request_id": requestId,
        "tessera.endpoint": endpoint?.name ?? "",
        "tessera.tenant": tenant ?? "",
      },
      error: status >= 500 ? `status ${status}` : null,
    };
    const parts = [whole];
    if (this.sentMs !== null) parts.push(part("admit", this.startMs, this.sentMs));
    if (this.repliedMs !== null) parts.push(part("reply", this.repliedMs, endMs));
    return parts;
  }
}
