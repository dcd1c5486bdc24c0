/** LISTEN for clients of the WebSocket and of server-sent events: a subscription to what is notified on one channel. */
import type { Request } from "../../actor/request.js";
import { type Answer, STREAMED } from "../../session/answer.js";
import type { Way } from "../feed/contract.js";
import { FEED } from "../feed/feed.js";
import type { Listener, Told } from "./notifications.js";
import { checkNotification } from "./session-functions.js";
import { WIRE_SESSIONS } from "./wire-sessions.js";

/** Resolves when the subscription lives by itself. Throws 22023. */
export async function listen(request: Request, channel: string, way: Way): Promise<Answer> {
  checkNotification(channel, "");
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
