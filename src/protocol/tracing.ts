/**
 * Traces of requests: spans as they cross between threads, and W3C Trace Context
 * (https://www.w3.org/TR/trace-context/), the header that continues a caller's trace.
 */
import { randomBytes } from "node:crypto";

export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Of the span around: 16 hexadecimal digits. */
  readonly spanId: string;
}

/** A span that has ended, as threads send it to the gateway, which exports it. */
export interface SpanRecord {
  readonly traceId: string;
  readonly spanId: string;
  /** "": there is none. */
  readonly parentId: string;
  readonly name: string;
  /** Of the request as its client sees it; else a part of it. */
  readonly isServer: boolean;
  /** Milliseconds since 1970, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** What went wrong; null: nothing. */
  readonly error: string | null;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Null for what is no traceparent: then the request begins a trace of its own. */
export function parseTraceparent(header: string): (TraceContext & { readonly sampled: boolean }) | null {
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(header) ?? [];
  if (traceId === undefined || spanId === undefined || version === "ff") return null;
  // Later versions may say more; this one may not.
  if (more !== undefined && version === "00") return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags!, 16) & 1) === 1 };
}

/** Of a span that is sampled. */
export function traceparentOf({ traceId, spanId }: TraceContext): string {
  return `00-${traceId}-${spanId}-01`;
}

export function newTraceId(): string {
  return randomBytes(16).toString("hex");
}

export function newSpanId(): string {
  return randomBytes(8).toString("hex");
}

/** The same clock in all threads: milliseconds since 1970, with fractions. */
export function traceClock(): number {
  return performance.timeOrigin + performance.now();
}
