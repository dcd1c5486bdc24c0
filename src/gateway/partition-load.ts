/**
 * Bounds what is in flight to one partition: requests and the bytes of their bodies. Called by requests and by the
 * messages of WebSockets; the pool owns the counts.
 */
import type { Loss } from "./actor-link.js";
import type { Services } from "./services.js";

/** A request that is sent on more often finds two partitions that disagree. */
export const REDIRECTS_MAX = 8;

/** A request cannot follow its partition or tenant when pieces of its body went to the place where that was before. */
export const BODY_LEFT_BEHIND: Loss = {
  code: "partition_unavailable",
  message: "The partition or the tenant moved while the body was sent; retry.",
  retryAfterSeconds: 1,
};

/** Counts a request and its body; false when a bound is reached. */
export function reserve({ pool, config }: Services, partition: number, bytes: number): boolean {
  const { requestsPerPartitionMax, requestBytesPerPartitionMax } = config.limits;
  if (pool.requestsInFlight[partition]! >= requestsPerPartitionMax) return false;
  if (pool.bytesInFlight[partition]! + bytes > requestBytesPerPartitionMax) return false;
  pool.requestsInFlight[partition]!++;
  pool.bytesInFlight[partition]! += bytes;
  return true;
}

/** The request went to the wrong partition and is sent on, whatever the bounds of the right one. */
export function redirect({ pool }: Services, from: number, to: number, bytes: number): void {
  pool.requestsInFlight[from]!--;
  pool.bytesInFlight[from]! -= bytes;
  pool.requestsInFlight[to]!++;
  pool.bytesInFlight[to]! += bytes;
}

export function release({ pool }: Services, partition: number, bytes: number): void {
  pool.requestsInFlight[partition]!--;
  pool.bytesInFlight[partition]! -= bytes;
}
