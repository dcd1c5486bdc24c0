/** Chats, also over documents. */
import type { Feature } from "../feature.js";
import { chatHandlers } from "./chat-routes.js";

export const chatFeature = {
  name: "chat",
  handlers: chatHandlers,
} satisfies Feature;
