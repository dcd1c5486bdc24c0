/** Files of rows and scripts, in and out. */
import type { Feature } from "../feature.js";
import { dataHandlers } from "./data-routes.js";

export const importingFeature: Feature = {
  name: "import",
  handlers: dataHandlers,
};
