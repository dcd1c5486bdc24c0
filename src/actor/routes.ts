/**
 * The table of what an actor answers: per endpoint its handler and the validator that is compiled of its schemas. Made
 * once, when the actor opens.
 */

import type { Endpoint } from "../protocol/endpoint.js";
import { ENDPOINTS, type EndpointName, MESSAGES } from "../protocol/endpoints.js";
import type { Handler, Handlers } from "./handler.js";
import { compileValidator, type Validate } from "./validate.js";

export interface Route {
  readonly endpoint: Endpoint;
  readonly validate: Validate;
  readonly handle: Handler;
}

/** An endpoint of another actor has no handler here, and so no route. */
export function compileRoutes(handlers: Handlers): Route[] {
  const routes: Route[] = [];
  for (const endpoint of [...ENDPOINTS, ...MESSAGES]) {
    const handle = handlers[endpoint.name as EndpointName];
    if (handle !== undefined) routes.push({ endpoint, handle, validate: compileValidator(endpoint) });
  }
  return routes;
}
