/**
 * Cross-origin requests (the Fetch standard, section 3.2), off unless configured. Credentials here are headers and
 * never cookies, so no Access-Control-Allow-Credentials is sent. Called by requests; holds no state.
 */
import type { Config } from "../protocol/config.js";

const PREFLIGHT_SECONDS = 600;
const EXPOSED =
  "X-Request-Id, Traceparent, Link, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Idempotency-Replayed, X-Tessera-Stale-Ms";

export interface CorsPolicy {
  /** The value of Access-Control-Allow-Origin for a request from that origin; null when it is not allowed. */
  allowOrigin(origin: string): string | null;
  /** "name: value" lines for the reply to a request from that origin; "" for none and for one that is not allowed. */
  replyHeaders(origin: string): string;
  /** Those that the answer to an allowed preflight carries besides. */
  preflightHeaders(methods: string): string;
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i;

/**
 * Whether a page of that origin may talk to what a browser reaches without CORS's consent. Nobody but a browser sends
 * an origin; its pages are those of the host that was asked, or what CORS lets in. A server that listens on loopback is
 * only known by loopback's names: any other was pointed at it by its page (DNS rebinding).
 */
export function originAllowed(origin: string, host: string, listensOn: string, cors: CorsPolicy | null): boolean {
  if (origin === "") return true;
  if (cors !== null && cors.allowOrigin(origin) !== null) return true;
  const scheme = origin.indexOf("://");
  if (scheme === -1 || host === "" || origin.slice(scheme + 3).toLowerCase() !== host.toLowerCase()) return false;
  return !LOOPBACK.test(listensOn) || LOOPBACK.test(host);
}

/**
 * Whether the host that a request names is this server. A page can point a name of its own at any address (DNS
 * rebinding), and its requests then name that. Where names are configured they and loopback's count; else a server that
 * listens on loopback is known by loopback's names only, and any other by all.
 */
export function hostAllowed(
  host: string,
  { host: listensOn, names }: Pick<Config["server"], "host" | "names">,
): boolean {
  if (host === "" || LOOPBACK.test(host)) return true;
  if (names.length === 0) return !LOOPBACK.test(listensOn);
  const name = host.replace(/:\d+$/, "").toLowerCase();
  return names.some((known) => known.toLowerCase() === name);
}

/** Null when cross-origin requests are off. An origin `*` allows all. */
export function corsPolicy(config: Config["server"]["cors"]): CorsPolicy | null {
  if (!config.enabled) return null;
  const all = config.origins.includes("*");
  const origins = new Set(config.origins.map((origin) => origin.toLowerCase()));
  const requestHeaders = config.headers.join(", ");
  const allowOrigin = (origin: string): string | null => {
    if (all) return "*";
    return origins.has(origin.toLowerCase()) ? origin : null;
  };
  return {
    allowOrigin,
    replyHeaders(origin) {
      const allowed = origin === "" ? null : allowOrigin(origin);
      if (allowed === null) return "";
      const shared = `Access-Control-Allow-Origin: ${allowed}\nAccess-Control-Expose-Headers: ${EXPOSED}`;
      return allowed === "*" ? shared : `${shared}\nVary: Origin`;
    },
    preflightHeaders: (methods) =>
      `Access-Control-Allow-Methods: ${methods}\nAccess-Control-Allow-Headers: ${requestHeaders}\nAccess-Control-Max-Age: ${PREFLIGHT_SECONDS}`,
  };
}
