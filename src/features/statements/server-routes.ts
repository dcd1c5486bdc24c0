/** POST /v1/echo. */

import type { Handler } from "../../actor/handler.js";
import type { EndpointName } from "../../protocol/endpoints.js";

export const serverHandlers = {
  "server.echo": (_request, { body }) => ({ plain: body }),
} satisfies Partial<Record<EndpointName, Handler>>;
