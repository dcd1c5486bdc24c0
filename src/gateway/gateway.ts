/**
 * The gateway: everything between a client's socket and the actors' mailboxes, on the main thread. It never looks into
 * a body: it finds the caller, applies limits, routes and copies bytes (exchange.ts has the life of a request).
 * Started by the process's entry point, which gives it the function that starts an actor's thread.
 */
import type { MessagePort } from "node:worker_threads";
import type { Logger } from "pino";
import type { Config } from "../protocol/config.js";
import { ENDPOINTS, MESSAGES } from "../protocol/endpoints.js";
import { type Identity, isAbout } from "../protocol/identity.js";
import type { WriteRefusal } from "../protocol/messages.js";
import { RecentLines } from "../protocol/thread-diagnosis.js";
import { SESSION_NUMBER_BYTES, wireCharge } from "../protocol/wire-charge.js";
import type { ActorWatch } from "./actor-life.js";
import type { ActorPort } from "./actor-link.js";
import { ActorPool, type LibraryPort } from "./actor-pool.js";
import { Admission } from "./admission.js";
import { asyncApiDocument } from "./asyncapi.js";
import { type Cancel, type Clock, systemClock } from "./clock.js";
import { serveCluster } from "./cluster-page.js";
import { Compression } from "./compression.js";
import { consoleFiles } from "./console-page.js";
import { corsPolicy } from "./cors.js";
import { DeadlineQueue } from "./deadline-queue.js";
import { serveDiagnostics } from "./diagnostics.js";
import { docsFiles, docsRedirect, rootPage } from "./docs.js";
import { documents } from "./documents.js";
import type { Door, OpenDoor } from "./door.js";
import { health, ready } from "./health.js";
import { LiveReplies } from "./live-replies.js";
import { serveBridge } from "./mcp-bridge.js";
import { type MetricsPage, metricsPage, RequestMetrics } from "./metrics.js";
import { openApiDocument } from "./openapi.js";
import type { PartitionRoutes } from "./partition-routes.js";
import { RateLimiter } from "./rate-limiter.js";
import { Refusals } from "./refusals.js";
import { JSON_TYPE } from "./reply.js";
import { RequestIds } from "./request-ids.js";
import type { Route, Serve } from "./route.js";
import { compileRoutes } from "./router.js";
import { startServer } from "./server.js";
import type { Services } from "./services.js";
import { Sockets } from "./socket/sockets.js";
import { issueTicket, revokeTickets, upgradeRequired } from "./socket/ticket-route.js";
import { Tickets } from "./socket/tickets.js";
import type { Traces } from "./traces.js";
import { type Reserve, Watermarks } from "./watermarks.js";
import { WireMetrics } from "./wire-metrics.js";

const DOCUMENT_SECONDS = 60;
/** What actors have to end in, however long requests were waited for. */
const ACTORS_CLOSE_MS_MIN = 2_000;

export interface GatewayOptions {
  readonly config: Config;
  /** The key that access tokens are signed with. */
  readonly secret: Uint8Array;
  /** Of the running program, for /health and the OpenAPI document. */
  readonly version: string;
  readonly logger: Logger;
  /** What the logger has written lately, for diagnostic bundles. */
  readonly lines?: RecentLines;
  /** Starts the thread of that actor (0 … actors − 1). Partition p belongs to actor p mod actors. */
  readonly spawn: (actor: number, watch: ActorWatch) => ActorPort;
  /** Starts loading a thread for that actor's next `spawn`; the returned function ends it if it is not needed. */
  readonly prepare?: (actor: number) => Cancel;
  /** Starts an inference thread, which talks to its actor by that port. */
  readonly startInference: (port: MessagePort) => void;
  /** Of models; absent: there is none. */
  readonly library?: LibraryPort;
  readonly actors: number;
  readonly partitions: number;
  /** Of the data directory's disk; absent: there is none. */
  readonly reserve?: Reserve;
  /** Told when writes are refused because the disk or the memory is full, and (null) when they are taken again. */
  readonly refusing?: (refusal: WriteRefusal | null) => void;
  /** The system's clock when absent. */
  readonly clock?: Clock;
  /** Servers of other protocols. */
  readonly doors?: readonly Door[];
  /** In a cluster; absent: all partitions are here. */
  readonly routes?: PartitionRoutes;
  /** A first boot made it up, after the start. */
  readonly adminPasswordMade?: (password: string) => void;
}

export interface Gateway {
  readonly port: number;
  /** Those that are open. */
  readonly doors: readonly Pick<OpenDoor, "name" | "port" | "socketPath">[];
  /** The administrator's password that a first boot made up, to be shown once; null otherwise. */
  readonly adminPassword: string | null;
  /**
   * Reads the certificate's files again; connections that are open keep the old one. Rejects, and goes on, if it
   * cannot.
   */
  renewCertificate(): Promise<void>;
  /** Lets what runs finish within the configured time, then ends the actors. Safe to call once. */
  close(): Promise<void>;
}

/** Resolves when requests are served. Throws when the directory's partition or the listening socket cannot be had. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, logger, clock = systemClock, actors, partitions, spawn, startInference, routes } = options;
  const limiter = new RateLimiter(config.rateLimit);
  const refusals = new Refusals(clock);
  const traces = config.telemetry.tracesEndpoint === "" ? null : await startTraces(options);
  const admission: Admission = new Admission({
    secret: options.secret,
    clock,
    limiter,
    findIdentity: (by, value, answer) => pool.directory.findIdentity(by, value, answer),
    report: (message) => pool.directory.post(message),
    ...(routes !== undefined && { mayCache: () => routes.mayCache() }),
  });
  const deadlines = {
    normal: new DeadlineQueue(config.server.requestTimeout * 1000),
    slow: new DeadlineQueue(config.server.longRequestTimeout * 1000),
  };
  let sockets: Sockets | null = null;
  const doors: OpenDoor[] = [];
  /** Connections that last longer than a request. */
  const forget = (gone: (identity: Identity) => boolean): void => {
    sockets?.forget(({ identity }) => gone(identity));
    sockets?.services.liveReplies.forget(({ identity }) => gone(identity));
    for (const door of doors) door.forget(gone);
  };
  /** Null while it starts. What other nodes say of identities comes all the same. */
  let started: ActorPool | null = null;
  const pool = await ActorPool.start({
    actors,
    partitions,
    spawn,
    ...(options.prepare === undefined ? {} : { prepare: options.prepare }),
    watch: config.query,
    startInference,
    ...(options.library === undefined ? {} : { library: options.library }),
    logger,
    clock,
    ...(routes !== undefined && { routes }),
    ...(options.adminPasswordMade !== undefined && { adminPasswordMade: options.adminPasswordMade }),
    traced: (spans) => traces?.record(spans),
    refused: (event) => refusals.add(event),
    identityChanged: (change) => {
      if (change.kind === "moved") {
        admission.moved(change);
        return;
      }
      admission.forget(change);
      forget((identity) => isAbout(change, identity));
      if (change.kind === "all" || change.ended !== true) return;
      for (const queue of [deadlines.normal, deadlines.slow]) {
        for (const entry of queue.entries()) {
          if (entry.running !== null && isAbout(change, entry.running)) entry.end("disowned");
        }
      }
      started?.identityEnded(change);
    },
    directoryRestarted: () => {
      admission.forgetAll();
      forget(() => true);
    },
  });
  started = pool;
  routes?.onForwarded((frame, { method, name }) => {
    const { head } = frame;
    const messages = method === "WIRE" ? frame.bodyBytes.subarray(SESSION_NUMBER_BYTES) : null;
    const tokens = messages === null ? 1 : wireCharge(name, messages, head.rateLimit ?? null, config);
    return limiter.chargeForwarded(head, clock.now(), tokens);
  });
  const shutdownMs = config.server.shutdownTimeout * 1000;
  try {
    const assembled = assemble(options, clock, pool, admission, { limiter, refusals }, traces, deadlines);
    sockets = assembled.sockets;
    const server = await startServer(assembled.services, assembled.routes, sockets);
    for (const door of options.doors ?? []) {
      const opened = await door.open(assembled.services);
      if (opened !== null) doors.push(opened);
    }
    return {
      port: server.port,
      doors,
      async renewCertificate() {
        await server.renewCertificate();
        for (const door of doors) door.renewCertificate();
      },
      adminPassword: pool.adminPassword,
      async close() {
        const startedAt = clock.now();
        assembled.watermarks.close();
        pool.beginClosing();
        for (const door of doors) door.beginClosing();
        await server.close(shutdownMs);
        for (const door of doors) door.close();
        await pool.close(Math.max(ACTORS_CLOSE_MS_MIN, shutdownMs - (clock.now() - startedAt)));
        await traces?.close();
      },
    };
  } catch (error) {
    await pool.close(shutdownMs);
    throw error;
  }
}

/** Its packages take a while to load, which only those wait for who want them. */
async function startTraces({ config, version }: GatewayOptions): Promise<Traces> {
  const { Traces } = await import("./traces.js");
  return Traces.start(config.telemetry, version);
}

function assemble(
  { config, logger, version, reserve, routes: elsewhere, refusing, lines = new RecentLines() }: GatewayOptions,
  clock: Clock,
  pool: ActorPool,
  admission: Admission,
  { limiter, refusals }: Pick<Services, "limiter" | "refusals">,
  traces: Traces | null,
  deadlines: Services["deadlines"],
): { services: Services; routes: readonly Route[]; sockets: Sockets; watermarks: Watermarks } {
  const tell = (refusal: WriteRefusal | null): void => {
    pool.refuseWrites(refusal);
    refusing?.(refusal);
  };
  const watermarks = new Watermarks({ config, logger, reserve, tell });
  void watermarks.check();
  const cors = corsPolicy(config.server.cors);
  // The page of metrics needs the counters, which need the routes, which need the page.
  let metrics: MetricsPage;
  const { docs, console: hasConsole } = config.server;
  const local = new Map<string, Serve>([
    ["server.health", health(pool, clock, version)],
    ["server.ready", ready(pool, watermarks, () => services.closing, clock)],
    ["server.metrics", (exchange) => serveMetrics(exchange, metrics, logger)],
    ["server.openapi", document(() => openApiDocument(docs ? ENDPOINTS : withoutDocs(), version, config))],
    ["server.asyncapi", document(() => asyncApiDocument(MESSAGES, version))],
  ]);
  for (const name of ["socket.connect", "socket.connect.bearer", "mcp.connect", "files.progress.connect"]) {
    local.set(name, upgradeRequired);
  }
  const tickets = new Tickets(config.websocket.ticketSeconds * 1000);
  const localOfCaller = new Map([
    ["socket.ticket", issueTicket(tickets, clock, config.websocket.ticketSeconds)],
    ["socket.ticket.revoke", revokeTickets(tickets, clock)],
    ["mcp.bridge", serveBridge()],
    ["admin.cluster", serveCluster(elsewhere ?? null)],
    [
      "admin.diagnostics",
      serveDiagnostics({ services: { config, logger, clock }, pool, metrics: () => metrics, version, lines }),
    ],
  ]);
  if (docs) local.set("server.docs", docsRedirect);
  const pages = [
    { path: "/", serve: rootPage({ docs, console: hasConsole }) },
    ...(docs ? documentationPages() : []),
    ...(hasConsole ? consolePages() : []),
  ];
  const routes = compileRoutes({
    endpoints: ENDPOINTS,
    messages: MESSAGES,
    local,
    localOfCaller,
    pages,
    deadlines,
    cors,
  });
  const services: Services = {
    config,
    clock,
    logger,
    pool,
    elsewhere: elsewhere ?? null,
    admission,
    limiter,
    refusals,
    cors,
    requestIds: new RequestIds(),
    traces,
    tickets,
    liveReplies: new LiveReplies(config.websocket.connectionsPerTenantMax),
    metrics: new RequestMetrics(routes),
    wire: WireMetrics.ofPostgres(),
    bolt: WireMetrics.ofBolt(),
    compression: new Compression(),
    compresses: config.server.compression,
    deadlines,
    connections: 0,
    open: 0,
    collectedBytes: 0,
    closing: false,
    drained: null,
  };
  const sockets = new Sockets(services, routes);
  metrics = metricsPage({
    ...{
      requests: services.metrics,
      wire: services.wire,
      bolt: services.bolt,
      compression: services.compression,
      pool,
      watermarks,
      admission,
    },
    open: {
      requests: () => services.open,
      sockets: () => sockets.size,
      slowReaders: () => sockets.blocked.size,
      unreadBytes: () => sockets.unreadBytes,
      connections: () => services.connections,
      bodyBytes: () => services.collectedBytes,
    },
  });
  return { services, routes, sockets, watermarks };
}

function documentationPages(): { path: string; serve: Serve }[] {
  return [
    { path: "/v1/api-docs/*", serve: docsFiles() },
    { path: "/docs", serve: docsRedirect },
    { path: "/docs/*", serve: documents() },
  ];
}

function consolePages(): { path: string; serve: Serve }[] {
  return [
    { path: "/console", serve: docsRedirect },
    { path: "/console/*", serve: consoleFiles() },
  ];
}

function withoutDocs(): typeof ENDPOINTS {
  return ENDPOINTS.filter(({ name }) => name !== "server.docs");
}

/** Made for the first request: few ask for it, and every start would wait. */
function document(make: () => string): Serve {
  let body: Buffer | null = null;
  return (exchange) => {
    body ??= Buffer.from(make());
    exchange.answer(200, JSON_TYPE, `Cache-Control: public, max-age=${DOCUMENT_SECONDS}`, body);
  };
}

function serveMetrics(exchange: Parameters<Serve>[0], page: MetricsPage, logger: Logger): void {
  exchange.waitForAnswer();
  page.render().then(
    (text) => {
      if (!exchange.answered) exchange.answer(200, page.contentType, "Cache-Control: no-store", text);
    },
    (error: unknown) => {
      logger.error({ err: error }, "metrics cannot be rendered");
      if (!exchange.answered) exchange.fail("internal_error");
    },
  );
}
