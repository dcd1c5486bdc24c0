/**
 * Token buckets: one per tenant for authenticated requests, and one per remote address for requests without a proven
 * credential, so that nobody without one can spend a tenant's budget. Refilled lazily when asked, on the steady clock.
 * Called by admission and by requests; owns the buckets.
 */
import { ERRORS } from "../protocol/errors.js";
import type { RequestHead } from "../protocol/frames.js";
import type { RateLimit } from "../protocol/identity.js";
import { Bucket } from "../protocol/token-bucket.js";
import type { Loss } from "./actor-link.js";

const BUCKETS_MAX = 100_000;
/** Candidates for eviction per new bucket. */
const LOOKED_AT_MAX = 32;

export class RateLimiter {
  private readonly tenants = new Map<string, Bucket>();
  private readonly addresses = new Map<string, Bucket>();

  constructor(
    private readonly standard: RateLimit,
    private readonly bucketsMax = BUCKETS_MAX,
  ) {}

  /** The tenant's bucket, with the tenant's own limit or, for null, the configured one. */
  ofTenant(tenantId: string, own: RateLimit | null, now: number): Bucket {
    const limit = own ?? this.standard;
    const bucket = this.bucketOf(this.tenants, tenantId, limit, now);
    bucket.configure(limit, now);
    return bucket;
  }

  /**
   * For requests that other nodes forward: each entry node counts its own, and the owner's bucket has them all.
   * @param tokens what the request costs.
   */
  chargeForwarded(
    { tenantId, rateLimit }: Pick<RequestHead, "tenantId" | "rateLimit">,
    now: number,
    tokens = 1,
  ): Loss | null {
    const bucket = this.ofTenant(tenantId, rateLimit ?? null, now);
    if (bucket.takeMany(now, tokens)) return null;
    return { code: "rate_limited", message: ERRORS.rate_limited.message, retryAfterSeconds: bucket.retryAfterSeconds };
  }

  ofAddress(address: string, now: number): Bucket {
    return this.bucketOf(this.addresses, networkOf(address), this.standard, now);
  }

  private bucketOf(buckets: Map<string, Bucket>, key: string, limit: RateLimit, now: number): Bucket {
    let bucket = buckets.get(key);
    if (bucket === undefined) {
      if (buckets.size >= this.bucketsMax) this.makeRoom(buckets, now);
      bucket = new Bucket(limit.perSecond, limit.burst, now);
      buckets.set(key, bucket);
    }
    return bucket;
  }

  /**
   * Full buckets with nothing running say nothing worth keeping; when none of the oldest is such, the oldest goes. Only
   * a few are looked at, so that a flood of new addresses costs no more than that each.
   */
  private makeRoom(buckets: Map<string, Bucket>, now: number): void {
    let looked = 0;
    for (const [key, bucket] of buckets) {
      if (++looked > LOOKED_AT_MAX) break;
      bucket.refill(now);
      if (bucket.inFlight === 0 && bucket.tokens >= bucket.burst) evict(buckets, key, bucket);
    }
    if (buckets.size < this.bucketsMax) return;
    for (const [key, bucket] of buckets) {
      evict(buckets, key, bucket);
      return;
    }
  }
}

function evict(buckets: Map<string, Bucket>, key: string, bucket: Bucket): void {
  bucket.detached = true;
  buckets.delete(key);
}

/** An IPv6 customer owns a whole /64, so that is what is counted; uWebSockets.js writes all eight groups. */
function networkOf(address: string): string {
  const groups = address.split(":");
  return groups.length === 8 ? groups.slice(0, 4).join(":") : address;
}
