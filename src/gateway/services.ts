/** The services that every request of this gateway uses. Made once by gateway.ts. */
import type { Logger } from "pino";
import type { Config } from "../protocol/config.js";
import type { PostgresKind } from "../protocol/postgres/message-kinds.js";
import type { ActorPool } from "./actor-pool.js";
import type { Admission } from "./admission.js";
import type { Clock } from "./clock.js";
import type { Compression } from "./compression.js";
import type { CorsPolicy } from "./cors.js";
import type { DeadlineQueue } from "./deadline-queue.js";
import type { LiveReplies } from "./live-replies.js";
import type { RequestMetrics } from "./metrics.js";
import type { PartitionRoutes } from "./partition-routes.js";
import type { RateLimiter } from "./rate-limiter.js";
import type { Refusals } from "./refusals.js";
import type { RequestIds } from "./request-ids.js";
import type { Tickets } from "./socket/tickets.js";
import type { Traces } from "./traces.js";
import type { BoltKind, WireMetrics } from "./wire-metrics.js";

export interface Services {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pool: ActorPool;
  /** Null: this is no node of a cluster. */
  readonly elsewhere: PartitionRoutes | null;
  readonly admission: Admission;
  readonly limiter: RateLimiter;
  readonly refusals: Refusals;
  readonly cors: CorsPolicy | null;
  readonly requestIds: RequestIds;
  /** Null: nothing is traced. */
  readonly traces: Traces | null;
  readonly tickets: Tickets;
  readonly liveReplies: LiveReplies;
  readonly compression: Compression;
  /** Whether answers are compressed where clients accept that. */
  readonly compresses: boolean;
  readonly metrics: RequestMetrics;
  readonly wire: WireMetrics<PostgresKind>;
  readonly bolt: WireMetrics<BoltKind>;
  readonly deadlines: { readonly normal: DeadlineQueue; readonly slow: DeadlineQueue };
  /** TCP connections, WebSockets included. */
  connections: number;
  /** Requests that have begun and not ended. */
  open: number;
  /** Bytes of bodies that are being received in pieces. */
  collectedBytes: number;
  /** New requests are answered with 503 and their connections closed. */
  closing: boolean;
  /** Told when the last open request ends while closing. */
  drained: (() => void) | null;
}
