/** The configuration that the gateway's tests start from; what a test is about, it changes. */
import type { Config } from "../../src/protocol/config.js";

type Section<K extends keyof Config> = Partial<Config[K]>;

export interface ConfigChanges {
  readonly server?: Section<"server">;
  readonly rateLimit?: Section<"rateLimit">;
  readonly query?: Section<"query">;
  readonly limits?: Section<"limits">;
  readonly websocket?: Section<"websocket">;
}

/** No rate limit, any free port, nothing logged, unless changed. */
export function gatewayConfig(changes: ConfigChanges = {}): Config {
  const config = {
    server: {
      host: "127.0.0.1",
      port: 0,
      requestTimeout: 300,
      longRequestTimeout: 900,
      bodyBytesMax: 1 << 20,
      shutdownTimeout: 5,
      requestLog: "off",
      logLevel: "silent",
      docs: true,
      tls: { certFile: "", keyFile: "" },
      cors: { enabled: false, origins: [], headers: ["authorization", "content-type"] },
      ...changes.server,
    },
    rateLimit: { perSecond: 0, burst: 0, ...changes.rateLimit },
    telemetry: { tracesEndpoint: "", sampleRatio: 1, headers: [], serviceName: "tessera" },
    data: { dir: ".", upgrade: "keep_copy" },
    storage: { freeBytesMin: 0, reserveBytes: 0 },
    query: { lateMs: 250, stopMs: 5000, stoppedRefusedSeconds: 60, ...changes.query },
    limits: {
      connectionsMax: 1000,
      memoryBytesMax: 0,
      requestsPerPartitionMax: 1000,
      requestsPerTenantMax: 1000,
      requestsRunningPerTenantMax: 64,
      requestsWaitingPerTenantMax: 1000,
      tenantIdleSeconds: 300,
      requestBytesPerPartitionMax: 64 << 20,
      replyBytesPerConnectionMax: 1 << 20,
      ...changes.limits,
    },
    websocket: {
      connectionsMax: 100,
      connectionsPerTenantMax: 50,
      requestsRunningMax: 4,
      messageBytesMax: 64 << 10,
      idleTimeout: 120,
      readTimeout: 30,
      ticketSeconds: 30,
      ...changes.websocket,
    },
    changes: {
      subscriptionsPerConnectionMax: 100,
      subscriptionsPerTenantMax: 1000,
      unreadBytesMax: 1 << 20,
    },
  };
  // The gateway reads no other section.
  return config as unknown as Config;
}
