/** The past of a tenant, and its branches. */
import { provideCapability } from "../../session/capabilities.js";
import { DATABASES } from "../../session/run-database.js";
import type { Feature } from "../feature.js";
import { branchHandlers } from "./branch-routes.js";
import { statementDatabases } from "./databases.js";
import { historyHandlers } from "./history-routes.js";
import { RESTORE_FUNCTIONS } from "./restore-functions.js";

export const branchesFeature = {
  name: "branches",
  handlers: { ...historyHandlers, ...branchHandlers },
  functions: RESTORE_FUNCTIONS,
  provide: () => provideCapability(DATABASES, statementDatabases),
} satisfies Feature;
