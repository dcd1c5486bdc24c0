/**
 * How fast users whom issuers vouch for are stored. Each is a record that stays, so an issuer that makes up subjects
 * must not fill the disk faster than the tenant's requests are let in. Made by the `Directory`; owns the tenants'
 * buckets.
 */
import { DbError } from "../protocol/errors.js";
import type { RateLimit } from "../protocol/identity.js";
import { Bucket } from "../protocol/token-bucket.js";

const TENANTS_MAX = 10_000;

export class NewUserPace {
  private readonly buckets = new Map<string, Bucket>();

  /** `now`: of a steady clock. */
  constructor(
    private readonly standard: RateLimit,
    private readonly now: () => number,
  ) {}

  /** Throws `rate_limited`. `own`: the tenant's limit; null: that of the configuration. */
  take(tenantId: string, own: RateLimit | null): void {
    const limit = own ?? this.standard;
    const now = this.now();
    let bucket = this.buckets.get(tenantId);
    if (bucket === undefined) {
      if (this.buckets.size >= TENANTS_MAX) this.buckets.delete(this.buckets.keys().next().value as string);
      bucket = new Bucket(limit.perSecond, limit.burst, now);
      this.buckets.set(tenantId, bucket);
    }
    bucket.configure(limit, now);
    if (bucket.take(now)) return;
    throw new DbError("rate_limited", "Too many new users of the tenant at once; wait a moment.");
  }
}
