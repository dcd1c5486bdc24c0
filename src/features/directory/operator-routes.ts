/** What operators change while the server runs. Answered in the directory's actor. */

import type { Handler } from "../../actor/handler.js";
import type { EndpointName } from "../../protocol/endpoints.js";
import type { LogLevel } from "../../protocol/messages.js";

/** `setLogLevel`: in all threads. */
export function operatorHandlers(setLogLevel: (level: LogLevel) => void) {
  return {
    "admin.log-level.set": (_request, { body }) => {
      setLogLevel(body.level);
      return { plain: { level: body.level } };
    },
  } satisfies Partial<Record<EndpointName, Handler>>;
}
