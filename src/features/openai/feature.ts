/** OpenAI's interface: what the other features do, in the form that most programs for language models speak. */
import type { Feature } from "../feature.js";
import { openaiHandlers } from "./openai-routes.js";

export const openaiFeature = {
  name: "openai",
  handlers: openaiHandlers,
} satisfies Feature;
