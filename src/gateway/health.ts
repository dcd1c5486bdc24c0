/** The answer of GET /health: whether the process serves and which partitions are up. Called by gateway.ts; stateless. */
import type { LinkState } from "./actor-link.js";
import type { ActorPool } from "./actor-pool.js";
import type { Clock } from "./clock.js";
import { JSON_TYPE } from "./reply.js";
import type { Serve } from "./route.js";

/** "ok", "degraded" while a partition starts or restarts, "failed" once one was given up. */
function overall(states: readonly LinkState[]): string {
  if (states.includes("failed")) return "failed";
  return states.every((state) => state === "ready") ? "ok" : "degraded";
}

export function health(pool: ActorPool, clock: Clock, version: string): Serve {
  const startedAt = clock.now();
  return (exchange) => {
    const partitions = Array.from({ length: pool.partitions }, (_, partition) => ({
      partition,
      status: pool.stateOf(partition) as string,
    }));
    const data = {
      status: overall(partitions.map(({ partition }) => pool.stateOf(partition))),
      version,
      uptime_seconds: Math.round(clock.now() - startedAt) / 1000,
      partitions,
    };
    const meta = { request_id: exchange.requestId, timestamp: new Date(clock.wall()).toISOString() };
    exchange.answer(200, JSON_TYPE, "Cache-Control: no-store", JSON.stringify({ data, meta, ...data }));
  };
}
