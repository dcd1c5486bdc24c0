/** POST /v1/echo. */
import type { EndpointName } from "../../protocol/endpoints.js";
import type { Handler } from "./handler.js";

export const serverHandlers = {
  "server.echo": (_request, { body }) => ({ plain: body }),
} satisfies Partial<Record<EndpointName, Handler>>;
