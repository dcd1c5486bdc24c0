/** The log line of a request: never a token, a password or a body. Called by exchange.ts; stateless. */
import type { Route } from "./route.js";
import type { Services } from "./services.js";

export function logRequest(
  { config, logger }: Services,
  { endpoint, method, path }: Route,
  requestId: string,
  tenant: string | undefined,
  status: number,
  tookMs: number,
  traceId?: string,
): void {
  const { requestLog } = config.server;
  if (requestLog === "off" || (requestLog === "errors" && status < 500)) return;
  const ms = Math.round(tookMs * 1000) / 1000;
  const name = endpoint?.name ?? null;
  const line = { request_id: requestId, trace_id: traceId, tenant, endpoint: name, method, path, status, ms };
  if (status >= 500) logger.error(line, "request");
  else logger.info(line, "request");
}
