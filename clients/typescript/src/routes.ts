/** Calls of any route, with the types that the server declares for it. */
import type { Api } from "./api-types.js";
import type { WriteOptions } from "./options.js";
import { type Method, newKey, pathPart, type Sent, type Transport } from "./transport.js";

/** A route of the server, such as `GET /v1/automl/jobs/{id}`. */
export type Route = keyof Api;

/** What is sent to a route: `params` of its path, `query`, `body`, or the `content` of a file. */
export type SentTo<R extends Route> = Api[R]["sent"];

/** What a route answers. */
export type AnswerOf<R extends Route> = Api[R]["answer"];

/** What follows the route in a call: nothing may be left out that the route needs. */
export type CallArguments<R extends Route> =
  Record<never, never> extends SentTo<R> ? [sent?: SentTo<R> & RouteOptions] : [sent: SentTo<R> & RouteOptions];

/** Of a call of a route. */
export interface RouteOptions extends WriteOptions {
  /** The call changes nothing, although it is a POST. */
  readonly reads?: boolean;
}

/** As a route's parts have it, whatever the route. */
interface AnySent extends RouteOptions {
  readonly params?: Readonly<Record<string, string | number | boolean>>;
  readonly query?: Sent["query"];
  readonly body?: unknown;
  readonly content?: Blob | string;
  readonly contentType?: string;
}

/** Gives the payload of the route's answer. Repetitions of a POST or PUT are recognised by their Idempotency-Key. */
export function callRoute<R extends Route>(
  transport: Transport,
  route: R,
  ...[sent = {} as SentTo<R>]: CallArguments<R>
): Promise<AnswerOf<R>> {
  const [method, template] = route.split(" ") as [Method, string];
  const { params = {}, query, body, content, contentType, ...options } = sent as AnySent;
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => pathPart(variable(route, params, name)));
  const { signal, reads = false, idempotencyKey } = options;
  const mayChange = !reads && (method === "POST" || method === "PUT");
  return transport.ask<AnswerOf<R>>(method, path, {
    signal,
    reads,
    idempotencyKey: idempotencyKey ?? (mayChange ? newKey() : ""),
    ...(query !== undefined && { query }),
    ...(body !== undefined && { body }),
    ...(content !== undefined && { content }),
    ...(contentType !== undefined && { headers: { "content-type": contentType } }),
  });
}

function variable(route: string, params: NonNullable<AnySent["params"]>, name: string): string {
  const value = params[name];
  if (value === undefined || value === "") throw new TypeError(`${route} needs params.${name}.`);
  return String(value);
}
