/**
 * The listening socket: makes the uWebSockets.js app, registers the routes, bounds the connections and closes in order.
 * uWebSockets.js runs on the main thread only. Called by gateway.ts; owns the app.
 */

import type { HttpResponse, TemplatedApp, us_listen_socket } from "uWebSockets.js";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { setImmediate } from "node:timers/promises";
import { createSecureContext } from "node:tls";
import type { Cancel } from "./clock.js";
import { loadUws, type Uws } from "./load-uws.js";
import type { Route } from "./route.js";
import { registerRoutes } from "./router.js";
import type { Services } from "./services.js";
import type { Sockets } from "./socket/sockets.js";

/** How often deadlines are looked at: a request may run that much longer than its timeout. */
const TICK_MS = 250;
/** How often the uses of API keys are sent to the directory. */
const USAGE_REPORT_MS = 5_000;
/** Between searches for what has expired. */
const SWEEP_MS = 60_000;
/** How often clients of streams of events hear that they are connected. */
const KEEP_ALIVE_MS = 5_000;
/** How often refusals are sent to the audit trail. */
const REFUSALS_REPORT_MS = 1_000;

export interface Server {
  /** The port that is listened on. */
  readonly port: number;
  /** Listens with the certificate that the files hold now; connections that are open keep theirs. */
  renewCertificate(): Promise<void>;
  /**
   * Stops accepting, answers new requests on open connections with 503, waits for those that run up to the time given,
   * ends what still runs with 503, and then closes every connection.
   */
  close(timeoutMs: number): Promise<void>;
}

/** Throws if the address cannot be listened on, or the certificate is not valid. */
export async function startServer(services: Services, routes: readonly Route[], sockets: Sockets): Promise<Server> {
  const uws = await loadUws();
  const { host, port, tls } = services.config.server;
  const listening: Listening[] = [];
  const listen = async (onPort: number): Promise<Listening> => {
    const app = makeApp(uws, tls);
    app.filter(connectionLimit(services));
    sockets.register(app);
    registerRoutes(app, routes, services);
    const socket = await new Promise<us_listen_socket | false>((resolve) => {
      app.listen(host, onPort, resolve);
    });
    if (socket === false) {
      app.close();
      throw notListening(host, onPort);
    }
    const one = { app, socket };
    listening.push(one);
    return one;
  };
  if (port !== 0 && !(await isFree(host, port))) throw notListening(host, port);
  const { socket } = await listen(port);
  const realPort = uws.us_socket_local_port(socket as unknown as Parameters<typeof uws.us_socket_local_port>[0]);
  const timers = startTimers(services, sockets);
  return {
    port: realPort,
    async renewCertificate() {
      if (tls.certFile === "") return;
      const old = listening.at(-1)!;
      // The port is shared for a moment, so no connection is refused. The system allows that of configured ports only.
      await listen(realPort);
      uws.us_listen_socket_close(old.socket);
    },
    async close(timeoutMs) {
      uws.us_listen_socket_close(listening.at(-1)!.socket);
      services.closing = true;
      sockets.close();
      await drained(services, timeoutMs);
      endAll(services);
      // The last reply may still be corked; it leaves at the end of this turn.
      await setImmediate();
      for (const stop of timers) stop();
      services.admission.reportUses();
      reportRefusals(services);
      for (const { app } of listening) app.close();
    },
  };
}

/**
 * The library shares a port that is named with whoever listens there, and the system gives each of them some
 * connections.
 */
function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

function notListening(host: string, port: number): Error {
  return new Error(`Cannot listen on ${host}:${port}: the address is in use or does not belong to this machine.`);
}

interface Listening {
  readonly app: TemplatedApp;
  readonly socket: us_listen_socket;
}

/** Throws where the files hold no certificate with its key, which the library would not say. */
function makeApp(uws: Uws, { certFile, keyFile }: Services["config"]["server"]["tls"]): TemplatedApp {
  if (certFile === "") return uws.App();
  try {
    createSecureContext({ cert: readFileSync(certFile), key: readFileSync(keyFile) });
  } catch (error) {
    throw new Error(
      `server.tls: ${certFile} and ${keyFile} are not a certificate and its private key in PEM: ${(error as Error).message}`,
    );
  }
  return uws.SSLApp({ cert_file_name: certFile, key_file_name: keyFile });
}

/** Told of every connection that opens (1) and closes (-1); closes those that are too many. */
function connectionLimit(services: Services): (res: HttpResponse, change: number) => void {
  const { connectionsMax } = services.config.limits;
  return (res, change) => {
    services.connections += change;
    if (change > 0 && services.connections > connectionsMax) res.close();
  };
}

function startTimers(services: Services, sockets: Sockets): readonly Cancel[] {
  const { clock, deadlines, admission, pool } = services;
  return [
    clock.every(TICK_MS, () => {
      const now = clock.now();
      deadlines.normal.expire(now);
      deadlines.slow.expire(now);
      sockets.closeSlowReaders(now);
    }),
    clock.every(USAGE_REPORT_MS, () => {
      // While the directory is away they are counted on.
      if (pool.directory.state === "ready") admission.reportUses();
    }),
    clock.every(SWEEP_MS, () => admission.sweep(clock.wall())),
    clock.every(REFUSALS_REPORT_MS, () => reportRefusals(services)),
    clock.every(KEEP_ALIVE_MS, () => services.liveReplies.keepAlive(clock.wall())),
  ];
}

/** While the directory is not available they wait; equal ones are counted together, so their number is bounded. */
function reportRefusals({ pool, refusals }: Services): void {
  if (pool.directory.state !== "ready") return;
  pool.audit(refusals.take());
}

/** Those that wait for actors, that is; others end with their connections. */
function endAll({ deadlines }: Services): void {
  for (const queue of [deadlines.normal, deadlines.slow]) for (const entry of queue.entries()) entry.end("shutdown");
}

function drained(services: Services, timeoutMs: number): Promise<void> {
  if (services.open === 0) return Promise.resolve();
  return new Promise((resolve) => {
    const cancelTimeout = services.clock.after(timeoutMs, () => {
      services.logger.warn({ open: services.open }, "requests that still run are ended");
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
