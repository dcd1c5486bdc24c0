/** OpenAI's interface: what the other features do, in the form that most programs for language models speak. */
import type { Feature } from "../feature.js";
import { openaiHandlers } from "./openai-routes.js";
import { OWN_RESPONSES } from "./response-store.js";

export const openaiFeature = {
  name: "openai",
  ownRelations: [OWN_RESPONSES],
  handlers: openaiHandlers,
} satisfies Feature;
