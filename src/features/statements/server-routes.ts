/** POST /v1/echo. */

import type { Handlers } from "../../actor/handler.js";

export const serverHandlers = {
  "server.echo": (_request, { body }) => ({ plain: body }),
} satisfies Handlers;
