/** How messages of subscriptions reach clients: on the WebSocket, and as server-sent events. */
import { errorBody, messageBytes, messageErrorJson } from "../../actor/reply.js";
import type { Request } from "../../actor/request.js";
import { CHANGE_FORMS } from "./change-form.js";
import type { Way } from "./contract.js";

/** The gateway puts the request's id where other endpoints have their first path variable. */
export function wayOfMessages(request: Request): Way {
  const id = request.head.params[0]!;
  return {
    form: CHANGE_FORMS[request.wantsMsgpack ? "msgpack" : "json"],
    id,
    errorMessage: (error) => messageBytes(request, messageErrorJson(error, id, request.requestId)),
    errorText: (errorJson) => messageBytes(request, errorJson),
  };
}

const event = (json: string): string => `event: error\ndata: {"type":"error",${json.slice(1)}\n\n`;

export const WAY_OF_EVENTS: Way = {
  form: CHANGE_FORMS.sse,
  id: "null",
  errorMessage: (error) => Buffer.from(event(JSON.stringify(errorBody(error)))),
  errorText: (errorJson) => event(JSON.stringify(JSON.parse(errorJson).error)),
};
