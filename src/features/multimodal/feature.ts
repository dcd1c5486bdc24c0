/** Images and sounds. */
import type { Feature } from "../feature.js";
import { multimodalHandlers } from "./multimodal-routes.js";

export const multimodalFeature = {
  name: "multimodal",
  handlers: multimodalHandlers,
} satisfies Feature;
