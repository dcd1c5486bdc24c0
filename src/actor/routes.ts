/**
 * The table of what an actor answers: per endpoint its handler, and the validator of its schemas. Made once, when the
 * actor opens.
 */

import { type Input, type Validate, validatorOf } from "../bodies/validate.js";
import type { Endpoint } from "../protocol/endpoint.js";
import { ENDPOINTS, type EndpointName, MESSAGES, WIRE } from "../protocol/endpoints.js";
import type { Answer } from "../session/answer.js";
import type { Handlers } from "./handler.js";
import type { Request } from "./request.js";
import { ofItsMoment } from "./table-doors.js";

export interface Route {
  readonly endpoint: Endpoint;
  readonly validate: Validate;
  readonly handle: (request: Request, input: Input) => Answer | Promise<Answer>;
}

/** An endpoint of another actor has no handler here, and so no route. */
export function compileRoutes(handlers: Handlers): Route[] {
  const routes: Route[] = [];
  for (const endpoint of [...ENDPOINTS, ...MESSAGES, ...WIRE]) {
    // The endpoint's own validator makes the input that its handler is typed for.
    const handle = handlers[endpoint.name as EndpointName] as Route["handle"] | undefined;
    if (handle === undefined) continue;
    const { asOf } = endpoint as Endpoint;
    const placed = asOf === undefined ? handle : ofItsMoment(handle, asOf);
    routes.push({ endpoint, handle: placed, validate: validatorOf(endpoint) });
  }
  return routes;
}
