/**
 * The listening socket: makes the uWebSockets.js app, registers the routes, bounds the connections and closes in order.
 * uWebSockets.js runs on the main thread only. Called by gateway.ts; owns the app.
 */

import type { HttpResponse, us_listen_socket } from "uWebSockets.js";
import { setImmediate } from "node:timers/promises";
import type { Cancel } from "./clock.js";
import { loadUws } from "./load-uws.js";
import type { Route } from "./route.js";
import { registerRoutes } from "./router.js";
import type { Services } from "./services.js";
import type { Sockets } from "./socket/sockets.js";

/** How often deadlines are looked at: a request may run that much longer than its timeout. */
const TICK_MS = 250;
/** How often the uses of API keys are sent to the directory. */
const USAGE_REPORT_MS = 5_000;
/** How often clients of streams of events hear that they are connected. */
const KEEP_ALIVE_MS = 5_000;
/** How often refusals are sent to the audit trail. */
const REFUSALS_REPORT_MS = 1_000;

export interface Server {
  /** The port that is listened on. */
  readonly port: number;
  /**
   * Stops accepting, answers new requests on open connections with 503, waits for those that run up to the time given,
   * and then closes every connection.
   */
  close(timeoutMs: number): Promise<void>;
}

/** Throws when the address cannot be listened on. */
export async function startServer(services: Services, routes: readonly Route[], sockets: Sockets): Promise<Server> {
  const uws = await loadUws();
  const { host, port } = services.config.server;
  const app = uws.App();
  app.filter(connectionLimit(services.config.limits.connectionsMax));
  sockets.register(app);
  registerRoutes(app, routes, services);
  const socket = await new Promise<us_listen_socket | false>((resolve) => {
    app.listen(host, port, resolve);
  });
  if (socket === false) {
    throw new Error(`Cannot listen on ${host}:${port}: the address is in use or not one of this machine.`);
  }
  const realPort = uws.us_socket_local_port(socket as unknown as Parameters<typeof uws.us_socket_local_port>[0]);
  const timers = startTimers(services, sockets);
  return {
    port: realPort,
    async close(timeoutMs) {
      uws.us_listen_socket_close(socket);
      services.closing = true;
      sockets.close();
      await drained(services, timeoutMs);
      // The last reply may still be corked; it leaves at the end of this turn.
      await setImmediate();
      for (const stop of timers) stop();
      services.admission.reportUses();
      reportRefusals(services);
      app.close();
    },
  };
}

/** Told of every connection that opens (1) and closes (-1); closes those that are too many. */
function connectionLimit(connectionsMax: number): (res: HttpResponse, change: number) => void {
  let connections = 0;
  return (res, change) => {
    connections += change;
    if (change > 0 && connections > connectionsMax) res.close();
  };
}

function startTimers(services: Services, sockets: Sockets): readonly Cancel[] {
  const { clock, deadlines, admission } = services;
  return [
    clock.every(TICK_MS, () => {
      const now = clock.now();
      deadlines.normal.expire(now);
      deadlines.slow.expire(now);
      sockets.closeSlowReaders(now);
    }),
    clock.every(USAGE_REPORT_MS, () => admission.reportUses()),
    clock.every(REFUSALS_REPORT_MS, () => reportRefusals(services)),
    clock.every(KEEP_ALIVE_MS, () => services.liveReplies.keepAlive(clock.wall())),
  ];
}

/** While the directory is not there they wait, bounded by what they are counted together. */
function reportRefusals({ pool, refusals }: Services): void {
  if (pool.directory.state !== "ready") return;
  const events = refusals.take();
  if (events.length > 0) pool.directory.post({ kind: "audit", events });
}

function drained(services: Services, timeoutMs: number): Promise<void> {
  if (services.open === 0) return Promise.resolve();
  return new Promise((resolve) => {
    const cancelTimeout = services.clock.after(timeoutMs, () => {
      services.logger.warn({ open: services.open }, "requests that still run are abandoned");
      services.drained = null;
      resolve();
    });
    services.drained = () => {
      services.drained = null;
      cancelTimeout();
      resolve();
    };
  });
}
