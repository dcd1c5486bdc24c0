/** The answer of GET /health: whether the process serves and which partitions are up. Called by gateway.ts; stateless. */
import type { PartitionState } from "./actor-link.js";
import type { ActorPool } from "./actor-pool.js";
import type { Clock } from "./clock.js";
import { JSON_TYPE } from "./reply.js";
import type { Serve } from "./route.js";

/** "ok", "degraded" while a partition starts or restarts, "failed" once one was given up or found damaged. */
function overall(states: readonly PartitionState[]): string {
  if (states.includes("failed") || states.includes("damaged")) return "failed";
  return states.every((state) => state === "ready") ? "ok" : "degraded";
}

/** The payload is made anew when a partition's state or the second changes; a request adds its id and the time. */
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
