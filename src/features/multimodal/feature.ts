/** Images and sounds. */
import type { Feature } from "../feature.js";
import { multimodalHandlers } from "./multimodal-routes.js";

export const multimodalFeature: Feature = {
  name: "multimodal",
  handlers: multimodalHandlers,
};
