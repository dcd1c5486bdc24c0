/**
 * The spans of one request while the actor works on it: waiting for its turn, planning, running, computing by models
 * and waiting for the disk. Only requests that the gateway traces have one. It is made when the gateway says so, ahead
 * of the request's frame, and its spans go back to the gateway when the answer leaves.
 */

import { DbError } from "../protocol/errors.js";
import { TRACE_SPANS_MAX } from "../protocol/limits.js";
import { newSpanId, type SpanRecord, type TraceContext, traceClock } from "../protocol/tracing.js";

type Attributes = Record<string, string | number | boolean>;

export class Trace {
  private readonly spans: SpanRecord[] = [];
  /** The span of all that happens here, in the gateway's. */
  private readonly spanId = newSpanId();
  private readonly arrivedMs = traceClock();
  private handledMs: number | null = null;

  constructor(
    private readonly context: TraceContext,
    private readonly actor: number,
    private readonly send: (spans: readonly SpanRecord[]) => void,
  ) {}

  get traceId(): string {
    return this.context.traceId;
  }

  /** It is the request's turn. */
  began(): void {
    this.add("queue", this.arrivedMs, {}, null);
  }

  /** Begins a part; what is returned ends it, with what went wrong if anything did. */
  begin(name: string, attributes: Attributes = {}): (error?: unknown) => void {
    const startMs = traceClock();
    return (error) => this.add(name, startMs, attributes, error === undefined ? null : classOf(error));
  }

  /** The handler has answered; what follows is the wait for the disk. */
  handled(): void {
    this.handledMs = traceClock();
  }

  /** The answer leaves. `endpoint` names the whole. */
  end(endpoint: string, status: number): void {
    const now = traceClock();
    if (this.handledMs !== null && now - this.handledMs > 0.05) this.add("commit", this.handledMs, {}, null);
    const { traceId, spanId } = this.context;
    this.send([
      {
        ...{ traceId, spanId: this.spanId, parentId: spanId, name: endpoint, isServer: false },
        ...{ startMs: this.arrivedMs, endMs: now },
        attributes: { "tessera.actor": this.actor, "http.response.status_code": status },
        error: status >= 500 ? `status ${status}` : null,
      },
      ...this.spans.splice(0),
    ]);
  }

  private add(name: string, startMs: number, attributes: Attributes, error: string | null): void {
    if (this.spans.length >= TRACE_SPANS_MAX) return;
    const { traceId } = this.context;
    const ids = { traceId, spanId: newSpanId(), parentId: this.spanId };
    this.spans.push({ ...ids, name, isServer: false, startMs, endMs: traceClock(), attributes, error });
  }
}

/** Messages of errors name values of rows and statements, which collectors do not get. */
function classOf(error: unknown): string {
  if (error instanceof DbError) return [error.code, error.details?.sqlstate ?? []].flat().join(" ");
  return error instanceof Error ? error.name : typeof error;
}

/** The work as a part of the trace, if there is one. */
export async function traced<T>(
  trace: Trace | null | undefined,
  name: string,
  attributes: Attributes,
  work: () => Promise<T>,
): Promise<T> {
  const end = trace?.begin(name, attributes);
  try {
    const done = await work();
    end?.();
    return done;
  } catch (error) {
    end?.(error);
    throw error;
  }
}
