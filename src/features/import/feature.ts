/** Files of rows and scripts, in and out. */
import type { Feature } from "../feature.js";
import { dataHandlers } from "./data-routes.js";

export const importingFeature = {
  name: "import",
  handlers: dataHandlers,
} satisfies Feature;
