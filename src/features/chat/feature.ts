/** Chats, also over documents. */
import type { Feature } from "../feature.js";
import { chatHandlers } from "./chat-routes.js";
import { OWN_CHATS } from "./own-chats.js";

export const chatFeature = {
  name: "chat",
  ownRelations: OWN_CHATS,
  handlers: chatHandlers,
} satisfies Feature;
