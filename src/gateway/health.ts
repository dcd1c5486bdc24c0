/**
 * Answers GET /health (the process lives; which partitions are up) and GET /health/ready (it may be sent requests).
 * Called by gateway.ts; stateless.
 */
import type { PartitionState } from "./actor-link.js";
import type { ActorPool } from "./actor-pool.js";
import type { Clock } from "./clock.js";
import { JSON_TYPE } from "./reply.js";
import type { Serve } from "./route.js";
import type { Watermarks } from "./watermarks.js";

/** "ok", "degraded" while a partition starts or restarts, "failed" once one was given up or found damaged. */
function overall(states: readonly PartitionState[]): string {
  if (states.includes("failed") || states.includes("damaged")) return "failed";
  return states.every((state) => state === "ready") ? "ok" : "degraded";
}

/** The payload is made again when a partition's state or the second changes; a request adds its id and the time. */
export function health(pool: ActorPool, clock: Clock, version: string): Serve {
  const startedAt = clock.now();
  let states: PartitionState[] = [];
  let second = -1;
  let data = "";
  let fields = "";
  const renew = (): void => {
    states = Array.from({ length: pool.partitions }, (_, partition) => pool.stateOf(partition));
    data = JSON.stringify({
      status: overall(states),
      version,
      uptime_seconds: second,
      partitions: states.map((status, partition) => ({ partition, status })),
    });
    fields = data.slice(1, -1);
  };
  return (exchange) => {
    const now = Math.floor((clock.now() - startedAt) / 1000);
    if (now !== second || !states.every((state, partition) => state === pool.stateOf(partition))) {
      second = now;
      renew();
    }
    const meta = `{"request_id":"${exchange.requestId}","timestamp":"${isoTime(clock.wall())}"}`;
    exchange.answer(200, JSON_TYPE, "Cache-Control: no-store", `{"data":${data},"meta":${meta},${fields}}`);
  };
}

/**
 * GET /health/ready: 200 once every partition serves; 503 while one does not, or the server is closing. Writes that are
 * refused for lack of space are reported but do not count, because reads are served.
 */
export function ready(pool: ActorPool, watermarks: Watermarks, closing: () => boolean, clock: Clock): Serve {
  return (exchange) => {
    const partitions = Array.from({ length: pool.partitions }, (_, partition) => ({
      partition,
      status: pool.stateOf(partition),
      ready: pool.stateOf(partition) === "ready",
    }));
    const isReady = !closing() && partitions.every((partition) => partition.ready);
    const data = JSON.stringify({
      ready: isReady,
      status: closing() ? "shutting_down" : overall(partitions.map(({ status }) => status)),
      writes: watermarks.refusal?.code ?? "taken",
      partitions,
    });
    const meta = `{"request_id":"${exchange.requestId}","timestamp":"${isoTime(clock.wall())}"}`;
    const body = `{"data":${data},"meta":${meta},${data.slice(1, -1)}}`;
    exchange.answer(isReady ? 200 : 503, JSON_TYPE, "Cache-Control: no-store", body);
  };
}

let stampMs = -1;
let stamp = "";

/** Many answers of one millisecond share the text. */
function isoTime(wallMs: number): string {
  if (wallMs !== stampMs) {
    stampMs = wallMs;
    stamp = new Date(wallMs).toISOString();
  }
  return stamp;
}
