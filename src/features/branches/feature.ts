/** The past of a tenant, and its branches. */
import type { Feature } from "../feature.js";
import { branchHandlers } from "./branch-routes.js";
import { historyHandlers } from "./history-routes.js";
import { RESTORE_FUNCTIONS } from "./restore-functions.js";

export const branchesFeature = {
  name: "branches",
  handlers: { ...historyHandlers, ...branchHandlers },
  functions: RESTORE_FUNCTIONS,
} satisfies Feature;
