/** The past of a tenant, and its branches. */
import type { Feature } from "../feature.js";
import { branchHandlers } from "./branch-routes.js";
import { historyHandlers } from "./history-routes.js";

export const branchesFeature = {
  name: "branches",
  handlers: { ...historyHandlers, ...branchHandlers },
} satisfies Feature;
