/**
 * Requests of a protocol beside HTTP, counted where they are served: by the gateway, and by actors for the sockets that
 * they have. GET /metrics adds them up.
 */
import { DurationCounts } from "./duration-counts.js";

export const OUTCOMES = ["answered", "lost"] as const;
/** Whether there was an answer, be it an error. */
export type Outcome = (typeof OUTCOMES)[number];

/** By the kinds' places; it crosses threads. */
export interface CountedRequests {
  readonly requests: Readonly<Record<Outcome, readonly number[]>>;
  readonly durations: Pick<DurationCounts, "times" | "sumsMs">;
}

export class RequestCounts<K extends string> implements CountedRequests {
  readonly requests: Readonly<Record<Outcome, number[]>>;
  readonly durations: DurationCounts;

  constructor(private readonly kinds: readonly K[]) {
    this.requests = { answered: kinds.map(() => 0), lost: kinds.map(() => 0) };
    this.durations = new DurationCounts(kinds.length);
  }

  count(kind: K, outcome: Outcome, tookMs: number): void {
    const place = this.kinds.indexOf(kind);
    this.requests[outcome][place]!++;
    this.durations.count(place, tookMs);
  }

  /** For another thread. */
  get plain(): CountedRequests {
    const { requests, durations } = this;
    return { requests, durations: { times: durations.times, sumsMs: durations.sumsMs } };
  }
}
