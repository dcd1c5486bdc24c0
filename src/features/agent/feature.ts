/** Agents: models that work on a task with tools. */

import { AGENTS } from "../../query/expr/functions/generation.js";
import { provideCapability } from "../../session/capabilities.js";
import type { Feature } from "../feature.js";
import { AGENT_FUNCTIONS } from "./agent-functions.js";
import { OWN_RUNS, statementAgents } from "./request-tools.js";
import { AGENT_DAYS, statementDays } from "./run-budget.js";

export const agentFeature = {
  name: "agent",
  functions: AGENT_FUNCTIONS,
  ownRelations: [OWN_RUNS],
  provide: () => {
    provideCapability(AGENTS, statementAgents);
    provideCapability(AGENT_DAYS, statementDays);
  },
} satisfies Feature;
