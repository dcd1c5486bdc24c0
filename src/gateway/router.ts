/**
 * Routes: compiles the endpoints once and registers them with uWebSockets.js's own router, which matches faster than a
 * search in JavaScript would. Anything it does not match goes to the last route, which tells a wrong method, a
 * preflight and an unknown path apart. Called by server.ts at boot; stateless afterwards.
 */
import type { HttpRequest, HttpResponse, TemplatedApp } from "uWebSockets.js";
import type { Endpoint, Method } from "../protocol/endpoint.js";
import type { CorsPolicy } from "./cors.js";
import type { DeadlineQueue } from "./deadline-queue.js";
import { Exchange } from "./exchange.js";
import type { LocalExchange, Route, Serve, ServeCaller } from "./route.js";
import type { Services } from "./services.js";

const SHOWN_PATH_CHARS_MAX = 200;
const METHODS_WITH_KEY: readonly Method[] = ["POST", "PUT"];

export interface RouterOptions {
  readonly endpoints: readonly Endpoint[];
  /** Of the endpoints that the gateway answers by itself, by name. One that is missing here is not served. */
  readonly local: ReadonlyMap<string, Serve>;
  /** The same for routes that need to know the caller. */
  readonly localOfCaller: ReadonlyMap<string, ServeCaller>;
  /** Kinds of messages on the WebSocket: they have routes for their deadlines and counts, but no path of their own. */
  readonly messages: readonly Endpoint[];
  /** Paths that are in no endpoint, with `*` for any ending: the files of the documentation. */
  readonly pages: readonly { readonly path: string; readonly serve: Serve }[];
  readonly deadlines: { readonly normal: DeadlineQueue; readonly slow: DeadlineQueue };
  readonly cors: CorsPolicy | null;
}

/** All routes; the last one is what matches nothing else. */
export function compileRoutes(options: RouterOptions): readonly Route[] {
  const { local, localOfCaller } = options;
  const served = options.endpoints.filter(
    ({ home, name }) => home !== "gateway" || local.has(name) || localOfCaller.has(name),
  );
  const routes = [...served, ...options.messages].map((endpoint, index) => routeOf(endpoint, index, options));
  for (const { path, serve } of options.pages) routes.push(pageOf(path, routes.length, serve));
  const serve = unmatched(routes, options.cors);
  routes.push({ ...pageOf("(unmatched)", routes.length, serve), method: "ANY" });
  return routes;
}

function routeOf(endpoint: Endpoint, index: number, { local, localOfCaller, deadlines }: RouterOptions): Route {
  const { method, path, body, jsonRpc, streamedBody, home, access, name, slow } = endpoint;
  return {
    index,
    endpoint,
    method,
    path,
    paramCount: path.split("{").length - 1,
    hasBody: body !== undefined || jsonRpc !== undefined || streamedBody !== undefined,
    takesIdempotencyKey: METHODS_WITH_KEY.includes(method),
    deadlines: home === "gateway" && access === "public" ? null : slow ? deadlines.slow : deadlines.normal,
    serve: local.get(name) ?? null,
    serveCaller: localOfCaller.get(name) ?? null,
  };
}

function pageOf(path: string, index: number, serve: Serve): Route {
  return {
    index,
    endpoint: null,
    method: "GET",
    path,
    paramCount: 0,
    hasBody: false,
    takesIdempotencyKey: false,
    deadlines: null,
    serve,
    serveCaller: null,
  };
}

/** Gives the routes to uWebSockets.js. `services` exists only once the routes do, hence apart from compileRoutes. */
export function registerRoutes(app: TemplatedApp, routes: readonly Route[], services: Services): void {
  for (const route of routes.slice(0, -1)) {
    for (const path of mountedPaths(route)) register(app, route, path.replace(/\{(\w+)\}/g, ":$1"), services);
  }
  app.any("/*", handlerOf(routes.at(-1)!, services, false));
}

function register(app: TemplatedApp, route: Route, pattern: string, services: Services): void {
  const handle = handlerOf(route, services, false);
  switch (route.method) {
    case "GET":
      app.get(pattern, handle);
      app.head(pattern, handlerOf(route, services, true));
      break;
    case "POST":
      app.post(pattern, handle);
      break;
    case "PUT":
      app.put(pattern, handle);
      break;
    case "PATCH":
      app.patch(pattern, handle);
      break;
    case "DELETE":
      app.del(pattern, handle);
      break;
  }
}

function handlerOf(route: Route, services: Services, headOnly: boolean): (res: HttpResponse, req: HttpRequest) => void {
  const { clock } = services;
  if (route.method === "ANY") {
    return (res, req) => new Exchange(services, route, res, req.getMethod() === "head", clock.now()).begin(req);
  }
  return (res, req) => new Exchange(services, route, res, headOnly, clock.now()).begin(req);
}

/** Version 2 serves what version 1 does. */
function mountedPaths({ path, endpoint }: Pick<Route, "path" | "endpoint">): string[] {
  const paths = [path, ...(endpoint?.earlierPath === undefined ? [] : [endpoint.earlierPath])];
  return paths.flatMap((one) => (one.startsWith("/v1/") ? [one, `/v2/${one.slice(4)}`] : [one]));
}

interface Matcher {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

function matchersOf(routes: readonly Route[]): readonly Matcher[] {
  const byPath = new Map<string, Matcher>();
  for (const route of routes) {
    const { method } = route;
    if (method === "MESSAGE") continue;
    for (const mounted of mountedPaths(route)) {
      const source = mounted
        .replace(/[.]/g, "\\.")
        .replace("*", ".*")
        .replace(/\{\w+\}/g, "[^/]+");
      const matcher = byPath.get(source) ?? { pattern: new RegExp(`^${source}$`), methods: new Set<string>() };
      matcher.methods.add(method);
      if (method === "GET") matcher.methods.add("HEAD");
      byPath.set(source, matcher);
    }
  }
  return [...byPath.values()];
}

const CORS_OFF =
  "Pages of other origins may not call this server: CORS is off. TESSERA_SERVER_CORS_ENABLED=true with " +
  "TESSERA_SERVER_CORS_ORIGINS=https://app.example, or [server.cors] in the configuration, allows pages of that origin.";

/** 405 with the methods of a known path, 204 for a preflight, 404 for the rest. */
function unmatched(routes: readonly Route[], cors: CorsPolicy | null): Serve {
  const matchers = matchersOf(routes);
  return (exchange, req) => {
    const path = req.getUrl();
    const found = matchers.filter(({ pattern }) => pattern.test(path));
    if (found.length === 0) {
      notFound(exchange, path);
      return;
    }
    const methods = [...new Set(found.flatMap((matcher) => [...matcher.methods]))].join(", ");
    if (req.getMethod() === "options" && cors !== null) preflight(exchange, req, cors, methods);
    else if (req.getMethod() === "options" && req.getHeader("access-control-request-method") !== "") {
      exchange.fail("method_not_allowed", CORS_OFF, undefined, `Allow: ${methods}`);
    } else {
      const message = `${shown(path)} does not serve ${req.getMethod().toUpperCase()}, only ${methods}.`;
      exchange.fail("method_not_allowed", message, undefined, `Allow: ${methods}`);
    }
  };
}

function notFound(exchange: LocalExchange, path: string): void {
  const where = "GET /v1/openapi.json lists the routes, /v1/api-docs shows them.";
  exchange.fail("endpoint_not_found", `There is no route ${shown(path)}. ${where}`);
}

function preflight(exchange: LocalExchange, req: HttpRequest, cors: CorsPolicy, methods: string): void {
  const allowed = cors.allowOrigin(req.getHeader("origin"));
  exchange.answer(204, "", allowed === null ? "" : cors.preflightHeaders(methods), "");
}

function shown(path: string): string {
  return path.length > SHOWN_PATH_CHARS_MAX ? `${path.slice(0, SHOWN_PATH_CHARS_MAX)}…` : path;
}
