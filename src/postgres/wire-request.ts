/**
 * The request that a connection has at its tenant's actor: one at a time, counted against the tenant's bounds. While
 * the tenant or its partition is at a bound, it is tried again and the client waits. Each connection owns one, here and
 * of Bolt.
 */
import type { Caller } from "../gateway/admission.js";
import type { Cancel } from "../gateway/clock.js";
import type { Services } from "../gateway/services.js";
import type { WireMetrics } from "../gateway/wire-metrics.js";
import { DbError, ERRORS } from "../protocol/errors.js";
import type { Bucket } from "../protocol/token-bucket.js";
import { wireCharge } from "../protocol/wire-charge.js";
import { type Heard, WireCall, type WireEndpoint, type WireProtocol } from "./wire-call.js";

/** The connection, as it is needed here. */
export interface RequestHost<K extends string> extends Heard {
  readonly services: Services;
  readonly caller: Caller | null;
  readonly session: number;
  readonly isClosed: boolean;
  /** For the metrics. */
  kindOf(endpoint: WireEndpoint, body: Uint8Array): K;
  fatal(error: DbError): void;
}

/** Between two tries to send a request while the tenant or its partition is at a bound. */
const RETRY_MS = 10;

export class WireRequest<K extends string> {
  private call: WireCall | null = null;
  private cancelRetry: Cancel | null = null;
  /** The tenant's bucket while the request runs. */
  private inFlight: Bucket | null = null;
  private kind: K;
  private sentMs = 0;

  constructor(
    private readonly host: RequestHost<K>,
    private readonly protocol: WireProtocol,
    private readonly metrics: WireMetrics<K>,
    first: K,
  ) {
    this.kind = first;
  }

  /** The actor has it. */
  get isUnderWay(): boolean {
    return this.call !== null;
  }

  /** The actor has it, or will get it. */
  get isBusy(): boolean {
    return this.call !== null || this.cancelRetry !== null;
  }

  /** Tries until the tenant's rate limit and the partition's bounds let it through. */
  ask(endpoint: WireEndpoint, body: Uint8Array, isPaid = false): void {
    this.cancelRetry = null;
    const { host } = this;
    if (host.isClosed) return;
    const { services, caller } = host;
    const bucket = services.admission.bucketOf(caller!);
    const isFull = bucket.inFlight >= services.config.limits.requestsPerTenantMax;
    if (isFull || !(isPaid || this.pays(bucket, endpoint, body))) {
      this.askLater(isFull ? RETRY_MS : RETRY_MS * 5, endpoint, body, isPaid);
      return;
    }
    const call = new WireCall(services, caller!, this.protocol, endpoint, host.session, host);
    try {
      this.call = call;
      if (call.begin(body)) {
        bucket.inFlight++;
        this.inFlight = bucket;
        this.kind = host.kindOf(endpoint, body);
        this.sentMs = services.clock.now();
        return;
      }
      this.call = null;
      this.askLater(RETRY_MS, endpoint, body, true);
    } catch (error) {
      this.call = null;
      host.fatal(asDbError(error));
    }
  }

  private pays(bucket: Bucket, endpoint: WireEndpoint, body: Uint8Array): boolean {
    const { services, caller } = this.host;
    const own = caller!.identity.rateLimit;
    const tokens = wireCharge(`${this.protocol}.${endpoint}`, body, own, services.config);
    return bucket.takeMany(services.clock.now(), tokens);
  }

  private askLater(ms: number, endpoint: WireEndpoint, body: Uint8Array, isPaid: boolean): void {
    this.cancelRetry = this.host.services.clock.after(ms, () => this.ask(endpoint, body, isPaid));
  }

  /** The client can take more of the answer. */
  drained(): void {
    this.call?.drained();
  }

  /** `outcome`: whether there was an answer, be it an error. */
  ended(outcome: "answered" | "lost"): void {
    this.call = null;
    if (this.inFlight === null) return;
    this.inFlight.inFlight--;
    this.inFlight = null;
    this.metrics.count(this.kind, outcome, this.host.services.clock.now() - this.sentMs);
  }

  /** The client has left. */
  cancel(): void {
    this.cancelRetry?.();
    this.call?.cancel();
    this.ended("lost");
  }
}

export function asDbError(error: unknown): DbError {
  return error instanceof DbError ? error : new DbError("internal_error", ERRORS.internal_error.message);
}
