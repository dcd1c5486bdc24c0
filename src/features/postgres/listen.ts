/** LISTEN for clients of the WebSocket: a subscription to what is notified on one channel. */
import { messageBytes, messageErrorJson } from "../../actor/reply.js";
import type { Request } from "../../actor/request.js";
import { type Answer, STREAMED } from "../../session/answer.js";
import { CHANGE_FORMS } from "../feed/change-form.js";
import { FEED } from "../feed/feed.js";
import type { Listener, Told } from "./notifications.js";
import { checkNotification } from "./session-functions.js";
import { WIRE_SESSIONS } from "./wire-sessions.js";

/** Resolves when the subscription lives by itself. Throws 22023. */
export async function listenOverSocket(request: Request, channel: string): Promise<Answer> {
  checkNotification(channel, "");
  const id = request.head.params[0]!;
  const way = {
    form: CHANGE_FORMS[request.wantsMsgpack ? "msgpack" : "json"],
    id,
    errorMessage: (error: Parameters<typeof messageErrorJson>[0]) =>
      messageBytes(request, messageErrorJson(error, id, request.requestId)),
    errorText: (errorJson: string) => messageBytes(request, errorJson),
  };
  const { notifications } = request.partition.part(WIRE_SESSIONS).commonOf(request.tenant);
  await request.partition.part(FEED).subscriptions.followMessages(request, { channel }, way, (send) => {
    const listener: Listener = {
      channels: new Set([channel]),
      told: ({ sender, payload }: Told) => send("notification", { channel, payload, sender }),
    };
    notifications.add(listener);
    return () => notifications.remove(listener);
  });
  return STREAMED;
}
